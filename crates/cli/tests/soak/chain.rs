//! Random chains of verbs, with flags that suit the inputs.

use crate::portrait::{Portrait, some};
use crate::world::MOST_PARTS;
use std::fmt;
use tracemill_testkit::Rng;
use tracemill_testkit::reference::{Criteria, Edges, Format, SplitBy, Window};

/// Name of the manifest that a merge writes.
pub(crate) const PLAN: &str = "plan";

/// Operation of a step, with the parameters that the laws need.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    /// Whether ids and times stay unchanged, and whether X events are clipped.
    Merge {
        plain: bool,
        clips: bool,
    },
    Filter(Option<Criteria>),
    /// `None` if windows are relative to the trace start.
    Slice(Option<Vec<Window>>, Edges),
    Convert,
    Split(Option<(SplitBy, Option<u64>)>),
    /// A verb that prints or writes profiles.
    Look,
}

/// Output kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// A trace that the next step reads.
    Trace,
    Text,
    /// A folder of traces or profiles, which the next step merges.
    Folder,
}

#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) ask: Ask,
    pub(crate) words: Vec<String>,
    pub(crate) writes: Writes,
    pub(crate) strict: bool,
    pub(crate) packed: bool,
    pub(crate) format: Option<Format>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

impl Step {
    fn new(ask: Ask, writes: Writes, words: &[&str]) -> Self {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        Step { ask, words, writes, strict: false, packed: false, format: None }
    }

    fn flag(&mut self, flag: impl Into<String>) {
        self.words.push(flag.into());
    }

    /// Adds one of `flags`, which may be several words or empty.
    fn one_of(&mut self, rng: &mut Rng, flags: &[&str]) {
        let chosen = rng.pick(flags).split_whitespace();
        self.words.extend(chosen.map(str::to_owned));
    }

    /// Adds random format and compression flags.
    fn output(&mut self, rng: &mut Rng) {
        let formats = [Format::Object, Format::Array, Format::Ndjson];
        if rng.chance(40) {
            let number = rng.index(3);
            self.format = Some(formats[number]);
            self.flag(format!("--format={}", ["object", "array", "ndjson"][number]));
        }
        if rng.chance(15) {
            self.packed = true;
            self.one_of(rng, &["-z gz", "-z gz --level 1", "-z zst", "-z zst --level 1"]);
        }
    }

    fn strictly(&mut self, rng: &mut Rng) {
        if rng.chance(10) {
            self.strict = true;
            self.flag("--strict");
        }
    }
}

/// Returns a chain of one to four verbs; `names` are those of the inputs.
pub(crate) fn random(rng: &mut Rng, portrait: &Portrait, names: &[String]) -> Vec<Step> {
    let count = 1 + rng.index(4);
    let mut portrait = portrait.clone();
    let mut chain: Vec<Step> = Vec::new();
    for number in 0..count {
        let folder = chain.last().is_some_and(|step| step.writes == Writes::Folder);
        let mut step = match (folder, number + 1 == count) {
            (true, _) => merge(rng, &[]),
            (false, last) => any(rng, &portrait, if number == 0 { names } else { &[] }, last),
        };
        step.strictly(rng);
        if matches!(step.ask, Ask::Split(_)) {
            // each part repeats it, and a merge may keep every copy
            portrait.metadata *= MOST_PARTS as u64;
        }
        chain.push(step);
    }
    chain
}

fn any(rng: &mut Rng, portrait: &Portrait, names: &[String], last: bool) -> Step {
    match rng.below(if last { 30 } else { 18 }) {
        0..=4 => merge(rng, names),
        5..=8 => filter(rng, portrait),
        9..=11 => slice(rng, portrait),
        12 | 13 => convert(rng),
        14..=16 => split(rng, portrait),
        17 => Step::new(Ask::Look, Writes::Folder, &["profile", "extract"]),
        18..=20 => info(rng),
        21..=23 => check(rng),
        24 => profile_list(rng),
        25..=28 => tables(rng),
        _ => split(rng, portrait),
    }
}

