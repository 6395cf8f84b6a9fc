//! `tracemill diff`.

use super::answer::{RULES, self_of};
use super::report::value;
use super::stored::{Stored, stored};
use super::{Job, RequestedTable, warnings};
use crate::args::{DiffArgs, InputArgs, TraceTimes};
use crate::commands::reporting::Reporting;
use crate::commands::running::Flags;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::outcome::remedies;
use crate::report::base;
use std::path::{Path, PathBuf};
use tracemill_analysis::{GroupBy, Per, ReadRules, Shape, Trace, Wanted};
use tracemill_join::report::warning::Warning;
use tracemill_report::Comparison;
use tracemill_report::DeviceRules;
use tracemill_report::Normalize;
use tracemill_report::Pair;
use tracemill_report::ReportRules;
use tracemill_report::Run;
use tracemill_report::compare_runs;
use tracemill_trace::input::files_in;
use tracemill_trace::read::InputWarning;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::memory::Share;

mod write;

/// The runs of one side of a comparison.
#[derive(Default)]
struct Side<'a> {
    runs: Vec<Run>,
    /// Inputs and warnings of the runs whose traces were read.
    read: Vec<ReadRun<'a>>,
    /// For each run, the values of the figures to which limits refer. If a value is missing, the
    /// reason.
    figures: Vec<Vec<Result<f64, String>>>,
    /// For each run, the rules by which it was measured, and its name.
    rules: Vec<([String; 2], String)>,
    /// Files in folders that are not traces, which are skipped.
    left_out: Vec<InputWarning>,
}

/// Inputs and warnings of a run. Its functions are computed already, and its trace is dropped.
struct ReadRun<'a> {
    reporting: Reporting<'a>,
    inputs: Vec<InputReport>,
    warnings: Vec<Warning>,
    texts: Vec<String>,
}

impl<'a> ReadRun<'a> {
    fn of(job: Job<'a>) -> Self {
        let texts = warnings(&job.trace);
        let Trace { inputs, warnings, .. } = job.trace;
        ReadRun { reporting: job.reporting, inputs, warnings, texts }
    }
}

impl Side<'_> {
    /// Adds a run, and adds its size to `held`. The first run of a side counts three times, since
    /// the comparison makes copies.
    fn hold(&mut self, run: Run, held: &mut u64) {
        *held += run.heap() * if self.runs.is_empty() { 3 } else { 1 };
        self.runs.push(run);
    }

    /// Returns the values of a figure in all runs. `at` is the number of the figure.
    fn figure(&self, at: usize) -> Result<Vec<f64>, String> {
        self.figures.iter().map(|run| run[at].clone()).collect()
    }
}

pub(in crate::commands) fn diff(args: &DiffArgs, messages: &Messages) -> Result<Exit, Failure> {
    let (base, new, each) = args.runs()?;
    let (base, new) = (run_inputs(args, base, each)?, run_inputs(args, new, each)?);
    let sources = base.iter().chain(&new).map(|input| input.sources_and(&[]));
    let sources = sources.collect::<Result<Vec<_>, Failure>>()?.concat();
    let place = messages.place(args.output.output.as_deref().unwrap_or(Path::new("-")));
    place.check("the output", &sources, args.output.force)?;
    let mut held = 0;
    let mut base = side(args, &base, &mut held, messages)?;
    let new = side(args, &new, &mut held, messages)?;
    warn_of_rules(base.rules.iter().chain(&new.rules), messages);
    let rules = args.rules();
    warn_of_scale(&rules.normalize, base.runs.iter().chain(&new.runs), messages);
    let comparison = compare_runs(&base.runs, &new.runs, &rules);
    write::write(args, &place, &comparison)?;
    let wanted = args.figures();
    let both = |figure| {
        let at = wanted.iter().position(|known| *known == figure).ok_or("it was not asked for")?;
        Ok(Pair::of_runs(&base.figure(at)?, &new.figure(at)?))
    };
    let broken: Vec<String> =
        args.fail_on.iter().filter_map(|gate| gate.broken(&comparison, args.any, both)).collect();
    base.read.extend(new.read);
    base.left_out.iter().chain(&new.left_out).for_each(|out| messages.warning(&out.to_string()));
    let lost = finish(&base.read, messages)?;
    let is_empty = comparison.rows.is_empty();
    if is_empty {
        messages.warning("nothing to compare: neither side has a row that was asked for");
    } else if comparison.has_empty_side() {
        messages.warning("one of the sides has no row that was asked for");
    } else if !has_common(&comparison) {
        messages.warning("no function is on both sides: are these recordings of the same program?");
    }
    broken.iter().for_each(|text| messages.failed(text));
    let exit = Exit::finished(lost).unless_empty(is_empty);
    Ok(if broken.is_empty() { exit } else { Exit::Broken })
}

/// Reports the inputs, warnings and losses of all runs. Returns the number of lost events and other
/// parts.
fn finish(read: &[ReadRun<'_>], messages: &Messages) -> Result<u64, Failure> {
    let (mut inputs, mut texts) = (Vec::new(), Vec::new());
    for run in read {
        messages.inputs(&run.inputs);
        texts.extend(remedies::warnings(&run.warnings));
        texts.extend(run.texts.iter().cloned());
        inputs.extend(run.inputs.iter().cloned());
    }
    messages.warnings(&texts);
    messages.losses(&inputs);
    let lost = inputs.iter().map(InputReport::lost).sum();
    if let Some(run) = read.first() {
        run.reporting.end(&inputs, lost, |run| base("diff", &inputs, lost, run, []))?;
    }
    Ok(lost)
}

/// Warns if two runs were measured by different rules.
fn warn_of_rules<'r>(
    mut all: impl Iterator<Item = &'r ([String; 2], String)>,
    messages: &Messages,
) {
    let Some((rules, name)) = all.next() else { return };
    let Some((other, of)) = all.find(|run| run.0 != *rules) else { return };
    let both = [(0, "rules of DevTools"), (1, "a sample lasts")];
    let (at, what) =
        both.into_iter().find(|rule| rules[rule.0] != other[rule.0]).unwrap_or(both[0]);
    messages.warning(&format!(
        "times were not measured alike ({what}: {} in {name}, {} in {of}): store tables by the same program, with the same --weights",
        rules[at], other[at]
    ));
}

