//! Writing that begins while the input is still read: for verbs that keep its order and its bytes.
//!
//! ```text
//!   workers ─ scan ─> part ─ its place is known ─┬─> list of events, for the ordinary way
//!                                                └─> writers ─ copy ─> output without a name
//! ```
//!
//! The disk is the slowest part of such a run, and it would idle while the input is scanned. What must be known to begin
//! is the text before the first event. It depends on the format and, in NDJSON, on keys that may stand behind the
//! events: so the first and the last bytes of the input are looked at, and what they say is held against what was found
//! when all is read. If it was wrong, or an event cannot be copied as it stands, nothing is lost but time: the output is
//! dropped, and written again in the ordinary way. What was copied may be the first part of the events: then the rest
//! follows in the ordinary way.

use crate::emit::streamed_output::{BatchOffset, StreamedOutput, format_in_order};
use crate::keys::merged_keys::MergedKeys;
use crate::keys::unite;
use crate::layout::Layout;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::Arc;
use std::thread::JoinHandle;
use tracemill_tokenizer::{Event, Mapped, Scanner, Status, Stop, Tier, Window, speculate};
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::{Document, Envelope};
use tracemill_trace::event::proof::{Feed, Proof};
use tracemill_trace::input::byte_order_mark;
use tracemill_trace::output::target::{Compression, Format, OutputConfig, Target};
use tracemill_trace::output::{Length, Output};
use tracemill_trace::read::scan::Collect;
use tracemill_trace::read::{Current, InputBytes};
use tracemill_trace::run::error::Error;
use tracemill_trace::store::long_events::LongEvents;
use tracemill_trace::store::place::{Long, Place};
use tracemill_trace::store::{Payload, Store};

/// Inputs of fewer chunks are read before there is anything to gain.
const CHUNKS_LEAST: usize = 8;
/// Lists of events that wait for a writer.
const AHEAD: usize = 4;

/// Events of one chunk of the input, to be copied to a place.
struct CopyTask {
    number: usize,
    offset: u64,
    first: bool,
    places: Vec<Place>,
    long: Vec<Long>,
}

/// An output that is written while its input is read.
pub struct OverlappedCopy {
    output: Option<Arc<Output>>,
    layout: Layout,
    opening: Vec<u8>,
    jobs: Option<Sender<CopyTask>>,
    threads: Vec<JoinHandle<Result<(), Error>>>,
    /// Where the next batch goes.
    next: BatchOffset,
}

/// Whether an output can be written while it is not known what else there will be.
pub fn is_possible(output: &OutputConfig, limits: &Limits) -> bool {
    let Target::File { path, .. } = &output.target else { return false };
    let is_file = std::fs::metadata(path).map_or(true, |metadata| metadata.is_file());
    // one thread alone is asked for by who wants one
    is_file
        && output.compression == Compression::None
        && limits.threads > 1
        && !limits.strict
        && !limits.repair
}

/// The documents of an input, as far as its first and last bytes tell; `None` if it is too short, or not one list of events.
fn look(mapped: &Mapped, limits: &Limits) -> Option<Vec<Document>> {
    let chunk = limits.shares().chunk;
    if mapped.len() < CHUNKS_LEAST * chunk {
        return None;
    }
    let mut ends = SurroundingText::default();
    let tier = limits.tier.unwrap_or_else(Tier::best);
    let mut scanner = Scanner::starting_at(tier, byte_order_mark(mapped) as u64);
    let stop = Stop { at_events: true, ..Stop::NEVER };
    let Status::Events(_) =
        scanner.feed(Window::whole(mapped), stop, &mut Feed::new(&mut ends, Proof::None))
    else {
        return None;
    };
    let last = speculate(mapped, mapped.len() - chunk, mapped.len())?;
    let mut behind = SurroundingText::default();
    let feed = &mut Feed::new(&mut behind, Proof::None);
    scanner.fork(last as u64).feed(Window::whole(mapped), Stop::NEVER, feed);
    behind.0.append_to(&mut ends.0.documents);
    Some(ends.0.documents)
}

