//! Decoded chunks of a stretch of an input, in columns side by side, so that a chunk costs no allocation.
//!
//! ```text
//!   samples  3 2 3 3 1 2 │ 1 1 1 4 │ 2 …
//!   deltas   108 166 …   │ 137 …   │ …
//!   marks                ^         ^           where each chunk ends, in every column
//! ```
//!
//! Measured: with a box and a list a column for each chunk, making and freeing them took a tenth of `profile extract`.

use super::chunk::{Chunk, Extra, Node, ProfileSource, TraceId};
use super::flaws::Flaws;
use std::ops::Range;

/// A piece of a profile, wherever its columns stand. See [`Chunk`] for what they are.
#[derive(Clone, Copy)]
pub(crate) struct ChunkRef<'c> {
    pub(crate) nodes: &'c [Node],
    pub(crate) children: &'c [u64],
    pub(crate) samples: &'c [u64],
    pub(crate) deltas: &'c [i64],
    pub(crate) lines: Option<&'c [i64]>,
    pub(crate) columns: Option<&'c [i64]>,
    pub(crate) trace_ids: &'c [TraceId],
    pub(crate) extras: &'c [Extra],
    pub(crate) made: &'c [u8],
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) source: Option<ProfileSource>,
    pub(crate) flaws: &'c Flaws,
}

impl Chunk {
    pub(crate) fn view(&self) -> ChunkRef<'_> {
        ChunkRef {
            nodes: &self.nodes,
            children: &self.children,
            samples: &self.samples,
            deltas: &self.deltas,
            lines: self.lines.as_deref(),
            columns: self.columns.as_deref(),
            trace_ids: &self.trace_ids,
            extras: &self.extras,
            made: &self.made,
            start: self.start,
            end: self.end,
            source: self.source,
            flaws: &self.flaws,
        }
    }
}

/// What a chunk holds, from where it was kept or decoded once more.
pub(crate) enum Decoded<'c> {
    Kept(ChunkRef<'c>),
    Again(Box<Chunk>),
}

impl Decoded<'_> {
    pub(crate) fn view(&self) -> ChunkRef<'_> {
        match self {
            Decoded::Kept(view) => *view,
            Decoded::Again(chunk) => chunk.view(),
        }
    }
}

/// Where a chunk ends in each column, and what of it needs no column.
struct Mark {
    nodes: u32,
    children: u32,
    samples: u32,
    deltas: u32,
    /// Lines and columns, if it has them at all.
    positions: [(bool, u32); 2],
    trace_ids: u32,
    extras: u32,
    made: u32,
    start: Option<i64>,
    end: Option<i64>,
    source: Option<ProfileSource>,
    flaws: Flaws,
}

/// Chunks of a stretch of an input.
#[derive(Default)]
pub(crate) struct Kept {
    nodes: Vec<Node>,
    children: Vec<u64>,
    samples: Vec<u64>,
    deltas: Vec<i64>,
    positions: [Vec<i64>; 2],
    trace_ids: Vec<TraceId>,
    extras: Vec<Extra>,
    made: Vec<u8>,
    marks: Vec<Mark>,
}

impl Kept {
    /// Whether there is room for more: beyond, columns might hold more numbers than a mark can tell.
    pub(crate) fn has_room(&self) -> bool {
        self.heap() < 1 << 30
    }

    /// Keeps a copy of a chunk; returns its number.
    pub(crate) fn push(&mut self, chunk: &Chunk) -> u32 {
        self.nodes.extend_from_slice(&chunk.nodes);
        self.children.extend_from_slice(&chunk.children);
        self.samples.extend_from_slice(&chunk.samples);
        self.deltas.extend_from_slice(&chunk.deltas);
        self.trace_ids.extend_from_slice(&chunk.trace_ids);
        self.extras.extend_from_slice(&chunk.extras);
        self.made.extend_from_slice(&chunk.made);
        let [lines, columns] = &mut self.positions;
        let positions = [(lines, &chunk.lines), (columns, &chunk.columns)].map(|(all, own)| {
            all.extend_from_slice(own.as_deref().unwrap_or_default());
            (own.is_some(), all.len() as u32)
        });
        self.marks.push(Mark {
            nodes: self.nodes.len() as u32,
            children: self.children.len() as u32,
            samples: self.samples.len() as u32,
            deltas: self.deltas.len() as u32,
            positions,
            trace_ids: self.trace_ids.len() as u32,
            extras: self.extras.len() as u32,
            made: self.made.len() as u32,
            start: chunk.start,
            end: chunk.end,
            source: chunk.source,
            flaws: chunk.flaws.clone(),
        });
        self.marks.len() as u32 - 1
    }

    /// The chunk of this number.
    pub(crate) fn get(&self, number: u32) -> ChunkRef<'_> {
        let mark = &self.marks[number as usize];
        let before = number.checked_sub(1).map(|before| &self.marks[before as usize]);
        let range = |end: fn(&Mark) -> u32| -> Range<usize> {
            before.map_or(0, end) as usize..end(mark) as usize
        };
        let lines = &self.positions[0][range(|mark| mark.positions[0].1)];
        let columns = &self.positions[1][range(|mark| mark.positions[1].1)];
        ChunkRef {
            nodes: &self.nodes[range(|mark| mark.nodes)],
            children: &self.children[range(|mark| mark.children)],
            samples: &self.samples[range(|mark| mark.samples)],
            deltas: &self.deltas[range(|mark| mark.deltas)],
            lines: mark.positions[0].0.then_some(lines),
            columns: mark.positions[1].0.then_some(columns),
            trace_ids: &self.trace_ids[range(|mark| mark.trace_ids)],
            extras: &self.extras[range(|mark| mark.extras)],
            made: &self.made[range(|mark| mark.made)],
            start: mark.start,
            end: mark.end,
            source: mark.source,
            flaws: &mark.flaws,
        }
    }

    /// Bytes of heap.
    pub(crate) fn heap(&self) -> usize {
        let [lines, columns] = &self.positions;
        let eights = self.children.capacity()
            + self.samples.capacity()
            + self.deltas.capacity()
            + lines.capacity()
            + columns.capacity();
        eights * 8
            + self.nodes.capacity() * size_of::<Node>()
            + self.trace_ids.capacity() * size_of::<TraceId>()
            + self.extras.capacity() * size_of::<Extra>()
            + self.made.capacity()
            + self.marks.capacity() * size_of::<Mark>()
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
        let mut kept = Kept::default();
        let numbers: Vec<u32> = chunks.iter().map(|chunk| kept.push(chunk)).collect();
        for (chunk, number) in chunks.iter().zip(numbers) {
            let (own, view) = (chunk.view(), kept.get(number));
            assert_eq!(format!("{:?}", own.nodes), format!("{:?}", view.nodes));
            assert_eq!((own.children, own.samples), (view.children, view.samples));
            assert_eq!(
                (own.deltas, own.lines, own.columns),
                (view.deltas, view.lines, view.columns)
            );
            let odds = |view: ChunkRef<'_>| format!("{:?} {:?}", view.trace_ids, view.extras);
            assert_eq!(odds(own), odds(view));
            assert_eq!((own.made, own.start, own.end), (view.made, view.start, view.end));
            let flaws = |view: ChunkRef<'_>| format!("{:?} {:?}", view.source, view.flaws);
            assert_eq!(flaws(own), flaws(view));
        }
        assert!(kept.heap() > 0);
    }
}
