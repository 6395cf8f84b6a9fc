//! A soak test: runs random traces through random chains of verbs.
//!
//! ```text
//!   seed ─> inputs ─> chain ─┬─ step by step over files ──────┬─> one answer, clean folders
//!                            ├─ processes with pipes between ─┘
//!                            └─ laws: sorted, counted, divided; the naive reference
//! ```
//!
//! A round follows from its seed: one to three inputs, damaged, compressed or encoded ([`inputs`]);
//! one to four verbs with flags ([`chain`]); tuning knobs. Each round checks that:
//!
//! * Runs over files and pipes give the same bytes, messages and status.
//! * No temporary or hidden file is left, and inputs are unchanged.
//! * No run exceeds its memory budget, enforced by the kernel ([`process`]), or a time limit.
//! * Outputs satisfy the laws of their verb ([`laws`]).
//!
//! By default a few fixed rounds with small inputs run. `TRACEMILL_SOAK_MINUTES=120` (see
//! `scripts/soak`) continues with new seeds and inputs up to 64 MiB. `TRACEMILL_SOAK_SEED=N` runs
//! one round and keeps its folder.

mod chain;
#[path = "../common/mod.rs"]
mod common;
mod figures;
mod inputs;
mod laws;
mod portrait;
mod process;
mod round;
mod world;

use figures::Figures;
use process::Knobs;
use round::{SMALL_SEEDS, round, say};
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use tracemill_testkit::Rng;
use world::World;

/// Number of rounds by default.
const USUAL: u64 = 36;

fn env_number(name: &str) -> Option<u64> {
    let number = std::env::var(name).ok()?;
    Some(number.parse().unwrap_or_else(|_| panic!("{name} is a number: {number}")))
}

/// Runs rounds with seeds from `first` on, two at a time, while `goes_on` returns true for the
/// seed.
fn rounds(first: u64, goes_on: impl Fn(u64) -> bool + Sync) {
    let (next, all, failed) = (AtomicU64::new(first), Mutex::default(), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !goes_on(seed) {
                return;
            }
            match catch_unwind(|| round(seed, false)) {
                Ok(figures) => Figures::add(&mut all.lock().expect("no panic"), figures),
                Err(_) => {
                    say(&format!("seed {seed} fails: repeat it with TRACEMILL_SOAK_SEED={seed}"));
                    failed.lock().expect("no panic").push(seed);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let figures = all.into_inner().expect("no panic");
    say(&figures.to_string());
    let failed = failed.into_inner().expect("no panic");
    assert!(failed.is_empty(), "these seeds fail: {failed:?}");
    let enough = figures.references >= figures.rounds / 4 && figures.kinds.len() == 6;
    assert!(enough || figures.rounds < USUAL, "too little was tested: {figures}");
}

#[test]
fn soak() {
    if let Some(seed) = env_number("TRACEMILL_SOAK_SEED") {
        say(&round(seed, true).to_string());
        return;
    }
    let Some(minutes) = env_number("TRACEMILL_SOAK_MINUTES") else {
        return rounds(0, |seed| seed < USUAL);
    };
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    // new seeds in each soak, short enough to type
    let first = now.as_secs().max(SMALL_SEEDS) * 1000;
    rounds(first, |_| Instant::now() < end);
}

/// Regression test: each compression thread took as much memory as it wanted.
#[test]
fn packing_keeps_to_the_budget() {
    let mut world = World::new(&mut Rng::new(0), &[inputs::plain(12 << 20)]);
    for (memory_mib, words) in [
        (32, "convert -z gz -o a.gz"),
        (32, "convert -z zst -o a.zst"),
        (32, "split -z gz --by events=5000 -d gz"),
        (32, "split -z zst --by events=5000 -d zst"),
        (32, "convert -z zst --level 9 -o b.zst"),
        (32, "split -z zst --level 9 --by events=15000 -d strong"),
        // one compressor of this level exceeds the smallest budget
        (128, "split -z zst --level 12 --by events=5000 -d thorough"),
    ] {
        let words = words.split(' ').map(str::to_owned).chain(["in/a.json".to_owned()]);
        let ended = world.run(&words.collect::<Vec<_>>(), Knobs::crowded(memory_mib));
        assert_eq!(ended.code, Some(0), "{ended:#?}");
    }
}
