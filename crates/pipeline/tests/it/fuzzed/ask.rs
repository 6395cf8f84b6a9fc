//! Derives a verb with options from bytes, and makes its results comparable.

use super::{below, pick};
use crate::extract::kinds;
use crate::run::{Folder, Knobs, config, output_to, read, through_fifos};
use arbitrary::Unstructured;
use std::fmt::Debug;
use std::path::PathBuf;
use tracemill_index::{extract_profiles, info, list_profiles, slice};
use tracemill_inspect::check::check;
use tracemill_inspect::info::InfoConfig;
use tracemill_join::config::{
    Align, CheckFor, ClockRules, Config, IdPolicy, IdentityRules, Overlaps, PidPolicy, ViewerRules,
};
use tracemill_pipeline::{
    Filter, ProfileChoice, ProfileTarget, SplitBy, SplitConfig, convert, filter, merge, split,
};
use tracemill_trace::output::target::{Format, OutputConfig, Style};
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};
use tracemill_trace::{Error, Source};

/// A verb with its options.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    Merge(Box<Merge>, Option<Format>),
    Slice(Vec<TimeWindow>, Edges, Option<Format>),
    Filter(Box<Filter>, Option<Format>),
    Split(Box<SplitConfig>),
    Convert(Style, Option<Format>),
    Check(Vec<CheckFor>),
    Info(InfoConfig),
    Profiles,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Merge {
    identity: IdentityRules,
    clocks: ClockRules,
    viewer: ViewerRules,
}

/// The written files and the report, or the class of the error.
pub(super) type Answer = Result<(Vec<Vec<u8>>, String), ErrorClass>;

const FORMATS: [Option<Format>; 4] =
    [None, Some(Format::Object), Some(Format::Array), Some(Format::Ndjson)];

/// Times near those of small traces, and far away.
const MOMENTS: [i64; 12] = [
    0,
    1,
    999,
    1000,
    5000,
    -1,
    -3_000_000,
    20_000,
    1_000_000_000,
    1_712_195_495_533_685_110,
    i64::MAX,
    i64::MIN,
];

impl Ask {
    pub(super) fn read(bytes: &mut Unstructured<'_>) -> Self {
        match below(bytes, 9) {
            0 | 8 => Ask::Merge(Box::new(Merge::read(bytes)), format(bytes)),
            1 => {
                let windows = (0..1 + below(bytes, 2)).map(|_| window(bytes)).collect();
                let edges = [Edges::Clip, Edges::Keep, Edges::Drop][below(bytes, 3)];
                Ask::Slice(windows, edges, format(bytes))
            }
            2 => Ask::Filter(Box::new(criteria(bytes)), format(bytes)),
            3 => Ask::Split(Box::new(parts(bytes))),
            4 => {
                let style = [Style::Keep, Style::Compact][below(bytes, 2)];
                Ask::Convert(style, format(bytes))
            }
            5 => Ask::Check(match below(bytes, 3) {
                0 => Vec::new(),
                1 => vec![CheckFor::Devtools],
                _ => vec![CheckFor::Devtools, CheckFor::Perfetto],
            }),
            6 => Ask::Info(InfoConfig {
                top: 1 + below(bytes, 4),
                full: below(bytes, 2) == 1,
                self_times: below(bytes, 2) == 1,
            }),
            _ => Ask::Profiles,
        }
    }

    pub(super) fn plain_merge() -> Self {
        Ask::Merge(Box::default(), None)
    }

    pub(super) fn answer(&self, inputs: &[&[u8]], knobs: Knobs, strict: bool) -> Answer {
        let mut config = config(knobs);
        config.limits.strict = strict;
        if let Ask::Merge(rules, _) = self {
            config.identity = rules.identity.clone();
            config.clocks = rules.clocks.clone();
            config.viewer = rules.viewer;
        }
        let folder = Folder::new();
        let result = given(inputs, knobs, |sources| self.run(sources, &folder, &config));
        let left = folder.names();
        assert!(result.is_ok() || left.is_empty(), "{left:?} is left: {result:?}");
        result.map_err(|error| error.class())
    }

