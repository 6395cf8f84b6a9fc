//! What all reports begin with.

use super::object::Object;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tracemill_join::config::Config;
use tracemill_join::report::rows::WrittenId;
use tracemill_tokenizer::Tier;
use tracemill_trace::run::losses::InputReport;

/// Number of the form of reports: a key that goes or changes its meaning counts it up, a new one does not.
pub(crate) const SCHEMA: u32 = 1;

/// What a report says of the run itself.
pub(crate) struct Run<'r> {
    /// Its knobs.
    pub(crate) config: &'r Config,
    /// How long it took.
    pub(crate) elapsed: Duration,
}

/// What all reports begin with; `decisions` are those of the verb.
pub(crate) fn base<'r>(
    verb: &str,
    inputs: &'r [InputReport],
    lost: u64,
    run: &Run<'_>,
    decisions: impl IntoIterator<Item = (&'static str, Value)>,
) -> Object<'r> {
    let Run { config, elapsed } = run;
    let mut all = Object::from([
        ("threads", json!(config.limits.threads)),
        ("tier", json!(config.limits.tier.unwrap_or_else(Tier::best).name())),
        ("memory", json!(config.limits.memory)),
        ("tmp_dir", json!(config.limits.tmp_dir.to_string_lossy())),
        ("strict", json!(config.limits.strict)),
        ("repair", json!(config.limits.repair)),
    ]);
    all.extend(decisions);
    let mut report = Object::from([
        ("schema", json!(SCHEMA)),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
        ("verb", json!(verb)),
        ("lost", json!(lost)),
        ("seconds", json!(elapsed.as_secs_f64())),
    ]);
    report.list("inputs", || inputs.iter().map(|input| json!(input)));
    report.set("decisions", all);
    report
}

/// An id as it was written, if JSON can carry it exactly.
pub(crate) fn id(written: &str) -> Value {
    json!(WrittenId(written))
}

/// Pairs as an object.
pub(crate) fn map(pairs: &[(String, String)]) -> Value {
    let members = pairs.iter().map(|(key, value)| (key.clone(), json!(value)));
    Value::Object(members.collect::<Map<_, _>>())
}
