//! sonic-rs with lazy values: only times are looked for.

use sonic_rs::{JsonNumberTrait, JsonValueTrait, get_from_slice, to_array_iter};
use std::borrow::Cow;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (inputs, output) = tracemill_peers::arguments();
    let texts = inputs.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    let mut events = Vec::new();
    for text in &texts {
        let list = get_from_slice(text, ["traceEvents"])?;
        let Cow::Borrowed(list) = list.as_raw_cow() else { return Err("a copy".into()) };
        for event in to_array_iter(list) {
            let event = event?;
            let ts = event.get("ts").and_then(|ts| ts.as_number()).and_then(|ts| ts.as_f64());
            events.push((ts.unwrap_or_default(), event.as_raw_cow()));
        }
    }
    Ok(tracemill_peers::write_sorted(events, &output)?)
}