    fn run(
        &self,
        sources: &[Source],
        folder: &Folder,
        config: &Config,
    ) -> Result<(Vec<Vec<u8>>, String), Error> {
        let path = folder.path("out");
        let to = |format: &Option<Format>| -> OutputConfig { output_to(&path, *format) };
        let one = || vec![read(&path)];
        Ok(match self {
            Ask::Merge(_, format) => {
                let report = merge(sources, &to(format), config)?;
                let counts =
                    (report.run.events, report.run.bytes, report.run.format, report.delayed_chunks);
                let lost = (report.copies, report.run.keys_lost, report.run.annotations);
                let renamed: Vec<_> =
                    report.identity.inputs.iter().map(|i| (i.recording, &i.pids, &i.ids)).collect();
                let clocks: Vec<_> =
                    report.clocks.iter().map(|c| (&c.method, c.offset_ns, c.residual_ns)).collect();
                let changes = (&report.run.viewer.changes, report.identity.metadata_dropped);
                (one(), summary(&report.run.inputs, (counts, lost, renamed, clocks, changes)))
            }
            Ask::Slice(windows, edges, format) => {
                let report = slice(sources, windows, *edges, &to(format), config)?;
                let counts = [report.clipped, report.opened, report.closed, report.counters];
                let more = [report.moved, report.rebased, report.samples, report.kept_always];
                let flaws = kinds(&report.flaws);
                let bounds = (&report.windows, report.trace);
                (one(), summary(&report.written.run.inputs, (counts, more, flaws, bounds)))
            }
            Ask::Filter(wanted, format) => {
                let report = filter(sources, wanted, &to(format), config)?;
                let counts =
                    (report.run.events, report.dropped, report.threshold_ns, report.run.keys_lost);
                (one(), summary(&report.run.inputs, (counts, report.run.annotations)))
            }
            Ask::Split(settings) => {
                let settings = SplitConfig { dir: path.clone(), ..(**settings).clone() };
                let report = split(sources, &settings, config)?;
                let parts: Vec<_> = report
                    .parts
                    .iter()
                    .map(|p| (&p.pid, &p.tid, &p.cat, p.events, p.metadata, p.copies, p.times_ns))
                    .collect();
                let files = report.parts.iter().map(|part| read(&part.file)).collect();
                let counts = (report.delayed_chunks, report.run.keys_lost, report.run.annotations);
                (files, summary(&report.run.inputs, (parts, counts)))
            }
            Ask::Convert(style, format) => {
                let report = convert(sources, *style, &to(format), config)?;
                (one(), summary(&report.run.inputs, (report.run.events, report.run.keys_lost)))
            }
            Ask::Check(viewers) => {
                let report = check(sources, viewers, config)?;
                let findings: Vec<_> = report
                    .findings
                    .iter()
                    .map(|f| (&f.kind, f.severity, f.count, places(f)))
                    .collect();
                (Vec::new(), summary(&report.inputs, (report.events, findings)))
            }
            Ask::Info(wanted) => {
                let mut report = info(sources, wanted, config)?;
                for event in [&mut report.first, &mut report.last].into_iter().flatten() {
                    event.input.clear();
                }
                let inputs = std::mem::take(&mut report.inputs);
                report.warnings.clear();
                (Vec::new(), summary(&inputs, report))
            }
            Ask::Profiles => profiles(sources, folder, config)?,
        })
    }
}

fn profiles(
    sources: &[Source],
    folder: &Folder,
    config: &Config,
) -> Result<(Vec<Vec<u8>>, String), Error> {
    let all = ProfileChoice::default();
    let dir = folder.path("out");
    let target = ProfileTarget::Folder { dir, template: None, replace: false, reserved: None };
    let listed = match sources.iter().any(is_file) {
        true => Some(list_profiles(sources, &all, config)?.profiles.len()),
        // a pipe can be read once only
        false => None,
    };
    let report = extract_profiles(sources, &all, &target, config)?;
    assert!(listed.is_none_or(|listed| listed == report.profiles.len()), "{listed:?}");
    let files = report.profiles.iter().filter_map(|profile| profile.file.as_deref().map(read));
    let infos: Vec<_> = report
        .profiles
        .iter()
        .map(|p| {
            let ids = (&p.pid, &p.tid, &p.id, &p.process_name, &p.thread_name);
            (
                ids,
                p.start_ns,
                p.end_ns,
                p.samples,
                p.nodes,
                p.chunks,
                p.order.name(),
                kinds(&p.flaws),
            )
        })
        .collect();
    Ok((files.collect(), summary(&report.inputs, infos)))
}

fn is_file(source: &Source) -> bool {
    matches!(source, Source::Path(path) if path.metadata().is_ok_and(|found| found.is_file()))
}

/// Returns offsets and excerpts without names of inputs, which pipes do not have.
fn places(finding: &tracemill_inspect::check::Finding) -> Vec<(u64, &str)> {
    finding.places.iter().map(|place| (place.offset, &*place.excerpt)).collect()
}

/// Formats reports of inputs without their names, and then `rest`.
fn summary(inputs: &[InputReport], rest: impl Debug) -> String {
    let inputs: Vec<_> = inputs
        .iter()
        .map(|i| {
            let odd = (i.unclosed, i.odd_separators, i.encoding);
            (i.bytes, i.events, &i.losses, odd, i.profiles, kinds(&i.flaws), i.span)
        })
        .collect();
    format!("{inputs:?} {rest:?}")
}

