//! New pids of processes whose own an earlier recording has.
//!
//! In the order of the inputs, a pid that an earlier recording has is renamed. The new one shows the old:
//! pid 4711 becomes 10004711, then 20004711 and so on, the first that no input has and nobody was given. Where that
//! would be beyond 32 bits, or the old one has more than seven digits or a sign, it is the first free number from
//! 10,000,000 on. A name gets `#2`, `#3`, … behind it. With `offset`, all pids of the k-th input (from 0) grow by k
//! times the power of ten above all pids.

use super::input_unit::InputUnit;
use super::processes::{CanonicalId, InputProcess, key_of};
use super::spelling::{IdLiteral, tagged};
use crate::config::{PidPolicy, StatedInput};
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// New pids show the old one below this.
const STEP: u64 = 10_000_000;
/// Pids and tids of Perfetto have 32 bits.
const PID_MAX: u64 = u32::MAX as u64;

/// By old pids, those with their new ones.
pub(super) type StatedPids<'s> = HashMap<CanonicalId, &'s (String, String)>;

/// The pids that a manifest gives, each with its old one, by that; of several of one old pid the first counts.
pub(super) fn stated_pids(stated: &StatedInput) -> StatedPids<'_> {
    let pairs = stated.pids.iter().rev();
    pairs.map(|pair| (key_of(Some(pair.0.as_bytes())), pair)).collect()
}

/// Gives out pids.
pub(super) struct Pids {
    policy: PidPolicy,
    /// All that any input has, and all given out.
    used: HashSet<CanonicalId>,
    /// Pids that a recording has already, or was given.
    taken: HashSet<CanonicalId>,
    /// Where the search for any free number goes on.
    next: u64,
    /// Where the search for a free number behind a name goes on.
    next_of_name: HashMap<Vec<u8>, u64>,
    /// With `offset`: what each input's pids grow by.
    step: u64,
    /// With `offset`: the numbers of the units that are inputs of their own.
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
                // pids that were assigned to profiles, which know of no trace; those of their names are true
                if unit.made && value.is_some_and(|value| value >= STEP) {
                    taken.insert(key.clone());
                }
            }
            if let Some(stated) = &unit.stated {
                taken.extend(stated.pids.iter().map(|(_, new)| key_of(Some(new.as_bytes()))));
            }
            if !unit.made {
                ordinals.insert(number, ordinals.len() as u64);
            }
        }
        let step = 10u64.pow(greatest.checked_ilog10().unwrap_or(0) + 1);
        Pids { policy, used, taken, next: STEP, next_of_name: HashMap::default(), step, ordinals }
    }

    /// The pid of a process that is new to its recording; `None` if it keeps its own.
    pub(super) fn give(
        &mut self,
        unit: &InputUnit,
        stated: Option<&StatedPids<'_>>,
        number: usize,
        key: &CanonicalId,
        process: &InputProcess,
    ) -> Option<Vec<u8>> {
        if unit.made || self.policy == PidPolicy::Keep {
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

    /// The old pid grown by what the input's pids grow by, if that can be.
    fn offset(&self, written: &[u8], ordinal: u64) -> Option<Vec<u8>> {
        let value = number_of(written)?.checked_add(ordinal.checked_mul(self.step)?)?;
        let new = spell(written, value);
        (value <= PID_MAX && !self.used.contains(&key_of(Some(&new)))).then_some(new)
    }

    /// The first pid that shows the old one, or any; `None` for what is neither number nor name.
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

/// The number that a pid is, if it is one without a sign.
fn number_of(written: &[u8]) -> Option<u64> {
    match IdLiteral::of(written) {
        IdLiteral::Number { value, before, .. } if !before.starts_with(b"-") => Some(value),
        _ => None,
    }
}

/// A number with quotes if `like` has them.
fn spell(like: &[u8], number: u64) -> Vec<u8> {
    let quote: &[u8] = if like.starts_with(b"\"") { b"\"" } else { b"" };
    [quote, number.to_string().as_bytes(), quote].concat()
}
