//! Finds renamed ids and shifted times in events, and patches them.

use super::offsets::IdOffsets;
use super::processes::{CanonicalId, key_of};
use super::spelling::IdMap;
use super::{each_args_key, each_id, each_pid};
use crate::clock::each_moved;
use std::ops::Range;
use std::sync::Arc;
use tracemill_tokenizer::{Event, FieldFinder, Tier, members, string_is, value_at};
use tracemill_trace::json::patch::Patches;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::store::direct_mapped::{DirectMappedCache, SmallKey};
use tracemill_trace::time::shift::{Shift, TimeKind};

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
    /// Offsets of the pids and ids that `renames` may change, if all are known.
    pub(crate) offsets: Option<Arc<IdOffsets>>,
    /// New ids of stack frames, only where they clash.
    pub frames: Option<IdMap>,
    /// The shift of times, if any.
    pub shift: Option<Arc<Shift>>,
}

impl RenamedUnit {
    /// Creates the unit of events that stay as they are, from `base` onward.
    pub fn unchanged(base: u64) -> Self {
        RenamedUnit { base, ..RenamedUnit::default() }
    }

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
    /// The search in each unit, and the unit of the last event.
    units: Vec<SearchedUnit<'r>>,
    current: usize,
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
        let (finder, pids) = (FieldFinder::new(tier), RenamedPids::default());
        let ends = rewrite.units.iter().skip(1).map(|unit| unit.base).chain([u64::MAX]);
        let units = rewrite.units.iter().zip(ends);
        let units = units.map(|(unit, end)| SearchedUnit::new(unit, end)).collect();
        Renamer { rewrite, finder, units, current: 0, pids }
    }

    /// Adds the patches of the event at an offset.
    pub fn find(&mut self, event: &[u8], offset: u64, patches: &mut Patches) {
        let is_here = |unit: &SearchedUnit<'_>| unit.range.contains(&offset);
        if !self.units.get(self.current).is_some_and(is_here) {
            let Some(number) = self.rewrite.unit_at(offset) else { return };
            self.current = number;
        }
        let Some(searched) = self.units.get(self.current) else { return };
        let Some(unit) = searched.changing else { return };
        if let Some(known) = searched.offsets {
            let at = offset - unit.base;
            let (pids, number, mut found) =
                (&mut self.pids, self.current, PatchedEvent { event, patches });
            known.offsets.each_within(at..at + event.len() as u64, |value| {
                let text = || value_at(event, (value.offset - at) as usize);
                match value.is_id {
                    true if known.ids => found.renamed(text(), &known.renames.ids[0]),
                    false if known.pids => pids.replace(text(), number, known.renames, &mut found),
                    _ => {}
                }
            });
        } else if unit.renames.is_some() || unit.shift.is_some() {
            self.search(unit, event, patches);
        }
        if let Some(frames) = &unit.frames {
            let mut found = PatchedEvent { event, patches };
            frame_references(event, |value| found.renamed(value, frames));
        }
    }

    /// Searches an event of the current unit for values that change.
    #[inline(never)]
    fn search(&mut self, unit: &RenamedUnit, event: &[u8], patches: &mut Patches) {
        let (number, mut found) = (self.current, PatchedEvent { event, patches });
        let spans = self.finder.find(event);
        let event = spans.of(event);
        if let Some(renames) = &unit.renames {
            self.pids.find_names(&event, number, renames, &mut found);
        }
        if let Some(shift) = &unit.shift {
            each_moved(shift, &event, |value, kind| found.moved(value, kind, shift));
        }
    }
}

/// How values that change are found in the events of a unit.
struct SearchedUnit<'r> {
    range: Range<u64>,
    /// The unit, if any event of it changes.
    changing: Option<&'r RenamedUnit>,
    /// The values, if they need no search.
    offsets: Option<KnownOffsets<'r>>,
}

/// The offsets of values, and whether any pid and any id changes.
#[derive(Clone, Copy)]
struct KnownOffsets<'r> {
    offsets: &'r IdOffsets,
    renames: &'r Renames,
    pids: bool,
    ids: bool,
}

impl<'r> SearchedUnit<'r> {
    fn new(unit: &'r RenamedUnit, end: u64) -> Self {
        let known = unit.offsets.as_deref().zip(unit.renames.as_deref());
        let known = known.filter(|_| unit.shift.is_none());
        SearchedUnit {
            range: unit.base..end,
            changing: Some(unit).filter(|unit| unit.changes()),
            offsets: known.map(|(offsets, renames)| KnownOffsets {
                offsets,
                renames,
                pids: !renames.pids.is_empty(),
                ids: renames.ids_change(),
            }),
        }
    }
}

