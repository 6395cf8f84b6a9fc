//! Checks the insights of `report`.

use crate::support::Folder;
use serde_json::Value;

/// A page with a finding of each insight.
const PAGE: &str = r#"[
{"ph":"M","name":"thread_name","cat":"__metadata","pid":7,"tid":7,"ts":0,"args":{"name":"CrRendererMain"}},
{"ph":"I","name":"TracingStartedInBrowser","cat":"c","pid":1,"tid":1,"ts":1000,"args":{"data":{"frames":[{"frame":"F","url":"https://a.test/","name":"","processId":7,"isInPrimaryMainFrame":true,"isOutermostMainFrame":true}]}}},
{"ph":"R","name":"navigationStart","cat":"blink.user_timing","pid":7,"tid":7,"ts":2000,"args":{"frame":"F","data":{"navigationId":"N","documentLoaderURL":"https://a.test/","isOutermostMainFrame":true}}},
{"ph":"I","s":"t","name":"ResourceSendRequest","cat":"c","pid":7,"tid":7,"ts":3000,"args":{"data":{"requestId":"N","frame":"F","url":"https://a.test/","priority":"High","resourceType":"Document"}}},
{"ph":"I","s":"t","name":"ResourceReceiveResponse","cat":"c","pid":7,"tid":7,"ts":804000,"args":{"data":{"requestId":"N","mimeType":"text/html","statusCode":200,"protocol":"http/1.1","headers":[{"name":"content-type","value":"text/html"}],"timing":{"requestTime":0.003,"sendStart":0,"sendEnd":0,"receiveHeadersStart":800,"receiveHeadersEnd":800}}}},
{"ph":"I","s":"t","name":"ResourceFinish","cat":"c","pid":7,"tid":7,"ts":805000,"args":{"data":{"requestId":"N","encodedDataLength":9000,"decodedBodyLength":9000,"finishTime":0.805}}},
{"ph":"I","s":"t","name":"MetaCharsetCheck","cat":"c","pid":7,"tid":7,"ts":806000,"args":{"data":{"frame":"F","disposition":"not-found"}}},
{"ph":"I","s":"t","name":"ParseMetaViewport","cat":"c","pid":7,"tid":7,"ts":806500,"args":{"data":{"frame":"F","node_id":3,"content":"width=1000"}}},
{"ph":"I","s":"t","name":"BeginCommitCompositorFrame","cat":"c","pid":7,"tid":7,"ts":807000,"args":{"frame":"F","is_mobile_optimized":false}},
{"ph":"R","name":"firstContentfulPaint","cat":"loading","pid":7,"tid":7,"ts":850000,"args":{"frame":"F","data":{"navigationId":"N"}}},
REQUESTS
{"ph":"I","s":"t","name":"BeginRemoteFontLoad","cat":"c","pid":7,"tid":7,"ts":821000,"args":{"display":"block","id":7,"url":"https://a.test/7"}},
{"ph":"I","s":"t","name":"RemoteFontLoaded","cat":"c","pid":7,"tid":7,"ts":870000,"args":{"name":"Serif","url":"https://a.test/7"}},
{"ph":"X","name":"PaintImage","cat":"c","pid":7,"tid":7,"ts":900000,"dur":10,"args":{"data":{"url":"https://a.test/1","width":100,"height":100,"srcWidth":200,"srcHeight":200,"x":0,"y":0,"isCSS":false}}},
{"ph":"R","name":"largestContentfulPaint::Candidate","cat":"loading","pid":7,"tid":7,"ts":950000,"args":{"frame":"F","data":{"candidateIndex":1,"isMainFrame":true,"isOutermostMainFrame":true,"navigationId":"N","nodeId":5,"size":9,"type":"image"}}},
{"ph":"I","s":"t","name":"LargestImagePaint::Candidate","cat":"loading","pid":7,"tid":7,"ts":950000,"args":{"frame":"F","data":{"DOMNodeId":5,"imageUrl":"https://a.test/1"}}},
{"ph":"I","s":"t","name":"DOMStats","cat":"c","pid":7,"tid":7,"ts":960000,"args":{"data":{"frame":"F","totalElements":5000,"maxDepth":{"depth":9},"maxChildren":{"numChildren":400}}}},
{"ph":"b","id":"1","name":"EventTiming","cat":"devtools.timeline","pid":7,"tid":7,"ts":970000,"args":{"data":{"duration":300,"frame":"F","interactionId":5,"nodeId":0,"processingStart":170,"processingEnd":190,"timeStamp":100,"type":"pointerdown"}}},
{"ph":"e","id":"1","name":"EventTiming","cat":"devtools.timeline","pid":7,"tid":7,"ts":1270000,"args":{}},
{"ph":"X","name":"RunTask","cat":"disabled-by-default-devtools.timeline","pid":7,"tid":7,"ts":970000,"dur":70000,"args":{}},
{"ph":"X","name":"UpdateLayoutTree","cat":"devtools.timeline","pid":7,"tid":7,"ts":975000,"dur":50000,"args":{"elementCount":5000,"beginData":{"frame":"F"}}},
{"ph":"I","s":"t","name":"SelectorStats","cat":"c","pid":7,"tid":7,"ts":976000,"args":{"selector_stats":{"selector_timings":[{"elapsed (us)":700,"fast_reject_count":1,"match_attempts":40,"match_count":9,"selector":".b > *","style_sheet_id":"1"}]}}}]"#;