fn merge(rng: &mut Rng, names: &[String]) -> Step {
    let plain = rng.chance(40);
    let mut step = Step::new(Ask::Merge { plain, clips: false }, Writes::Trace, &["merge"]);
    step.output(rng);
    if plain {
        step.one_of(rng, &["--pid keep --ids keep --align none"]);
        return step;
    }
    step.one_of(rng, &["", "--pid auto", "--pid keep", "--pid offset", "--pid one"]);
    step.one_of(rng, &["", "", "--ids keep", "--ids auto"]);
    let aligns = ["", "", "--align none", "--align start", "--align marker:step"];
    step.one_of(rng, &aligns);
    // viewers do not read NDJSON
    if rng.chance(40) && step.format != Some(Format::Ndjson) {
        step.one_of(rng, &["--for devtools", "--for perfetto"]);
        step.one_of(rng, &["", "", "--overlaps spill", "--overlaps clip", "--overlaps keep"]);
    }
    let clips = step.words.last().is_some_and(|word| word == "clip");
    step.ask = Ask::Merge { plain, clips };
    step.one_of(rng, &["", "", "", "--dedup-metadata", "--provenance"]);
    step.one_of(rng, &["", "", "", "--args-key true_ns", "--args-key data"]);
    if names.len() > 1 {
        let name = &names[rng.index(names.len())];
        match rng.below(6) {
            0 => step.flag(format!("--offset={name}=-1.5ms")),
            1 => step.flag(format!("--offset={name}={}ns", rng.below(5000))),
            2 => step.flag(format!("--scale={name}=1.000012")),
            3 => step.flag(format!("--label={name}=one of them")),
            4 => step.flag("--label-from-name=([a-z]+)[0-9]*[.]json"),
            _ => {}
        }
        if rng.chance(50) {
            step.flag(format!("--write-manifest={PLAN}"));
        }
    }
    step
}

fn filter(rng: &mut Rng, portrait: &Portrait) -> Step {
    let mut step = Step::new(Ask::Filter(None), Writes::Trace, &["filter"]);
    step.output(rng);
    let mut criteria = Criteria::default();
    let list = |flag: &str, values: &[String]| match values {
        [] => None,
        values => Some(format!("--{flag}={}", values.join(","))),
    };
    for _ in 0..1 + rng.index(2) {
        match rng.below(10) {
            0 => criteria.pid = some(rng, &portrait.pids),
            1 => criteria.tid = some(rng, &portrait.tids),
            2 => criteria.cat = some(rng, &portrait.categories),
            3 => criteria.name = some(rng, &portrait.names).into_iter().take(1).collect(),
            4 => criteria.ph = some_phases(rng),
            5 => criteria.min_dur = Some(duration(rng)),
            6 => criteria.max_dur = Some(duration(rng)),
            7 => criteria.process = some(rng, &portrait.processes).into_iter().take(1).collect(),
            8 => criteria.thread = some(rng, &portrait.threads).into_iter().take(1).collect(),
            _ => {
                let times = portrait.two_times(rng);
                (criteria.from, criteria.to) = (Some((true, times.0)), Some((true, times.1)));
            }
        }
    }
    criteria.invert = rng.chance(20);
    let lists = [
        ("pid", &criteria.pid),
        ("tid", &criteria.tid),
        ("cat", &criteria.cat),
        ("ph", &criteria.ph),
        ("name", &criteria.name),
        ("process", &criteria.process),
        ("thread", &criteria.thread),
    ];
    step.words.extend(lists.into_iter().filter_map(|(flag, values)| list(flag, values)));
    let times = [("min-dur", criteria.min_dur), ("max-dur", criteria.max_dur)];
    step.words.extend(times.iter().filter_map(|(f, ns)| ns.map(|ns| format!("--{f}={ns}ns"))));
    let points = [("from", criteria.from), ("to", criteria.to)];
    step.words
        .extend(points.iter().filter_map(|(f, at)| at.map(|at| format!("--{f}=@{}ns", at.1))));
    if criteria.invert {
        step.flag("--invert");
    }
    let more = [
        "",
        "",
        "",
        "",
        "--drop gpu,network",
        "--drop compile,threadpool",
        "--shrink-to 20K",
        "--args data.type~.",
        "--drop-args data.stackTrace,name",
    ];
    let before = step.words.len();
    step.one_of(rng, &more);
    let known = step.words.len() == before;
    step.ask = Ask::Filter(known.then_some(criteria));
    step
}

fn some_phases(rng: &mut Rng) -> Vec<String> {
    let phases = ["X", "B", "b", "s", "N", "i", "P", "C"];
    (0..1 + rng.index(3)).map(|_| (*rng.pick(&phases)).to_owned()).collect()
}

/// Returns a duration from a nanosecond to some seconds.
fn duration(rng: &mut Rng) -> i64 {
    let least = 1 << rng.below(33);
    (least + rng.below(least)) as i64
}

