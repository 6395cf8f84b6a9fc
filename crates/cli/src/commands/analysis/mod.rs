//! `tracemill top`, `tree` and `calls`.

mod answer;
mod calls;
mod data;
mod kept;
mod text;

pub(super) use calls::calls;

use crate::args::{
    Asked, FormArgs, InputArgs, Least, LimitArgs, MessageArgs, OutputArgs, SortKey, TopArgs,
    TreeArgs,
};
use crate::commands::around::{note_limits, report_place};
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary};
use crate::progress::Watch;
use crate::report::{Run, common};
use crate::size::plural;
use crate::whole_file::Place;
use answer::{Answer, Shown};
use data::{csv, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use text::page;
use tracemill_analysis::{Part, Query, ReadRules, Shape, Trace, TreeRow};
use tracemill_pipeline::{Config, InputReport, Progress};

/// What every one of these verbs is told.
struct Job<'a> {
    verb: &'static str,
    input: &'a InputArgs,
    output: &'a OutputArgs,
    limits: &'a LimitArgs,
    messages: &'a MessageArgs,
}

/// The inputs, read.
struct Read {
    trace: Trace,
    config: Config,
    start: Instant,
    report: Option<Place>,
}

impl Job<'_> {
    fn read(&self, rules: ReadRules, messages: &Messages) -> Result<Read, Failure> {
        let start = Instant::now();
        let progress = Arc::new(Progress::default());
        let config = self.limits.config(self.input, &progress)?;
        let sources = self.input.sources()?;
        self.place().check("the output", &sources, self.output.force)?;
        let report = report_place(self.messages, self.output, &sources)?;
        note_limits(self.limits, &config, messages);
        let watch = Watch::start(self.messages, &progress);
        let read = Trace::read(&sources, rules, &config);
        drop(watch);
        Ok(Read { trace: read?, config, start, report })
    }

    fn place(&self) -> Place {
        Place::of(self.output.output.as_deref().unwrap_or(Path::new("-")))
    }

    /// Says what was read and what is wrong with it; gives the status.
    fn finish(&self, read: &Read, is_empty: bool, messages: &Messages) -> Result<Exit, Failure> {
        let inputs = &read.trace.inputs;
        let lost = inputs.iter().map(InputReport::lost).sum();
        messages.inputs(inputs);
        read.trace.warnings.iter().for_each(|text| messages.warning(text));
        warnings(&read.trace).iter().for_each(|text| messages.warning(text));
        messages.losses(inputs);
        let elapsed = read.start.elapsed();
        messages.summary(&Summary::new(self.verb, inputs, lost, elapsed));
        if let Some(place) = &read.report {
            let run = Run { config: &read.config, elapsed };
            place.write_json(&common(self.verb, inputs, lost, &run, []))?;
        }
        if is_empty {
            messages.warning(
                "nothing of what was asked for is there: no thread, or no event in the window",
            );
        }
        Ok(Exit::finished(lost).unless_empty(is_empty))
    }
}

/// What of the inputs does not count, and why.
fn warnings(trace: &Trace) -> Vec<String> {
    let sum = |of: fn(&tracemill_analysis::Thread) -> u64| trace.threads.iter().map(of).sum();
    let counts: [(u64, &str, &str); 5] = [
        (trace.untimed, "event", "without a time: left out"),
        (
            sum(|t| t.unknown_samples()),
            "sample",
            "of a node that its CPU profile does not have: left out",
        ),
        (sum(|t| t.pairs.unended), "begin", "(B) without an end (E): taken to last no time"),
        (sum(|t| t.pairs.lone_ends), "end", "(E) without a begin (B): left out"),
        (
            trace.written_calls,
            "call",
            "that tracemill calls wrote beside samples: left out, since calls are made of these",
        ),
    ];
    let told = counts.iter().filter(|(count, ..)| *count > 0);
    told.map(|(count, noun, what)| format!("{} {what}", plural(*count, noun))).collect()
}

/// Says what has no place in the trees.
fn note_dropped(parts: &[Part], messages: &Messages) {
    let dropped: u64 = parts.iter().map(|part| part.dropped).sum();
    if dropped > 0 {
        messages.warning(&format!(
            "{} beginning within another and ending behind it: left out of trees, as in DevTools",
            plural(dropped, "event")
        ));
    }
}

