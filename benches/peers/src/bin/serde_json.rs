//! serde_json with raw values: events stay text, times are read.

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Trace<'a> {
    #[serde(borrow, rename = "traceEvents")]
    events: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Stamp {
    #[serde(default)]
    ts: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (inputs, output) = tracemill_peers::arguments();
    let texts = inputs.iter().map(std::fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
    let mut events = Vec::new();
    for text in &texts {
        for event in serde_json::from_str::<Trace<'_>>(text)?.events {
            let stamp: Stamp = serde_json::from_str(event.get())?;
            events.push((stamp.ts, event.get()));
        }
    }
    Ok(tracemill_peers::write_sorted(events, &output)?)
}
