//! Renames stack frame ids of `stackFrames` and `samples` where one id has two meanings.

use super::rename::{RenamedUnit, Rewrite, frame_references};
use super::spelling::{IdMap, IdRanges, Space};
use std::borrow::Cow;
use tracemill_tokenizer::members;
use tracemill_trace::json::patch::Patches;
use tracemill_trace::json::{elements, member};
use tracemill_trace::spill::hash::HashSet;
use tracemill_trace::time::shift::TimeKind;

/// Assigns new stack frame ids. Without a rewrite, nothing is renamed.
#[derive(Default)]
pub struct FrameNames<'r> {
    rewrite: Option<&'r mut Rewrite>,
    /// Ids of all frames in the output.
    space: Space,
    /// Ids assigned to renamed frames.
    moved: Space,
    /// Recordings whose frames are in the output.
    united: HashSet<usize>,
}

impl<'r> FrameNames<'r> {
    /// Creates the renamer; `all` yields the values of all `stackFrames` keys.
    pub fn new<'v>(rewrite: &'r mut Rewrite, all: impl Iterator<Item = &'v [u8]>) -> Self {
        let all_ranges: Vec<IdRanges> = all.map(ranges).collect();
        let space = Space::new(all_ranges.iter());
        FrameNames { rewrite: Some(rewrite), space, ..FrameNames::default() }
    }

    /// Returns the renames of the input that contains the key at `offset`.
    pub fn unit_at(&self, offset: u64) -> Option<&RenamedUnit> {
        let rewrite = self.rewrite.as_deref()?;
        Some(&rewrite.units[rewrite.unit_at(offset)?])
    }

    /// Returns new ids for the frames of a document, if they are needed and possible. `clashes`:
    /// whether an id of the document already has another meaning.
    pub fn admit(&mut self, frames: &[u8], offset: u64, clashes: bool) -> Option<IdMap> {
        let rewrite = self.rewrite.as_deref_mut()?;
        let unit = rewrite.unit_at(offset)?;
        let ranges = ranges(frames);
        let first = self.united.insert(rewrite.units[unit].recording);
        let must = clashes || self.moved.overlaps(&ranges);
        if !must || !first || rewrite.keeps_frames {
            self.space.hold(&ranges);
            return None;
        }
        let map = self.space.admit(&ranges);
        self.moved.hold(&renamed_ranges(frames, &map));
        rewrite.units[unit].frames = Some(map.clone());
        Some(map)
    }
}

fn ranges(frames: &[u8]) -> IdRanges {
    let mut ranges = IdRanges::default();
    if frames.first() == Some(&b'{') {
        members(frames).for_each(|(id, _)| ranges.note(id));
    }
    ranges
}

fn renamed_ranges(frames: &[u8], map: &IdMap) -> IdRanges {
    let (mut ranges, mut new) = (IdRanges::default(), Vec::new());
    for (id, _) in members(frames) {
        new.clear();
        if map.write(id, &mut new) {
            ranges.note(&new);
        }
    }
    ranges
}

struct PatchedValue<'p> {
    value: &'p [u8],
    patches: Patches,
}

impl<'p> PatchedValue<'p> {
    fn new(value: &'p [u8]) -> Self {
        PatchedValue { value, patches: Patches::default() }
    }

    fn rename(&mut self, part: &[u8], map: &IdMap) {
        self.patches.write(self.value, part, |texts| map.write(part, texts));
    }

    fn finish(mut self) -> Vec<Cow<'p, [u8]>> {
        self.patches.put_in_order(self.value);
        let (mut pieces, mut at) = (Vec::new(), 0);
        for (old, new) in self.patches.iter() {
            pieces.push(Cow::Borrowed(&self.value[at..old.start]));
            pieces.push(Cow::Owned(new.to_vec()));
            at = old.end;
        }
        pieces.push(Cow::Borrowed(&self.value[at..]));
        pieces
    }
}

/// Renames the id of a frame, and the parent id inside the frame.
pub fn renamed_frame<'p>(
    id: &'p [u8],
    frame: &'p [u8],
    map: &IdMap,
) -> (Cow<'p, [u8]>, Vec<Cow<'p, [u8]>>) {
    let mut new = Vec::new();
    let id = if map.write(id, &mut new) { Cow::Owned(new) } else { Cow::Borrowed(id) };
    let mut pieces = PatchedValue::new(frame);
    if let Some(parent) = member(frame, b"parent") {
        pieces.rename(parent, map);
    }
    (id, pieces.finish())
}

/// Renames ids and times in a list of samples; returns the part of the list that is `within`.
pub fn renamed_samples<'p>(
    samples: &'p [u8],
    within: &'p [u8],
    unit: &RenamedUnit,
) -> Vec<Cow<'p, [u8]>> {
    let mut pieces = PatchedValue::new(within);
    for sample in elements(samples) {
        if let (Some(renames), Some(pid)) = (&unit.renames, member(sample, b"pid"))
            && let Some(new) = renames.pid(&super::processes::key_of(Some(pid)))
        {
            pieces.patches.write(within, pid, |texts| {
                texts.extend_from_slice(new);
                true
            });
        }
        if let (Some(shift), Some(ts)) = (&unit.shift, member(sample, b"ts")) {
            pieces.patches.write(within, ts, |texts| shift.write(ts, TimeKind::Micros, texts));
        }
        if let Some(map) = unit.frames.as_ref().filter(|_| sample.starts_with(b"{")) {
            frame_references(sample, |frame| pieces.rename(frame, map));
        }
    }
    pieces.finish()
}
