//! CPU profiles in slices have the samples inside with exact times, and the nodes that these need.

use crate::extract::extract;
use crate::run::{Knobs, PLAIN, knobs};
use crate::slices::{absolute, run_slice};
use crate::trace::assert_same;
use std::collections::{BTreeMap, HashMap, HashSet};
use tracemill_join::report::warning::Warning;
use tracemill_testkit::generate::{Arrangement, ProfileShape, profile_trace};
use tracemill_testkit::reference::{self, CpuProfile, Node, StreamProfile, Window};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::time::windows::Edges;

fn is_in(windows: &[Window], time: i128) -> bool {
    let low = |window: &Window| window.0.map_or(i128::MIN, i128::from);
    let high = |window: &Window| window.1.map_or(i128::MAX, i128::from);
    windows.iter().any(|window| low(window) <= time && time < high(window))
}

/// Facts about a profile in windows: samples with time, line and column; nodes; trace ids.
type Facts = (Vec<(i128, u64, i64, i64)>, BTreeMap<u64, Node>, BTreeMap<String, u64>);

fn facts(start: i128, profile: &CpuProfile, windows: Option<&[Window]>) -> Facts {
    let mut time = start;
    let samples =
        profile.samples.iter().zip(&profile.deltas).enumerate().map(|(at, (&id, delta))| {
            time += delta;
            let position = |list: &Option<Vec<i64>>| list.as_ref().map_or(0, |list| list[at]);
            (time, id, position(&profile.lines), position(&profile.columns))
        });
    let mut samples: Vec<_> = samples.collect();
    if let Some(windows) = windows {
        samples = cut(&samples, windows);
    }
    let all: HashMap<u64, &Node> = profile.nodes.iter().map(|node| (node.id, node)).collect();
    let mut needed = HashSet::new();
    for &(_, id, ..) in &samples {
        let mut next = Some(id);
        while let Some(id) = next.filter(|&id| needed.insert(id)) {
            next = all[&id].parent;
        }
    }
    let mut hits: HashMap<u64, u64> = HashMap::new();
    samples.iter().for_each(|&(_, id, ..)| *hits.entry(id).or_default() += 1);
    let node = |&id: &u64| {
        let node = Node { hits: hits.get(&id).copied().unwrap_or(0), ..all[&id].clone() };
        (id, node)
    };
    let nodes = needed.iter().map(node).collect();
    let ids = profile.trace_ids.iter().filter(|(_, node)| needed.contains(node));
    (samples, nodes, ids.map(|(key, &node)| (key.clone(), node)).collect())
}

/// Returns the samples in windows, each window starting with the sample in force at the start of
/// the window.
fn cut(samples: &[(i128, u64, i64, i64)], windows: &[Window]) -> Vec<(i128, u64, i64, i64)> {
    let last = samples.iter().map(|sample| sample.0).max();
    let mut begun = vec![false; windows.len()];
    let mut inside = Vec::new();
    let begin = |number: usize, inside: &mut Vec<_>| {
        let Some(from) = windows[number].0.map(i128::from) else { return };
        let before = samples.iter().filter(|sample| sample.0 < from);
        let in_force = before.max_by_key(|sample| sample.0);
        let is_exact = samples.iter().any(|sample| sample.0 == from);
        if let Some(&(_, id, line, column)) = in_force.filter(|_| !is_exact && last > Some(from)) {
            inside.push((from, id, line, column));
        }
    };
    for &sample in samples {
        let Some(window_at) = windows.iter().position(|&window| is_in(&[window], sample.0)) else {
            continue;
        };
        for (number, begun) in begun.iter_mut().enumerate().take(window_at + 1) {
            if !std::mem::replace(begun, true) {
                begin(number, &mut inside);
            }
        }
        inside.push(sample);
    }
    (0..windows.len())
        .filter(|&number| !begun[number])
        .for_each(|number| begin(number, &mut inside));
    inside
}

fn times(profile: &StreamProfile) -> Vec<i128> {
    let mut time = profile.start;
    let samples = profile.profile.deltas.iter().map(|delta| {
        time += delta;
        time
    });
    std::iter::once(profile.start).chain(samples).collect()
}

fn named(profile: &StreamProfile) -> [&str; 3] {
    [&profile.pid, &profile.tid, &profile.id]
}

