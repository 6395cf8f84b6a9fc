//! Causes of drawn events, compared with those that an analysis finds.

use crate::support::{Opened, config, open, open_indexed_as, with};
use crate::tiles::parse;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tracemill_analysis::{ReadRules, Trace, Wanted};
use tracemill_causes::{Causes, EventId};
use tracemill_join::config::{Config, IndexUse};
use tracemill_report::{ReasonFinder, Reasons};
use tracemill_trace::Source;

/// A drawn event: lane, row, start, place and name.
type Drawn = (u32, u16, i64, f64, String);

fn recording(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)).unwrap()
}

/// Returns all slices and instants that the page can draw.
fn drawn(opened: &Opened) -> Vec<Drawn> {
    let trace = opened.json("api/trace");
    let end: i64 = trace["duration"].as_str().unwrap().parse().unwrap();
    let names = opened.json(&format!("api/names?ids=0-{}", trace["names"].as_u64().unwrap() - 1));
    let counters: Vec<u64> = lanes(&trace)
        .filter(|lane| lane["kind"] == "counter")
        .map(|lane| lane["id"].as_u64().unwrap())
        .collect();
    let mut all = BTreeMap::new();
    let mut windows = vec![(0, end + 1)];
    while let Some((from, to)) = windows.pop() {
        let tile = parse(&opened.bytes(&format!("api/tile?from={from}&to={to}&px=1&exact=20000")));
        let is_combined = |(id, lane): (&u32, &crate::tiles::Lane)| {
            lane.state == 1 && !counters.contains(&u64::from(*id))
        };
        if tile.iter().any(is_combined) {
            let middle = from + (to - from) / 2;
            windows.extend([(from, middle), (middle, to)]);
            continue;
        }
        for (id, lane) in tile.into_iter().filter(|(id, _)| !counters.contains(&u64::from(*id))) {
            for (span, place) in lane.spans.iter().zip(&lane.places) {
                let name = names["names"][span.2 as usize]["name"].as_str().unwrap().to_owned();
                let start = span.0 as i64;
                all.insert((id, span.3, start), (id, span.3, start, *place, name));
            }
        }
    }
    all.into_values().collect()
}

fn lanes(trace: &Value) -> impl Iterator<Item = &Value> {
    let processes = trace["processes"].as_array().unwrap().iter();
    processes.flat_map(|process| process["lanes"].as_array().unwrap())
}

fn causes(opened: &Opened, event: &Drawn) -> Value {
    let (lane, row, start, ..) = event;
    opened.json(&format!("api/causes?lane={lane}&row={row}&start={start}"))
}

/// Asks once, which starts the second reading, and waits for its end.
fn read_causes(opened: &Opened, event: &Drawn) {
    assert_eq!(causes(opened, event), json!({ "state": "reading" }));
    opened.site.read_causes().unwrap();
}

struct Analysis {
    trace: Trace,
    causes: Causes,
    reasons: ReasonFinder,
}

impl Analysis {
    fn of(opened: &Opened) -> Self {
        let wanted = Wanted { causes: true, report: true, ..Wanted::default() };
        let rules = ReadRules { wanted, ..ReadRules::default() };
        let trace = Trace::read(&[Source::Path(opened.path.clone())], rules, &config()).unwrap();
        let causes = Causes::find(&trace, false).unwrap();
        Analysis { trace, causes, reasons: ReasonFinder::default() }
    }

    fn keys(&self, events: &[EventId]) -> Value {
        events.iter().map(|event| json!(event.key(&self.trace).text())).collect()
    }
}

fn keys(events: &Value) -> Value {
    events.as_array().unwrap().iter().map(|event| event["key"].clone()).collect()
}

