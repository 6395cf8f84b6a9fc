//! `tracemill profile list` and `tracemill profile extract`.

use super::around::report_place;
use super::info::{duration_text, micros};
use super::joining::Joined;
use super::reporting::Reporting;
use super::running::{Flags, Running, of_index};
use crate::args::{ExtractArgs, ListArgs, ProfileVerb};
use crate::messages::wrap::columns_of;
use crate::messages::{Messages, flaw_text, plain};
use crate::outcome::exit::{Exit, Failure};
use crate::outcome::remedies;
use crate::report;
use crate::text::size::human;
use crate::text::table::{self, ColumnAlignment, TableLayout};
use tracemill_cpuprofile::ChunkOrder;
use tracemill_index::{extract_profiles, list_profiles};
use tracemill_join::config::Config;
use tracemill_pipeline::{ProfileInfo, ProfilesReport};
use tracemill_trace::run::words::{grouped, plural};

pub(super) fn run(verb: &ProfileVerb, messages: &Messages) -> Result<Exit, Failure> {
    match verb {
        ProfileVerb::List(args) => list(args, messages),
        ProfileVerb::Extract(args) => extract(args, messages),
    }
}

fn list(args: &ListArgs, messages: &Messages) -> Result<Exit, Failure> {
    let ListArgs { input, choice, output, common, .. } = args;
    let flags = Flags { verb: "profile list", input, common };
    let mut reporting = Reporting::new(flags, output, messages)?;
    reporting.running.config.index = args.index.index.clone();
    reporting.running.announce();
    let joined = Joined::of(&mut reporting.running, None)?;
    let running = &reporting.running;
    let mut report =
        running.watch(|sources, config| list_profiles(sources, &choice.choice(), config))?;
    joined.complete_profiles(&mut report);

    let json = report::profiles(flags.verb, &report, &running.described());
    match args.json {
        true => reporting.output.write_json(&json)?,
        false => {
            let columns = columns_of(&reporting.output);
            reporting.output.write(table_of(&report.profiles, columns).as_bytes())?;
        }
    }
    say(&report, &running.config, messages);
    if report.profiles.is_empty() && !args.json {
        messages.say("the input has no CPU profile");
    }
    reporting.end(&report.inputs, report.lost(), |_| json)?;
    Ok(Exit::finished(report.lost()))
}

fn extract(args: &ExtractArgs, messages: &Messages) -> Result<Exit, Failure> {
    let ExtractArgs { input, index, choice, output, common } = args;
    let flags = Flags { verb: "profile extract", input, common };
    let mut running = Running::new(flags, &[], messages)?;
    running.config.index = index.index.clone();
    let report_place = report_place(&common.messages, messages, &output.plain(), &running.sources)?;
    running.announce();
    let joined = Joined::of(&mut running, None)?;
    let (choice, target) = (choice.choice(), output.target(common.messages.report.as_ref()));
    let mut report =
        running.watch(|sources, config| extract_profiles(sources, &choice, &target, config))?;
    joined.complete_profiles(&mut report);

    for profile in &report.profiles {
        if let Some(file) = &profile.file {
            let samples = plural(profile.samples, "sample");
            messages.note(&format!("{}: {samples}, {}", file.display(), chosen(profile.order)));
        }
    }
    say(&report, &running.config, messages);
    let summary = running.summary(&report.inputs, report.lost());
    running
        .end(&summary, report_place.as_ref(), |run| report::profiles(flags.verb, &report, run))?;
    Ok(Exit::finished(report.lost()))
}

/// Returns a phrase for `-v` about the order of a profile's chunks.
fn chosen(order: ChunkOrder) -> &'static str {
    match order {
        ChunkOrder::Both => "chunks in time order, as they stand",
        ChunkOrder::Time => {
            "chunks put in time order: as they stand, some come before the nodes they use"
        }
        ChunkOrder::Input => {
            "chunks in the order of the file: by time, some would come before the nodes they use"
        }
        ChunkOrder::Neither => "chunks in time order, though some come before the nodes they use",
    }
}

