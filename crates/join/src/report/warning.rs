//! Warnings for the user of a run.

use crate::config::CheckFor;
pub use crate::report::annotation_drop::AnnotationDrop;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;
use tracemill_trace::read::InputWarning;
use tracemill_trace::run::remedy::Remedy;
use tracemill_trace::run::words::plural;
use tracemill_trace::time::windows::TimeSpan;

/// Maximum bytes of text that DevTools opens: it reads a file into one string, and V8 limits
/// strings to 2^29 − 24 characters.
pub const DEVTOOLS_TEXT_MAX: u64 = (1 << 29) - 24;
/// Suggested size in bytes of each part of an oversized trace.
const FITS: u64 = 400 << 20;

/// A warning for the user of a run. Its text is a sentence without a full stop and names no flags;
/// [`Warning::remedy`] suggests what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A warning about an input.
    Input(InputWarning),
    /// Top-level keys, as written, that an output in array form cannot hold.
    KeysLost(Vec<String>),
    /// Top-level keys, as written, that come after the events, though NDJSON output needs them
    /// before.
    KeysTooLate(Vec<String>),
    /// Stack frames of a document that could not be merged with frames of earlier documents.
    FramesKeptApart {
        /// Number of the document, counted from 1.
        document: usize,
        /// The conflicting frame id, as written.
        id: String,
    },
    /// A CPU profile without any chunk order in which all parents come first.
    UnorderedStream(String),
    /// Number of raw line breaks inside strings that were replaced by escapes.
    BreaksEscaped(u64),
    /// Number of dropped DevTools annotations, by reason.
    AnnotationsDropped(Vec<(AnnotationDrop, u64)>),
    /// The output exceeds the size that DevTools opens.
    TooLarge {
        /// Size in bytes before compression.
        bytes: u64,
        /// Nanoseconds from the first to the last time of the trace, if known.
        lasts: Option<u64>,
    },
    /// DevTools hides CPU profiles that are merged with a browser trace.
    HiddenProfiles,
    /// Some output files exceed the requested size.
    PartsTooLarge {
        /// Number of files that exceed the requested size.
        larger: usize,
        /// Number of all output files.
        of: usize,
        /// The requested size in bytes.
        most: u64,
        /// The target viewer.
        viewer: Option<CheckFor>,
    },
    /// A warning about one part.
    InPart(PathBuf, Box<Warning>),
    /// Data that must always be kept exceeds the size limit.
    DoesNotFit {
        /// Size of the data in bytes.
        bytes: u64,
        /// The limit in bytes.
        most: u64,
        /// The target viewer.
        viewer: Option<CheckFor>,
    },
    /// No event has a time.
    NoTimes,
    /// A window lies entirely before or after the trace.
    WindowOutside {
        /// The window; [`i64::MIN`] and [`i64::MAX`] mean no limit.
        window: TimeSpan,
        /// Time range of the trace.
        trace: TimeSpan,
    },
    /// No event lies in any window.
    WindowEmpty {
        /// The windows.
        windows: Vec<TimeSpan>,
        /// Time range of the trace.
        trace: TimeSpan,
    },
    /// Number of CPU profiles that extend beyond the windows and could not be cut.
    ProfilesKeptWhole(u64),
    /// A CPU profile without nodes: its pid, tid and id.
    EmptyProfile([String; 3]),
    /// An input with several base times.
    SeveralBaseTimes(String),
    /// An input without a base time whose times look like microseconds since 1970.
    TakenAsSince1970(String),
    /// An input that could not be aligned.
    NotAligned {
        /// Name of the input.
        input: String,
        /// The reason, such as `has no event named x`.
        why: String,
    },
    /// Inputs have different numbers of events of a marker.
    MarkersDiffer {
        /// Name of the marker.
        marker: String,
        /// Name of the reference input, and its number of marker events.
        reference: (String, u64),
        /// Name of the input, and its number of marker events.
        input: (String, u64),
        /// Number of matched events.
        matches: u64,
    },
    /// Only one input has events of this name.
    OneMarker(String),
    /// No input has events for aligning clocks.
    NothingToAlignBy(String),
    /// The times of two inputs are so far apart that the inputs cannot share a clock.
    FarApart {
        /// Name of the later input.
        later: String,
        /// Name of the earlier input.
        earlier: String,
        /// Whether only the times of the later input are since 1970.
        since_1970: bool,
    },
    /// Two inputs with different clocks: the name of each input and of its clock.
    ClocksDiffer([(String, String); 2]),
    /// Shifted times that lost digits or were too large to shift.
    TimesInexact,
    /// An invalid or outdated index; the trace was read instead.
    IndexUnused {
        /// Path of the index.
        index: String,
        /// The problem of the index.
        why: String,
        /// Path of the trace.
        trace: String,
    },
    /// An index that was built but could not be saved.
    IndexNotKept {
        /// Path of the trace.
        trace: String,
        /// The reason.
        why: String,
    },
    /// A compressed trace that is not seekable, so its index cannot locate times.
    OnlyAsAWhole {
        /// Path of the trace.
        trace: String,
    },
    /// A message of the caller, passed through to the report.
    Said(String),
}