/// Asserts that a slice has the expected profiles. Returns how many were re-based.
#[track_caller]
fn check(what: &str, input: &[u8], windows: &[Window], corner: Knobs) -> u64 {
    let what = format!("{what}, {windows:?}, {corner:?}");
    let whole = reference::cpu_profiles(&[input]).expect("the generator writes sound profiles");
    let (plain, report) =
        run_slice(&[input], &absolute(windows), Edges::Clip, None, PLAIN).expect(&what);
    let (again, _) =
        run_slice(&[input], &absolute(windows), Edges::Clip, None, corner).expect(&what);
    assert_same(&what, &plain, &again);
    assert_eq!(report.flaws.lost(), 0, "{what}");
    let parts = reference::cpu_profiles(&[&plain]).unwrap_or_else(|e| panic!("{what}: {e}"));
    let expected: Vec<&StreamProfile> = whole
        .iter()
        .filter(|profile| !facts(profile.start, &profile.profile, Some(windows)).0.is_empty())
        .collect();
    for profile in expected {
        // all CpuProfile events have the same key, and are not changed
        let same = |part: &&StreamProfile| profile.tid != "99" || part.profile == profile.profile;
        let part = parts.iter().filter(same).find(|part| named(part) == named(profile));
        let part = part.unwrap_or_else(|| panic!("{what}: {:?} is missing", named(profile)));
        let steps = |stream_profile: &StreamProfile| {
            (stream_profile.start, stream_profile.profile.deltas.clone())
        };
        let is_whole = steps(part) == steps(profile);
        let found = facts(part.start, &part.profile, None);
        let (mut samples, mut nodes, ids) = facts(profile.start, &profile.profile, Some(windows));
        if is_whole {
            // a profile that needed no change keeps all nodes and hit counts
            (samples, nodes, _) = facts(profile.start, &profile.profile, None);
        }
        assert_eq!(found.0, samples, "{what}: {:?}", named(profile));
        let strip = |nodes: &BTreeMap<u64, Node>| -> BTreeMap<u64, Node> {
            nodes.iter().map(|(&id, node)| (id, Node { hits: 0, ..node.clone() })).collect()
        };
        assert_eq!(strip(&found.1), strip(&nodes), "{what}: {:?}", named(profile));
        assert!(is_whole || found.2 == ids, "{what}: {:?} {ids:?}", found.2);
        if !is_whole {
            assert_eq!(part.profile.nodes.len(), nodes.len(), "{what}: no other nodes");
            assert!(found.1.values().all(|node| node.hits == nodes[&node.id].hits), "{what}");
            assert!(is_in(windows, part.start), "{what}: it begins inside");
            assert_eq!(part.profile.extras, profile.profile.extras, "{what}");
        }
    }
    // DevTools can read the chunks
    assert_eq!(
        extract(&[&plain], PLAIN).map_or(0, |all| all.len()).min(1),
        parts.len().min(1),
        "{what}"
    );
    report.rebased
}

fn windows_on(rng: &mut Rng, profiles: &[StreamProfile]) -> Vec<Window> {
    let all: Vec<i128> = profiles.iter().flat_map(times).collect();
    let mut edges: Vec<i64> = Vec::new();
    for _ in 0..2 + rng.index(3) {
        let time = i64::try_from(all[rng.index(all.len())]).expect("times are small");
        edges.push(time + [0, 1, -1, 500, -40_000, 40_000][rng.index(6)]);
    }
    edges.sort_unstable();
    edges.dedup();
    let mut windows: Vec<Window> =
        edges.chunks_exact(2).map(|pair| (Some(pair[0]), Some(pair[1]))).collect();
    if edges.len() % 2 == 1 {
        windows.push((edges.last().copied(), None));
    }
    windows
}

#[test]
fn random_profiles_in_windows_match_the_reference() {
    let mut rebased = 0;
    for seed in seeds(0, 30) {
        let mut rng = Rng::new(seed);
        let mut shape = ProfileShape::arbitrary(&mut rng);
        if shape.arrangement == Arrangement::Lost {
            // no order is right, so the times of samples are guesses
            shape.arrangement = Arrangement::Shuffled;
        }
        let input = profile_trace(seed, &shape);
        let profiles = reference::cpu_profiles(&[&input]).expect("sound");
        let windows = windows_on(&mut rng, &profiles);
        let corner = knobs(seed as usize);
        // reading large files byte by byte is slow
        let least = if input.len() > 100_000 { 63 } else { 1 };
        let corner = Knobs { read_size: corner.read_size.map(|size| size.max(least)), ..corner };
        rebased += check(&format!("seed {seed}"), &input, &windows, corner);
    }
    assert!(rebased > 20, "{rebased} profiles were re-based");
}

