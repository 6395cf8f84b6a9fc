//! Merges the `stackFrames` of several documents.

use crate::keys::merged_keys::{MergedKeys, STACK_FRAMES, open};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::ops::Range;
use tracemill_join::identity::{FrameNames, IdMap, renamed_frame};
use tracemill_tokenizer::members;
use tracemill_trace::event::envelope::KeyValue;

/// The frames merged so far.
#[derive(Default)]
pub(super) struct MergedFrames<'p> {
    known: FrameTable<'p>,
    started: bool,
}

/// Frames by id. Each frame is one slice that begins with its id, to save memory in inputs that are
/// mostly frames.
#[derive(Default)]
struct FrameTable<'p>(HashTable<&'p [u8]>);

fn hash_of(id: &[u8]) -> u64 {
    FixedState::default().hash_one(id)
}

/// Returns the key of an object member (`"id": frame`), with its quotes.
fn id_of(member: &[u8]) -> &[u8] {
    let mut escaped = false;
    let end = member[1..].iter().position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    &member[..end.map_or(member.len(), |end| end + 2)]
}

impl<'p> FrameTable<'p> {
    fn get(&self, id: &[u8]) -> Option<&'p [u8]> {
        // ids end with a quote, so no id is a prefix of another
        let member = self.0.find(hash_of(id), |known| known.starts_with(id))?;
        let frame = member[id.len()..].trim_ascii_start();
        Some(frame.strip_prefix(b":").unwrap_or(frame).trim_ascii_start())
    }

    /// Adds a member of `value`, or replaces the frame with the same id. Returns whether the id was
    /// new.
    fn insert(&mut self, value: &'p [u8], id: &'p [u8], frame: &'p [u8]) -> bool {
        let member = &value[offset_in(value, id)..offset_in(value, frame) + frame.len()];
        let is_same = |known: &&[u8]| known.starts_with(id);
        match self.0.entry(hash_of(id), is_same, |known| hash_of(id_of(known))) {
            Entry::Occupied(mut known) => {
                *known.get_mut() = member;
                false
            }
            Entry::Vacant(vacant) => {
                vacant.insert(member);
                true
            }
        }
    }

    fn extend(&mut self, value: &'p [u8]) {
        members(value).for_each(|(id, frame)| {
            self.insert(value, id, frame);
        });
    }
}

fn offset_in(value: &[u8], part: &[u8]) -> usize {
    part.as_ptr() as usize - value.as_ptr() as usize
}

impl<'p> MergedFrames<'p> {
    /// Returns new ids for the frames of another document, if its frames conflict and may be
    /// renamed.
    pub(super) fn admit(
        &mut self,
        united: &MergedKeys<'p>,
        key: &KeyValue,
        value: &'p [u8],
        names: &mut FrameNames<'_>,
    ) -> Option<IdMap> {
        if !std::mem::replace(&mut self.started, true)
            && let Some(at) = united.stack_frames
        {
            let first = united.keys[at].value.first();
            if let Some(Cow::Borrowed(first)) = first {
                self.known.extend(first);
            }
        }
        names.admit(value, key.offset, self.clash(value).is_some())
    }

    /// Returns the first id in `value` that already has a different frame.
    fn clash(&self, value: &'p [u8]) -> Option<&'p [u8]> {
        let is_other =
            |(id, frame): &(&[u8], &[u8])| self.known.get(id).is_some_and(|known| known != *frame);
        members(value).find(is_other).map(|(id, _)| id)
    }

    /// Adds the frames of another document. Without a `map`, returns the first conflicting id as an
    /// error.
    pub(super) fn unite(
        &mut self,
        united: &mut MergedKeys<'p>,
        name: &[u8],
        value: &'p [u8],
        map: Option<IdMap>,
    ) -> Result<(), &'p [u8]> {
        if let (Some(id), None) = (self.clash(value), &map) {
            return Err(id);
        }
        let Some(at) = united.stack_frames else {
            self.known.extend(value);
            united.append(STACK_FRAMES, name, vec![Cow::Borrowed(value)]);
            return Ok(());
        };
        let mut joined = JoinedMembers::to(&mut united.keys[at].value, value);
        for (id, frame) in members(value) {
            match &map {
                None if self.known.insert(value, id, frame) => joined.push(id, frame),
                None => {}
                Some(map) => {
                    let (id, frame) = renamed_frame(id, frame, map);
                    joined.push_pieces(std::iter::once(&id).chain([&COLON]).chain(&frame));
                }
            }
        }
        joined.finish();
        Ok(())
    }
}

const COLON: Cow<'static, [u8]> = Cow::Borrowed(b":");

/// Appends members to an object in as few slices as possible.
struct JoinedMembers<'w, 'p> {
    whole: &'w mut Vec<Cow<'p, [u8]>>,
    /// The closing bracket of the object, once it is removed.
    close: Option<Vec<u8>>,
    value: &'p [u8],
    /// Range of adjacent members in `value` that are not appended yet.
    run: Range<usize>,
}

