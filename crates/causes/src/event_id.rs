//! References to events, pairs of B and E, and calls.

use tracemill_analysis::entries::Entry;
use tracemill_analysis::events::causes::CauseEvent;
use tracemill_analysis::profile::functions::Frame;
use tracemill_analysis::value::record::Record;
use tracemill_analysis::{Thread, Trace, id_text, title_of};
use tracemill_trace::record;

record! {
    /// An event, a pair of B and E, or a call of samples.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct EventId {
        /// Number of the thread of a pair or call, with [`PAIR`] for pairs; [`EVENT`] for an event.
        pub(crate) thread: u32,
        /// Kind of an event or pair; node of a call.
        pub(crate) kind: u32,
        /// Number of an event, bits of the time of a pair, or sample of a call; of a call without a
        /// sample [`UNSAMPLED`] and the bits of its time.
        pub(crate) value: u64,
    }
}

const EVENT: u32 = u32::MAX;
const PAIR: u32 = 1 << 31;
/// Flag of calls that an event made. As a whole value: any such call.
const UNSAMPLED: u64 = 1 << 63;

/// The text by which a viewer or a person finds an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKey {
    /// DevTools' key of an event or call.
    Key(String),
    /// A pair of B and E, which has no key in DevTools.
    Pair {
        /// Number of the thread in [`Trace::threads`].
        thread: usize,
        /// Start in microseconds on the trace's clock.
        ts: f64,
        /// Name of the events.
        name: String,
    },
}

impl EventKey {
    /// Returns DevTools' key; `None` for a pair.
    pub fn text(self) -> Option<String> {
        if let EventKey::Key(key) = self { Some(key) } else { None }
    }
}

impl EventId {
    /// Returns the reference to an event by its number among all.
    pub fn of_event(number: u64, kind: u32) -> Self {
        EventId { thread: EVENT, kind, value: number }
    }

    /// Returns the reference to an entry of the flame chart of a thread, by the thread's number.
    pub fn of_entry(entry: &Entry, thread: usize) -> Self {
        let thread = thread as u32;
        match entry.event_number() {
            _ if entry.is_call() => {
                let unsampled = UNSAMPLED | entry.ts.to_bits();
                let value = entry.sample().map_or(unsampled, u64::from);
                EventId { thread, kind: entry.kind, value }
            }
            Some(number) => EventId::of_event(number, entry.kind),
            None => EventId::of_pair(thread, entry.kind, entry.ts),
        }
    }

    /// Returns the reference to an event or pair of a thread, by the thread's number.
    pub fn of_record(record: &Record, thread: usize) -> Self {
        match record.phase() {
            b'X' | b'I' => EventId::of_event(record.number(), record.kind),
            _ => EventId::of_pair(thread as u32, record.kind, record.ts),
        }
    }

    /// Returns the references to an event: to the event, and to the pair that it begins.
    pub fn all_of(event: &CauseEvent, trace: &Trace) -> Vec<Self> {
        let thread = trace.thread_of(event).filter(|_| event.phase == b'B');
        let pair = thread.map(|thread| EventId::of_pair(thread as u32, event.kind, event.ts));
        std::iter::once(EventId::of_event(event.number, event.kind)).chain(pair).collect()
    }

    /// Returns the reference to a pair of B and E, by its thread, kind and start.
    pub(crate) fn of_pair(thread: u32, kind: u32, ts: f64) -> Self {
        EventId { thread: thread | PAIR, kind, value: ts.to_bits() }
    }

    /// Returns a key that sorts as the reference does.
    pub(crate) fn sort_key(self) -> [u64; 2] {
        [u64::from(self.thread) << 32 | u64::from(self.kind), self.value]
    }

    /// Returns the kind of the event with this [`EventId::sort_key`].
    pub(crate) fn kind_of_key(key: [u64; 2]) -> u32 {
        key[0] as u32
    }

    /// Returns the number of an event among all; `None` for pairs and calls.
    pub fn number(self) -> Option<u64> {
        (self.thread == EVENT).then_some(self.value)
    }

