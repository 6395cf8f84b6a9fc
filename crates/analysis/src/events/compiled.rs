//! What clang was at: since clang 19 the files that it includes are pairs of asynchronous events (b, e), since they need not nest in
//! what is parsed of them. All others are complete events, which are records as any.

use crate::value::args::Args;
use crate::value::clock::Clock;
use crate::value::typed::decode_short;
use crate::value::{Value, micros};
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::names::Names;

/// Whether events of this name tell in `args` what they are of, and reports ask for it.
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

/// Whether clang names sums so: behind its events it writes how long those of each name took, each on a thread of its own.
pub(crate) fn is_named_as_sum(name: &[u8]) -> bool {
    name.starts_with(b"Total ")
}

/// Whether an event of such a name is a sum: it stands at 0 and says of how many.
pub(crate) fn is_sum(event: &Event<'_>, ts: f64) -> bool {
    let count = || decode_short::<Args>(event.field(Field::Args).unwrap_or_default()).count;
    ts == 0.0 && event.phase() == b'X' && count() != Value::Missing
}

/// The begin or the end of a file that is included.
#[derive(Clone, Copy)]
struct Half {
    lane: u32,
    /// The file; of an end 0.
    text: u32,
    is_begin: bool,
    /// Microseconds.
    ts: f64,
    /// Among all events.
    number: u64,
}

/// A file that was included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whole {
    pub(crate) lane: u32,
    pub text: u32,
    /// Ticks.
    pub ts: f64,
    pub dur: f64,
    pub number: u64,
}

/// All of them: halves in the order of the inputs, and what these make once all are known.
#[derive(Default)]
pub(crate) struct Included {
    halves: Vec<Half>,
    /// By lane.
    pub(crate) all: Vec<Whole>,
}

impl Included {
    /// Whether an event (b, e) is one of them.
    pub(crate) fn is(event: &Event<'_>) -> bool {
        event.field(Field::Name) == Some(b"\"Source\"")
            && event.field(Field::Cat) == Some(b"\"Source\"")
    }

    /// Takes one, the `number`th of its stretch.
    pub(crate) fn note(&mut self, event: &Event<'_>, lane: u32, number_in: u64, names: &mut Names) {
        let Some(ts) = micros(event, Field::Ts) else { return };
        let args: Args = decode_short(event.field(Field::Args).unwrap_or_default());
        let text = args.detail.text().map_or(0, |text| names.number(text));
        let is_begin = event.phase() == b'b';
        self.halves.push(Half { lane, text, is_begin, ts, number: number_in });
    }

    /// Takes over those of a later stretch, before which `first` events stand.
    pub(crate) fn append(&mut self, later: Included, first: u64, texts: &[u32], lanes: &[u32]) {
        self.halves.extend(later.halves.into_iter().map(|own| Half {
            lane: lanes[own.lane as usize],
            text: texts[own.text as usize],
            number: own.number + first,
            ..own
        }));
    }

    /// Bytes of heap: of what there is, and of what is made of it.
    pub(crate) fn heap(&self) -> u64 {
        (self.halves.capacity() * size_of::<Half>() + self.halves.len() / 2 * size_of::<Whole>())
            as u64
    }

    /// Pairs them where the inputs stand beside each other: an end is that of the last of its thread that is open. `moved` has of each lane
    /// the one that it became, and its input. Their times are ticks of a clock from then on.
    pub(crate) fn pair<'p>(
        &mut self,
        moved: &[(u32, usize)],
        place: impl Fn(usize) -> &'p InputPlace,
        clock: Clock,
    ) {
        let mut halves = std::mem::take(&mut self.halves);
        // of each thread in the order of the inputs
        halves.sort_by_key(|own| (own.lane, own.number));
        let mut open: Vec<Half> = Vec::new();
        for own in halves {
            if open.last().is_some_and(|last| last.lane != own.lane) {
                open.clear();
            }
            if own.is_begin {
                open.push(own);
                continue;
            }
            let Some(begin) = open.pop() else { continue };
            let (lane, input) = moved[own.lane as usize];
            let place = place(input);
            let ts = clock.of_written(place.moved(begin.ts));
            let dur = clock.of_micros(own.ts - begin.ts);
            let (text, number) = (begin.text, begin.number);
            self.all.push(Whole { lane, text, ts, dur, number });
        }
        self.all.sort_by_key(|own| (own.lane, own.number));
    }

    /// Those of a lane.
    pub(crate) fn of(&self, lane: u32) -> &[Whole] {
        let first = self.all.partition_point(|own| own.lane < lane);
        let behind = self.all.partition_point(|own| own.lane <= lane);
        &self.all[first..behind]
    }
}
