//! Section META: the report of plain `info`, and facts about the trace.

use super::sound::is_sound;
use crate::format::{Index, id};
use serde::{Deserialize, Serialize};
use tracemill_inspect::info::InfoReport;
use tracemill_join::read_plan::{Stop, Unused};
use tracemill_tokenizer::DamageKind;
use tracemill_trace::input::MEMBERS;
use tracemill_trace::run::losses::{InputReport, LossTally, Losses};
use tracemill_trace::time::bounds::Bounds;

#[derive(Serialize, Deserialize)]
pub(super) struct Meta {
    /// log2 of the block gap in nanoseconds: blocks end where time jumps by more than this gap.
    pub(super) jump_level: u32,
    /// Names of sections that were too large, or could not describe everything.
    pub(super) left_out: Vec<String>,
    input: InputMeta,
    /// Least and greatest `ts` of all events, in nanoseconds. `None` if no event has a `ts`, and in
    /// older indexes.
    #[serde(default)]
    pub(super) times: Option<[i64; 2]>,
    /// Facts that are needed to read only windows of time; `None` if the index lacks SPANS.
    pub(super) windows: Option<WindowsMeta>,
    /// Parameters of the view summary; `None` if the index has none.
    pub(super) drawn: Option<DrawnMeta>,
    /// Report of `info`; `None` if it was too large.
    pub(super) info: Option<InfoReport>,
}

/// Facts that are needed to read only windows of time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WindowsMeta {
    /// Slices longer than 2^`level` ns are in SPANS.
    pub(super) level: u32,
    /// Whether an end event closes a slice that has other open slices inside.
    pub(super) has_crossings: bool,
    /// Whether an end event closes a begin event with another name.
    pub(super) has_strangers: bool,
    pub(super) has_profiles: bool,
    /// Whether any event or top-level value is not strictly valid JSON.
    pub(super) has_lapses: bool,
    /// Whether the input is one document without top-level keys between its events.
    pub(super) is_one_list: bool,
    /// Start, first, last and end in nanoseconds; `None` if no event has a time.
    pub(super) bounds: Option<[i64; 4]>,
}

impl WindowsMeta {
    /// Returns the time bounds, if slices pair in a window as in the whole trace.
    pub(super) fn known_bounds(&self) -> Result<Bounds, Stop> {
        if self.has_crossings && self.has_strangers {
            return Err(Unused::Tied.into());
        }
        let [start, first, last, end] = self.bounds.ok_or(Unused::Most)?;
        match start <= first && first <= last && last <= end && self.level <= 64 {
            true => Ok(Bounds { start, first, last, end }),
            false => Err("its times are impossible".into()),
        }
    }

    /// Returns the length in nanoseconds above which slices are in SPANS.
    pub(super) fn look_back(&self) -> i64 {
        length_of(self.level)
    }
}

/// Parameters of the bins and tracks for drawing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct DrawnMeta {
    /// A bin is 2^`level` ns long.
    pub(super) level: u32,
    pub(super) threads: u32,
}

#[derive(Serialize, Deserialize)]
struct InputMeta {
    bytes: u64,
    events: u64,
    encoding: Option<String>,
    /// Names of the kinds of losses, each with its losses.
    losses: Vec<(String, LossTally)>,
    unclosed: u64,
    odd_separators: u64,
}

/// Maximum bytes of META that are read.
const MOST: usize = 256 << 20;

const ENCODINGS: [&str; 4] = ["gzip", "zstd", "utf-16", MEMBERS];

impl Meta {
    /// Creates META from the report on one input.
    pub(super) fn of(
        jump_level: u32,
        left_out: Vec<String>,
        input: &InputReport,
        info: Option<InfoReport>,
    ) -> Self {
        let losses = input.losses.iter();
        let losses = losses.map(|(kind, tally)| (kind.name().to_owned(), tally.clone())).collect();
        let InputReport { bytes, events, encoding, unclosed, odd_separators, .. } = *input;
        let encoding = encoding.map(str::to_owned);
        let input = InputMeta { bytes, events, encoding, losses, unclosed, odd_separators };
        Meta { jump_level, left_out, input, times: None, windows: None, drawn: None, info }
    }

    /// Reads META from an index. Rejects impossible numbers, because later sums are not checked.
    pub(super) fn read(index: &Index<'_>) -> Result<Meta, Stop> {
        let section = index.section(id::META).ok_or("its summary is missing")?;
        let json = index.joined(section, MOST)?;
        let meta: Meta = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
        match (&meta.info, meta.input("")) {
            (Some(report), Some(input)) if !is_sound(report, &input) => {
                Err("its summary has impossible numbers".into())
            }
            _ => Ok(meta),
        }
    }

    /// Returns the report on the input, with `name` as the input's name. Returns `None` if the
    /// encoding or a kind of loss is unknown.
    pub(super) fn input(&self, name: &str) -> Option<InputReport> {
        let InputMeta { bytes, events, encoding, losses, unclosed, odd_separators } = &self.input;
        let encoding = match encoding {
            None => None,
            Some(encoding) => Some(*ENCODINGS.iter().find(|known| *known == encoding)?),
        };
        let kind_of = |name: &String| DamageKind::ALL.into_iter().find(|kind| kind.name() == *name);
        let tallies: Option<Vec<(DamageKind, LossTally)>> =
            losses.iter().map(|(name, tally)| Some((kind_of(name)?, tally.clone()))).collect();
        Some(InputReport {
            name: name.to_owned(),
            bytes: *bytes,
            events: *events,
            encoding,
            losses: Losses::of(tallies?),
            unclosed: *unclosed,
            odd_separators: *odd_separators,
            ..InputReport::default()
        })
    }
}

/// Returns the least k for which 2^k is no less than a number of nanoseconds.
pub(super) fn level(length: u64) -> u32 {
    if length <= 1 { 0 } else { 64 - (length - 1).leading_zeros() }
}

/// Returns 2^`level` nanoseconds, or the greatest time if that is too large.
fn length_of(level: u32) -> i64 {
    1_i64.checked_shl(level).filter(|length| *length > 0).unwrap_or(i64::MAX)
}