/// Checks that the lists of every drawn event are those of the analysis, and that each entry of a
/// list leads to a drawn event with its key. Returns the number of entries.
fn check(opened: &Opened) -> usize {
    let all = drawn(opened);
    read_causes(opened, &all[0]);
    let analysis = Analysis::of(opened);
    // in another window an event may have another row
    let positions: BTreeSet<(u32, i64)> = all.iter().map(|event| (event.0, event.2)).collect();
    let mut entries = 0;
    for event in &all {
        let answer = causes(opened, event);
        assert_eq!(answer["state"], "ready");
        if event.3 >= 0.0 {
            let known = analysis.trace.cause_event_at(event.3 as u64).unwrap();
            let id = EventId::of_event(known.number, known.kind);
            // texts of other bytes than UTF-8 differ in the number of replacement characters
            let name = id.name(&analysis.trace);
            assert!(event.4 == name || name.contains(char::REPLACEMENT_CHARACTER), "{event:?}");
            let Reasons { causes, started, stack } =
                analysis.reasons.find(id, &analysis.trace, &analysis.causes);
            if known.phase == b'X' || known.phase == b'I' {
                assert_eq!(keys(&answer["causes"]), analysis.keys(&causes), "{event:?}");
                let shown = &started[..started.len().min(20)];
                assert_eq!(keys(&answer["started"]), analysis.keys(shown), "{event:?}");
                assert_eq!(answer["more"], started.len() - shown.len());
                let sites = |level: &tracemill_causes::Level| {
                    level.sites.iter().map(tracemill_causes::Site::place).collect::<Vec<_>>()
                };
                let mut places: Vec<Vec<String>> = stack.iter().map(sites).collect();
                places.retain(|level| stack.len() > 1 || !level.is_empty());
                assert_eq!(json!(places), places_of(&answer["stack"]), "{event:?}");
            }
        }
        for list in ["causes", "started"] {
            for entry in answer[list].as_array().unwrap() {
                entries += 1;
                let lane = entry["lane"].as_u64().unwrap_or_else(|| panic!("{event:?}: {entry}"));
                let start = entry["start"].as_f64().unwrap() as i64;
                assert!(positions.contains(&(lane as u32, start)), "{entry}");
                let key = entry["key"].as_str().unwrap_or_default();
                if let Some(number) = key.strip_prefix("r-") {
                    let place = entry["place"].as_f64().unwrap() as u64;
                    let known = analysis.trace.cause_event_at(place).unwrap();
                    assert_eq!(known.number.to_string(), number);
                }
            }
        }
    }
    entries
}

fn places_of(stack: &Value) -> Value {
    let level = |level: &Value| -> Value {
        level["frames"].as_array().unwrap().iter().map(|frame| frame["place"].clone()).collect()
    };
    stack.as_array().unwrap().iter().map(level).collect()
}

#[test]
fn lists_of_recordings_are_those_of_the_analysis() {
    for name in ["chromium/trace.json.gz", "node/trace.json", "pytorch/rank-0.json"] {
        let opened = match name.ends_with(".gz") {
            true => {
                let opened = crate::support::named("trace.json.gz", &recording(name), config());
                opened.site.read().unwrap();
                opened
            }
            false => open(&recording(name)),
        };
        let entries = check(&opened);
        assert!(entries > 10, "{name}: {entries}");
    }
}

#[test]
fn lists_of_indexed_traces_are_those_of_the_analysis() {
    let opened = open_indexed_as("trace.json", &recording("node/trace.json"));
    assert!(check(&opened) > 10);
}

const TIMERS: &[u8] = br#"[
{"ph":"X","name":"TimerInstall","cat":"c","pid":1,"tid":1,"ts":1,"dur":1,"args":{"data":{"timerId":7}}},
{"ph":"X","name":"TimerFire","cat":"c","pid":1,"tid":1,"ts":9,"dur":5,"args":{"data":{"timerId":7}}}]"#;

#[test]
fn causes_are_read_at_the_first_question() {
    let opened = open(TIMERS);
    assert_eq!(opened.get("api/causes?lane=0&row=0").status, 400);
    assert_eq!(opened.get("api/causes?lane=7&row=0&start=0").status, 200);
    read_causes(&opened, &(0, 0, 8000, 0.0, String::new()));
    let answer = opened.json("api/causes?lane=0&row=0&start=8000");
    let entry = &answer["causes"][0];
    assert_eq!((&entry["text"], &entry["key"]), (&json!("TimerInstall"), &json!("r-0")));
    assert_eq!(answer["started"], json!([]));
    let answer = opened.json("api/causes?lane=0&row=0&start=0");
    assert_eq!(answer["started"][0]["start"], 8000.0);
    assert_eq!(opened.get("api/causes?lane=7&row=0&start=0").status, 404);
}

#[test]
fn closed_sites_read_no_causes() {
    let opened = open(TIMERS);
    opened.site.close();
    opened.site.read_causes().unwrap();
    let event = (0, 0, 0, 0.0, String::new());
    assert_eq!(causes(&opened, &event), json!({ "state": "reading" }));
}

#[test]
fn causes_beyond_the_memory_give_a_sentence() {
    use std::fmt::Write;
    let mut text = String::from("[");
    for number in 0..60_000 {
        let name = format!("{number:0>90}");
        write!(
            text,
            r#"{{"ph":"X","name":"e","cat":"{name}","pid":1,"tid":1,"ts":{number},"dur":1}},"#
        )
        .unwrap();
    }
    text.push_str(r#"{"ph":"X","name":"last","pid":1,"tid":1,"ts":70000,"dur":1}]"#);
    let config = Config { index: IndexUse::Never, ..config() };
    let opened = with(text.as_bytes(), config);
    opened.site.read().unwrap();
    let event = (0, 0, 0, 0.0, String::new());
    assert_eq!(causes(&opened, &event), json!({ "state": "reading" }));
    assert!(opened.site.read_causes().is_err());
    let answer = causes(&opened, &event);
    assert_eq!(answer["state"], "failed");
    assert!(answer["why"].as_str().unwrap().contains("MiB"), "{answer}");
}
