//! Expected counts of `tracemill check` for well-formed inputs, computed naively: everything in
//! memory, one list per rule.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::profile::Value;
use super::read::{self, Fields, is_string, unescape};
use super::time::{ExactTime, time};
use super::{Decimal, RawEvent, pairing};

/// The kinds of findings that [`check`] counts; it ignores all other kinds.
pub const KINDS: &[&str] = &[
    "several-documents",
    "no-events",
    "duplicate-key",
    "empty-event",
    "missing-name",
    "nameless-end",
    "missing-cat",
    "missing-args",
    "missing-phase",
    "unknown-phase",
    "missing-pid",
    "missing-tid",
    "missing-ts",
    "bad-number",
    "string-time",
    "string-id",
    "odd-id",
    "id-range",
    "big-id",
    "precision",
    "negative-ts",
    "negative-dur",
    "no-dur",
    "lower-instant",
    "ignored-phase",
    "unsorted",
    "unsorted-thread",
    "late-metadata",
    "late-untimed",
    "begin-without-end",
    "end-without-begin",
    "crossing",
    "overlap",
    "be-threads",
    "missing-id",
    "async-without-end",
    "async-without-begin",
    "async-outside",
    "flow-without-end",
    "flow-without-begin",
    "shared-async-id",
    "shared-flow-id",
    "async-id-zero",
    "flow-id",
    "missing-frame",
    "utf8",
    "nan",
    "grammar",
    "malformed",
    "unbalanced",
    "truncated",
    "garbage",
    "not-events",
    "unclosed",
    "separators",
];

type KindCounts = BTreeMap<&'static str, u64>;
type Lane = (Value, Value);

/// Counts each of [`KINDS`] in all `inputs` together. Kinds that do not occur are left out.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn check(inputs: &[&[u8]]) -> Result<KindCounts, String> {
    let mut counts = KindCounts::new();
    let mut frames = BTreeSet::new();
    let mut events = Vec::new();
    for input in inputs {
        let sources = read::sources(input)?;
        add(&mut counts, "several-documents", sources.len().saturating_sub(1) as u64);
        for source in &sources {
            let mut seen = BTreeSet::new();
            for (key, value) in &source.keys.0 {
                add(&mut counts, "duplicate-key", u64::from(!seen.insert(*key)));
                if is_string(key, "stackFrames") {
                    let all = Fields::parse(value).unwrap_or_default();
                    frames.extend(all.0.iter().filter_map(|(id, _)| unescape(id)));
                }
            }
        }
        let of_input = super::events(input)?;
        order(&of_input, &mut counts);
        events.extend(of_input);
    }
    add(&mut counts, "no-events", u64::from(events.is_empty()));
    for event in &events {
        fields(event, &mut counts);
        for (key, value) in &event.members {
            if key == "\"sf\"" || key == "\"esf\"" {
                let id = unescape(value).unwrap_or_else(|| value.as_bytes().to_vec());
                add(&mut counts, "missing-frame", u64::from(!frames.contains(&id)));
            }
        }
    }
    let timed = timed(&events);
    threads(&timed, &mut counts);
    asyncs(&timed, &mut counts);
    flows(&timed, &mut counts);
    counts.retain(|_, count| *count > 0);
    Ok(counts)
}

fn add(counts: &mut KindCounts, kind: &'static str, count: u64) {
    *counts.entry(kind).or_default() += count;
}

/// Returns the phase; 0 if it is missing, `?` if it is not a letter.
fn phase(event: &RawEvent) -> u8 {
    match event.ph.as_deref() {
        None | Some("null") => 0,
        Some(ph) => match unescape(ph).as_deref() {
            Some([letter]) => *letter,
            _ => b'?',
        },
    }
}

