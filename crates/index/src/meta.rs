//! META: what plain `info` says, so that it need not be counted again.

use super::sound::is_sound;
use crate::format::{Index, id};
use serde::{Deserialize, Serialize};
use tracemill_inspect::info::InfoReport;
use tracemill_join::read_plan::{Stop, Unused};
use tracemill_tokenizer::DamageKind;
use tracemill_trace::input::MEMBERS;
use tracemill_trace::run::losses::{InputReport, LossTally, Losses};
use tracemill_trace::time::bounds::Bounds;

/// Everything in META.
#[derive(Serialize, Deserialize)]
pub(super) struct Meta {
    /// Granules are cut where time jumps by more than 2 to the power of this, in nanoseconds.
    pub(super) jump_level: u32,
    /// Names of sections that would have taken too many bytes, or cannot say everything.
    pub(super) left_out: Vec<String>,
    input: InputMeta,
    /// None without SPANS.
    pub(super) windows: Option<WindowsMeta>,
    /// None without what is drawn.
    pub(super) drawn: Option<DrawnMeta>,
    /// None if it would have taken too many bytes.
    pub(super) info: Option<InfoReport>,
}

/// What must be known of a trace to read windows of it only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WindowsMeta {
    /// What is longer than 2 to the power of this, in nanoseconds, stands in SPANS.
    pub(super) level: u32,
    /// Whether an end closes a begin around others that are open.
    pub(super) has_crossings: bool,
    /// Whether an end closes a begin of another name.
    pub(super) has_strangers: bool,
    /// Whether there are parts of CPU profiles.
    pub(super) has_profiles: bool,
    /// Whether something is not JSON to the letter.
    pub(super) has_lapses: bool,
    /// Whether there is one document, with nothing but events from the first to the last.
    pub(super) is_one_list: bool,
    /// Start, first, last and end, in nanoseconds; None without times.
    pub(super) bounds: Option<[i64; 4]>,
}

impl WindowsMeta {
    /// The first and the last time of the trace, if what pairs in a window pairs in all of it.
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

    /// Intervals that last longer, in nanoseconds, stand in SPANS.
    pub(super) fn look_back(&self) -> i64 {
        length_of(self.level)
    }
}

/// How what is drawn was counted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct DrawnMeta {
    /// Bins are 2 to the power of this long, in nanoseconds.
    pub(super) level: u32,
    /// Lanes that are threads.
    pub(super) threads: u32,
}

/// What there is to say of the input.
#[derive(Serialize, Deserialize)]
struct InputMeta {
    bytes: u64,
    events: u64,
    encoding: Option<String>,
    /// By the names of their kinds.
    losses: Vec<(String, LossTally)>,
    unclosed: u64,
    odd_separators: u64,
}

/// Bytes of META that are read at most.
const MOST: usize = 256 << 20;

/// What inputs may be packed in.
const ENCODINGS: [&str; 4] = ["gzip", "zstd", "utf-16", MEMBERS];

impl Meta {
    /// Of a report over one input.
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
        Meta { jump_level, left_out, input, windows: None, drawn: None, info }
    }

    /// That of an index, if its numbers can be those of a trace: they are added up without a further look.
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

    /// The input, under its name; `None` if there is something in it that is not known here.
    pub(super) fn input(&self, name: &str) -> Option<InputReport> {
        let InputMeta { bytes, events, encoding, losses, unclosed, odd_separators } = &self.input;
        let encoding = match encoding {
            None => None,
            Some(own) => Some(*ENCODINGS.iter().find(|known| *known == own)?),
        };
        let kind_of = |name: &String| DamageKind::ALL.into_iter().find(|own| own.name() == *name);
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

/// Returns 2^k nanoseconds, or the greatest time.
fn length_of(level: u32) -> i64 {
    1_i64.checked_shl(level).filter(|length| *length > 0).unwrap_or(i64::MAX)
}
