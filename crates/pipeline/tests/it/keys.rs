//! Top-level keys of several inputs survive a merge, whatever producer wrote them.

use crate::run::{PLAIN, run};
use serde_json::Value;
use tracemill_trace::output::target::Format;

/// Top-level keys that the profiler of PyTorch writes.
const KINETO: [&str; 17] = [
    "schemaVersion",
    "deviceProperties",
    "cupti_version",
    "cuda_runtime_version",
    "cuda_driver_version",
    "hipMajor",
    "distributedInfo",
    "record_shapes",
    "profile_memory",
    "with_stack",
    "with_flops",
    "with_modules",
    "trace_id",
    "displayTimeUnit",
    "baseTimeNanoseconds",
    "traceName",
    "host_name",
];

fn input(number: usize) -> String {
    let member = |(at, name): (usize, &&str)| match at % 3 {
        // the same in all inputs
        0 => format!("\"{name}\":[{at}]"),
        _ => format!("\"{name}\":{{\"of\":{number}, \"at\": {at}}}"),
    };
    let keys: Vec<String> = KINETO.iter().enumerate().map(member).collect();
    format!(
        r#"{{{},"systemTraceEvents":"ftrace {number}","traceEvents":[{{"ph":"X","ts":{number},"pid":{number},"sf":7}}],
        "stackFrames":{{"7":{{"name":"f"}}}},"samples":[{{"sf":7,"ts":{number}}}],"otherData":{{"n":{number}}}}}"#,
        keys.join(",")
    )
}

#[test]
fn keys_of_every_producer_survive() {
    let inputs = [1, 2, 3].map(input);
    let texts: Vec<&[u8]> = inputs.iter().map(String::as_bytes).collect();
    let (output, _) = run(&texts, None, PLAIN).expect("sound");
    let output: Value = serde_json::from_slice(&output).expect("JSON");
    let united: Vec<Value> =
        inputs.iter().map(|input| serde_json::from_str(input).expect("JSON")).collect();
    for (number, object) in united.iter().enumerate() {
        for (key, value) in object.as_object().expect("an object") {
            match (number, &**key) {
                (_, "traceEvents" | "stackFrames" | "samples") => {}
                (0, key) => assert_eq!(&output[key], value, "{key}"),
                (_, key) if value == &united[0][key] => {}
                (_, key) => {
                    let apart = &output["tracemill"]["inputs"][number - 1];
                    assert_eq!(apart["index"], number);
                    assert_eq!(&apart["keys"][key], value, "{key} of {number}");
                }
            }
        }
    }
    assert_eq!(output["samples"].as_array().map(Vec::len), Some(3));
    assert_eq!(output["stackFrames"], united[0]["stackFrames"]);
}

/// Text without a key belongs to the key before it. NDJSON with such text must be readable.
#[test]
fn keys_followed_by_stray_text_survive_in_ndjson() {
    let input =
        br#"{"traceEvents":[{"ph":"X","ts":1,"pid":1}],"a":{"b":[1]},"c:0"},"d":5,,"e":{}}"#;
    let (object, _) = run(&[input], Some(Format::Object), PLAIN).expect("sound enough");
    let (lines, _) = run(&[&object], Some(Format::Ndjson), PLAIN).expect("sound enough");
    let (again, report) = run(&[&lines], None, PLAIN).expect("sound enough");
    assert_eq!(
        (lines == again, report.run.lost()),
        (true, 0),
        "{}",
        String::from_utf8_lossy(&lines)
    );
    let (back, _) = run(&[&lines], Some(Format::Object), PLAIN).expect("sound enough");
    assert_eq!(String::from_utf8_lossy(&back), String::from_utf8_lossy(&object));
}
