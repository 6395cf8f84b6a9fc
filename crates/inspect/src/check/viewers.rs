//! Rules for DevTools alone: hidden processes, undrawn traces, annotations.

use super::rules::Kind;
use super::tallies::Tallies;
use tracemill_cpuprofile::Role;
use tracemill_tokenizer::{Event, Field, parse};
use tracemill_trace::event::hash_value;
use tracemill_trace::json::member;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::spill::tally::Tally;
use tracemill_viewers::pages::has_page;
use tracemill_viewers::required_args::{
    Lack, ReadOn, deltas_inside, lacking, page_data, profile_id,
};

/// Facts that DevTools derives from browser events: processes with pages, and whether it draws anything.
#[derive(Default)]
pub(super) struct Browser {
    /// Whether any event identifies a browser trace.
    is_browser: bool,
    starts: Tally,
    /// Whether a `TracingStartedInBrowser` event has no `args.data`. DevTools rejects the file, so
    /// the rules about pages do not apply.
    empty_start: bool,
    pages: HashSet<u64>,
    /// Events without required args, by process; DevTools reads them only in shown processes.
    bare_if_shown: HashMap<u64, Tally>,
    drawn: bool,
    profiles: bool,
    /// Whether there is a `CpuProfile` event, which DevTools draws even without a page.
    whole_profile: bool,
}

impl Browser {
    pub(super) fn note(
        &mut self,
        event: &Event<'_>,
        phase: u8,
        process: u64,
        offset: u64,
        tallies: &mut Tallies,
    ) {
        let name = event.field(Field::Name).unwrap_or_default();
        if !self.drawn && matches!(phase, b'B' | b'E' | b'X' | b'I') {
            let timed = event.ts().is_some_and(|ts| ts.floor != 0 || !ts.exact);
            self.drawn = timed && !name.ends_with(b"::UMA\"");
        }
        self.profiles |=
            Role::of(event) == Some(Role::Head) && phase != b'M' && event.ts().is_some();
        match lacking(event) {
            Some(Lack::Args(ReadOn::Anywhere)) => tallies.add(Kind::BareArgs, offset),
            Some(Lack::Args(_)) => self.bare_if_shown.entry(process).or_default().add(offset),
            _ => {}
        }
        if profile_id(event).is_some() {
            tallies.add(Kind::ProfileId2, offset);
        }
        if deltas_inside(event).is_some() {
            tallies.add(Kind::DeltasInside, offset);
        }
        match name {
            b"\"TracingStartedInBrowser\"" => self.start(event, offset, tallies),
            b"\"TracingStartedInPage\"" | b"\"TracingSessionIdForWorker\"" => {
                self.is_browser = true;
            }
            b"\"CpuProfile\"" => (self.is_browser, self.whole_profile) = (true, true),
            b"\"CommitLoad\"" if page_data(event).is_some_and(has_page) => {
                self.pages.insert(process);
            }
            b"\"FrameCommittedInBrowser\"" => self.page(page_data(event)),
            _ => {}
        }
    }

    fn start(&mut self, event: &Event<'_>, offset: u64, tallies: &mut Tallies) {
        self.is_browser = true;
        self.starts.add(offset);
        let Some(data) = page_data(event) else {
            self.empty_start = true;
            return tallies.add(Kind::EmptyStart, offset);
        };
        let Some(frames) = member(data, b"frames") else { return };
        let mut cursor = tracemill_tokenizer::Cursor::new(frames);
        if cursor.enter(b'[') {
            while cursor.next_element() {
                self.page(Some(cursor.value()));
            }
        }
    }

    fn page(&mut self, frame: Option<&[u8]>) {
        if let Some(frame) = frame.filter(|frame| has_page(frame))
            && let Some(process) = member(frame, b"processId")
        {
            self.pages.insert(hash_value(Some(process)));
        }
    }

    pub(super) fn append(&mut self, later: Browser) {
        self.is_browser |= later.is_browser;
        self.starts.append(&later.starts);
        self.empty_start |= later.empty_start;
        self.pages.extend(later.pages);
        later.bare_if_shown.into_iter().for_each(|(process, tally)| {
            self.bare_if_shown.entry(process).or_default().append(&tally);
        });
        self.drawn |= later.drawn;
        self.profiles |= later.profiles;
        self.whole_profile |= later.whole_profile;
    }

    /// Applies the rules that depend on all events. `processes` maps each process with visible
    /// events to the offset of the first such event.
    pub(super) fn judge(&self, processes: &HashMap<u64, u64>, events: u64, tallies: &mut Tallies) {
        if self.starts.count > 1 {
            tallies.append_one(Kind::TwoStarts, &self.starts);
        }
        if !self.drawn && events > 0 {
            tallies.add(if self.profiles { Kind::ProfilesAlone } else { Kind::NothingDrawn }, 0);
        }
        // any order will do: tallies keep the first location
        let is_shown = |process| !self.is_browser || self.pages.contains(process);
        let shown = self.bare_if_shown.iter().filter(|(process, _)| is_shown(process));
        shown.for_each(|(_, tally)| tallies.append_one(Kind::BareArgs, tally));
        if self.is_browser {
            let is_hidden = |(process, _): &(&u64, &u64)| !self.pages.contains(process);
            let hidden = processes.iter().filter(is_hidden);
            hidden.for_each(|(_, &first)| tallies.add(Kind::HiddenProcess, first));
            let is_all =
                !processes.is_empty() && processes.iter().all(|process| is_hidden(&process));
            if is_all && !self.empty_start && !self.whole_profile {
                tallies.add(Kind::AllHidden, 0);
            }
        }
    }
}

/// Reports annotations that refer to no event of a trace with `events` events. `metadata` is the
/// value of that top-level key, at `offset`.
pub(super) fn check_annotations(metadata: &[u8], offset: u64, events: u64, tallies: &mut Tallies) {
    let Some(modifications) = member(metadata, b"modifications") else { return };
    let mut at = 0;
    // event keys are strings of one letter and numbers, at any nesting level
    while let Some(step) = modifications[at..].iter().position(|&b| b == b'"') {
        let start = at + step + 1;
        let Some(len) = modifications[start..].iter().position(|&b| b == b'"') else { return };
        let (key, end) = (&modifications[start..start + len], start + len);
        at = end + 1;
        let bad = match key {
            [b'r' | b's', b'-', index @ ..] if !index.is_empty() => {
                parse::<u64>(index).is_some_and(|index| index >= events)
            }
            // DevTools writes these keys but cannot read them
            [b'p', b'-', rest @ ..] => rest.windows(4).any(|four| four == b"--1-"),
            _ => false,
        };
        if bad {
            let within = modifications.as_ptr() as usize - metadata.as_ptr() as usize + start;
            tallies.add(Kind::Annotation, offset + within as u64);
        }
    }
}
