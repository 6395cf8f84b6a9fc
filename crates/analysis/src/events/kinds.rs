//! Kinds of events (name and categories), and the properties that DevTools gives each kind.

use crate::events::images::is_image;
use crate::events::requests::is_once;
use crate::events::styles;
use tracemill_trace::event::names::Names;
use tracemill_trace::spill::hash::HashMap;
use tracemill_viewers::essential::CALLS;

/// Replaces the index of the category list in a kind without categories.
pub const NO_CAT: u32 = u32::MAX;

/// A kind of event: name and categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Index of the name in the table of texts.
    pub name: u32,
    /// Index of the category list in the table of texts; [`NO_CAT`] if the event has no categories.
    pub cat: u32,
}

/// Kinds, numbered in order of appearance.
#[derive(Default)]
pub(crate) struct Kinds {
    pub(crate) all: Vec<Kind>,
    numbers: HashMap<Kind, u32>,
}

impl Kinds {
    pub(crate) fn number(&mut self, kind: Kind) -> u32 {
        let next = self.all.len() as u32;
        *self.numbers.entry(kind).or_insert_with(|| {
            self.all.push(kind);
            next
        })
    }

    pub(crate) fn heap(&self) -> u64 {
        let table = self.numbers.capacity() * (size_of::<(Kind, u32)>() + 2);
        (self.all.capacity() * size_of::<Kind>() + table) as u64
    }

    /// Returns whether events of a kind are stored calls: calls of samples that were written as
    /// events.
    pub(crate) fn is_call(&self, kind: u32, names: &Names) -> bool {
        let cat = self.all[kind as usize].cat;
        cat != NO_CAT && names.bytes_of(cat) == CALLS.as_bytes()
    }

    /// Adds the kinds of another table. `texts` maps text numbers of that table to those of this
    /// one. Returns the new number of each kind.
    pub(crate) fn append(&mut self, other: &Kinds, texts: &[u32]) -> Vec<u32> {
        let moved = |kind: &Kind| Kind {
            name: texts[kind.name as usize],
            cat: texts.get(kind.cat as usize).copied().unwrap_or(NO_CAT),
        };
        other.all.iter().map(|kind| self.number(moved(kind))).collect()
    }
}

/// Properties of kinds, one bit each.
pub mod flag {
    /// `RunTask`, which trees omit.
    pub const RUN_TASK: u16 = 1;
    /// A `RunTask` with the category of the timeline. A walk may begin at such an event.
    pub(crate) const TOP_LEVEL: u16 = 1 << 1;
    /// Events before which the JavaScript stack is empty.
    pub(crate) const EMPTIES_STACK: u16 = 1 << 2;
    /// Events within which JavaScript runs.
    pub const JS_INVOCATION: u16 = 1 << 3;
    /// Events that DevTools draws, whatever their phase.
    pub(crate) const DRAWN: u16 = 1 << 4;
    /// Events that DevTools draws if they are instants.
    pub(crate) const DRAWN_INSTANT: u16 = 1 << 5;
    /// Events that DevTools draws if they are complete events.
    pub(crate) const DRAWN_COMPLETE: u16 = 1 << 6;
    /// Events that the tree views of DevTools show.
    pub(crate) const SHOWN: u16 = 1 << 7;
    /// Events that report received bytes of a request.
    pub(crate) const RECEIVED: u16 = 1 << 8;
    /// Events without categories, which make DevTools' views fail.
    pub(crate) const NO_CATEGORY: u16 = 1 << 9;
    /// Events of an image whose URL is in another event.
    pub(crate) const IMAGE: u16 = 1 << 10;
    /// Events of a request, if DevTools uses only one event with this name per request.
    pub(crate) const ONCE: u16 = 1 << 11;
}

/// Returns the flags of each kind. `has_tasks` is true for traces of Chrome and Node; in other
/// traces `RunTask` has no special meaning.
pub(crate) fn flags(kinds: &Kinds, names: &Names, has_tasks: bool) -> Vec<u16> {
    let left = if has_tasks { u16::MAX } else { !(flag::RUN_TASK | flag::TOP_LEVEL) };
    kinds.all.iter().map(|kind| flags_of(*kind, names) & left).collect()
}

fn flags_of(kind: Kind, names: &Names) -> u16 {
    use flag::*;
    let name = names.bytes_of(kind.name);
    let cat = if kind.cat == NO_CAT { &b""[..] } else { names.bytes_of(kind.cat) };
    let has = |part: &[u8]| memchr::memmem::find(cat, part).is_some();
    let run_task = name == b"RunTask";
    let style = styles::style(name);
    let shown_as: &[u8] = if has(b"blink.console") {
        b"ConsoleTime"
    } else if has(b"blink.user_timing") {
        b"UserTiming"
    } else {
        name
    };
    let bits = [
        (RUN_TASK, run_task),
        (TOP_LEVEL, run_task && has(b"disabled-by-default-devtools.timeline")),
        (EMPTIES_STACK, run_task || name == b"RunMicrotasks"),
        (JS_INVOCATION, is_js_invocation(name)),
        (
            DRAWN,
            style.is_some_and(|style| !style.hidden)
                || matches!(name, b"UpdateCounters" | b"SchedulePostMessage"),
        ),
        (DRAWN_INSTANT, cat == b"blink.user_timing" || name == b"TimeStamp"),
        (DRAWN_COMPLETE, name == b"HandlePostMessage"),
        (SHOWN, styles::style(shown_as).is_some_and(|style| !style.hidden)),
        (
            RECEIVED,
            matches!(
                name,
                b"ResourceReceivedData" | b"ResourceFinish" | b"ResourceReceiveResponse"
            ),
        ),
        (NO_CATEGORY, kind.cat == NO_CAT),
        (IMAGE, is_image(name)),
        (ONCE, is_once(name)),
    ];
    bits.into_iter().filter(|(_, is)| *is).fold(0, |flags, (bit, _)| flags | bit)
}

/// Returns whether JavaScript runs within the event (DevTools: `isJSInvocationEvent`).
fn is_js_invocation(name: &[u8]) -> bool {
    matches!(name, b"RunMicrotasks" | b"FunctionCall" | b"EvaluateScript" | b"EventDispatch")
        || name.starts_with(b"v8")
        || name.starts_with(b"V8")
}
