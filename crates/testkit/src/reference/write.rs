//! Writes events and keys in one of the three formats, for the reference.

use super::format::Format;

/// Returns the whole output. `keys` must be empty for an array, because an array cannot hold keys.
pub(super) fn trace(format: Format, events: &[&str], keys: &[(String, String)]) -> Vec<u8> {
    let mut out = String::new();
    match format {
        Format::Object => {
            out.push_str("{\"traceEvents\":[");
            push_events(&mut out, events);
            out.push(']');
            for (key, value) in keys {
                out.push_str(&format!(",\n{key}:{value}"));
            }
            out.push_str("}\n");
        }
        Format::Array => {
            assert!(keys.is_empty(), "an array has no room for keys");
            out.push('[');
            push_events(&mut out, events);
            out.push_str("]\n");
        }
        Format::Ndjson => {
            if !keys.is_empty() {
                let keys: Vec<String> =
                    keys.iter().map(|(key, value)| format!("{key}:{}", one_line(value))).collect();
                out.push_str(&format!("{{\"tracemill\":{{{}}}}}\n", keys.join(",")));
            }
            for event in events {
                out.push_str(&one_line(event));
                out.push('\n');
            }
        }
    }
    out.into_bytes()
}

fn push_events(out: &mut String, events: &[&str]) {
    for (i, event) in events.iter().enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        out.push_str(event);
    }
    out.push('\n');
}

/// Removes whitespace between tokens that contains a line break.
fn one_line(json: &str) -> String {
    let mut out = String::new();
    let mut space = String::new();
    let mut in_string = false;
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        if !in_string && matches!(c, ' ' | '\t' | '\n' | '\r') {
            space.push(c);
            continue;
        }
        if !space.contains(['\n', '\r']) {
            out.push_str(&space);
        }
        space.clear();
        out.push(c);
        match c {
            '"' => in_string = !in_string,
            '\\' if in_string => out.extend(chars.next()),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_keeps_strings_and_inner_blanks() {
        let text = "{ \"a\\\\\" :\t1 , \r\n \"b\\\" \\n\":[ 1,\n2 ]\n}";
        assert_eq!(one_line(text), "{ \"a\\\\\" :\t1 ,\"b\\\" \\n\":[ 1,2 ]}");
    }
}
