//! Stores decoded chunks of an input range in shared columns, so that a chunk costs no allocation.
//!
//! ```text
//!   samples  3 2 3 3 1 2 │ 1 1 1 4 │ 2 …
//!   deltas   108 166 …   │ 137 …   │ …
//!   marks                ^         ^           where each chunk ends, in every column
//! ```
//!
//! Numbers take four bytes. A chunk with larger numbers or with flaws is not stored; it is decoded
//! again instead. Chunks are in input order and found by the offset of their event.

use crate::chunk::source::ProfileSource;
use crate::chunk::{Chunk, Extra, NO_ID, Node, TraceId};
use std::ops::Range;
use tracemill_trace::run::flaws::Flaws;

/// A borrowed view of the columns of a decoded chunk; see [`Chunk`] for the fields.
///
/// [`Chunk::view`] and [`DecodedChunks::get`] return it.
#[derive(Clone, Copy)]
pub struct ChunkRef<'c> {
    /// New nodes of the call tree.
    pub nodes: &'c [Node],
    /// Ids of the children of all nodes that list them.
    pub children: &'c [u64],
    /// Node ids, one per sample.
    pub samples: &'c [u64],
    /// Time steps in nanoseconds.
    pub deltas: &'c [i64],
    /// The steps that are finer than a nanosecond: index in `deltas` (ascending) and microseconds.
    pub finer: &'c [(u32, f64)],
    /// Lines of samples.
    pub lines: Option<&'c [i64]>,
    /// Columns of samples.
    pub columns: Option<&'c [i64]>,
    /// Entries of `trace_ids`: ids that programs gave to samples.
    pub trace_ids: &'c [TraceId],
    /// Unknown keys, which are kept.
    pub extras: &'c [Extra],
    /// Text built while decoding.
    pub decoded_text: &'c [u8],
    /// Start of the recording, in nanoseconds.
    pub start: Option<i64>,
    /// End of the recording, in nanoseconds.
    pub end: Option<i64>,
    /// API that recorded the profile, if known.
    pub source: Option<ProfileSource>,
    /// Defects by kind.
    pub flaws: &'c Flaws,
}

impl Chunk {
    /// Returns a view of the columns, without copying.
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

/// Marks a missing id in four bytes, like [`NO_ID`].
const NO_SAMPLE: u32 = u32::MAX;

/// Converts numbers to four bytes each and appends them. Returns false and appends nothing if a
/// number does not fit.
///
/// Makes two passes, so that the compiler can vectorize each pass.
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

/// The ends of a chunk in all columns, and the chunk's values that have no column.
struct ChunkEnd {
    nodes: u32,
    children: u32,
    samples: u32,
    deltas: u32,
    /// For lines and for columns: whether the chunk has such values, and their end in the column.
    positions: [(bool, u32); 2],
    trace_ids: u32,
    extras: u32,
    decoded_text: u32,
    start: Option<i64>,
    end: Option<i64>,
    source: Option<ProfileSource>,
}

/// Decoded chunks of an input range, found by the offsets of their events.
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
    /// Node ids; [`NO_SAMPLE`] for a sample without a node.
    samples: Vec<u32>,
    deltas: Vec<i32>,
    positions: [Vec<i32>; 2],
    trace_ids: Vec<TraceId>,
    extras: Vec<Extra>,
    decoded_text: Vec<u8>,
    marks: Vec<ChunkEnd>,
    offsets: Vec<u64>,
}

impl DecodedChunks {
    /// Returns whether there is room for another chunk: columns beyond 1 GiB could exceed the 32
    /// bits of a mark.
    pub fn has_room(&self) -> bool {
        self.heap() < 1 << 30
    }

    /// Returns whether no chunk is stored.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Copies a chunk, unless the chunk has flaws or numbers of more than four bytes.
    ///
    /// `offset` is the offset of the event, greater than all earlier offsets.
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

    /// Appends the columns of numbers; returns false if a number needs more than four bytes.
    ///
    /// In that case, some columns may already be appended.
    fn push_numbers(&mut self, chunk: &Chunk) -> bool {
        // `NO_ID` becomes `NO_SAMPLE`
        let is_id = |id: u64| id < u64::from(NO_SAMPLE) || id == NO_ID;
        let is_small = |number: i64| i64::from(number as i32) == number;
        let small = |number: i64| number as i32;
        let [lines, columns] = &mut self.positions;
        narrow(&chunk.samples, &mut self.samples, is_id, |id| id as u32)
            && narrow(&chunk.deltas, &mut self.deltas, is_small, small)
            && narrow(chunk.lines.as_deref().unwrap_or_default(), lines, is_small, small)
            && narrow(chunk.columns.as_deref().unwrap_or_default(), columns, is_small, small)
    }

    /// Returns whether the first chunk begins at or before `offset`.
    pub fn begins_before(&self, offset: u64) -> bool {
        self.offsets.first().is_some_and(|&first| first <= offset)
    }

    /// Returns the index of the chunk whose event is at `offset`, or `None` if that chunk was not
    /// stored.
    ///
    /// `likely` is a guess, at or a little before the result. Cost: an exponential search from the
    /// guess, or from the start if the guess is too great.
    pub fn number_of(&self, offset: u64, likely: usize) -> Option<usize> {
        let (mut from, mut step) = (likely, 1);
        if self.offsets.get(from).is_none_or(|&start| start > offset) {
            from = 0;
        }
        while self.offsets.get(from + step).is_some_and(|&start| start <= offset) {
            from += step;
            step *= 2;
        }
        let to = self.offsets.len().min(from + step);
        let found = self.offsets.get(from..to)?.binary_search(&offset);
        found.ok().map(|at| from + at)
    }

    /// Returns the chunk at an index; widens the numbers into `scratch`, which is overwritten.
    ///
    /// [`ChunkRef::finer`] is empty, since a chunk with finer times has flaws and is not stored.
    ///
    /// # Panics
    /// Panics if there is no such chunk; [`DecodedChunks::number_of`] returns valid indices.
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

    /// Returns the bytes of heap, including unused capacity.
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

    #[test]
    fn stored_chunks_equal_decoded_ones() {
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
            let (expected, view) = (chunk.view(), kept.get(number, &mut scratch));
            assert_eq!(format!("{:?}", expected.nodes), format!("{:?}", view.nodes));
            assert_eq!((expected.children, expected.samples), (view.children, view.samples));
            assert_eq!(
                (expected.deltas, expected.lines, expected.columns),
                (view.deltas, view.lines, view.columns)
            );
            let odds = |view: ChunkRef<'_>| format!("{:?} {:?}", view.trace_ids, view.extras);
            assert_eq!(odds(expected), odds(view));
            assert_eq!(
                (expected.decoded_text, expected.start, expected.end),
                (view.decoded_text, view.start, view.end)
            );
            assert_eq!(expected.source, view.source);
            assert!(view.flaws.is_empty());
        }
        assert_eq!(flawed, 1);
        assert!(kept.heap() > 0);
    }
}
