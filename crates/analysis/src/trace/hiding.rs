//! Finds the entries that the keys of DevTools' stored view name (`EventsSerializer`).

use crate::events::meta::ThreadId;
use crate::events::modifications::{Hidden, Key, Modifications};
use crate::trace::{Thread, Trace, id_text};
use std::collections::BTreeMap;
use tracemill_trace::Error;
use tracemill_trace::spill::hash::{HashMap, HashSet};

impl Trace {
    /// Returns the entries that the stored view hides. If any key names no entry, returns no
    /// entries.
    ///
    /// Cost: computes the calls of the threads that keys name.
    pub(crate) fn hidden_entries(&self, modifications: &Modifications) -> Result<Hidden, Error> {
        let Some(keys) = &modifications.keys else { return Ok(Hidden::default()) };
        let mut wanted: BTreeMap<[i64; 2], HashSet<(i64, u64)>> = BTreeMap::new();
        for key in keys {
            if let Key::Call([pid, tid, sample, node]) = *key {
                wanted.entry([pid, tid]).or_default().insert((sample, node as u64));
            }
        }
        let mut by_ids: HashMap<[String; 2], &Thread> = HashMap::default();
        for thread in self.threads.iter().filter(|_| !wanted.is_empty()) {
            by_ids.entry([&thread.pid, &thread.tid].map(|id| id_text(id))).or_insert(thread);
        }
        let mut found: HashMap<[i64; 2], ThreadId> = HashMap::default();
        for (ids, calls) in &wanted {
            let texts = ids.map(|id| id.to_string());
            let thread = by_ids.get(&texts).filter(|_| !self.is_cpu_profile);
            let Some((thread, model)) =
                thread.and_then(|known| Some((known, known.model.as_deref()?)))
            else {
                return Ok(Hidden::default());
            };
            let mut missing = calls.clone();
            let track = self.track(thread)?;
            for call in track.calls.iter().flat_map(|track_calls| track_calls.iter()) {
                let node = model.node(call.node).id;
                missing.remove(&(i64::from(call.sample as i32), node));
            }
            if !missing.is_empty() {
                return Ok(Hidden::default());
            }
            found.insert(*ids, (thread.pid.clone(), thread.tid.clone()));
        }
        let mut hidden = Hidden::default();
        for key in &keys[..modifications.hidden] {
            match *key {
                Key::Event(number) => drop(hidden.events.insert(number)),
                Key::Call([pid, tid, sample, node]) => {
                    let thread = found[&[pid, tid]].clone();
                    hidden.calls.entry(thread).or_default().insert((sample, node as u64));
                }
                Key::Other => {}
            }
        }
        Ok(hidden)
    }
}
