//! Access control of requests, replies of all routes, and error messages.

use crate::support::{HOST, Opened, TOKEN, body, open, open_all, unread};
use serde_json::Value;
use std::fs;
use tracemill_testkit::mutate::mutated;
use tracemill_testkit::{Rng, seeds};
use tracemill_view::Ask;

const TRACE: &[u8] = br#"[{"ph":"M","name":"process_name","pid":1,"args":{"name":"<img src=x onerror=alert(1)>"}},
{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000.125,"dur":5000,"args":{"big":12345678901234567890}},
{"ph":"B","name":"b","cat":"c","pid":1,"tid":1,"ts":2000},{"ph":"E","pid":1,"tid":1,"ts":3000},
{"ph":"b","name":"op","cat":"net","id":"0x1","pid":1,"tid":1,"ts":1500},{"ph":"e","name":"op","cat":"net","id":1,"pid":1,"tid":2,"ts":2500},
{"ph":"C","name":"heap","pid":1,"ts":1200,"args":{"used":5,"free":7}},{"ph":"C","name":"heap","pid":1,"ts":2200,"args":{"used":9,"free":1.5}},
{"ph":"s","name":"f","cat":"c","id":1,"pid":1,"tid":1,"ts":1600},
{"ph":"i","name":"mark","pid":2,"tid":7,"ts":6000.125,"s":"t"}]"#;

fn status(opened: &Opened, method: &str, target: &str, host: Option<&str>) -> u16 {
    opened.ask(method, target, host).status
}

