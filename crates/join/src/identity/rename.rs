//! Finds renamed ids and shifted times in events, and patches them.

use super::processes::{CanonicalId, key_of};
use super::spelling::IdMap;
use super::{each_args_key, each_id};
use crate::clock::each_moved;
use std::ops::Range;
use std::sync::Arc;
use tracemill_tokenizer::{Event, Field, FieldFinder, Tier, members, string_is};
use tracemill_trace::json::patch::Patches;
use tracemill_trace::json::{elements, member};
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::store::direct_mapped::{DirectMappedCache, SmallKey};
use tracemill_trace::time::shift::{Shift, TimeKind};

/// Events that name processes in `args.data`.
const FRAME_EVENTS: [&[u8]; 3] =
    [b"TracingStartedInBrowser", b"FrameCommittedInBrowser", b"ProcessReadyInBrowser"];

/// The end of the `processId` keys, as written.
const PROCESS_ID: &[u8] = b"processId\"";

/// New pids and ids of a recording.
#[derive(Clone, Debug, Default)]
pub struct Renames {
    pub(crate) pids: HashMap<CanonicalId, Vec<u8>>,
    /// New ids: first those of the `id` fields, then those of each `--args-key`.
    pub(crate) ids: Vec<IdMap>,
    args_keys: Vec<Vec<u8>>,
}

impl Renames {
    pub(super) fn new(
        pids: HashMap<CanonicalId, Vec<u8>>,
        ids: Vec<IdMap>,
        args_keys: &[String],
    ) -> Option<Self> {
        if pids.is_empty() && ids.iter().all(|map| *map == IdMap::default()) {
            return None;
        }
        let args_keys = args_keys.iter().map(|key| key.clone().into_bytes()).collect();
        Some(Renames { pids, ids, args_keys })
    }

    /// Returns the new pid for the key of an old pid.
    pub fn pid(&self, key: &[u8]) -> Option<&Vec<u8>> {
        self.pids.get(key)
    }

    /// Returns whether only ids outside `args` change.
    fn are_ids_alone(&self) -> bool {
        self.pids.is_empty() && self.args_keys.is_empty()
    }

    pub(crate) fn ids_change(&self) -> bool {
        self.ids.iter().any(|map| *map != IdMap::default())
    }
}

/// Renames and time shifts of all inputs.
#[derive(Clone, Debug, Default)]
pub struct Rewrite {
    /// Renames and shift of each input, in order of their base.
    pub units: Vec<RenamedUnit>,
    /// Whether stack frames are never renamed.
    pub(crate) keeps_frames: bool,
}

/// Renames and time shift of the events from a base onward.
#[derive(Clone, Debug, Default)]
pub struct RenamedUnit {
    /// First offset of the input in the address space.
    pub base: u64,
    /// Number of the recording.
    pub recording: usize,
    /// New pids and ids, if any.
    pub renames: Option<Arc<Renames>>,
    /// New ids of stack frames, only where they clash.
    pub frames: Option<IdMap>,
    /// The shift of times, if any.
    pub shift: Option<Arc<Shift>>,
}

impl RenamedUnit {
    /// Returns whether any event of the unit may change.
    pub fn changes(&self) -> bool {
        self.renames.is_some() || self.frames.is_some() || self.shift.is_some()
    }
}

impl Rewrite {
    /// Returns whether no unit changes.
    pub fn is_empty(&self) -> bool {
        !self.units.iter().any(RenamedUnit::changes)
    }

    /// Returns the index of the unit that contains an offset.
    pub fn unit_at(&self, offset: u64) -> Option<usize> {
        self.units.partition_point(|unit| unit.base <= offset).checked_sub(1)
    }
}

/// Finds renames in events; each worker has its own renamer.
pub struct Renamer<'r> {
    rewrite: &'r Rewrite,
    finder: FieldFinder,
    /// The current unit: offset range and index.
    unit: (Range<u64>, usize),
    pids: RenamedPids,
}

/// Cache of new pids by unit and by the old pid as written.
#[derive(Default)]
struct RenamedPids {
    by_spelling: HashMap<(usize, Vec<u8>), usize>,
    texts: Vec<Option<Vec<u8>>>,
    recent: DirectMappedCache,
}