impl<'w, 'p> JoinedMembers<'w, 'p> {
    fn to(whole: &'w mut Vec<Cow<'p, [u8]>>, value: &'p [u8]) -> Self {
        JoinedMembers { whole, close: None, value, run: 0..0 }
    }

    fn push(&mut self, id: &'p [u8], frame: &'p [u8]) {
        let (start, of_frame) = (offset_in(self.value, id), offset_in(self.value, frame));
        let end = of_frame + frame.len();
        if of_frame != start + id.len() + 1 {
            return self.push_pieces([Cow::Borrowed(id), COLON, Cow::Borrowed(frame)].iter());
        }
        if !self.run.is_empty() && start == self.run.end + 1 && self.value[self.run.end] == b',' {
            self.run.end = end;
            return;
        }
        self.separate();
        self.run = start..end;
    }

    fn push_pieces<'m>(&mut self, pieces: impl Iterator<Item = &'m Cow<'p, [u8]>>)
    where
        'p: 'm,
    {
        self.separate();
        pieces.for_each(|piece| self.put(piece));
    }

    /// Appends the pending range, and a comma if needed.
    fn separate(&mut self) {
        self.flush();
        match self.close {
            None => self.close = Some(open(self.whole)),
            Some(_) => self.put(b","),
        }
    }

    fn flush(&mut self) {
        let run = std::mem::take(&mut self.run);
        if !run.is_empty() {
            self.whole.push(Cow::Borrowed(&self.value[run]));
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        match self.whole.last_mut() {
            Some(Cow::Owned(buffer)) => buffer.extend_from_slice(bytes),
            _ => self.whole.push(Cow::Owned(bytes.to_vec())),
        }
    }

    fn finish(mut self) {
        self.flush();
        if let Some(close) = self.close.take() {
            self.whole.push(Cow::Owned(close));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: &[Cow<'_, [u8]>]) -> String {
        pieces.iter().map(|piece| String::from_utf8_lossy(piece)).collect()
    }

    #[test]
    fn members_are_appended_in_few_pieces() {
        for (first, second, all) in [
            (
                r#"{"1":{}}"#,
                r#"{"2":{},"3":{"a":1},"4":{}}"#,
                r#"{"1":{},"2":{},"3":{"a":1},"4":{}}"#,
            ),
            (r#"{}"#, r#"{"2":{}, "3":{},"4" : {},"5":{}}"#, r#"{"2":{},"3":{},"4":{},"5":{}}"#),
            (r#"{ "1" : {} }"#, r#"{"1":{},"2":{},"1":{},"3":{}}"#, r#"{ "1" : {},"2":{},"3":{}}"#),
            (r#"{"1":{}}"#, r#"{"1":{}}"#, r#"{"1":{}}"#),
        ] {
            let (mut known, value) = (FrameTable::default(), second.as_bytes());
            known.extend(first.as_bytes());
            let mut whole = vec![Cow::Borrowed(first.as_bytes())];
            let mut joined = JoinedMembers::to(&mut whole, value);
            members(value).for_each(|(id, frame)| {
                if known.insert(value, id, frame) {
                    joined.push(id, frame);
                }
            });
            joined.finish();
            assert_eq!(text(&whole), all);
        }
    }

    #[test]
    fn adjacent_members_become_one_piece() {
        let frames: Vec<String> = (0..1000).map(|id| format!(r#""{id}":{{"name":"f"}}"#)).collect();
        let value = format!("{{{}}}", frames.join(","));
        let mut whole = vec![Cow::from(&b"{}"[..])];
        let mut joined = JoinedMembers::to(&mut whole, value.as_bytes());
        members(value.as_bytes()).for_each(|(id, frame)| joined.push(id, frame));
        joined.finish();
        assert!(whole.len() < 5, "{}", whole.len());
        assert_eq!(text(&whole), value);
    }

    #[test]
    fn frames_are_found_by_complete_ids() {
        let many = format!(
            "{{{}}}",
            (0..999).map(|id| format!("\"x{id}\":{id}")).collect::<Vec<_>>().join(",")
        );
        let mut known = FrameTable::default();
        let value = br#"{"1":{"a":1},"12" : {} ,"a\"b":3}"#;
        known.extend(value);
        assert_eq!(known.get(b"\"1\""), Some(&b"{\"a\":1}"[..]));
        assert_eq!(known.get(b"\"12\""), Some(&b"{}"[..]));
        assert_eq!(known.get(b"\"2\""), None);
        // the table grows, which hashes the ids again
        known.extend(many.as_bytes());
        assert_eq!(known.get(br#""a\"b""#), Some(&b"3"[..]));
        assert_eq!(known.get(b"\"x998\""), Some(&b"998"[..]));
    }
}
