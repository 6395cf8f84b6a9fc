//! Decides the order of a stream's chunks: an order in which nodes are defined before their use.
//!
//! Most streams are in time order already, and no chunk is read. Otherwise the locations are
//! sorted, and chunks are read in each candidate order. Heap: the ids of the nodes.
//!
//! ```text
//!   sorted by time? ─ yes ─> Both                                           no chunk is read
//!      └ no ─> by time, nodes before use? ─ yes ─> Time                     chunks are read once
//!                 └ no ─> in input order, nodes before use? ─ yes ─> Input  chunks are read twice
//!                            └ no ─────────────────────────────────> Neither
//! ```
//!
//! References decide, since a chunk that uses undefined nodes cannot be read in that order.

use crate::chunk::NO_ID;
use crate::streams::contents::Contents;
use tracemill_trace::order::{EntryRuns, Gather, Order};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::Records;
use tracemill_trace::spill::hash::HashSet;
use tracemill_trace::store::entry::Entry;

/// The order of a profile's chunks; see [`order_chunks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkOrder {
    /// Time order, which equals input order in this profile.
    Both,
    /// Time order, though input order differs; readers in input order meet undefined nodes.
    Time,
    /// Input order; time order would use nodes before their definition.
    Input,
    /// Time order, though no order is valid:
    /// [`FlawKind::Unordered`](tracemill_trace::run::flaws::FlawKind::Unordered).
    Neither,
}

tracemill_trace::serialize_by_name!(ChunkOrder);

impl ChunkOrder {
    /// Returns the name in reports: `both`, `time`, `input` or `neither`.
    pub fn name(self) -> &'static str {
        match self {
            ChunkOrder::Both => "both",
            ChunkOrder::Time => "time",
            ChunkOrder::Input => "input",
            ChunkOrder::Neither => "neither",
        }
    }
}

/// The chunks of a stream in the chosen order.
pub struct OrderedChunks<'c> {
    /// The chosen order.
    pub order: ChunkOrder,
    by_input: Records<'c, Entry>,
    /// Chunks by time, unless that is input order.
    by_time: Option<EntryRuns>,
}

/// Leases the memory for sorting locations of chunks on one of the run's threads, 16 bytes each.
pub fn chunk_order_lease(limits: &Limits) -> Lease {
    limits.lease("chunks of a stream in order", Share::of_index(1, 8).divided(limits.threads))
}

/// Chooses the order of the chunks of a stream, given in input order.
///
/// Chunks with equal times are in output order; `order` compares their digits if needed.
///
/// Cost: a comparison per chunk. Chunks out of time order are sorted within the lease, and read
/// once or twice.
///
/// ```
/// use tracemill_trace::order::Order;
/// use tracemill_trace::run::memory::Share;
/// use tracemill_trace::{EventOrder, Limits, Source, Trace};
/// use tracemill_cpuprofile::{ChunkOrder, Contents, Router, Streams, chunk_order_lease, order_chunks};
///
/// // the second chunk says to be earlier, and samples a node that the first one defines
/// let text = r#"[{"name":"ProfileChunk","pid":7,"id":1,"ts":20,"args":{"data":{"cpuProfile":{"nodes":[{"id":1}]}}}},
///   {"name":"ProfileChunk","pid":7,"id":1,"ts":10,"args":{"data":{"cpuProfile":{"samples":[1]},"timeDeltas":[5]}}}]"#;
/// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
/// let trace = Trace::open(&[Source::bytes("a.json", text)], &limits)?;
/// let mut router = Router::default();
/// trace.events(EventOrder::Input).for_each(|event| router.note(&event.fields(), event.offset));
/// let mut streams = Streams::new(limits.lease("profiles", Share::of(1, 32)), &limits);
/// streams.append(router, 0)?;
/// streams.finish()?;
///
/// let (group, store) = (streams.groups()[0], trace.store());
/// let mut contents = Contents::new(group.kept, &store);
/// let lease = chunk_order_lease(&limits);
/// let ordered = order_chunks(group.chunks(), Order(&store), &mut contents, lease)?;
/// assert_eq!(ordered.order, ChunkOrder::Input);
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
///
/// # Errors
/// Returns [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file cannot
/// be written.
pub fn order_chunks<'c>(
    chunks: Records<'c, Entry>,
    order: Order<'_, '_>,
    contents: &mut Contents<'_, '_, '_>,
    lease: Lease,
) -> Result<OrderedChunks<'c>, Error> {
    let by_input = chunks;
    if is_sorted(chunks, order) {
        return Ok(OrderedChunks { order: ChunkOrder::Both, by_input, by_time: None });
    }
    let mut sorted = Gather::new(lease, order);
    chunks.iter().try_for_each(|chunk| sorted.push(chunk))?;
    let (by_time, _) = sorted.finish()?.finish(order.0)?;
    let mut references = References::default();
    by_time.each_in_order(order, |chunk| {
        references.follow(chunk, contents);
        Ok(())
    })?;
    if references.all_back() {
        return Ok(OrderedChunks { order: ChunkOrder::Time, by_input, by_time: Some(by_time) });
    }
    let mut references = References::default();
    chunks.iter().for_each(|chunk| references.follow(chunk, contents));
    Ok(match references.all_back() {
        true => OrderedChunks { order: ChunkOrder::Input, by_input, by_time: None },
        false => OrderedChunks { order: ChunkOrder::Neither, by_input, by_time: Some(by_time) },
    })
}

pub(crate) fn is_sorted(chunks: Records<'_, Entry>, order: Order<'_, '_>) -> bool {
    chunks.iter().is_sorted_by(|a, b| order.compare(a, b).is_lt())
}

impl OrderedChunks<'_> {
    /// Calls `each` with every chunk in the chosen order; may be called repeatedly.
    ///
    /// # Errors
    /// Returns the errors of `each`.
    pub fn each(
        &self,
        order: Order<'_, '_>,
        mut each: impl FnMut(Entry) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match &self.by_time {
            None => self.by_input.iter().try_for_each(each),
            Some(runs) => runs.each_in_order(order, &mut each),
        }
    }
}

/// Checks that every parent and sample refers to a node of its own or an earlier chunk.
///
/// Missing ids are ignored. All nodes of a chunk come before its samples, as V8 writes them.
#[derive(Default)]
struct References {
    known: HashSet<u64>,
    /// Whether a reference was not to an earlier node.
    failed: bool,
}

impl References {
    fn follow(&mut self, chunk: Entry, contents: &mut Contents<'_, '_, '_>) {
        if self.failed {
            return;
        }
        let chunk = contents.get(chunk);
        let known = &mut self.known;
        let is_known = |known: &HashSet<u64>, id| id == NO_ID || known.contains(&id);
        let nodes = chunk.nodes.iter().all(|node| {
            let parent = is_known(known, node.parent);
            known.insert(node.id);
            parent
        });
        self.failed = !nodes || !chunk.samples.iter().all(|&sample| is_known(known, sample));
    }

    fn all_back(&self) -> bool {
        !self.failed
    }
}
