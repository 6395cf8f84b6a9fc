//! CPU profiles of all inputs, read in pieces and as columns.

use super::InputSet;
use tracemill_cpuprofile::{
    Chunk, ChunkRef, Contents, NO_ID, ProfileGroup, ProfileSource, TextSpan, chunk_order_lease,
    head_of, order_chunks, text_of,
};
use tracemill_trace::order::Order;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::threads::both;
use tracemill_trace::store::Store;

/// Bytes per sample in a list that grows by doubling.
const SAMPLE: u64 = 32;

/// Facts about a CPU profile: thread, stream, input, start and end.
#[derive(Clone, Debug)]
pub struct ProfileFacts {
    /// `pid` as written; empty if missing.
    pub pid: Box<[u8]>,
    /// `tid` as written in the `Profile` event. `None` if there is no such event, so the thread is
    /// unknown.
    pub tid: Option<Box<[u8]>>,
    /// `id` of the stream as written; empty if missing.
    pub id: Box<[u8]>,
    /// The origin that the `Profile` event states.
    pub source: Option<ProfileSource>,
    /// Start in microseconds, as written: `ts` of the `Profile` event, or `startTime` of a whole
    /// profile.
    pub start: Option<Box<[u8]>>,
    /// `endTime` of a whole profile, as written.
    pub end: Option<Box<[u8]>>,
    /// Whether the profile is whole (a `.cpuprofile`), not a stream of events.
    pub is_whole: bool,
    /// Whether the profile was built from the keys `samples` and `stackFrames`, which DevTools
    /// ignores.
    pub is_of_stacks: bool,
    /// Whether a whole profile has the old form, with `head` instead of `nodes`.
    pub is_old: bool,
    /// Whether a whole profile has a list of samples, even an empty one.
    pub has_samples: bool,
    /// Path of the input of a whole profile; empty for standard input. `None` for streams.
    pub input: Option<String>,
    /// Index of the input with the first event; `None` for a whole profile, whose pid is assigned.
    pub input_number: Option<usize>,
}

/// A node of the call tree, as written.
#[derive(Clone, Copy, Debug)]
pub struct PieceNode<'a> {
    /// Id of the node.
    pub id: u64,
    /// Id of the parent, if the node names one.
    pub parent: Option<u64>,
    /// Ids of the children, if the node lists them.
    pub children: Option<&'a [u64]>,
    /// JSON text of the node.
    pub text: &'a [u8],
}

/// A piece of a profile: the nodes and samples of one event.
pub struct ProfilePiece<'a> {
    chunk: ChunkRef<'a>,
    store: &'a Store<'a>,
    /// The origin that the event states.
    pub source: Option<ProfileSource>,
    /// Node id of each sample; `u64::MAX` where the id is missing.
    pub samples: &'a [u64],
    /// Nanoseconds between each sample and the previous one.
    pub steps: &'a [i64],
}

impl<'a> ProfilePiece<'a> {
    fn of(chunk: ChunkRef<'a>, store: &'a Store<'a>) -> Self {
        let ChunkRef { source, samples, deltas: steps, .. } = chunk;
        ProfilePiece { chunk, store, source, samples, steps }
    }

    fn text(&self, text: TextSpan) -> &'a [u8] {
        text_of(text, self.store, self.chunk.decoded_text)
    }

    /// Returns the microseconds between each sample and the previous one, each as the double
    /// nearest to the written number.
    pub fn micros(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        let mut finer = self.chunk.finer.iter().peekable();
        let steps = self.steps.iter().enumerate();
        steps.map(move |(at, &step)| match finer.next_if(|entry| entry.0 as usize == at) {
            Some((_, micros)) => *micros,
            None => step as f64 / 1000.0,
        })
    }

    /// Returns the nodes of the piece.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = PieceNode<'a>> + '_ {
        self.chunk.nodes.iter().map(|node| PieceNode {
            id: node.id,
            parent: (node.parent != NO_ID).then_some(node.parent),
            children: node
                .children
                .as_ref()
                .map(|range| &self.chunk.children[range.start as usize..range.end as usize]),
            text: self.text(node.text),
        })
    }

    /// Returns the samples with a trace id: the id as written, with quotes, and the id of the node.
    pub fn trace_ids(&self) -> impl ExactSizeIterator<Item = (&'a [u8], u64)> + '_ {
        self.chunk.trace_ids.iter().map(|entry| (self.text(entry.key), entry.node))
    }
}

impl InputSet {
    /// Returns the number of the input that contains an offset.
    fn input_at(&self, offset: u64) -> Option<usize> {
        let payloads = &self.inputs.payloads;
        let behind = payloads.partition_point(|held| held.base <= offset);
        Some(payloads[behind.checked_sub(1)?].input)
    }

