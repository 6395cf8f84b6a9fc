//! Downloaded slices equal the output of `slice`.

use crate::support::{config, open};
use std::sync::{Arc, Mutex};
use tracemill_index::slice;
use tracemill_trace::Source;
use tracemill_trace::output::target::{Format, OutputConfig};
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};

#[test]
fn downloaded_slices_equal_slice_output() {
    let event = |at: u32| {
        format!(r#"{{"ph":"X","name":"n{}","cat":"c","pid":1,"tid":1,"ts":{at},"dur":3}}"#, at % 7)
    };
    let events: Vec<String> = (0..20_000).map(event).collect();
    let opened = open(format!("{{\"traceEvents\":[{}],\"other\":1}}", events.join(",")).as_bytes());
    for (route, format, edges) in [
        ("slice.json?from=5000000&to=15000000", Format::Object, Edges::Clip),
        ("slice.json?from=5000000&to=15000000&edges=keep", Format::Object, Edges::Keep),
        ("slice.ndjson?from=0&to=1000", Format::Ndjson, Edges::Clip),
    ] {
        let sent = opened.bytes(route);
        let number = |name: &str| {
            route
                .split(&['?', '&'][..])
                .find_map(|part| part.strip_prefix(name))
                .unwrap()
                .parse()
                .unwrap()
        };
        let at = |time: i64| Some(Moment::At(time));
        let window = TimeWindow { from: at(number("from=")), to: at(number("to=")) };
        let written = Arc::new(Mutex::new(Vec::new()));
        let output =
            OutputConfig { format: Some(format), ..OutputConfig::writer(Arc::clone(&written)) };
        slice(&[Source::Path(opened.path.clone())], &[window], edges, &output, &config()).unwrap();
        assert!(sent == *written.lock().unwrap(), "{route}");
    }
    let packed = opened.get("slice.json.gz?from=0&to=1000");
    assert_eq!(
        packed.headers,
        [("content-disposition", "attachment; filename=\"trace.slice.json.gz\"".to_owned())]
    );
    // one slice at a time; the first is still being sent
    assert_eq!(opened.get("slice.json?from=0&to=1000").status, 429);
    drop(packed);
    assert_eq!(opened.get("slice.json?from=0&to=1000").status, 200);
    let size = opened.json("api/size?from=5000000&to=15000000");
    let (estimate, is) = (
        size["bytes"].as_u64().unwrap(),
        opened.bytes("slice.json?from=5000000&to=15000000").len() as u64,
    );
    assert!(estimate.abs_diff(is) < is / 10, "{estimate} {is}");
}