impl RenamedPids {
    #[inline]
    fn get(&mut self, unit: usize, pid: &[u8], renames: &Renames) -> Option<&[u8]> {
        let words = SmallKey::numbered(pid, unit);
        let known = words.and_then(|words| self.recent.get(words));
        let at = known.unwrap_or_else(|| {
            let at = self.find(unit, pid, renames);
            words.into_iter().for_each(|words| self.recent.put(words, at));
            at
        });
        self.texts[at].as_deref()
    }

    #[inline(never)]
    fn find(&mut self, unit: usize, pid: &[u8], renames: &Renames) -> usize {
        *self.by_spelling.entry((unit, pid.to_owned())).or_insert_with(|| {
            self.texts.push(renames.pid(&key_of(Some(pid))).cloned());
            self.texts.len() - 1
        })
    }
}

impl<'r> Renamer<'r> {
    /// Creates a renamer, for one worker.
    pub fn new(rewrite: &'r Rewrite, tier: Tier) -> Self {
        let finder = FieldFinder::new(tier);
        Renamer { rewrite, finder, unit: (0..0, 0), pids: RenamedPids::default() }
    }

    fn unit_at(&mut self, offset: u64) -> Option<&'r RenamedUnit> {
        if !self.unit.0.contains(&offset) {
            let number = self.rewrite.unit_at(offset)?;
            let start = self.rewrite.units[number].base;
            let end = self.rewrite.units.get(number + 1).map_or(u64::MAX, |unit| unit.base);
            self.unit = (start..end, number);
        }
        Some(&self.rewrite.units[self.unit.1]).filter(|unit| unit.changes())
    }

    /// Adds the patches of the event at an offset.
    pub fn find(&mut self, event: &[u8], offset: u64, patches: &mut Patches) {
        let Some(unit) = self.unit_at(offset) else { return };
        if let Some(shift) = &unit.shift {
            let spans = self.finder.find(event);
            let mut found = PatchedEvent { event, patches };
            let event = spans.of(event);
            if let Some(renames) = &unit.renames {
                self.pids.find_names(&event, self.unit.1, renames, &mut found);
            }
            each_moved(shift, &event, |value, kind| found.moved(value, kind, shift));
        } else if let Some(renames) = &unit.renames
            // most events have no ids
            && (!renames.are_ids_alone() || self.finder.may_have_ids(event))
        {
            let mut found = PatchedEvent { event, patches };
            let all;
            let spans = if renames.args_keys.is_empty() {
                self.finder.find_ids(event, PROCESS_ID)
            } else {
                all = self.finder.find(event);
                &all
            };
            self.pids.find_names(&spans.of(event), self.unit.1, renames, &mut found);
        }
        if let Some(frames) = &unit.frames {
            let mut found = PatchedEvent { event, patches };
            frame_references(event, |value| found.renamed(value, frames));
        }
    }
}

impl RenamedPids {
    /// Finds renamed pids and ids in an event; `unit` is the unit's index. The caller has located
    /// at least the ids, and all fields if the event contains [`PROCESS_ID`].
    fn find_names(
        &mut self,
        event: &Event<'_>,
        unit: usize,
        renames: &Renames,
        found: &mut PatchedEvent<'_, '_>,
    ) {
        if !renames.pids.is_empty() {
            self.find_pids(event, unit, renames, found);
        }
        if renames.ids_change() {
            each_id(event, event.phase(), |id| found.renamed(id, &renames.ids[0]));
            each_args_key(event, &renames.args_keys, |key, id| {
                found.renamed(id, &renames.ids[1 + key]);
            });
        }
    }

    fn find_pids(
        &mut self,
        event: &Event<'_>,
        unit: usize,
        renames: &Renames,
        found: &mut PatchedEvent<'_, '_>,
    ) {
        let mut replace = |pid: &[u8]| {
            if let Some(new) = self.get(unit, pid, renames) {
                found.replaced(pid, new);
            }
        };
        if let Some(pid) = event.field(Field::Pid) {
            replace(pid);
        }
        if names_processes(event) {
            each_process_id(event.field(Field::Args).unwrap_or_default(), replace);
        }
    }
}

struct PatchedEvent<'e, 'p> {
    event: &'e [u8],
    patches: &'p mut Patches,
}

impl PatchedEvent<'_, '_> {
    fn replaced(&mut self, value: &[u8], new: &[u8]) {
        self.patches.write(self.event, value, |texts| {
            texts.extend_from_slice(new);
            true
        });
    }

    fn renamed(&mut self, value: &[u8], map: &IdMap) {
        self.patches.write(self.event, value, |texts| map.write(value, texts));
    }

