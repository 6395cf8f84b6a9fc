//! Compares merges of inputs with different clocks with a naive merge of naively moved inputs,
//! whatever the knobs. Events with a known distance must get the right times.

use crate::info;
use crate::run::{Knobs, PLAIN, config, knobs, over, run_sources};
use crate::trace::assert_same;
use std::path::PathBuf;
use tracemill_join::config::{Align, ClockRules, Config, IdPolicy, IdentityRules, PidPolicy};
use tracemill_join::report::warning::Warning;
use tracemill_join::report::{ClockMethod, InputClock, MergeReport};
use tracemill_testkit::generate::{Base, BaseFormat, Skew, TraceShape, rank, times_in_args, trace};
use tracemill_testkit::reference::{self, Clock, Renames};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::{Error, Source};

fn align(align: Align) -> ClockRules {
    ClockRules { align, ..ClockRules::default() }
}

/// Returns the rules for inputs at these paths.
type RulesFor<'r> = &'r dyn Fn(&[PathBuf]) -> ClockRules;

fn merge_with(
    inputs: &[&[u8]],
    rules: RulesFor<'_>,
    knobs: Knobs,
) -> Result<(Vec<u8>, MergeReport), Error> {
    let identity =
        IdentityRules { pid: PidPolicy::Auto, ids: IdPolicy::Auto, ..IdentityRules::default() };
    let run = |sources: &[Source]| {
        let path = |source: &Source| match source {
            Source::Path(path) | Source::Listed(path) => path.clone(),
            Source::Stdin | Source::Reader(_) | Source::Remote(_) => PathBuf::new(),
        };
        let paths: Vec<PathBuf> = sources.iter().map(path).collect();
        let config = Config { clocks: rules(&paths), identity: identity.clone(), ..config(knobs) };
        run_sources(sources, None, &config)
    };
    over(inputs, knobs, run)
}

/// Removes the names, which differ for pipes.
fn nameless(clocks: &[InputClock]) -> Vec<InputClock> {
    clocks.iter().map(|clock| InputClock { name: String::new(), ..clock.clone() }).collect()
}

/// Asserts that merges with any knobs equal the naive merge. Returns the output and the report of
/// clocks.
#[track_caller]
fn check(
    what: &str,
    inputs: &[&[u8]],
    rules: RulesFor<'_>,
    corners: &[Knobs],
) -> (Vec<u8>, MergeReport) {
    let (output, report) =
        merge_with(inputs, rules, PLAIN).unwrap_or_else(|e| panic!("{what}: {e}"));
    let reports = inputs.iter().zip(&report.clocks).zip(&report.identity.inputs);
    let moved = reports.map(|((input, clock), identity)| {
        let renames = Renames { pids: identity.pids.clone(), ids: identity.ids.clone() };
        let renamed = reference::rename(input, &renames).expect("sound");
        let clock = Clock { offset_ns: clock.offset_ns, scale: clock.scale.clone() };
        reference::shift(&renamed, &clock).expect("sound")
    });
    let moved: Vec<Vec<u8>> = moved.collect();
    assert_eq!(moved.len(), inputs.len(), "{what}");
    let texts: Vec<&[u8]> = moved.iter().map(Vec::as_slice).collect();
    let expected = reference::merge(&texts, None).expect("sound");
    assert_same(&format!("{what}: {:#?}", report.clocks), &expected, &output);
    for &corner in corners {
        let (again, other) = merge_with(inputs, rules, corner).expect("sound");
        assert_same(&format!("{what} {corner:?}"), &output, &again);
        assert_eq!(nameless(&report.clocks), nameless(&other.clocks), "{what} {corner:?}");
    }
    (output, report)
}

const OFFSETS: [i64; 9] =
    [1_000, -1_000, 1, 1_500, -70_000_001, 20, 1_712_195_495_533_685_110, -999, i64::MAX - 9];
const FACTORS: [&str; 6] = ["1000", "0.001", "1.000012", "0.3333333333333333", "2", "1.0"];

