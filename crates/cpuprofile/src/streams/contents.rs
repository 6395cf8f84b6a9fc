//! Returns the contents of chunks: kept since the scan, or decoded again.
//!
//! ```text
//!   get(chunk) ─┬─ kept by the scan ────> copied from the columns, with widened numbers
//!               └─ not kept ────────────> decoded from the store into a buffer
//! ```
//!
//! Chunks are mostly requested in input order, so each search begins at the last result.

use crate::chunk::decoded_chunks::{ChunkRef, DecodedChunks};
use crate::chunk::{Chunk, Node};
use tracemill_tokenizer::{Event, Field, fields_of};
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;

/// Looks up the contents of chunks, one at a time.
///
/// Cost: constant in input order; otherwise a search over all batches, and a search within a batch.
pub struct Contents<'k, 's, 'p> {
    kept: &'k [DecodedChunks],
    store: &'s Store<'p>,
    /// Batch and index of the last chunk found.
    last: (usize, usize),
    /// Buffer for the last chunk: decoded, or with widened numbers.
    scratch: Chunk,
}

impl<'k, 's, 'p> Contents<'k, 's, 'p> {
    /// Creates a lookup that uses the chunks in `kept` (in input order) and decodes all other
    /// chunks.
    pub fn new(kept: &'k [DecodedChunks], store: &'s Store<'p>) -> Self {
        Contents { kept, store, last: (0, 0), scratch: Chunk::default() }
    }

    /// Returns the contents of an event of a profile; undecodable data becomes a flaw.
    pub fn get(&mut self, entry: Entry) -> ChunkRef<'_> {
        let offset = entry.place.offset();
        if let Some((batch, number)) = self.find(offset) {
            self.last = (batch, number);
            return self.kept[batch].get(number, &mut self.scratch);
        }
        let event = self.store.event(entry.place);
        decode_into(&fields_of(event).of(event), offset, &mut self.scratch);
        self.scratch.view()
    }

    /// Returns the nodes of a chunk without decoding its sample lists, which must be plain.
    pub(crate) fn nodes(&mut self, entry: Entry) -> &[Node] {
        if self.find(entry.place.offset()).is_some() {
            return self.get(entry).nodes;
        }
        decode_nodes(entry, self.store, &mut self.scratch);
        &self.scratch.nodes
    }

    /// Returns contents without nodes or samples.
    pub(crate) fn nothing(&mut self) -> ChunkRef<'_> {
        self.scratch.clear();
        self.scratch.view()
    }

    /// Finds a kept chunk; returns the index of the batch, and the index of the chunk in the batch.
    fn find(&self, offset: u64) -> Option<(usize, usize)> {
        let (batch, number) = self.last;
        let is_here =
            |at: usize| self.kept.get(at).is_some_and(|chunks| chunks.begins_before(offset));
        if is_here(batch) && !is_here(batch + 1) {
            return Some((batch, self.kept[batch].number_of(offset, number)?));
        }
        let behind = self.kept.partition_point(|chunks| chunks.begins_before(offset));
        let batch = behind.checked_sub(1)?;
        Some((batch, self.kept[batch].number_of(offset, 0)?))
    }
}

pub(crate) fn decode(entry: Entry, store: &Store<'_>) -> Chunk {
    let (event, mut chunk) = (store.event(entry.place), Chunk::default());
    decode_into(&fields_of(event).of(event), entry.place.offset(), &mut chunk);
    chunk
}

/// Decodes an event into `chunk`, which is cleared first, without samples, times, lines and
/// columns.
pub(crate) fn decode_nodes(entry: Entry, store: &Store<'_>, chunk: &mut Chunk) {
    chunk.clear();
    let event = store.event(entry.place);
    if let Some((args, at)) = args_of(&fields_of(event).of(event), entry.place.offset()) {
        chunk.read_args_but_samples(args, at);
    }
}

/// Decodes the args of an event at `offset` into `chunk`, which is cleared first.
///
/// Invalid data is skipped and counted in [`Chunk::flaws`]. Cost: one pass, about 1 ns per byte;
/// heap only for growing columns.
///
/// ```
/// use tracemill_cpuprofile::{Chunk, NO_ID, decode_into};
/// use tracemill_tokenizer::fields_of;
///
/// let event = br#"{"args":{"data":{"cpuProfile":{"nodes":[{"id":4},{"id":9,"parent":4}],"samples":[9,"?",4]},
///   "timeDeltas":[125.5,-7,100.0001]}}}"#;
/// let mut chunk = Chunk::default();
/// decode_into(&fields_of(event).of(event), 0, &mut chunk);
///
/// assert_eq!((chunk.nodes[1].id, chunk.nodes[1].parent, chunk.nodes[0].parent), (9, 4, NO_ID));
/// assert_eq!(chunk.samples, [9, NO_ID, 4]); // a sample without a node keeps its time
/// assert_eq!(chunk.deltas, [125_500, -7_000, 100_000]);
/// assert_eq!(chunk.finer, [(2, 100.0001)]);
/// assert_eq!(chunk.flaws.iter().next().map(|(kind, _)| kind.name()), Some("rounded"));
/// ```
pub fn decode_into(event: &Event<'_>, offset: u64, chunk: &mut Chunk) {
    chunk.clear();
    if let Some((args, at)) = args_of(event, offset) {
        chunk.read_args(args, at);
    }
}

/// Returns the args of an event at `offset`, including the text after the args, and the offset of
/// the args.
fn args_of<'e>(event: &Event<'e>, offset: u64) -> Option<(&'e [u8], u64)> {
    let args = event.field_and_rest(Field::Args)?;
    let within = args.as_ptr() as usize - event.bytes.as_ptr() as usize;
    Some((args, offset + within as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_in_parts_equal_lists_read_at_once() {
        let list = br#"5,7, "9",null,1.0005,-3,12345678901 ,[1,{"a":2}],},8,8,1e999,1,2,3,4]"#;
        let read = |most: usize| {
            let (mut all, mut finer, mut flaws) = (Chunk::default(), Vec::new(), 0);
            let mut rest = [&list[..]; 2];
            loop {
                let mut chunk = Chunk::default();
                let used =
                    [chunk.read_samples(rest[0], 0, most), chunk.read_deltas(rest[1], 0, most)];
                rest = std::array::from_fn(|at| &rest[at][used[at]..]);
                if chunk.samples.is_empty() && chunk.deltas.is_empty() {
                    return (all.samples, all.deltas, finer, flaws);
                }
                assert!(chunk.samples.len().max(chunk.deltas.len()) <= most);
                finer
                    .extend(chunk.finer.iter().map(|&(at, of)| (all.deltas.len() as u32 + at, of)));
                all.samples.extend(chunk.samples);
                all.deltas.extend(chunk.deltas);
                flaws += chunk.flaws.iter().map(|(_, flaw)| flaw.count).sum::<u64>();
            }
        };
        let whole = read(usize::MAX);
        assert!(whole.0.len() == whole.1.len() && whole.0.len() > 10 && !whole.2.is_empty());
        (1..20).for_each(|most| assert_eq!(read(most), whole, "{most}"));
    }
}
