//! Converts tallies to findings with severity, first locations and description.

use super::rules::{Kind, RULES, Rule, Severity};
use super::tallies::Tallies;
use super::text::Spot;
use serde::Serialize;
use std::cmp::Reverse;
use tracemill_join::config::CheckFor;
use tracemill_join::report::rows;
use tracemill_join::report::warning::{DEVTOOLS_TEXT_MAX, Warning};
use tracemill_tokenizer::{DamageKind, Field, fields_of, unescape};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::around::Around;
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::run::losses::{InputReport, LossTally as Losses, excerpt};
use tracemill_trace::spill::tally::PLACES;
use tracemill_trace::store::Store;

/// Report of `check`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CheckReport {
    /// Reports of the inputs, in order.
    pub inputs: Vec<InputReport>,
    /// Number of events.
    pub events: u64,
    /// Findings by descending severity, then in the order of the rule table.
    pub findings: Vec<Finding>,
    /// Least `ts` of an event other than metadata, in nanoseconds.
    pub start_ns: Option<i64>,
    /// Warnings about reading the inputs, one sentence each.
    pub warnings: Vec<Warning>,
}

impl CheckReport {
    /// Returns the number of findings with a severity.
    pub fn count(&self, severity: Severity) -> u64 {
        self.findings.iter().filter(|finding| finding.severity == severity).count() as u64
    }

    /// Returns whether all findings are notes.
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Note)
    }
}

/// All occurrences of one kind of problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name of the kind.
    pub kind: String,
    /// Severity of the finding.
    pub severity: Severity,
    /// Number of occurrences.
    pub count: u64,
    /// Description in one sentence.
    pub sentence: String,
    /// The first locations, at most three; empty if the finding concerns the whole trace.
    pub places: Vec<FoundAt>,
}

impl Finding {
    /// Returns the severity for one viewer, or `None` if the rule does not apply to that viewer.
    pub fn severity_for(&self, viewer: CheckFor) -> Option<Severity> {
        match RULES.iter().find(|rule| rule.name == self.kind) {
            Some(rule) => rule.severity(&[viewer], false),
            // problems of CPU profiles affect all readers alike
            None => Some(self.severity),
        }
    }

    /// Returns the viewers among `viewers` that fail to open the trace or draw it incorrectly.
    pub fn viewers<'v>(
        &self,
        viewers: &'v [CheckFor],
    ) -> impl Iterator<Item = CheckFor> + use<'_, 'v> {
        let minds = |viewer: &CheckFor| self.severity_for(*viewer) > Some(Severity::Note);
        viewers.iter().copied().filter(minds)
    }
}

/// A location in an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundAt {
    /// Name of the input.
    pub input: String,
    /// Offset in the decompressed input; for a `.cpuprofile`, in the events derived from it.
    pub offset: u64,
    /// The event at `offset` or the bytes around, truncated; empty if the finding concerns the
    /// whole input.
    pub excerpt: String,
    /// The event at `offset`, if it can be read.
    pub event: Option<FoundEvent>,
    /// The token expected at `offset`, if the text is not JSON.
    pub expected: Option<&'static str>,
    /// Offset at which the reader noticed that the bytes from `offset` on are unreadable.
    pub noticed: Option<u64>,
    /// Bytes around `noticed`, or around `offset` if something was `expected`.
    #[serde(skip)]
    pub around: Option<Around>,
}

/// Identifying fields of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FoundEvent {
    /// `ph`; empty if missing.
    #[serde(rename = "ph")]
    pub phase: String,
    /// `name`, with escapes resolved.
    pub name: Option<String>,
    /// `pid` as written; empty if missing.
    #[serde(serialize_with = "rows::id")]
    pub pid: String,
    /// `tid` as written; empty if missing.
    #[serde(serialize_with = "rows::id")]
    pub tid: String,
    /// `ts` in whole nanoseconds.
    pub ts_ns: Option<i64>,
}

impl FoundEvent {
    fn at(bytes: &[u8]) -> Option<Self> {
        let event = item(bytes);
        if !event.starts_with(b"{") || !event.ends_with(b"}") {
            return None;
        }
        let spans = fields_of(event);
        let event = spans.of(event);
        let text = |field| match event.field(field) {
            Some([b'"', content @ .., b'"']) => {
                let mut plain = Vec::new();
                unescape(content, &mut plain);
                Some(String::from_utf8_lossy(&plain).into_owned())
            }
            value => value.map(|value| String::from_utf8_lossy(value).into_owned()),
        };
        Some(FoundEvent {
            phase: text(Field::Ph)?,
            name: text(Field::Name),
            pid: text(Field::Pid).unwrap_or_default(),
            tid: text(Field::Tid).unwrap_or_default(),
            ts_ns: event.ts().map(|ts| ts.floor),
        })
    }
}

impl FoundAt {
    fn new(input: &str, offset: u64) -> Self {
        FoundAt {
            input: input.to_owned(),
            offset,
            excerpt: String::new(),
            event: None,
            expected: None,
            noticed: None,
            around: None,
        }
    }
}

