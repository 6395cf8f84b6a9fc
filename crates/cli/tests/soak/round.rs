//! One round, determined by its seed.

use crate::chain::{self, PLAN, Step};
use crate::figures::Figures;
use crate::inputs::{self, Input};
use crate::laws::Laws;
use crate::portrait::Portrait;
use crate::process::{Ended, Knobs};
use crate::world::{Story, World};
use std::fs;
use tracemill_testkit::Rng;

/// Rounds with smaller seeds have small inputs.
pub(crate) const SMALL_SEEDS: u64 = 1_000_000;

/// Runs a round and asserts all laws. `keep` keeps its folder.
pub(crate) fn round(seed: u64, keep: bool) -> Figures {
    let rng = &mut Rng::new(seed);
    let inputs = inputs::random(rng, if seed < SMALL_SEEDS { 300 << 10 } else { 64 << 20 });
    let mut world = World::new(rng, &inputs);
    if keep {
        say(&format!("seed {seed} is in {}", world.keep().display()));
    }
    let portrait = portrait(rng, &mut world, &inputs);
    let names: Vec<String> = inputs.iter().map(|input| format!("in/{}", input.name)).collect();
    let chain = chain::random(rng, &portrait, &names);
    let one = world.by_files(rng, &chain);
    let two = world.by_pipes(rng, &chain, &one);
    for (number, step) in chain.iter().enumerate().take(one.ended.len()) {
        judge(step, &one.ended[number], &inputs, &format!("step {number} of {chain:#?}"));
    }
    compare(&chain, &one, &two);
    let plan = |side: &str| fs::read(world.path(side).join(PLAN)).ok();
    assert!(plan("one") == plan("two"), "manifests differ: {chain:#?}");
    Laws { rng, world: &mut world, inputs: &inputs, chain: &chain, story: &one }.hold();
    world.is_clean();
    let mut figures = world.figures;
    figures.events = portrait.events;
    figures.kinds.extend(inputs.iter().map(|input| (input.kind, 1)));
    figures
}

#[expect(clippy::print_stderr, reason = "whoever runs it wants to know")]
pub(crate) fn say(text: &str) {
    eprintln!("soak: {text}");
}

/// Runs `info` on the inputs, and asserts that it counts the generated events.
#[track_caller]
fn portrait(rng: &mut Rng, world: &mut World, inputs: &[Input]) -> Portrait {
    let mut words = vec!["info", "--json", "-o", "portrait"];
    words.extend(world.given.iter().map(String::as_str));
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let ended = world.run(&words, Knobs::random(rng, 64));
    if ended.code == Some(3) && inputs.iter().any(|input| input.sound.is_none()) {
        return Portrait::default();
    }
    assert!(matches!(ended.code, Some(0 | 1)), "{words:?}: {ended:?}");
    let text = fs::read(world.path("one/portrait")).expect("it was written");
    let portrait = Portrait::read(&serde_json::from_slice(&text).expect("JSON"));
    if let Some(events) = inputs.iter().map(|input| input.events).sum::<Option<u64>>() {
        assert_eq!(portrait.events, events, "info counts other events than were generated");
    }
    portrait
}

/// Asserts that a step ended with an allowed status.
#[track_caller]
fn judge(step: &Step, ended: &Ended, inputs: &[Input], what: &str) {
    assert!(!ended.stderr.contains("panicked"), "a panic: {what}\n{ended:#?}");
    let sound = inputs.iter().all(|input| input.sound.is_some());
    let may_end = match ended.code {
        Some(0 | 1) => true,
        // random sizes may be smaller than what each part repeats
        Some(2) if step.words[0] == "split" => ended.stderr.contains("choose larger parts"),
        Some(2) => step.words[0] == "merge" && ended.stderr.contains("to align their clocks by"),
        Some(3) => step.strict || !sound || step.words[0] == "profile",
        _ => false,
    };
    assert!(may_end, "it must not end so: {what}\n{ended:#?}");
}

/// Returns the messages without hints about unmatched filters, which need files to be read again.
fn messages(stderr: &str) -> Vec<&str> {
    let unmatched = ["nothing matches", "no event matches"];
    stderr.lines().filter(|line| !unmatched.iter().any(|part| line.contains(part))).collect()
}

/// Asserts that runs over files and pipes, with different knobs, gave the same results.
#[track_caller]
fn compare(chain: &[Step], one: &Story, two: &Story) {
    for (number, (a, b)) in one.ended.iter().zip(&two.ended).enumerate() {
        let what = || format!("step {number} of {chain:#?}");
        assert_eq!(a.code, b.code, "statuses differ: {}\n{a:#?}\n{b:#?}", what());
        assert_eq!(one.wrote[number], two.wrote[number], "outputs differ: {}", what());
        assert_eq!(messages(&a.stderr), messages(&b.stderr), "messages differ: {}", what());
    }
    assert_eq!(one.ended.len(), two.ended.len(), "{chain:#?}");
}
