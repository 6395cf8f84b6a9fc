//! The files that clang included, which are async events (b, e) since clang 19. Other events of
//! clang are complete events.

use crate::value::args::Args;
use crate::value::clock::Clock;
use crate::value::typed::decode_short;
use crate::value::{Value, micros};
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::names::Names;

/// Returns whether reports need a text from the `args` of events with this name.
#[inline]
pub(crate) fn has_detail(name: &[u8]) -> bool {
    matches!(
        name,
        b"Source"
            | b"InstantiateClass"
            | b"InstantiateFunction"
            | b"OptModule"
            | b"OptFunction"
            | b"Frontend"
            | b"Backend"
            | b"ExecuteCompiler"
    )
}

/// Returns whether clang uses a name for sums: events with the total time of other events, written
/// at the end of the trace.
pub(crate) fn is_named_as_sum(name: &[u8]) -> bool {
    name.starts_with(b"Total ")
}

/// Returns whether an event with the name of a sum is a sum: its time is 0, and it has a count.
pub(crate) fn is_sum(event: &Event<'_>, ts: f64) -> bool {
    let count = || decode_short::<Args>(event.field(Field::Args).unwrap_or_default()).count;
    ts == 0.0 && event.phase() == b'X' && count() != Value::Missing
}

/// The begin event or end event of an included file.
#[derive(Clone, Copy)]
struct Half {
    lane: u32,
    /// Index of the file's name in the table of texts; 0 for an end.
    text: u32,
    is_begin: bool,
    /// Time in microseconds.
    ts: f64,
    number: u64,
}

/// A file that the compiler read because of an `#include`, with the time that it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whole {
    pub(crate) lane: u32,
    pub text: u32,
    /// Start in ticks (time units of the trace's clock).
    pub ts: f64,
    pub dur: f64,
    pub number: u64,
}

/// All included files: begin and end events in input order, and later their pairs.
#[derive(Default)]
pub(crate) struct Included {
    halves: Vec<Half>,
    /// Pairs, sorted by track.
    pub(crate) all: Vec<Whole>,
}

impl Included {
    /// Returns whether an async event (b, e) belongs to an included file.
    pub(crate) fn is(event: &Event<'_>) -> bool {
        event.field(Field::Name) == Some(b"\"Source\"")
            && event.field(Field::Cat) == Some(b"\"Source\"")
    }

    /// Adds an event, the `number_in`th of its chunk.
    pub(crate) fn note(&mut self, event: &Event<'_>, lane: u32, number_in: u64, names: &mut Names) {
        let Some(ts) = micros(event, Field::Ts) else { return };
        let args: Args = decode_short(event.field(Field::Args).unwrap_or_default());
        let text = args.detail.text().map_or(0, |text| names.number(text));
        let is_begin = event.phase() == b'b';
        self.halves.push(Half { lane, text, is_begin, ts, number: number_in });
    }

    /// Adds the events of a later chunk, before which there are `first` events.
    pub(crate) fn append(&mut self, later: Included, first: u64, texts: &[u32], lanes: &[u32]) {
        self.halves.extend(later.halves.into_iter().map(|half| Half {
            lane: lanes[half.lane as usize],
            text: texts[half.text as usize],
            number: half.number + first,
            ..half
        }));
    }

    /// Returns the heap bytes of the events and of their pairs.
    pub(crate) fn heap(&self) -> u64 {
        (self.halves.capacity() * size_of::<Half>() + self.halves.len() / 2 * size_of::<Whole>())
            as u64
    }

    /// Aligns the events of all inputs, then pairs them. An end event belongs to the last open
    /// begin event of its thread. `moved` holds the new track and the input of each track.
    pub(crate) fn pair<'p>(
        &mut self,
        moved: &[(u32, usize)],
        place: impl Fn(usize) -> &'p InputPlace,
        clock: Clock,
    ) {
        let mut halves = std::mem::take(&mut self.halves);
        // Sort each thread in input order.
        halves.sort_by_key(|half| (half.lane, half.number));
        let mut open: Vec<Half> = Vec::new();
        for half in halves {
            if open.last().is_some_and(|last| last.lane != half.lane) {
                open.clear();
            }
            if half.is_begin {
                open.push(half);
                continue;
            }
            let Some(begin) = open.pop() else { continue };
            let (lane, input) = moved[half.lane as usize];
            let place = place(input);
            let ts = clock.of_written(place.moved(begin.ts));
            let dur = clock.of_micros(half.ts - begin.ts);
            let (text, number) = (begin.text, begin.number);
            self.all.push(Whole { lane, text, ts, dur, number });
        }
        self.all.sort_by_key(|whole| (whole.lane, whole.number));
    }

    pub(crate) fn of(&self, lane: u32) -> &[Whole] {
        let first = self.all.partition_point(|whole| whole.lane < lane);
        let behind = self.all.partition_point(|whole| whole.lane <= lane);
        &self.all[first..behind]
    }
}
