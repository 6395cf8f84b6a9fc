//! Layouts and style recalculations of many elements (DevTools: `DOMSize`).

use crate::web::insights::found::{Found, State};
use crate::web::insights::page::Page;
use serde::Serialize;
use tracemill_analysis::ThreadKind;
use tracemill_analysis::events::pages::{Mark, Marked};
use tracemill_analysis::value::typed::{Object, decode, object};
use tracemill_trace::spill::hash::HashSet;

/// Objects of a large layout, and elements of a large style recalculation.
const OBJECTS: f64 = 100.0;
const ELEMENTS: f64 = 300.0;
/// Number of updates that DevTools lists.
const MOST: usize = 5;

/// The size of a document, and the updates that it makes slow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DomSize {
    /// The longest layouts and style recalculations of many elements, at most five.
    pub updates: Vec<LargeUpdate>,
    /// The size of the document at its largest.
    pub dom: Option<Dom>,
}

/// A layout or a style recalculation of many elements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LargeUpdate {
    /// `Layout` or `UpdateLayoutTree`.
    pub name: &'static str,
    /// DevTools' key of the event.
    pub key: String,
    /// Duration in milliseconds.
    pub dur_ms: f64,
    /// Number of objects or elements.
    pub size: f64,
}

/// The size of a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dom {
    /// DevTools' key of the event.
    pub key: String,
    /// Number of elements.
    pub elements: f64,
    /// Depth of the deepest element.
    pub depth: Option<f64>,
    /// Number of children of the element with the most.
    pub children: Option<f64>,
}

object! {
    struct Args { begin_data: Object<BeginData>, element_count }

    struct BeginData { dirty_objects }

    struct Stats { frame, total_elements, max_children: Object<Most>, max_depth: Object<Most> }

    struct Most { num_children, depth }
}

/// Returns the update that an event is, if it has many elements.
fn large_update(mark: &Marked) -> Option<LargeUpdate> {
    let args: Args = decode(&mark.args);
    let is_layout = &*mark.id == b"\"Layout\"";
    let (name, size, few) = match is_layout {
        true => ("Layout", args.begin_data.0?.dirty_objects, OBJECTS),
        false => ("UpdateLayoutTree", args.element_count, ELEMENTS),
    };
    let size = size.number().filter(|size| *size > few)?;
    Some(LargeUpdate { name, key: format!("r-{}", mark.number), dur_ms: mark.dur / 1000.0, size })
}

/// Returns pid and tid of the main threads whose updates count.
fn main_threads<'t>(page: &Page<'t>) -> HashSet<(&'t [u8], &'t [u8])> {
    let visit = page.visit;
    let threads = page.trace.threads.iter().filter(|thread| {
        let Some(process) = page.trace.meta().page(&thread.pid) else { return false };
        let is_of_visit = match visit.tid.is_empty() {
            true => process.is_on_main_frame,
            false => thread.tid == visit.tid,
        };
        thread.kind == ThreadKind::Main && is_of_visit
    });
    threads.map(|thread| (&*thread.pid, &*thread.tid)).collect()
}

fn dom(page: &Page<'_>) -> Option<Dom> {
    let mut largest: Option<(f64, &Marked, Stats)> = None;
    for mark in page.marks(Mark::DomStats) {
        let stats: Stats = mark.data().unwrap_or_default();
        let is_of_process = page.visit.pid.is_empty() || mark.pid == page.visit.pid;
        if !is_of_process || !page.is_frame(&stats.frame) {
            continue;
        }
        let elements = stats.total_elements.number().unwrap_or(f64::NAN);
        if largest.as_ref().is_none_or(|(known, ..)| elements > *known) {
            largest = Some((elements, mark, stats));
        }
    }
    let (elements, mark, stats) = largest?;
    Some(Dom {
        key: format!("r-{}", mark.number),
        elements,
        depth: stats.max_depth.0.and_then(|most| most.depth.number()),
        children: stats.max_children.0.and_then(|most| most.num_children.number()),
    })
}

pub(crate) fn insight(page: &Page<'_>) -> Found<DomSize> {
    let threads = main_threads(page);
    let is_main = |mark: &&Marked| threads.contains(&(&*mark.pid, &*mark.tid));
    let marks = page.marks(Mark::LargeUpdate).filter(is_main);
    let mut updates: Vec<LargeUpdate> = marks.filter_map(large_update).collect();
    updates.sort_by(|a, b| b.dur_ms.total_cmp(&a.dur_ms).then_with(|| a.name.cmp(b.name)));
    updates.truncate(MOST);
    let state = State::informative_if(!updates.is_empty());
    Found::new(state, DomSize { updates, dom: dom(page) })
}
