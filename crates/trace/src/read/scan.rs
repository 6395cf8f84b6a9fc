//! Scans one input on many cores: workers guess where events start, and each guess is verified.
//!
//! ```text
//!   main thread    to the first event │ chunk 0 │ verifies 1, 2, 3 … in order, passes them on
//!   workers                           │ 1 │ 2 │ 3 │ 4 …      at most a few chunks ahead
//! ```
//!
//! A chunk owns the events that begin in it. Its scanner runs past the border to the next event. If
//! the next chunk's worker started there, in the same kind of document, its findings equal those of
//! a sequential scan, by induction. Otherwise (damage, events inside strings, one huge event) the
//! main thread scans that chunk again.
//!
//! ```
//! use tracemill_trace::event::envelope::{Collect, Envelope};
//! use tracemill_trace::event::proof::Proof;
//! use tracemill_trace::read::scan::{Plan, scan};
//! use tracemill_tokenizer::{Event, Tier};
//!
//! /// Sums up durations; the envelope collects everything except the events.
//! #[derive(Default)]
//! struct Durations {
//!     envelope: Envelope,
//!     ns: i64,
//! }
//!
//! impl Collect for Durations {
//!     fn envelope(&mut self) -> &mut Envelope {
//!         &mut self.envelope
//!     }
//!
//!     fn event(&mut self, event: &Event<'_>) {
//!         self.envelope.event(event);
//!         self.ns += event.dur().map_or(0, |dur| dur.floor);
//!     }
//! }
//!
//! let events = (0..1000).map(|ts| format!(r#"{{"ph":"X","ts":{ts},"dur":2}}"#)).collect::<Vec<_>>();
//! let text = format!("[{}]", events.join(",\n"));
//! let (tier, proof) = (Tier::best(), Proof::Partial);
//! let plan = Plan { bytes: text.as_bytes(), skip: 0, mapped: None, tier, proof, threads: 2, chunk: 1 << 12 };
//! let (mut parts, mut all) = (0, (0, 0));
//! scan(plan, &Durations::default, |part| {
//!     parts += 1; // in the order of the input, on this thread
//!     all = (all.0 + part.envelope.stats.events, all.1 + part.ns);
//!     Ok(())
//! })?;
//! assert_eq!(all, (1000, 2_000_000));
//! assert!(parts > 2);
//! # Ok::<(), tracemill_trace::Error>(())
//! ```
//!
//! Cost: reads each byte once, on all threads; twice in chunks with a wrong guess. Heap: the
//! findings of a few chunks per thread.

pub use crate::event::envelope::Collect;
use crate::event::proof::{Feed, Proof, proving_scanner};
use crate::run::error::Error;
use crossbeam_channel::{Receiver, bounded};
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::Builder;
use tracemill_tokenizer::{Mapped, Scanner, Shapes, Status, Stop, Tier, Window, speculate};

/// Options for scanning an input in memory.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// Bytes of the input.
    pub bytes: &'a [u8],
    /// Number of bytes to skip at the start.
    pub skip: usize,
    /// The map that holds `bytes`, for prefetching pages.
    pub mapped: Option<&'a Mapped>,
    /// Instruction set of the scanner.
    pub tier: Tier,
    /// Treatment of events that are not JSON.
    pub proof: Proof,
    /// Number of worker threads.
    pub threads: usize,
    /// Chunk size in bytes: the unit of work, and of the findings passed on.
    pub chunk: usize,
}

impl Plan<'_> {
    /// Prefetches the pages of a byte range, to avoid one page fault per page.
    pub(crate) fn populate(&self, from: usize, to: usize) {
        if let Some(mapped) = self.mapped {
            mapped.populate(from..to);
        }
    }

    /// Returns the byte range of a chunk, if the first chunk begins at `start`.
    fn range(&self, start: usize, chunk: usize) -> Range<usize> {
        let from = start + chunk * self.chunk;
        from..(from + self.chunk).min(self.bytes.len())
    }

    fn stop_at(&self, border: usize) -> Stop {
        let border = if border >= self.bytes.len() { u64::MAX } else { border as u64 };
        Stop { border, at_events: false }
    }
}

