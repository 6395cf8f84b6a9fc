//! Keys that all reports have.

use super::object::Object;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tracemill_join::config::Config;
use tracemill_join::report::rows::WrittenId;
use tracemill_tokenizer::Tier;
use tracemill_trace::run::losses::InputReport;

/// Version of the report format. It is raised if a key is removed or gets another meaning, but not
/// if a key is added.
pub(crate) const SCHEMA: u32 = 1;

/// The properties of a run that its report contains.
pub(crate) struct Run<'r> {
    pub(crate) config: &'r Config,
    pub(crate) elapsed: Duration,
}

/// Builds the keys that all reports have. `decisions` are additional keys of the command.
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

/// Returns an id as JSON: a number if JSON can represent it exactly, else a string.
pub(crate) fn id(written: &str) -> Value {
    json!(WrittenId(written))
}

/// Converts pairs to a JSON object.
pub(crate) fn map(pairs: &[(String, String)]) -> Value {
    let members = pairs.iter().map(|(key, value)| (key.clone(), json!(value)));
    Value::Object(members.collect::<Map<_, _>>())
}
