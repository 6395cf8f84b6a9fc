//! Tables of windows by an index are those without: rows, counts and what is told of the trace, whatever the trace and the window.

use std::fmt::Write;
use tracemill_analysis::{
    Entries, GroupBy, IndexRole, Matcher, Pairs, Part, Per, Picks, Query, ReadRules, Scope, Shape,
    SourceMaps, TableRules, ThreadChoice, Times, Trace, Window,
};
use tracemill_pipeline::{Config, IdSet, IndexConfig, IndexUse, Source, index};
use tracemill_testkit::{Rng, seeds};

/// Microseconds of a trace.
pub(crate) const LENGTH: u64 = 100_000;
/// Where it begins.
pub(crate) const BEGIN: u64 = 5_000_000;

const NAMES: [&str; 8] =
    ["FunctionCall", "v8.run", "Layout", "EventDispatch", "RunMicrotasks", "a", "b", "ParseHTML"];

/// How the events of a thread lie.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// Tasks with what is in them.
    Tasks,
    /// All of it lies in one event, or in some.
    Rooted,
    /// They overlap.
    Overlapping,
}

struct Writer<'r> {
    rng: &'r mut Rng,
    /// Each with the time at which it is written.
    lines: Vec<(u64, String)>,
    /// Whether times have decimals.
    is_fine: bool,
    /// Of a hundred, how many are B and E.
    pairs: u64,
    /// Of a hundred of those, how many have categories or names that are not those of the other end.
    strangers: u64,
}