fn order(events: &[RawEvent], counts: &mut KindCounts) {
    let (mut other, mut any_timed) = (false, false);
    let mut last: Option<(i128, i128)> = None;
    let mut lanes: HashMap<Lane, (i128, i128)> = HashMap::new();
    for event in events {
        if phase(event) == b'M' {
            add(counts, "late-metadata", u64::from(other));
            continue;
        }
        other = true;
        let Some(ts) = event.ts.as_deref().and_then(time) else {
            add(counts, "late-untimed", u64::from(any_timed));
            continue;
        };
        any_timed = true;
        let dur = event.dur.as_deref().and_then(time).unwrap_or_else(Decimal::zero);
        let stamp = (ts.attos(), dur.attos());
        let late = |last: &(i128, i128)| last.0 > stamp.0 || last.0 == stamp.0 && last.1 < stamp.1;
        // DevTools reads these by stream
        if phase(event) == b'P'
            && event.name.as_deref().and_then(unescape).is_some_and(|name| name == b"ProfileChunk")
        {
            continue;
        }
        add(counts, "unsorted", u64::from(last.as_ref().is_some_and(late)));
        let lane = lane(event);
        add(counts, "unsorted-thread", u64::from(lanes.get(&lane).is_some_and(late)));
        lanes.insert(lane, stamp);
        last = Some(stamp);
    }
}

fn lane(event: &RawEvent) -> Lane {
    (Value::of(event.pid.as_deref()), Value::of(event.tid.as_deref()))
}

fn fields(event: &RawEvent, counts: &mut KindCounts) {
    let phase = phase(event);
    if event.members.is_empty() {
        return add(counts, "empty-event", 1);
    }
    match phase {
        0 => add(counts, "missing-phase", 1),
        b'i' => add(counts, "lower-instant", 1),
        letter if b"NODSFpvVc()=".contains(&letter) => add(counts, "ignored-phase", 1),
        letter if !b"BEXIbnestfTPCRM".contains(&letter) => add(counts, "unknown-phase", 1),
        _ => {}
    }
    if event.name.as_deref().is_none_or(|name| !name.starts_with('"')) {
        add(counts, if phase == b'E' { "nameless-end" } else { "missing-name" }, 1);
    }
    if phase != b'M' {
        add(counts, "missing-cat", u64::from(event.cat.is_none()));
        add(counts, "missing-args", u64::from(event.args.is_none()));
        add(counts, "missing-ts", u64::from(is_nothing(event.ts.as_deref())));
        add(counts, "no-dur", u64::from(phase == b'X' && is_nothing(event.dur.as_deref())));
    }
    id(event.pid.as_deref(), Some("missing-pid"), counts);
    let scope = event.members.iter().find(|(key, _)| key == "\"s\"").map(|(_, scope)| &**scope);
    let is_wide = (phase | 0x20) == b'i' && matches!(scope, Some("\"g\"" | "\"p\""));
    let on_thread = !is_wide && !b"CMNODvVbneSTpF".contains(&phase);
    id(event.tid.as_deref(), on_thread.then_some("missing-tid"), counts);
    for (raw, negative) in [(&event.ts, "negative-ts"), (&event.dur, "negative-dur")] {
        let Some(raw) = raw.as_deref().filter(|raw| *raw != "null") else { continue };
        let Some(value) = time(raw) else {
            add(counts, "bad-number", 1);
            continue;
        };
        add(counts, "string-time", u64::from(raw.starts_with('"')));
        add(counts, negative, u64::from(value < Decimal::zero()));
        add(counts, "precision", u64::from(is_rounded(&text(raw))));
    }
}

fn is_nothing(raw: Option<&str>) -> bool {
    raw.is_none_or(|raw| raw == "null")
}

fn id(raw: Option<&str>, missing: Option<&'static str>, counts: &mut KindCounts) {
    let Some(raw) = raw.filter(|raw| *raw != "null") else {
        return missing.into_iter().for_each(|kind| add(counts, kind, 1));
    };
    if raw.starts_with('"') {
        return add(counts, "string-id", 1);
    }
    let Some(number) = Decimal::parse(raw.as_bytes()) else { return add(counts, "odd-id", 1) };
    let most = Decimal::parse(b"4294967295").expect("a number");
    add(counts, "id-range", u64::from(number > most || number < Decimal::zero()));
    add(counts, "big-id", u64::from(is_big(raw)));
}

