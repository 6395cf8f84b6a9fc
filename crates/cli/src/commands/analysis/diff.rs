//! `tracemill diff`.

use super::report::value;
use super::stored::stored;
use super::{Asked, Job, warnings};
use crate::args::{DiffArgs, GateOutcome as Outcome, Grouping, InputArgs, PerArg};
use crate::commands::running::Flags;
use crate::exit::{Exit, Failure};
use crate::messages::Messages;
use crate::report::common;
use std::path::{Path, PathBuf};
use tracemill_analysis::{
    Comparison, ReadRules, ReportRules, Run, Shape, Wanted, compare_figures, compare_runs,
};
use tracemill_pipeline::InputReport;

mod write;

/// One side.
struct Side<'a> {
    runs: Vec<Run>,
    /// The traces that were read, for what is wrong with them.
    jobs: Vec<Job<'a>>,
    /// Of each run the figures that limits are of, or why they cannot be told.
    figures: Vec<Vec<Result<f64, String>>>,
}

impl Side<'_> {
    /// A figure of all runs, by its number.
    fn figure(&self, at: usize) -> Result<Vec<f64>, String> {
        self.figures.iter().map(|run| run[at].clone()).collect()
    }
}

/// Compares.
pub(in crate::commands) fn diff(args: &DiffArgs, messages: &Messages) -> Result<Exit, Failure> {
    let (base, new, each) = args.runs()?;
    let listed = |paths: &[PathBuf]| if each { files(paths) } else { Ok(paths.to_vec()) };
    let inputs = |paths: Vec<PathBuf>| -> Vec<InputArgs> {
        paths.into_iter().map(|path| args.input(vec![path])).collect()
    };
    let (base, new) = (inputs(listed(base)?), inputs(listed(new)?));
    let sources = base.iter().chain(&new).map(|input| input.sources_and(&[]));
    let sources = sources.collect::<Result<Vec<_>, Failure>>()?.concat();
    let place = messages.place(args.output.output.as_deref().unwrap_or(Path::new("-")));
    place.check("the output", &sources, args.output.force)?;
    let (mut base, new) = (side(args, &base, messages)?, side(args, &new, messages)?);
    let comparison = compare_runs(&base.runs, &new.runs, &args.rules());
    write::write(args, &place, &comparison)?;
    let wanted = args.figures();
    let both = |figure| {
        let at = wanted.iter().position(|own| *own == figure).ok_or("it was not asked for")?;
        Ok(compare_figures(&base.figure(at)?, &new.figure(at)?))
    };
    let outcomes: Vec<_> =
        args.fail_on.iter().filter_map(|gate| gate.outcome(&comparison, args.any, both)).collect();
    base.jobs.extend(new.jobs);
    let lost = finish(&base.jobs, messages)?;
    let is_empty = comparison.rows.is_empty();
    if is_empty {
        messages.warning("nothing to compare: neither side has a row that was asked for");
    } else if !has_common(&comparison) {
        messages.warning("no function is on both sides: are these recordings of the same program?");
    }
    let mut broken = false;
    for outcome in outcomes {
        match outcome {
            Outcome::Broken(text) => {
                messages.warning(&format!("broken: {text}"));
                broken = true;
            }
            Outcome::Unsure(text) => messages.warning(&format!(
                "not judged: {text}: four runs per side tell chance from change; --any counts it as it is"
            )),
        }
    }
    Ok(if broken { Exit::Broken } else { Exit::finished(lost).unless_empty(is_empty) })
}

/// Says what was read and what is wrong with it, of all runs together; what was lost.
fn finish(jobs: &[Job<'_>], messages: &Messages) -> Result<u64, Failure> {
    let mut inputs = Vec::new();
    for job in jobs {
        job.reporting.tell(&job.trace.inputs, &job.trace.warnings);
        warnings(&job.trace).iter().for_each(|text| messages.warning(text));
        inputs.extend(job.trace.inputs.iter().cloned());
    }
    messages.losses(&inputs);
    let lost = inputs.iter().map(InputReport::lost).sum();
    if let Some(job) = jobs.first() {
        job.reporting.end((&inputs, lost), |run| common("diff", &inputs, lost, run, []))?;
    }
    Ok(lost)
}

fn has_common(comparison: &Comparison) -> bool {
    comparison.rows.iter().any(|row| row.count.base > 0.0 && row.count.new > 0.0)
}

/// Files, those of folders one by one, by name.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let wrong = |why: std::io::Error| {
            Failure::usage(format!("cannot read the folder {}: {why}", path.display()))
        };
        let entries = std::fs::read_dir(path).map_err(wrong)?;
        let mut own: Vec<PathBuf> = Vec::new();
        for entry in entries {
            own.push(entry.map_err(wrong)?.path());
        }
        own.retain(|path| path.is_file());
        own.sort();
        if own.is_empty() {
            return Err(Failure::usage(format!(
                "no run was found: {} has no file",
                path.display()
            )));
        }
        all.extend(own);
    }
    Ok(all)
}

/// Reads the runs of a side; a single one with its samples and events.
fn side<'a>(
    args: &'a DiffArgs,
    inputs: &'a [InputArgs],
    messages: &'a Messages,
) -> Result<Side<'a>, Failure> {
    let mut side = Side { runs: Vec::new(), jobs: Vec::new(), figures: Vec::new() };
    for input in inputs {
        match input.inputs.first().map(|path| stored(path)).transpose()?.flatten() {
            Some(run) => {
                let name = input.inputs[0].display();
                let why = Err(format!("{name} is a stored table, which has rows only"));
                side.figures.push(vec![why; args.figures().len()]);
                side.runs.push(run);
            }
            None => {
                let (run, job) = run(args, input, inputs.len() == 1, messages)?;
                side.figures.push(figures(args, &job)?);
                side.runs.push(run);
                side.jobs.push(job);
            }
        }
    }
    Ok(side)
}

/// The figures of a run that limits are of.
fn figures(args: &DiffArgs, job: &Job<'_>) -> Result<Vec<Result<f64, String>>, Failure> {
    let wanted = args.figures();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let rules = ReportRules {
        rows: 1,
        producer: None,
        tables: args.part.table_rules(),
        window: args.part.window(&job.trace)?,
    };
    let report = job.trace.report(&job.trace.choose(&args.part.choice()), &rules)?;
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
    let flags = Flags { verb: "diff", input, limits: &args.limits, messages: &args.messages };
    let rules = args.picks.read_rules(&args.part, Grouping::None);
    let report = rules.wanted.report || !args.figures().is_empty();
    let rules = ReadRules { wanted: Wanted { report, ..rules.wanted }, ..rules };
    let job = Job::read(flags, &args.output, (rules, Some(&args.part)), messages)?;
    let tables = |shape| {
        let asked = Asked { shape, by: Grouping::None, per: PerArg::All };
        let (threads, query) = args.picks.query(&args.part, &job.trace, asked)?;
        Ok::<_, Failure>((job.trace.parts(&threads, &query)?, threads))
    };
    let (parts, threads) = tables(Shape::CallTree)?;
    let mut run = match parts.first() {
        Some(part) => Run::new(part.busy(), &part.table.rows, true),
        None => Run::default(),
    };
    if single {
        run.add_samples(&job.trace, &threads);
        for part in tables(Shape::Log)?.0 {
            run.add_events(&part.table.rows);
        }
    }
    Ok((run, job))
}