impl Writer<'_> {
    fn time(&mut self, micros: u64) -> String {
        match self.is_fine && self.rng.chance(70) {
            true => format!("{micros}.{:03}", self.rng.below(1000)),
            false => micros.to_string(),
        }
    }

    /// A number below `usual`, or in some of a hundred cases below another.
    fn below_mostly(&mut self, (percent, other): (u64, u64), usual: u64) -> u64 {
        let most = if self.rng.chance(percent) { other } else { usual };
        self.rng.below(most)
    }

    fn event(&mut self, (pid, tid): (u64, u64), name: &str, (ts, dur): (u64, u64)) {
        let cat = if name == "RunTask" {
            "disabled-by-default-devtools.timeline"
        } else {
            "devtools.timeline"
        };
        // who reads all says that DevTools refuses a trace in which these have no args
        let args = match name {
            "FunctionCall" | "ParseHTML" => r#","args":{"beginData":{}}"#,
            _ => "",
        };
        let head = format!(r#""name":"{name}","cat":"{cat}","pid":{pid},"tid":{tid}{args}"#);
        let (from, to) = (self.time(BEGIN + ts), self.time(BEGIN + ts + dur));
        if self.rng.below(100) < self.pairs {
            let begin = self.end_of_pair((pid, tid), &head);
            let end = self.end_of_pair((pid, tid), &head);
            self.lines.push((ts, format!(r#"{{"ph":"B",{begin},"ts":{from}}}"#)));
            if self.rng.chance(97) {
                self.lines.push((ts + dur, format!(r#"{{"ph":"E",{end},"ts":{to}}}"#)));
            }
            return;
        }
        let dur = self.time(dur);
        self.lines.push((ts + 1, format!(r#"{{"ph":"X",{head},"ts":{from},"dur":{dur}}}"#)));
    }

    /// What a B or E says beside its time: `head`, or something that fits that of the other one less.
    fn end_of_pair(&mut self, (pid, tid): (u64, u64), head: &str) -> String {
        if self.rng.below(100) >= self.strangers {
            return head.to_owned();
        }
        let ids = format!(r#""pid":{pid},"tid":{tid}"#);
        let name = self.rng.pick(&["a", "b", "v8.run", "Layout"]);
        match self.rng.below(8) {
            0 => ids,
            1 => format!(r#""name":"{name}",{ids}"#),
            2 => format!(r#""cat":"v8",{ids}"#),
            3 => format!(r#""name":"","cat":"devtools.timeline",{ids}"#),
            _ => format!(r#""name":"{name}","cat":"{}",{ids}"#, self.rng.pick(&["v8", "cc"])),
        }
    }

    /// Fills a stretch with events and what is in them.
    fn nest(&mut self, thread: (u64, u64), (from, to): (u64, u64), depth: u32) {
        let mut at = from + self.rng.below(4);
        while at + 2 < to && depth < 5 {
            let most = (to - at).min(if self.rng.chance(3) { 5000 } else { 60 });
            let dur = 1 + self.rng.below(most);
            let name = self.rng.pick(&NAMES);
            self.event(thread, name, (at, dur.min(to - at)));
            if self.rng.chance(60) {
                self.nest(thread, (at, (at + dur).min(to)), depth + 1);
            }
            at += dur + self.rng.below(30);
        }
    }

    fn thread(&mut self, thread: (u64, u64), style: Style) {
        match style {
            Style::Tasks => {
                let mut at = self.rng.below(300);
                while at + 400 < LENGTH {
                    let dur = 10 + self.below_mostly((3, 6000), 200);
                    self.event(thread, "RunTask", (at, dur));
                    self.nest(thread, (at, (at + dur).min(LENGTH)), 1);
                    at += dur + self.rng.below(150);
                }
            }
            Style::Rooted => {
                let (mut from, mut to) = (0, LENGTH);
                for _ in 0..=self.rng.below(3) {
                    self.event(thread, "main", (from, to - from));
                    from += self.rng.below(2000);
                    to -= self.rng.below(2000);
                }
                self.nest(thread, (from, to), 1);
            }
            Style::Overlapping => {
                let mut at = 0;
                while at < LENGTH {
                    let dur = 1 + self.below_mostly((2, 3000), 90);
                    let name = self.rng.pick(&NAMES);
                    self.event(thread, name, (at, dur));
                    at += self.below_mostly((10, 500), 60);
                }
            }
        }
    }

    /// A CPU profile of a thread, in chunks.
    fn profile(&mut self, (pid, tid): (u64, u64)) {
        let start = BEGIN + self.rng.below(50);
        self.lines.push((0, format!(
            r#"{{"ph":"P","name":"Profile","cat":"c","id":"0x{tid}","pid":{pid},"tid":{tid},"ts":{start},"args":{{"data":{{"startTime":{start}}}}}}}"#
        )));
        // what makes a profile one that is read as a whole
        let (has_strangers, is_odd) = (self.rng.chance(10), self.rng.chance(15));
        // clocks that stand still, or run back
        let still = [0, 0, 30][self.rng.index(3)];
        let back = [0, 0, 4][self.rng.index(3)];
        let meta = self.rng.below(60);
        let (mut at, mut nodes) = (0_u64, 1_u64);
        let mut defined = String::from(
            r#"{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0"}},{"id":2,"parent":1,"callFrame":{"functionName":"(program)","scriptId":"0"}},{"id":3,"parent":1,"callFrame":{"functionName":"(garbage collector)","scriptId":"0"}}"#,
        );
        nodes += 2;
        while at < LENGTH {
            let (mut ids, mut steps) = (Vec::new(), Vec::new());
            let samples = if self.rng.chance(10) { 1 } else { 5 + self.rng.below(30) };
            for _ in 0..samples {
                if self.rng.chance(20) {
                    let parent = if self.rng.chance(30) {
                        1
                    } else {
                        4.min(nodes) + self.rng.below(nodes.saturating_sub(3).max(1))
                    };
                    let parent =
                        if parent == 2 || parent == 3 || parent > nodes { 1 } else { parent };
                    nodes += 1;
                    let comma = if defined.is_empty() { "" } else { "," };
                    let function = self.rng.below(9);
                    write!(defined, r#"{comma}{{"id":{nodes},"parent":{parent},"callFrame":{{"functionName":"f{function}","scriptId":"7","url":"a.js"}}}}"#).expect("room");
                }
                let id = match self.rng.chance(meta) {
                    true => 2 + self.rng.below(2),
                    false => 1 + self.rng.below(nodes),
                };
                let is_unknown = has_strangers && self.rng.chance(1);
                ids.push(if is_unknown { 1_000_000 } else { id }.to_string());
                if at > 60 && self.rng.chance(back) {
                    let step = 1 + self.rng.below(60);
                    steps.push(format!("-{step}"));
                    at -= step;
                    continue;
                }
                let is_still = self.rng.chance(still);
                let step = if is_still { 0 } else { 1 + self.below_mostly((3, 2000), 90) };
                at += step;
                let is_fine = is_odd && self.rng.chance(2);
                steps.push(if is_fine { format!("{step}.25") } else { step.to_string() });
            }
            let (ids, steps) = (ids.join(","), steps.join(","));
            let own = std::mem::take(&mut defined);
            let (written, ts) = (at, BEGIN + at);
            let nodes = if own.is_empty() { String::new() } else { format!(r#""nodes":[{own}],"#) };
            self.lines.push((written, format!(
                r#"{{"ph":"P","name":"ProfileChunk","cat":"c","id":"0x{tid}","pid":{pid},"tid":99,"ts":{ts},"args":{{"data":{{"cpuProfile":{{{nodes}"samples":[{ids}]}},"timeDeltas":[{steps}]}}}}}}"#
            )));
        }
        if self.rng.chance(50) {
            let end = BEGIN + at;
            self.lines.push((at + 1, format!(
                r#"{{"ph":"P","name":"ProfileChunk","cat":"c","id":"0x{tid}","pid":{pid},"tid":99,"ts":{end},"args":{{"data":{{"endTime":{end}}}}}}}"#
            )));
        }
    }
}

/// A trace of one of each kind of threads, at random.
fn generate(rng: &mut Rng) -> String {
    let (is_fine, pairs) = (rng.chance(40), [0, 0, 15, 60][rng.index(4)]);
    let strangers = [0, 4, 50][rng.index(3)];
    let is_web = rng.chance(50);
    let threads = 1 + rng.below(4);
    let mut to = Writer { rng, lines: Vec::new(), is_fine, pairs, strangers };
    if is_web {
        to.lines.push((0, format!(
            r#"{{"ph":"I","name":"TracingStartedInBrowser","cat":"disabled-by-default-devtools.timeline","pid":1,"tid":1,"ts":{},"args":{{"data":{{"frames":[{{"frame":"F","url":"https://a.b/","processId":1}}]}}}}}}"#,
            BEGIN - 40
        )));
    }
    for tid in 1..=threads {
        let thread = (1 + to.rng.below(2), tid);
        let styles = [Style::Tasks, Style::Tasks, Style::Rooted, Style::Overlapping];
        let style = styles[to.rng.index(styles.len())];
        to.thread(thread, style);
        if style == Style::Tasks && to.rng.chance(50) {
            to.profile(thread);
        }
        let (pid, name) = (thread.0, ["CrRendererMain", "worker"][to.rng.index(2)]);
        let at = to.rng.below(LENGTH);
        to.lines.push((at, format!(
            r#"{{"ph":"M","name":"thread_name","pid":{pid},"tid":{tid},"args":{{"name":"{name}"}}}}"#
        )));
    }
    for number in 0..to.rng.below(40) {
        let (at, tid) = (to.rng.below(LENGTH), 1 + to.rng.below(threads + 1));
        let ts = BEGIN + at;
        let line = match to.rng.below(6) {
            0 => format!(
                r#"{{"ph":"I","name":"ResourceSendRequest","cat":"devtools.timeline","pid":1,"tid":{tid},"ts":{ts},"args":{{"data":{{"requestId":"{number}","url":"https://a.b/{number}"}}}}}}"#
            ),
            1 => format!(
                r#"{{"ph":"I","name":"ResourceReceivedData","cat":"devtools.timeline","pid":1,"tid":{tid},"ts":{ts},"args":{{"data":{{"requestId":"{}","encodedDataLength":7}}}}}}"#,
                number / 2
            ),
            2 => format!(
                r#"{{"ph":"E","name":"lone","cat":"devtools.timeline","pid":1,"tid":{tid},"ts":{ts}}}"#
            ),
            3 => format!(r#"{{"ph":"X","name":"never","pid":1,"tid":{tid},"dur":4}}"#),
            4 => format!(
                r#"{{"ph":"b","name":"async","cat":"c","id":{number},"pid":1,"tid":{tid},"ts":{ts}}}"#
            ),
            _ => format!(
                r#"{{"ph":"C","name":"counter","pid":1,"tid":{tid},"ts":{ts},"args":{{"v":1}}}}"#
            ),
        };
        to.lines.push((at, line));
    }
    // threads write now and then, so what lies beside each other is now from here and now from there
    let block = 1 + to.rng.below(3000);
    let mut lines = std::mem::take(&mut to.lines);
    match to.rng.chance(60) {
        true => lines.sort_by_key(|own| own.0),
        false => lines.sort_by_key(|own| own.0 / block),
    }
    let lines: Vec<String> = lines.into_iter().map(|own| own.1).collect();
    format!("{{\"traceEvents\":[\n{}\n]}}", lines.join(",\n"))
}

/// What is asked of a trace.
fn query(rng: &mut Rng) -> Query {
    let from = (BEGIN + rng.below(LENGTH + 200)) as f64 / 1000.0 - 0.1;
    let length = [50, 1000, 4000][rng.index(3)];
    let mut windows = vec![Window { from, to: from + rng.below(length) as f64 / 1000.0 }];
    if rng.chance(20) {
        let later = from + rng.below(9000) as f64 / 1000.0;
        windows.push(Window { from: later, to: later + 0.3 });
    }
    let matcher = |name: &str| name.parse::<Matcher>().expect("an expression");
    let shapes =
        [Shape::CallTree, Shape::BottomUp { levels: 1 }, Shape::BottomUp { levels: 6 }, Shape::Log];
    Query {
        shape: shapes[rng.index(shapes.len())],
        by: [GroupBy::None, GroupBy::None, GroupBy::Category][rng.index(3)],
        rules: TableRules {
            entries: [Entries::Visible, Entries::All][rng.index(2)],
            ..TableRules::default()
        },
        per: [Per::Thread, Per::Process, Per::All][rng.index(3)],
        windows,
        picks: Picks {
            focus: rng.chance(15).then(|| matcher("v8|Function")),
            hide: rng.chance(15).then(|| matcher("^a$")),
            ..Picks::default()
        },
        key: None,
    }
}

/// All that is told of a window.
fn told(trace: &Trace, choice: &ThreadChoice, query: &Query) -> String {
    let threads = trace.choose(choice);
    let parts: Vec<Part> = trace.parts(&threads, query).expect("room");
    let names: Vec<_> = trace
        .threads
        .iter()
        .map(|own| (own.pid_text(), own.tid_text(), own.name.clone()))
        .collect();
    let Pairs { unended, lone_ends } = trace.pairs();
    let unknown: u64 = trace.threads.iter().map(|own| own.unknown_samples()).sum();
    let (bounds, inputs) = (trace.bounds, &trace.inputs);
    format!(
        "{threads:?}\n{names:?}\n{bounds:?} {unended} {lone_ends} {} {unknown} {} {:?}\n{inputs:?}\n{parts:#?}",
        trace.untimed, trace.is_generic, trace.refusals
    )
}

/// Windows of times as they are written, on the clock of a trace.
fn on_clock(trace: &Trace, windows: &[Window]) -> Vec<Window> {
    let Some(origin) = trace.origin() else { return windows.to_vec() };
    let ms = |ms: f64| ((ms * 1e6).round() - origin as f64) / 1e6;
    windows.iter().map(|own| Window { from: ms(own.from), to: ms(own.to) }).collect()
}

/// What by an index and without is the same; the bytes it read, or why all was.
#[track_caller]
pub(crate) fn same(
    what: &str,
    source: &Source,
    config: &Config,
    rng: &mut Rng,
) -> Result<u64, &'static str> {
    let query = query(rng);
    let mut choice = ThreadChoice::default();
    if rng.chance(50) {
        choice.tid = Some(format!("{}", 1 + rng.below(4)).parse::<IdSet>().expect("a number"));
    }
    choice.main = rng.chance(10);
    let times = if rng.chance(50) { Times::Exact } else { Times::Devtools };
    let rules = ReadRules { times, ..ReadRules::default() };
    let sources = std::slice::from_ref(source);
    let whole = Trace::read(sources, rules, config).expect("a trace");
    let written = query.windows.clone();
    let query = Query { windows: on_clock(&whole, &written), ..query };
    let expected = told(&whole, &choice, &query);
    let windows = |bounds: (f64, f64)| {
        assert!(bounds == whole.bounds || times == Times::Exact, "{what}");
        Ok(written.clone())
    };
    let scope = Scope { windows: &windows, threads: &choice };
    let config = Config { index: IndexUse::Auto, ..config.clone() };
    let (trace, IndexRole { used, unused }) =
        Trace::read_within(sources, rules, &SourceMaps::default(), &scope, &config)
            .expect("a trace");
    let found = told(&trace, &choice, &query);
    if found != expected {
        let differs = found.lines().zip(expected.lines()).position(|(a, b)| a != b).unwrap_or(0);
        let around = |text: &str| {
            text.lines().skip(differs.saturating_sub(12)).take(24).collect::<Vec<_>>().join("\n")
        };
        panic!(
            "{what}, {used:?} {:?}\n{}\n---\n{}",
            query.windows,
            around(&found),
            around(&expected)
        );
    }
    assert_eq!(format!("{:?}", trace.warnings), format!("{:?}", whole.warnings), "{what}");
    used.map(|(_, bytes)| bytes).ok_or(unused.unwrap_or("it was refused"))
}

#[test]
fn tables_of_windows_are_those_of_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut used, mut all, mut in_part) = (0, 0, 0);
    let mut whys = std::collections::BTreeMap::new();
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed);
        let text = generate(&mut rng);
        let path = folder.path().join(format!("{seed}.json"));
        std::fs::write(&path, &text).expect("room on disk");
        let source = Source::Path(path);
        let config = Config::new(1 + seed as usize % 3, 256 << 20, folder.path().to_owned());
        let config = Config { index: IndexUse::Never, ..config };
        index(std::slice::from_ref(&source), &IndexConfig::default(), &config).expect("an index");
        let chunks = text.lines().filter(|line| line.contains(r#""ProfileChunk""#));
        let of_chunks = chunks.map(|line| line.len() as u64).sum::<u64>();
        for number in 0..12 {
            all += 1;
            match same(&format!("seed {seed}, {number}"), &source, &config, &mut rng) {
                Ok(bytes) => {
                    assert!(bytes < text.len() as u64, "{bytes}");
                    used += 1;
                    in_part += u64::from(bytes < of_chunks);
                }
                Err(why) => *whys.entry(why).or_insert(0) += 1,
            }
        }
    }
    assert!(used * 3 > all, "{used} of {all}: {whys:#?}");
    assert!(in_part > 0, "no CPU profile was read in part");
}
