//! Merges the tables of several threads.

use crate::query::rows::{Least, TreeRow};
use crate::query::{RowKey, RowLimit, Shape};
use crate::table::ordered::Table;
use crate::table::tree_rows::{RowRoom, RowWriter, TreeRows};
use crate::tree::{By, Key, Rows, added};
use crate::value::space::Space;
use tracemill_trace::event::hash_texts;
use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashSet;
use tracemill_trace::spill::{SpillArray, SpillIndex};

/// A table and its threads.
#[derive(Clone, Debug)]
pub struct Part {
    /// Indices of the threads in the trace.
    pub threads: Vec<usize>,
    /// The table.
    pub table: Table,
    /// Number of calls that are computed from samples. This and all later counts cover the time
    /// from the first window to the last, or the bounds of the trace.
    pub calls: u64,
    /// Number of calls that DevTools omits because they are on its ignore list together with their
    /// callers.
    pub listed: u64,
    /// Number of calls that this table omits because they are on an ignore list together with their
    /// callers.
    pub ignored: u64,
    /// Number of entries that the stored view hides, if the table follows that view.
    pub hidden: u64,
    /// Number of entries dropped because they overlap their parent.
    pub dropped: u64,
    /// Number of samples.
    pub samples: u64,
}

impl Part {
    /// Returns the busy time of all threads of the part, in milliseconds.
    pub fn busy(&self) -> f64 {
        self.table.busy()
    }

    /// Adds all numbers of another part except those of its rows.
    fn add(&mut self, part: Part) {
        self.threads.extend(part.threads);
        self.table.own += part.table.own;
        self.table.total += part.table.total;
        self.table.idle += part.table.idle;
        self.calls += part.calls;
        self.listed += part.listed;
        self.ignored += part.ignored;
        self.hidden += part.hidden;
        self.dropped += part.dropped;
        self.samples += part.samples;
    }
}

/// Options for merging tables.
pub(crate) struct Union<'u> {
    pub(crate) shape: Shape,
    /// Properties that calls of one row have in common.
    pub(crate) key: Option<RowKey>,
    /// Number of upper levels from which rows without self time and bytes are omitted, together
    /// with their descendants.
    pub(crate) full_levels: u32,
    pub(crate) limit: RowLimit,
    /// Memory for lists of rows during the merge.
    pub(crate) space: &'u Space,
    /// Memory for the merged table, and the clock that converts its times to milliseconds.
    pub(crate) room: &'u RowRoom,
}

impl Union<'_> {
    /// Merges several tables whose spill file is complete. Returns `None` if there are no tables.
    pub(crate) fn of(&self, mut parts: Vec<Part>) -> Result<Option<Part>, Error> {
        let take = |part: &mut Part| std::mem::take(&mut part.table.rows);
        let mut tables: Vec<TreeRows> = parts.iter_mut().map(take).collect();
        let mut parts = parts.into_iter();
        let Some(mut first) = parts.next() else { return Ok(None) };
        parts.for_each(|part| first.add(part));
        let (table, clock) = (&mut first.table, self.room.clock);
        table.window = clock.window(table.window);
        (table.own, table.total) = (clock.ms(table.own), clock.ms(table.total));
        table.idle = clock.ms(table.idle);
        let mut left = Left {
            union: self,
            gone: None,
            hidden: None,
            least: Least::of(self.limit, table.busy()),
            written: 0,
            more: 0,
            rows: self.room.writer(),
        };
        match self.key {
            _ if self.shape == Shape::Log => by_start(&mut tables, self.space, &mut left)?,
            None if tables.len() == 1 => {
                tables[0].drain().try_for_each(|row| left.push(row))?;
            }
            key => self.merge(&mut tables, key.unwrap_or(RowKey::Place), &mut left)?,
        }
        let small = left.least.small;
        table.small = (table.small.0 + small.0, table.small.1 + small.1);
        table.more += left.more;
        table.rows = left.rows.finish()?;
        Ok(Some(first))
    }

    /// Adds the times of rows with the same path. The merged row has the text of the first row.
    fn merge(
        &self,
        tables: &mut [TreeRows],
        key: RowKey,
        left: &mut Left<'_>,
    ) -> Result<(), Error> {
        let mut all: Rows<Source> = Rows::new(self.space);
        let mut numbers = Numbers::new(self.space);
        let mut idle = HashSet::default();
        for (table, rows) in (0..).zip(&*tables) {
            let mut path: Vec<u32> = vec![0];
            for (number, row) in (0..).zip(rows) {
                path.truncate(row.depth as usize + 1);
                let parent = path[path.len() - 1];
                let row_key = Key::of(numbers.of(&row, key)?);
                let (at, is_new) = all.row(parent, row_key, Source { table, row: number });
                path.push(at);
                if row.is_idle() {
                    idle.insert(at);
                }
                all.update(at, |sum| match is_new {
                    true => {
                        (sum.own, sum.total, sum.bytes) = (row.own, row.total, row.bytes);
                        (sum.count, sum.expandable) = (row.count, row.expandable);
                        sum.cpu = row.cpu;
                    }
                    false => {
                        sum.own += row.own;
                        sum.total += row.total;
                        sum.cpu = added(sum.cpu, row.cpu);
                        sum.bytes += row.bytes;
                        sum.count += row.count;
                        sum.expandable |= row.expandable;
                    }
                });
            }
        }
        all.check()?;
        let by = if self.shape == Shape::CallTree { By::Total } else { By::Own };
        let sorted = |row: u32| {
            let mut children = all.sorted(row, by);
            children.sort_by_key(|child| idle.contains(child));
            children
        };
        for (at, depth) in all.depth_first_as(sorted, usize::MAX, true, |_| true) {
            let sum = all.get(at);
            let Source { table, row } = sum.entry;
            let Some(mut row) = tables[table as usize].take(row as usize) else { continue };
            if key == RowKey::Url && !row.location.url.is_empty() {
                row.label = Some(row.location.url.clone());
                (row.location.line, row.location.column) = (None, None);
            }
            (row.own, row.total, row.bytes) = (sum.own, sum.total, sum.bytes);
            row.cpu = sum.cpu;
            (row.depth, row.count, row.expandable) = (depth, sum.count, sum.expandable);
            left.push(row)?;
        }
        Ok(())
    }
}