/// Returns whether an unquoted integer exceeds 2^53.
fn is_big(raw: &str) -> bool {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    let limit = Decimal::parse(b"9007199254740992").expect("a number");
    digits.bytes().all(|b| b.is_ascii_digit())
        && Decimal::parse(digits.as_bytes()).is_some_and(|number| number > limit)
}

fn text(raw: &str) -> String {
    match unescape(raw) {
        Some(content) => String::from_utf8(content).expect("a number"),
        None => raw.to_owned(),
    }
}

/// Returns the significant digits, and the power of ten of the last digit.
fn digits(number: &str) -> (String, i64) {
    let number = number.trim_start_matches('-').to_lowercase();
    let (mantissa, exponent) = number.split_once('e').unwrap_or((&number, "0"));
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let limit = 1_000_000_000_i64;
    let saturated = if exponent.starts_with('-') { -limit } else { limit };
    let exponent = exponent.parse().unwrap_or(saturated).clamp(-limit, limit);
    let all = format!("{whole}{decimals}");
    let cut = all.trim_end_matches('0');
    let power = exponent - decimals.len() as i64 + (all.len() - cut.len()) as i64;
    (cut.trim_start_matches('0').to_owned(), power)
}

/// Limit of distinguishable nanoseconds.
const MOST: i128 = i64::MAX as i128 - 8;

/// Returns whole nanoseconds, rounded down, and whether the value is exact.
fn nanos(number: &str) -> ExactTime {
    let (digits, power) = digits(number);
    let negative = number.starts_with('-');
    let shift = power + 3;
    if digits.is_empty() {
        return ExactTime { ns: 0, exact: true };
    }
    if digits.len() as i64 + shift > 19 {
        return ExactTime { ns: if negative { -MOST } else { MOST }, exact: false };
    }
    let kept = (digits.len() as i64 + shift.min(0)).max(0) as usize;
    let whole: i128 = digits[..kept].parse().unwrap_or(0);
    let rest = kept < digits.len();
    let whole = whole * 10_i128.pow(shift.max(0) as u32);
    let floor = if negative { -whole - i128::from(rest) } else { whole };
    let clamped = floor.clamp(-MOST, MOST);
    ExactTime { ns: clamped, exact: !rest && clamped == floor }
}

fn is_rounded(number: &str) -> bool {
    let ExactTime { ns, exact } = nanos(number);
    let ns = ns.abs();
    let written = digits(number);
    let (count, double) = (written.0.len(), number.parse::<f64>().expect("a number"));
    // as a program formats a double with this many digits
    let is_double =
        (1..=767).contains(&count) && digits(&format!("{double:.*e}", count - 1)) == written;
    let is_long =
        if exact { ns > 1 << 53 && (ns % 1000 != 0 || ns / 1000 > 1 << 53) } else { count > 17 };
    is_long && !is_double
}

struct TimedEvent<'e> {
    event: &'e RawEvent,
    phase: u8,
    ns: i128,
    number: usize,
}

fn timed(events: &[RawEvent]) -> Vec<TimedEvent<'_>> {
    let all = events.iter().enumerate().filter_map(|(number, event)| {
        let raw = event.ts.as_deref()?;
        time(raw)?;
        let phase = phase(event);
        (phase != b'M').then(|| TimedEvent { event, phase, ns: nanos(&text(raw)).ns, number })
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|timed| (timed.ns, timed.number));
    all
}

/// The open complete events of a thread; and its open begin events, each with the end of the
/// enclosing complete event.
#[derive(Default)]
struct OpenSlices {
    slices: Vec<(i128, ExactTime)>,
    begins: Vec<(Option<Value>, ExactTime, Option<ExactTime>)>,
}

/// Returns whether `end` is after `other`, with a tolerance of 1 ns if one of the times is rounded.
fn is_after(end: ExactTime, other: ExactTime) -> bool {
    end.ns - other.ns > i128::from(!(end.exact && other.exact))
}

