//! Tables of windows of B and E that cross, by an index; and for what reasons all is read.

use crate::indexed::{BEGIN, LENGTH, same};
use tracemill_analysis::{ReadRules, Trace};
use tracemill_pipeline::{Config, IndexConfig, IndexUse, Source, index};
use tracemill_testkit::{Rng, seeds};

/// Threads of B and E that DevTools pairs otherwise: by categories too, so that most of its pairs last much longer than ours, and more of
/// them than have room among all that lasts.
fn crossing(rng: &mut Rng) -> String {
    let mut lines: Vec<(u64, String)> = Vec::new();
    for tid in 1..=4 {
        let mut at = rng.below(200);
        while at + 200 < LENGTH {
            let long = 40 + rng.below(30);
            let round: &[(char, &str, &str, u64)] = match rng.below(8) {
                // names that cross, which all pair alike
                0 => &[
                    ('B', "a", "v8", 0),
                    ('B', "b", "v8", 2),
                    ('E', "a", "v8", 4),
                    ('E', "b", "v8", 7),
                ],
                // equal names that cross by their categories
                1 => &[
                    ('B', "a", "v8", 0),
                    ('B', "a", "cc", 2),
                    ('E', "a", "v8", 4),
                    ('E', "a", "cc", 7),
                ],
                // an end without categories
                2 => &[
                    ('B', "a", "v8", 0),
                    ('B', "b", "cc", 2),
                    ('E', "a", "", 4),
                    ('E', "b", "cc", 7),
                ],
                // ends of other categories, that fit what began before
                _ => &[
                    ('B', "a", "v8", 0),
                    ('E', "a", "cc", 2),
                    ('B', "a", "cc", long),
                    ('E', "a", "v8", long + 2),
                    ('E', "a", "cc", long + 4),
                ],
            };
            for (phase, name, cat, after) in round {
                let cat = match *cat {
                    "" => String::new(),
                    cat => format!(r#""cat":"{cat}","#),
                };
                let (pid, ts) = (tid % 2, BEGIN + at + after);
                lines.push((ts, format!(
                    r#"{{"ph":"{phase}","name":"{name}",{cat}"pid":{pid},"tid":{tid},"ts":{ts},"args":{{}}}}"#
                )));
            }
            at += 80 + rng.below(30);
        }
    }
    lines.sort_by_key(|own| own.0 / 700);
    let lines: Vec<String> = lines.into_iter().map(|own| own.1).collect();
    format!("{{\"traceEvents\":[\n{}\n]}}", lines.join(",\n"))
}

#[test]
fn pairs_of_devtools_that_no_other_verb_makes_have_a_look_back_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut used, mut all) = (0, 0);
    for seed in seeds(0, 3) {
        let mut rng = Rng::new(seed);
        let text = crossing(&mut rng);
        let (source, config) = indexed(&folder, &text, 1 + seed as usize % 3);
        for number in 0..12 {
            all += 1;
            match same(&format!("seed {seed}, {number}"), &source, &config, &mut rng) {
                Ok(_) => used += 1,
                Err(why) => assert_eq!(why, "most of the trace is wanted"),
            }
        }
    }
    assert!(used * 3 > all * 2, "{used} of {all}");
}

/// A trace with an index.
fn indexed(folder: &tempfile::TempDir, text: &str, threads: usize) -> (Source, Config) {
    let path = folder.path().join("a.json");
    std::fs::write(&path, text).expect("room on disk");
    let source = Source::Path(path);
    let config = Config::new(threads, 256 << 20, folder.path().to_owned());
    let config = Config { index: IndexUse::Never, ..config };
    let wanted = IndexConfig { replace: true, ..IndexConfig::default() };
    index(std::slice::from_ref(&source), &wanted, &config).expect("an index");
    (source, config)
}

#[test]
fn each_reason_for_which_all_is_read_is_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let reasons = [
        (r#""ph":"X","name":"a","cat":"c","ts":"5000100","dur":3"#, "no plain numbers"),
        (r#""ph":"X","name":"a","cat":"c","ts":5000100.00001,"dur":3"#, "finer than doubles"),
        (r#""ph":"X","name":"\u0041","cat":"c","ts":5000100,"dur":3"#, "escapes"),
        (r#""ph":"B","name":"a","cat":5,"ts":5000100"#, "categories"),
        (r#""ph":"B","name":"a","cat":"c","ts":5000100,"dur":3"#, "have a dur"),
        (r#""ph":"E","name":5,"cat":"c","ts":5000100"#, "names that are no text"),
        (r#""ph":"X","name":"ParseHTML","cat":"c","ts":5000100,"dur":3"#, "lack args"),
        (
            r#""ph":"X","name":"f","cat":"v8.calls","ts":5000100,"dur":3"#,
            "as events beside the samples",
        ),
    ];
    for (seed, (fields, expected)) in (0..).zip(reasons) {
        let mut rng = Rng::new(seed);
        let text = crossing(&mut rng);
        let odd = format!("{{\"pid\":1,\"tid\":1,\"args\":{{}},{fields}}},\n");
        let text = text.replacen('\n', &format!("\n{odd}"), 1);
        let (source, config) = indexed(&folder, &text, 2);
        let why = same(fields, &source, &config, &mut rng).expect_err("all is read");
        assert!(why.contains(expected), "{fields}: {why}");
    }
}

/// What makes DevTools refuse a trace is told wherever it stands: the index says so.
#[test]
fn what_events_lack_far_from_the_window_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let lacking = [
        r#""ph":"E","ts":5000100"#,
        r#""ph":"X","name":"RunTask","ts":5000100,"dur":3,"args":{}"#,
        r#""ph":"X","name":"FunctionCall","cat":"c","ts":5000100,"dur":3"#,
        r#""ph":"P","name":"ProfileChunk","cat":"c","ts":5000100"#,
        r#""ph":"M","name":"process_name""#,
    ];
    let mut found = std::collections::BTreeSet::new();
    for (seed, fields) in (0..).zip(lacking) {
        let mut rng = Rng::new(seed);
        let text = crossing(&mut rng);
        let odd = format!("{{\"pid\":1,\"tid\":1,{fields}}},\n");
        let text = text.replacen('\n', &format!("\n{odd}"), 1);
        let (source, config) = indexed(&folder, &text, 2);
        let sources = std::slice::from_ref(&source);
        let whole = Trace::read(sources, ReadRules::default(), &config).expect("a trace");
        found.extend(whole.refusals.iter().map(|own| own.name()));
        let used = (0..8).filter(|_| same(fields, &source, &config, &mut rng).is_ok()).count();
        assert!(used > 2, "{fields}: {used}");
    }
    assert!(found.is_superset(&["bare-args", "missing-cat", "missing-name"].into()), "{found:?}");
}
