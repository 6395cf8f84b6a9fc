//! Random recordings, read as the command reads, and their tables.

use crate::common::tables::query;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use tracemill_analysis::{Entries, Part, ReadRules, Shape, ThreadChoice, Trace, TreeRow};
use tracemill_join::config::{Align, Config, PidPolicy};
use tracemill_testkit::generate;
use tracemill_trace::Source;

pub(crate) fn config() -> Config {
    let mut config = Config::new(2, 256 << 20, std::env::temp_dir());
    config.identity.pid = PidPolicy::Auto;
    config.clocks.align = Align::Auto;
    config
}

pub(crate) fn read(sources: &[Source]) -> Trace {
    Trace::read(sources, ReadRules::default(), &config()).expect("they are traces")
}

pub(crate) const SHAPES: [Shape; 3] = [Shape::CallTree, Shape::BottomUp { levels: 4 }, Shape::Log];

/// Returns the tables of all threads by title, without keys of events and names of input files.
pub(crate) fn tables(trace: &Trace, shape: Shape, entries: Entries) -> BTreeMap<String, String> {
    let threads = trace.choose(&ThreadChoice::default());
    let parts = trace.parts(&threads, &query(shape, entries, Vec::new())).expect("room");
    let shown = |mut part: Part| {
        let rows = part.table.rows.iter().map(Cow::into_owned);
        part.table.rows = rows.map(|row| TreeRow { key: None, ..row }).collect::<Vec<_>>().into();
        let title = trace.title(&part);
        let file = title.rsplit_once(' ').filter(|(_, file)| file.ends_with(".json"));
        let title = file.map_or(title.clone(), |(title, _)| title.to_owned());
        (title, format!("{:?} {} {}", part.table, part.calls, part.dropped))
    };
    parts.into_iter().map(shown).collect()
}

/// Returns the first random recording from `seed` on for which the laws hold.
pub(crate) fn recording(seed: u64) -> String {
    let has_rivals = |trace: &Value| {
        let events = trace["traceEvents"].as_array().expect("a list").iter();
        let profiles = events.filter(|event| event["name"] == "Profile");
        let ids = |event: &Value| Some((event["pid"].as_u64()?, event["tid"].as_u64()?));
        let mut threads: Vec<(u64, u64)> = profiles.filter_map(ids).collect();
        let count = threads.len();
        threads.sort_unstable();
        threads.dedup();
        threads.len() < count
    };
    let is_late = |trace: &Value| {
        let mut events = trace["traceEvents"].as_array().expect("a list").iter();
        events.any(|event| event["ts"].as_f64() > Some(1e10))
    };
    let mut all = (seed..).map(generate::recording);
    all.find(|trace| !has_rivals(trace) && !is_late(trace)).expect("most are such").to_string()
}

pub(crate) fn source(name: usize, bytes: &[u8]) -> Source {
    Source::bytes(format!("{name}.json"), bytes.to_vec())
}
