//! Decoded chunks of a stretch of an input, in columns side by side, so that a chunk costs no allocation.
//!
//! ```text
//!   samples  3 2 3 3 1 2 │ 1 1 1 4 │ 2 …
//!   deltas   108 166 …   │ 137 …   │ …
//!   marks                ^         ^           where each chunk ends, in every column
//! ```
//!
//! Numbers take four bytes here, since memory that was never used before is what keeping costs: a chunk with numbers that
//! do not fit is not kept, but decoded again. So is one with flaws, whose list of them is long. A chunk is found again by
//! the place of its event: they are kept in the order of the input.
//!
//! Measured: with a box and a list a column for each chunk, making and freeing them took a tenth of `profile extract`.

use crate::chunk::source::ProfileSource;
use crate::chunk::{Chunk, Extra, NO_ID, Node, TraceId};
use std::ops::Range;
use tracemill_trace::run::flaws::Flaws;

/// A piece of a profile, wherever its columns stand. See [`Chunk`] for what they are: [`Chunk::view`] makes one of it, and
/// [`DecodedChunks::get`] one of what was kept.
#[derive(Clone, Copy)]
pub struct ChunkRef<'c> {
    /// New nodes of the call tree.
    pub nodes: &'c [Node],
    /// Ids of children, of all nodes that list them.
    pub children: &'c [u64],
    /// Ids of nodes, one a sample.
    pub samples: &'c [u64],
    /// Nanoseconds between samples.
    pub deltas: &'c [i64],
    /// Which of these are written finer than that, ascending, and what they are in microseconds.
    pub finer: &'c [(u32, f64)],
    /// Lines of samples.
    pub lines: Option<&'c [i64]>,
    /// Columns of samples.
    pub columns: Option<&'c [i64]>,
    /// Ids of samples that programs name.
    pub trace_ids: &'c [TraceId],
    /// Members that mean nothing to us.
    pub extras: &'c [Extra],
    /// Text that is not in the input as it is meant.
    pub decoded_text: &'c [u8],
    /// Start of the recording, in nanoseconds.
    pub start: Option<i64>,
    /// End of the recording, in nanoseconds.
    pub end: Option<i64>,
    /// What made it.
    pub source: Option<ProfileSource>,
    /// What is wrong with it.
    pub flaws: &'c Flaws,
}

impl Chunk {
    /// The chunk as its columns stand. Cost: none, nothing is copied.
    pub fn view(&self) -> ChunkRef<'_> {
        ChunkRef {
            nodes: &self.nodes,
            children: &self.children,
            samples: &self.samples,
            deltas: &self.deltas,
            finer: &self.finer,
            lines: self.lines.as_deref(),
            columns: self.columns.as_deref(),
            trace_ids: &self.trace_ids,
            extras: &self.extras,
            decoded_text: &self.decoded_text,
            start: self.start,
            end: self.end,
            source: self.source,
            flaws: &self.flaws,
        }
    }
}

/// No sample, in four bytes.
const NO_SAMPLE: u32 = u32::MAX;

/// Appends numbers in four bytes each; false, and none appended, if one does not fit. In two passes that a compiler can
/// make vectors of.
fn narrow<W: Copy, N>(
    from: &[W],
    to: &mut Vec<N>,
    fits: impl Fn(W) -> bool,
    cut: impl Fn(W) -> N,
) -> bool {
    let all = from.iter().fold(true, |all, &wide| all & fits(wide));
    if all {
        to.extend(from.iter().map(|&wide| cut(wide)));
    }
    all
}

/// Where a chunk ends in each column, and what of it needs no column.
struct ChunkEnd {
    nodes: u32,
    children: u32,
    samples: u32,
    deltas: u32,
    /// Lines and columns, if it has them at all.
    positions: [(bool, u32); 2],
    trace_ids: u32,
    extras: u32,
    decoded_text: u32,
    start: Option<i64>,
    end: Option<i64>,
    source: Option<ProfileSource>,
}

/// Chunks of a stretch of an input, by the places of their events.
///
/// ```
/// use tracemill_cpuprofile::{Chunk, DecodedChunks};
///
/// let mut chunk = Chunk::default();
/// let mut kept = DecodedChunks::default();
/// for (offset, samples) in [(100, &[3, 2, 3][..]), (250, &[1, u64::from(u32::MAX) + 1][..]), (400, &[1][..])] {
///     chunk.clear();
///     chunk.samples.extend_from_slice(samples);
///     kept.push(&chunk, offset);
/// }
/// assert_eq!((kept.number_of(100, 0), kept.number_of(400, 0)), (Some(0), Some(1)));
/// assert_eq!(kept.number_of(250, 0), None); // an id of more than four bytes: this chunk is to be decoded again
/// assert_eq!(kept.get(0, &mut chunk).samples, [3, 2, 3]);
/// ```
#[derive(Default)]
pub struct DecodedChunks {
    nodes: Vec<Node>,
    children: Vec<u64>,
    /// [`NO_SAMPLE`] where there is none.
    samples: Vec<u32>,
    /// Nanoseconds.
    deltas: Vec<i32>,
    /// Lines and columns of chunks that have them.
    positions: [Vec<i32>; 2],
    trace_ids: Vec<TraceId>,
    extras: Vec<Extra>,
    decoded_text: Vec<u8>,
    /// One a chunk.
    marks: Vec<ChunkEnd>,
    /// Where the events of the chunks begin, ascending.
    offsets: Vec<u64>,
}

