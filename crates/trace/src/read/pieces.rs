//! Pieces of one input instead of all of it, for who knows which of its events matter (an index does).
//!
//! ```text
//!   head ─ to the first event │ event │ stretch │ stretch │ event … │ stretch to the end
//! ```
//!
//! What stands before the first event is always scanned, and what stands behind the last one if the last piece reaches to the end: so keys
//! beside the events are found as a scan finds them. Pieces begin at events, and the input has one document and no damage: that is
//! what the caller knows. If it is wrong about that, findings are those of other bytes, and it must see that by itself.
//!
//! ```
//! use tracemill_trace::event::envelope::{Collect, Envelope};
//! use tracemill_trace::read::pieces::{Piece, scan_pieces};
//! use tracemill_trace::event::proof::Proof;
//! use tracemill_trace::read::scan::Plan;
//! use tracemill_tokenizer::{Event, Tier};
//!
//! #[derive(Default)]
//! struct Times(Envelope, Vec<i64>);
//!
//! impl Collect for Times {
//!     fn envelope(&mut self) -> &mut Envelope {
//!         &mut self.0
//!     }
//!
//!     fn event(&mut self, event: &Event<'_>) {
//!         self.1.extend(event.ts().map(|ts| ts.floor));
//!     }
//! }
//!
//! let bytes = br#"{"traceEvents":[{"ts":1},{"ts":2},{"ts":3},{"ts":4}],"n":1}"#;
//! let (tier, proof) = (Tier::best(), Proof::None);
//! let plan = Plan { bytes, skip: 0, mapped: None, tier, proof, threads: 1, chunk: 1 << 20 };
//! let (mut times, mut keys) = (Vec::new(), 0);
//! scan_pieces(plan, &[Piece::Event(25, 8), Piece::Stretch(43..u64::MAX)], &Times::default, |part, _bytes| {
//!     times.extend(part.1);
//!     keys += part.0.keys.len();
//!     Ok(())
//! })?;
//! assert_eq!((times, keys), (vec![2_000, 4_000], 1)); // the key behind the events, since a piece reaches to the end
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

pub use crate::event::envelope::Collect;
use crate::event::envelope::Envelope;
use crate::event::proof::Feed;
use crate::input::packed::Unpacking;
use crate::read::scan::Plan;
use crate::run::error::Error;
use crate::run::threads::try_each;
use std::ops::Range;
use tracemill_tokenizer::{
    Cursor, Damage, Event, Form, Member, Note, Scanner, Status, Stop, Window, visit_event,
};

/// A piece of an input, by offsets in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The event that begins here, and its bytes, or 0 where these are not known and few.
    Event(u64, u64),
    /// Events from the begin of the first to the end of the last. If it ends behind the input, what follows the last of them is read too.
    Stretch(Range<u64>),
}

/// What is read of an input, instead of all of it.
#[derive(Clone, Debug, Default)]
pub struct ChosenPieces {
    /// Its pieces, which ascend.
    pub pieces: Vec<Piece>,
    /// Of a packed input, what is unpacked for them.
    pub unpacked: Option<Unpacking>,
}

impl Piece {
    /// Its bytes in an input of this length, as far as they are known.
    pub(crate) fn bytes(&self, len: u64) -> u64 {
        match self {
            Piece::Event(place, bytes) => len.saturating_sub(*place).min(*bytes),
            Piece::Stretch(range) => len.min(range.end).saturating_sub(range.start),
        }
    }
}

/// Events that are worth a thread's while.
const EVENTS: usize = 4096;

/// Scans the head of `plan.bytes` and its pieces, which ascend, and gives the findings to `take` in input order, with the bytes that were
/// scanned for them. `take` is called on this thread.
///
/// Cost: a look at each byte of the pieces, on all threads; nothing is guessed, since pieces begin at events. Heap: the findings of two batches
/// a thread.
///
/// # Errors
/// The first of `take`, after which nothing more is scanned.
pub fn scan_pieces<C: Collect>(
    plan: Plan<'_>,
    pieces: &[Piece],
    new: &(dyn Fn() -> C + Sync),
    mut take: impl FnMut(C, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut scanner = plan.proof.scanner(plan.tier, plan.skip as u64);
    let mut head = new();
    let stop = Stop { at_events: true, ..Stop::NEVER };
    let mut beside = BesideEvents(&mut head);
    let mut feed = Feed::new(&mut beside, plan.proof);
    let status = scanner.feed(Window::whole(plan.bytes), stop, &mut feed);
    head.seal();
    let Status::Events(start) = status else { return take(head, plan.bytes.len() as u64) };
    take(head, start)?;
    let len = plan.bytes.len() as u64;
    let seed = &scanner.fork(start);
    let batches: Vec<Range<usize>> = batches(plan, pieces);
    // findings of a few batches are in memory at a time
    for round in batches.chunks(2 * plan.threads.max(1)) {
        let scan = |number: usize| {
            let mut part = new();
            let own = &pieces[round[number].clone()];
            own.iter().for_each(|piece| scan_piece(plan, piece, seed, &mut part));
            part.seal();
            Ok::<_, Error>(part)
        };
        let parts = try_each(plan.threads, round.len(), scan)?;
        for (part, own) in parts.into_iter().zip(round) {
            let bytes = pieces[own.clone()].iter().map(|piece| piece.bytes(len)).sum();
            take(part, bytes)?;
        }
    }
    Ok(())
}

/// Takes what stands beside the events. Of a trace that has an event a line the first one is seen before it is clear what it is.
struct BesideEvents<'c, C>(&'c mut C);

