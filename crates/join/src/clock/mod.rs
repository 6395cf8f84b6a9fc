//! Aligns the clocks of inputs: scales and shifts their times.
//!
//! `time in the output = time in the input × factor + offset`, exact to 10⁻¹⁸ s
//! ([`tracemill_trace::time::attos`]) and in the original notation. Factors come only from
//! `--scale`, so they are known before the scan. Offsets are computed from its findings (`align`).
//!
//! | value | of | unit |
//! |---|---|---|
//! | `ts` | all events, except 0 in metadata events, which is no time | µs |
//! | `dur` | all | duration |
//! | `args.data.startTime`, `.endTime`; the same in `args.data.cpuProfile` | `Profile`, `ProfileChunk`, `CpuProfile`, `CpuProfiler::StartProfiling`, `CpuProfiler::StopProfiling` | µs |
//! | `args.data.timeDeltas[]`, `args.data.cpuProfile.timeDeltas[]` | the same | durations |
//! | `args.data.timing.requestTime` (`ResourceReceiveResponse`), `args.data.finishTime` (`ResourceFinish`), unless 0 | the event in parentheses: DevTools draws network requests at these times | s |
//! | `args.data.start`, `args.data.end`, if they are numbers | `TimeStamp`: DevTools draws `console.timeStamp` at these times | µs |
//! | `args.callTime`, `args.data.callTime` | of category `blink.user_timing` | µs |
//! | `ts` | entries of the top-level key `samples` | µs |
//! | `args.issue_ts` | `clock_sync` | µs |
//!
//! Durations change only with the factor. All other `args`, and the thread clocks (`tts`, `tdur`),
//! stay.
//!
//! ```text
//!   scan ── times × factor ──> entries ─┐
//!     └──── markers, syncs ──> offsets ─┼─> shifted entries ─> order ─> emit: patches ─> output
//!   keys ── base times ─────────────────┘                              (with new names)
//! ```
//!
//! Offsets are whole nanoseconds, so shifting keeps sorted entries sorted. Only entries with
//! sub-nanosecond times are read again, and runs on disk are rewritten (`apply`). Inputs that are
//! not shifted cost nothing.

mod align;
mod apply;
mod base;
mod describe;
mod fields;
mod markers;
mod watch;

use crate::report::warning::Warning;
pub use apply::shift_runs;
pub(crate) use describe::push_clocks;
pub(crate) use fields::each_moved;
pub(crate) use markers::ClockSamples;
use markers::ClockSignals;
use tracemill_trace::run::remedy::Remedy;
pub(crate) use watch::ClockWatch;

use crate::config::{Align, ClockRules};
use crate::report::{ClockMethod, InputClock};
use align::{Alignment, InputClockFacts, SINCE_1970, align};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracemill_cpuprofile::FOR_DEVTOOLS;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;
use tracemill_trace::time::factor::Factor;
use tracemill_trace::time::shift::{Shift, Shifts};

const YEAR: i64 = 31_557_600_000_000_000;

/// Returns whether an option names an input by its path.
fn is_path(file: &Path, input: &str) -> bool {
    file.as_os_str() == input || input == "standard input" && file.as_os_str() == "-"
}

/// Returns whether an option names an input by its file name.
fn is_name(file: &Path, input: &str) -> bool {
    Path::new(input).file_name().is_some_and(|name| name == file.as_os_str())
}

/// Returns the value given for an input, by path or else by file name.
fn of_input<'r, T>(all: &'r [(PathBuf, T)], input: &str) -> Option<&'r T> {
    let by_path = all.iter().find(|(file, _)| is_path(file, input));
    let given = by_path.or_else(|| all.iter().find(|(file, _)| is_name(file, input)));
    given.map(|(_, value)| value)
}

