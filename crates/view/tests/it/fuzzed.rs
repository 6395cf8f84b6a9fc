//! Fuzz target: arbitrary requests about arbitrary traces get replies that do not depend on memory.

use std::path::Path;
use tracemill_join::config::Config;
use tracemill_testkit::mutate::{mutated, replay};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;
use tracemill_trace::run::limits::{Cancel, Shares};
use tracemill_view::{Ask, Content, Site};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const MOST: usize = 4;

fn answers(path: &Path, config: Config, routes: &[&str]) -> Vec<(u16, Vec<u8>)> {
    let source = Source::Path(path.to_owned());
    let site = Site::new(vec![source], config, TOKEN.into(), 80);
    let read = site.read().is_ok();
    let answer = |route: &&str| {
        // requests that start with `!` have no token
        let known = route.strip_prefix('!').is_none();
        let target = if known { format!("/{TOKEN}/{route}") } else { (*route).to_owned() };
        let (host, method) = (Some("127.0.0.1"), "GET");
        let ask = Ask { method, target: &target, host, origin: None, is_own: false };
        let reply = site.answer(&ask, &Cancel::default());
        let status = reply.status;
        assert!([200, 400, 404, 405, 409, 429, 503].contains(&status), "{status}: {target}");
        assert!(status != 200 || target.starts_with(&format!("/{TOKEN}/")), "{target}");
        assert!(read || status != 200 || !route.starts_with("api/trace"), "{target}");
        let is_json = reply.kind == "application/json" && !route.starts_with("slice");
        let body = match reply.content {
            Content::Whole(bytes) => bytes,
            Content::Fixed(bytes) => bytes.to_vec(),
            Content::Pieces(pieces) => pieces.collect().expect("the slice is complete"),
            Content::Progress => Vec::new(),
        };
        if !is_json {
            return (status, body);
        }
        let mut value: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        // the only values that depend on memory
        for key in ["on_disk", "why"] {
            value.as_object_mut().and_then(|all| all.remove(key));
        }
        (status, value.to_string().into_bytes())
    };
    if read && routes.iter().any(|route| route.starts_with("api/causes")) {
        answer(&"api/causes?lane=0&row=0&start=0");
        let _is_refused = site.read_causes();
    }
    routes.iter().map(answer).collect()
}

/// Checks an input: lines of requests, a NUL byte, a trace; the last two bytes are knobs.
pub(crate) fn requests(input: &[u8]) {
    let (input, knobs) = input.split_at(input.len().saturating_sub(2));
    let at = input.iter().position(|&byte| byte == 0).unwrap_or(input.len());
    let text = String::from_utf8_lossy(&input[..at]).into_owned();
    let routes: Vec<&str> = text.split('\n').take(MOST).collect();
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), input.get(at + 1..).unwrap_or_default()).expect("room");
    let usual = Config::new(1, 64 << 20, std::env::temp_dir());
    let mut config = Config::new(2, 64 << 20, std::env::temp_dir());
    let (shares, knob) = (config.limits.shares(), |at: usize| knobs.get(at).copied().unwrap_or(0));
    let (chunk, index) = (64 + 8 * usize::from(knob(0)), 64 + u64::from(knob(1)) * 200);
    config.limits.shares = Some(Shares { chunk, segment: chunk, index, ..shares });
    let [a, b] = [usual, config].map(|config| answers(file.path(), config, &routes));
    assert_eq!(a, b);
}

const TRACE: &str = r#"[{"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}},
{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000.125,"dur":5000},{"ph":"X","name":"o","pid":1,"tid":1,"ts":3000,"dur":5000},
{"ph":"B","name":"b","cat":"c","pid":1,"tid":1,"ts":2000},{"ph":"E","pid":1,"tid":1,"ts":3000},
{"ph":"b","name":"op","cat":"net","id":"0x1","pid":1,"tid":1,"ts":1500},{"ph":"e","name":"op","cat":"net","id":1,"pid":1,"tid":2,"ts":2500},
{"ph":"C","name":"heap","pid":1,"ts":1200,"args":{"used":5,"free":7}},
{"ph":"s","name":"f","cat":"c","id":1,"pid":1,"tid":1,"ts":1600},{"ph":"f","bp":"e","name":"f","cat":"c","id":1,"pid":1,"tid":1,"ts":4600},
{"ph":"X","name":"TimerInstall","cname":"bad","pid":1,"tid":1,"ts":1700,"dur":1,"args":{"data":{"timerId":7}}},
{"ph":"X","name":"TimerFire","pid":1,"tid":1,"ts":9000,"dur":5,"args":{"data":{"timerId":7}}},
{"ph":"I","name":"UpdateCounters","pid":1,"tid":1,"ts":1800,"args":{"data":{"nodes":7,"jsHeapSizeUsed":1e6}}},
{"ph":"i","name":"mark","pid":2,"tid":7,"ts":6000.125,"s":"t"}]"#;

const ROUTES: [&str; 11] = [
    "api/trace",
    "api/tile?from=0&to=5000000&px=700&lanes=0-3&exact=0",
    "api/around?lane=2&row=0&start=0",
    "api/causes?lane=0&row=0&start=0",
    "api/find?name=a&at=5&after=9&dir=back",
    "api/names?q=a&limit=3",
    "api/stats?from=0&to=9000&lanes=1,2",
    "api/event?place=93&most=50",
    "api/overview?px=64",
    "api/size?from=0&to=1000000",
    "slice.json?from=0&to=900000&edges=drop&for=perfetto",
];

#[test]
fn stored_requests_have_one_answer() {
    replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/requests"), requests, 100);
}

#[test]
fn mutated_requests_and_traces_have_one_answer() {
    for seed in seeds(0, 150) {
        let mut rng = Rng::new(seed);
        let routes: Vec<&str> = (0..MOST).map(|_| rng.pick(&ROUTES)).collect();
        let route = if rng.chance(50) {
            routes.join("\n")
        } else {
            let text = mutated(
                &mut rng,
                routes.join("\n").as_bytes(),
                b"api/tile?from=-1&to=99999999999999999999",
            );
            String::from_utf8_lossy(&text).replace('\0', "")
        };
        let trace = if rng.chance(30) {
            TRACE.into()
        } else {
            mutated(&mut rng, TRACE.as_bytes(), TRACE.as_bytes())
        };
        let mut input = [route.as_bytes(), b"\0", &trace].concat();
        input.extend((0..2).map(|_| rng.bits() as u8));
        requests(&input);
    }
}
