//! Idle time is not busy in reports.

use crate::common::idle::{profile, read};
use crate::report::report;
use tracemill_testkit::seeds;

#[test]
fn idle_time_is_not_busy() {
    for seed in seeds(0, 20) {
        let (idle, none) = (read(&profile(seed, 2)), read(&profile(seed, 1)));
        let [idle, none] = [idle, none].map(|trace| report(&trace).threads[0].busy);
        assert!((idle - none).abs() < 1e-6, "seed {seed}");
    }
}
