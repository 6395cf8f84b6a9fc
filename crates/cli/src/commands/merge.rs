//! `tracemill merge`.

use super::around::{note_form, note_limits, note_repeated, refuse_pouring, report_place};
use super::clocks;
use super::viewer::changed;
use crate::args::MergeArgs;
use crate::exit::{Exit, Failure};
use crate::manifest;
use crate::messages::{Messages, Summary};
use crate::progress::Watch;
use crate::report::{self, Run};
use crate::similar::suggestion;
use crate::size::{human, plural};
use crate::whole_file::Place;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{
    Config, IdentityReport, InputIdentity, MergeReport, Progress, Source, merge,
};

/// Merges, then says how it went.
pub(super) fn run(args: &MergeArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let manifest = args.identity.manifest()?;
    let mut config = args.config(manifest.as_ref(), &progress)?;
    let output = args.trace.config(&args.output, io::stdout().is_terminal())?;
    config.viewer = args.viewer.rules(output.format)?;
    let sources = args.input.sources_and(manifest.as_ref().map_or(&[], |m| &m.inputs))?;
    refuse_pouring(&args.output, &sources)?;
    let report_place = report_place(&args.messages, &args.output, &sources)?;
    let manifest_place = manifest_place(args, &sources)?;

    note_repeated(&sources, messages);
    note_limits(&args.limits, &config, messages);
    let watch = Watch::start(&args.messages, &progress);
    let merged = merge(&sources, &output, &config);
    drop(watch);
    let report = merged?;

    let elapsed = start.elapsed();
    messages.inputs(&report.inputs);
    note_form(&args.trace, report.format, output.compression, messages);
    for text in decisions(&report, &config) {
        messages.note(&text);
    }
    report.warnings.iter().for_each(|text| messages.warning(text));
    unused_labels(args, &report.identity).iter().for_each(|text| messages.warning(text));
    clocks::details(&report.clocks).iter().for_each(|text| messages.note(text));
    clocks::moved(&report.clocks).iter().for_each(|text| messages.say(text));
    renamed(&report.identity).iter().for_each(|text| messages.say(text));
    changed(&report.viewer).iter().for_each(|text| messages.say(text));
    messages.losses(&report.inputs);
    let mut summary = Summary::new("merge", &report.inputs, report.lost(), elapsed);
    summary.output = Some((report.events, report.bytes));
    summary.copies = report.copies;
    messages.summary(&summary);
    if let Some(place) = report_place {
        let run = Run { config: &config, elapsed };
        place.write_json(&report::merge(&report, &output, &run))?;
    }
    if let Some(place) = manifest_place {
        place.write_json(&manifest::written(&report.identity, &report.clocks))?;
    }
    Ok(Exit::written(report.lost(), &report.inputs))
}

/// Where the manifest goes, if one is wanted; refused before anything is read if it would spoil something.
fn manifest_place(args: &MergeArgs, sources: &[Source]) -> Result<Option<Place>, Failure> {
    let Some(path) = &args.identity.write_manifest else { return Ok(None) };
    let place = Place::of(path);
    if matches!((&place, args.output.file()), (Place::Stdout, None)) {
        return Err(Failure::usage(
            "--write-manifest - would mix with the output on standard output: name a file, or give -o",
        ));
    }
    place.check("the manifest", sources, args.output.force)?;
    Ok(Some(place))
}

/// What was renamed in which inputs, as one sentence, if anything was.
fn renamed(identity: &IdentityReport) -> Option<String> {
    /// Inputs that are named.
    const NAMED: usize = 3;
    let changed: Vec<&InputIdentity> = identity
        .inputs
        .iter()
        .filter(|input| !input.pids.is_empty() || !input.ids.is_empty())
        .collect();
    let one = |input: &&InputIdentity| {
        let pids = (!input.pids.is_empty()).then(|| plural(input.pids.len() as u64, "pid"));
        let ids = input.ids.iter().map(|(name, _)| match &**name {
            "id" => "ids".to_owned(),
            other => other.to_owned(),
        });
        let what: Vec<String> = pids.into_iter().chain(ids).collect();
        format!("{} in {}", what.join(", "), input.name)
    };
    let mut all: Vec<String> = changed.iter().take(NAMED).map(one).collect();
    if changed.len() > NAMED {
        all.push(format!("and in {}", plural((changed.len() - NAMED) as u64, "more input")));
    }
    (!all.is_empty()).then(|| {
        format!(
            "{} got new values, since earlier inputs use the same ones (--pid keep --ids keep leaves them)",
            all.join("; ")
        )
    })
}

/// Labels that were given for files which are no inputs, and a pattern for labels that matches none.
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
            format!("--label {file}: no input has this path or name{meant}")
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

/// What the run decided, for `-v`.
fn decisions(report: &MergeReport, config: &Config) -> Vec<String> {
    let mut texts = Vec::new();
    let tmp_dir = config.tmp_dir.display();
    let given = report.identity.inputs.iter().filter(|input| input.name != "--for devtools");
    let recordings = given.map(|input| input.recording).max();
    if let Some(last) = recordings.filter(|_| report.inputs.len() > 1) {
        texts.push(format!("the inputs are of {}", plural(last as u64 + 1, "recording")));
    }
    if report.identity.metadata_dropped > 0 {
        let events = plural(report.identity.metadata_dropped, "metadata event");
        texts.push(format!("{events} left out, of which there were others of the same bytes"));
    }
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
    if report.annotations.kept > 0 {
        texts.push(format!("{} of DevTools kept", plural(report.annotations.kept, "annotation")));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_pipeline::{AnnotationReport, Format, Tier, ViewerReport};

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
            identity: IdentityReport::default(),
            clocks: Vec::new(),
            annotations: AnnotationReport::default(),
            viewer: ViewerReport::default(),
            warnings: Vec::new(),
        };
        assert_eq!(decisions(&report, &config), [""; 0]);
        (report.spilled_runs, report.spooled_bytes, report.delayed_chunks) = (1, 2048, 3);
        report.copies = 4;
        let texts = decisions(&report, &config);
        assert!(texts[0].starts_with("1 sorted run of the index went to /t"));
        assert!(texts[1].starts_with("2.0 KiB of pipes and packed inputs went to /t"));
        assert!(texts[2].starts_with("3 chunks of CPU profiles"));
        assert!(texts[3].starts_with("4 events that split had repeated"));
    }

    #[test]
    fn what_is_renamed_is_one_line() {
        assert_eq!(renamed(&IdentityReport::default()), None);
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
        let text = renamed(&IdentityReport { inputs, metadata_dropped: 0 }).unwrap();
        let expected = "2 pids, ids, stackFrames in b; 1 pid in c; ids in d; and in 1 more input got new values";
        assert!(text.contains(expected), "{text}");
    }
}
