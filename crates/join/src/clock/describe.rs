//! Writes the clock changes of inputs as JSON for provenance.

use crate::report::InputClock;
use tracemill_trace::json::push_string;

/// Appends an array with the clock change of each input:
/// `[{"path","method","offset_ns","scale","matches","residual_ns","uncertainty_ns"}]`.
pub(crate) fn push_clocks(inputs: &[InputClock], out: &mut Vec<u8>) {
    out.push(b'[');
    for (number, input) in inputs.iter().enumerate() {
        out.extend_from_slice(if number > 0 { b",{\"path\":" } else { b"{\"path\":" });
        push_string(&input.name, out);
        let text = |key: &str, text: Option<String>, out: &mut Vec<u8>| {
            out.extend_from_slice(format!(",\"{key}\":").as_bytes());
            match text {
                Some(text) => push_string(&text, out),
                None => out.extend_from_slice(b"null"),
            }
        };
        text("method", input.method.as_ref().map(ToString::to_string), out);
        out.extend_from_slice(format!(",\"offset_ns\":{}", input.offset_ns).as_bytes());
        text("scale", input.scale.clone(), out);
        out.extend_from_slice(format!(",\"matches\":{}", input.matches).as_bytes());
        let numbers =
            [("residual_ns", input.residual_ns), ("uncertainty_ns", input.uncertainty_ns)];
        for (key, number) in numbers {
            let number = number.map_or("null".to_owned(), |number| number.to_string());
            out.extend_from_slice(format!(",\"{key}\":{number}").as_bytes());
        }
        out.push(b'}');
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ClockMethod;

    #[test]
    fn clocks_are_json() {
        let moved = InputClock {
            name: "a\"b".into(),
            method: Some(ClockMethod::Marker("x\n".into())),
            offset_ns: -5,
            scale: Some("1.5".into()),
            matches: 7,
            residual_ns: Some(3),
            ..InputClock::default()
        };
        let mut out = Vec::new();
        push_clocks(&[InputClock::default(), moved], &mut out);
        let value: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        assert_eq!(value[0]["method"], serde_json::Value::Null);
        assert_eq!(value[1]["method"], "marker:x\n");
        assert_eq!((&value[1]["offset_ns"], &value[1]["scale"]), (&(-5).into(), &"1.5".into()));
        assert_eq!(value[1]["uncertainty_ns"], serde_json::Value::Null);
    }
}
