//! Counts events per key, for any number of keys. Tables beyond the memory limit are spilled to
//! disk and merged at the end.
//!
//! ```text
//!   tables of chunks ─> table ─ too large ─> sorted run on disk ─ merged by hash and key ─> counts
//! ```
//!
//! Counts are exact for any number of names, and depend on neither chunk boundaries nor memory.

use super::report::{TopList, TopRow, Usage};
use super::table::{UsageEntry, UsageTable};
use std::cmp::Ordering;
use tracemill_trace::order::LoserTree;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Lease;
use tracemill_trace::spill::{DiskRuns, Record, RunFile};

pub(super) struct Ledger {
    table: UsageTable,
    lease: Lease,
    file: RunFile,
}

record! {
    /// An entry on disk, without its key.
    #[derive(Clone, Copy)]
    struct StoredEntry {
        hash: u64,
        events: u64,
        bytes: u64,
        time_ns: u64,
        self_ns: u64,
        key_len: u64,
    }
}

fn compare(a: &UsageEntry<'_>, b: &UsageEntry<'_>) -> Ordering {
    a.hash.cmp(&b.hash).then_with(|| a.key.cmp(b.key))
}

fn encode(entry: &UsageEntry<'_>) -> [u8; StoredEntry::BYTES] {
    let Usage { events, bytes, time_ns, self_ns } = entry.usage;
    let (hash, key_len) = (entry.hash, entry.key.len() as u64);
    let mut head = [0; StoredEntry::BYTES];
    StoredEntry { hash, events, bytes, time_ns, self_ns, key_len }.encode(&mut head);
    head
}

fn decode(mut run: &[u8]) -> impl Iterator<Item = UsageEntry<'_>> {
    std::iter::from_fn(move || {
        let (head, rest) = run.split_at_checked(StoredEntry::BYTES)?;
        let StoredEntry { hash, events, bytes, time_ns, self_ns, key_len } =
            StoredEntry::decode(head);
        let usage = Usage { events, bytes, time_ns, self_ns };
        let (key, rest) = rest.split_at_checked(key_len as usize)?;
        run = rest;
        Some(UsageEntry { hash, key, usage })
    })
}

impl Ledger {
    pub(super) fn new(lease: Lease) -> Self {
        Ledger { table: UsageTable::default(), file: RunFile::new(lease.tmp_dir()), lease }
    }

    pub(super) fn append(&mut self, later: &UsageTable) -> Result<(), Error> {
        self.table.append(later);
        self.spill_if_full()
    }

    pub(super) fn add(&mut self, hash: u64, key: &[u8], usage: &Usage) -> Result<(), Error> {
        let row = self.table.hashed_row(hash, key);
        self.table.add(row, usage);
        self.spill_if_full()
    }

    fn spill_if_full(&mut self) -> Result<(), Error> {
        if self.table.heap() > self.lease.bytes() { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<(), Error> {
        for row in sorted(&self.table) {
            let entry = self.table.entry(row);
            self.file.write(&encode(&entry))?;
            self.file.write(entry.key)?;
        }
        self.file.end_run();
        self.table.clear();
        Ok(())
    }

    /// Ends counting, and sorts the table.
    pub(super) fn finish(self) -> Result<Totals, Error> {
        let rows = sorted(&self.table);
        Ok(Totals { table: self.table, rows, runs: self.file.finish()? })
    }
}

fn sorted(table: &UsageTable) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..table.len()).collect();
    rows.sort_unstable_by(|&a, &b| compare(&table.entry(a), &table.entry(b)));
    rows
}

pub(super) struct Totals {
    table: UsageTable,
    rows: Vec<usize>,
    runs: DiskRuns,
}

impl Totals {
    /// Returns each key once with its totals, ordered by hash and key.
    pub(super) fn iter(&self) -> impl Iterator<Item = UsageEntry<'_>> {
        let memory = self.rows.iter().map(|&row| self.table.entry(row));
        let mut runs: Vec<Box<dyn Iterator<Item = UsageEntry<'_>> + '_>> = vec![Box::new(memory)];
        runs.extend(
            self.runs.iter().map(|run| Box::new(decode(run)) as Box<dyn Iterator<Item = _>>),
        );
        let mut tree = LoserTree::new(runs.iter_mut().map(Iterator::next).collect(), &compare);
        std::iter::from_fn(move || {
            let (_, mut entry) = tree.winner()?;
            entry.usage = Usage::default();
            while let Some((run, next)) = tree.winner()
                && compare(&next, &entry).is_eq()
            {
                entry.usage.add(&next.usage);
                tree.replace(runs[run].next(), &compare);
            }
            Some(entry)
        })
    }
}

