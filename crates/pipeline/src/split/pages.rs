//! What parts need of others so that DevTools shows them: the events by which it knows pages and workers.
//!
//! A part of a process without them is shown as if it were of no browser; one that has some of them, but not the one that says
//! which process has the page, is not shown at all.

use super::by::SplitBy;
use super::cut::SEPARATOR;

use super::group::Group;
use super::partition::{Ids, Kind, category_of};
use super::plan::{OutputPart, Planner, partitions_of};
use super::scan::SplitInputs;
use crate::identity::each_process_id;
use crate::repeated::MARK;
use std::cmp::Ordering;
use tracemill_core::entry::Entry;
use tracemill_core::hash::{HashMap, HashSet};
use tracemill_core::order::{Order, PartitionRuns, Sequence};
use tracemill_profile::push_canonical;
use tracemill_tokenizer::{Field, fields_of};

/// Events that are repeated at most: a page has few, and each part may have all.
const MOST: usize = 1024;

/// An event by which DevTools knows a page or a worker.
struct Page {
    entry: Entry,
    bytes: u64,
    /// The partition of its thread.
    thread: Option<u32>,
    /// Keys of the processes that it is of, or that it names.
    processes: HashSet<Vec<u8>>,
}

/// All of a trace, the first ones in order.
#[derive(Default)]
pub(super) struct Pages(Vec<Page>);

impl Pages {
    pub(super) fn of(
        found: &SplitInputs,
        runs: &PartitionRuns,
        order: Order<'_, '_>,
        by: SplitBy,
    ) -> Self {
        let partitions =
            partitions_of(found, Kind::Pages).flat_map(|partition| runs.of(partition)).collect();
        let mut entries: Vec<Entry> = Sequence(partitions).into_entries().collect();
        entries.sort_unstable_by(|a, b| order.compare(a, b));
        entries.truncate(MOST);
        let page = |entry: Entry| {
            let text = order.0.event(entry.place);
            let fields = fields_of(text);
            let event = fields.of(text);
            let ids = Ids {
                pid: event.field(Field::Pid).unwrap_or_default(),
                tid: event.field(Field::Tid).unwrap_or_default(),
                cat: match by {
                    SplitBy::Cat => event.field(Field::Cat).map_or(b"", category_of),
                    _ => b"",
                },
            };
            let mut processes = HashSet::default();
            let mut add = |pid: Option<&[u8]>| {
                let mut key = Vec::new();
                push_canonical(pid, &mut key);
                processes.insert(key);
            };
            add(event.field(Field::Pid));
            if let Some(args) = event.field(Field::Args) {
                each_process_id(args, |pid| add(Some(pid)));
            }
            Page { entry, bytes: text.len() as u64, thread: found.thread_of(ids), processes }
        };
        Pages(entries.into_iter().map(page).collect())
    }

    /// Bytes that they add to a part at most.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|page| page.bytes + SEPARATOR + MARK).sum()
    }

    /// Adds to each part what it needs.
    pub(super) fn repeat(
        &self,
        parts: &mut [OutputPart],
        groups: &[Group],
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
        let is_before = |a: &Entry, b: &Entry| order.compare(a, b) == Ordering::Less;
        for part in parts {
            let partitions =
                part.threads.iter().map(|&partition| &planner.found.partitions[partition as usize]);
            let own: HashSet<Vec<u8>> =
                partitions.map(|partition| partition.process_key()).collect();
            let (from, to) = part.range;
            let needed = |page: &&Page| {
                let group = page.thread.and_then(|thread| groups_of.get(&thread));
                let is_in = group == Some(&part.group)
                    && from.is_none_or(|from| !is_before(&page.entry, &from));
                !is_in
                    && to.is_none_or(|to| is_before(&page.entry, &to))
                    && !page.processes.is_disjoint(&own)
                    && !part.copies.contains(&page.entry)
            };
            let needed: Vec<&Page> = self.0.iter().filter(needed).collect();
            part.events += needed.len() as u64;
            part.bytes += needed.iter().map(|page| page.bytes).sum::<u64>();
            part.copies.extend(needed.iter().map(|page| page.entry));
            part.copies.sort_unstable_by(|a, b| order.compare(a, b));
        }
    }
}