impl OpenSlices {
    fn complete(&mut self, start: i128, end: ExactTime, counts: &mut KindCounts) {
        let end = ExactTime { ns: end.ns.min(i128::from(i64::MAX)), ..end };
        self.slices.retain(|(_, open)| open.ns > start);
        let overlaps = self.slices.iter().any(|&(_, open)| is_after(end, open));
        add(counts, "overlap", u64::from(overlaps));
        self.slices.extend((!overlaps).then_some((start, end)));
    }

    fn begin(&mut self, name: Option<Value>, time: ExactTime) {
        let around = self.slices.iter().filter(|(start, end)| *start < time.ns && end.ns > time.ns);
        let innermost = around.map(|(_, end)| *end).next_back();
        self.begins.push((name, time, innermost));
    }

    fn end(&mut self, name: &Option<Value>, end: ExactTime, counts: &mut KindCounts) {
        let names: Vec<_> = self.begins.iter().map(|begin| begin.0.clone()).collect();
        let Some(at) = pairing::closed_by(&names, name) else {
            return add(counts, "end-without-begin", 1);
        };
        add(counts, "crossing", u64::from(name.is_some() && names.last() != Some(name)));
        let (_, start, around) = self.begins.remove(at);
        let end = ExactTime { exact: end.exact && start.exact, ..end };
        if end.ns == start.ns {
        } else if around.is_some_and(|around| is_after(end, around)) {
            add(counts, "overlap", 1);
        } else {
            let before = self.slices.len();
            let inside = |from: i128| start.ns < from && from < end.ns;
            self.slices.retain(|&(from, slice)| !(inside(from) && is_after(slice, end)));
            add(counts, "overlap", (before - self.slices.len()) as u64);
        }
    }
}

fn threads(timed: &[TimedEvent<'_>], counts: &mut KindCounts) {
    let mut lanes: HashMap<Lane, Vec<(i128, i128, usize)>> = HashMap::new();
    let mut pairs: HashMap<Lane, u64> = HashMap::new();
    let times = |timed: &TimedEvent<'_>| {
        let dur = timed.event.dur.as_deref().filter(|raw| time(raw).is_some());
        let dur = dur.map(|raw| nanos(&text(raw)));
        let begin = timed.event.ts.as_deref().is_some_and(|raw| nanos(&text(raw)).exact);
        (dur.map_or(0, |dur| dur.ns), begin, dur.is_none_or(|dur| dur.exact))
    };
    for (at, entry) in timed.iter().enumerate() {
        // longer events first, before begin and end events
        let length = match entry.phase {
            b'X' => times(entry).0,
            b'B' | b'E' => {
                *pairs.entry(lane(entry.event)).or_default() += 1;
                0
            }
            _ => continue,
        };
        if entry.phase != b'X' || length > 0 {
            lanes.entry(lane(entry.event)).or_default().push((entry.ns, -length, at));
        }
    }
    // without any end event, no pair can be wrong
    if pairs.len() > 1 && timed.iter().any(|timed| timed.phase == b'E') {
        add(counts, "be-threads", pairs.values().sum());
    }
    for mut events in lanes.into_values() {
        let mut open = OpenSlices::default();
        events.sort_unstable();
        for (ns, length, at) in events {
            let entry = &timed[at];
            let (_, begin, exact) = times(entry);
            let end = ExactTime { ns: ns - length, exact: begin && exact };
            let name = pairing::name(entry.event.name.as_deref());
            match entry.phase {
                b'X' => open.complete(ns, end, counts),
                b'B' => open.begin(name, ExactTime { ns, exact: begin }),
                _ => open.end(&name, ExactTime { ns, exact: begin }, counts),
            }
        }
        add(counts, "begin-without-end", open.begins.len() as u64);
    }
}

/// Returns the pairing id of an async event or flow, and whether it is local to its process.
fn async_id(event: &RawEvent) -> Option<(String, bool)> {
    if let Some(id) = &event.id {
        return Some((id.clone(), false));
    }
    let id2 = event.id2.as_deref()?;
    let fields = Fields::parse(id2).unwrap_or_default();
    let field = |name| fields.0.iter().find(|(key, _)| is_string(key, name)).map(|(_, id)| *id);
    Some(match (field("global"), field("local")) {
        (Some(id), _) => (id.to_owned(), false),
        (None, Some(id)) => (id.to_owned(), true),
        (None, None) => (id2.to_owned(), false),
    })
}