fn slice(rng: &mut Rng, portrait: &Portrait) -> Step {
    let edges = [Edges::Clip, Edges::Keep, Edges::Drop][rng.index(3)];
    let mut step = Step::new(Ask::Slice(None, edges), Writes::Trace, &["slice"]);
    step.output(rng);
    let word = match edges {
        Edges::Clip => "clip",
        Edges::Keep => "keep",
        Edges::Drop => "drop",
    };
    step.flag(format!("--edges={word}"));
    let (from, to) = portrait.two_times(rng);
    match rng.below(6) {
        0 => step.flag(format!("--head={}ns", duration(rng))),
        1 => step.flag(format!("--tail={}ns", duration(rng))),
        2 => {
            step.flag(format!("--from={}ns", from.saturating_sub(portrait.start)));
            step.flag(format!("--duration={}ns", duration(rng)));
        }
        3 => {
            let then = to.saturating_add(duration(rng));
            step.flag(format!("--window=@{from}ns..@{to}ns"));
            step.flag(format!("--window=@{then}ns.."));
            step.ask = Ask::Slice(Some(vec![(Some(from), Some(to)), (Some(then), None)]), edges);
        }
        _ => {
            step.flag(format!("--from=@{from}ns"));
            step.flag(format!("--to=@{to}ns"));
            step.ask = Ask::Slice(Some(vec![(Some(from), Some(to))]), edges);
        }
    }
    step
}

fn convert(rng: &mut Rng) -> Step {
    let mut step = Step::new(Ask::Convert, Writes::Trace, &["convert"]);
    step.output(rng);
    step.one_of(rng, &["", "--style compact", "--style keep"]);
    step
}

fn split(rng: &mut Rng, portrait: &Portrait) -> Step {
    // each part repeats the metadata, so the size must exceed it
    let least = 2000 + 4 * portrait.metadata;
    let size = least.max(portrait.bytes / rng.range(1, 40));
    let (by, word, max_size) = match rng.below(8) {
        0 => (SplitBy::Pid, "pid".to_owned(), None),
        1 | 2 => (SplitBy::Tid, "tid".to_owned(), None),
        3 => (SplitBy::Cat, "cat".to_owned(), None),
        4 => {
            let length = (portrait.span() / rng.range(1, 40) as i64).max(1);
            (SplitBy::Time(length.into()), format!("time={length}ns"), None)
        }
        5 => {
            let events = (portrait.events / rng.range(1, 40)).max(5);
            (SplitBy::Events(events), format!("events={events}"), None)
        }
        6 => (SplitBy::Size(size), format!("size={size}"), None),
        _ => (SplitBy::Tid, "tid".to_owned(), Some(size)),
    };
    let ask = Ask::Split(Some((by, max_size)));
    let mut step = Step::new(ask, Writes::Folder, &["split", "--by", &word, "-O", "{part}.{ext}"]);
    step.output(rng);
    if let Some(size) = max_size {
        step.flag(format!("--max-size={size}"));
    }
    step
}

fn info(rng: &mut Rng) -> Step {
    let mut step = Step::new(Ask::Look, Writes::Text, &["info"]);
    step.one_of(rng, &["", "--json", "--markdown"]);
    step.one_of(rng, &["", "--top 3", "--full", "--full --top 100"]);
    step
}

/// Returns a table verb without flags that select very small rows.
fn tables(rng: &mut Rng) -> Step {
    let verb = rng.pick(&["top", "tree"]);
    let mut step = Step::new(Ask::Look, Writes::Text, &[verb]);
    step.one_of(rng, &["", "--json", "--csv", "--markdown"]);
    step.one_of(rng, &["", "--per process", "--per input", "--per all"]);
    step.one_of(rng, &["", "--main", "--head 5ms", "--group-by category", "--fold-numbers"]);
    step.one_of(rng, &["", "--all-events", "--like panel", "--ignore-list"]);
    if verb == "tree" {
        step.one_of(rng, &["", "--bottom-up --depth 3", "--sort name"]);
    }
    step
}

fn profile_list(rng: &mut Rng) -> Step {
    let mut step = Step::new(Ask::Look, Writes::Text, &["profile", "list"]);
    step.one_of(rng, &["", "--json", "--pid 1", "--tid 1-99"]);
    step
}

fn check(rng: &mut Rng) -> Step {
    let mut step = Step::new(Ask::Look, Writes::Text, &["check"]);
    step.one_of(rng, &["", "--json"]);
    step.one_of(rng, &["", "--for devtools", "--for perfetto", "--for devtools --for perfetto"]);
    step
}