fn random_rules(rng: &mut Rng, inputs: &[&[u8]]) -> impl Fn(&[PathBuf]) -> ClockRules + use<> {
    let align = match rng.below(5) {
        0 => Align::None,
        1 => Align::Auto,
        2 => Align::Start,
        3 => Align::BaseTime,
        _ => {
            let events = reference::events(inputs[0]).expect("sound");
            let names: Vec<String> = events
                .iter()
                .filter_map(|event| serde_json::from_str(event.name.as_deref()?).ok())
                .filter(|name: &String| !name.is_empty())
                .collect();
            match names.is_empty() {
                true => Align::ClockSync,
                false => Align::Marker(names[rng.index(names.len())].clone()),
            }
        }
    };
    let given: Vec<(Option<i64>, Option<&str>)> = inputs
        .iter()
        .map(|_| {
            let offset = rng.chance(40).then(|| OFFSETS[rng.index(OFFSETS.len())]);
            (offset, rng.chance(25).then(|| FACTORS[rng.index(FACTORS.len())]))
        })
        .collect();
    let rebase = rng.chance(15).then(|| OFFSETS[rng.index(8)]);
    move |paths| {
        let mut rules = ClockRules { rebase, ..self::align(align.clone()) };
        for (path, (offset, factor)) in paths.iter().zip(&given) {
            rules.offsets.extend(offset.map(|offset| (path.clone(), offset)));
            rules.scales.extend(factor.map(|f| (path.clone(), f.parse().expect("a factor"))));
        }
        rules
    }
}

#[test]
fn random_clocks_match_the_reference() {
    let (mut moved, mut scaled, mut matched) = (0, 0, 0);
    for seed in seeds(0, 150) {
        let mut rng = Rng::new(seed);
        let first = trace(seed * 10, &TraceShape::arbitrary(&mut rng));
        let second = trace(seed * 10 + 1, &TraceShape::arbitrary(&mut rng));
        let third = trace(seed * 10 + 2, &TraceShape::arbitrary(&mut rng));
        let mut inputs: Vec<&[u8]> = vec![&first, &second, &third];
        inputs.truncate(1 + rng.index(3));
        let rules = random_rules(&mut rng, &inputs);
        let corners = [0, 1, 2].map(|number| knobs(seed as usize * 3 + number));
        let (_, report) = check(&format!("seed {seed}"), &inputs, &rules, &corners);
        moved += report.clocks.iter().filter(|clock| clock.offset_ns != 0).count();
        scaled += report.clocks.iter().filter(|clock| clock.scale.is_some()).count();
        matched += report.clocks.iter().filter(|clock| clock.matches > 1).count();
    }
    assert!(moved > 80 && scaled > 40 && matched > 10, "{moved} {scaled} {matched}");
}

#[test]
fn times_in_args_move_too() {
    for seed in seeds(0, 20) {
        let mut rng = Rng::new(seed);
        let odd = if rng.chance(50) { 20 } else { 0 };
        let (first, second) = (times_in_args(seed, 40, odd), times_in_args(seed + 500, 40, odd));
        let inputs: [&[u8]; 2] = [&first, &second];
        let rules = random_rules(&mut rng, &inputs);
        check(&format!("seed {seed}"), &inputs, &rules, &[knobs(seed as usize)]);
    }
}

/// Returns the `ts` of each event in nanoseconds, and the true time in its args.
fn times(output: &[u8]) -> Vec<(i64, i64)> {
    let events = reference::events(output).expect("sound");
    let time = |event: &reference::RawEvent| {
        let ts = event.ts.as_deref()?.trim_matches('"').to_owned();
        let (whole, decimals) = ts.split_once('.').unwrap_or((&ts, ""));
        let ns: i64 = format!("{whole}{decimals:0<3}").parse().expect("nanoseconds");
        let args: serde_json::Value = serde_json::from_str(event.args.as_deref()?).ok()?;
        Some((ns, args["true_ns"].as_i64()?))
    };
    events.iter().filter_map(time).collect()
}