#[test]
fn requests_need_host_name_and_token() {
    let opened = open(TRACE);
    let trace_target = format!("/{TOKEN}/api/trace");
    for host in [HOST, "localhost:8123", "[::1]:8123"] {
        assert_eq!(status(&opened, "GET", &trace_target, Some(host)), 200, "{host}");
    }
    for host in [
        "",
        "127.0.0.1",
        "127.0.0.1:80",
        "evil.test",
        "evil.test:8123",
        "127.0.0.1:8123.evil.test",
        "127.0.0.2:8123",
    ] {
        assert_eq!(status(&opened, "GET", &trace_target, Some(host)), 421, "{host}");
    }
    assert_eq!(status(&opened, "GET", &trace_target, None), 421);
    let wrong = [
        "/".to_owned(),
        "/api/trace".into(),
        format!("/{TOKEN}"),
        format!("/{}0/api/trace", &TOKEN[..31]),
        format!("/{TOKEN}0/api/trace"),
        format!("/{}/api/trace", &TOKEN[1..]),
        format!("//{TOKEN}/api/trace"),
        format!("/{TOKEN}/../{TOKEN}/api/trace"),
        format!("/{TOKEN}/etc/passwd"),
        format!("/{TOKEN}/api/%2e%2e/x"),
        "*".into(),
        String::new(),
        format!("/{}/api/trace", TOKEN.to_uppercase()),
    ];
    for target in wrong {
        assert_eq!(status(&opened, "GET", &target, Some(HOST)), 404, "{target}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT"] {
        let reply = opened.ask(method, &trace_target, Some(HOST));
        assert_eq!(reply.status, 405, "{method}");
        assert_eq!(reply.headers, [("allow", "GET".to_owned())]);
    }
    // the host name is checked before the token, so guessing reveals nothing
    assert_eq!(status(&opened, "POST", "/x/api/trace", Some(HOST)), 404);
    assert_eq!(status(&opened, "POST", "/x/api/trace", Some("evil.test")), 421);
}

#[test]
fn requests_of_other_origins_are_rejected() {
    let opened = open(TRACE);
    let target = format!("/{TOKEN}/api/trace");
    let of = |origin| {
        opened
            .request(&Ask {
                method: "GET",
                target: &target,
                host: Some(HOST),
                origin,
                is_own: false,
            })
            .status
    };
    assert_eq!((of(None), of(Some("http://127.0.0.1:8123"))), (200, 200));
    for origin in [
        "null",
        "",
        "https://127.0.0.1:8123",
        "http://127.0.0.1:9",
        "http://evil.test",
        "http://127.0.0.1:8123.evil.test",
    ] {
        assert_eq!(of(Some(origin)), 403, "{origin}");
    }
}

/// Arbitrary requests never cause a panic, and never reveal the trace without the token.
#[test]
fn every_request_gets_a_reply() {
    let opened = open(TRACE);
    let routes = [
        "api/tile?from=0&to=5000000&px=700&lanes=0-3&exact=0",
        "api/find?name=a&at=5&after=9&lane=1&row=2&dir=back",
        "api/matches?q=a&px=64&at=5&after=9&lane=1&row=2",
        "api/tree?from=0&to=9&lanes=0-2&shape=bottom-up",
        "api/pages",
        "api/names?ids=0-2&q=a&limit=3",
        "api/stats?from=0&to=9&lanes=1,2",
        "api/event?place=9&most=5",
        "api/around?lane=3&row=0&start=0",
        "api/causes?lane=3&row=0&start=0",
        "api/overview?px=64",
        "api/size?from=0&to=1",
        "slice.json?from=0&to=9&edges=drop&for=perfetto",
    ];
    for seed in seeds(0, 3000) {
        let mut rng = Rng::new(seed);
        let route = format!("/{TOKEN}/{}", rng.pick(&routes));
        let other = format!(
            "/{TOKEN}/{}&px=18446744073709551616&from=-9223372036854775808&to=9223372036854775807",
            rng.pick(&routes)
        );
        let target =
            String::from_utf8_lossy(&mutated(&mut rng, route.as_bytes(), other.as_bytes()))
                .into_owned();
        let reply = opened.ask("GET", &target, Some(HOST));
        let known = [200, 400, 404, 409, 429, 503].contains(&reply.status);
        let may_answer = reply.status != 200 || target.starts_with(&format!("/{TOKEN}/"));
        assert!(known && may_answer, "seed {seed}: {} {target}", reply.status);
    }
}

#[test]
fn page_is_served_before_the_trace_is_read() {
    let opened = unread(TRACE);
    for (route, kind) in [
        ("", "text/html"),
        ("index.html", "text/html"),
        ("app.js", "text/javascript"),
        ("app.css", "text/css"),
    ] {
        let reply = opened.get(route);
        assert!(reply.status == 200 && reply.kind.starts_with(kind), "{route}");
        assert!(!body(reply).is_empty(), "{route}");
    }
    assert_eq!(opened.get("api/progress").kind, "text/event-stream");
    assert_eq!(opened.json("api/seen?px=100"), Value::Null);
    assert_eq!(opened.get("api/seen").status, 400);
    for route in ["api/trace", "api/tile?from=0&to=1&px=1", "slice.json?from=0&to=1"] {
        assert_eq!(opened.get(route).status, 503, "{route}");
    }
    assert_eq!(opened.get("api/other").status, 404);
    opened.site.read().unwrap();
    assert_eq!(opened.get("api/trace").status, 200);
}

#[test]
fn invalid_requests_get_error_messages() {
    let opened = open(TRACE);
    let wrong = [
        "api/tile",
        "api/tile?from=0&to=0&px=5",
        "api/tile?from=5&to=1&px=5",
        "api/tile?from=0&to=9&px=x",
        "api/tile?from=0&to=9",
        "api/tile?from=0&to=9&px=5&lanes=99999",
        "api/tile?from=0&to=9&px=5&lanes=3-1",
        "api/tile?from=0&to=9&px=5&lanes=a",
        "api/tile?from=-9223372036854775808&to=9223372036854775807&px=5",
        "api/size?from=1",
        "api/overview",
        "api/event",
        "api/event?place=-1",
        "api/find?at=x&name=a",
        "api/around?lane=0&row=70000&start=1",
        "slice.json",
        "slice.json?from=0&to=9&for=emacs",
        "slice.json?from=0&to=9&edges=soft",
    ];
    for route in wrong {
        let reply = opened.get(route);
        assert_eq!(reply.status, 400, "{route}");
        let answer: Value = serde_json::from_slice(&body(reply)).unwrap();
        assert!(
            !answer["error"].as_str().unwrap().is_empty() && answer["hint"].is_string(),
            "{route}"
        );
    }
    assert_eq!(opened.get("api/event?place=0").status, 404);
    assert_eq!(opened.get("api/event?place=99999999999999").status, 404);
}

#[test]
fn trace_route_describes_the_trace() {
    let opened = open(TRACE);
    let trace = opened.json("api/trace");
    assert_eq!(trace["start"], "1000125");
    assert_eq!(trace["duration"], "5000000");
    assert_eq!(
        (&trace["events"], &trace["undrawn"], &trace["lost"]),
        (&10.into(), &0.into(), &0.into())
    );
    let processes = trace["processes"].as_array().unwrap();
    // markup in names stays text
    assert_eq!(processes[0]["name"], "<img src=x onerror=alert(1)>");
    let lanes: Vec<(&str, &str)> = processes
        .iter()
        .flat_map(|process| process["lanes"].as_array().unwrap())
        .map(|lane| (lane["kind"].as_str().unwrap(), lane["name"].as_str().unwrap()))
        .collect();
    assert_eq!(
        lanes,
        [
            ("counter", "heap · used"),
            ("counter", "heap · free"),
            ("async", "net"),
            ("thread", "Thread 1"),
            ("thread", "Thread 7")
        ]
    );
}

#[test]
fn event_route_returns_exact_text() {
    let opened = open(TRACE);
    let found = opened.json("api/find?name=A&at=0");
    assert_eq!(
        (&found["text"], &found["start"], &found["dur"]),
        (&"a".into(), &0.0.into(), &5_000_000.into())
    );
    let text = opened.bytes(&format!("api/event?place={}", found["place"].as_f64().unwrap()));
    assert!(TRACE.windows(text.len()).any(|part| part == text));
    assert!(String::from_utf8(text).unwrap().contains("12345678901234567890"));
    // the only other name that contains the letter
    let next =
        opened.json(&format!("api/find?name=a&at=0&after={}", found["place"].as_f64().unwrap()));
    assert_eq!(next["text"], "mark");
    assert_eq!(opened.json("api/find?name=nowhere&at=0"), Value::Null);
    let back = opened.json("api/find?name=a&at=5000001&dir=back");
    assert_eq!(back["text"], "mark");
}

#[test]
fn replaced_file_is_rejected() {
    let opened = open(TRACE);
    let place = opened.json("api/find?name=a&at=0")["place"].as_f64().unwrap();
    fs::write(&opened.path, b"[]").unwrap();
    for route in [format!("api/event?place={place}"), "slice.json?from=0&to=9".into()] {
        let reply = opened.get(&route);
        assert_eq!(reply.status, 409, "{route}");
    }
    assert!(opened.json("api/trace")["changed"].is_string());
    fs::remove_file(&opened.path).unwrap();
    assert_eq!(opened.get("slice.json?from=0&to=9").status, 409);
    // rows that were read earlier are still drawn
    assert_eq!(opened.get("api/tile?from=0&to=9&px=5").status, 200);
}

#[test]
fn empty_and_tiny_traces_are_shown() {
    for (text, events) in [
        ("[]", 0),
        ("{\"traceEvents\":[]}", 0),
        (r#"[{"ph":"X","ts":9007199254740993,"name":"one"}]"#, 1),
        (r#"[{"name":"untimed","ph":"X"}]"#, 1),
    ] {
        let opened = open(text.as_bytes());
        let trace = opened.json("api/trace");
        assert_eq!((&trace["events"], &trace["duration"]), (&events.into(), &"1".into()), "{text}");
        opened.bytes("api/tile?from=0&to=1&px=1000");
        opened.bytes("api/overview?px=300");
    }
    let damaged = open(br#"[{"ph":"X","ts":1,"dur":5,"name":"a"},{"ph":"X","ts":2,"na"#);
    assert!(
        damaged.json("api/trace")["lost"].as_u64().unwrap() > 0
            || damaged.json("api/trace")["events"] == 1
    );
}

#[test]
fn long_names_are_truncated_but_event_texts_are_not() {
    let long = "é\\u202e".repeat(200_000);
    let opened = open(format!(r#"[{{"ph":"X","ts":1,"dur":5,"name":"{long}"}}]"#).as_bytes());
    let names = opened.json("api/names?q=");
    let name = names["names"][0]["name"].as_str().unwrap();
    assert!(name.len() < 300 && name.ends_with('…') && name.starts_with('é'), "{}", name.len());
    let found = opened.json("api/find?name=&at=0");
    let reply = opened.get(&format!("api/event?place={}", found["place"].as_f64().unwrap()));
    let whole: usize = reply.headers[0].1.parse().unwrap();
    assert!(whole > long.len() && body(reply).len() <= 1 << 20);
}

#[test]
fn statistics_cover_only_the_window() {
    let opened = open(br#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":4},
        {"ph":"X","name":"b","pid":1,"tid":1,"ts":7,"dur":1},{"ph":"X","name":"a","pid":1,"tid":2,"ts":20,"dur":2}]"#);
    let of = |from: u32, to: u32| {
        let stats = opened.json(&format!("api/stats?from={from}&to={to}"));
        let row = |row: &Value| {
            (
                row["name"].as_str().unwrap().to_owned(),
                row["count"].as_u64().unwrap(),
                row["total"].as_f64().unwrap(),
                row["self"].as_f64().unwrap(),
            )
        };
        stats["names"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(
        of(0, 30_000),
        [("a".into(), 2, 12_000.0, 7_000.0), ("b".into(), 2, 5_000.0, 5_000.0)]
    );
    assert_eq!(
        of(4_000, 8_000),
        [("b".into(), 2, 3_000.0, 3_000.0), ("a".into(), 1, 4_000.0, 1_000.0)]
    );
}

#[test]
fn damage_is_reported_with_its_time() {
    let event =
        |ts: u32| format!(r#"{{"ph":"X","name":"e","pid":1,"tid":{},"ts":{ts},"dur":3}}"#, ts % 3);
    // garbage between 20 and 30, and a truncated last event
    let text = format!("[{},\n?!?{},\n{},{{\"ph\":\"X\",\"na", event(10), event(20), event(60));
    let bad = text.find("?!?").unwrap();
    let opened = open(text.as_bytes());
    let trace = opened.json("api/trace");
    let damage = trace["damage"].as_array().unwrap();
    let of = |value: &Value| {
        (
            value["kind"].as_str().unwrap().to_owned(),
            value["offset"].as_u64().unwrap(),
            value["at"].as_f64(),
        )
    };
    let damages: Vec<_> = damage.iter().map(of).collect();
    assert_eq!(damages[0].1, bad as u64, "{trace}");
    assert_eq!(
        (damages.len() as u64, damages[0].2),
        (trace["lost"].as_u64().unwrap(), Some(0.0)),
        "{trace}"
    );
    let last = damages.last().unwrap();
    assert_eq!(
        (&*last.0, last.1, last.2),
        ("truncated", text.rfind('{').unwrap() as u64, Some(50_000.0))
    );
    assert!(open(TRACE).json("api/trace")["damage"].as_array().unwrap().is_empty());
    // before the first event, the time of the first event counts
    let first = open(format!("[?!?{},{}]", event(10), event(20)).as_bytes());
    assert_eq!(first.json("api/trace")["damage"][0]["at"], 0.0);
    // without events there is no time
    let none = open(b"[{\"ph\":\"X\",\"ts\":1,\"na");
    let damage = &none.json("api/trace")["damage"][0];
    assert!(damage["at"].is_null() && damage["kind"] == "truncated", "{damage}");
    // each input has its own damage
    let whole = format!("[{}]", event(1000));
    let cut = format!("[{},{{\"ph\"", event(40));
    let both = open_all(&[&cut, &whole, &cut]).json("api/trace");
    let damages: Vec<_> = both["damage"]
        .as_array()
        .unwrap()
        .iter()
        .map(|damage| (damage["input"].as_str().unwrap().to_owned(), damage["at"].as_f64()))
        .collect();
    assert_eq!(damages.len(), 2, "{both}");
    assert!(damages[0].0.ends_with("0.json") && damages[1].0.ends_with("2.json"), "{damages:?}");
    assert_eq!([damages[0].1, damages[1].1], [Some(0.0), Some(0.0)]);
    // the times of neighboring inputs do not count
    let begun = format!("[?!?{}]", event(40));
    assert_eq!(open_all(&[&whole, &begun]).json("api/trace")["damage"][0]["at"], 0.0);
    let nothing = open_all(&["[{\"ph\":\"X\",\"ts\":7,\"na", &whole]).json("api/trace");
    assert!(nothing["damage"][0]["at"].is_null(), "{nothing}");
}

/// Search finds events by their name in the trace and by DevTools' title.
#[test]
fn both_names_of_an_event_are_found() {
    let trace = br#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":50},
{"ph":"X","name":"FunctionCall","cat":"devtools.timeline","pid":1,"tid":1,"ts":2000,"dur":5}]"#;
    let opened = open(trace);
    let found = |name: &str| opened.json(&format!("api/find?name={name}&at=0"));
    assert_eq!(found("FunctionCall"), found("function%20call"));
    assert_eq!(found("function%20call")["start"], 1_000_000.0);
}
