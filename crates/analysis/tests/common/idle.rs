//! CPU profiles with idle samples.

use tracemill_analysis::{ReadRules, Trace};
use tracemill_join::config::Config;
use tracemill_testkit::Rng;
use tracemill_trace::Source;

/// Returns a profile of random samples in which idle samples have the node `idle_node`.
pub(crate) fn profile(seed: u64, idle_node: u64) -> String {
    let mut rng = Rng::new(seed);
    let node = |id: u64, name: &str| {
        format!(
            r#"{{"id":{id},"callFrame":{{"functionName":"{name}","scriptId":"1","url":"","lineNumber":{id},"columnNumber":0}}}}"#
        )
    };
    let root = node(1, "(root)").replace("}}", r#"},"children":[2,3,4,5]}"#);
    let others = [(2, "(idle)"), (3, "(garbage collector)"), (4, "f"), (5, "g")];
    let nodes: Vec<String> =
        [root].into_iter().chain(others.map(|(id, name)| node(id, name))).collect();
    let samples: Vec<String> = (0..200)
        .map(|_| match 2 + rng.below(5) {
            2 | 6 => idle_node,
            id => id,
        })
        .map(|id| id.to_string())
        .collect();
    let deltas: Vec<String> = (0..200).map(|_| (1 + rng.below(2000)).to_string()).collect();
    let (nodes, samples, deltas) = (nodes.join(","), samples.join(","), deltas.join(","));
    format!(
        r#"{{"nodes":[{nodes}],"startTime":1000,"endTime":900000,"samples":[{samples}],"timeDeltas":[{deltas}]}}"#
    )
}

pub(crate) fn read(text: &str) -> Trace {
    let config = Config::new(2, 256 << 20, std::env::temp_dir());
    let source = Source::bytes("a.cpuprofile", text.as_bytes().to_vec());
    Trace::read(&[source], ReadRules::default(), &config).expect("a profile")
}
