//! What follows from the name of an event: looked up once a name, for there are many events of each.

use crate::check::may_lack;
use crate::essential::{is_noted, may_be_special};
use crate::info::LastEvent;
use tracemill_tokenizer::{Event, Field};

/// What a name says.
#[derive(Clone, Copy, Default)]
pub(super) struct NameFacts(u8);

const KNOWN: u8 = 1;
const SPECIAL: u8 = 2;
const NOTED: u8 = 4;
const TASK: u8 = 8;
const UMA: u8 = 16;
const ESCAPED: u8 = 32;
const LACKS: u8 = 64;

impl NameFacts {
    fn of(event: &Event<'_>) -> Self {
        let name = event.field(Field::Name).unwrap_or_default();
        let text = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\""));
        let facts = [
            (may_be_special(event), SPECIAL),
            (is_noted(event), NOTED),
            (name == b"\"RunTask\"", TASK),
            (name.ends_with(b"::UMA\""), UMA),
            (memchr::memmem::find(name, b"\\u").is_some(), ESCAPED),
            (text.is_none_or(may_lack), LACKS),
        ];
        let all = facts.into_iter().filter(|(is_so, _)| *is_so).fold(0, |all, (_, bit)| all | bit);
        NameFacts(KNOWN | all)
    }

    /// Whether the event may be essential or part of a CPU profile.
    pub(super) fn may_be_special(self) -> bool {
        self.0 & SPECIAL != 0
    }

    /// Whether names of threads, or requests, are told by the event.
    pub(super) fn is_noted(self) -> bool {
        self.0 & NOTED != 0
    }

    /// Whether it is a task.
    pub(super) fn is_task(self) -> bool {
        self.0 & TASK != 0
    }

    /// Whether it is a sample of a histogram, which DevTools does not count when it looks for the end of a trace.
    pub(super) fn is_uma(self) -> bool {
        self.0 & UMA != 0
    }

    /// Whether events with args may lack what DevTools reads.
    pub(super) fn may_lack(self) -> bool {
        self.0 & LACKS != 0
    }

    /// Whether letters may stand in the name as escapes.
    pub(super) fn has_escapes(self) -> bool {
        self.0 & ESCAPED != 0
    }
}

/// Facts by the rows of names.
#[derive(Default)]
pub(super) struct FactsByName(Vec<NameFacts>);

impl FactsByName {
    /// Those of an event.
    #[inline]
    pub(super) fn of(&mut self, event: &Event<'_>, last: &LastEvent) -> NameFacts {
        // the row of a name with escapes is that of the name without
        if !last.is_plain_name {
            return NameFacts::of(event);
        }
        if last.name >= self.0.len() {
            self.0.resize(last.name + 1, NameFacts::default());
        }
        let own = &mut self.0[last.name];
        if own.0 == 0 {
            *own = NameFacts::of(event);
        }
        *own
    }
}
