//! Computes the report. All sections use the same scan, and one walk over each thread.

use crate::bazel::build;
use crate::compiler::compiled;
use crate::found::{Blocks, Counted, Report, ReportRules, Tasks, is_gc};
use crate::gpu::on_devices;
use crate::main_thread::by_service::ByService;
use crate::main_thread::reflows::{forced, layouts};
use crate::main_thread::tasks::has_tasks;
use crate::spread::{keep_longest, spread};
use crate::survey::{Asked, Survey, categories, survey};
use crate::web::insights::{Insight, insights};
use crate::web::interactions::interactions;
use crate::web::network::{Request, requests};
use crate::web::parties::main_thread;
use crate::web::tracks::memory::memory;
use crate::web::tracks::summaries;
use crate::web::{Metric, Visit, visits};
use tracemill_analysis::table::tree_rows::RowRoom;
use tracemill_analysis::{Part, Producer, Trace, Window};
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::threads::try_each;

/// Reports what is slow on the threads with the given numbers. Threads are processed in parallel,
/// and their sums are added in the order of the threads.
///
/// Cost: the flame chart of each thread, and one walk over it. Heap: 420 bytes for each row of a
/// call tree. Where durations of single events are listed, 20 bytes per event, on disk beyond the
/// budget.
///
/// # Errors
/// Returns an I/O error of a temporary file, or [`tracemill_trace::ErrorKind::Exceeded`] if the
/// rows need more memory than the budget has.
pub fn report(trace: &Trace, threads: &[usize], rules: &ReportRules) -> Result<Report, Error> {
    let producer = rules.producer.unwrap_or(trace.producer());
    let room = RowRoom::new(trace.limits());
    let (from, to) = trace.bounds;
    let window = rules.window.unwrap_or(Window { from: from / 1000.0, to: to / 1000.0 });
    let layouts = layouts(trace);
    let requests = requests(trace);
    let pages = (producer == Producer::Chrome).then(|| pages(trace, &requests));
    let (visits, insights) =
        pages.map_or_else(Default::default, |(visits, all)| (Some(visits), all));
    let known_visits = visits.as_ref().and_then(|visit| visit.as_ref().ok());
    let pages = known_visits.and_then(|list| Some((main_thread(trace)?, &**list)));
    let survey = |number: usize| {
        let options = Asked { rules, window, layouts: layouts.as_deref(), pages };
        survey(trace, threads[number], options, &room)
    };
    let surveys: Vec<Survey> = try_each(trace.limits().threads, threads.len(), survey)?;
    room.finish()?;
    let mut report = Report { insights, ..begun(trace, rules, producer, window)? };
    let mut parts = Vec::with_capacity(surveys.len());
    let mut busiest = f64::NEG_INFINITY;
    let mut reflows = Vec::new();
    let mut services = ByService::of(trace, threads, producer, &room.grown)?;
    for mut of_thread in surveys {
        services
            .iter_mut()
            .for_each(|services| services.add(&of_thread.sums, of_thread.blocks.as_ref()));
        reflows.push((of_thread.sums.thread, std::mem::take(&mut of_thread.reflows)));
        report.parties.append(&mut of_thread.parties);
        of_thread.sums.categories = categories(&of_thread.table.table, trace.clock());
        parts.push(report.add(of_thread, &mut busiest));
    }
    report.reflows = layouts.map(|_| forced(trace, reflows, rules.rows));
    report.threads.sort_by(|a, b| b.busy.total_cmp(&a.busy));
    let longest = [
        report.tasks.as_mut().map(|task| &mut task.longest),
        report.blocks.as_mut().map(|block| &mut block.longest),
    ];
    longest.into_iter().flatten().for_each(|all| keep_longest(all, rules.rows));
    report.services = services.map(|services| services.finish(trace, &parts)).transpose()?;
    add_hot(trace, parts, &mut report)?;
    add_spread(trace, threads, rules, &mut report)?;
    report.visits = visits;
    add_of_producer(trace, threads, rules, requests, &room.grown, &mut report)?;
    if producer == Producer::Pytorch {
        (report.devices, report.ranks) = on_devices(trace, threads, rules, &room.grown)?;
    }
    Ok(report)
}

