//! Finds events by name, for choosing a window around an event.

use std::str::FromStr;
use tracemill_cpuprofile::ProfileReader;
use tracemill_join::config::Config;
use tracemill_join::config::pattern::Pattern;
use tracemill_tokenizer::{Event, Field, to_text, unescape};
use tracemill_trace::event::name_key;
use tracemill_trace::event::pairing::Begins;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::trace::{EventOrder, Trace};
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashMap;

/// A filter for event names: one name, or a regular expression between slashes.
#[derive(Clone, Debug)]
pub enum EventName {
    /// Matches events with exactly this name.
    Exactly(String),
    /// Matches events whose name contains a match of the pattern.
    Matching(Pattern),
}

impl FromStr for EventName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pattern = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        match pattern.filter(|pattern| !pattern.is_empty()) {
            Some(pattern) => pattern.parse().map(EventName::Matching),
            None if text.is_empty() => Err("expected the name of an event, or /REGEX/".to_owned()),
            None => Ok(EventName::Exactly(text.to_owned())),
        }
    }
}

impl EventName {
    fn is_of(&self, event: &Event<'_>) -> bool {
        match self {
            EventName::Exactly(name) => event.is_string(Field::Name, name.as_bytes()),
            EventName::Matching(pattern) => {
                let Some([b'"', name @ .., b'"']) = event.field(Field::Name) else { return false };
                let mut plain = Vec::new();
                unescape(name, &mut plain);
                pattern.is_match(&to_text(&plain))
            }
        }
    }
}

/// Result of a search for events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// Number of matching events.
    pub count: u64,
    /// Start and end of the selected event, in nanoseconds.
    pub chosen: Option<(i64, i64)>,
}

/// pid and tid, as written.
type ThreadIds = (Vec<u8>, Vec<u8>);

type MatchingBegin = Option<(u64, i64)>;

/// Finds events by name and selects the `nth` by time, counted from 1. Without `nth`, selects the
/// longest; among equally long events, the first.
///
/// X events, B/E pairs, and instants of zero duration count; a B without an E extends to the end of
/// the trace. Times are those of the inputs, rounded down to nanoseconds.
///
/// Cost: a scan of the inputs, and a single-threaded pass over the events in time order. Heap: 24
/// bytes per event, spilled to disk beyond a quarter of the memory budget, plus the open slices.
///
/// ```
/// use tracemill_join::config::Config;
/// use tracemill_trace::Source;
/// use tracemill_inspect::around::find_events;
/// # let folder = tempfile::tempdir()?;
/// # let trace = folder.path().join("trace.json");
/// # std::fs::write(&trace, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":50},{"ph":"X","name":"b","pid":1,"tid":2,"ts":2000,"dur":900}]"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let found = find_events(&[Source::Path(trace)], &"/^[ab]$/".parse()?, None, &config)?;
/// assert_eq!((found.count, found.chosen), (2, Some((2_000_000, 2_900_000)))); // the longest
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the errors of `merge()`, except for its output.
pub fn find_events(
    sources: &[Source],
    name: &EventName,
    nth: Option<u64>,
    config: &Config,
) -> Result<Occurrences, Error> {
    let mut profiles = ProfileReader::new(&config.profiles, false, false);
    let trace = Trace::observe(sources, &config.limits, &mut profiles, ())?;
    let mut found = Matches { nth, count: 0, best: None };
    let mut open: HashMap<ThreadIds, Begins<MatchingBegin>> = HashMap::default();
    let mut end = i64::MIN;
    for event in trace.events(EventOrder::Time) {
        let event = event.fields();
        let phase = event.phase();
        let Some(ts) = event.ts().filter(|_| phase != b'M').map(|ts| ts.floor) else { continue };
        let last = ts.saturating_add(event.dur().map_or(0, |dur| dur.floor.max(0)));
        end = end.max(last);
        let is_wanted = phase != b'E' && name.is_of(&event);
        if is_wanted {
            found.count += 1;
        }
        let number = found.count;
        match phase {
            b'B' | b'E' => {
                let [pid, tid] =
                    [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default().to_vec());
                let begins = open.entry((pid, tid)).or_default();
                let key = name_key(&event);
                if phase == b'B' {
                    begins.begin(key, is_wanted.then_some((number, ts)));
                } else if let Some(Some((number, from))) = begins.end(key) {
                    found.take(number, from, ts);
                }
            }
            _ if is_wanted => found.take(number, ts, last),
            _ => {}
        }
    }
    let unended = open.values().flat_map(Begins::values).flatten();
    let mut unended: Vec<(u64, i64)> = unended.collect();
    unended.sort_unstable();
    unended.into_iter().for_each(|(number, from)| found.take(number, from, end));
    trace.check_unchanged()?;
    let Matches { count, best, .. } = found;
    Ok(Occurrences { count, chosen: best.map(|(_, from, to)| (from, to)) })
}

struct Matches {
    nth: Option<u64>,
    count: u64,
    /// The best event so far: its index in time order, and its start and end in nanoseconds.
    best: Option<(u64, i64, i64)>,
}

impl Matches {
    fn take(&mut self, number: u64, from: i64, to: i64) {
        let is_better = match (self.nth, self.best) {
            (Some(nth), _) => nth == number,
            (None, None) => true,
            (None, Some((other, start, end))) => {
                let (length, best) = (to.saturating_sub(from), end.saturating_sub(start));
                length > best || length == best && number < other
            }
        };
        if is_better {
            self.best = Some((number, from, to));
        }
    }
}
