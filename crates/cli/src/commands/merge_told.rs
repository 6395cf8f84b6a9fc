//! Messages of a merge about ids, labels and how the merge was done.

use super::around::{delayed, on_disk};
use super::running::Running;
use super::unmatched;
use crate::args::MergeArgs;
use crate::text::similar::suggestion;
use std::path::Path;
use tracemill_join::config::Config;
use tracemill_join::report::warning::Warning;
use tracemill_join::report::{IdentityReport, InputIdentity, MergeReport};
use tracemill_trace::run::words::plural;

/// Warns about labels and names of `--args-key` that match nothing. Returns whether a label is
/// unused.
pub(super) fn warn_unused(
    args: &MergeArgs,
    report: &mut MergeReport,
    running: &Running<'_>,
) -> bool {
    let labels = unused_labels(args, &report.identity);
    let is_unused = !labels.is_empty();
    let absent = &report.identity.args_keys_absent;
    let sentence = unmatched::args_keys(absent, &running.sources, &running.config);
    report.run.warnings.extend(labels.into_iter().chain(sentence).map(Warning::Said));
    is_unused
}

/// Flags of `merge` that keep pids and ids.
pub(super) const KEEP: &str = "--pid keep --ids keep";

/// Returns a sentence about the ids that were renumbered, with their inputs. Returns `None` if
/// there are none. `keep` has the flags that prevent this.
pub(super) fn renamed(identity: &IdentityReport, keep: &str) -> Option<String> {
    let is_changed = |input: &&InputIdentity| !input.pids.is_empty() || !input.ids.is_empty();
    let changed: Vec<&InputIdentity> = identity.inputs.iter().filter(is_changed).collect();
    let mut kinds: Vec<&str> = Vec::new();
    for input in &changed {
        let pids = (!input.pids.is_empty()).then_some("process ids");
        let ids = input.ids.iter().map(|(name, _)| match &**name {
            "id" => "event ids",
            other => other,
        });
        for kind in pids.into_iter().chain(ids) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    let inputs = match &changed[..] {
        [] => return None,
        [input] => input.name.clone(),
        inputs => plural(inputs.len() as u64, "input"),
    };
    let kinds = kinds.join(", ");
    Some(format!(
        "{kinds} of {inputs} renumbered so that they do not clash with earlier inputs ({keep} leaves them)"
    ))
}

/// Returns messages about `--label` flags that match no input.
fn unused_labels(args: &MergeArgs, identity: &IdentityReport) -> Vec<String> {
    let inputs = || identity.inputs.iter().filter(|input| input.name != "--for devtools");
    let names: Vec<&str> = inputs().map(|input| input.name.as_str()).collect();
    let is_it = |file: &Path, name: &str| {
        file.as_os_str() == name || Path::new(name).file_name() == Some(file.as_os_str())
    };
    let unused =
        args.identity.label.iter().filter(|(file, _)| !names.iter().any(|name| is_it(file, name)));
    let mut texts: Vec<String> = unused
        .map(|(file, _)| {
            let file = file.display().to_string();
            let meant = suggestion(&file, names.iter().copied());
            format!("--label names {file}, but no input has this path or name{meant}")
        })
        .collect();
    if let Some(pattern) = &args.identity.label_from_name
        && !names.iter().any(|name| pattern.is_match(name))
    {
        texts.push(format!(
            "--label-from-name {} matches none of the inputs' names, such as {}",
            pattern.as_str(),
            names.first().unwrap_or(&"standard input")
        ));
    }
    texts
}

/// Returns messages for `-v` about how the merge was done.
pub(super) fn decisions(report: &MergeReport, config: &Config) -> Vec<String> {
    let mut texts = Vec::new();
    let given = report.identity.inputs.iter().filter(|input| input.name != "--for devtools");
    let recordings = given.map(|input| input.recording).max();
    if let Some(last) = recordings.filter(|_| report.run.inputs.len() > 1) {
        texts.push(format!("the inputs belong to {}", plural(last as u64 + 1, "recording")));
    }
    if report.identity.metadata_dropped > 0 {
        let events = plural(report.identity.metadata_dropped, "metadata event");
        texts.push(format!("{events} left out, because an equal one was written already"));
    }
    let runs = report.spilled_runs;
    let runs = (runs > 0).then(|| plural(runs, "sorted run"));
    texts.extend(on_disk(config, runs, report.run.spooled_bytes));
    texts.extend(delayed(report.delayed_chunks));
    if report.copies > 0 {
        let events = plural(report.copies, "event");
        let why = match config.identity.dedup {
            true => "that are equal to others",
            false => "that split had repeated at cuts",
        };
        texts.push(format!("{events} left out {why}"));
    }
    if report.run.annotations.kept > 0 {
        texts.push(format!(
            "kept {} of DevTools",
            plural(report.run.annotations.kept, "annotation")
        ));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_reported_if_any_were_made() {
        let config = crate::args::test_config();
        let mut report = MergeReport::new(&config.limits);
        assert_eq!(decisions(&report, &config), [""; 0]);
        (report.spilled_runs, report.run.spooled_bytes, report.delayed_chunks) = (1, 2048, 3);
        report.copies = 4;
        let texts = decisions(&report, &config);
        assert!(texts[0].starts_with("1 sorted run went to /t"));
        assert!(texts[1].starts_with("2.0 KiB of pipes and packed inputs went to /t"));
        assert!(texts[2].starts_with("3 chunks of CPU profiles"));
        assert!(texts[3].starts_with("4 events left out that split had repeated"));
    }

    #[test]
    fn renumbered_ids_are_one_line() {
        assert_eq!(renamed(&IdentityReport::default(), KEEP), None);
        let input = |name: &str, pids: usize, ids: &[&str]| InputIdentity {
            name: name.into(),
            pids: vec![("1".into(), "10000001".into()); pids],
            ids: ids.iter().map(|name| ((*name).into(), "numbers + 10".into())).collect(),
            ..InputIdentity::default()
        };
        let inputs = vec![
            input("a", 0, &[]),
            input("b", 2, &["id", "stackFrames"]),
            input("c", 1, &[]),
            input("d", 0, &["id"]),
            input("e", 1, &[]),
        ];
        let text = renamed(&IdentityReport { inputs, ..IdentityReport::default() }, KEEP).unwrap();
        let expected = "process ids, event ids, stackFrames of 4 inputs renumbered so that they do not clash with earlier inputs \
                        (--pid keep --ids keep leaves them)";
        assert_eq!(text, expected);
    }
}
