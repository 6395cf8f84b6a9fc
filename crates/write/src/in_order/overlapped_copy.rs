//! Copies events to the output while the input is still read, for commands that change neither the
//! order nor the bytes of events.
//!
//! ```text
//!   workers ─ scan ─> chunk ─ its offset is known ─┬─> list of events, for the ordinary writer
//!                                                  └─> writers ─ copy ─> output without a name
//! ```
//!
//! The text before the first event must be known. It depends on the format and, in NDJSON, on keys
//! that may come after the events, so [`OverlappedCopy::begin`] reads the first and last bytes of
//! the input. If other bytes of the input contradict these, or an event cannot be copied unchanged,
//! the output is discarded and written again. If only the first events were copied, the other
//! events are appended.

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

/// Minimum number of chunks for which overlapping pays.
const CHUNKS_LEAST: usize = 8;
/// Number of copy tasks that may wait for a writer.
const AHEAD: usize = 4;

/// Events of one input chunk and their offset in the output.
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
    /// Position of the next batch.
    next: BatchOffset,
}

/// Returns whether the output can be written before the whole input is known.
pub fn is_possible(output: &OutputConfig, limits: &Limits) -> bool {
    let Target::File { path, .. } = &output.target else { return false };
    let is_file = std::fs::metadata(path).map_or(true, |metadata| metadata.is_file());
    // a limit of one thread excludes threads for writing
    is_file
        && output.compression == Compression::None
        && limits.threads > 1
        && !limits.strict
        && !limits.repair
}

/// Finds the documents of a long input from its first and last bytes. Returns `None` if the input
/// is short, or not a single list of events.
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
        scanner.feed(Window::whole(mapped), stop, &mut Feed::new(&mut ends, Proof::Partial))
    else {
        return None;
    };
    let last = speculate(mapped, mapped.len() - chunk, mapped.len())?;
    let mut behind = SurroundingText::default();
    let feed = &mut Feed::new(&mut behind, Proof::Partial);
    scanner.fork(last as u64).feed(Window::whole(mapped), Stop::NEVER, feed);
    behind.0.append_to(&mut ends.0.documents);
    Some(ends.0.documents)
}

impl OverlappedCopy {
    /// Opens the output and starts its writers, at the first events of a single input.
    ///
    /// `layout` returns the layout of a format. `length` converts the maximum length of the output
    /// to a [`Length`]. Returns `None` if the input cannot be copied, and on an I/O error, because
    /// ordinary writing reports such an error.
    pub fn begin(
        current: Current<'_>,
        layout: impl FnOnce(Format) -> Layout,
        length: fn(u64) -> Length,
        output: &OutputConfig,
        limits: &Limits,
    ) -> Option<Self> {
        let InputBytes::Mapped(mapped) = current.bytes else { return None };
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

    /// Returns whether events with line breaks may be copied.
    pub fn keeps_breaks(&self) -> bool {
        self.layout.format != Format::Ndjson
    }

    /// Queues the next events for copying; `bytes` is their total length. Returns false if the
    /// writers have failed.
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

    /// Waits for the writers. Returns the output, or `None` if its opening proves wrong or it has
    /// no events.
    ///
    /// # Errors
    /// Returns an I/O error if a writer failed.
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
    /// Discards the unfinished output after its last writer.
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // the output is discarded, so its errors do not matter
            let _ = thread.join();
        }
    }
}

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

/// Collects the keys before and after the events of an input.
#[derive(Default)]
struct SurroundingText(Envelope);

impl Collect for SurroundingText {
    fn envelope(&mut self) -> &mut Envelope {
        &mut self.0
    }

    fn event(&mut self, _: &Event<'_>) {}
}