impl ClockRules {
    /// Returns the events that the scan must observe, or `None` if it need not observe any.
    fn signals(&self, several: bool) -> Option<Arc<ClockSignals>> {
        let marker = match &self.align {
            Align::Marker(name) => Some(name.clone().into_bytes()),
            _ => None,
        };
        let syncs = self.align == Align::ClockSync || self.align == Align::Auto && several;
        (marker.is_some() || syncs).then(|| Arc::new(ClockSignals { marker, syncs }))
    }

    /// Returns the time factor of an input, or `None` if it has none. Factors are known before the
    /// scan.
    pub fn factor_of(&self, input: &str) -> Option<Arc<Shift>> {
        Shift::new(0, of_input(&self.scales, input)).map(Arc::new)
    }

    /// Checks that every path of an offset or factor matches an input, so that typos are reported.
    fn check_names(&self, inputs: &Inputs) -> Result<(), Error> {
        let offsets = self.offsets.iter().map(|(file, _)| ("an offset", file));
        let scales = self.scales.iter().map(|(file, _)| ("a factor", file));
        for (what, file) in offsets.chain(scales) {
            let is_it = |name: &str| is_path(file, name) || is_name(file, name);
            if !inputs.reports.iter().any(|input| is_it(&input.name)) {
                let file = file.display();
                let problem =
                    format!("{what} is given for {file}, but no input has this path or name");
                return Err(Error::usage(problem, None));
            }
        }
        Ok(())
    }
}

fn check_markers(align: &Align, known: &[InputClockFacts]) -> Result<(), Error> {
    let Align::Marker(name) = align else { return Ok(()) };
    if known.iter().any(|input| input.samples.seen > 0) {
        return Ok(());
    }
    let problem = format!("no input has an event named {name} to align their clocks by");
    Err(Error::usage(problem, Some(Remedy::ListNames)))
}

/// The changes of the times of all inputs.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    /// Shift of each input; `None` if its times do not change.
    by_input: Vec<Option<Arc<Shift>>>,
    /// Shift for each offset in the address space.
    by_place: Arc<Shifts>,
    factors: Vec<Arc<Shift>>,
    /// Clock report of each input.
    pub inputs: Vec<InputClock>,
}

impl Clocks {
    /// Decides the offsets of all inputs. `samples` yields the clock samples of each input, with
    /// its base.
    ///
    /// # Errors
    /// Returns [`tracemill_trace::run::error::ErrorKind::Usage`] if a given path matches no input,
    /// or no input has the requested marker.
    pub(crate) fn decide_offsets(
        samples: impl Iterator<Item = (u64, ClockSamples)>,
        documents: &[Document],
        inputs: &Inputs,
        store: &Store<'_>,
        rules: &ClockRules,
    ) -> Result<(Clocks, Vec<Warning>), Error> {
        rules.check_names(inputs)?;
        let mut known = known(samples, documents, inputs, store, rules);
        // the synthetic input for DevTools has no clock
        let devtools_at = known.iter().position(|known| known.name == FOR_DEVTOOLS);
        let devtools_at = devtools_at.unwrap_or(known.len());
        let timed = known[..devtools_at].iter().filter(|known| known.span.is_some()).count();
        check_markers(&rules.align, &known[..devtools_at])?;
        let (mut found, mut warnings) = match timed {
            0 | 1 => Default::default(),
            _ => align(&rules.align, &mut known[..devtools_at]),
        };
        found.resize(known.len(), Alignment::default());
        let mut clocks = Clocks::default();
        let offset_of = |known: &InputClockFacts, found: &Alignment| {
            let added = of_input(&rules.offsets, &known.name).copied().unwrap_or(0);
            known.given.unwrap_or(found.offset).saturating_add(added)
        };
        let starts = known[..devtools_at].iter().zip(&found).filter_map(|(known, found)| {
            Some(known.span?.0.saturating_add(offset_of(known, found)))
        });
        let rebased = rules.rebase.zip(starts.min());
        let rebased = rebased.map_or(0, |(rebase, start)| rebase.saturating_sub(start));
        for (known, found) in known.iter().zip(found) {
            let scale = of_input(&rules.scales, &known.name).filter(|scale| !scale.is_one());
            let offset_ns = offset_of(known, &found).saturating_add(rebased);
            let given = (offset_ns != found.offset || scale.is_some() || known.given.is_some())
                .then_some(ClockMethod::Given);
            clocks.factors.extend(rules.factor_of(&known.name));
            clocks.by_input.push(Shift::new(offset_ns, scale).map(Arc::new));
            clocks.inputs.push(InputClock {
                name: known.name.clone(),
                method: found.method.or(given),
                offset_ns,
                scale: scale.map(Factor::to_string),
                matches: found.matches,
                residual_ns: found.residual,
                uncertainty_ns: found.uncertainty,
                drift_ppb: found.drift,
            });
        }
        clocks.move_browser_events(&known);
        clocks.inputs.retain(|input| input.name != FOR_DEVTOOLS);
        let place = |held: &tracemill_trace::read::InputPayload| {
            (held.base, clocks.by_input[held.input].clone())
        };
        let mut by_place: Vec<_> = inputs.payloads.iter().map(place).collect();
        // synthetic inputs created later follow all inputs and are not shifted
        let ends = inputs.payloads.iter().map(|held| held.base + held.payload.len());
        by_place.extend(ends.max().map(|end| (end, None)));
        clocks.by_place = Arc::new(Shifts::new(by_place));
        clocks.warn(&known, &mut warnings);
        Ok((clocks, warnings))
    }