impl<C: Collect> Collect for BesideEvents<'_, C> {
    fn envelope(&mut self) -> &mut Envelope {
        self.0.envelope()
    }

    fn event(&mut self, _event: &Event<'_>) {}

    fn document(&mut self, form: Form) {
        self.0.document(form);
    }

    fn member(&mut self, member: Member<'_>) {
        self.0.member(member);
    }

    fn damage(&mut self, damage: &Damage<'_>) {
        self.0.damage(damage);
    }

    fn note(&mut self, note: Note, offset: u64) {
        self.0.note(note, offset);
    }
}

/// Pieces that one worker takes at a time: so many that their bytes, or their number, are worth it.
fn batches(plan: Plan<'_>, pieces: &[Piece]) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (number, piece) in pieces.iter().enumerate() {
        bytes += piece.bytes(plan.bytes.len() as u64);
        if bytes >= plan.chunk as u64 || number - from >= EVENTS || number + 1 == pieces.len() {
            batches.push(from..number + 1);
            (from, bytes) = (number + 1, 0);
        }
    }
    batches
}

/// One piece into a part. An event by itself is found by its own brackets, so nothing behind it is looked at.
fn scan_piece<C: Collect>(plan: Plan<'_>, piece: &Piece, seed: &Scanner, part: &mut C) {
    match piece {
        &Piece::Event(place, _) => {
            let rest = plan.bytes.get(place as usize..).unwrap_or_default();
            if rest.first() == Some(&b'{') {
                visit_event(Cursor::new(rest).value(), place, |event| part.event(event));
            }
        }
        Piece::Stretch(Range { start, end }) => {
            let len = plan.bytes.len() as u64;
            if *start >= len {
                return;
            }
            let end = len.min(*end) as usize;
            plan.populate(*start as usize, end);
            let mut feed = Feed::new(part, plan.proof);
            // as if the input ended behind it: nothing else is looked at
            let window = Window::whole(&plan.bytes[..end]);
            _ = seed.fork(*start).feed(window, Stop::NEVER, &mut feed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::proof::Proof;
    use tracemill_tokenizer::{Field, Tier};

    /// Times of events, with their places.
    #[derive(Default)]
    struct Found(Envelope, Vec<(i64, u64)>);

    impl Collect for Found {
        fn envelope(&mut self) -> &mut Envelope {
            &mut self.0
        }

        fn event(&mut self, event: &Event<'_>) {
            assert_eq!(event.field(Field::Ph), Some(&b"\"i\""[..]));
            self.1.extend(event.ts().map(|ts| (ts.floor, event.offset)));
        }
    }

    /// What is found in pieces.
    fn found(text: &str, pieces: &[Piece], (threads, chunk): (usize, usize)) -> Found {
        let plan = Plan {
            bytes: text.as_bytes(),
            skip: 0,
            mapped: None,
            tier: Tier::best(),
            proof: Proof::None,
            threads,
            chunk,
        };
        let mut found = Found::default();
        let take = |mut part: Found, _| {
            found.1.append(&mut part.1);
            found.0.documents.append(&mut part.0.documents);
            found.0.keys.append(&mut part.0.keys);
            Ok(())
        };
        scan_pieces(plan, pieces, &Found::default, take).expect("nothing fails");
        found
    }

    #[test]
    fn of_events_on_lines_those_in_pieces_are_found() {
        let line = |ts: usize| format!("{{\"ph\":\"i\",\"ts\":{ts}}}\n");
        let text: String = (0..9).map(line).collect();
        let place = |number: usize| text.find(&line(number)).expect("it is there") as u64;
        let some = [Piece::Event(place(2), 0), Piece::Stretch(place(5)..place(7) - 1)];
        assert_eq!(
            found(&text, &some, (1, 1 << 20)).1,
            [2, 5, 6].map(|n| (1000 * n as i64, place(n)))
        );
        let first = [Piece::Event(0, 0)];
        assert_eq!(found(&text, &first, (1, 1 << 20)).1, [(0, 0)]);
    }

    #[test]
    fn pieces_have_the_events_that_begin_in_them_and_keys_are_found() {
        let events: Vec<String> =
            (0..1000).map(|ts| format!("{{ \"ph\":\"i\", \"ts\":{ts}}}")).collect();
        let text = format!("{{\"a\":1,\"traceEvents\":[{}],\"b\":2}}", events.join(",\n"));
        let place = |number: usize| text.find(&events[number]).expect("it is there") as u64;
        let stretch = |from, to| Piece::Stretch(place(from)..place(to) - 2);
        let pieces = [
            Piece::Event(place(3), 0),
            stretch(10, 12),
            stretch(12, 200),
            Piece::Event(place(500), 40),
            Piece::Stretch(place(990)..u64::MAX),
        ];
        let numbers = [3].into_iter().chain(10..200).chain([500]).chain(990..1000);
        let expected: Vec<_> = numbers.map(|n| (n as i64 * 1000, place(n))).collect();
        for knobs in [(1, 1 << 20), (2, 100), (3, 1)] {
            let Found(envelope, events) = found(&text, &pieces, knobs);
            assert_eq!(events, expected);
            let of_documents = envelope.documents.into_iter().flat_map(|document| document.keys);
            let keys: Vec<_> = of_documents.chain(envelope.keys).map(|key| key.key).collect();
            assert_eq!(keys, [Box::from(*b"\"a\""), Box::from(*b"\"b\"")]);
        }
    }
}
