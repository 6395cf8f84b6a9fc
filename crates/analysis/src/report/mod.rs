//! What is slow: sections that suit the producer of a trace, each from the same scan and one walk over each thread.

mod bazel;
mod blocks;
pub(crate) mod compare;
mod compiler;
mod found;
mod gpu;
mod interactions;
mod navigations;
mod network;
mod parties;
mod paths;
mod reflows;
mod shifts;
mod spread;
mod survey;
mod tasks;
mod visits;
mod web;

pub use found::{
    Blocks, Build, Chain, Compiled, CompiledSource, Costly, Counted, Device, DeviceRules, Devices,
    Header, Kernel, KindTime, Reflow, Reflows, Report, ReportRules, StreamIdle, Stretch, Tasks,
    ThreadSums,
};
pub use interactions::Interaction;
pub use network::Request;
pub use parties::Party;
pub use shifts::ShiftCluster;
pub use spread::Spread;
pub use web::{LargestPaint, LargestParts, Told, Visit};

use crate::events::producer::Producer;
use crate::table::tree_rows::RowRoom;
use crate::table::united::Part;
use crate::trace::Trace;
use crate::value::clock::Window;
use found::{is_gc, keep_longest};
use survey::{Survey, categories};
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::threads::try_each;

impl Trace {
    /// What is slow on threads, given by their numbers. Threads are worked on side by side, and what they share is added in their order.
    ///
    /// Cost: the flame chart of each thread and one walk over it; 20 bytes for each event of the names that are listed where single events
    /// are looked at, on disk beyond the budget; 420 bytes of heap for each row of a call tree.
    ///
    /// ```
    /// use tracemill_analysis::{ReadRules, ReportRules, TableRules, ThreadChoice, Trace};
    /// use tracemill_pipeline::{Config, Source};
    /// # let folder = tempfile::tempdir()?;
    /// # let trace = folder.path().join("trace.json");
    /// # std::fs::write(&trace, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":50},{"ph":"X","name":"b","pid":1,"tid":2,"ts":2000,"dur":9000}]"#)?;
    ///
    /// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
    /// let trace = Trace::read(&[Source::Path(trace)], ReadRules::default(), &config)?;
    /// let rules = ReportRules { rows: 5, producer: None, tables: TableRules::default(), window: None, devices: Default::default() };
    /// let report = trace.report(&trace.choose(&ThreadChoice::default()), &rules)?;
    /// let rows = report.hot.expect("there are events").table.rows;
    /// let hot = rows.get(0).expect("a row");
    /// assert_eq!((&*hot.id, hot.own), ("b", 9.0)); // milliseconds
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What temporary files say; [`tracemill_trace::ErrorKind::Exceeded`] if all rows are more than there is room for in the budget.
    pub fn report(&self, threads: &[usize], rules: &ReportRules) -> Result<Report, Error> {
        let producer = rules.producer.unwrap_or(self.producer());
        let room = RowRoom::new(&self.limits);
        let (from, to) = self.bounds;
        let window = rules.window.unwrap_or(Window { from: from / 1000.0, to: to / 1000.0 });
        let layouts = self.layouts();
        let requests = self.requests();
        let visits = (producer == Producer::Chrome).then(|| self.visits(&requests));
        let told = visits.as_ref().and_then(|visit| visit.as_ref().ok());
        let pages = told.and_then(|own| Some((self.main_thread()?, &**own)));
        let survey = |number: usize| {
            let asked = (rules, window, layouts.as_deref(), pages);
            self.survey(threads[number], asked, &room)
        };
        let surveys: Vec<Survey> = try_each(self.limits.threads, threads.len(), survey)?;
        room.finish()?;
        let mut report = Report {
            producer,
            window,
            hot: None,
            idle: 0.0,
            gc: 0.0,
            heaviest: None,
            threads: Vec::new(),
            tasks: self.has_tasks().then(Tasks::default),
            reflows: None,
            blocks: None,
            spread: None,
            requests: Vec::new(),
            visits: None,
            parties: Vec::new(),
            build: None,
            compiled: None,
            devices: None,
            counters: self.counted(),
        };
        let mut parts = Vec::with_capacity(surveys.len());
        let mut busiest = f64::NEG_INFINITY;
        let mut forced = Vec::new();
        for mut own in surveys {
            forced.push((own.sums.thread, std::mem::take(&mut own.reflows)));
            report.parties.append(&mut own.parties);
            own.sums.categories = categories(&own.table.table, self.clock);
            parts.push(report.add(own, &mut busiest));
        }
        report.reflows = layouts.map(|_| self.forced(forced, rules.rows));
        report.threads.sort_by(|a, b| b.busy.total_cmp(&a.busy));
        let longest = [
            report.tasks.as_mut().map(|task| &mut task.longest),
            report.blocks.as_mut().map(|block| &mut block.longest),
        ];
        longest.into_iter().flatten().for_each(|all| keep_longest(all, rules.rows));
        self.add_hot(parts, &mut report)?;
        let hot = report.hot.as_ref().filter(|_| producer.is_of_slices());
        if let Some(part) = hot {
            let names: Vec<String> =
                part.table.rows.iter().take(rules.rows).map(|row| row.into_owned().id).collect();
            let names = names.iter().map(|name| &**name);
            report.spread = Some(self.spread(threads, names, window)?);
        }
        report.visits = visits;
        self.add_of_producer(threads, rules, requests, &room.grown, &mut report)?;
        if producer == Producer::Pytorch {
            let of_devices = (rules.rows, rules.devices);
            report.devices = self.on_devices(threads, of_devices, rules.window, &room.grown)?;
        }
        Ok(report)
    }

    /// Adds the table of all threads, without what a CPU that is idle takes.
    fn add_hot(&self, parts: Vec<Part>, report: &mut Report) -> Result<(), Error> {
        report.hot = self.bottom_up_of_all(parts)?;
        let Some(part) = &mut report.hot else { return Ok(()) };
        let rows = std::mem::take(&mut part.table.rows);
        report.idle = rows.iter().filter(|row| row.is_idle()).map(|row| row.own).sum();
        report.gc = rows.iter().filter(|row| is_gc(row)).map(|row| row.own).sum();
        let left = RowRoom::new(&self.limits);
        part.table.rows = rows.retained(&left, |row| !row.is_idle())?;
        left.finish()
    }

    /// Adds what only some producers write.
    fn add_of_producer(
        &self,
        threads: &[usize],
        rules: &ReportRules,
        requests: Vec<Request>,
        room: &Quota,
        report: &mut Report,
    ) -> Result<(), Error> {
        let (rows, window) = (rules.rows, report.window);
        if report.producer == Producer::Bazel {
            report.build = Some(self.build(threads, rows, window));
        }
        if report.producer == Producer::Clang {
            report.compiled = Some(self.compiled(threads, rows, window, room)?);
        }
        // what the trace tells of outside its own bounds is left out only by a window
        let is_in = |request: &Request| {
            rules
                .window
                .is_none_or(|span| (span.from..=span.to).contains(&(request.start / 1000.0)))
        };
        report.requests = requests.into_iter().filter(is_in).collect();
        Ok(())
    }

    fn counted(&self) -> Vec<Counted> {
        let text = |number: u32| self.names.text(number);
        let of = |counter: &crate::events::counters::Counter| Counted {
            pid: counter.pid.clone(),
            name: text(counter.name),
            key: text(counter.key),
            count: counter.count,
            most: counter.most,
        };
        self.counters.all.iter().map(of).collect()
    }
}

impl Report {
    /// Adds a thread, whose table is given back; `busiest` is the busy time of the busiest so far.
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