#[test]
fn ranks_with_different_base_times_are_aligned_exactly() {
    let hour = 3_600_000_000_000;
    let bases = [
        Base { key: BaseFormat::Kineto, ns: 1_719_853_884_000_000_000 },
        Base { key: BaseFormat::KinetoText, ns: 1_721_065_900_123_456_789 },
        Base { key: BaseFormat::VizTracer, ns: 1_721_065_958_000_000_001 + hour },
        Base { key: BaseFormat::Clang, ns: 1_721_065_957_999_999_000 },
    ];
    for seed in 0..20 {
        let ranks: Vec<Vec<u8>> = bases
            .iter()
            .enumerate()
            .map(|(number, &base)| rank(seed, number, 200, base, Skew::default()))
            .collect();
        let inputs: Vec<&[u8]> = ranks.iter().map(Vec::as_slice).collect();
        let method = if seed % 2 == 0 { Align::Auto } else { Align::BaseTime };
        let rules = |_: &[PathBuf]| align(method.clone());
        let corners = [knobs(seed as usize), knobs(seed as usize + 7)];
        let (output, report) = check(&format!("seed {seed}"), &inputs, &rules, &corners);
        assert!(report.run.warnings.is_empty(), "{:?}", report.run.warnings);
        let times = times(&output);
        assert_eq!(times.len(), 800);
        assert!(times.iter().all(|(ts, truth)| ts + bases[0].ns == *truth), "seed {seed}");
        // events of four ranks at the same time are adjacent
        assert!(times.chunks(4).all(|same| same.iter().all(|time| *time == same[0])));
    }
}

#[test]
fn skewed_copies_are_aligned_by_markers_within_the_residual() {
    let nowhere = Base { key: BaseFormat::Nowhere, ns: 1_721_065_958_000_000_000 };
    let skews = [
        Skew { offset_ns: 5_000_000_123, drift_ppb: 0, jitter_ns: 0 },
        Skew { offset_ns: -77_000, drift_ppb: 20_000, jitter_ns: 0 },
        Skew { offset_ns: 1, drift_ppb: -3_000, jitter_ns: 40_000 },
    ];
    for seed in 0..20 {
        let mut inputs = vec![rank(seed, 0, 400, nowhere, Skew::default())];
        inputs.extend(
            (1..).zip(&skews).map(|(number, skew)| rank(seed, number, 400, nowhere, *skew)),
        );
        let texts: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let rules = |_: &[PathBuf]| align(Align::Marker("step".into()));
        let (output, report) =
            check(&format!("seed {seed}"), &texts, &rules, &[knobs(seed as usize)]);
        assert_eq!(report.clocks[1].offset_ns, -skews[0].offset_ns);
        assert_eq!(report.clocks[1].residual_ns, Some(0));
        assert!(report.clocks.iter().all(|clock| clock.matches == 40), "{:?}", report.clocks);
        let events = reference::events(&output).expect("sound");
        for (number, clock) in report.clocks.iter().enumerate().skip(1) {
            let residual = clock.residual_ns.expect("several matches");
            let of_input: Vec<_> =
                events.iter().filter(|event| event.pid == Some(number.to_string())).collect();
            let steps = of_input.iter().filter(|event| event.name.as_deref() == Some("\"step\""));
            for step in steps {
                let text = [b"[", &*step.bytes, b"]"].concat();
                let (ts, truth) = times(&text)[0];
                let off = (ts + nowhere.ns - truth).abs();
                assert!(off <= residual, "{off} {clock:?}");
            }
        }
        // drift is distinguished from jitter, and the factor corrects it up to a drift of the drift
        let drift = report.clocks[2].drift_ppb.expect("a drift");
        assert!((drift - 20_000).abs() <= 1, "{drift}");
        assert_eq!(report.clocks[1].drift_ppb, None);
        // the error of a drift grows with time, half of it on either side
        assert!(report.clocks[2].residual_ns > report.clocks[1].residual_ns);
    }
}

#[test]
fn a_rebased_trace_begins_at_the_given_time() {
    for seed in seeds(0, 20) {
        let inputs = [seed * 2, seed * 2 + 1].map(|seed| trace(seed, &TraceShape::plain(40)));
        let inputs: Vec<&[u8]> = inputs[seed as usize % 2..].iter().map(Vec::as_slice).collect();
        let rebase = [0, 1_500, 7_000_000_000][seed as usize % 3];
        let rules = |paths: &[PathBuf]| ClockRules {
            rebase: Some(rebase),
            offsets: vec![(paths[0].clone(), 20_000)],
            ..ClockRules::default()
        };
        let (output, _) = check(&format!("seed {seed}"), &inputs, &rules, &[knobs(seed as usize)]);
        let start = info::check(&format!("seed {seed}"), &[&output], &[]).start_ns;
        assert_eq!(start, Some(rebase), "seed {seed}");
    }
}