pub(super) struct TopEntries {
    rows: usize,
    distinct: u64,
    by_bytes: Vec<TopRow>,
    by_time: Vec<TopRow>,
    by_self: Vec<TopRow>,
}

type Measure = fn(&Usage) -> u64;

impl TopEntries {
    const BYTES: Measure = |usage| usage.bytes;
    const TIME: Measure = |usage| usage.time_ns;
    const SELF: Measure = |usage| usage.self_ns;

    pub(super) fn new(rows: usize) -> Self {
        let (by_bytes, by_time, by_self) = (Vec::new(), Vec::new(), Vec::new());
        TopEntries { rows, distinct: 0, by_bytes, by_time, by_self }
    }

    /// Adds a key with its total counts; each key may be added only once.
    pub(super) fn note(&mut self, key: &[u8], usage: &Usage, name: fn(&[u8]) -> Option<String>) {
        self.distinct += 1;
        let lists = [
            (&mut self.by_bytes, Self::BYTES),
            (&mut self.by_time, Self::TIME),
            (&mut self.by_self, Self::SELF),
        ];
        for (list, measure) in lists {
            // most keys are far from the top; skip converting them to text
            let least = list.get(self.rows.wrapping_sub(1)).map_or(1, |last| measure(&last.usage));
            if self.rows > 0 && measure(usage) >= least.max(1) {
                note(list, self.rows, measure, TopRow { name: name(key), usage: *usage });
            }
        }
    }

    pub(super) fn finish(self) -> TopList {
        let TopEntries { distinct, by_bytes, by_time, by_self, .. } = self;
        TopList { distinct, by_bytes, by_time, by_self }
    }
}

fn note(list: &mut Vec<TopRow>, most: usize, measure: Measure, row: TopRow) {
    let is_before = |top_row: &TopRow| {
        let by_size = measure(&row.usage).cmp(&measure(&top_row.usage));
        by_size.then_with(|| top_row.name.cmp(&row.name)).is_le()
    };
    let at = list.partition_point(is_before);
    if at < most {
        list.truncate(most - 1);
        list.insert(at, row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::Rng;

    #[test]
    fn spilling_does_not_change_the_sums() {
        let mut rng = Rng::new(5);
        let keys: Vec<(Vec<u8>, Usage)> = (0..3000)
            .map(|_| {
                let key = rng.below(700).to_string().into_bytes();
                let usage =
                    Usage { events: 1, bytes: rng.below(90), time_ns: rng.below(9), self_ns: 1 };
                (key, usage)
            })
            .collect();
        let totals = |limit: u64| {
            let mut ledger = Ledger::new(Lease::alone(limit, std::env::temp_dir()));
            for (key, usage) in &keys {
                ledger.add(crate::info::table::hash(key), key, usage).expect("room on disk");
            }
            let totals = ledger.finish().expect("room on disk");
            totals.iter().map(|entry| (entry.key.to_vec(), entry.usage)).collect::<Vec<_>>()
        };
        let ample = totals(u64::MAX);
        assert!(
            ample.len() > 600 && ample.iter().map(|(_, usage)| usage.events).sum::<u64>() == 3000
        );
        for limit in [0, 1000, 20_000] {
            assert_eq!(totals(limit), ample, "{limit}");
        }
    }

    #[test]
    fn top_lists_keep_the_largest_rows() {
        let mut tops = TopEntries::new(2);
        for (name, bytes) in [("c", 5), ("a", 5), ("b", 7), ("d", 1), ("e", 0)] {
            let usage = Usage { bytes, ..Usage::default() };
            tops.note(name.as_bytes(), &usage, |key| Some(String::from_utf8_lossy(key).into()));
        }
        let list = tops.finish();
        let names: Vec<_> = list.by_bytes.iter().filter_map(|row| row.name.as_deref()).collect();
        assert_eq!((list.distinct, names, list.by_time.len()), (5, vec!["b", "a"], 0));
    }
}