/// Scans `plan.bytes` and passes findings to `take` on the calling thread, one chunk at a time, in
/// input order. `new` creates the findings of a chunk on the thread that scans it.
///
/// # Errors
/// Returns the first error of `take`, which ends the scan.
pub fn scan<C: Collect>(
    plan: Plan<'_>,
    new: &(dyn Fn() -> C + Sync),
    mut take: impl FnMut(C) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut scanner = proving_scanner(plan.tier, plan.skip as u64);
    if plan.threads == 1 || plan.bytes.len() < 2 * plan.chunk {
        return scan_alone(plan, &mut scanner, 0, new, &mut take);
    }
    let mut head = new();
    let stop = Stop { at_events: true, ..Stop::NEVER };
    let status =
        scanner.feed(Window::whole(plan.bytes), stop, &mut Feed::new(&mut head, plan.proof));
    head.seal();
    take(head)?;
    match status {
        Status::Events(start) => scan_chunks(plan, scanner, start as usize, new, take),
        _ => Ok(()),
    }
}

/// Scans the input from `from` on the calling thread.
fn scan_alone<C: Collect>(
    plan: Plan<'_>,
    scanner: &mut Scanner,
    from: usize,
    new: &(dyn Fn() -> C + Sync),
    take: &mut impl FnMut(C) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut border = from;
    loop {
        plan.populate(border, border + plan.chunk);
        border += plan.chunk;
        let mut part = new();
        let status = scanner.feed(
            Window::whole(plan.bytes),
            plan.stop_at(border),
            &mut Feed::new(&mut part, plan.proof),
        );
        part.seal();
        take(part)?;
        match status {
            Status::Border(next) => border = border.max(next as usize),
            _ => return Ok(()),
        }
    }
}

/// The result of scanning a chunk from a guessed start.
struct Guessed<C> {
    start: u64,
    /// The scanner after the chunk. If the guess is right, the scan continues with this scanner.
    scanner: Scanner,
    status: Status,
    part: C,
}

/// The result of a worker for a chunk; `None` if no event start was found.
type Guess<C> = Option<Guessed<C>>;

/// Scans all chunks after the head. Workers scan ahead; this thread verifies guesses in order, and
/// scans a chunk again if its guess is wrong. An error of `take` ends the workers.
fn scan_chunks<C: Collect>(
    plan: Plan<'_>,
    mut scanner: Scanner,
    start: usize,
    new: &(dyn Fn() -> C + Sync),
    mut take: impl FnMut(C) -> Result<(), Error>,
) -> Result<(), Error> {
    let seed = &scanner.fork(start as u64);
    let level = seed.level();
    let chunks = (plan.bytes.len() - start).div_ceil(plan.chunk);
    let ahead = 2 * plan.threads;
    let (tasks, todo) = bounded::<usize>(ahead);
    let (done, results) = bounded(ahead);
    // the closure owns the channel ends, so workers end when this thread returns, early or not
    std::thread::scope(move |scope| {
        let start_worker = |_| {
            let (todo, done) = (todo.clone(), done.clone());
            let mut shapes = Shapes::default();
            let mut guess =
                move |chunk| scan_guess(plan, seed, plan.range(start, chunk), &mut shapes, new);
            let work = move || {
                // the thread that waits for this chunk must receive a panic; a closed channel ends
                // the worker
                let mut guess = |chunk| catch_unwind(AssertUnwindSafe(|| guess(chunk)));
                todo.into_iter().all(|chunk| done.send((chunk, guess(chunk))).is_ok());
            };
            Builder::new().spawn_scoped(scope, work).ok()
        };
        if (0..plan.threads).map_while(start_worker).count() == 0 {
            return scan_alone(plan, &mut scanner, start, new, &mut take);
        }
        drop(done);
        let mut sent = 1;
        let mut waiting = BTreeMap::new();
        let mut status = Status::Border(start as u64);
        for chunk in 0..chunks {
            // at most `ahead` chunks are in the channels and on the workers
            while sent < chunks.min(chunk + ahead) && tasks.send(sent).is_ok() {
                sent += 1;
            }
            let guessed = if chunk == 0 { None } else { wait(&results, &mut waiting, chunk) };
            let Status::Border(next) = status else { return Ok(()) };
            let to = plan.range(start, chunk).end;
            if next >= to as u64 && to < plan.bytes.len() {
                continue;
            }
            match guessed {
                Some(right) if right.start == next && scanner.level() == level => {
                    scanner = right.scanner;
                    status = right.status;
                    take(right.part)?;
                }
                _ => {
                    let mut part = new();
                    status = scanner.feed(
                        Window::whole(plan.bytes),
                        plan.stop_at(to),
                        &mut Feed::new(&mut part, plan.proof),
                    );
                    part.seal();
                    take(part)?;
                }
            }
        }
        Ok(())
    })
}

