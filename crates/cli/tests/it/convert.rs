//! Runs `convert`.

use crate::support::{Folder, trace};
use serde_json::{Value, json};

const PRETTY: &str = "{\n  \"metadata\" : {\n    \"a\" : [ 1, 2 ]\n  },\n  \"traceEvents\" : [\n    {\n      \"ph\" : \"X\",\n      \"name\" : \"a  b\"\n    },\n    { \"ph\":\"i\" }\n  ]\n}";

#[test]
fn formats_and_styles_are_written() {
    let folder = Folder::new().with("a.json", PRETTY);
    for (flags, expected) in [
        (
            "--format ndjson",
            "{\"tracemill\":{\"metadata\":{\"a\" : [ 1, 2 ]}}}\n{\"ph\" : \"X\",\"name\" : \"a  b\"}\n{ \"ph\":\"i\" }\n",
        ),
        (
            "--style compact --format ndjson",
            "{\"tracemill\":{\"metadata\":{\"a\":[1,2]}}}\n{\"ph\":\"X\",\"name\":\"a  b\"}\n{\"ph\":\"i\"}\n",
        ),
        (
            "--style compact",
            "{\"traceEvents\":[\n{\"ph\":\"X\",\"name\":\"a  b\"},\n{\"ph\":\"i\"}\n],\n\"metadata\":{\"a\":[1,2]}}\n",
        ),
    ] {
        let run = folder.run(&format!("convert a.json {flags}")).ends(0).quietly();
        assert_eq!(run.stdout, expected, "{flags}");
        let piped = folder.pipe(&format!("convert {flags}"), PRETTY).ends(0);
        assert_eq!(piped.stdout, expected, "{flags}");
    }
    let array = folder.run("convert a.json --format array --style compact").ends(1);
    assert!(array.stdout.starts_with("[\n{\"ph\":\"X\","), "{}", array.stdout);
    array.says(&["left out: \"metadata\""]);
}

#[test]
fn convert_keeps_the_input_order() {
    let folder = Folder::new().with("a.json", trace([3, 1])).with("b.json", trace([2]));
    assert_eq!(folder.run("convert a.json").ends(0).times(), [3, 1]);
    assert_eq!(folder.run("convert a.json b.json").ends(0).times(), [1, 2, 3]);
    folder.run("convert a.json --format ndjson -o a.ndjson.gz").ends(0);
    assert_eq!(folder.run("convert a.ndjson.gz --format object").ends(0).times(), [3, 1]);
}

#[test]
fn a_json_file_is_never_one_event_per_line() {
    let lines = "{\"ph\":\"i\",\"ts\":1}\n,{\"ph\":\"i\",\"ts\":2}\n";
    let folder = Folder::new().with("a.log", lines);
    for (verb, flags, is_json) in [
        ("convert", "-o out.json", true),
        ("merge", "-o out.json", true),
        ("filter", "-o out.json", true),
        ("slice --from 0", "-o out.json", true),
        ("merge", "-o out.ndjson", false),
        ("convert", "-o out.json --format ndjson", false),
    ] {
        folder.run(&format!("{verb} a.log -f {flags}")).ends(0);
        let name = flags.split(' ').nth(1).expect("a name");
        let value = serde_json::from_str::<Value>(&folder.read(name));
        assert_eq!(value.is_ok(), is_json, "{verb} {flags}");
    }
    assert!(folder.run("convert a.log").ends(0).stdout.starts_with("{\"ph\""));
    folder.run("split a.log --by events=1 -d parts -O {part}.json").ends(0);
    assert!(serde_json::from_str::<Value>(&folder.read("parts/001.json")).is_ok());
}

#[test]
fn conflicting_outputs_are_refused() {
    let folder = Folder::new().with("a.json", trace([1])).with("a.ndjson", "{\"ph\":\"i\"}\n");
    folder.run("convert a.json -f -o a.json").ends(2).says(&["is one of the inputs"]);
    folder.run("convert a.json -o a.ndjson").ends(2).says(&["exists"]);
    assert_eq!(folder.names(), ["a.json", "a.ndjson"]);
}

#[test]
fn reports_have_format_and_style() {
    let folder = Folder::new().with("a.json", trace([1]));
    folder.run("convert a.json --style compact -o b.json --report r.json").ends(0);
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(report["verb"], "convert");
    assert_eq!(report["output"]["style"], "compact");
    assert_eq!(report["output"]["bytes"], json!(folder.read("b.json").len()));
    let run = folder.run("convert -v a.json").ends(0);
    assert!(
        run.stderr.contains("written as object (by the first input and the name of the output)"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("white space: keep"), "{}", run.stderr);
}