/// A writer that omits rows by the rules of the merge.
struct Left<'u> {
    union: &'u Union<'u>,
    /// Depth of the last row omitted for lack of time. Its descendants are omitted too.
    gone: Option<u32>,
    /// Depth of the last row below the minimum time. Its descendants are omitted too.
    hidden: Option<u32>,
    least: Least,
    /// Number of rows that are written, and number of rows beyond the limit.
    written: usize,
    more: u64,
    rows: RowWriter<'u>,
}

impl Left<'_> {
    fn push(&mut self, mut row: TreeRow) -> Result<(), Error> {
        let Union { full_levels, limit, room, .. } = *self.union;
        self.gone = self.gone.filter(|depth| row.depth > *depth);
        // A row without any time has only events without a duration.
        let tells_nothing = row.own <= 0.0 && row.bytes <= 0.0;
        let has_time = row.is_group || row.own != 0.0 || row.total != 0.0;
        if self.gone.is_none() && row.depth < full_levels && tells_nothing && has_time {
            self.gone = Some(row.depth);
        }
        self.hidden = self.hidden.filter(|depth| row.depth > *depth);
        if self.gone.or(self.hidden).is_some() || row.depth as usize >= limit.depth {
            return Ok(());
        }
        (row.own, row.total) = (room.clock.ms(row.own), room.clock.ms(row.total));
        if !self.least.takes(row.own, row.total) {
            self.hidden = Some(row.depth);
            return Ok(());
        }
        if self.written == limit.rows {
            self.more += 1;
            return Ok(());
        }
        self.written += 1;
        self.rows.push(row)
    }
}

record! {
    /// The number of a table, and the number of a row in that table.
    #[derive(Clone, Copy, Debug, Default)]
    struct Source {
        table: u32,
        row: u32,
    }
}

/// Numbers the keys of rows, so that a number identifies a row below its parent.
struct Numbers {
    /// Hashes of the keys, 128 bits each. There may be as many keys as rows.
    all: SpillArray<(u64, u64)>,
    index: SpillIndex,
}

impl Numbers {
    fn new(space: &Space) -> Self {
        Numbers { all: space.array(4), index: space.index(4) }
    }

    fn of(&mut self, row: &TreeRow, key: RowKey) -> Result<u32, Error> {
        let [first, second] = matched(row, key);
        let is_it = |number: u32| self.all.get(number as usize) == Some((first, second));
        if let Some(known) = self.index.find(first, is_it) {
            return Ok(known);
        }
        let number = self.all.len() as u32;
        self.all.push((first, second))?;
        self.index.insert(first, number)?;
        Ok(number)
    }
}

/// Returns a hash of the properties that rows must share to be merged.
fn matched(row: &TreeRow, key: RowKey) -> [u64; 2] {
    let place = &row.location;
    let function = row.label.as_deref().unwrap_or_default();
    let is_call = !place.url.is_empty() || row.id.starts_with("f:");
    let [text, url] = match key {
        RowKey::Function if is_call => [function, ""],
        RowKey::Url if !place.url.is_empty() => [&*place.url, ""],
        RowKey::Place | RowKey::Line if !place.url.is_empty() => [function, &*place.url],
        _ => [&*row.id, ""],
    };
    let line = place.line.filter(|_| matches!(key, RowKey::Place | RowKey::Line));
    let column = place.column.filter(|_| key == RowKey::Place);
    let [line, column] = [line, column].map(|number| number.map(i64::to_le_bytes));
    let bytes = |number: &'_ Option<[u8; 8]>| number.map_or(0, |_| 8);
    let (line, column) =
        (&line.unwrap_or_default()[..bytes(&line)], &column.unwrap_or_default()[..bytes(&column)]);
    hash_texts([text.as_bytes(), url.as_bytes(), line, column, &[u8::from(row.is_group)]])
}

