//! Random traces of whole microseconds, with what is open in each.

use tracemill_analysis::{ReadRules, Trace};
use tracemill_join::config::Config;
use tracemill_testkit::Rng;
use tracemill_trace::Source;

/// Length of a trace in microseconds.
pub(crate) const LENGTH: usize = 160;

pub(crate) const NAMES: [&str; 5] = ["a", "b", "c", "d", "ab"];

/// The stack in each microsecond, outermost first.
pub(crate) type Stacks = Vec<Vec<&'static str>>;

/// Returns random nested events, X or B with E, on some threads, in random order; pairs of B and E
/// keep theirs.
pub(crate) fn generate(rng: &mut Rng) -> (String, Vec<Stacks>) {
    let mut lines = vec![
        // These events set the length of the trace.
        r#"{"ph":"I","name":"first","cat":"c","pid":1,"tid":1,"ts":1000}"#.to_owned(),
        format!(r#"{{"ph":"I","name":"last","cat":"c","pid":1,"tid":1,"ts":{}}}"#, 1000 + LENGTH),
    ];
    let threads = 1 + rng.index(3);
    let mut all = Vec::new();
    for tid in 1..=threads {
        let mut stacks = vec![Vec::new(); LENGTH];
        nest(rng, tid, (0, LENGTH), 0, &mut stacks, &mut lines);
        all.push(stacks);
    }
    let (mut pairs, mut others): (Vec<String>, Vec<String>) =
        lines.into_iter().partition(|line| line.contains("\"B\"") || line.contains("\"E\""));
    rng.shuffle(&mut others);
    others.append(&mut pairs);
    (format!("[{}]", others.join(",\n")), all)
}

/// Fills a time range with nested events.
fn nest(
    rng: &mut Rng,
    tid: usize,
    (from, to): (usize, usize),
    depth: usize,
    stacks: &mut Stacks,
    lines: &mut Vec<String>,
) {
    // With equal times, an event could also enclose its parent, so these do not occur.
    let mut at = from + usize::from(depth > 0) + rng.index(4);
    while at < to && depth < 7 {
        let end = (at + 1 + rng.index(to - at)).min(to);
        let name = NAMES[rng.index(NAMES.len())];
        stacks[at..end].iter_mut().for_each(|stack| stack.push(name));
        let (ts, dur) = (1000 + at, end - at);
        let head = format!(r#""name":"{name}","cat":"c","pid":1,"tid":{tid}"#);
        let is_pair = rng.chance(20);
        if is_pair {
            lines.push(format!(r#"{{"ph":"B",{head},"ts":{ts}}}"#));
        } else {
            lines.push(format!(r#"{{"ph":"X",{head},"ts":{ts},"dur":{dur}}}"#));
        }
        nest(rng, tid, (at, end), depth + 1, stacks, lines);
        if is_pair {
            lines.push(format!(r#"{{"ph":"E",{head},"ts":{}}}"#, 1000 + end));
        }
        at = end + rng.index(9);
    }
}

pub(crate) fn read(text: &str, config: &Config) -> Trace {
    let source = Source::bytes("t.json", text.as_bytes().to_vec());
    Trace::read(&[source], ReadRules::default(), config).expect("a trace")
}

pub(crate) fn config() -> Config {
    Config::new(2, 256 << 20, std::env::temp_dir())
}
