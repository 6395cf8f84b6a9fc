//! Collects the findings of a scan: whole, in pieces and in chunks.

use std::fmt;
use std::ops::Range;
use tracemill_tokenizer::{
    Damage, DamageKind, Event, Field, Form, Member, Nanos, Note, Scanner, Shapes, Sink, Status,
    Stop, Tier, Window, speculate, validate_value,
};

/// One finding; ranges are in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Event { span: Range<usize>, fields: Box<Places>, times: Times },
    Document(Form),
    Member { key: Vec<u8>, value: Range<usize> },
    Damage { kind: DamageKind, span: Range<usize> },
    Note(Note, u64),
}

/// Range of the value of each field.
pub(crate) type Places = [Option<Range<usize>>; Field::COUNT];

/// `ts` and `dur` of an event.
type Times = [Option<Nanos>; 2];

/// All findings of a scan, in order. Findings are equal only if the input bytes of their ranges are
/// equal.
#[derive(Clone)]
pub(crate) struct Log<'i> {
    input: &'i [u8],
    pub(crate) found: Vec<Found>,
    /// Number of events that the scan proved.
    proved: usize,
}

impl PartialEq for Log<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.input, &self.found) == (other.input, &other.found)
    }
}

impl<'i> Log<'i> {
    fn new(input: &'i [u8]) -> Self {
        Log { input, found: Vec::new(), proved: 0 }
    }

    fn push_checked(&mut self, found: Found, span: &Range<usize>, bytes: &[u8]) {
        assert!(self.input.get(span.clone()) == Some(bytes), "{found:?} has other bytes");
        self.found.push(found);
    }

    /// Returns the findings as lines of text.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = |span: &Range<usize>| String::from_utf8_lossy(&self.input[span.clone()]);
        let line = |found: &Found| match found {
            Found::Event { span, .. } => format!("{} {}", span.start, text(span)),
            Found::Document(form) => format!("{form:?}"),
            Found::Member { key, value } => {
                format!("{}={}", String::from_utf8_lossy(key), text(value))
            }
            Found::Damage { kind, span } => format!("{kind:?} {} {}", span.start, text(span)),
            Found::Note(note, offset) => format!("{note:?} {offset}"),
        };
        self.found.iter().map(line).collect()
    }

    pub(crate) fn is_sound(&self) -> bool {
        !self.found.iter().any(|found| matches!(found, Found::Damage { .. }))
    }
}

impl fmt::Debug for Log<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.found).finish()
    }
}

impl Sink for Log<'_> {
    fn event(&mut self, event: &Event<'_>) {
        let start = event.offset as usize;
        let span = start..start + event.bytes.len();
        let place = |field| {
            let value = event.field(field)?;
            let at = start + value.as_ptr().addr() - event.bytes.as_ptr().addr();
            Some(at..at + value.len())
        };
        let fields = Box::new(Field::ALL.map(place));
        let found = Found::Event { span: span.clone(), fields, times: [event.ts(), event.dur()] };
        self.push_checked(found, &span, event.bytes);
        if event.is_proved() {
            assert_eq!(validate_value(event.bytes), Ok(()), "{}", event.bytes.escape_ascii());
            self.proved += 1;
        }
    }
    fn document(&mut self, form: Form) {
        self.found.push(Found::Document(form));
    }
    fn member(&mut self, member: Member<'_>) {
        let start = member.value_offset as usize;
        let value = start..start + member.value.len();
        let found = Found::Member { key: member.key.to_vec(), value: value.clone() };
        self.push_checked(found, &value, member.value);
    }
    fn damage(&mut self, damage: Damage<'_>) {
        let start = damage.offset as usize;
        let span = start..start + damage.lost.len();
        let found = Found::Damage { kind: damage.kind, span: span.clone() };
        self.push_checked(found, &span, damage.lost);
    }
    fn note(&mut self, note: Note, offset: u64) {
        self.found.push(Found::Note(note, offset));
    }
}

/// Returns the tiers that this processor supports.
pub(crate) fn tiers() -> impl Iterator<Item = Tier> {
    Tier::ALL.into_iter().filter(|tier| tier.is_available())
}

/// Scans the whole input at once.
pub(crate) fn whole(input: &[u8], tier: Tier) -> Log<'_> {
    in_pieces(input, tier, std::iter::repeat(input.len().max(1))).0
}

/// Scans like [`in_pieces`] and proves events. Also returns the number of proved events.
pub(crate) fn proved(
    input: &[u8],
    tier: Tier,
    pieces: impl IntoIterator<Item = usize>,
) -> (Log<'_>, usize) {
    let mut scanner = Scanner::new(tier);
    scanner.prove(tier);
    let log = feed_in_pieces(&mut scanner, input, pieces);
    let count = log.proved;
    (log, count)
}

/// Scans in pieces of these lengths, and keeps only the bytes that the scanner needs. Also returns
/// the number of classified bytes.
pub(crate) fn in_pieces(
    input: &[u8],
    tier: Tier,
    pieces: impl IntoIterator<Item = usize>,
) -> (Log<'_>, u64) {
    let mut scanner = Scanner::new(tier);
    let log = feed_in_pieces(&mut scanner, input, pieces);
    (log, scanner.classified())
}

fn feed_in_pieces<'i>(
    scanner: &mut Scanner,
    input: &'i [u8],
    pieces: impl IntoIterator<Item = usize>,
) -> Log<'i> {
    let (mut log, mut end) = (Log::new(input), 0);
    for piece in pieces {
        end = (end + piece).min(input.len());
        let base = scanner.retain_from();
        let bytes = &input[base as usize..end];
        let window = Window { bytes, base, last: end == input.len() };
        match scanner.feed(window, Stop::NEVER, &mut log) {
            Status::NeedInput => assert!(end < input.len()),
            Status::End => return log,
            status => panic!("{status:?} without a stop"),
        }
    }
    panic!("the pieces are shorter than the input");
}

/// Scans like the pipeline and proves events: up to the first events, then in chunks from guessed
/// starts, which are verified at their borders. Passes shapes from chunk to chunk.
pub(crate) fn in_chunks(input: &[u8], tier: Tier, chunk: usize) -> Log<'_> {
    let (mut log, mut shapes) = (Log::new(input), Shapes::default());
    let mut scanner = Scanner::new(tier);
    scanner.prove(tier);
    let window = Window::whole(input);
    let stop = Stop { border: u64::MAX, at_events: true };
    let Status::Events(start) = scanner.feed(window, stop, &mut log) else { return log };
    let seed = scanner.fork(start);
    let mut from = start as usize;
    let mut at = None;
    loop {
        let to = (from + chunk).min(input.len());
        let stop =
            Stop { border: if to == input.len() { u64::MAX } else { to as u64 }, ..Stop::NEVER };
        let guess = speculate(input, from, to);
        let proven =
            at.is_some() && at == guess.map(|at| at as u64) && scanner.level() == seed.level();
        if proven {
            scanner = seed.fork(guess.expect("it equals a place") as u64);
        }
        scanner.swap_shapes(&mut shapes);
        let status = scanner.feed(window, stop, &mut log);
        scanner.swap_shapes(&mut shapes);
        match status {
            Status::Border(next) => at = Some(next),
            Status::End => return log,
            status => panic!("{status:?}"),
        }
        from = to;
    }
}