record! {
    /// A top-level event of a log.
    #[derive(Clone, Copy)]
    struct Started {
        /// Bits that sort like the start.
        start: u64,
        source: Source,
    }
}

impl Keyed for Started {
    type Key = (u64, u32, u32);

    fn key(&self) -> Self::Key {
        (self.start, self.source.table, self.source.row)
    }
}

/// Returns bits that sort like [`f64::total_cmp`].
fn in_total_order(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Returns whether the top-level events of a log are sorted by start.
pub(crate) fn is_by_start(rows: &TreeRows) -> bool {
    let top = rows.iter().filter(|row| row.depth == 0);
    top.map(|row| in_total_order(row.start)).is_sorted()
}

/// Writes top-level events of several threads by start, each with its descendants.
fn by_start(tables: &mut [TreeRows], space: &Space, left: &mut Left<'_>) -> Result<(), Error> {
    let mut sorter = space.sorter(2);
    for (table, rows) in (0..).zip(&*tables) {
        for (number, row) in (0..).zip(rows).filter(|(_, row)| row.depth == 0) {
            let source = Source { table, row: number };
            sorter.push(Started { start: in_total_order(row.start), source })?;
        }
    }
    for Started { source: Source { table, row }, .. } in sorter.finish()?.iter() {
        let rows = tables[table as usize].iter().skip(row as usize).enumerate();
        let subtree = rows.take_while(|(at, row)| *at == 0 || row.depth > 0);
        subtree.map(|(_, row)| row.into_owned()).try_for_each(|row| left.push(row))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::clock::Window;
    use tracemill_trace::run::limits::Limits;

    fn row(depth: u32, id: &str, self_time: f64, total: f64) -> TreeRow {
        TreeRow {
            depth,
            id: id.to_owned(),
            own: self_time,
            total,
            count: 1,
            expandable: true,
            label: Some(id.to_owned()),
            category: "other",
            ..TreeRow::default()
        }
    }

    fn part(thread: usize, rows: Vec<TreeRow>) -> Part {
        let window = Window { from: 0.0, to: 10.0 };
        Part {
            threads: vec![thread],
            table: Table {
                window,
                own: 1.0,
                total: 10.0,
                idle: 0.0,
                rows: rows.into(),
                small: (0, 0.0),
                more: 0,
            },
            calls: 2,
            listed: 1,
            ignored: 2,
            hidden: 3,
            dropped: 0,
            samples: 3,
        }
    }

    fn united(parts: Vec<Part>, shape: Shape, memory: u64) -> Part {
        let limits = Limits::new(1, memory, std::env::temp_dir());
        let (space, room) = (Space::alone(memory), RowRoom::new(&limits));
        let limit = RowLimit::default();
        let union = Union { shape, key: None, full_levels: 0, limit, space: &space, room: &room };
        let one = union.of(parts).expect("room on disk").expect("two parts");
        room.finish().expect("room on disk");
        one
    }

    #[test]
    fn rows_with_the_same_path_are_summed() {
        for memory in [0, 1 << 20] {
            let a =
                part(0, vec![row(0, "a", 1.0, 3.0), row(1, "b", 2.0, 2.0), row(0, "c", 2.5, 2.5)]);
            let b = part(1, vec![row(0, "c", 4.0, 6.0), row(1, "b", 2.0, 2.0)]);
            let one = united(vec![a, b], Shape::CallTree, memory);
            let columns = |r: &TreeRow| (r.depth, r.id.clone(), r.own, r.total, r.count);
            let shown: Vec<_> = one.table.rows.iter().map(|r| columns(&r)).collect();
            let expected = [
                (0, "c".to_owned(), 6.5, 8.5, 2),
                (1, "b".to_owned(), 2.0, 2.0, 1),
                (0, "a".to_owned(), 1.0, 3.0, 1),
                (1, "b".to_owned(), 2.0, 2.0, 1),
            ];
            assert_eq!(shown, expected);
            assert_eq!((one.threads, one.calls, one.table.total), (vec![0, 1], 4, 20.0));
            assert_eq!((one.listed, one.ignored, one.hidden), (2, 4, 6));
        }
    }

    #[test]
    fn merged_logs_are_sorted_by_start() {
        let at = |depth, id: &str, start| TreeRow { start, ..row(depth, id, 1.0, 1.0) };
        for memory in [0, 1 << 20] {
            let a = part(0, vec![at(0, "a", 3.0), at(1, "b", 0.0), at(0, "c", -0.0)]);
            let b = part(1, vec![at(0, "d", 3.0), at(0, "e", 0.0), at(0, "f", f64::NAN)]);
            assert!(!is_by_start(&a.table.rows) && !is_by_start(&b.table.rows));
            let one = united(vec![a, b], Shape::Log, memory);
            assert!(is_by_start(&one.table.rows));
            let ids: String = one.table.rows.iter().map(|row| row.id.clone()).collect();
            assert_eq!(ids, "ceabdf");
        }
    }
}
