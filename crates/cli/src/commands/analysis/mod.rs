//! `tracemill top`, `tree`, `flame`, `diff`, `report`, `show` and `calls`.

mod answer;
mod async_table;
mod branches;
mod by_cause;
mod calls;
mod data;
mod diff;
mod event;
mod export;
mod flame;
mod maps;
mod nested;
mod perfetto;
mod report;
mod show;
mod stored;
mod terminal;
mod text;
mod track_table;
mod unit;

pub(super) use by_cause::by_cause;
pub(super) use calls::calls;
pub(super) use diff::diff;
pub(super) use event::{EventTime, event_window, refuse_streams};
pub(super) use export::convert;
pub(super) use flame::flame;
pub(super) use perfetto::perfetto;
pub(super) use report::report;
pub(super) use show::show;
pub(super) use track_table::track_table;

use crate::args::{
    AskedRows, JsonForm, OutputArgs, PartArgs, PickArgs, RequestedTable, ResultForm, TimesFlag,
    TopArgs, TreeArgs,
};
use crate::commands::reporting::Reporting;
use crate::commands::running::{Flags, Running};
use crate::commands::unmatched;
use crate::files::whole_file::OutputPlace;
use crate::messages::wrap::columns_of;
use crate::messages::{Messages, has_colors};
use crate::outcome::exit::{Exit, Failure};
use crate::report::base;
use answer::{Answer, ShownRows};
use data::{csv, table_json};
use text::{PageStyle, write_page};
use tracemill_analysis::{
    Entries, GroupBy, Part, Query, ReadRules, Refusal, RowLimit, RowOrder, RowThreshold, Shape,
    SourceMaps, Trace,
};
use tracemill_causes::Causes;
use tracemill_join::config::Config;
use tracemill_join::report::warning::Warning;
use tracemill_trace::Source;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::words::{plural, shell_word};
use unit::time_text;

/// A run of an analysis verb that has read its inputs.
struct Job<'a> {
    reporting: Reporting<'a>,
    trace: Trace,
    /// Names that rows must have, by flag; without a matching row there is no answer.
    requested_rows: Vec<(&'static str, AskedRows)>,
    /// Whether events that DevTools does not draw count too.
    all_events: bool,
}

/// Flags that select events and group rows.
#[derive(Clone, Copy)]
struct Picked<'a> {
    part: &'a PartArgs,
    picks: &'a PickArgs,
    by: GroupBy,
    times: &'a TimesFlag,
    /// Whether the causes of events are needed.
    causes: bool,
    /// Whether CPU times are needed.
    cpu_times: bool,
    /// Whether the colours of events are needed.
    colors: bool,
}

impl<'a> Job<'a> {
    fn read(
        flags: Flags<'a>,
        output: &OutputArgs,
        rules: ReadRules,
        part: Option<&PartArgs>,
        messages: &'a Messages,
    ) -> Result<Self, Failure> {
        let maps = part.map(PartArgs::source_maps).transpose()?.unwrap_or_default();
        let entities = part.map(PartArgs::entities).transpose()?.unwrap_or_default();
        let mut job = Job::read_mapped(flags, output, rules, &maps, messages)?;
        if let Some(part) = part {
            job.trace.ignore_list = part.ignore_list();
            job.trace.entities = entities;
            unmatched::of_threads(part, &job.trace).iter().for_each(|text| messages.warning(text));
            job.all_events = part.table_rules().entries == Entries::All;
        }
        Ok(job)
    }

    /// Reads the inputs with source maps.
    fn read_mapped(
        flags: Flags<'a>,
        output: &OutputArgs,
        rules: ReadRules,
        maps: &SourceMaps,
        messages: &'a Messages,
    ) -> Result<Self, Failure> {
        let mut reporting = Reporting::new(flags, output, messages)?;
        let running = &mut reporting.running;
        // the defaults of merge
        running.config = running.config.as_merged();
        running.announce();
        let read =
            |sources: &[Source], config: &Config| Trace::read_mapped(sources, rules, maps, config);
        let trace = running.watch(read).map_err(stored::named)?;
        maps::tell(maps, &trace.mapped, messages);
        Ok(Job { reporting, trace, requested_rows: Vec::new(), all_events: false })
    }

    /// Reads the inputs for a verb that selects events and groups rows.
    fn picked(
        flags: Flags<'a>,
        output: &OutputArgs,
        picked: Picked<'_>,
        messages: &'a Messages,
    ) -> Result<Self, Failure> {
        let Picked { part, picks, by, times, causes, cpu_times, colors } = picked;
        let mut rules = ReadRules { times: times.times(part)?, ..picks.read_rules(part, by) };
        let wanted = &mut rules.wanted;
        (wanted.causes, wanted.cpu_times, wanted.colors) = (causes, cpu_times, colors);
        let job = Job::read(flags, output, rules, Some(part), messages)?;
        let job = Job { requested_rows: picks.asked_rows(), ..job };
        let is_whole = !part.has_window() && !picks.has_window();
        samples_behind(&job.trace)
            .filter(|_| is_whole)
            .iter()
            .for_each(|text| messages.warning(text));
        Ok(job)
    }