impl Warning {
    /// Returns the warning that an output is too large for DevTools, or `None` if it is not. `span`
    /// is the first and last time of the trace.
    pub fn too_large(bytes: u64, span: Option<(i64, i64)>) -> Option<Warning> {
        let lasts = span.map(|(first, last)| last.abs_diff(first));
        (bytes > DEVTOOLS_TEXT_MAX).then_some(Warning::TooLarge { bytes, lasts })
    }

    /// Returns a suggestion for the user, if there is one.
    pub fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Warning::KeysLost(_) | Warning::KeysTooLate(_) => Remedy::ObjectForm,
            Warning::HiddenProfiles => Remedy::ForDevtools,
            Warning::FarApart { .. } | Warning::ClocksDiffer(_) => Remedy::Align,
            Warning::TooLarge { bytes, lasts } => {
                let part = lasts.map(|lasts| lasts / bytes.div_ceil(FITS) / 1_000_000);
                Remedy::Smaller { slice: part.filter(|&ms| ms > 0).map(|ms| (ms, FITS)) }
            }
            Warning::InPart(_, warning) => return warning.remedy(),
            Warning::Input(warning) => return warning.remedy(),
            _ => return None,
        })
    }
}

/// Serializes the warning as its text.
impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<InputWarning> for Warning {
    fn from(warning: InputWarning) -> Self {
        Warning::Input(warning)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Input(warning) => warning.fmt(f),
            Warning::KeysLost(_)
            | Warning::KeysTooLate(_)
            | Warning::FramesKeptApart { .. }
            | Warning::BreaksEscaped(_) => self.of_form(f),
            Warning::AnnotationsDropped(_) | Warning::TooLarge { .. } | Warning::HiddenProfiles => {
                self.of_viewer(f)
            }
            Warning::UnorderedStream(_)
            | Warning::ProfilesKeptWhole(_)
            | Warning::EmptyProfile(_) => self.of_profiles(f),
            Warning::PartsTooLarge { .. } | Warning::DoesNotFit { .. } => self.of_size(f),
            Warning::NoTimes | Warning::WindowOutside { .. } | Warning::WindowEmpty { .. } => {
                self.of_windows(f)
            }
            Warning::InPart(file, warning) => write!(f, "{}: {warning}", file.display()),
            Warning::IndexUnused { index, why, .. } => {
                write!(f, "the index {index} was not used: {why}")
            }
            Warning::IndexNotKept { trace, why } => write!(
                f,
                "cannot save the index of {trace}, so the next run builds it again: {why}"
            ),
            Warning::OnlyAsAWhole { trace } => {
                write!(f, "{trace} is not seekable, so its index cannot locate times in it")
            }
            Warning::Said(text) => f.write_str(text),
            _ => self.of_clocks(f),
        }
    }
}