type AsyncKey = (u8, Value, Value, bool, Value);

fn key(timed: &TimedEvent<'_>, family: u8, counts: &mut KindCounts) -> Option<AsyncKey> {
    let event = timed.event;
    let Some((id, local)) = async_id(event) else {
        add(counts, "missing-id", 1);
        return None;
    };
    add(counts, "big-id", u64::from(is_big(&id)));
    let zero = family == b'b' && (id == "0" || id == "\"\"");
    add(counts, "async-id-zero", u64::from(zero));
    let last = match family {
        b's' => event.name.as_deref(),
        _ if local => event.pid.as_deref(),
        _ => event.scope.as_deref(),
    };
    let local = local && family != b's';
    let cat = Value::of(event.cat.as_deref());
    Some((family, cat, Value::of(Some(&id)), local, Value::of(last)))
}

fn asyncs(timed: &[TimedEvent<'_>], counts: &mut KindCounts) {
    type Group = (Vec<Value>, Option<(Value, Value)>);
    let mut groups: HashMap<AsyncKey, Group> = HashMap::new();
    for event in timed {
        let family = match event.phase {
            b'b' | b'n' | b'e' => b'b',
            b'S' | b'T' | b'p' | b'F' => b'S',
            _ => continue,
        };
        let Some(key) = key(event, family, counts) else { continue };
        let (open, last) = groups.entry(key).or_default();
        let name = Value::of(event.event.name.as_deref());
        match event.phase {
            b'b' | b'S' => {
                let begin = (name.clone(), Value::of(event.event.pid.as_deref()));
                let shared = last.as_ref().is_some_and(|l| l.0 == begin.0 && l.1 != begin.1);
                add(counts, "shared-async-id", u64::from(shared));
                *last = Some(begin);
                open.push(name);
            }
            b'e' | b'F' => match open.iter().rposition(|begin| *begin == name) {
                Some(at) => drop(open.remove(at)),
                None => add(counts, "async-without-begin", 1),
            },
            _ => add(counts, "async-outside", u64::from(open.is_empty())),
        }
    }
    let left = groups.values().map(|(open, _)| open.len() as u64).sum();
    add(counts, "async-without-end", left);
}

fn flows(timed: &[TimedEvent<'_>], counts: &mut KindCounts) {
    /// Whether the flow is open, whether it had a step, and the process of its last begin.
    type Flow = (bool, bool, Option<Value>);
    let mut flows: HashMap<AsyncKey, Flow> = HashMap::new();
    for event in timed.iter().filter(|timed| b"stf".contains(&timed.phase)) {
        let Some(key) = key(event, b's', counts) else { continue };
        let id = async_id(event.event).expect("it has a key").0;
        let hex = unescape(&id).map(|id| {
            let digits = id.strip_prefix(b"0x").unwrap_or(&id);
            !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
        });
        let whole = || {
            let digits = id.strip_prefix('-').unwrap_or(&id);
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        };
        add(counts, "flow-id", u64::from(!hex.unwrap_or_else(whole)));
        let (open, led, last) = flows.entry(key).or_default();
        match event.phase {
            b's' => {
                add(counts, "flow-without-end", u64::from(*open && !*led));
                let pid = Value::of(event.event.pid.as_deref());
                let shared = last.as_ref().is_some_and(|last| *last != pid);
                add(counts, "shared-flow-id", u64::from(shared));
                (*open, *led, *last) = (true, false, Some(pid));
            }
            _ if !*open => add(counts, "flow-without-begin", 1),
            b'f' => *open = false,
            _ => *led = true,
        }
    }
    let left = flows.values().filter(|(open, led, _)| *open && !*led).count();
    add(counts, "flow-without-end", left as u64);
}
