//! Of `stackFrames` what a part needs: the frames that its events name, with their parents. Those that no event names are in
//! no part.
//!
//! Events name frames by `sf` and `esf`, or `stack` and `estack`, which may be lists; samples beside the events by `sf`,
//! and since every part has all samples, every part has their frames. Values are an id, a number or a string. Only where a
//! trace has this key are its events read again.

use std::borrow::Cow;
use std::ops::Range;
use tracemill_tokenizer::{members, string_is, unescape};
use tracemill_trace::json::elements;
use tracemill_trace::order::Sequence;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::store::Store;
use tracemill_write::keys::MergedKeys;
use tracemill_write::layout::Layout;

/// Bytes of frames and of samples that are looked into at most, so that a table of them fits into the smallest budget. No
/// share of the budget, which must not show in the output.
const MOST: usize = 4 << 20;

/// The frames of a trace.
pub(super) struct TraceFrames {
    /// The number of the key.
    pub(super) key: usize,
    text: Vec<u8>,
    /// Members, and their frames, in the text.
    members: Vec<(Range<usize>, Range<usize>)>,
    numbers: HashMap<Vec<u8>, usize>,
    /// Frames that every part needs.
    pub(super) always: UsedFrames,
}

/// Frames that a part needs.
#[derive(Clone, Default)]
pub(super) struct UsedFrames {
    numbers: HashSet<usize>,
    /// Bytes of these frames, each with its separator.
    pub(super) bytes: u64,
}

/// Bytes of every part outside its events, without stack frames that can be told apart.
pub(super) fn bytes_around(
    layout: Layout,
    united: &MergedKeys<'_>,
    frames: Option<&TraceFrames>,
) -> u64 {
    let keys = united.for_part(frames.map(|frames| (frames.key, Vec::new())));
    layout.opening(&keys).len() as u64 + layout.closing_len(&keys)
}

impl TraceFrames {
    /// `None` if there are none, or too many to be taken apart: then every part has all.
    pub(super) fn of(united: &MergedKeys<'_>) -> Option<Self> {
        let key = united.keys.iter().rposition(|key| string_is(&key.name, b"stackFrames"))?;
        let text = text_of(&united.keys[key].value).filter(|text| text.starts_with(b"{"))?;
        let range = |piece: &[u8]| {
            let start = piece.as_ptr() as usize - text.as_ptr() as usize;
            start..start + piece.len()
        };
        let numbers = members(&text).enumerate().map(|(number, (id, _))| (id_of(id), number));
        let numbers = numbers.collect();
        let member = |(id, frame)| (range(id).start..range(frame).end, range(frame));
        let members: Vec<_> = members(&text).map(member).collect();
        if members.is_empty() {
            return None;
        }
        let mut frames = TraceFrames { key, text, members, numbers, always: UsedFrames::default() };
        // braces
        let mut always = UsedFrames { bytes: 2, ..UsedFrames::default() };
        for key in united.keys.iter().filter(|key| string_is(&key.name, b"samples")) {
            elements(&text_of(&key.value)?).for_each(|sample| frames.note(sample, &mut always));
        }
        frames.always = always;
        Some(frames)
    }

    /// The value of the key for a part.
    pub(super) fn value(&self, part: &Sequence<'_>, store: &Store<'_>) -> Vec<u8> {
        let mut used = self.always.clone();
        part.iter().for_each(|entry| self.note(store.event(entry.place), &mut used));
        // as many as are written: there may be as many parts as frames
        let mut used: Vec<usize> = used.numbers.into_iter().collect();
        used.sort_unstable();
        let used = used.into_iter().map(|number| &self.text[self.members[number].0.clone()]);
        [b"{", &*used.collect::<Vec<_>>().join(&b','), b"}"].concat()
    }

    /// Adds the frames that an event or a sample names.
    pub(super) fn note(&self, event: &[u8], used: &mut UsedFrames) {
        if !event.starts_with(b"{") {
            return;
        }
        for (key, value) in members(event) {
            if ["sf", "esf", "stack", "estack"].iter().any(|name| string_is(key, name.as_bytes())) {
                if value.starts_with(b"[") {
                    elements(value).for_each(|id| self.note_frame(id, used));
                } else {
                    self.note_frame(value, used);
                }
            }
        }
    }

    /// Adds a frame and those it stands on.
    fn note_frame(&self, id: &[u8], used: &mut UsedFrames) {
        let mut next = Some(id_of(id));
        // a frame that is there has its parents with it, and so a ring ends
        while let Some(id) = next.take()
            && let Some(&number) = self.numbers.get(&id)
            && used.numbers.insert(number)
        {
            let (member, frame) = &self.members[number];
            used.bytes += member.len() as u64 + 1;
            let parent =
                members(&self.text[frame.clone()]).filter(|(key, _)| string_is(key, b"parent"));
            next = parent.last().map(|(_, parent)| id_of(parent));
        }
    }
}

/// A value in one piece, unless it is too long.
fn text_of(value: &[Cow<'_, [u8]>]) -> Option<Vec<u8>> {
    let len: usize = value.iter().map(|piece| piece.len()).sum();
    (len <= MOST).then(|| value.concat())
}

/// An id, whether it is written as a number or as a string.
fn id_of(value: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match value {
        [b'"', content @ .., b'"'] => unescape(content, &mut plain),
        _ => plain.extend_from_slice(value),
    }
    plain
}