#[test]
fn a_factor_corrects_a_drift() {
    let nowhere = Base { key: BaseFormat::Nowhere, ns: 1_721_065_958_000_000_000 };
    let skew = Skew { offset_ns: 12_345, drift_ppb: 20_000, jitter_ns: 0 };
    let (first, second) =
        (rank(3, 0, 900, nowhere, Skew::default()), rank(3, 1, 900, nowhere, skew));
    let rules = |factor: Option<&'static str>| {
        move |paths: &[PathBuf]| ClockRules {
            scales: factor.map(|f| (paths[1].clone(), f.parse().unwrap())).into_iter().collect(),
            ..align(Align::Marker("step".into()))
        }
    };
    let residual = |factor| {
        let (_, report) = check("drift", &[&first, &second], &rules(factor), &[knobs(4)]);
        report.clocks[1].residual_ns.expect("several matches")
    };
    let (with, without) = (residual(Some("1.0000200004")), residual(None));
    assert!(without > 10_000 && with <= 2, "{without} {with}");
}

#[test]
fn markers_that_begin_late_are_matched() {
    let nowhere = Base { key: BaseFormat::Nowhere, ns: 1_721_065_958_000_000_000 };
    let whole = rank(9, 0, 400, nowhere, Skew::default());
    let skew = Skew { offset_ns: 1_000_000, ..Skew::default() };
    let other = rank(9, 1, 400, nowhere, skew);
    let text = String::from_utf8(other).unwrap();
    let mut steps = 0;
    let late: Vec<&str> = text
        .lines()
        .filter(|line| {
            steps += usize::from(line.contains("\"step\""));
            !line.contains("\"step\"") || steps > 7
        })
        .collect();
    let late = late.join("\n");
    for inputs in [[&whole[..], late.as_bytes()], [late.as_bytes(), &whole[..]]] {
        let sign = if inputs[0].len() == whole.len() { -1 } else { 1 };
        let rules = |_: &[PathBuf]| align(Align::Marker("step".into()));
        let (_, report) = check("late", &inputs, &rules, &[]);
        assert_eq!((report.clocks[1].offset_ns, report.clocks[1].matches), (sign * 1_000_000, 33));
        assert!(
            report
                .run
                .warnings
                .iter()
                .any(|warning| warning.to_string().contains("33 events of each")),
            "{:?}",
            report.run.warnings
        );
    }
}

fn events(list: &[&str]) -> Vec<u8> {
    format!("{{\"traceEvents\":[{}]}}", list.join(",")).into_bytes()
}

