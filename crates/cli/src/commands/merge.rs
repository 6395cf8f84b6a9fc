//! `tracemill merge`.

use super::{pretty, report_place};
use crate::args::MergeArgs;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary};
use crate::progress::Watch;
use crate::report::{self, Run};
use crate::size::{human, plural};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{Config, MergeReport, Progress, merge};

/// Merges, then says how it went.
pub(super) fn run(args: &MergeArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let config = args.config(&progress)?;
    let output = args.trace.config(&args.output, io::stdout().is_terminal())?;
    let sources = args.input.sources()?;
    let report_place = report_place(&args.messages, &args.output, &sources)?;

    let watch = Watch::start(&args.messages, &progress);
    let merged = merge(&sources, &output, &config);
    drop(watch);
    let report = merged?;

    let elapsed = start.elapsed();
    messages.inputs(&report.inputs);
    for text in decisions(&report, &config) {
        messages.note(&text);
    }
    report.warnings.iter().for_each(|text| messages.warning(text));
    messages.losses(&report.inputs);
    let mut summary = Summary::new("merge", &report.inputs, report.lost(), elapsed);
    summary.output = Some((report.events, report.bytes));
    summary.copies = report.copies;
    messages.summary(&summary);
    if let Some(place) = report_place {
        let run = Run { config: &config, elapsed };
        place.write(&pretty(&report::merge(&report, &output, &run)))?;
    }
    Ok(Exit::finished(report.lost()))
}

/// What the run decided, for `-v`.
fn decisions(report: &MergeReport, config: &Config) -> Vec<String> {
    let mut texts = vec![
        format!(
            "{}, scan by {}, at most {} of heap",
            plural(report.threads as u64, "thread"),
            report.tier,
            human(config.memory)
        ),
        format!("written as {}", report.format.name()),
    ];
    let tmp_dir = config.tmp_dir.display();
    if report.spilled_runs > 0 {
        let runs = plural(report.spilled_runs, "sorted run");
        texts.push(format!("{runs} of the index went to {tmp_dir}: more memory (-m) avoids it"));
    }
    if report.spooled_bytes > 0 {
        let bytes = human(report.spooled_bytes);
        texts.push(format!("{bytes} of pipes and packed inputs went to {tmp_dir}"));
    }
    if report.delayed_chunks > 0 {
        let chunks = plural(report.delayed_chunks, "chunk");
        texts.push(format!(
            "{chunks} of CPU profiles came before what they build on and were moved behind it"
        ));
    }
    if report.copies > 0 {
        let events = plural(report.copies, "event");
        texts.push(format!("{events} that split had repeated at cuts were left out"));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_pipeline::{Format, Tier};

    #[test]
    fn decisions_are_said_where_there_were_any() {
        let config = crate::args::test_config();
        let mut report = MergeReport {
            inputs: Vec::new(),
            events: 0,
            bytes: 0,
            format: Format::Object,
            tier: Tier::Scalar,
            threads: 2,
            spilled_runs: 0,
            spooled_bytes: 0,
            delayed_chunks: 0,
            copies: 0,
            keys_lost: 0,
            warnings: Vec::new(),
        };
        let texts = decisions(&report, &config);
        assert_eq!(
            texts,
            ["2 threads, scan by scalar, at most 64.0 MiB of heap", "written as object"]
        );
        (report.spilled_runs, report.spooled_bytes, report.delayed_chunks) = (1, 2048, 3);
        report.copies = 4;
        let texts = decisions(&report, &config);
        assert!(texts[2].starts_with("1 sorted run of the index went to /t"));
        assert!(texts[3].starts_with("2.0 KiB of pipes and packed inputs went to /t"));
        assert!(texts[4].starts_with("3 chunks of CPU profiles"));
        assert!(texts[5].starts_with("4 events that split had repeated"));
    }
}