pub(super) struct InputExtent {
    pub(super) number: usize,
    pub(super) start: u64,
    /// End of the input's own bytes; synthetic events follow.
    pub(super) end: u64,
    /// Whether the input's own bytes are available.
    pub(super) is_kept: bool,
    next: u64,
}

pub(super) struct InputMap(Vec<InputExtent>);

impl InputMap {
    pub(super) fn new(inputs: &Inputs) -> Self {
        let mut start = 0;
        let place = |(number, report): (usize, &InputReport)| {
            let end = start + report.bytes;
            let held = inputs.payloads.iter().filter(|held| held.input == number);
            let next = held.clone().map(|held| held.base + held.payload.len()).max();
            let is_kept = held.clone().any(|held| held.base == start);
            let place =
                InputExtent { number, start, end, is_kept, next: next.unwrap_or(end).max(end) };
            start = place.next;
            place
        };
        InputMap(inputs.reports.iter().enumerate().map(place).collect())
    }

    pub(super) fn input_at(&self, offset: u64) -> Option<&InputExtent> {
        let after = self.0.partition_point(|place| place.start <= offset);
        // an empty input starts where the next input starts
        self.0[..after].iter().rev().find(|place| offset < place.next || place.start == offset)
    }

    /// Converts an offset in the address space. Returns the number of the input, and the offset in
    /// the input or in its synthetic events.
    fn locate(&self, offset: u64) -> Option<(usize, u64)> {
        let place = self.input_at(offset).or(self.0.last())?;
        let within = if offset < place.end { place.start } else { place.end };
        let within = if offset >= place.next { place.start } else { within };
        Some((place.number, offset - within))
    }
}

/// The inputs that were read, with their places and bytes.
pub(super) struct CheckedInputs<'r, 'p> {
    pub(super) inputs: &'r Inputs,
    pub(super) ground: &'r InputMap,
    pub(super) store: &'r Store<'p>,
}

pub(super) fn check_inputs(
    inputs: &Inputs,
    ground: &InputMap,
    store: &Store<'_>,
    viewers: &[CheckFor],
    tallies: &mut Tallies,
) {
    for (report, place) in inputs.reports.iter().zip(&ground.0) {
        if report.bytes > DEVTOOLS_TEXT_MAX {
            tallies.add(Kind::TooLarge, place.start);
        }
        if report.encoding.is_some_and(|encoding| encoding != "gzip") {
            tallies.add(Kind::Packing, place.start);
        }
        let perfetto = viewers.contains(&CheckFor::Perfetto);
        if perfetto && place.is_kept && report.events > 0 && report.profiles == 0 {
            let bytes = store.from(place.start);
            let solid = bytes.iter().filter(|b| !b.is_ascii_whitespace()).take(3).copied();
            let first: Vec<u8> = solid.collect();
            if !first.starts_with(b"{\"") && first != b"[{\"" {
                tallies.add(Kind::Opening, place.start);
            }
        }
    }
}

fn rule_of(flaw: FlawKind) -> Option<Kind> {
    match flaw {
        FlawKind::NoProfile => Some(Kind::HeadlessProfile),
        FlawKind::Repeated => Some(Kind::RepeatedNode),
        FlawKind::Unordered => Some(Kind::UnorderedProfile),
        _ => None,
    }
}

fn rule_of_damage(kind: DamageKind) -> Kind {
    match kind {
        DamageKind::Malformed => Kind::Malformed,
        DamageKind::Brackets => Kind::Unbalanced,
        DamageKind::Truncated => Kind::Truncated,
        DamageKind::Garbage => Kind::Garbage,
        DamageKind::NotEvents => Kind::NotEvents,
        DamageKind::NotJson => Kind::Grammar,
    }
}

