//! Repeats, in other parts, the events by which DevTools knows pages and workers.
//!
//! Without these events DevTools treats a part as a trace without a browser. With some of these
//! events, but without the event that assigns the page to a process, DevTools shows nothing. Parts
//! that have only hidden threads, or processes without a page, get no such events.

use super::by::SplitBy;
use super::cut::SEPARATOR;
use super::group::ThreadGroup;
use super::partition::{Partition, PartitionKind, RawThread, category_of};
use super::plan::{OutputPart, Planner, partitions_of};
use super::scan::SplitInputs;
use crate::repeated::MARK;
use std::cmp::Ordering;
use tracemill_cpuprofile::push_canonical;
use tracemill_join::identity::each_process_id;
use tracemill_tokenizer::{Event, Field, fields_of};
use tracemill_trace::json::{elements, member};
use tracemill_trace::order::{Order, PartitionRuns, Sequence};
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::store::entry::Entry;
use tracemill_viewers::essential::HIDDEN_THREADS;
use tracemill_viewers::pages::has_page;
use tracemill_viewers::required_args::page_data;

/// Maximum number of events to repeat.
const MOST: usize = 1024;

/// An event by which DevTools knows a page or a worker.
struct PageEvent {
    entry: Entry,
    bytes: u64,
    /// The partition of the event's thread.
    thread: Option<u32>,
    /// Keys of the event's process and of the processes that the event names.
    processes: HashSet<Vec<u8>>,
    /// Keys of the processes to which the event assigns a page.
    shown: HashSet<Vec<u8>>,
}

/// The first [`MOST`] events by which DevTools knows pages and workers, in output order.
#[derive(Default)]
pub(super) struct PageEvents(Vec<PageEvent>);

fn key_of_process(pid: Option<&[u8]>) -> Vec<u8> {
    let mut key = Vec::new();
    push_canonical(pid, &mut key);
    key
}

/// Returns the keys of the processes to which an event assigns a page.
fn shown_by(event: &Event<'_>) -> HashSet<Vec<u8>> {
    let Some(data) = page_data(event) else { return HashSet::default() };
    if event.is_string(Field::Name, b"CommitLoad") {
        return HashSet::from_iter(has_page(data).then(|| key_of_process(event.field(Field::Pid))));
    }
    let frames = elements(member(data, b"frames").unwrap_or_default()).chain([data]);
    let frames = frames.filter(|frame| frame.starts_with(b"{") && has_page(frame));
    frames.filter_map(|frame| Some(key_of_process(Some(member(frame, b"processId")?)))).collect()
}

impl PageEvents {
    pub(super) fn of(
        found: &SplitInputs,
        runs: &PartitionRuns,
        order: Order<'_, '_>,
        by: SplitBy,
    ) -> Self {
        let partitions = partitions_of(found, PartitionKind::Pages)
            .flat_map(|partition| runs.of(partition))
            .collect();
        let mut entries: Vec<Entry> = Sequence(partitions).into_entries().collect();
        entries.sort_unstable_by(|a, b| order.compare(a, b));
        entries.truncate(MOST);
        let page = |entry: Entry| {
            let text = order.0.event(entry.place);
            let fields = fields_of(text);
            let event = fields.of(text);
            let ids = RawThread {
                pid: event.field(Field::Pid).unwrap_or_default(),
                tid: event.field(Field::Tid).unwrap_or_default(),
                cat: match by {
                    SplitBy::Cat => event.field(Field::Cat).map_or(b"", category_of),
                    _ => b"",
                },
            };
            let mut processes = HashSet::from_iter([key_of_process(event.field(Field::Pid))]);
            if let Some(args) = event.field(Field::Args) {
                each_process_id(args, |pid| processes.extend([key_of_process(Some(pid))]));
            }
            let (bytes, shown) = (text.len() as u64, shown_by(&event));
            PageEvent { entry, bytes, thread: found.thread_of(ids), processes, shown }
        };
        PageEvents(entries.into_iter().map(page).collect())
    }

    /// Returns the maximum bytes of the repeated events of a part.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|page| page.bytes + SEPARATOR + MARK).sum()
    }

    /// Adds to each part the events that it needs.
    pub(super) fn repeat(
        &self,
        parts: &mut [OutputPart],
        groups: &[ThreadGroup],
        planner: &Planner<'_, '_, '_>,
    ) {
        if self.0.is_empty() {
            return;
        }
        let order = planner.order;
        let mut groups_of: HashMap<u32, usize> = HashMap::default();
        for (number, group) in groups.iter().enumerate() {
            groups_of.extend(group.threads.iter().map(|&thread| (thread, number)));
        }
        let shown: HashSet<Vec<u8>> =
            self.0.iter().flat_map(|page| page.shown.iter().cloned()).collect();
        let names = &planner.found.names;
        let is_drawn = |partition: &&Partition| {
            let name = names.thread(&partition.pid, &partition.tid).unwrap_or_default();
            shown.contains(&partition.process_key()) && !HIDDEN_THREADS.contains(&&*name)
        };
        let is_before = |a: &Entry, b: &Entry| order.compare(a, b) == Ordering::Less;
        for part in parts {
            let partitions =
                part.threads.iter().map(|&partition| &planner.found.partitions[partition as usize]);
            let partitions = Vec::from_iter(partitions);
            if !partitions.iter().any(is_drawn) {
                continue;
            }
            let set: HashSet<Vec<u8>> =
                partitions.iter().map(|partition| partition.process_key()).collect();
            let (from, to) = part.range;
            let needed = |page: &&PageEvent| {
                let group = page.thread.and_then(|thread| groups_of.get(&thread));
                let is_in = group == Some(&part.group)
                    && from.is_none_or(|from| !is_before(&page.entry, &from));
                !is_in
                    && to.is_none_or(|to| is_before(&page.entry, &to))
                    && !page.processes.is_disjoint(&set)
                    && !part.copies.contains(&page.entry)
            };
            let needed: Vec<&PageEvent> = self.0.iter().filter(needed).collect();
            part.events += needed.len() as u64;
            part.bytes += needed.iter().map(|page| page.bytes).sum::<u64>();
            part.copies.extend(needed.iter().map(|page| page.entry));
            part.copies.sort_unstable_by(|a, b| order.compare(a, b));
        }
    }
}