impl RenamedPids {
    /// Finds renamed pids and ids in an event; `unit` is the unit's index.
    fn find_names(
        &mut self,
        event: &Event<'_>,
        unit: usize,
        renames: &Renames,
        found: &mut PatchedEvent<'_, '_>,
    ) {
        if !renames.pids.is_empty() {
            each_pid(event, |pid| self.replace(pid, unit, renames, found));
        }
        if renames.ids_change() {
            each_id(event, |id| found.renamed(id, &renames.ids[0]));
            each_args_key(event, &renames.args_keys, |key, id| {
                found.renamed(id, &renames.ids[1 + key]);
            });
        }
    }

    #[inline]
    fn replace(
        &mut self,
        pid: &[u8],
        unit: usize,
        renames: &Renames,
        found: &mut PatchedEvent<'_, '_>,
    ) {
        if let Some(new) = self.get(unit, pid, renames) {
            found.replaced(pid, new);
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
    use crate::identity::processes::{IdFilter, ProcessFindings, Processes};
    use crate::identity::spelling::Shift;
    use tracemill_testkit::Rng;
    use tracemill_tokenizer::visit_event;

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
            offsets: None,
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

    /// Members in any order, some twice, with white space, escapes and values that are no ids.
    fn random_event(rng: &mut Rng) -> String {
        let mut members: Vec<&str> = [
            r#""pid":7"#,
            r#""pid" : "7""#,
            r#""pid":12345678"#,
            r#""tid":1"#,
            r#""id":"0x1f""#,
            r#""id":17"#,
            r#""id2":{"local":"0x1", "global" :"a"}"#,
            r#""id2":{}"#,
            r#""bind_id":"0x2""#,
            r#""\u0069d":null"#,
            r#""name":"TracingStartedInBrowser""#,
            r#""name":"Fr\u0061meCommittedInBrowser""#,
            r#""args":{"data":{"processId":7,"frames":[{"processId":8},{"processId":7}]}}"#,
            r#""args":{"pid":7,"id":"0x1"}"#,
        ]
        .into_iter()
        .filter(|_| rng.chance(40))
        .collect();
        members.push(["\"ph\":\"b\"", "\"ph\":\"X\""][rng.index(2)]);
        rng.shuffle(&mut members);
        format!("{{{}}}", members.join(","))
    }

    #[test]
    fn renaming_at_offsets_equals_a_search() {
        let lease = tracemill_trace::run::memory::Lease::alone(1 << 20, "");
        let filter = IdFilter { args_keys: Vec::new(), offsets: Some(lease) };
        let (mut findings, mut processes) =
            (ProcessFindings::new(Arc::new(filter)), Processes::default());
        let (rng, mut events, mut offset) = (&mut Rng::new(1), Vec::new(), 0);
        for _ in 0..2_000 {
            offset += 1 + rng.below(9);
            let event = random_event(rng);
            visit_event(event.as_bytes(), offset, |event| findings.note(event, None));
            events.push((offset, event));
            offset += events.last().map_or(0, |(_, event)| event.len() as u64);
        }
        processes.append(findings, 0);
        let offsets = Some(Arc::new(processes.offsets));
        let ids =
            IdMap { decimal: Some(Shift::Add(100)), hex: Some(Shift::Add(0x100)), tag: Some(2) };
        let pids = || [("7", "10000007"), ("8", "9"), ("\"7\"", "\"x\"")].into_iter();
        let pids = pids().map(|(old, new)| (key_of(Some(old.as_bytes())), new.as_bytes().to_vec()));
        let pids: HashMap<_, _> = pids.collect();
        for (pids, ids) in
            [(pids.clone(), IdMap::default()), (HashMap::default(), ids.clone()), (pids, ids)]
        {
            let renames = Renames::new(pids, vec![ids], &[]).map(Arc::new);
            let unit = |offsets| RenamedUnit {
                renames: renames.clone(),
                offsets,
                ..RenamedUnit::unchanged(77)
            };
            let rewrite = |offsets| Rewrite { units: vec![unit(offsets)], keeps_frames: false };
            let rewrites = [rewrite(offsets.clone()), rewrite(None)];
            let mut renamers = rewrites.each_ref().map(|all| Renamer::new(all, Tier::Scalar));
            let mut changed = 0;
            for (offset, event) in &events {
                let [known, searched] = renamers.each_mut().map(|renamer| {
                    let mut patches = Patches::default();
                    renamer.find(event.as_bytes(), 77 + offset, &mut patches);
                    String::from_utf8(patches.apply(event.as_bytes())).unwrap()
                });
                assert_eq!(known, searched, "{event}");
                changed += usize::from(known != *event);
            }
            assert!(changed > 500, "{changed}");
        }
    }
}