pub(super) fn assemble(
    tallies: &Tallies,
    mut spots: Vec<Spot>,
    flaws: Flaws,
    read: &CheckedInputs<'_, '_>,
    severity: impl Fn(&Rule) -> Option<Severity>,
) -> CheckReport {
    let &CheckedInputs { inputs, ground, store } = read;
    spots.sort_by_key(|spot| spot.offset);
    let mut found: Vec<(u64, Vec<FoundAt>)> = tallies
        .iter()
        .enumerate()
        .map(|(number, tally)| {
            let place = |offset| {
                let spot = spots.iter().find(|s| s.kind as usize == number && s.offset == offset);
                found_at(offset, number, spot, read)
            };
            (tally.count, tally.offsets().filter_map(place).collect())
        })
        .collect();
    for (report, ground) in inputs.reports.iter().zip(&ground.0) {
        for (kind, lost) in report.losses.iter() {
            let (count, places) = &mut found[rule_of_damage(kind) as usize];
            *count += lost.count;
            places.extend(places_of(lost, &report.name, ground, store));
        }
    }
    let mut others = Vec::new();
    let of_inputs = inputs.reports.iter().map(|report| (&report.flaws, Some(&report.name)));
    for (flaws, name) in of_inputs.chain([(&flaws, None)]) {
        for (kind, flaw) in flaws.iter() {
            let place = match name {
                // an issue inside a .cpuprofile has an offset in that file
                Some(name) => Some(FoundAt::new(name, flaw.offset)),
                None => found_at(flaw.offset, Kind::COUNT, None, read),
            };
            match rule_of(kind) {
                Some(rule) => {
                    let (count, places) = &mut found[rule as usize];
                    *count += flaw.count;
                    places.extend(place);
                }
                None => others.push((kind, flaw.count, place)),
            }
        }
    }
    let mut findings: Vec<Finding> = Vec::new();
    for (rule, (count, mut places)) in RULES.iter().zip(found) {
        let Some(severity) = severity(rule).filter(|_| count > 0) else { continue };
        places.truncate(PLACES);
        findings.push(Finding {
            kind: rule.name.to_owned(),
            severity,
            count,
            sentence: rule.sentence.to_owned(),
            places,
        });
    }
    others.into_iter().for_each(|(kind, count, place)| add_flaw(&mut findings, kind, count, place));
    findings.sort_by_key(|finding| Reverse(finding.severity));
    let events = inputs.reports.iter().map(|report| report.events).sum();
    let (reports, warnings) =
        (inputs.reports.clone(), tracemill_join::inputs::of_inputs(inputs).collect());
    CheckReport { inputs: reports, events, findings, start_ns: None, warnings }
}

fn add_flaw(findings: &mut Vec<Finding>, kind: FlawKind, count: u64, place: Option<FoundAt>) {
    let name = format!("profile-{}", kind.name());
    if let Some(known) = findings.iter_mut().find(|finding| finding.kind == name) {
        known.count += count;
        known.places.extend(place.filter(|_| known.places.len() < PLACES));
        return;
    }
    findings.push(Finding {
        kind: name,
        severity: if kind.is_loss() { Severity::Warning } else { Severity::Note },
        count,
        sentence: format!("in a CPU profile: {}", kind.sentence()),
        places: place.into_iter().collect(),
    });
}

fn places_of<'l>(
    lost: &'l Losses,
    name: &'l str,
    ground: &'l InputExtent,
    store: &'l Store<'_>,
) -> impl Iterator<Item = FoundAt> + 'l {
    lost.examples.iter().map(|example| {
        let at = ground.start + example.noticed;
        FoundAt {
            excerpt: example.excerpt.clone(),
            noticed: Some(example.noticed),
            around: ground.is_kept.then(|| store.around(at, ground.start..ground.end)).flatten(),
            ..FoundAt::new(name, example.offset)
        }
    })
}

/// Returns whether a kind concerns an input as a whole.
fn is_of_input(number: usize) -> bool {
    let kinds = [
        Kind::SeveralDocuments,
        Kind::Ndjson,
        Kind::UnclosedObject,
        Kind::TooLarge,
        Kind::Packing,
        Kind::Opening,
    ];
    kinds.iter().any(|&kind| kind as usize == number)
}

fn found_at(
    offset: u64,
    kind: usize,
    spot: Option<&Spot>,
    read: &CheckedInputs<'_, '_>,
) -> Option<FoundAt> {
    let &CheckedInputs { inputs, ground, store } = read;
    let of_all = [Kind::NoEvents, Kind::NothingDrawn, Kind::ProfilesAlone, Kind::AllHidden];
    if of_all.iter().any(|&listed| listed as usize == kind) {
        return None;
    }
    let (number, within) = ground.locate(offset)?;
    let held = inputs.payloads.iter().filter(|held| held.base <= offset);
    let end = held.map(|held| held.base + held.payload.len()).find(|&end| offset < end);
    let (excerpt, event) = match (spot, end) {
        (Some(spot), _) => (spot.excerpt.clone(), None),
        (None, Some(end)) if !is_of_input(kind) => {
            let bytes = store.copy(offset..end.min(offset + EVENT));
            let first = bytes.len().min(ITEM);
            (excerpt(item(&bytes[..first])), FoundEvent::at(&bytes))
        }
        _ => (String::new(), None),
    };
    Some(FoundAt {
        excerpt,
        event,
        expected: spot.map(|spot| spot.expected),
        around: spot.and_then(|spot| spot.around.clone()),
        ..FoundAt::new(&inputs.reports[number].name, within)
    })
}

/// Number of bytes passed to [`item`]; more than an excerpt holds.
const ITEM: usize = 100;

/// Number of bytes read to identify an event.
const EVENT: u64 = 64 << 10;

/// Returns the event at the start of `bytes`, or all of `bytes` if it is incomplete.
fn item(bytes: &[u8]) -> &[u8] {
    let (mut depth, mut in_string, mut at) = (0_u32, false, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return &bytes[..=at];
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes
}
