//! simd-json with borrowed values: everything is parsed, and written anew.

use simd_json::BorrowedValue;
use simd_json::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (inputs, output) = tracemill_peers::arguments();
    let mut texts = inputs.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    let mut events = Vec::new();
    for text in &mut texts {
        let BorrowedValue::Object(mut trace) = simd_json::to_borrowed_value(text)? else {
            return Err("no object".into());
        };
        let Some(BorrowedValue::Array(list)) = trace.remove("traceEvents") else {
            return Err("no traceEvents".into());
        };
        for event in *list {
            let ts = event.get("ts").and_then(|ts| ts.cast_f64()).unwrap_or_default();
            events.push((ts, event.encode()));
        }
    }
    Ok(tracemill_peers::write_sorted(events, &output)?)
}
