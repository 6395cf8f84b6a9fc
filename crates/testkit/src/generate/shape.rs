//! Shapes of generated traces.

use crate::Rng;

/// The container format of the first document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Form {
    Object,
    Array,
    Ndjson,
    NdjsonWithHeader,
}

/// Whitespace between tokens. NDJSON keeps only whitespace without line breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// No whitespace: the whole trace on one line.
    Compact,
    /// One event per line.
    Lines,
    /// Pretty-printed, indented by two blanks.
    TwoSpaces,
    /// Pretty-printed, indented by four blanks.
    FourSpaces,
    /// Pretty-printed, indented by tabs.
    Tabs,
    /// Pretty-printed, indented by two blanks, with CR LF line ends.
    CrLf,
    /// Random whitespace between any two tokens.
    Ragged,
    /// Random whitespace between any two tokens, without line breaks.
    RaggedLine,
}

impl Layout {
    /// Returns the line ending and indent of pretty-printed layouts.
    pub(super) fn indent(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::TwoSpaces => Some(("\n", "  ")),
            Self::FourSpaces => Some(("\n", "    ")),
            Self::Tabs => Some(("\n", "\t")),
            Self::CrLf => Some(("\r\n", "  ")),
            Self::Compact | Self::Lines | Self::Ragged | Self::RaggedLine => None,
        }
    }

    /// Returns the closest layout without line breaks.
    pub(super) fn on_one_line(self) -> Self {
        match self {
            Self::Ragged | Self::RaggedLine => Self::RaggedLine,
            _ => Self::Compact,
        }
    }
}

/// The order of the times in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Disorder {
    Sorted,
    Neighbours,
    /// Sorted buffers of several threads, written one after the other.
    Batches,
    Reversed,
    Random,
}

/// Shape of a generated trace, except its seed. Rates are in percent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceShape {
    /// Number of events in all documents, including chunks of profiles.
    pub events: usize,
    /// Container format of the first document; later documents have random formats.
    pub form: Form,
    /// Whitespace of all documents.
    pub layout: Layout,
    /// Number of consecutive documents in the input.
    pub documents: usize,
    /// Number of top-level keys before `traceEvents`.
    pub keys_before: usize,
    /// Number of top-level keys after `traceEvents`.
    pub keys_after: usize,
    /// Order of the times.
    pub disorder: Disorder,
    /// Rate of events with the same time as the previous event.
    pub equal_ts: u64,
    /// Rate of odd values and keys; 0 gives a tidy trace.
    pub odd: u64,
    /// Number of CPU profile streams.
    pub profile_streams: usize,
    /// Rate of events that belong to a profile, if there are streams.
    pub profile_rate: u64,
    /// Whether strings of up to 100 kB and values nested up to 300 deep may occur.
    pub big: bool,
    /// Whether the input starts with a UTF-8 byte order mark.
    pub bom: bool,
    /// Whether the key `traceEvents` contains an escape.
    pub escaped_events_key: bool,
}

impl TraceShape {
    /// Creates a tidy shape of `events` events: an object, sorted, one event per line, without
    /// oddities. Damage and its repair are unambiguous in it.
    #[must_use]
    pub fn plain(events: usize) -> Self {
        Self {
            events,
            form: Form::Object,
            layout: Layout::Lines,
            documents: 1,
            keys_before: 0,
            keys_after: 1,
            disorder: Disorder::Sorted,
            equal_ts: 0,
            odd: 0,
            profile_streams: 0,
            profile_rate: 0,
            big: false,
            bom: false,
            escaped_events_key: false,
        }
    }

    /// Creates a random shape, usually small.
    pub fn arbitrary(rng: &mut Rng) -> Self {
        let events = match rng.below(20) {
            0 => 0,
            1 => 1,
            2..=11 => rng.range(2, 12),
            12..=18 => rng.range(13, 80),
            _ => rng.range(81, 400),
        };
        Self {
            events: events as usize,
            form: form(rng),
            layout: layout(rng),
            documents: if rng.chance(85) { 1 } else { rng.range(2, 4) as usize },
            keys_before: if rng.chance(50) { 0 } else { rng.range(1, 5) as usize },
            keys_after: if rng.chance(50) { 0 } else { rng.range(1, 5) as usize },
            disorder: disorder(rng),
            equal_ts: [0, 10, 40, 90][rng.index(4)],
            odd: [0, 2, 10, 40][rng.index(4)],
            profile_streams: if rng.chance(60) { 0 } else { rng.range(1, 10) as usize },
            profile_rate: [5, 20, 60, 100][rng.index(4)],
            big: rng.chance(5),
            bom: rng.chance(4),
            escaped_events_key: rng.chance(2),
        }
    }
}

pub(super) fn form(rng: &mut Rng) -> Form {
    match rng.below(10) {
        0..=4 => Form::Object,
        5..=7 => Form::Array,
        8 => Form::Ndjson,
        _ => Form::NdjsonWithHeader,
    }
}

pub(super) fn layout(rng: &mut Rng) -> Layout {
    match rng.below(12) {
        0..=2 => Layout::Compact,
        3..=5 => Layout::Lines,
        6 => Layout::TwoSpaces,
        7 => Layout::FourSpaces,
        8 => Layout::Tabs,
        9 => Layout::CrLf,
        10 => Layout::Ragged,
        _ => Layout::RaggedLine,
    }
}

fn disorder(rng: &mut Rng) -> Disorder {
    match rng.below(6) {
        0 => Disorder::Sorted,
        1 => Disorder::Neighbours,
        2 | 3 => Disorder::Batches,
        4 => Disorder::Reversed,
        _ => Disorder::Random,
    }
}
