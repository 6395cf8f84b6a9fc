//! Reads byte ranges (pieces) of one input, for callers such as an index that know the relevant
//! events.
//!
//! ```text
//!   head ─ to the first event │ event │ range │ range │ event … │ range to the end
//! ```
//!
//! Top-level keys are found too. The bytes before the first event are always scanned, and the bytes
//! after the last event are scanned if a piece reaches the end. Pieces must begin at events, in an
//! input with one document and no damage; otherwise the findings are wrong without an error.
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
//! let (tier, proof) = (Tier::best(), Proof::Partial);
//! let plan = Plan { bytes, skip: 0, mapped: None, tier, proof, threads: 1, chunk: 1 << 20 };
//! let (mut times, mut keys) = (Vec::new(), 0);
//! scan_pieces(plan, &[Piece::Event(25, 8), Piece::Stretch(43..u64::MAX)], &Times::default, |part, _bytes| {
//!     times.extend(part.1);
//!     keys += part.0.keys.len();
//!     Ok(())
//! })?;
//! assert_eq!((times, keys), (vec![2_000, 4_000], 1)); // 1: the piece reaches the end
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

pub use crate::event::envelope::Collect;
use crate::event::envelope::Envelope;
use crate::event::proof::{Feed, proving_scanner};
use crate::input::packed::Unpacking;
use crate::read::scan::Plan;
use crate::run::error::Error;
use crate::run::threads::try_each;
use std::ops::Range;
use tracemill_tokenizer::{
    Cursor, Damage, Event, Form, Member, Note, Scanner, Shapes, Status, Stop, Window, visit_event,
};

/// A byte range of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// One event: its offset, and its length in bytes, or 0 if the length is unknown and small.
    Event(u64, u64),
    /// All events of a range. The range begins at an event and ends after an event. A range that
    /// ends past the input includes the top-level keys after the last event.
    Stretch(Range<u64>),
}

/// The byte ranges of an input to read.
#[derive(Clone, Debug, Default)]
pub struct ChosenPieces {
    /// Byte ranges to read, ascending.
    pub pieces: Vec<Piece>,
    /// Parts of a packed input to unpack for `pieces`; `None` for a plain input.
    pub unpacked: Option<Unpacking>,
}

impl Piece {
    /// Returns the known length of the piece in bytes, in an input of length `len`.
    pub(crate) fn bytes(&self, len: u64) -> u64 {
        match self {
            Piece::Event(place, bytes) => len.saturating_sub(*place).min(*bytes),
            Piece::Stretch(range) => len.min(range.end).saturating_sub(range.start),
        }
    }
}

/// Number of pieces per batch that are worth a thread, however few bytes they have.
const EVENTS: usize = 4096;

/// Scans the head of `plan.bytes` and ascending pieces. Passes findings to `take` on the calling
/// thread, in input order, with the number of bytes scanned for them.
///
/// Cost: reads each byte of the pieces once, on all threads. Heap: the findings of two batches per
/// thread.
///
/// # Errors
/// Returns the first error of `take`, which ends the scan.
pub fn scan_pieces<C: Collect>(
    plan: Plan<'_>,
    pieces: &[Piece],
    new: &(dyn Fn() -> C + Sync),
    mut take: impl FnMut(C, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut scanner = proving_scanner(plan.tier, plan.skip as u64);
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
    // bounds the findings in memory to a few batches
    for round in batches.chunks(2 * plan.threads.max(1)) {
        let scan = |number: usize| {
            let (mut part, mut shapes) = (new(), Shapes::default());
            for piece in &pieces[round[number].clone()] {
                scan_piece(plan, piece, seed, &mut shapes, &mut part);
            }
            part.seal();
            Ok::<_, Error>(part)
        };
        let parts = try_each(plan.threads, round.len(), scan)?;
        for (part, range) in parts.into_iter().zip(round) {
            let bytes = pieces[range.clone()].iter().map(|piece| piece.bytes(len)).sum();
            take(part, bytes)?;
        }
    }
    Ok(())
}

/// Collects documents, keys and damage, but ignores events. In NDJSON the scanner reports the first
/// event before it knows the form of the document.
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

/// Groups pieces into batches for workers, each large enough in bytes or number of pieces.
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

/// Scans one piece into `part`. A single event ends at its own closing brace.
fn scan_piece<C: Collect>(
    plan: Plan<'_>,
    piece: &Piece,
    seed: &Scanner,
    shapes: &mut Shapes,
    part: &mut C,
) {
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
            // the window ends with the piece, so later bytes are not read
            let window = Window::whole(&plan.bytes[..end]);
            let mut scanner = seed.fork(*start);
            scanner.swap_shapes(shapes);
            _ = scanner.feed(window, Stop::NEVER, &mut feed);
            scanner.swap_shapes(shapes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::proof::Proof;
    use tracemill_tokenizer::{Field, Tier};

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

    /// Returns the findings of `scan_pieces` in `text`.
    fn found(text: &str, pieces: &[Piece], (threads, chunk): (usize, usize)) -> Found {
        let plan = Plan {
            bytes: text.as_bytes(),
            skip: 0,
            mapped: None,
            tier: Tier::best(),
            proof: Proof::Partial,
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
    fn finds_events_of_pieces_in_ndjson() {
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
    fn pieces_yield_their_events_and_all_top_level_keys() {
        let events: Vec<String> =
            (0..1000).map(|ts| format!("{{ \"ph\":\"i\", \"ts\":{ts}}}")).collect();
        let text = format!("{{\"a\":1,\"traceEvents\":[{}],\"b\":2}}", events.join(",\n"));
        let place = |number: usize| text.find(&events[number]).expect("it is there") as u64;
        let range = |from, to| Piece::Stretch(place(from)..place(to) - 2);
        let pieces = [
            Piece::Event(place(3), 0),
            range(10, 12),
            range(12, 200),
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