/// Functions and events by self time.
pub(super) fn top(args: &TopArgs, messages: &Messages) -> Result<Exit, Failure> {
    let TopArgs { input, part, picks, output, limits, messages: said, .. } = args;
    let job = Job { verb: "top", input, output, limits, messages: said };
    let read = job.read(picks.read_rules(part, args.group_by), messages)?;
    let asked = Asked { shape: Shape::BottomUp { levels: 1 }, by: args.group_by, per: args.per };
    let (threads, query) = picks.query(part, &read.trace, asked)?;
    let mut parts = read.trace.parts(&threads, &query);
    for part in &mut parts {
        // of groups only the groups
        part.table.rows.retain(|row| row.depth == 0);
        sort(&mut part.table.rows, args.sort);
    }
    note_dropped(&parts, messages);
    let shown = Shown {
        rows: args.rows.map(|rows| rows as usize),
        default_rows: Some(30),
        depth: usize::MAX,
        least: Least::Time(0.0),
    };
    job.write(&read, &parts, &query, &args.form, shown)?;
    job.finish(&read, is_empty(&parts), messages)
}

/// Whether no table has a row.
fn is_empty(parts: &[Part]) -> bool {
    parts.iter().all(|part| part.table.rows.is_empty())
}

fn sort(rows: &mut [TreeRow], key: SortKey) {
    match key {
        SortKey::Own => {}
        SortKey::Total => rows.sort_by(|a, b| b.total.total_cmp(&a.total)),
        SortKey::Count => rows.sort_by_key(|row| std::cmp::Reverse(row.count)),
        SortKey::Name => rows.sort_by(|a, b| a.label.cmp(&b.label)),
    }
}

/// Call tree, bottom-up, log, or an excerpt.
pub(super) fn tree(args: &TreeArgs, messages: &Messages) -> Result<Exit, Failure> {
    let TreeArgs { input, part, picks, output, limits, messages: said, .. } = args;
    let job = Job { verb: "tree", input, output, limits, messages: said };
    let read = job.read(picks.read_rules(part, args.group_by), messages)?;
    let depth = args.depth.map(|depth| depth as usize);
    let shape = match (args.bottom_up, args.log) {
        (true, _) => Shape::BottomUp { levels: depth.unwrap_or(6) },
        (_, true) => Shape::Log,
        _ => Shape::CallTree,
    };
    let asked = Asked { shape, by: args.group_by, per: args.per };
    let (threads, query) = picks.query(part, &read.trace, asked)?;
    let parts = read.trace.parts(&threads, &query);
    note_dropped(&parts, messages);
    if args.peek.is_some() || args.heaviest {
        let text = match &args.peek {
            Some(name) => text::peek(&read.trace, &parts, name),
            None => text::heaviest(&read.trace, &parts),
        };
        job.place().write(text.as_bytes())?;
        return job.finish(&read, text.is_empty(), messages);
    }
    let is_data = args.form.json || args.form.csv || shape == Shape::Log;
    let usual = if is_data { Least::Time(0.0) } else { Least::Percent(0.5) };
    let shown = Shown {
        rows: args.rows.map(|rows| rows as usize),
        default_rows: None,
        depth: depth.unwrap_or(if is_data { usize::MAX } else { 12 }),
        least: args.min.unwrap_or(usual),
    };
    job.write(&read, &parts, &query, &args.form, shown)?;
    job.finish(&read, is_empty(&parts), messages)
}

impl Job<'_> {
    fn write(
        &self,
        read: &Read,
        parts: &[Part],
        query: &Query,
        form: &FormArgs,
        shown: Shown,
    ) -> Result<(), Failure> {
        let shown =
            Shown { default_rows: shown.default_rows.filter(|_| !form.json && !form.csv), ..shown };
        let answer = Answer { verb: self.verb, trace: &read.trace, parts, query, shown };
        match (form.json, form.csv) {
            (true, _) => self.place().write_json(&json(&answer)),
            (_, true) => self.place().write(csv(&answer).as_bytes()),
            _ => self.place().write(page(&answer, form.markdown).as_bytes()),
        }
    }
}