    fn place(&self) -> &OutputPlace {
        &self.reporting.output
    }

    /// Reports inputs, warnings and losses, and returns the status.
    fn finish(&self, is_empty: bool) -> Result<Exit, Failure> {
        let inputs = &self.trace.inputs;
        let Running { messages, flags, .. } = &self.reporting.running;
        let lost = inputs.iter().map(InputReport::lost).sum();
        let texts = warnings(&self.trace).into_iter().map(Warning::Said);
        let refused = refused(&self.trace);
        // numbers that do not follow DevTools need no warning about it
        let (warning, noted) = match self.trace.origin() {
            None if self.trace.follows_devtools => (refused, None),
            _ => (None, refused),
        };
        noted.iter().for_each(|text| messages.note(text));
        let texts = texts.chain(warning.map(Warning::Said));
        let all = self.trace.warnings.iter().cloned().chain(texts);
        self.reporting.tell(inputs, &Vec::from_iter(all));
        messages.losses(inputs);
        self.reporting.end(inputs, lost, |run| base(flags.verb, inputs, lost, run, []))?;
        if let Some(text) = unmatched::without_threads(&self.trace).filter(|_| is_empty) {
            messages.warning(&text);
        } else if is_empty {
            let (from, to) = self.trace.bounds;
            let lasts = match to - from {
                time if time > 0.0 => format!("; the trace lasts {}", time_text(time / 1000.0)),
                _ => String::new(),
            };
            let named = unmatched::of_rows(&self.requested_rows, &self.trace, self.all_events);
            named.iter().for_each(|text| messages.warning(text));
            if named.is_empty() {
                messages.warning(&format!(
                    "no events match the selected threads, window and name{lasts}"
                ));
            }
        }
        Ok(Exit::finished(lost).unless_empty(is_empty))
    }
}

/// Returns a warning if CPU samples continue after the last event, where tables without a window
/// end.
fn samples_behind(trace: &Trace) -> Option<String> {
    let (first, end) = trace.bounds;
    // without drawn events DevTools has no end
    if !end.is_finite() {
        return None;
    }
    let last = trace.threads.iter().filter_map(|thread| trace.last_sample(thread));
    let last = last.fold(end, f64::max);
    // recordings usually end with a few more samples
    let is_much = last - end > ((end - first) / 20.0).max(10_000.0);
    is_much.then(|| {
        format!(
            "{} of CPU samples after the last event are not counted, as in DevTools (--to {:.0}ms includes them)",
            time_text((last - end) / 1000.0),
            (last / 1000.0 - trace.start_ms()).ceil()
        )
    })
}

/// Returns why DevTools cannot open the trace, with the command that fixes it.
fn refused(trace: &Trace) -> Option<String> {
    let reasons: Vec<&str> = trace.refusals.iter().map(|refusal| refusal.reason()).collect();
    let name = match &trace.inputs[..] {
        [input] => shell_word(&input.name),
        _ => "INPUTS".to_owned(),
    };
    let remedy = match trace.refusals.contains(&Refusal::TooLarge) {
        true => format!("filter {name} --shrink-to devtools"),
        false => format!("merge {name} --for devtools"),
    };
    (!reasons.is_empty()).then(|| {
        format!(
            "DevTools cannot open this trace: {}; the figures still follow its rules (to fix: tracemill {remedy} -o OUT.json.gz)",
            reasons.join("; ")
        )
    })
}

/// Returns warnings about events and samples that are not counted.
fn warnings(trace: &Trace) -> Vec<String> {
    let sum = |of: fn(&tracemill_analysis::Thread) -> u64| trace.threads.iter().map(of).sum();
    let pairs = trace.pairs();
    let counts: [(u64, &str, &str); 5] = [
        (trace.untimed, "event", "without a time: left out"),
        (
            sum(|t| t.unknown_samples()),
            "sample",
            "of a node that does not exist in the CPU profile: left out",
        ),
        (pairs.unended, "begin", "(B) without an end (E): counted with a duration of 0"),
        (pairs.lone_ends, "end", "(E) without a begin (B): left out"),
        (
            trace.written_calls,
            "call",
            "written by tracemill calls: left out, because the CPU samples count instead",
        ),
    ];
    let counted = counts.iter().filter(|(count, ..)| *count > 0);
    counted.map(|(count, noun, what)| format!("{} {what}", plural(*count, noun))).collect()
}

/// Warns about overlapping events, which trees leave out.
fn note_dropped(parts: &[Part], messages: &Messages) {
    let dropped: u64 = parts.iter().map(|part| part.dropped).sum();
    if dropped > 0 {
        messages.warning(&format!(
            "{} that begin inside another and end after it: left out of trees, as in DevTools",
            plural(dropped, "event")
        ));
    }
}

