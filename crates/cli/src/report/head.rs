//! What all reports begin with.

use super::object::Object;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tracemill_pipeline::{Config, Flaws, InputReport, Tally, Tier};

/// Number of the form of reports: a key that goes or changes its meaning counts it up, a new one does not.
pub(crate) const SCHEMA: u32 = 1;

/// What a report says of the run itself.
pub(crate) struct Run<'r> {
    /// Its knobs.
    pub(crate) config: &'r Config,
    /// How long it took.
    pub(crate) elapsed: Duration,
}

pub(super) fn flaws(flaws: &Flaws) -> Value {
    let all = flaws.iter().map(|(kind, flaw)| {
        json!({
            "kind": kind.name(),
            "count": flaw.count,
            "lost": kind.is_loss(),
            "input": flaw.input,
            "offset": flaw.offset,
        })
    });
    all.collect()
}

/// What all reports begin with; `decisions` are those of the verb.
pub(crate) fn common<'r>(
    verb: &str,
    inputs: &'r [InputReport],
    lost: u64,
    run: &Run<'_>,
    decisions: impl IntoIterator<Item = (&'static str, Value)>,
) -> Object<'r> {
    let Run { config, elapsed } = run;
    let mut all = Object::from([
        ("threads", json!(config.threads)),
        ("tier", json!(config.tier.unwrap_or_else(Tier::best).name())),
        ("memory", json!(config.memory)),
        ("tmp_dir", json!(config.tmp_dir.to_string_lossy())),
        ("strict", json!(config.strict)),
        ("repair", json!(config.repair)),
    ]);
    all.extend(decisions);
    let mut report = Object::from([
        ("schema", json!(SCHEMA)),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
        ("verb", json!(verb)),
        ("lost", json!(lost)),
        ("seconds", json!(elapsed.as_secs_f64())),
    ]);
    report.list("inputs", || inputs.iter().map(input));
    report.set("decisions", all);
    report
}

pub(super) fn input(input: &InputReport) -> Value {
    json!({
        "name": input.name,
        "bytes": input.bytes,
        "events": input.events,
        "encoding": input.encoding,
        "losses": tallies(input.losses.iter().map(|(kind, tally)| (kind.name(), tally))),
        "lapses": tallies(input.lapses.iter().map(|(kind, tally)| (kind.name(), tally))),
        "unclosed": input.unclosed,
        "odd_separators": input.odd_separators,
        "profiles": input.profiles,
        "flaws": flaws(&input.flaws),
    })
}

/// Losses or lapses, by the names of their kinds.
pub(super) fn tallies<'t>(tallies: impl Iterator<Item = (&'static str, &'t Tally)>) -> Value {
    let tallies = tallies.map(|(kind, tally)| {
        let examples = tally.examples.iter().map(|example| {
            json!({
                "offset": example.offset,
                "noticed": example.noticed,
                "bytes": example.bytes,
                "excerpt": example.excerpt,
            })
        });
        json!({
            "kind": kind,
            "count": tally.count,
            "bytes": tally.bytes,
            "examples": examples.collect::<Value>(),
        })
    });
    tallies.collect()
}

/// An id as it was written, if JSON can carry it exactly.
pub(crate) fn id(written: &str) -> Value {
    if written.is_empty() {
        return Value::Null;
    }
    match serde_json::from_str(written) {
        Ok(Value::Number(number)) if number.is_i64() || number.is_u64() => Value::Number(number),
        Ok(Value::String(text)) => Value::String(text),
        _ => Value::String(written.to_owned()),
    }
}

/// Pairs as an object.
pub(crate) fn map(pairs: &[(String, String)]) -> Value {
    let members = pairs.iter().map(|(key, value)| (key.clone(), json!(value)));
    Value::Object(members.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_exact_or_text() {
        assert_eq!(id(""), Value::Null);
        assert_eq!(id("12"), json!(12));
        assert_eq!(id("-1"), json!(-1));
        assert_eq!(id("18446744073709551615"), json!(u64::MAX));
        assert_eq!(id("18446744073709551616"), json!("18446744073709551616"));
        assert_eq!(id("1.50"), json!("1.50"));
        assert_eq!(id("\"Spans\""), json!("Spans"));
        assert_eq!(id("{\"a\":1}"), json!("{\"a\":1}"));
    }
}