/// A trace of chunks only spills the entries of chunks.
#[test]
fn streams_beyond_the_memory_are_cut_from_disk() {
    let shape = ProfileShape { chunks: 40, others: 0, ..ProfileShape::plain(3) };
    for (seed, arrangement) in (0..).zip(Arrangement::ALL) {
        if arrangement == Arrangement::Lost {
            continue;
        }
        let input = profile_trace(seed, &ProfileShape { arrangement, ..shape.clone() });
        let profiles = reference::cpu_profiles(&[&input]).expect("sound");
        let rng = &mut Rng::new(seed);
        for threads in [1, 2, 7] {
            let windows = windows_on(rng, &profiles);
            let corner = Knobs { threads, budget: Some(200), chunk: 3000, ..PLAIN };
            check(&format!("{arrangement:?}"), &input, &windows, corner);
            for edges in [Edges::Clip, Edges::Keep, Edges::Drop] {
                let times = absolute(&windows);
                let run = |knobs| run_slice(&[&input], &times, edges, None, knobs).expect("sound");
                let ((plain, ample), (again, tiny)) = (run(PLAIN), run(corner));
                assert_same(&format!("{arrangement:?}, {edges:?}"), &plain, &again);
                assert_eq!(ample.written.spilled_runs, 0);
                assert!(tiny.written.spilled_runs > 0);
            }
        }
    }
}