/// Warns about runs whose times `--normalize` cannot scale.
fn warn_of_scale<'r>(
    to: &Normalize,
    runs: impl Iterator<Item = &'r Run> + Clone,
    messages: &Messages,
) {
    let all = runs.clone().count();
    let what = match to {
        Normalize::Event(name) => format!("function or event {name:?}, which --normalize names"),
        _ => "busy time, which --normalize asks for".to_owned(),
    };
    match runs.filter(|run| run.measure(to) <= 0.0).count() {
        0 => {}
        none if none == all => messages.warning(&format!("no run has any {what}: times stay as they are")),
        some => messages.warning(&format!(
            "{some} of {all} runs have no {what}: their times stay as they are, and are compared with others that are scaled"
        )),
    }
}

fn has_common(comparison: &Comparison) -> bool {
    comparison.rows.iter().any(|row| row.count.base > 0.0 && row.count.new > 0.0)
}

/// Returns the inputs of one side. With `each`, a folder means each of its files and folders.
fn run_inputs(args: &DiffArgs, paths: &[PathBuf], each: bool) -> Result<Vec<InputArgs>, Failure> {
    let mut inputs = Vec::new();
    for path in paths {
        let is_found = each && path.is_dir();
        let files = if is_found { runs_in(path)? } else { vec![path.clone()] };
        inputs.extend(files.into_iter().map(|path| InputArgs { is_found, ..args.input(path) }));
    }
    Ok(inputs)
}

/// Returns the files of a folder, and its folders with files below them.
fn runs_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut runs = files_in(folder)?;
    for path in &mut runs {
        let below = path.strip_prefix(folder).ok().and_then(|path| path.components().next());
        *path = below.map_or(path.clone(), |first| folder.join(first));
    }
    // files are sorted by path
    runs.dedup();
    Ok(runs)
}

/// Reads the runs of one side. A side with a single run also gets the spread of its samples and
/// events. Adds the bytes of the runs to `held`.
fn side<'a>(
    args: &'a DiffArgs,
    inputs: &'a [InputArgs],
    held: &mut u64,
    messages: &'a Messages,
) -> Result<Side<'a>, Failure> {
    let mut side = Side::default();
    for input in inputs {
        let name = input.inputs.first().map(|path| path.display().to_string()).unwrap_or_default();
        match input.inputs.first().map(|path| stored(path)).transpose()?.flatten() {
            Some(Stored { run, rules }) => {
                let why = Err(format!("{name} is a stored table, which has rows only"));
                side.figures.push(vec![why; args.figures().len()]);
                side.rules.push((rules, name));
                side.hold(run, held);
            }
            None => {
                let (run, job) = match run(args, input, inputs.len() == 1, messages) {
                    Err(Failure::Run(error)) if input.is_found && error.is_no_trace() => {
                        InputWarning::leave_out(&mut side.left_out, error.to_string());
                        continue;
                    }
                    run => run?,
                };
                side.figures.push(figures(args, &job)?);
                let rules = [RULES, self_of(job.trace.weights)].map(str::to_owned);
                side.rules.push((rules, name));
                side.hold(run, held);
                let config = &job.reporting.running.config;
                let quota = config.limits.quota("functions of runs", Share::of(3, 4));
                quota.check(*held, "functions of runs")?;
                side.read.push(ReadRun::of(job));
            }
        }
    }
    match side.runs.is_empty() {
        true => Err(Failure::usage("no run was found: no file of the folder is a trace")),
        false => Ok(side),
    }
}

/// Computes the figures of a run to which limits refer.
fn figures(args: &DiffArgs, job: &Job<'_>) -> Result<Vec<Result<f64, String>>, Failure> {
    let wanted = args.figures();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let rules = ReportRules {
        rows: 1,
        producer: None,
        tables: args.part.table_rules(),
        window: args.part.window(TraceTimes::of(&job.trace))?,
        devices: DeviceRules::default(),
    };
    let report =
        tracemill_report::report(&job.trace, &job.trace.choose(&args.part.choice()), &rules)?;
    let name = job.trace.inputs.first().map_or("", |input| &input.name);
    let named = |why: String| format!("{why} ({name})");
    Ok(wanted.iter().map(|&figure| value(&report, figure).map_err(named)).collect())
}

fn run<'a>(
    args: &'a DiffArgs,
    input: &'a InputArgs,
    single: bool,
    messages: &'a Messages,
) -> Result<(Run, Job<'a>), Failure> {
    let flags = Flags { verb: "diff", input, common: &args.common };
    let rules = args.picks.read_rules(&args.part, GroupBy::None);
    let report = rules.wanted.report || !args.figures().is_empty();
    let times = args.times.times(&args.part)?;
    let rules = ReadRules { wanted: Wanted { report, ..rules.wanted }, times, ..rules };
    let job = Job::read(flags, &args.output, rules, Some(&args.part), messages)?;
    let table = RequestedTable { shape: Shape::CallTree, by: GroupBy::None, per: Per::All };
    let (threads, query) = args.picks.query(&args.part, &job.trace, table)?;
    Ok((Run::of(&job.trace, &threads, &query, single)?, job))
}
