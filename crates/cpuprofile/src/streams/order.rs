//! The order of the chunks of one stream: order of time if every node and sample then refers to nodes that
//! are defined already; else input order if that satisfies it; else order of time, and the user is told.
//!
//! Most streams stand in order of time: one look at their places tells, and nothing is sorted. For the others the places
//! are sorted, on disk beyond a limit, and chunks are read one after the other in the order in question; what is held then
//! are the ids of the profile's nodes.
//!
//! ```text
//!   in order of time? ─ yes ─> Both                                     no chunk is looked at
//!        └ no ─> by time, all refer to earlier nodes? ─ yes ─> Time     each chunk once
//!                   └ no ─> in input order, do they? ─ yes ─> Input     each chunk twice
//!                              └ no ─────────────────────────> Neither
//! ```
//!
//! References decide, since a chunk that names a node before it is defined cannot be read in that order, whatever its time says.

use crate::chunk::NO_ID;
use crate::streams::contents::Contents;
use tracemill_trace::order::{EntryRuns, Gather, Order};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::Records;
use tracemill_trace::spill::hash::HashSet;
use tracemill_trace::store::entry::Entry;

/// The order that was chosen for the chunks of one profile: see [`order_chunks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkOrder {
    /// By time, which is the order in the input too.
    Both,
    /// By time, and chunks stand otherwise in the input: who reads that from front to back meets nodes before they are defined.
    Time,
    /// As in the input: by time, chunks would refer to nodes that come later.
    Input,
    /// By time, though in no order do all refer to earlier nodes:
    /// [`FlawKind::Unordered`](tracemill_trace::run::flaws::FlawKind::Unordered).
    Neither,
}

tracemill_trace::serialize_by_name!(ChunkOrder);

impl ChunkOrder {
    /// Its name in reports: `both`, `time`, `input` or `neither`.
    pub fn name(self) -> &'static str {
        match self {
            ChunkOrder::Both => "both",
            ChunkOrder::Time => "time",
            ChunkOrder::Input => "input",
            ChunkOrder::Neither => "neither",
        }
    }
}

/// The chunks of a stream in its own order.
pub struct OrderedChunks<'c> {
    /// Which that is.
    pub order: ChunkOrder,
    by_input: Records<'c, Entry>,
    /// By time, unless that is the same.
    by_time: Option<EntryRuns>,
}

/// Leases what the places of chunks take while one of the run's threads sorts them, 16 bytes each.
pub fn chunk_order_lease(limits: &Limits) -> Lease {
    limits.lease("chunks of a stream in order", Share::of_index(1, 8).divided(limits.threads))
}

/// Decides on the order of the chunks of a stream, given in input order, by what they hold.
///
/// Chunks of one time are in the order that the output would have them in (`order` compares their digits where 16 bytes do not tell).
///
/// Cost: a comparison a chunk; where they are not in order of time a sort, and a look at what each holds, or two. Heap: nothing, or
/// the lease and the ids of all nodes.
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
/// [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if the disk does not take the chunks.
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

/// Whether chunks stand in order of time.
pub(crate) fn is_sorted(chunks: Records<'_, Entry>, order: Order<'_, '_>) -> bool {
    chunks.iter().is_sorted_by(|a, b| order.compare(a, b).is_lt())
}

impl OrderedChunks<'_> {
    /// Gives every chunk in the order that was chosen, as often as it is asked.
    ///
    /// # Errors
    /// Those of `each`.
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

/// Whether every parent and sample refers to a node of its own or an earlier chunk.
///
/// What is no id refers to nothing and defines nothing. Of one chunk all nodes count before its samples, as V8 writes them.
#[derive(Default)]
struct References {
    known: HashSet<u64>,
    /// Whether one referred to a later node, or to none.
    failed: bool,
}

impl References {
    /// Looks at the next chunk, if that can change the answer.
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