    /// Returns the thread of a call.
    fn thread_of_call<'t>(&self, trace: &'t Trace) -> Option<&'t Thread> {
        trace.threads.get(self.thread as usize)
    }

    /// Returns the event or call with a key that DevTools or we print: `r-12`, `s-12`, `p-…`.
    /// Cost: for a call, a search through the nodes of the profile.
    pub fn of_key(trace: &Trace, key: &str) -> Option<Self> {
        let event = key.strip_prefix("r-").or_else(|| key.strip_prefix("s-"));
        if let Some(number) = event {
            let event = trace.cause_event(number.parse().ok()?)?;
            return Some(EventId::of_event(event.number, event.kind));
        }
        let (rest, node) = key.strip_prefix("p-")?.rsplit_once('-')?;
        let node: u64 = node.parse().ok()?;
        trace.threads.iter().enumerate().find_map(|(at, thread)| {
            let thread_id = format!("{}-{}-", id_text(&thread.pid), id_text(&thread.tid));
            let sample: i64 = rest.strip_prefix(&thread_id)?.parse().ok()?;
            let kind = thread.model()?.nodes.iter().position(|other| other.id == node)? as u32;
            let value = u64::try_from(sample).unwrap_or(UNSAMPLED);
            Some(EventId { thread: at as u32, kind, value })
        })
    }

    /// Returns whether the event has the key that [`EventId::of_key`] converted to `key`. Calls that
    /// events made share keys.
    pub fn has_key_of(self, key: EventId) -> bool {
        let is_any = key.value == UNSAMPLED && self.value & UNSAMPLED != 0;
        self == key || is_any && (self.thread, self.kind) == (key.thread, key.kind)
    }

    /// Returns the start in milliseconds on the trace's clock, if it is known.
    pub fn start(self, trace: &Trace) -> Option<f64> {
        if let Some(number) = self.number() {
            return trace.cause_event(number).map(|event| trace.start_of(&event));
        }
        if self.thread & PAIR != 0 {
            return Some(trace.clock().ms_of(f64::from_bits(self.value)));
        }
        if self.value & UNSAMPLED != 0 {
            return Some(trace.clock().ms_of(f64::from_bits(self.value & !UNSAMPLED)));
        }
        let model = self.thread_of_call(trace)?.model()?;
        trace.start_of_sample(model, u32::try_from(self.value).ok()?)
    }

    /// Returns the number of the thread of a call of samples; `None` for events and pairs.
    pub fn call_thread(self) -> Option<usize> {
        let is_call = self.number().is_none() && self.thread & PAIR == 0;
        is_call.then_some(self.thread as usize)
    }

    /// Returns the number of the thread, unless no table has it.
    pub fn thread(self, trace: &Trace) -> Option<usize> {
        match self.number() {
            Some(number) => trace.thread_of(&trace.cause_event(number)?),
            None => Some((self.thread & !PAIR) as usize),
        }
    }

    /// Returns the name of the event, or of the function of the call.
    pub fn name(self, trace: &Trace) -> String {
        trace.names().text(self.name_number(trace))
    }

    /// Returns the number of the text of [`EventId::name`] in [`Trace::names`].
    pub(crate) fn name_number(self, trace: &Trace) -> u32 {
        match self.call_frame(trace) {
            Some(frame) => frame.function,
            None => trace.kinds()[self.kind as usize].name,
        }
    }

    /// Returns the name in DevTools of an event or call.
    pub(crate) fn title(self, trace: &Trace) -> String {
        let name = self.name(trace);
        match self.call_frame(trace) {
            Some(_) => name,
            None => title_of(&name).map_or_else(|| name.clone(), str::to_owned),
        }
    }

    /// Returns the function of a call; `None` for events.
    fn call_frame(self, trace: &Trace) -> Option<Frame> {
        self.call_thread()?;
        Some(self.thread_of_call(trace)?.model()?.frame(self.kind))
    }

    /// Returns the key of the event.
    pub fn key(self, trace: &Trace) -> EventKey {
        if let Some(number) = self.number() {
            return EventKey::Key(format!("r-{number}"));
        }
        if self.thread & PAIR != 0 {
            let (thread, ts) = (self.thread & !PAIR, f64::from_bits(self.value));
            let ts = trace.clock().micros(ts);
            return EventKey::Pair { thread: thread as usize, ts, name: self.name(trace) };
        }
        let thread = self.thread_of_call(trace);
        let [pid, tid] = thread.map_or_else(Default::default, |thread| {
            [&thread.pid, &thread.tid].map(|id| id_text(id))
        });
        let node = thread.and_then(Thread::model).map_or(0, |model| model.node(self.kind).id);
        let sample = if self.value & UNSAMPLED != 0 { -1 } else { self.value as i64 };
        EventKey::Key(format!("p-{pid}-{tid}-{sample}-{node}"))
    }
}