/// Reports warnings, losses of the inputs, and the flaws of each profile.
fn say(report: &ProfilesReport, config: &Config, messages: &Messages) {
    messages.inputs(&report.inputs);
    let by_index = of_index(report.index.as_ref(), report.index_unused, &report.inputs);
    by_index.iter().for_each(|text| messages.note(text));
    if report.spills > 0 {
        let (times, tmp_dir) = (plural(report.spills, "time"), config.limits.tmp_dir.display());
        let text = format!(
            "wrote places of chunks to {tmp_dir} {times}, because the memory budget (-m) was full"
        );
        messages.note(&text);
    }
    messages.warnings(&remedies::warnings(&report.warnings));
    messages.losses(&report.inputs);
    for profile in &report.profiles {
        for (kind, flaw) in profile.flaws.iter() {
            let text = format!(
                "CPU profile of pid {}, tid {}, id {}: {}",
                profile.pid,
                profile.tid,
                profile.id,
                flaw_text(kind, flaw),
            );
            messages.warning(&text);
        }
    }
}

fn table_of(profiles: &[ProfileInfo], columns: Option<usize>) -> String {
    const TITLES: [&str; 14] = [
        "pid",
        "tid",
        "thread",
        "id",
        "source",
        "start µs",
        "duration",
        "samples",
        "interval",
        "nodes",
        "chunks",
        "size",
        "order",
        "damage",
    ];
    const SET: [ColumnAlignment; 14] = {
        let mut set = [ColumnAlignment::Right; 14];
        (set[2], set[3], set[4], set[12], set[13]) = (
            ColumnAlignment::Left,
            ColumnAlignment::Left,
            ColumnAlignment::Left,
            ColumnAlignment::Left,
            ColumnAlignment::Left,
        );
        set
    };
    // columns that may be left out, the first one first: chunks, order, source, nodes, start, size, interval
    const SPARE: [usize; 7] = [10, 12, 4, 9, 5, 11, 8];
    let mut rows = vec![TITLES.iter().map(|title| (*title).to_owned()).collect::<Vec<_>>()];
    rows.extend(profiles.iter().map(row));
    let lines = table::lines(&rows, &TableLayout { set: &SET, spare: &SPARE, columns });
    lines.into_iter().map(|line| line + "\n").collect()
}

fn row(profile: &ProfileInfo) -> Vec<String> {
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { plain(text) };
    let duration = i128::from(profile.end_ns) - i128::from(profile.start_ns);
    let damage: Vec<String> = profile
        .flaws
        .iter()
        .map(|(kind, flaw)| format!("{} {}", grouped(flaw.count), kind.name()))
        .collect();
    vec![
        or_dash(&profile.pid),
        or_dash(&profile.tid),
        or_dash(profile.thread_name.as_deref().unwrap_or_default()),
        or_dash(profile.id.trim_matches('"')),
        or_dash(profile.source.map_or("", |source| source.name())),
        micros(profile.start_ns),
        duration_text(duration),
        grouped(profile.samples),
        profile.interval_ns().map_or_else(|| "-".to_owned(), |ns| duration_text(ns.into())),
        grouped(profile.nodes),
        grouped(profile.chunks),
        human(profile.bytes),
        profile.order.name().to_owned(),
        or_dash(&damage.join(", ")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_cpuprofile::ProfileSource;
    use tracemill_trace::run::flaws::Flaws;

    #[test]
    fn profiles_are_an_aligned_table() {
        let profile = |pid: &str, source, samples| ProfileInfo {
            pid: pid.into(),
            tid: "\"a\\u{1b}\"".into(),
            id: "\"0x1\"".into(),
            process_name: None,
            thread_name: Some("Main".into()),
            source,
            start_ns: 1_500,
            own_start_ns: None,
            end_ns: 2_001_500,
            samples,
            nodes: 3,
            chunks: 2,
            bytes: 5120,
            order: ChunkOrder::Both,
            flaws: Flaws::default(),
            file: None,
        };
        let both = [profile("7", None, 1234), profile("", Some(ProfileSource::Internal), 5)];
        let text = table_of(&both, None);
        let expected = "\
pid        tid  thread  id   source    start µs  duration  samples   interval  nodes  chunks     size  order  damage
  7  \"a\\u{1b}\"  Main    0x1  -              1.5   2.00 ms    1,234    1.62 µs      3       2  5.0 KiB  both   -
  -  \"a\\u{1b}\"  Main    0x1  Internal       1.5   2.00 ms        5  400.00 µs      3       2  5.0 KiB  both   -
";
        assert_eq!(text, expected);
        let narrow = table_of(&both, Some(72));
        assert!(
            narrow.ends_with("… no room for: source, start µs, nodes, chunks, size, order\n"),
            "{narrow}"
        );
    }
}