/// Creates a report with the sections that need no threads.
fn begun(
    trace: &Trace,
    rules: &ReportRules,
    producer: Producer,
    window: Window,
) -> Result<Report, Error> {
    Ok(Report {
        producer,
        window,
        hot: None,
        idle: 0.0,
        gc: 0.0,
        heaviest: None,
        threads: Vec::new(),
        tasks: has_tasks(trace).then(Tasks::default),
        reflows: None,
        blocks: None,
        services: None,
        spread: None,
        requests: Vec::new(),
        visits: None,
        insights: Vec::new(),
        parties: Vec::new(),
        build: None,
        compiled: None,
        devices: None,
        ranks: None,
        counters: counted(trace),
        tracks: summaries(trace, rules.rows, rules.window)?,
        memory: memory(trace, rules.window)?,
        no_causes: None,
    })
}

/// Returns the visits of pages, and the insights for each.
fn pages(trace: &Trace, requests: &[Request]) -> (Metric<Vec<Visit>>, Vec<Vec<Insight>>) {
    let interactions = interactions(trace);
    let visits = visits(trace, requests, &interactions);
    let known = visits.as_deref().unwrap_or_default();
    let insights = insights(trace, known, requests, &interactions);
    (visits, insights)
}

/// Adds the table of all threads, from which calls to V8's `(idle)` are removed.
fn add_hot(trace: &Trace, parts: Vec<Part>, report: &mut Report) -> Result<(), Error> {
    report.hot = trace.bottom_up_of_all(parts)?;
    let Some(part) = &mut report.hot else { return Ok(()) };
    let rows = std::mem::take(&mut part.table.rows);
    report.idle = rows.iter().filter(|row| row.is_idle()).map(|row| row.own).sum();
    report.gc = rows.iter().filter(|row| is_gc(row)).map(|row| row.own).sum();
    let left = RowRoom::new(trace.limits());
    part.table.rows = rows.retained(&left, |row| !row.is_idle())?;
    left.finish()
}

/// Adds the durations of the events with the names of the hottest rows, for producers of slices.
fn add_spread(
    trace: &Trace,
    threads: &[usize],
    rules: &ReportRules,
    report: &mut Report,
) -> Result<(), Error> {
    let hot = report.hot.as_ref().filter(|_| report.producer.is_of_slices());
    let Some(part) = hot else { return Ok(()) };
    let names: Vec<String> =
        part.table.rows.iter().take(rules.rows).map(|row| row.into_owned().id).collect();
    let names = names.iter().map(|name| &**name);
    report.spread = Some(spread(trace, threads, names, report.window)?);
    Ok(())
}

/// Adds the sections that only one producer has.
fn add_of_producer(
    trace: &Trace,
    threads: &[usize],
    rules: &ReportRules,
    requests: Vec<Request>,
    room: &Quota,
    report: &mut Report,
) -> Result<(), Error> {
    let (rows, window) = (rules.rows, report.window);
    if report.producer == Producer::Bazel {
        report.build = Some(build(trace, threads, rows, window));
    }
    if report.producer == Producer::Clang {
        report.compiled = Some(compiled(trace, threads, rows, window, room)?);
    }
    // Without a window, requests outside the bounds of the trace are reported too.
    let is_in = |request: &Request| {
        rules.window.is_none_or(|span| (span.from..=span.to).contains(&(request.start / 1000.0)))
    };
    report.requests = requests.into_iter().filter(is_in).collect();
    Ok(())
}

fn counted(trace: &Trace) -> Vec<Counted> {
    let text = |number: u32| trace.names().text(number);
    let of = |counter: &tracemill_analysis::events::counters::Counter| Counted {
        pid: counter.pid.clone(),
        name: text(counter.name),
        key: text(counter.key),
        count: counter.count,
        most: counter.most,
    };
    trace.counters().iter().map(of).collect()
}

impl Report {
    /// Adds the results of a thread and returns its table. `busiest` is the greatest busy time so
    /// far.
    fn add(&mut self, survey: Survey, busiest: &mut f64) -> Part {
        if survey.sums.busy > *busiest && survey.heaviest.depth() > 0 {
            *busiest = survey.sums.busy;
            self.heaviest = Some((survey.sums.thread, survey.heaviest));
        }
        self.threads.push(survey.sums);
        if let (Some(all), Some(tasks)) = (&mut self.tasks, survey.tasks) {
            all.count += tasks.count;
            all.blocking += tasks.blocking;
            all.longest.extend(tasks.longest);
        }
        if let Some(blocks) = survey.blocks {
            let all = self.blocks.get_or_insert_with(Blocks::default);
            all.without_idle += blocks.without_idle;
            all.count += blocks.count;
            all.total += blocks.total;
            all.longest.extend(blocks.longest);
        }
        survey.table
    }
}
