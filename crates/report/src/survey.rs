//! Computes all sections of a thread from one flame chart and one walk.

use crate::found::{Blocks, ReportRules, Stretch, Tasks, ThreadSums, is_gc};
use crate::main_thread::blocks::blocks;
use crate::main_thread::reflows::{OfThread, reflows};
use crate::main_thread::tasks::{has_tasks, tasks};
use crate::paths::{heaviest, hottest};
use crate::web::Visit;
use crate::web::parties::{Party, parties};
use crate::web::visits::{Between, Within};
use tracemill_analysis::entries::{Entry, walk};
use tracemill_analysis::query::picks::Walked;
use tracemill_analysis::table::tree_rows::RowRoom;
use tracemill_analysis::tree::By;
use tracemill_analysis::tree::views::{BottomUp, BottomUpRules, TopDown, TopDownRules};
use tracemill_analysis::value::clock::Clock;
use tracemill_analysis::{GroupBy, Part, Picks, Producer, Table, Trace, TreePath, View, Window};
use tracemill_trace::Error;

/// The results of one thread. Its categories are added later, when its table can be read.
pub(crate) struct Survey {
    pub(crate) sums: ThreadSums,
    /// Bottom-up table, which is merged with the tables of other threads later.
    pub(crate) table: Part,
    pub(crate) heaviest: TreePath,
    pub(crate) tasks: Option<Tasks>,
    pub(crate) blocks: Option<Blocks>,
    pub(crate) reflows: OfThread,
    /// Parties of each visit, if this is the main thread of the page.
    pub(crate) parties: Vec<Vec<Party>>,
}

/// Needs of the survey: options, window, kinds that are layouts, and the main thread of the page
/// with its visits.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'r> {
    pub(crate) rules: &'r ReportRules,
    pub(crate) window: Window,
    pub(crate) layouts: Option<&'r [bool]>,
    pub(crate) pages: Option<(usize, &'r [Visit])>,
}

pub(crate) fn survey(
    trace: &Trace,
    at: usize,
    options: Asked<'_>,
    room: &RowRoom,
) -> Result<Survey, Error> {
    let Asked { rules, window, layouts, pages } = options;
    trace.limits().cancel.check()?;
    let thread = &trace.threads[at];
    let mut tasks = has_tasks(trace).then(|| tasks(trace, at, thread, rules.rows, window));
    let is_node = rules.producer.unwrap_or(trace.producer()) == Producer::Node;
    let of_node = thread.model().filter(|_| is_node);
    let mut blocks = trace
        .stands_alone(thread)
        .or(of_node)
        .map(|model| blocks(trace, at, model, rules.rows, window));
    let mut reflows = match layouts {
        Some(layouts) => reflows(trace, thread, layouts, window, &room.grown)?,
        None => OfThread::default(),
    };
    let lists = [
        tasks.as_mut().map(|task| &mut task.longest),
        blocks.as_mut().map(|block| &mut block.longest),
    ];
    let mut intervals: Vec<&mut Stretch> = lists.into_iter().flatten().flatten().collect();
    intervals.sort_by(|a, b| a.ts.total_cmp(&b.ts));

    let track = trace.track(thread)?;
    let view = View::new(&track, rules.tables);
    let ids = view.ids(GroupBy::None);
    let picks = Picks::default();
    let (clock, window) = (trace.clock(), trace.clock().sums(window));
    let over = Walked::whole(window, &picks);
    let as_devtools = rules.tables.as_devtools;
    let space = trace.space_of_rows();
    let up = BottomUpRules { levels: 1, forced: false, as_devtools, clock };
    let mut bottom_up = BottomUp::new(&ids, window, up, &space);
    let down = TopDownRules { as_devtools, ..TopDownRules::default() };
    let mut calls = TopDown::new(&ids, &space, down);
    let is_idle = |entry: &Entry| ids.is_idle(entry);
    let mut between = Between::new(window, clock, &is_idle);
    let spans = intervals.iter().map(|span| (span.ts, span.until));
    let spans = spans.map(|(from, to)| (clock.of_micros(from), clock.of_micros(to))).collect();
    let mut within = Within::new(&ids, spans, clock, &space);
    let mut forced = reflows.calls(&ids);
    let visits: &mut [&mut dyn walk::Visit] =
        &mut [&mut bottom_up, &mut calls, &mut between, &mut within, &mut forced];
    view.walk(&over, &ids, visits, &room.grown)?;

    let table = view.table(&bottom_up.finish(true), &ids, room, window, By::Own, 1)?;
    let heaviest = heaviest(&calls.finish(window), &view, &ids);
    for (interval, rows) in intervals.into_iter().zip(within.finish()) {
        interval.paths = hottest(&rows, &view, &ids);
    }
    let (busy, time, events) = (between.busy(), between.time(), between.events);
    let (gap, categories) = (between.finish(), Vec::new());
    let sums = ThreadSums { thread: at, busy, time, events, gap, categories };
    let table = view.part(at, table);
    let parties = match pages.filter(|page| page.0 == at) {
        Some((_, visits)) => parties(trace, &track, visits, rules.tables, rules.rows, &room.grown)?,
        None => Vec::new(),
    };
    Ok(Survey { sums, table, heaviest, tasks, blocks, reflows, parties })
}

/// Sums the positive self times of rows by category, and converts them to milliseconds.
pub(crate) fn categories(table: &Table, clock: Clock) -> Vec<(&'static str, f64)> {
    let mut categories: Vec<(&'static str, f64)> = Vec::new();
    for row in &table.rows {
        let time = row.own;
        if time <= 0.0 || row.is_idle() {
            continue;
        }
        let category = if is_gc(&row) { "gc" } else { row.category };
        match categories.iter_mut().find(|(name, _)| *name == category) {
            Some((_, ms)) => *ms += time,
            None => categories.push((category, time)),
        }
    }
    categories.iter_mut().for_each(|category| category.1 = clock.ms(category.1));
    categories.sort_by(|a, b| b.1.total_cmp(&a.1));
    categories
}