    fn move_browser_events(&mut self, known: &[InputClockFacts]) {
        let devtools_at = known.iter().rposition(|known| known.name == FOR_DEVTOOLS);
        let Some((devtools_at, (first, _))) =
            devtools_at.and_then(|devtools_at| Some((devtools_at, known[devtools_at].span?)))
        else {
            return;
        };
        let others = known.iter().enumerate().filter(|(number, _)| *number != devtools_at);
        let starts = others.filter_map(|(number, known)| Some(self.moved(number, known.span?.0)));
        let offset = starts.min().map_or(0, |earliest| earliest.saturating_sub(first));
        self.by_input[devtools_at] = Shift::new(offset, None).map(Arc::new);
    }

    fn moved(&self, input: usize, time: i64) -> i64 {
        self.by_input[input].as_ref().map_or(time, |shift| shift.moved(time))
    }

    /// Returns whether any time changes.
    pub fn change(&self) -> bool {
        self.by_input.iter().any(Option::is_some)
    }

    /// Returns the shift of an input, or `None` if its times do not change.
    pub(crate) fn shift(&self, input: usize) -> Option<&Arc<Shift>> {
        self.by_input.get(input)?.as_ref()
    }

    /// Returns the shift for an offset in the address space, or `None` if times there do not
    /// change.
    pub fn shift_at(&self, offset: u64) -> Option<&Arc<Shift>> {
        self.by_place.at(offset)
    }

    /// Returns the shifts by offset in the address space, or `None` if no time changes.
    pub fn shifts(&self) -> Option<Arc<Shifts>> {
        self.change().then(|| Arc::clone(&self.by_place))
    }

    /// Returns a warning if some times could not be shifted exactly. Valid after the output is
    /// written.
    pub fn stuck(&self) -> Option<Warning> {
        let is_inexact = |shift: &&Arc<Shift>| shift.is_inexact();
        self.by_input.iter().flatten().find(is_inexact).map(|_| Warning::TimesInexact)
    }

