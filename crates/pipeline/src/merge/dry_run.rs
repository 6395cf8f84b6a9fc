//! Plans a merge: decides names, clocks and top-level keys, but orders and writes nothing.

use super::ordered::note_provenance;
use super::scanned::{ScannedInputs, factors, observers};
use tracemill_join::config::Config;
use tracemill_join::identity::may_be_several;
use tracemill_join::inputs::scan;
use tracemill_join::report::MergeReport;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{Needs, Scanned, TimesOnly};
use tracemill_trace::order::Sorter;
use tracemill_trace::output;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_write::keys::unite_renamed;
use tracemill_write::reordering::Reordering;

/// Reports how [`crate::merge()`] would merge `sources`: recordings, new pids and ids, and clock
/// offsets.
///
/// The report is that of the merge, with the facts that are known before events are ordered.
///
/// Cost: one pass over the inputs on all cores. Keeps the facts that distinguish processes in
/// memory, but no events.
///
/// ```
/// use tracemill_pipeline::{Config, OutputConfig, PidPolicy, Source, plan_merge};
///
/// let mut config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// config.identity.pid = PidPolicy::Auto;
/// let text = r#"[{"ph":"X","name":"a","pid":7,"tid":1,"ts":1000,"dur":50}]"#;
/// let sources = ["a.json", "b.json"].map(|name| Source::bytes(name, text));
/// let plan = plan_merge(&sources, &OutputConfig::file("both.json"), &config)?;
/// assert_eq!(plan.identity.inputs[1].pids, [("7".to_owned(), "10000007".to_owned())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`crate::merge()`], except those of writing.
pub fn plan_merge(
    sources: &[Source],
    output: &OutputConfig,
    config: &Config,
) -> Result<MergeReport, Error> {
    config.limits.check()?;
    output::check(output, &sources.iter().collect::<Vec<_>>())?;
    // viewers do not affect the plan
    let observers = observers(config, may_be_several(sources), false);
    let keep = TimesOnly::default().scaled(factors(config)).with_needs(Needs::WRITES);
    let Scanned { inputs, index, observed } = scan(sources, config, keep, observers)?;
    let no_entries =
        |_| Sorter::new(config.limits.lease("entries of a merge", Share::of_index(1, 1)));
    let scanned = ScannedInputs::new(index, no_entries, observed);
    let aligned = scanned.align_clocks(&inputs, &config.clocks)?;
    let mut renamed = aligned.resolve_ids(&inputs, &config.identity)?;
    let store = inputs.store();
    let documents = &renamed.scanned.documents;
    let mut keys = unite_renamed(documents, &store, &mut renamed.names.rewrite);
    let identity = renamed.identity_report(0, &inputs, config);
    let has_own_keys = note_provenance(&mut keys, &identity, &renamed, config);
    let events = config.viewer.viewer.map(|_| renamed.scanned.count.events);
    let format = renamed.format(output, has_own_keys, events);
    let delays = Reordering::default();
    let mut report = renamed.begin_report(&inputs, &keys, &delays, format, identity, config);
    inputs.check_unchanged()?;
    report.run.inputs = inputs.reports;
    Ok(report)
}
