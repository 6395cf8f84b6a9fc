//! Third parties: groups of `top` and `tree`, and the section of reports.

use crate::support::Folder;

/// A page with first-party and third-party scripts and requests.
pub(crate) const PAGE: &str = r#"[
{"ph":"M","name":"thread_name","cat":"__metadata","pid":7,"tid":7,"ts":0,"args":{"name":"CrRendererMain"}},
{"ph":"I","name":"TracingStartedInBrowser","cat":"c","pid":1,"tid":1,"ts":1000,"args":{"data":{"frames":[{"frame":"F","url":"https://www.shop.example/","name":"","processId":7,"isInPrimaryMainFrame":true,"isOutermostMainFrame":true}]}}},
{"ph":"R","name":"navigationStart","cat":"c","pid":7,"tid":7,"ts":2000,"args":{"frame":"F","data":{"navigationId":"N","documentLoaderURL":"https://www.shop.example/","isOutermostMainFrame":true}}},
{"ph":"I","s":"t","name":"ResourceSendRequest","cat":"c","pid":7,"tid":7,"ts":3000,"args":{"data":{"requestId":"R","frame":"F","url":"https://cdn.ads.example/x.js","priority":"High"}}},
{"ph":"I","s":"t","name":"ResourceReceiveResponse","cat":"c","pid":7,"tid":7,"ts":3100,"args":{"data":{"requestId":"R","fromCache":false,"encodedDataLength":100,"mimeType":"text/javascript","statusCode":200}}},
{"ph":"I","s":"t","name":"ResourceReceivedData","cat":"c","pid":7,"tid":7,"ts":3200,"args":{"data":{"requestId":"R","encodedDataLength":400}}},
{"ph":"I","s":"t","name":"ResourceFinish","cat":"c","pid":7,"tid":7,"ts":3300,"args":{"data":{"requestId":"R","encodedDataLength":512,"didFail":false}}},
{"ph":"X","name":"RunTask","cat":"disabled-by-default-devtools.timeline","pid":7,"tid":7,"ts":4000,"dur":9000,"args":{}},
{"ph":"X","name":"EvaluateScript","cat":"devtools.timeline","pid":7,"tid":7,"ts":4100,"dur":5000,"args":{"data":{"url":"https://cdn.ads.example/x.js"}}},
{"ph":"X","name":"FunctionCall","cat":"devtools.timeline","pid":7,"tid":7,"ts":5000,"dur":1000,"args":{"data":{"url":"https://www.shop.example/app.js"}}},
{"ph":"X","name":"FunctionCall","cat":"devtools.timeline","pid":7,"tid":7,"ts":10000,"dur":2000,"args":{"data":{"url":"chrome-extension://abcdef/content.js"}}},
{"ph":"X","name":"Layout","cat":"devtools.timeline","pid":7,"tid":7,"ts":12500,"dur":250,"args":{}},
{"ph":"X","name":"RunTask","cat":"disabled-by-default-devtools.timeline","pid":7,"tid":7,"ts":20000,"dur":100,"args":{}}]"#;

/// Map of domains to companies.
pub(crate) const COMPANIES: &str =
    r#"[{"name":"Ads","company":"Ads Inc","domains":["*.ads.example"]}]"#;

fn folder() -> Folder {
    Folder::new().with("page.json", PAGE).with("entities.json", COMPANIES)
}