    fn warn(&self, known: &[InputClockFacts], warnings: &mut Vec<Warning>) {
        let recorded = known.iter().enumerate().filter(|(_, known)| known.name != FOR_DEVTOOLS);
        let spans = recorded.filter_map(|(number, known)| {
            let (first, last) = known.span?;
            Some((self.moved(number, first), self.moved(number, last), &*known.name))
        });
        if let Some(warning) = far_apart(spans) {
            return warnings.push(warning);
        }
        let untouched = known.iter().zip(&self.by_input).filter(|(_, shift)| shift.is_none());
        let mut domains =
            untouched.filter_map(|(known, _)| Some((&known.name, known.stated.domain.as_ref()?)));
        if let Some((first, domain)) = domains.next()
            && let Some((other, another)) = domains.find(|(_, another)| *another != domain)
        {
            let clocks = [(first, domain), (other, another)];
            warnings.push(Warning::ClocksDiffer(
                clocks.map(|(input, clock)| (input.clone(), clock.to_string())),
            ));
        }
    }
}

/// Returns a warning if inputs are years apart, given their first time, last time and name.
pub fn far_apart<'n>(spans: impl Iterator<Item = (i64, i64, &'n str)>) -> Option<Warning> {
    let mut spans: Vec<_> = spans.collect();
    spans.sort_unstable();
    let (_, mut end, mut earlier) = *spans.first()?;
    for &(first, last, name) in &spans {
        if first.saturating_sub(end) > YEAR {
            let since_1970 = first >= SINCE_1970 && end < SINCE_1970;
            let (later, earlier) = (name.to_owned(), earlier.to_owned());
            return Some(Warning::FarApart { later, earlier, since_1970 });
        }
        if last > end {
            (end, earlier) = (last, name);
        }
    }
    None
}

fn known(
    samples: impl Iterator<Item = (u64, ClockSamples)>,
    documents: &[Document],
    inputs: &Inputs,
    store: &Store<'_>,
    rules: &ClockRules,
) -> Vec<InputClockFacts> {
    let stated = |name: &str| {
        let stated = rules.stated.iter().find(|(file, _)| is_path(file, name));
        stated.map(|&(_, offset)| offset)
    };
    let mut known: Vec<InputClockFacts> = inputs
        .reports
        .iter()
        .map(|report| InputClockFacts {
            name: report.name.clone(),
            span: report.span,
            given: stated(&report.name),
            ..InputClockFacts::default()
        })
        .collect();
    let input_at = |offset: u64| {
        let after = inputs.payloads.partition_point(|held| held.base <= offset);
        after.checked_sub(1).map(|at| inputs.payloads[at].input)
    };
    for document in documents {
        if let Some(input) = document.keys.first().and_then(|key| input_at(key.offset)) {
            known[input].stated.note(document, store);
        }
    }
    for (base, sample) in samples {
        if let Some(input) = input_at(base) {
            known[input].samples.append(sample);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_prefers_path_over_file_name() {
        let all = [("a".into(), 1), ("d/a".into(), 2), ("-".into(), 3)];
        let given = |input: &str| of_input(&all, input).copied();
        assert_eq!(given("a"), Some(1));
        assert_eq!(given("d/a"), Some(2));
        assert_eq!(given("e/a"), Some(1));
        assert_eq!(given("standard input"), Some(3));
        assert_eq!(given("e/d"), None);
    }

    #[test]
    fn inputs_years_apart_cause_a_warning() {
        let day = YEAR / 365;
        let warning = |spans: &[(i64, i64, &'static str)]| far_apart(spans.iter().copied());
        assert_eq!(warning(&[]), None);
        assert_eq!(
            warning(&[(0, day, "a"), (2 * day, 3 * day, "b"), (YEAR, YEAR + day, "c")]),
            None
        );
        // an input that spans years connects the first to the last
        assert_eq!(
            warning(&[(0, 1, "a"), (9 * YEAR, 9 * YEAR + 1, "b"), (0, 9 * YEAR, "c")]),
            None
        );
        let text = warning(&[(9 * YEAR, 9 * YEAR + 1, "b"), (0, 1, "a")]).unwrap().to_string();
        assert!(text.contains("b are years after those in a"), "{text}");
        let text = warning(&[(0, 1, "a"), (SINCE_1970, SINCE_1970, "b")]).unwrap().to_string();
        assert!(text.contains("b count from 1970, those in a do not"), "{text}");
    }
}
