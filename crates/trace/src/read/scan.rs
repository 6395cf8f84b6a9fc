//! One input on many cores: chunks scanned from guessed event starts, each guess proven by the chunk before.
//!
//! ```text
//!   main thread    to the first event │ chunk 0 │ proves 1, 2, 3 … in order, hands them on
//!   workers                           │ 1 │ 2 │ 3 │ 4 …      at most a few chunks ahead of the proof
//! ```
//!
//! A chunk owns the events that begin in it. Its scanner runs over the border until the next event begins; if that is
//! where the next chunk's worker began, and in the same kind of document, the worker's findings are what a single scan
//! would have found, by induction. If not (damage, events inside strings, a chunk inside one huge event) the main
//! thread scans that chunk again from the true place: slower, never different.
//!
//! ```
//! use tracemill_trace::event::envelope::{Collect, Envelope};
//! use tracemill_trace::event::proof::Proof;
//! use tracemill_trace::read::scan::{Plan, scan};
//! use tracemill_tokenizer::{Event, Tier};
//!
//! /// Sums up durations; what stands around the events it leaves to the envelope.
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
//! let (tier, proof) = (Tier::best(), Proof::None);
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
//! Cost: a look at each byte once, on all threads; of a chunk whose guess was wrong twice. Heap: the findings of a few chunks a thread.

pub use crate::event::envelope::Collect;
use crate::event::proof::{Feed, Proof};
use crate::run::error::Error;
use crossbeam_channel::{Receiver, bounded};
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::Builder;
use tracemill_tokenizer::{Mapped, Scanner, Status, Stop, Tier, Window, speculate};

/// How an input that lies in memory is scanned.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The input.
    pub bytes: &'a [u8],
    /// Bytes to leave out at the start.
    pub skip: usize,
    /// The map behind `bytes`, to fetch pages ahead.
    pub mapped: Option<&'a Mapped>,
    /// Instruction set.
    pub tier: Tier,
    /// What is done about events that are not JSON.
    pub proof: Proof,
    /// Worker threads.
    pub threads: usize,
    /// Bytes that one worker takes at a time; findings are handed on in such portions.
    pub chunk: usize,
}

impl Plan<'_> {
    /// Has the kernel fetch the pages of a stretch, before the scan faults on them one by one.
    pub(crate) fn populate(&self, from: usize, to: usize) {
        if let Some(mapped) = self.mapped {
            mapped.populate(from..to);
        }
    }

    /// The bytes of a chunk, if the first one begins at `start`.
    fn range(&self, start: usize, chunk: usize) -> Range<usize> {
        let from = start + chunk * self.chunk;
        from..(from + self.chunk).min(self.bytes.len())
    }

    fn stop_at(&self, border: usize) -> Stop {
        let border = if border >= self.bytes.len() { u64::MAX } else { border as u64 };
        Stop { border, at_events: false }
    }
}

/// Scans all of `plan.bytes`, giving the findings to `take` in input order, a chunk at a time. `new` makes those of a chunk, on whichever
/// thread scans it; `take` is called on this one.
///
/// # Errors
/// The first of `take`, after which nothing more is scanned.
pub fn scan<C: Collect>(
    plan: Plan<'_>,
    new: &(dyn Fn() -> C + Sync),
    mut take: impl FnMut(C) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut scanner = plan.proof.scanner(plan.tier, plan.skip as u64);
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

/// The rest of the input on this thread.
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

/// A chunk scanned on a guess.
struct Guessed<C> {
    /// Where the first event was taken to begin.
    start: u64,
    /// Where it stands behind the chunk: it goes on if the guess is right.
    scanner: Scanner,
    status: Status,
    part: C,
}

/// What a worker makes of a chunk; `None` if there was nothing to guess by.
type Guess<C> = Option<Guessed<C>>;

/// All chunks behind the head: workers take them in order, a bounded number ahead of the proof; this thread proves, and scans again what was
/// guessed wrong. Ends early if `take` fails: then workers find nobody to hand to.
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
    // moving the ends of the channels in here ends the workers when this thread is done, early or not
    std::thread::scope(move |scope| {
        let start_worker = |_| {
            let (todo, done) = (todo.clone(), done.clone());
            let guess = move |chunk| scan_guess(plan, seed, plan.range(start, chunk), new);
            let work = move || {
                // who waits for this chunk must hear of a panic; and it ends when nobody takes any more
                let guess = |chunk| catch_unwind(AssertUnwindSafe(|| guess(chunk)));
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
            // never more than `ahead` chunks in the channels and on the workers together
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

/// The guess of a chunk; those of others that come first wait for their turn. A panic of the worker goes on here.
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

/// A chunk on a worker: from the first place that looks like an event on, as if that were right.
fn scan_guess<C: Collect>(
    plan: Plan<'_>,
    seed: &Scanner,
    range: Range<usize>,
    new: &(dyn Fn() -> C + Sync),
) -> Guess<C> {
    plan.populate(range.start, range.end);
    let start = speculate(plan.bytes, range.start, range.end)? as u64;
    let mut scanner = seed.fork(start);
    let mut part = new();
    let status = scanner.feed(
        Window::whole(plan.bytes),
        plan.stop_at(range.end),
        &mut Feed::new(&mut part, plan.proof),
    );
    part.seal();
    Some(Guessed { start, scanner, status, part })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::envelope::Envelope;
    use tracemill_tokenizer::Event;

    /// Panics at some event.
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
        let (bytes, tier, proof) = (text.as_bytes(), Tier::Scalar, Proof::None);
        Plan { bytes, skip: 0, mapped: None, tier, proof, threads, chunk: 1000 }
    }

    #[test]
    fn nothing_is_scanned_behind_a_failure() {
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
    fn a_panic_of_a_worker_ends_the_scan() {
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