/// Returns the page with its images and its font.
pub(crate) fn page() -> String {
    let request = |number: u32| {
        let (kind, mime) =
            if number == 7 { ("Font", "font/woff2") } else { ("Image", "image/png") };
        let common = r#""ph":"I","s":"t","cat":"c","pid":7,"tid":7"#;
        let id = format!(r#""requestId":"7.{number}""#);
        format!(
            r#"{{{common},"name":"ResourceSendRequest","ts":820000,"args":{{"data":{{{id},"frame":"F","url":"https://a.test/{number}","priority":"Low","resourceType":"{kind}"}}}}}},
{{{common},"name":"ResourceReceiveResponse","ts":830000,"args":{{"data":{{{id},"mimeType":"{mime}","statusCode":200,"protocol":"http/1.1","headers":[{{"name":"cache-control","value":"max-age=600"}}],"timing":{{"requestTime":0.82,"sendStart":1,"sendEnd":1,"receiveHeadersStart":9,"receiveHeadersEnd":9}}}}}}}},
{{{common},"name":"ResourceFinish","ts":862000,"args":{{"data":{{{id},"encodedDataLength":30000,"decodedBodyLength":30000,"finishTime":0.862}}}}}},"#
        )
    };
    PAGE.replace("REQUESTS", &(1..=7).map(request).collect::<String>())
}

#[test]
fn reports_list_each_insight_with_a_finding() {
    let folder = Folder::new().with("page.json", page());
    let text = folder.run("report page.json").ends(0).stdout;
    let expected = [
        (
            "Document request latency",
            "the server answers after 800.00 ms, compression saves 6,030 bytes",
        ),
        ("Declare a character encoding", "not declared"),
        (
            "Optimize viewport for mobile",
            "not optimized for mobile, 1 interaction up to 70.00 ms late",
        ),
        ("Modern HTTP", "8 requests over HTTP/1"),
        ("Use efficient cache lifetimes", "7 responses, 192,500 bytes could be cached"),
        ("Font display", "1 font may hide text for up to 40.00 ms"),
        ("Improve image delivery", "1 image could save 28,333 bytes"),
        ("Optimize DOM size", "1 large update, up to 50.00 ms"),
        ("CSS selector costs", "700.00 µs for 40 attempts, the slowest 700.00 µs"),
        ("LCP request discovery", "without fetchpriority=high, not found in the document"),
    ];
    for (title, finding) in expected {
        let line = text.lines().find(|line| line.contains(title)).unwrap_or_default();
        assert!(line.contains(finding), "{title}: {line}\n{text}");
    }
}

#[test]
fn json_has_insights_without_findings_too() {
    let folder = Folder::new()
        .with("page.json", page().replace("\"not-found\"", "\"found-in-first-1024-bytes\""));
    let report = folder.run("report --json page.json").ends(0).stdout;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let sections = report["sections"].as_array().expect("a list");
    let section = sections.iter().find(|section| section["id"] == "insights").expect("insights");
    assert_eq!(section["figures"]["findings"], 9);
    let columns = section["columns"].as_array().expect("columns");
    let column = |name: &str| columns.iter().position(|column| column == name).expect("a column");
    let rows = section["rows"].as_array().expect("rows");
    let encoding = rows.iter().find(|row| row[column("id")] == "character-set").expect("a row");
    assert_eq!(encoding[column("state")], "pass");
    assert_eq!(encoding[column("details")]["in_document"], "found-in-first-1024-bytes");
}
