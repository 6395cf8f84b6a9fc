//! Properties of a kind of events, computed once per name and categories.

use crate::events::bounds::Bounding;
use crate::events::causes::CauseRole;
use crate::events::compiled::is_named_as_sum;
use crate::events::details::Sought;
use crate::events::kinds::{Kind, Kinds, NO_CAT};
use crate::events::tracks::TrackKind;
use crate::trace::ReadRules;
use tracemill_trace::event::names::Names;
use tracemill_trace::spill::hash::mix;
use tracemill_viewers::required_args::may_lack;

#[derive(Clone, Copy)]
pub(crate) struct Asked {
    /// Details to search for in events of phases X, I and B.
    sought: [Sought; 3],
    /// How events of the kind extend the bounds of a trace in DevTools.
    pub(crate) bounding: Bounding,
    /// Whether events of the kind may be sums by clang: total times of other events, which reports
    /// leave out.
    pub(crate) may_be_sum: bool,
    /// Whether events of the kind may lack members of `args` that DevTools reads.
    pub(crate) may_lack: bool,
    /// Part of the events in causes.
    pub(crate) role: CauseRole,
    /// Part of the events in DevTools' tracks, if reports need it.
    pub(crate) track: Option<TrackKind>,
}

impl Asked {
    pub(crate) fn of(kind: u32, kinds: &Kinds, names: &Names, rules: ReadRules) -> Self {
        let Kind { name, cat } = kinds.all[kind as usize];
        let name = names.bytes_of(name);
        let cats = if cat == NO_CAT { b"" } else { names.bytes_of(cat) };
        Asked {
            sought: [b'X', b'I', b'B']
                .map(|phase| Sought::of(phase, name, rules.wanted, !rules.as_devtools)),
            bounding: match name.ends_with(b"::UMA") {
                true => Bounding::Other,
                false if kinds.is_call(kind, names) => Bounding::Call,
                false => Bounding::Drawn,
            },
            may_be_sum: rules.wanted.report && is_named_as_sum(name),
            role: CauseRole::of(name, if rules.as_devtools { b"" } else { cats }),
            may_lack: !rules.ignore_refusals && may_lack(name),
            track: TrackKind::of(name, cats).filter(|_| rules.wanted.report),
        }
    }

    /// Returns the details to search for in events of a phase. Returns `None` for end events.
    pub(crate) fn sought(&self, phase: u8) -> Option<Sought> {
        match phase {
            b'X' => Some(self.sought[0]),
            b'I' => Some(self.sought[1]),
            b'B' => Some(self.sought[2]),
            _ => None,
        }
    }
}

/// A cache of recent kinds, by name and categories as written in the trace.
pub(crate) struct LastKinds(Vec<LastKind>);

#[derive(Clone, Default)]
struct LastKind {
    /// Raw name and categories, concatenated.
    written: Vec<u8>,
    name: usize,
    kind: u32,
}

/// Number of cache slots. Traces have some hundred kinds, few of which are frequent.
const SLOTS: usize = 1024;

impl Default for LastKinds {
    fn default() -> Self {
        LastKinds(vec![LastKind::default(); SLOTS])
    }
}

#[inline]
fn tail(bytes: &[u8]) -> u64 {
    bytes.last_chunk().map_or(bytes.len() as u64, |chunk| u64::from_le_bytes(*chunk))
}

fn slot(name: &[u8], cat: &[u8]) -> usize {
    // The last bytes of `cat` alone do not suffice, because many categories end alike.
    mix(tail(name) ^ name.len() as u64, tail(cat) ^ cat.len() as u64) as usize % SLOTS
}

impl LastKinds {
    /// Returns the cached kind; `None` if it is not cached, or the name is empty.
    #[inline]
    pub(crate) fn get(&self, name: &[u8], cat: &[u8]) -> Option<u32> {
        let slot = slot(name, cat);
        let mut cached = &self.0[slot];
        if !cached.is(name, cat) {
            cached = &self.0[slot ^ 1];
            if !cached.is(name, cat) {
                return None;
            }
        }
        (!name.is_empty()).then_some(cached.kind)
    }

    /// Caches a kind. The previous entry of its slot moves to the neighbour.
    pub(crate) fn put(&mut self, name: &[u8], cat: &[u8], kind: u32) {
        let slot = slot(name, cat);
        self.0.swap(slot, slot ^ 1);
        let cached = &mut self.0[slot];
        cached.written.clear();
        cached.written.extend_from_slice(name);
        cached.written.extend_from_slice(cat);
        (cached.name, cached.kind) = (name.len(), kind);
    }
}

impl LastKind {
    #[inline]
    fn is(&self, name: &[u8], cat: &[u8]) -> bool {
        (self.name, self.written.len()) == (name.len(), name.len() + cat.len())
            && self.written[..name.len()] == *name
            && self.written[name.len()..] == *cat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_cached_by_name_and_categories() {
        let mut last = LastKinds::default();
        assert_eq!(last.get(b"", b""), None);
        for (kind, (name, cat)) in
            (0..).zip([("\"ab\"", "\"c\""), ("\"a\"", "\"bc\""), ("\"a\"", "")])
        {
            let (name, cat) = (name.as_bytes(), cat.as_bytes());
            assert_ne!(last.get(name, cat), Some(kind));
            last.put(name, cat, kind);
            assert_eq!(last.get(name, cat), Some(kind));
        }
        assert_eq!(last.get(b"\"a\"", b"\"b\""), None);
        // The last two kinds of a slot are known.
        let place = slot(b"\"0\"", b"");
        let names = (1..).map(|number| format!("\"{number}\"").into_bytes());
        let same: Vec<Vec<u8>> = names.filter(|name| slot(name, b"") == place).take(3).collect();
        (10..).zip(&same).for_each(|(kind, name)| last.put(name, b"", kind));
        assert_eq!([0, 1, 2].map(|at: usize| last.get(&same[at], b"")), [None, Some(11), Some(12)]);
    }
}