#[test]
fn untimed_chunks_are_dropped_with_their_stream() {
    let mut events = Vec::new();
    for number in 0..300 {
        let (id, ts) = (number % 3, 1000 + number / 3);
        let time = if number % 2 == 0 { String::new() } else { format!(r#","ts":{ts}"#) };
        events.push(match number {
            0..3 => format!(r#"{{"name":"Profile","ph":"P","pid":1,"id":{id},"ts":{}}}"#, 1 + 500 * id),
            _ if number % 7 == 0 => format!(r#"{{"name":"untimed {number}"}}"#),
            _ if number % 11 == 0 => format!(r#"{{"name":"meta {number}","ph":"M"}}"#),
            _ => format!(
                r#"{{"name":"ProfileChunk","ph":"P","pid":1,"id":{id}{time},"args":{{"data":{{"cpuProfile":{{"nodes":[{{"id":1}}],"samples":[1]}},"timeDeltas":[3]}}}}}}"#
            ),
        });
    }
    let input = format!("[{}]", events.join(",\n"));
    let window = absolute(&[(Some(1_040_000), Some(1_050_000))]);
    for edges in [Edges::Clip, Edges::Keep, Edges::Drop] {
        let run =
            |knobs| run_slice(&[input.as_bytes()], &window, edges, None, knobs).expect("sound").0;
        let plain = run(PLAIN);
        for (threads, budget) in [(1, 200), (2, 2000), (7, 20_000)] {
            let corner = Knobs { threads, budget: Some(budget), chunk: 300, ..PLAIN };
            assert_same(&format!("{edges:?}, {corner:?}"), &plain, &run(corner));
        }
        let text = String::from_utf8_lossy(&plain);
        let count = |what: &str| text.matches(what).count();
        let expected = |what: &str| input.matches(what).count();
        assert_eq!(count("\"untimed"), expected("\"untimed"), "{edges:?}");
        assert_eq!(count("\"meta"), expected("\"meta"), "{edges:?}");
        // the rest of a stream begins inside a window, or is complete
        for id in 0..3 {
            let head = format!(r#""name":"Profile","ph":"P","pid":1,"id":{id},"#);
            let chunk = format!(r#""ProfileChunk","ph":"P","pid":1,"id":{id},"args""#);
            assert!(count(&head) == 1 || count(&chunk) == 0, "{edges:?}: {text}");
            assert!([0, expected(&chunk)].contains(&count(&chunk)), "{edges:?}: {text}");
        }
        let gone = edges != Edges::Keep;
        assert_eq!(count("ProfileChunk") < expected("ProfileChunk"), gone, "{edges:?}");
    }
}

#[test]
fn long_profiles_are_split_into_chunks() {
    let mut events = vec![
        r#"{"name":"Profile","ph":"P","pid":1,"tid":1,"id":"0x1","ts":1000.5,"cat":"c","args":{"data":{"startTime":7.25}}}"#.to_owned(),
    ];
    let samples = vec!["2"; 30_000].join(",");
    let deltas = vec!["10"; 30_000].join(",");
    events.push(format!(
        r#"{{"name":"ProfileChunk","ph":"P","pid":1,"tid":5,"id":"0x1","ts":1001,"cat":"c","args":{{"data":{{"cpuProfile":{{"nodes":[{{"id":1,"callFrame":{{}}}},{{"id":2,"parent":1,"callFrame":{{}}}},{{"id":3,"parent":1,"callFrame":{{}}}}],"samples":[{samples}]}},"timeDeltas":[{deltas}]}}}}}}"#
    ));
    events.push(r#"{"name":"ProfileChunk","ph":"P","pid":1,"tid":1,"id":"0x1","ts":400000,"args":{"data":{"endTime":300007.25}}}"#.to_owned());
    let input = format!("[{}]", events.join(",\n"));
    let window = [(Some(50_000_000), Some(275_000_000))];
    let (output, report) =
        run_slice(&[input.as_bytes()], &absolute(&window), Edges::Clip, None, PLAIN)
            .expect("sound");
    assert_eq!((report.rebased, report.samples), (1, 22_501));
    let events = reference::events(&output).expect("well-formed");
    assert_eq!(events.len(), 1 + 3 + 1);
    let text = |event: &reference::RawEvent| String::from_utf8_lossy(&event.bytes).into_owned();
    assert_eq!(
        text(&events[0]),
        r#"{"name":"Profile","ph":"P","pid":1,"tid":1,"id":"0x1","ts":50000,"cat":"c","args":{"data":{"startTime":49006.75}}}"#
    );
    // the first sample inside is half a microsecond after the edge, where another one is in force
    assert!(text(&events[1]).contains(r#""timeDeltas":[0,0.5,10,"#));
    assert!(text(&events[1]).contains(
        r#""nodes":[{"id":1,"callFrame":{}},{"id":2,"parent":1,"callFrame":{}}],"samples""#
    ));
    assert!(!text(&events[2]).contains("nodes"));
    assert!(text(&events[4]).contains(r#""endTime":274006.75"#), "{}", text(&events[4]));
}

#[test]
fn a_window_between_two_samples_has_the_current_stack() {
    let node = |id: u64, name: &str| {
        let parent = if id > 1 { ",\"parent\":1" } else { "" };
        format!(
            r#"{{"id":{id}{parent},"callFrame":{{"functionName":"{name}","scriptId":"1","url":"","lineNumber":1,"columnNumber":1}}}}"#
        )
    };
    let chunk = |at: u64, nodes: &[String], samples: &str, deltas: &str| {
        format!(
            r#"{{"name":"ProfileChunk","ph":"P","pid":1,"tid":2,"id":"0x1","ts":{at},"cat":"c","args":{{"data":{{"cpuProfile":{{"nodes":[{}],"samples":[{samples}]}},"timeDeltas":[{deltas}]}}}}}}"#,
            nodes.join(",")
        )
    };
    let head = r#"{"name":"Profile","ph":"P","pid":1,"tid":1,"id":"0x1","ts":1000000,"cat":"c","args":{"data":{"startTime":1000000}}}"#;
    // f from 1 s, g from 2 s to 5 s, f again to 6 s; in separate chunks, or in one
    let nodes = [node(1, "(root)"), node(2, "f"), node(3, "g")];
    let apart = [
        chunk(1_000_001, &nodes[..2], "2", "0"),
        chunk(2_000_001, &nodes[2..], "3", "1000000"),
        chunk(4_000_001, &[], "3,2", "2000000,1000000"),
        chunk(6_000_001, &[], "2", "1000000"),
    ];
    let together = [chunk(6_000_001, &nodes, "2,3,3,2,2", "0,1000000,2000000,1000000,1000000")];
    for chunks in [&apart[..], &together[..]] {
        let input = format!("[{head},\n{}]", chunks.join(",\n"));
        let profile = |windows: &[Window]| {
            let run = |knobs| {
                run_slice(&[input.as_bytes()], &absolute(windows), Edges::Clip, None, knobs)
                    .expect("sound")
                    .0
            };
            let output = run(PLAIN);
            assert_same("any knobs", &output, &run(knobs(5)));
            let found = reference::cpu_profiles(&[&output]).expect("well-formed");
            found.into_iter().next().map(|stream| facts(stream.start, &stream.profile, None).0)
        };
        let second = 1_000_000_000;
        let windows = |tenths: &[(i64, i64)]| -> Vec<Window> {
            let window = |&(from, to)| (Some(from * second / 10), Some(to * second / 10));
            tenths.iter().map(window).collect()
        };
        let sample = |tenths: i128, id| (tenths * i128::from(second) / 10, id, 0, 0);
        let expected: [(&[(i64, i64)], Vec<_>); 6] = [
            (&[(12, 18)], vec![sample(12, 2)]),
            (&[(20, 25)], vec![sample(20, 3)]),
            (&[(25, 45)], vec![sample(25, 3), sample(40, 3)]),
            (
                &[(12, 15), (25, 30), (55, 70)],
                vec![sample(12, 2), sample(25, 3), sample(55, 2), sample(60, 2)],
            ),
            (&[(45, 46), (30, 31)], vec![sample(30, 3), sample(45, 3)]),
            (&[(5, 9)], vec![]),
        ];
        for (tenths, expected) in expected {
            let found = profile(&windows(tenths)).unwrap_or_default();
            assert_eq!(found, expected, "{tenths:?}");
        }
        // after the last sample nothing is known to run
        assert_eq!(profile(&windows(&[(61, 70)])), None);
    }
}

#[test]
fn profiles_that_cannot_be_rebased_are_kept_with_a_warning() {
    let input =
        br#"[{"name":"ProfileChunk","ph":"P","pid":1,"tid":1,"id":"0x1","ts":10,"args":{"data":{
        "cpuProfile":{"nodes":[{"id":1}],"samples":[1,1]},"timeDeltas":[1,100]}}},
        {"name":"x","ph":"i","ts":0},{"name":"x","ph":"i","ts":500}]"#;
    let (output, report) =
        run_slice(&[input], &absolute(&[(Some(5000), Some(20_000))]), Edges::Clip, None, PLAIN)
            .expect("sound");
    assert_eq!(reference::events(&output).expect("well-formed").len(), 1);
    assert!(
        report.written.run.warnings.iter().any(|w| matches!(w, Warning::ProfilesKeptWhole(_))),
        "{report:?}"
    );
    let (output, _) =
        run_slice(&[input], &absolute(&[(Some(5000), Some(20_000))]), Edges::Drop, None, PLAIN)
            .expect("sound");
    assert_eq!(reference::events(&output).expect("well-formed").len(), 0);
}

#[test]
fn whole_streams_touch_or_are_inside_windows() {
    let stream = |id: u64, start: u64, chunk: u64, delta: u64| {
        format!(
            r#"{{"name":"Profile","ph":"P","pid":1,"tid":1,"id":{id},"ts":{start}}},
{{"name":"ProfileChunk","ph":"P","pid":1,"tid":2,"id":{id},"ts":{chunk},"args":{{"data":{{"cpuProfile":{{"nodes":[{{"id":1}}],"samples":[1]}},"timeDeltas":[{delta}]}}}}}}"#
        )
    };
    // inside; only samples reach inside; partly outside; outside
    let streams =
        [stream(1, 12, 13, 2), stream(2, 1, 1, 15), stream(3, 15, 16, 30), stream(4, 1, 1, 2)];
    let input =
        format!("[{},{{\"ph\":\"i\",\"ts\":0}},{{\"ph\":\"i\",\"ts\":99}}]", streams.join(","));
    for (edges, expected) in [(Edges::Keep, &["2", "1", "3"][..]), (Edges::Drop, &["1"])] {
        let window = absolute(&[(Some(10_000), Some(20_000))]);
        let (output, _) =
            run_slice(&[input.as_bytes()], &window, edges, None, PLAIN).expect("sound");
        let events = reference::events(&output).expect("well-formed");
        let mut ids: Vec<String> = events.iter().filter_map(|event| event.id.clone()).collect();
        assert_eq!(ids.len(), 2 * expected.len(), "{edges:?}: {ids:?}");
        ids.sort();
        ids.dedup();
        let mut expected: Vec<String> = expected.iter().map(|&id| id.to_owned()).collect();
        expected.sort();
        assert_eq!(ids, expected, "{edges:?}");
        for event in events {
            let text = String::from_utf8_lossy(&event.bytes).into_owned();
            assert!(input.contains(&text), "changed: {text}");
        }
    }
}