pub(super) fn top(args: &TopArgs, messages: &Messages) -> Result<Exit, Failure> {
    let TopArgs { input, part, picks, times, output, common, .. } = args;
    args.refuse_export()?;
    if args.asynchronous {
        return async_table::async_table(args, messages);
    }
    let flags = Flags { verb: "top", input, common };
    let picked = Picked {
        part,
        picks,
        by: args.group_by,
        times,
        causes: false,
        cpu_times: true,
        colors: false,
    };
    let job = Job::picked(flags, output, picked, messages)?;
    let table =
        RequestedTable { shape: Shape::BottomUp { levels: 1 }, by: args.group_by, per: args.per };
    let (threads, query) = picks.query(part, &job.trace, table)?;
    let shown = ShownRows::new(&job.trace, args.rows, args.default_rows());
    let rows = if args.sort == RowOrder::Own { shown.most() } else { usize::MAX };
    // only the groups, not their members
    let limit = RowLimit { depth: 1, rows, ..RowLimit::default() };
    let mut parts = job.trace.parts_within(&threads, &query, limit)?;
    if args.sort != RowOrder::Own {
        job.trace.sort(&mut parts, args.sort)?;
    }
    note_dropped(&parts, messages);
    job.write(&parts, &query, args.form.form(), shown)?;
    job.finish(is_empty(&parts))
}

fn is_empty(parts: &[Part]) -> bool {
    parts.iter().all(|part| part.table.rows.is_empty() && part.table.small.0 == 0)
}

pub(super) fn tree(args: &TreeArgs, messages: &Messages) -> Result<Exit, Failure> {
    let TreeArgs { input, part, picks, times, output, common, .. } = args;
    let export = args.export()?;
    let flags = Flags { verb: "tree", input, common };
    let (by, causes) = (args.group_by, args.asynchronous);
    let picked = Picked { part, picks, by, times, causes, cpu_times: true, colors: false };
    let mut job = Job::picked(flags, output, picked, messages)?;
    if args.asynchronous {
        job.trace.async_callers = Some(Causes::async_callers(&job.trace)?);
    }
    let depth = args.depth.map(|depth| depth as usize);
    let shape = match (args.bottom_up, args.log) {
        (true, _) => Shape::BottomUp { levels: depth.unwrap_or(6) },
        (_, true) => Shape::Log,
        _ => Shape::CallTree,
    };
    let table = RequestedTable { shape, by: args.group_by, per: args.per };
    let (threads, mut query) = picks.query(part, &job.trace, table)?;
    query.picks.categories.clone_from(&args.categories);
    let is_data = args.form.form().is_data() || shape == Shape::Log;
    let usual = if is_data { RowThreshold::default() } else { RowThreshold::Percent(0.5) };
    let limit = match export.is_some() || args.peek.is_some() || args.heaviest.is_some() {
        true => RowLimit::default(),
        false => RowLimit {
            depth: depth.unwrap_or(if is_data { usize::MAX } else { 12 }),
            least: args.min.unwrap_or(usual),
            ..RowLimit::default()
        },
    };
    let mut parts = job.trace.parts_within(&threads, &query, limit)?;
    if let Some(by) = args.sort {
        job.trace.sort(&mut parts, by)?;
    }
    note_dropped(&parts, messages);
    if let Some(export) = export {
        job.export(&parts, export, depth)?;
        return job.finish(is_empty(&parts));
    }
    if args.peek.is_some() || args.heaviest.is_some() {
        job.requested_rows.extend(args.asked_rows());
        let columns = columns_of(job.place());
        let text = match &args.peek {
            Some(name) => text::peek(&job.trace, &parts, name, columns),
            None => {
                let through = args.heaviest.iter().flatten().next();
                text::heaviest(&job.trace, &parts, through, columns)
            }
        };
        let page = text::above(&job.trace, columns) + &text;
        job.place().write(page.as_bytes())?;
        return job.finish(text.is_empty());
    }
    let shown = ShownRows::new(&job.trace, args.rows, None);
    job.write(&parts, &query, args.form.form(), shown)?;
    job.finish(is_empty(&parts))
}

impl Job<'_> {
    fn write(
        &self,
        parts: &[Part],
        query: &Query,
        form: ResultForm,
        shown: ShownRows,
    ) -> Result<(), Failure> {
        let verb = self.reporting.running.flags.verb;
        let answer = Answer { verb, trace: &self.trace, parts, query, shown };
        match form {
            ResultForm::Json(JsonForm::Rows) => self.place().write_json(&table_json(&answer)),
            ResultForm::Json(JsonForm::Nested) => {
                self.place().write_lines(|out| nested::write(&answer, out))
            }
            ResultForm::Csv(form) => self.place().write_lines(|out| csv(&answer, form, out)),
            ResultForm::Text { markdown } => {
                let flags = &self.reporting.running.flags;
                let place = self.place();
                let colours = has_colors(flags.common.messages.color, place.is_stdout());
                let paper = PageStyle { markdown, colours, columns: columns_of(place) };
                place.write_lines(|out| write_page(&answer, paper, out))
            }
        }
    }
}
