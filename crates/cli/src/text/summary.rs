//! The summary line at the end of a run, with counts and speed.

use crate::text::size::human;
use std::time::Duration;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::words::{grouped, plural};

/// Returns whether the user named the input. Other inputs are generated for a viewer, and named
/// after the flag.
pub(crate) fn is_given(input: &InputReport) -> bool {
    input.name != "--for devtools"
}

/// Describes the contents of inputs, such as "3 events". Counts CPU profiles only if they were not
/// converted to events.
pub(crate) fn contents(events: u64, profiles: u64) -> String {
    match (events, profiles) {
        (0, 1..) => plural(profiles, "CPU profile"),
        _ => plural(events, "event"),
    }
}

/// Counts for the summary line.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) verb: &'static str,
    pub(crate) inputs: u64,
    /// Number of events and number of bytes that were read.
    pub(crate) input: (u64, u64),
    pub(crate) profiles: u64,
    /// Number of events and number of bytes that were written, if the output is a trace.
    pub(crate) output: Option<(u64, u64)>,
    /// Number of duplicate events that were left out.
    pub(crate) copies: u64,
    pub(crate) lost: u64,
    pub(crate) elapsed: Duration,
}

impl Summary {
    pub(crate) fn new(
        verb: &'static str,
        inputs: &[InputReport],
        lost: u64,
        elapsed: Duration,
    ) -> Self {
        let sum = |of: fn(&InputReport) -> u64| inputs.iter().map(of).sum::<u64>();
        let input = (sum(|input| input.events), sum(|input| input.bytes));
        let inputs = inputs.iter().filter(|input| is_given(input)).count() as u64;
        let profiles = sum(|input| input.profiles);
        Summary { verb, inputs, input, profiles, output: None, copies: 0, lost, elapsed }
    }

    pub(crate) fn text(&self) -> String {
        let stage = |(events, bytes)| format!("{} ({})", plural(events, "event"), human(bytes));
        let seconds = self.elapsed.as_secs_f64();
        let rate = (self.input.1 as f64 / seconds.max(1e-6)) as u64;
        let output = self.output.map_or(String::new(), |output| format!("{} out, ", stage(output)));
        let copies = match self.copies {
            0 => String::new(),
            1 => "1 copy left out, ".to_owned(),
            copies => format!("{} copies left out, ", grouped(copies)),
        };
        format!(
            "{}: {}, {} ({}) in, {output}{copies}{} lost, {seconds:.3} s, {}/s",
            self.verb,
            plural(self.inputs, "input"),
            contents(self.input.0, self.profiles),
            human(self.input.1),
            grouped(self.lost),
            human(rate)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_counted_if_there_are_no_events() {
        let text_of = |events, profiles| {
            let input = InputReport { events, profiles, ..InputReport::default() };
            Summary::new("top", &[input], 0, Duration::from_secs(1)).text()
        };
        assert!(text_of(0, 2).contains(" 2 CPU profiles (0 B) in"), "{}", text_of(0, 2));
        assert!(text_of(0, 0).contains(" 0 events ") && text_of(82, 1).contains(" 82 events "));
    }

    #[test]
    fn the_summary_has_counts_and_speed() {
        let input = InputReport { bytes: 1 << 20, events: 3000, ..InputReport::default() };
        let mut summary =
            Summary::new("merge", &[input.clone(), input], 1, Duration::from_millis(500));
        assert_eq!(
            summary.text(),
            "merge: 2 inputs, 6,000 events (2.0 MiB) in, 1 lost, 0.500 s, 4.0 MiB/s"
        );
        summary.output = Some((1, 10));
        assert!(summary.text().contains(" in, 1 event (10 B) out, 1 lost, "));
    }
}