#[test]
fn rows_are_grouped_by_third_party() {
    let folder = folder();
    let groups = |flags: &str| {
        let words = format!("top page.json --group-by third-party --csv {flags}");
        let text = folder.run(&words).ends(0).stdout;
        let column = |name| text.lines().next()?.split(',').position(|head| head == name);
        let (name, self_ms) = (column("name").expect("a name"), column("self_ms").expect("a time"));
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{} {}", cells[name], cells[self_ms])
        };
        text.lines().skip(1).map(row).collect::<Vec<String>>()
    };
    let by_domain =
        ["ads.example 4", "abcdef 2", "shop.example 1", "[unattributed] 0.25"].map(str::to_owned);
    assert_eq!(groups(""), by_domain);
    let [_, others @ ..] = by_domain;
    assert_eq!(
        groups("--entities entities.json"),
        [vec!["Ads 4".to_owned()], others.to_vec()].concat()
    );
    // in DevTools, rows of this grouping have no callers
    let tree = |flags: &str| {
        let words =
            format!("tree page.json --bottom-up --group-by third-party --min 0 --csv {flags}");
        folder.run(&words).ends(0).stdout.lines().count()
    };
    assert!(tree("--like panel") < tree(""));
    folder.run("top page.json --entities none.json").ends(2).says(&["cannot read --entities"]);
    folder.run("top page.json --entities page.json").ends(2).says(&["entry 0", "third-party-web"]);
}

#[test]
fn titles_have_the_window_and_hidden_calls() {
    const PROFILE: &str = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2]},
{"id":2,"callFrame":{"functionName":"f","scriptId":"3","url":"node:fs","lineNumber":4,"columnNumber":5},"children":[3]},
{"id":3,"callFrame":{"functionName":"g","scriptId":"4","url":"node:path","lineNumber":4,"columnNumber":5}}],
"startTime":1000,"endTime":9000,"samples":[3,2,3],"timeDeltas":[1000,3000,3000]}"#;
    let folder = folder().with("p.cpuprofile", PROFILE);
    let head = |words: &str| {
        let text = folder.run(words).ends(0).stdout;
        text.lines().next().expect("a line").to_owned()
    };
    let all = head("tree p.cpuprofile");
    assert!(
        all.contains("ms busy of 8.00 ms") && all.contains("2 of them on the ignore list"),
        "{all}"
    );
    // the title counts what is left out, even where DevTools would not draw it
    for words in ["tree p.cpuprofile --like panel", "tree p.cpuprofile --ignore-list"] {
        let head = head(words);
        assert!(head.ends_with("; without 2 calls on the ignore list"), "{words}: {head}");
    }
    assert!(!head("top page.json").contains("ignore list"));
    let part = head("top page.json --window 4ms..6ms");
    assert!(part.contains("busy from 4.00 ms to 6.00 ms"), "{part}");
    let folder = folder.with("list.txt", "# ours\n\n^node:\n/vendor/\n");
    assert!(
        !folder.run("tree p.cpuprofile --ignore-list=@list.txt").ends(0).stdout.contains(" g ")
    );
    let wrong = folder.run("top page.json --ignore-list=@none.txt").ends(2).stderr;
    assert!(wrong.contains("cannot read none.txt"), "{wrong}");
    // outputs other than terminals are plain unless --color is given
    assert!(!folder.run("top page.json").stdout.contains('\u{1b}'));
    assert!(folder.run("top page.json --color always").stdout.contains("\u{1b}[1m"));
}

#[test]
fn reports_have_third_parties() {
    let folder = folder();
    let text = folder.run("report page.json").ends(0).stdout;
    for line in ["3rd    ads.example", "1st    shop.example", "3rd    abcdef"] {
        assert!(text.contains(line), "{line}:\n{text}");
    }
    let json = folder.run("report page.json --json --entities entities.json").ends(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let sections = json["sections"].as_array().expect("sections");
    let section =
        sections.iter().find(|section| section["id"] == "third-parties").expect("the section");
    assert_eq!(section["figures"]["third_parties"], 2);
    assert_eq!(section["figures"]["third_ms"], 6.0);
    assert_eq!(section["figures"]["third_bytes"], 512.0);
    let first = &section["rows"][0];
    assert_eq!(
        (&first[1], &first[4], &first[5], &first[6]),
        (&4.0.into(), &"3rd".into(), &"Ads".into(), &true.into())
    );
    let next = first[8].as_str().expect("a command");
    assert!(next.contains("--group-by third-party") && next.contains("--entities"), "{next}");
    let words = next.strip_prefix("tracemill ").expect("a command");
    folder.run(words).ends(0);
}