impl DecodedChunks {
    /// Whether there is room for more: beyond 1 GiB, columns might hold more numbers than a mark can tell.
    pub fn has_room(&self) -> bool {
        self.heap() < 1 << 30
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Keeps a copy of a chunk, of the event at `offset`, which is behind all others; unless it has flaws, or numbers of more than four
    /// bytes.
    pub fn push(&mut self, chunk: &Chunk, offset: u64) {
        if !chunk.flaws.is_empty() {
            return;
        }
        let ends = [self.samples.len(), self.deltas.len()];
        let positions_end = self.positions.each_ref().map(Vec::len);
        if !self.push_numbers(chunk) {
            self.samples.truncate(ends[0]);
            self.deltas.truncate(ends[1]);
            for (positions, end) in self.positions.iter_mut().zip(positions_end) {
                positions.truncate(end);
            }
            return;
        }
        self.offsets.push(offset);
        self.nodes.extend_from_slice(&chunk.nodes);
        self.children.extend_from_slice(&chunk.children);
        self.trace_ids.extend_from_slice(&chunk.trace_ids);
        self.extras.extend_from_slice(&chunk.extras);
        self.decoded_text.extend_from_slice(&chunk.decoded_text);
        let [lines, columns] = self.positions.each_ref().map(|all| all.len() as u32);
        self.marks.push(ChunkEnd {
            nodes: self.nodes.len() as u32,
            children: self.children.len() as u32,
            samples: self.samples.len() as u32,
            deltas: self.deltas.len() as u32,
            positions: [(chunk.lines.is_some(), lines), (chunk.columns.is_some(), columns)],
            trace_ids: self.trace_ids.len() as u32,
            extras: self.extras.len() as u32,
            decoded_text: self.decoded_text.len() as u32,
            start: chunk.start,
            end: chunk.end,
            source: chunk.source,
        });
    }

    /// Adds the columns of numbers; false if one of them does not fit, and then some may have been added.
    fn push_numbers(&mut self, chunk: &Chunk) -> bool {
        // no id at all becomes no sample
        let is_id = |id: u64| id < u64::from(NO_SAMPLE) || id == NO_ID;
        let is_small = |number: i64| i64::from(number as i32) == number;
        let small = |number: i64| number as i32;
        let [lines, columns] = &mut self.positions;
        narrow(&chunk.samples, &mut self.samples, is_id, |id| id as u32)
            && narrow(&chunk.deltas, &mut self.deltas, is_small, small)
            && narrow(chunk.lines.as_deref().unwrap_or_default(), lines, is_small, small)
            && narrow(chunk.columns.as_deref().unwrap_or_default(), columns, is_small, small)
    }

    /// Whether a chunk of an event at `offset` would be behind the first.
    pub fn begins_before(&self, offset: u64) -> bool {
        self.offsets.first().is_some_and(|&first| first <= offset)
    }

    /// The number of the chunk of the event at `offset`, which is probably `likely` or a little behind it; `None` if it was not kept.
    ///
    /// Cost: a search that doubles its steps, so the logarithm of how far `likely` is off; of all chunks if it is too great.
    pub fn number_of(&self, offset: u64, likely: usize) -> Option<usize> {
        let (mut from, mut step) = (likely, 1);
        if self.offsets.get(from).is_none_or(|&own| own > offset) {
            from = 0;
        }
        while self.offsets.get(from + step).is_some_and(|&own| own <= offset) {
            from += step;
            step *= 2;
        }
        let to = self.offsets.len().min(from + step);
        let found = self.offsets.get(from..to)?.binary_search(&offset);
        found.ok().map(|at| from + at)
    }

    /// The chunk of this number; its numbers are unfolded into `scratch`, which loses what it had. It is without
    /// [`ChunkRef::finer`]: a chunk with finer times has flaws, and is not kept.
    ///
    /// # Panics
    /// If there is no such chunk: ask [`DecodedChunks::number_of`].
    pub fn get<'c>(&'c self, number: usize, scratch: &'c mut Chunk) -> ChunkRef<'c> {
        let mark = &self.marks[number];
        let before = number.checked_sub(1).map(|before| &self.marks[before]);
        let range = |end: fn(&ChunkEnd) -> u32| -> Range<usize> {
            before.map_or(0, end) as usize..end(mark) as usize
        };
        scratch.clear();
        let samples = &self.samples[range(|mark| mark.samples)];
        let wide = |&id| if id == NO_SAMPLE { NO_ID } else { u64::from(id) };
        scratch.samples.extend(samples.iter().map(wide));
        let deltas = &self.deltas[range(|mark| mark.deltas)];
        scratch.deltas.extend(deltas.iter().map(|&delta| i64::from(delta)));
        let lines = &self.positions[0][range(|mark| mark.positions[0].1)];
        let columns = &self.positions[1][range(|mark| mark.positions[1].1)];
        let wide = |numbers: &[i32]| numbers.iter().map(|&number| i64::from(number)).collect();
        scratch.lines = mark.positions[0].0.then(|| wide(lines));
        scratch.columns = mark.positions[1].0.then(|| wide(columns));
        ChunkRef {
            nodes: &self.nodes[range(|mark| mark.nodes)],
            children: &self.children[range(|mark| mark.children)],
            trace_ids: &self.trace_ids[range(|mark| mark.trace_ids)],
            extras: &self.extras[range(|mark| mark.extras)],
            decoded_text: &self.decoded_text[range(|mark| mark.decoded_text)],
            start: mark.start,
            end: mark.end,
            source: mark.source,
            ..scratch.view()
        }
    }

    /// Bytes of heap, with what is reserved for more.
    pub fn heap(&self) -> usize {
        let [lines, columns] = &self.positions;
        let fours = self.samples.capacity()
            + self.deltas.capacity()
            + lines.capacity()
            + columns.capacity();
        fours * 4
            + self.children.capacity() * 8
            + self.nodes.capacity() * size_of::<Node>()
            + self.trace_ids.capacity() * size_of::<TraceId>()
            + self.extras.capacity() * size_of::<Extra>()
            + self.decoded_text.capacity()
            + self.marks.capacity() * size_of::<ChunkEnd>()
            + self.offsets.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(args: &str) -> Chunk {
        let mut chunk = Chunk::default();
        chunk.read_args(args.as_bytes(), 1000);
        chunk
    }

    /// Every column, with and without each, comes back as it was.
    #[test]
    fn chunks_come_back_as_they_were() {
        let texts = [
            r#"{"data":{"cpuProfile":{"nodes":[{"id":1,"children":[2,3]},{"id":2}],"samples":[1,2]},"timeDeltas":[5,6]}}"#,
            r#"{}"#,
            r#"{"data":{"lines":[],"endTime":7}}"#,
            r#"{"data":{"cpuProfile":{"samples":[2],"trace_ids":{"a":1}},"timeDeltas":[-1],"lines":[4],"columns":[5],"odd":{}}}"#,
            r#"{"data":{"cpuProfile":{"nodes":[{"x":1}],"samples":[NaN]},"startTime":12,"source":"Internal"}}"#,
            r#"{"head":{"functionName":"f","id":1,"children":[{"functionName":"g","id":2,"children":[]}]},"samples":[1]}"#,
        ];
        let chunks: Vec<Chunk> = texts.map(decoded).into();
        let mut kept = DecodedChunks::default();
        let too_large = [
            r#"{"data":{"cpuProfile":{"samples":[1,4294967295]},"timeDeltas":[1]}}"#,
            r#"{"data":{"cpuProfile":{"samples":[1]},"timeDeltas":[1,2147484]}}"#,
            r#"{"data":{"cpuProfile":{"samples":[1]},"timeDeltas":[1],"lines":[1,-2147483649]}}"#,
            r#"{"data":{"cpuProfile":{"samples":[1]},"timeDeltas":[1],"columns":[2147483648]}}"#,
        ];
        for (number, (chunk, large)) in chunks.iter().zip(too_large.iter().cycle()).enumerate() {
            kept.push(&decoded(large), 10 * number as u64);
            kept.push(chunk, 10 * number as u64 + 5);
        }
        let mut scratch = Chunk::default();
        let mut flawed = 0;
        for (number, chunk) in chunks.iter().enumerate() {
            let offset = 10 * number as u64;
            for likely in 0..chunks.len() {
                assert_eq!(kept.number_of(offset, likely), None);
            }
            if !chunk.flaws.is_empty() {
                assert_eq!(kept.number_of(offset + 5, 0), None);
                flawed += 1;
                continue;
            }
            let found = |likely| kept.number_of(offset + 5, likely);
            assert!((0..9).all(|likely| found(likely) == Some(number - flawed)));
            let number = number - flawed;
            let (own, view) = (chunk.view(), kept.get(number, &mut scratch));
            assert_eq!(format!("{:?}", own.nodes), format!("{:?}", view.nodes));
            assert_eq!((own.children, own.samples), (view.children, view.samples));
            assert_eq!(
                (own.deltas, own.lines, own.columns),
                (view.deltas, view.lines, view.columns)
            );
            let odds = |view: ChunkRef<'_>| format!("{:?} {:?}", view.trace_ids, view.extras);
            assert_eq!(odds(own), odds(view));
            assert_eq!(
                (own.decoded_text, own.start, own.end),
                (view.decoded_text, view.start, view.end)
            );
            assert_eq!(own.source, view.source);
            assert!(view.flaws.is_empty());
        }
        assert_eq!(flawed, 1);
        assert!(kept.heap() > 0);
    }
}
