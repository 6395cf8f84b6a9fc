//! Reasons for dropping events, with counts.

use tracemill_join::report::Dropped;

/// The index of the criterion that drops an event; 0 if it stays.
pub(super) type Reason = u8;
pub(super) const PASSES: Reason = 0;
pub(super) const MIN_DUR: Reason = 8;
pub(super) const MAX_DUR: Reason = 9;
pub(super) const FROM: Reason = 10;
pub(super) const TO: Reason = 11;
pub(super) const PRESET: Reason = 12;
pub(super) const INVERTED: Reason = 17;
pub(super) const SHRUNK: Reason = 18;
pub(super) const ARGS: Reason = 19;
pub(super) const UNLISTED: Reason = 20;
const NAMES: [&str; 21] = [
    "",
    "pid",
    "tid",
    "process",
    "thread",
    "ph",
    "cat",
    "name",
    "min-dur",
    "max-dur",
    "from",
    "to",
    "drop network",
    "drop gpu",
    "drop animation",
    "drop threadpool",
    "drop compile",
    "invert",
    "shrink-to",
    "args",
    "query",
];

/// Numbers of dropped events and bytes, by reason.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DropTallies([(u64, u64); NAMES.len()]);

impl DropTallies {
    #[inline]
    pub(super) fn add(&mut self, reason: Reason, bytes: u64) {
        let (events, all) = &mut self.0[usize::from(reason)];
        *events += 1;
        *all += bytes;
    }

    pub(super) fn append(&mut self, later: &DropTallies) {
        for (tally, more) in self.0.iter_mut().zip(later.0) {
            tally.0 += more.0;
            tally.1 += more.1;
        }
    }

    pub(super) fn report(&self) -> Vec<Dropped> {
        let named = NAMES.iter().zip(self.0).filter(|(_, (events, _))| *events > 0);
        named.map(|(reason, (events, bytes))| Dropped { reason, events, bytes }).collect()
    }
}