impl OverlappedCopy {
    /// Opens the output and starts its writers, when the first events of the only input are found; `layout` is that of a form.
    /// `length` makes of the length of all that there is in that form what is known of the output's.
    /// `None` if nothing can be copied, or if it fails, for reasons that will show again.
    pub fn begin(
        current: Current<'_>,
        layout: impl FnOnce(Format) -> Layout,
        length: fn(u64) -> Length,
        output: &OutputConfig,
        limits: &Limits,
    ) -> Option<Self> {
        let InputBytes::Mapped(mapped) = current.own else { return None };
        let documents = look(mapped, limits)?;
        let store = Store::of_map(mapped);
        let layout = layout(output.format_or(format_in_order(&documents, true)));
        let united = unite(&documents, &store);
        if !layout.is_verbatim() {
            return None;
        }
        let opening = layout.opening(&united);
        let len = opening.len() as u64 + mapped.len() as u64 + layout.closing_len(&united);
        let output = Arc::new(Output::create(output, limits, length(len)).ok()?);
        let mut buffer = Vec::new();
        let mut batch = output.batch(0, 0, &mut buffer);
        batch.push(&opening).ok()?;
        batch.finish().ok()?;
        let (jobs, todo) = bounded(AHEAD);
        let start = |_| {
            let (output, mapped, todo) = (Arc::clone(&output), Arc::clone(mapped), todo.clone());
            let work = move || write(&output, Payload::Mapped(mapped), layout, &todo);
            std::thread::Builder::new().name("write".into()).spawn(work).ok()
        };
        let threads: Vec<_> = (0..limits.threads).map_while(start).collect();
        if threads.is_empty() {
            return None;
        }
        let next = BatchOffset { number: 1, offset: opening.len() as u64, index: 0 };
        Some(OverlappedCopy {
            output: Some(output),
            layout,
            opening,
            jobs: Some(jobs),
            threads,
            next,
        })
    }

    /// Whether events with line breaks may be copied.
    pub fn keeps_breaks(&self) -> bool {
        self.layout.format != Format::Ndjson
    }

    /// Takes events that stand behind all others, of so many bytes. False if the writers have failed.
    pub fn push(&mut self, places: &[Place], bytes: u64, long: &[Long]) -> bool {
        if places.is_empty() {
            return true;
        }
        let BatchOffset { number, offset, index } = self.next;
        let first = index == 0;
        let len = self.layout.batch_len(places.len() as u64, bytes, first);
        let index = index + places.len() as u64;
        self.next = BatchOffset { number: number + 1, offset: offset + len, index };
        let (places, long) = (places.to_vec(), long.to_vec());
        let job = CopyTask { number, offset, first, places, long };
        self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }

    /// What was written, if the output is begun as it should be: more can follow when this returns.
    pub fn end(
        mut self,
        layout: Layout,
        united: &MergedKeys<'_>,
    ) -> Result<Option<Box<StreamedOutput>>, Error> {
        self.end_writers()?;
        let is_right = layout.is_verbatim()
            && layout.format == self.layout.format
            && layout.opening(united) == self.opening
            && self.next.index > 0;
        let output = self.output.take().filter(|_| is_right).and_then(Arc::into_inner);
        let opening = self.opening.len() as u64;
        let begun = |output| StreamedOutput::begun(output, layout, opening, self.next);
        Ok(output.map(begun).map(Box::new))
    }

    fn end_writers(&mut self) -> Result<(), Error> {
        self.jobs = None;
        let join = |thread: JoinHandle<_>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        self.threads.drain(..).map(join).fold(Ok(()), Result::and)
    }
}

impl Drop for OverlappedCopy {
    /// What is not finished leaves nothing behind: the output goes with its last writer.
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // whatever went wrong is of no interest any more
            let _ = thread.join();
        }
    }
}

/// Copies one list of events after the other.
fn write(
    output: &Output,
    payload: Payload,
    layout: Layout,
    todo: &Receiver<CopyTask>,
) -> Result<(), Error> {
    let mut buffer = Vec::new();
    for CopyTask { number, offset, first, places, long } in todo {
        let long = LongEvents::from(long);
        let store = Store::of_one(&payload).with_long(&long);
        let mut batch = output.batch(number, offset, &mut buffer);
        layout.copy(places.iter().copied(), first, &store, &mut batch)?;
        batch.finish()?;
    }
    Ok(())
}

/// What stands before and behind the events of an input.
#[derive(Default)]
struct SurroundingText(Envelope);

impl Collect for SurroundingText {
    fn envelope(&mut self) -> &mut Envelope {
        &mut self.0
    }

    fn event(&mut self, _: &Event<'_>) {}
}