impl Warning {
    fn of_form(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::KeysLost(names) => {
                let names = names.join(", ");
                write!(f, "an array cannot hold keys outside the events; left out: {names}")
            }
            Warning::KeysTooLate(names) => {
                let names = names.join(", ");
                write!(
                    f,
                    "keys that come after the events cannot be in the first line of the output; left out: {names}"
                )
            }
            Warning::FramesKeptApart { document, id } => write!(
                f,
                "document {document} redefines stack frame {id} of an earlier document: the stack frames of the later document \
                 are not merged, and `sf` in its events now refers to the earlier frame"
            ),
            Warning::BreaksEscaped(count) => write!(
                f,
                "replaced {} inside strings by escapes, so that each event is one line",
                plural(*count, "raw line break")
            ),
            _ => Ok(()),
        }
    }

    fn of_viewer(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::AnnotationsDropped(dropped) => {
                let all: u64 = dropped.iter().map(|(_, count)| count).sum();
                let (annotations, were) =
                    if all == 1 { ("annotation", "was") } else { ("annotations", "were") };
                write!(f, "{all} DevTools {annotations} (metadata.modifications) {were} dropped: ")?;
                let reasons = dropped.iter().map(|(why, count)| format!("{count} {}", why.sentence()));
                f.write_str(&Vec::from_iter(reasons).join("; "))
            }
            Warning::TooLarge { bytes, .. } => {
                let has = bytes.div_ceil(1 << 20);
                write!(f, "the output has {has} MiB of text, but DevTools opens less than 512 MiB")
            }
            _ => f.write_str(
                "DevTools hides the CPU profiles among the inputs, because in a browser's trace it shows only processes with a page",
            ),
        }
    }

    fn of_profiles(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::UnorderedStream(stream) => write!(
                f,
                "CPU profile of {stream}: some nodes are used before they are defined, in any order of the chunks; the chunks stay in time order"
            ),
            Warning::EmptyProfile([pid, tid, id]) => {
                write!(
                    f,
                    "the CPU profile of pid {pid}, tid {tid}, id {id} has no nodes and was left out"
                )
            }
            Warning::ProfilesKeptWhole(count) => write!(
                f,
                "did not cut {} to the windows: a CpuProfile event cannot be cut, and neither can a profile without a Profile \
                 event, which has the start time",
                plural(*count, "CPU profile")
            ),
            _ => Ok(()),
        }
    }

    fn of_size(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::PartsTooLarge { larger, of, most, viewer } => {
                let are = if *larger == 1 { "is" } else { "are" };
                let also = match viewer {
                    Some(_) => {
                        "; the events that the viewer needs are added to each part, so choose a smaller size"
                    }
                    None => "",
                };
                write!(
                    f,
                    "{larger} of {} {are} larger than {most} bytes, because a single event, a CPU profile, or the metadata with the top-level \
                     keys cannot be divided{also}",
                    plural(*of as u64, "part")
                )
            }
            Warning::DoesNotFit { bytes, most, viewer } => {
                let stays = match viewer {
                    Some(_) => "metadata events, keys and the events that the viewer needs",
                    None => "metadata events and keys",
                };
                write!(
                    f,
                    "the output does not fit: {stays} are never left out and take {bytes} bytes, more than {most}"
                )
            }
            _ => Ok(()),
        }
    }

    fn of_windows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::WindowOutside { window, trace } => {
                match window.to <= trace.from {
                    true => {
                        let before = length(window.to, trace.from);
                        write!(f, "the window ends {before} before the trace begins")?;
                    }
                    false => {
                        let after = length(trace.to, window.from);
                        write!(f, "the window begins {after} after the end of the trace")?;
                    }
                }
                let (lasts, window) = (length(trace.from, trace.to), micros(*window));
                write!(
                    f,
                    "; the trace lasts {lasts} (in µs: window {window}, trace {})",
                    micros(*trace)
                )
            }
            Warning::WindowEmpty { windows, trace } => {
                let windows = Vec::from_iter(windows.iter().map(|&window| micros(window)));
                let (lasts, windows) = (length(trace.from, trace.to), windows.join(", "));
                let trace = micros(*trace);
                write!(
                    f,
                    "no event lies in the window; the trace lasts {lasts} (in µs: window {windows}, trace {trace})"
                )
            }
            _ => f.write_str("no event of the input has a time"),
        }
    }

    fn of_clocks(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::SeveralBaseTimes(input) => {
                write!(f, "{input} states several base times: the first one is used")
            }
            Warning::TakenAsSince1970(input) => write!(
                f,
                "{input} states no base time: its times look like microseconds since 1970 and are read as such"
            ),
            Warning::NotAligned { input, why } => {
                write!(f, "{input} {why}: this input is not aligned by this rule, though other rules may move its times")
            }
            Warning::MarkersDiffer { marker, reference, input, matches } => write!(
                f,
                "{} has {} named {marker}, {} has {}: {matches} events of each are matched, chosen so that their distances agree best",
                reference.0,
                plural(reference.1, "event"),
                input.0,
                input.1
            ),
            Warning::OneMarker(name) => {
                write!(
                    f,
                    "only one input has events named {name}, so there is nothing to align it with"
                )
            }
            Warning::NothingToAlignBy(what) => f.write_str(what),
            Warning::FarApart { later, earlier, since_1970: true } => write!(
                f,
                "times in {later} count from 1970, those in {earlier} do not: the inputs share no clock, so their events are far apart"
            ),
            Warning::FarApart { later, earlier, since_1970: false } => write!(
                f,
                "times in {later} are years after those in {earlier}: the inputs share no clock"
            ),
            Warning::ClocksDiffer([(first, clock), (other, another)]) => write!(
                f,
                "times in {first} come from the clock {clock}, those in {other} from {another}: the offset between these clocks is unknown"
            ),
            _ => f.write_str(
                "some times were not moved exactly: digits below 10⁻¹⁸ s were cut off, or times beyond 10¹¹ years were left as they are",
            ),
        }
    }
}

fn length(from: i64, to: i64) -> String {
    let ns = to.abs_diff(from);
    let (scale, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (1_000.0, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.2} {unit}", ns as f64 / scale)
}

/// Formats a time range in microseconds; a missing limit becomes empty.
fn micros(TimeSpan { from, to }: TimeSpan) -> String {
    let side = |time: i64, limit: i64| {
        let mut text = Vec::new();
        if time != limit {
            text.push(b'@');
            tracemill_trace::json::push_micros(time, &mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    };
    format!("{}..{}", side(from, i64::MIN), side(to, i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_large_names_a_window_that_fits() {
        let warns = |bytes| Warning::too_large(bytes, Some((0, 5))).is_some();
        assert_eq!([0, 1].map(|more| warns(DEVTOOLS_TEXT_MAX + more)), [false, true]);
        let large = Warning::too_large(1 << 30, Some((1_000_000_000, 7_000_000_000))).unwrap();
        let text = large.to_string();
        assert_eq!(text, "the output has 1024 MiB of text, but DevTools opens less than 512 MiB");
        assert_eq!(large.remedy(), Some(Remedy::Smaller { slice: Some((2000, 400 << 20)) }));
        let timeless = Warning::too_large(1 << 30, None).unwrap();
        assert_eq!(timeless.remedy(), Some(Remedy::Smaller { slice: None }));
    }
}