#[test]
fn top_level_samples_move_with_events() {
    let input = |id: u8| {
        format!(
            r#"{{"samples":[{{"sf":{id},"ts":"1.50"}},{{"ts":2}},{{"ts":null}},7],"traceEvents":[{{"ph":"X","ts":1}}]}}"#
        )
    };
    let (a, b) = (input(1), input(2));
    for number in 0..2 {
        let rules = |paths: &[PathBuf]| ClockRules {
            offsets: vec![(paths[number].clone(), 1_500)],
            ..ClockRules::default()
        };
        let (output, _) = check("samples", &[a.as_bytes(), b.as_bytes()], &rules, &[knobs(1)]);
        let text = String::from_utf8(output).unwrap();
        let moved = format!(r#"{{"sf":{},"ts":"3.00"}},{{"ts":3.5}},{{"ts":null}},7"#, number + 1);
        assert!(text.contains(&moved), "{text}");
    }
}

#[test]
fn clock_syncs_align_through_third_inputs() {
    let a = events(&[
        r#"{"ph":"c","name":"clock_sync","ts":100,"args":{"sync_id":"x","issue_ts":90}}"#,
        r#"{"ph":"X","ts":1,"pid":1}"#,
    ]);
    let b = events(&[
        r#"{"ph":"c","name":"clock_sync","ts":"7","args":{"sync_id":"y"}}"#,
        r#"{"ph":"X","ts":8,"pid":2}"#,
    ]);
    let c = events(&[
        r#"{"ph":"c","name":"clock_sync","ts":1000,"args":{"sync_id":"x"}}"#,
        r#"{"ph":"c","name":"clock_sync","ts":2000,"args":{"sync_id":"y"}}"#,
    ]);
    let d = events(&[r#"{"ph":"X","ts":5,"pid":3}"#]);
    for method in [Align::ClockSync, Align::Auto] {
        let rules = |_: &[PathBuf]| align(method.clone());
        let (_, report) = check("syncs", &[&a, &b, &c, &d], &rules, &[knobs(2)]);
        let offsets: Vec<i64> = report.clocks.iter().map(|clock| clock.offset_ns).collect();
        // x is at 95 ± 5 in a
        assert_eq!(offsets, [0, (2000 - 905 - 7) * 1000, -905_000, 0]);
        assert_eq!(report.clocks[2].uncertainty_ns, Some(5_000));
        assert_eq!(report.clocks[1].uncertainty_ns, Some(5_000));
        assert_eq!(report.clocks[3].method, None);
        assert_eq!(
            report.run.warnings.is_empty(),
            method == Align::Auto,
            "{:?}",
            report.run.warnings
        );
    }
}

#[test]
fn given_offsets_apply_and_others_follow() {
    let (a, b) = (events(&[r#"{"ph":"X","ts":100}"#]), events(&[r#"{"ph":"X","ts":7}"#]));
    let rules = |paths: &[PathBuf]| ClockRules {
        stated: vec![(paths[0].clone(), 50_000)],
        offsets: vec![(paths[1].file_name().unwrap().into(), 1)],
        ..align(Align::Start)
    };
    let (_, report) = check("given", &[&a, &b], &rules, &[]);
    let offsets: Vec<i64> = report.clocks.iter().map(|clock| clock.offset_ns).collect();
    assert_eq!(offsets, [50_000, 143_001]);
    let methods: Vec<_> = report.clocks.into_iter().map(|clock| clock.method).collect();
    assert_eq!(methods, [Some(ClockMethod::Given), Some(ClockMethod::Start)]);
}

#[test]
fn clocks_without_a_base_time_stay() {
    let epoch = events(&[r#"{"ph":"X","ts":1795226383502128.8}"#]);
    let based = rank(
        1,
        0,
        20,
        Base { key: BaseFormat::Kineto, ns: 1_719_853_884_000_000_000 },
        Skew::default(),
    );
    let early = events(&[r#"{"ph":"X","ts":5}"#]);
    let auto = |_: &[PathBuf]| align(Align::Auto);
    for inputs in [[&epoch[..], &early], [&early[..], &epoch], [&based[..], &epoch]] {
        let (_, report) = check("auto", &inputs, &auto, &[]);
        assert!(report.clocks.iter().all(|clock| clock.offset_ns == 0), "{:?}", report.clocks);
        assert!(
            report.run.warnings.iter().any(|warning| matches!(warning, Warning::FarApart { .. })),
            "{:?}",
            report.run.warnings
        );
    }
    // on request, times that look like microseconds since 1970 are treated as such
    let demanded = |_: &[PathBuf]| align(Align::BaseTime);
    let (_, report) = check("demanded", &[&epoch, &based], &demanded, &[]);
    assert_eq!(report.clocks[1].offset_ns, 1_719_853_884_000_000_000);
    assert!(
        report.run.warnings[0].to_string().contains("states no base time"),
        "{:?}",
        report.run.warnings
    );
}

#[test]
fn offsets_for_unknown_inputs_are_refused() {
    let input = events(&[r#"{"ph":"X","ts":5}"#]);
    let rules =
        |_: &[PathBuf]| ClockRules { offsets: vec![("typo".into(), 1)], ..ClockRules::default() };
    let error = merge_with(&[&input, &input], &rules, PLAIN).unwrap_err();
    let message = "an offset is given for typo, but no input has this path or name";
    assert!(error.to_string().contains(message), "{error}");
}