    /// Returns all profiles: streams in order of their start, then whole profiles, then profiles
    /// built from `samples` and `stackFrames`.
    pub fn profiles(&self) -> Vec<ProfileFacts> {
        let store = self.store();
        let streams = self.streams.groups().into_iter().map(|group| {
            let (pid, id) = group.owner_ids();
            let (tid, source, start) = head_of(group, &store);
            let (is_whole, is_old, has_samples, input) = (false, false, false, None);
            let first = group.events().next().map(|entry| entry.place.offset());
            let input_number = first.and_then(|offset| self.input_at(offset));
            let end = None;
            ProfileFacts {
                pid,
                tid,
                id,
                source,
                start,
                end,
                is_whole,
                is_of_stacks: false,
                is_old,
                has_samples,
                input,
                input_number,
            }
        });
        let wholes = self.wholes.iter().map(|whole| {
            let number = |number: u64| number.to_string().into_bytes().into_boxed_slice();
            ProfileFacts {
                pid: number(whole.identity.pid),
                tid: Some(number(whole.identity.tid)),
                id: whole.identity.id.clone().into_bytes().into_boxed_slice(),
                source: None,
                start: whole.member(b"startTime"),
                end: whole.member(b"endTime"),
                is_whole: true,
                is_of_stacks: false,
                is_old: !whole.has(b"nodes"),
                has_samples: whole.has(b"samples"),
                input: Some(whole.input.clone()),
                input_number: None,
            }
        });
        let stacks = self.stacks.iter().map(|stack| ProfileFacts {
            pid: stack.pid.clone(),
            tid: Some(stack.tid.clone()),
            id: Box::default(),
            source: None,
            start: Some(stack.start().into_bytes().into()),
            end: None,
            is_whole: false,
            is_of_stacks: true,
            is_old: false,
            has_samples: true,
            input: None,
            input_number: self.input_at(stack.offset),
        });
        streams.chain(wholes).chain(stacks).collect()
    }

    /// Returns a reader of the profiles in pieces.
    pub fn pieces(&self) -> ProfilePieces<'_> {
        ProfilePieces { scanned: self, groups: self.streams.groups(), store: self.store() }
    }
}

/// Reads the profiles of the inputs piece by piece.
pub struct ProfilePieces<'s> {
    scanned: &'s InputSet,
    groups: Vec<ProfileGroup<'s>>,
    store: Store<'s>,
}

impl ProfilePieces<'_> {
    /// Passes every piece of a profile to `each`. `number` is the profile's index in
    /// [`InputSet::profiles`]. Pieces come in stream order (see
    /// [`tracemill_cpuprofile::ChunkOrder`]), or in input order with `as_written`. A whole profile
    /// yields its nodes, then its samples.
    ///
    /// Cost: a pass over the chunks. Chunks that are not kept in memory are decoded again.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file cannot be read or written.
    pub fn each(
        &self,
        number: usize,
        as_written: bool,
        mut each: impl FnMut(&ProfilePiece<'_>),
    ) -> Result<(), Error> {
        let Some(&group) = self.groups.get(number) else {
            if let Some(whole) = self.scanned.wholes.get(number - self.groups.len()) {
                let store = whole.store();
                let mut show = |chunk: Chunk| each(&ProfilePiece::of(chunk.view(), &store));
                // no extra thread for samples when every profile already has a thread
                let profiles = self.groups.len() + self.scanned.wholes.len();
                let limits = &self.scanned.config.limits;
                let threads = limits.threads;
                let share = Share::of(1, 8).divided(profiles.min(threads));
                let lease = limits.lease("samples of .cpuprofile files", share);
                let most = (lease.bytes() / SAMPLE) as usize;
                let mut samples = whole.samples(&store, most);
                let show_tree = || show(whole.tree(&store));
                let ((), first) = both(threads / profiles, show_tree, || samples.next());
                first.into_iter().chain(samples).for_each(show);
            }
            let stacks = number.checked_sub(self.groups.len() + self.scanned.wholes.len());
            if let Some(stack) = stacks.and_then(|at| self.scanned.stacks.get(at)) {
                each(&ProfilePiece::of(stack.chunk().view(), &self.store));
            }
            return Ok(());
        };
        let store = &self.store;
        let (mut contents, order) = (Contents::new(group.kept_chunks(), store), Order(store));
        let mut show = |chunk: ChunkRef<'_>| each(&ProfilePiece::of(chunk, store));
        let config = &self.scanned.config;
        if as_written {
            group.chunks().iter().for_each(|entry| show(contents.get(entry)));
            return Ok(());
        }
        let lease = chunk_order_lease(&config.limits);
        let ordered = order_chunks(group.chunks(), order, &mut contents, lease)?;
        ordered.each(order, |entry| {
            show(contents.get(entry));
            Ok(())
        })
    }
}