    fn moved(&mut self, value: &[u8], kind: TimeKind, shift: &Shift) {
        self.patches.write(self.event, value, |texts| shift.write(value, kind, texts));
    }
}

/// Returns whether an event is one of [`FRAME_EVENTS`]. The first byte excludes most events, except
/// for escaped names.
#[inline]
fn names_processes(event: &Event<'_>) -> bool {
    matches!(event.field_and_rest(Field::Name), Some([b'"', b'T' | b'F' | b'P' | b'\\', ..]))
        && FRAME_EVENTS.iter().any(|name| event.is_string(Field::Name, name))
}

/// Calls `found` for `data.processId` and `data.frames[].processId` in `args`.
pub fn each_process_id<'a>(args: &'a [u8], mut found: impl FnMut(&'a [u8])) {
    let Some(data) = member(args, b"data") else { return };
    if let Some(pid) = member(data, b"processId") {
        found(pid);
    }
    let frames = elements(member(data, b"frames").unwrap_or_default());
    frames.filter_map(|frame| member(frame, b"processId")).for_each(found);
}

/// Calls `found` for the values of `sf` and `esf` in an event or sample. The last of equal members
/// wins.
pub(crate) fn frame_references<'e>(event: &'e [u8], mut found: impl FnMut(&'e [u8])) {
    let mut last = [None; 2];
    for (key, value) in members(event) {
        for (name, last) in [&b"sf"[..], b"esf"].iter().zip(&mut last) {
            if string_is(key, name) {
                *last = Some(value);
            }
        }
    }
    last.into_iter().flatten().for_each(&mut found);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::spelling::Shift;

    fn renamed(event: &str) -> String {
        let new = [("7", "10000007"), ("\"7\"", "\"x\"")];
        let key = |pid: &str| key_of(Some(pid.as_bytes()));
        let pids = new.map(|(old, new)| (key(old), new.as_bytes().to_vec()));
        let shift = Some(Shift::Add(0x100));
        let ids = IdMap { decimal: None, hex: shift, tag: Some(2) };
        let keys = IdMap { decimal: Some(Shift::Add(10)), hex: None, tag: None };
        let renames = Renames {
            pids: pids.into_iter().collect(),
            ids: vec![ids, keys.clone()],
            args_keys: vec![b"External id".to_vec()],
        };
        let unit = RenamedUnit {
            base: 5,
            recording: 1,
            renames: Some(Arc::new(renames)),
            frames: Some(keys),
            shift: None,
        };
        let rewrite = Rewrite { units: vec![RenamedUnit::default(), unit], keeps_frames: false };
        let mut renamer = Renamer::new(&rewrite, Tier::Scalar);
        let mut patches = Patches::default();
        renamer.find(event.as_bytes(), 4, &mut patches);
        assert!(patches.is_empty());
        renamer.find(event.as_bytes(), 5, &mut patches);
        patches.put_in_order(event.as_bytes());
        let longer = patches.longer();
        let out = String::from_utf8(patches.apply(event.as_bytes())).unwrap();
        assert_eq!(out.len() as i64, event.len() as i64 + longer);
        out
    }

    #[test]
    fn only_what_the_table_says_is_renamed() {
        for (event, expected) in [
            (
                r#"{"pid":1,"ph":"X", "pid" : 7 ,"id":"0x1"}"#,
                r#"{"pid":1,"ph":"X", "pid" : 10000007 ,"id":"0x1"}"#,
            ),
            (r#"{"pid":"7","id":"0x1","ph":"b"}"#, r#"{"pid":"x","id":"0x101","ph":"b"}"#),
            (
                r#"{"id2":{"local":"0x1","global":"a"},"ph":"e","pid":8,"bind_id":"0x2"}"#,
                r#"{"id2":{"local":"0x101","global":"a#2"},"ph":"e","pid":8,"bind_id":"0x102"}"#,
            ),
            (
                r#"{"args":{"External id":5,"pid":7},"sf":3,"ph":"X"}"#,
                r#"{"args":{"External id":15,"pid":7},"sf":13,"ph":"X"}"#,
            ),
            (
                r#"{"name":"TracingStartedInBrowser","args":{"data":{"frames":[{"processId":7},{}]}},"ph":"I"}"#,
                r#"{"name":"TracingStartedInBrowser","args":{"data":{"frames":[{"processId":10000007},{}]}},"ph":"I"}"#,
            ),
        ] {
            assert_eq!(renamed(event), expected);
        }
    }
}
