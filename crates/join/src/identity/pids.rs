//! Assigns new pids to processes whose pid an earlier recording already uses.
//!
//! A new pid shows the old pid: 4711 becomes the first unused of 10004711, 20004711 and so on. If
//! that exceeds 32 bits, or the old pid is negative or has more than seven digits, the first free
//! number from 10,000,000 on is used. A text pid gets the suffix `#2`, `#3`, …
//!
//! With `offset`, all pids of input k (from 0) grow by k times the power of ten above all pids.

use super::input_unit::InputUnit;
use super::processes::{CanonicalId, InputProcess, key_of};
use super::spelling::{IdLiteral, tagged};
use crate::config::{PidPolicy, StatedInput};
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// Step between new pids that show the same old pid.
const STEP: u64 = 10_000_000;
/// Perfetto has 32 bits for pids and tids.
const PID_MAX: u64 = u32::MAX as u64;

/// Pairs of old and new pid, by the key of the old pid.
pub(super) type StatedPids<'s> = HashMap<CanonicalId, &'s (String, String)>;

/// Returns the pids of a manifest by their old pid. The first of equal old pids wins.
pub(super) fn stated_pids(stated: &StatedInput) -> StatedPids<'_> {
    let pairs = stated.pids.iter().rev();
    pairs.map(|pair| (key_of(Some(pair.0.as_bytes())), pair)).collect()
}

pub(super) struct Pids {
    policy: PidPolicy,
    /// Pids of all inputs, and all newly assigned pids.
    used: HashSet<CanonicalId>,
    /// Pids that a recording already uses.
    taken: HashSet<CanonicalId>,
    /// Next candidate for a free number.
    next: u64,
    /// Next suffix for each text pid.
    next_of_name: HashMap<Vec<u8>, u64>,
    /// Step between the pids of consecutive inputs, with `offset`.
    step: u64,
    /// Position of each unit among the units that are not synthetic, with `offset`.
    ordinals: HashMap<usize, u64>,
}

impl Pids {
    pub(super) fn new(units: &[InputUnit], policy: PidPolicy) -> Self {
        let (mut used, mut taken, mut ordinals) =
            (HashSet::default(), HashSet::default(), HashMap::default());
        let mut greatest = 0;
        for (number, unit) in units.iter().enumerate() {
            for (key, process) in &unit.processes.by_pid {
                used.insert(key.clone());
                let value = number_of(&process.written);
                greatest = value.filter(|&value| value <= PID_MAX).unwrap_or(0).max(greatest);
                // reserve assigned pids of profiles; smaller pids come from file names and are
                // genuine
                if unit.synthetic && value.is_some_and(|value| value >= STEP) {
                    taken.insert(key.clone());
                }
            }
            if let Some(stated) = &unit.stated {
                taken.extend(stated.pids.iter().map(|(_, new)| key_of(Some(new.as_bytes()))));
            }
            if !unit.synthetic {
                ordinals.insert(number, ordinals.len() as u64);
            }
        }
        let step = 10u64.pow(greatest.checked_ilog10().unwrap_or(0) + 1);
        Pids { policy, used, taken, next: STEP, next_of_name: HashMap::default(), step, ordinals }
    }

    /// Returns the new pid of a process that its recording has not seen before, or `None` if the
    /// process keeps its pid.
    pub(super) fn give(
        &mut self,
        unit: &InputUnit,
        stated: Option<&StatedPids<'_>>,
        number: usize,
        key: &CanonicalId,
        process: &InputProcess,
    ) -> Option<Vec<u8>> {
        if unit.synthetic || self.policy == PidPolicy::Keep {
            return None;
        }
        if let Some(stated) = stated {
            let new = stated.get(key).filter(|(old, new)| old != new);
            return new.map(|(_, new)| new.clone().into_bytes());
        }
        let ordinal = self.ordinals.get(&number).copied().unwrap_or(0);
        let offset = self.policy == PidPolicy::Offset && ordinal > 0;
        if !offset && self.taken.insert(key.clone()) {
            return None;
        }
        let new = if offset { self.offset(&process.written, ordinal) } else { None };
        let new = new.or_else(|| self.free(&process.written))?;
        let key = key_of(Some(&new));
        self.used.insert(key.clone());
        self.taken.insert(key);
        Some(new)
    }

    /// Returns the old pid plus the step of the input, if the sum is valid and unused.
    fn offset(&self, written: &[u8], ordinal: u64) -> Option<Vec<u8>> {
        let value = number_of(written)?.checked_add(ordinal.checked_mul(self.step)?)?;
        let new = spell(written, value);
        (value <= PID_MAX && !self.used.contains(&key_of(Some(&new)))).then_some(new)
    }

    /// Returns the first free pid that shows the old pid, otherwise any free pid. Returns `None` if
    /// the old pid is neither number nor text.
    fn free(&mut self, written: &[u8]) -> Option<Vec<u8>> {
        let is_free = |new: &Vec<u8>| !self.used.contains(&key_of(Some(new)));
        match IdLiteral::of(written) {
            IdLiteral::Number { .. } => {
                let shown = number_of(written).filter(|&value| value < STEP);
                let shown = shown.and_then(|value| {
                    let like = (1..).map(|k| k * STEP + value).take_while(|&new| new <= PID_MAX);
                    like.map(|new| spell(written, new)).find(is_free)
                });
                shown.or_else(|| {
                    let mut any = (self.next..=PID_MAX).map(|new| (new, spell(written, new)));
                    let (number, new) = any.find(|(_, new)| is_free(new))?;
                    self.next = number + 1;
                    Some(new)
                })
            }
            IdLiteral::Text(content) => {
                let new = |number| [b"\"", &*tagged(content, number), b"\""].concat();
                let next = self.next_of_name.entry(content.to_vec()).or_insert(2);
                let mut all = (*next..).map(|number| (number, new(number)));
                let (number, new) = all.find(|(_, new)| is_free(new))?;
                *next = number + 1;
                Some(new)
            }
            IdLiteral::Other => None,
        }
    }
}

fn number_of(written: &[u8]) -> Option<u64> {
    match IdLiteral::of(written) {
        IdLiteral::Number { value, before, .. } if !before.starts_with(b"-") => Some(value),
        _ => None,
    }
}

/// Formats a number, in quotes if `like` is quoted.
fn spell(like: &[u8], number: u64) -> Vec<u8> {
    let quote: &[u8] = if like.starts_with(b"\"") { b"\"" } else { b"" };
    [quote, number.to_string().as_bytes(), quote].concat()
}
