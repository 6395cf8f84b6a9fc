//! Time of events by the function that called them, or by what started them.

use crate::Causes;
use crate::event_id::EventId;
use crate::rows::CauseRows;
use crate::sites::Site;
use crate::stacks::StackId;
use tracemill_analysis::entries::Entry;
use tracemill_analysis::{Trace, Window};
use tracemill_trace::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::hash::HashMap;

/// The cause by which time is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// The innermost function around an event, the one that scheduled it, or that of its
    /// initiators.
    Caller,
    /// The initiator of an event or of the nearest event around it.
    Initiator,
}

/// Time of events with one cause, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CauseTotal {
    /// Name of the function or event that caused the events; `None` if nothing did.
    pub cause: Option<String>,
    /// Place of the function, if it has one.
    pub site: Option<Site>,
    /// Number of events.
    pub count: u64,
    /// Time of the events, without events inside others with the same cause.
    pub total: f64,
    /// Time of the events without what lies inside them.
    pub self_time: f64,
}

/// The events to sum up.
pub struct CauseQuery<'q> {
    /// The cause by which to sum up.
    pub by: CauseKind,
    /// Numbers of the threads.
    pub threads: &'q [usize],
    /// The time that counts, in milliseconds on the trace's clock.
    pub window: Window,
    /// Whether events with a name, and calls of a function with the name, count.
    pub is_counted: &'q dyn Fn(&str) -> bool,
}

/// The cause that a sum belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    None,
    /// A function of the table of stacks.
    Frame(u32),
    /// Name of events, or of the function of calls, by the number of its text.
    Name(u32),
}

#[derive(Clone, Copy, Default)]
struct Sums {
    count: u64,
    /// Ticks.
    total: f64,
    self_time: f64,
}

/// An open entry.
struct Open {
    entry: Entry,
    /// Duration in the window without that of children, in ticks.
    self_time: f64,
    initiator: Option<EventId>,
    /// The cause, if the entry counts.
    key: Option<Key>,
}

/// Sums up events by cause, most self time first.
///
/// Cost: a walk over the flame charts of the threads. Memory: the causes.
///
/// # Errors
/// Returns an I/O error if a temporary file fails, or
/// [`tracemill_trace::ErrorKind::Exceeded`] if there are too many causes.
pub fn totals(
    trace: &Trace,
    causes: &Causes,
    query: &CauseQuery<'_>,
) -> Result<Vec<CauseTotal>, Error> {
    let room = trace.limits().quota("causes of totals", Share::of(1, 8));
    let rows = causes.rows(trace)?;
    let (sums, names, open) = Default::default();
    let mut totals = Totals { trace, causes, rows, query, sums, names, open };
    for &thread in query.threads {
        totals.add_thread(thread)?;
        room.check(totals.sums.capacity() as u64 * 48, "causes")?;
    }
    let mut rows: Vec<CauseTotal> =
        totals.sums.iter().map(|(key, sums)| totals.row(*key, *sums)).collect();
    rows.sort_by(|a, b| {
        b.self_time
            .total_cmp(&a.self_time)
            .then_with(|| a.cause.cmp(&b.cause))
            .then(b.count.cmp(&a.count))
    });
    Ok(rows)
}

struct Totals<'t> {
    trace: &'t Trace,
    causes: &'t Causes,
    rows: CauseRows,
    query: &'t CauseQuery<'t>,
    sums: HashMap<Key, Sums>,
    /// Whether entries with the name of a text count.
    names: HashMap<u32, bool>,
    /// Number of open entries of each cause.
    open: HashMap<Key, u64>,
}

/// Maximum number of initiators among which a caller is looked for.
const CHAIN: usize = 10;

impl Totals<'_> {
    fn add_thread(&mut self, number: usize) -> Result<(), Error> {
        let track = self.trace.track(&self.trace.threads[number])?;
        let mut stacks = self.causes.stacks.of_thread(number).peekable();
        let mut open: Vec<Open> = Vec::new();
        for placed in track.entries() {
            while open.len() > placed.depth as usize {
                self.close(open.pop());
            }
            let entry = placed.entry;
            let id = EventId::of_entry(&entry, number);
            let stack = stacks.next_if(|row| row.event == id).map(|row| row.stack);
            let self_time = self.clipped(&entry);
            if let Some(outer) = open.last_mut() {
                outer.self_time -= self_time;
            }
            let inherited = open.last().and_then(|outer| outer.initiator);
            let initiator = self.causes.initiators.of(id).or(inherited);
            let key = match (self.is_counted(id, &entry), self.query.by) {
                (false, _) => None,
                (true, CauseKind::Caller) => {
                    Some(self.caller(stack.unwrap_or_default(), entry.is_call(), initiator))
                }
                (true, CauseKind::Initiator) => {
                    Some(initiator.map_or(Key::None, |id| Key::Name(id.name_number(self.trace))))
                }
            };
            if let Some(key) = key {
                *self.open.entry(key).or_default() += 1;
            }
            open.push(Open { entry, self_time, initiator, key });
        }
        while let Some(last) = open.pop() {
            self.close(Some(last));
        }
        Ok(())
    }

    /// Returns the innermost function of a stack, or of the stack of the nearest initiator that has
    /// one.
    fn caller(&self, stack: StackId, is_call: bool, initiator: Option<EventId>) -> Key {
        let stacks = &self.causes.stacks;
        if let Some(frame) = stacks.caller(stack, is_call) {
            return Key::Frame(frame);
        }
        let mut next = initiator;
        for _ in 0..CHAIN {
            let Some(row) = next.and_then(|id| self.rows.of(id)) else { break };
            if let Some(frame) = stacks.caller(row.stack, false) {
                return Key::Frame(frame);
            }
            next = row.initiator;
        }
        Key::None
    }

    /// Returns the duration of an entry inside the window, in ticks.
    fn clipped(&self, entry: &Entry) -> f64 {
        let clock = self.trace.clock();
        let (from, to) =
            (clock.ticks_of(self.query.window.from), clock.ticks_of(self.query.window.to));
        (entry.end().min(to) - entry.ts.max(from)).max(0.0)
    }

    fn is_counted(&mut self, id: EventId, entry: &Entry) -> bool {
        let clock = self.trace.clock();
        let window = self.query.window;
        if entry.end() < clock.ticks_of(window.from) || entry.ts > clock.ticks_of(window.to) {
            return false;
        }
        let (trace, query) = (self.trace, self.query);
        *self.names.entry(id.name_number(trace)).or_insert_with(|| {
            (query.is_counted)(&id.name(trace)) || (query.is_counted)(&id.title(trace))
        })
    }

    fn close(&mut self, open: Option<Open>) {
        let Some(Open { entry, self_time, key: Some(key), .. }) = open else { return };
        let inside = self.open.entry(key).or_default();
        *inside -= 1;
        let total = if *inside == 0 { self.clipped(&entry) } else { 0.0 };
        let sums = self.sums.entry(key).or_default();
        sums.count += 1;
        sums.total += total;
        sums.self_time += self_time;
    }

    fn row(&self, key: Key, sums: Sums) -> CauseTotal {
        let clock = self.trace.clock();
        let site = match key {
            Key::Frame(frame) => Some(self.causes.stacks.site_of(frame)),
            _ => None,
        };
        let cause = match key {
            Key::None => None,
            Key::Frame(_) => site.as_ref().and_then(|site| site.function.clone()),
            Key::Name(name) => Some(self.trace.names().text(name)),
        };
        CauseTotal {
            cause,
            site,
            count: sums.count,
            total: clock.ms_of(sums.total),
            self_time: clock.ms_of(sums.self_time),
        }
    }
}