/// Calls `run` with `inputs` as files, or as pipes of the same names if the knobs say so.
fn given<T>(inputs: &[&[u8]], knobs: Knobs, run: impl FnOnce(&[Source]) -> T) -> T {
    let folder = Folder::new();
    let file = |(i, bytes): (usize, &&[u8])| folder.file(&format!("in{i}"), bytes);
    let files: Vec<PathBuf> = inputs.iter().enumerate().map(file).collect();
    match knobs.read_size {
        // names of CPU profile files identify their processes
        Some(_) => through_fifos(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>(), run),
        None => run(&files.into_iter().map(Source::Path).collect::<Vec<_>>()),
    }
}

fn format(bytes: &mut Unstructured<'_>) -> Option<Format> {
    FORMATS[below(bytes, FORMATS.len())]
}

fn moment(bytes: &mut Unstructured<'_>) -> Option<Moment> {
    let ns = MOMENTS[below(bytes, MOMENTS.len())];
    match below(bytes, 4) {
        0 => None,
        1 => Some(Moment::FromStart(ns)),
        2 => Some(Moment::BeforeEnd(ns)),
        _ => Some(Moment::At(ns)),
    }
}

fn window(bytes: &mut Unstructured<'_>) -> TimeWindow {
    TimeWindow { from: moment(bytes), to: moment(bytes) }
}

impl Merge {
    fn read(bytes: &mut Unstructured<'_>) -> Self {
        if below(bytes, 2) == 0 {
            return Merge::default();
        }
        let viewer = [None, Some(CheckFor::Devtools), Some(CheckFor::Perfetto)][below(bytes, 3)];
        let overlaps = [Overlaps::Keep, Overlaps::Spill, Overlaps::Clip][below(bytes, 3)];
        let pid =
            [PidPolicy::Keep, PidPolicy::Auto, PidPolicy::Offset, PidPolicy::One][below(bytes, 4)];
        let identity = IdentityRules {
            pid,
            ids: [IdPolicy::Keep, IdPolicy::Auto][below(bytes, 2)],
            dedup_metadata: below(bytes, 2) == 1,
            ..IdentityRules::default()
        };
        let align = match below(bytes, 6) {
            0 => Align::None,
            1 => Align::Auto,
            2 => Align::Start,
            3 => Align::BaseTime,
            4 => Align::ClockSync,
            _ => Align::Marker("a".to_owned()),
        };
        let clocks = ClockRules { align, ..ClockRules::default() };
        Merge { identity, clocks, viewer: ViewerRules { viewer, overlaps } }
    }
}

fn criteria(bytes: &mut Unstructured<'_>) -> Filter {
    let mut wanted = Filter::default();
    let ids = ["1", "2,3", "1-2", "0x1", "Spans"];
    let id = |bytes: &mut Unstructured<'_>| pick(bytes, &ids).parse().expect("a list of ids");
    let word = |bytes: &mut Unstructured<'_>| {
        pick(bytes, &["a", "/^a/", "b", "main", "/[^a]/"]).parse().expect("a pattern")
    };
    match below(bytes, 10) {
        0 => wanted.pid = Some(id(bytes)),
        1 => wanted.tid = Some(id(bytes)),
        2 => wanted.process = vec![word(bytes)],
        3 => wanted.thread = vec![word(bytes)],
        4 => wanted.ph = vec![pick(bytes, &["X", "B", "b", "s", "P"]).to_owned()],
        5 => wanted.cat = vec![pick(bytes, &["c", "*", "d*"]).parse().expect("a glob")],
        6 => wanted.name = vec![word(bytes)],
        7 => wanted.min_dur = pick(bytes, &["0", "3", "10ms"]).parse().ok(),
        8 => wanted.from = pick(bytes, &["0", "3", "@4"]).parse().ok(),
        _ => wanted.shrink_to = Some([100, 300, 1000][below(bytes, 3)]),
    }
    wanted.invert = below(bytes, 2) == 1;
    wanted
}

fn parts(bytes: &mut Unstructured<'_>) -> SplitConfig {
    let by = match below(bytes, 6) {
        0 => SplitBy::Pid,
        1 => SplitBy::Tid,
        2 => SplitBy::Cat,
        3 => SplitBy::Time([1, 1000, 50_000, i64::MAX][below(bytes, 4)]),
        4 => SplitBy::Size([1, 200, 1000][below(bytes, 3)]),
        _ => SplitBy::Events(1 + below(bytes, 5) as u64),
    };
    let cuts = matches!(by, SplitBy::Pid | SplitBy::Tid) && below(bytes, 2) == 1;
    SplitConfig {
        by,
        max_size: cuts.then_some(500),
        dir: "".into(),
        template: Some("{part}".into()),
        replace: false,
        reserved: Vec::new(),
        format: format(bytes),
        compression: tracemill_trace::output::target::Compression::None,
        dry_run: false,
    }
}
