//! Streams whose samples mean the same whether all of the stream is read or a part: whether ids are such as V8 gives them.
//!
//! V8 numbers the nodes of a profile from 1 on, in the order in which it writes them, and writes a parent before its children. So each node is below the
//! first one, and a sample names a node if its id is none greater than the last. Where all chunks of a stream are like that nothing of a sample follows
//! from nodes elsewhere but from those that it names, and those above.

use super::chunk::{Chunk, NO_ID};
use super::skim::list;
use memchr::memmem::Finder;
use std::sync::LazyLock;
use tracemill_tokenizer::{Event, Field};

/// What the ids of a chunk are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkIds {
    /// How many nodes it has, and the id of the first: those of the others follow one by one.
    nodes: u64,
    first: u64,
    /// Whether the first is below none.
    has_root: bool,
    /// The least and the greatest id that samples name, if there are samples.
    samples: Option<(u64, u64)>,
    /// At most so many nodes are functions of each of [`META_NAMES`].
    names: [u64; 3],
    /// Whether it says when the profile ends, and nothing else.
    is_end: bool,
}

/// Functions by which viewers find nodes: of two of one name it would follow from all of the stream which one is found.
const META_NAMES: [&str; 3] = ["\"(program)\"", "\"(idle)\"", "\"(garbage collector)\""];

/// Reads ids of chunks, one after the other.
#[derive(Default)]
pub struct IdReader {
    scratch: Chunk,
}

impl IdReader {
    /// The ids of a chunk that [`Skim::of`](crate::Skim::of) reads, or that says when the profile ends; `None` if they are not such as V8 gives them. Of another chunk it may be anything.
    ///
    /// Cost: 1 ns for each byte of nodes and samples, none for the rest.
    pub fn read(&mut self, event: &Event<'_>) -> Option<ChunkIds> {
        static PROFILE: LazyLock<Finder<'static>> =
            LazyLock::new(|| Finder::new("\"cpuProfile\":{"));
        static NAMES: LazyLock<[Finder<'static>; 3]> =
            LazyLock::new(|| META_NAMES.map(Finder::new));
        // an escape may stand for the bracket
        static ESCAPED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"\\u0028"));
        let args = event.field_and_rest(Field::Args)?;
        if let Some(end) = args.strip_prefix(b"{\"data\":{\"endTime\":") {
            let digits = end.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_end = digits > 0 && end[digits..].starts_with(b"}}");
            return is_end.then_some(ChunkIds { is_end, ..ChunkIds::default() });
        }
        // lists of numbers are all that may stand before it
        let behind = PROFILE.find(args)? + PROFILE.needle().len();
        let mut rest = &args[behind..];
        let mut ids = ChunkIds::default();
        if let Some(nodes) = rest.strip_prefix(b"\"nodes\":[") {
            let (nodes, behind) = list(nodes)?;
            rest = behind.strip_prefix(b",")?;
            self.read_nodes(args, &mut ids)?;
            if ESCAPED.find(nodes).is_some() {
                return None;
            }
            let count = |number: usize| NAMES[number].find_iter(nodes).count() as u64;
            ids.names = std::array::from_fn(count);
        }
        let (samples, _) = list(rest.strip_prefix(b"\"samples\":[")?)?;
        ids.samples = extent(samples);
        Some(ids)
    }

    fn read_nodes(&mut self, args: &[u8], ids: &mut ChunkIds) -> Option<()> {
        self.scratch.clear();
        self.scratch.read_args_but_samples(args, 0);
        let nodes = &self.scratch.nodes;
        let first = nodes.first()?;
        let follows = |(at, own): (u64, &super::chunk::Node)| {
            let (id, parent) = (own.id, own.parent);
            let is_below =
                parent != NO_ID && 0 < parent && parent < id || at == 0 && parent == NO_ID;
            first.id.checked_add(at) == Some(id) && is_below && own.children.is_none()
        };
        (ids.nodes, ids.first) = (nodes.len() as u64, first.id);
        ids.has_root = first.parent == NO_ID;
        (0..).zip(nodes).all(follows).then_some(())
    }
}

/// The least and the greatest of whole numbers between commas, if there are any.
fn extent(list: &[u8]) -> Option<(u64, u64)> {
    let (mut least, mut greatest, mut number) = (u64::MAX, 0, 0_u64);
    for &byte in list {
        if byte == b',' {
            (least, greatest) = (least.min(number), greatest.max(number));
            number = 0;
        } else {
            number = number.saturating_mul(10).saturating_add(u64::from(byte.wrapping_sub(b'0')));
        }
    }
    (!list.is_empty()).then_some((least.min(number), greatest.max(number)))
}

/// The ids of a stream, chunk by chunk.
///
/// ```
/// use tracemill_profile::{IdReader, StreamIds};
/// use tracemill_tokenizer::fields_of;
///
/// let chunk = |nodes: &str, samples: &str| {
///     let event = format!(r#"{{"args":{{"data":{{"cpuProfile":{{"nodes":[{nodes}],"samples":[{samples}]}},"timeDeltas":[5,7]}}}}}}"#);
///     IdReader::default().read(&fields_of(event.as_bytes()).of(event.as_bytes()))
/// };
/// let first = chunk(r#"{"id":1},{"id":2,"parent":1}"#, "2,3");
/// let mut ids = StreamIds::default();
/// ids.append(first);
/// assert!(!ids.are_regular()); // nothing has told of 3 yet
/// ids.append(chunk(r#"{"id":3,"parent":2}"#, "1,1"));
/// assert!(ids.are_regular());
/// ids.append(chunk(r#"{"id":5,"parent":2}"#, "1,1"));
/// assert!(!ids.are_regular()); // where is 4?
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamIds {
    nodes: u64,
    /// The greatest that a sample names.
    named: u64,
    names: [u64; 3],
    ends: u64,
    are_odd: bool,
}

impl StreamIds {
    /// Those of the next chunk; `None` if they are not such as V8 gives them.
    pub fn append(&mut self, chunk: Option<ChunkIds>) {
        let Some(ChunkIds { nodes, first, has_root, samples, names, is_end }) = chunk else {
            self.are_odd = true;
            return;
        };
        let follows = first == self.nodes + 1 && has_root == (first == 1);
        self.are_odd |= nodes > 0 && !follows;
        self.nodes += nodes;
        self.ends += u64::from(is_end);
        if let Some((least, greatest)) = samples {
            self.are_odd |= least == 0;
            self.named = self.named.max(greatest);
        }
        for (sum, own) in self.names.iter_mut().zip(names) {
            *sum += own;
        }
    }

    /// Chunks that say when the profile ends, and nothing else.
    pub fn ends(&self) -> u64 {
        self.ends
    }

    /// Whether there are nodes, each sample so far names one of them, and no two are of one function of those by which viewers find them.
    pub fn are_regular(&self) -> bool {
        let is_clear = self.names.iter().all(|count| *count <= 1);
        !self.are_odd && self.nodes > 0 && self.named <= self.nodes && is_clear
    }
}
