//! Selects the `stackFrames` of a part: the frames that its events refer to, and their parents.
//!
//! Events refer to frames by `sf` and `esf`, or by `stack` and `estack`, which may be lists;
//! samples by `sf`. All parts have all samples and their frames. Events are read again only if the
//! trace has the key `stackFrames`.

use std::borrow::Cow;
use std::ops::Range;
use tracemill_tokenizer::{members, string_is, unescape};
use tracemill_trace::json::elements;
use tracemill_trace::order::Sequence;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::store::Store;
use tracemill_write::keys::MergedKeys;
use tracemill_write::layout::Layout;

/// Maximum bytes of frames or samples to analyze. Independent of the memory limit, which must not
/// affect the output.
const MOST: usize = 4 << 20;

pub(super) struct TraceFrames {
    /// The index of the `stackFrames` key.
    pub(super) key: usize,
    text: Vec<u8>,
    /// Ranges in the text: of each member, and of its frame.
    members: Vec<(Range<usize>, Range<usize>)>,
    numbers: HashMap<Vec<u8>, usize>,
    /// Frames that all parts need.
    pub(super) always: UsedFrames,
}

/// The frames that a part needs.
#[derive(Clone, Default)]
pub(super) struct UsedFrames {
    numbers: HashSet<usize>,
    /// Total bytes of these frames, with separators.
    pub(super) bytes: u64,
}

/// Returns the bytes of each part outside its events, without stack frames.
pub(super) fn bytes_around(
    layout: Layout,
    united: &MergedKeys<'_>,
    frames: Option<&TraceFrames>,
) -> u64 {
    let keys = united.for_part(frames.map(|frames| (frames.key, Vec::new())));
    layout.opening(&keys).len() as u64 + layout.closing_len(&keys)
}

impl TraceFrames {
    /// Parses the stack frames. Returns `None` if there are no frames or too many; then each part
    /// has all frames.
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
        // the braces
        let mut always = UsedFrames { bytes: 2, ..UsedFrames::default() };
        for key in united.keys.iter().filter(|key| string_is(&key.name, b"samples")) {
            elements(&text_of(&key.value)?).for_each(|sample| frames.note(sample, &mut always));
        }
        frames.always = always;
        Some(frames)
    }

    /// Returns the value of `stackFrames` for a part.
    pub(super) fn value(&self, part: &Sequence<'_>, store: &Store<'_>) -> Vec<u8> {
        let mut used = self.always.clone();
        part.iter().for_each(|entry| self.note(store.event(entry.place), &mut used));
        // allocates for used frames only, as there may be as many parts as frames
        let mut used: Vec<usize> = used.numbers.into_iter().collect();
        used.sort_unstable();
        let used = used.into_iter().map(|number| &self.text[self.members[number].0.clone()]);
        [b"{", &*used.collect::<Vec<_>>().join(&b','), b"}"].concat()
    }

    /// Adds the frames that an event or a sample refers to.
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

    fn note_frame(&self, id: &[u8], used: &mut UsedFrames) {
        let mut next = Some(id_of(id));
        // known frames have their parents already, which also ends cycles
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

/// Joins the pieces of a value. Returns `None` if the value is too long.
fn text_of(value: &[Cow<'_, [u8]>]) -> Option<Vec<u8>> {
    let len: usize = value.iter().map(|piece| piece.len()).sum();
    (len <= MOST).then(|| value.concat())
}

/// Returns an id that is equal for numbers and strings.
fn id_of(value: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match value {
        [b'"', content @ .., b'"'] => unescape(content, &mut plain),
        _ => plain.extend_from_slice(value),
    }
    plain
}