/// Waits for the result of a chunk and stores results of other chunks that arrive first. Resumes a
/// panic of the worker.
fn wait<C>(
    results: &Receiver<(usize, std::thread::Result<Guess<C>>)>,
    waiting: &mut BTreeMap<usize, Guess<C>>,
    chunk: usize,
) -> Guess<C> {
    loop {
        if let Some(guess) = waiting.remove(&chunk) {
            return guess;
        }
        let (number, guess) = results.recv().ok()?;
        waiting.insert(number, guess.unwrap_or_else(|panic| resume_unwind(panic)));
    }
}

/// Scans a chunk on a worker, from the first position that looks like the start of an event.
fn scan_guess<C: Collect>(
    plan: Plan<'_>,
    seed: &Scanner,
    range: Range<usize>,
    shapes: &mut Shapes,
    new: &(dyn Fn() -> C + Sync),
) -> Guess<C> {
    plan.populate(range.start, range.end);
    let start = speculate(plan.bytes, range.start, range.end)? as u64;
    let mut scanner = seed.fork(start);
    scanner.swap_shapes(shapes);
    let mut part = new();
    let status = scanner.feed(
        Window::whole(plan.bytes),
        plan.stop_at(range.end),
        &mut Feed::new(&mut part, plan.proof),
    );
    scanner.swap_shapes(shapes);
    part.seal();
    Some(Guessed { start, scanner, status, part })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::envelope::Envelope;
    use tracemill_tokenizer::Event;

    #[derive(Default)]
    struct Bomb(Envelope);

    impl Collect for Bomb {
        fn envelope(&mut self) -> &mut Envelope {
            &mut self.0
        }

        fn event(&mut self, event: &Event<'_>) {
            assert_ne!(event.ts().map(|ts| ts.floor), Some(300_000), "here it is");
        }
    }

    /// Returns the plan of a scan in chunks of 1000 bytes.
    fn plan(text: &str, threads: usize) -> Plan<'_> {
        let (bytes, tier, proof) = (text.as_bytes(), Tier::Scalar, Proof::Partial);
        Plan { bytes, skip: 0, mapped: None, tier, proof, threads, chunk: 1000 }
    }

    #[test]
    fn scan_ends_at_the_first_error_of_take() {
        let events = vec![r#"{"ph":"i","ts":1}"#; 10_000].join(",");
        let text = format!("[{events}]");
        for threads in [1, 2] {
            let mut parts = 0;
            let scanned = scan(plan(&text, threads), &Bomb::default, |_| {
                parts += 1;
                if parts < 3 {
                    Ok(())
                } else {
                    Err(crate::run::error::ErrorKind::BrokenPipe.into())
                }
            });
            assert!(scanned.is_err());
            assert_eq!(parts, 3);
        }
    }

    #[test]
    fn panic_of_a_worker_ends_the_scan() {
        let event = |ts| format!(r#"{{"ph":"i","ts":{ts}}}"#);
        let events: Vec<String> = (0..1000).map(event).collect();
        let text = format!("[{}]", events.join(","));
        for threads in [1, 2, 7] {
            let scanned = catch_unwind(|| scan(plan(&text, threads), &Bomb::default, |_| Ok(())));
            let why = scanned.expect_err("it goes on here");
            let why = why.downcast_ref::<String>().expect("a formatted text");
            assert!(why.contains("here it is"), "{why}");
        }
    }
}
