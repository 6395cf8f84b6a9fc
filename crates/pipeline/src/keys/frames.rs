//! `stackFrames` of several documents in one.

use super::{Bytes, STACK_FRAMES, United, open};
use crate::identity::{FrameNames, IdMap, renamed_frame};
use std::collections::HashMap;
use tracemill_core::outline::KeyValue;
use tracemill_tokenizer::members;

/// Ids and frames of the united `stackFrames`.
#[derive(Default)]
pub(super) struct Frames<'p> {
    known: HashMap<&'p [u8], &'p [u8]>,
    started: bool,
}

impl<'p> Frames<'p> {
    /// New names for the frames of another document, where they clash and may have some.
    pub(super) fn admit(
        &mut self,
        united: &United<'p>,
        key: &KeyValue,
        value: &'p [u8],
        names: &mut FrameNames<'_>,
    ) -> Option<IdMap> {
        if !std::mem::replace(&mut self.started, true)
            && let Some(at) = united.stack_frames
        {
            let first = united.keys[at].value.first();
            if let Some(Bytes::Input(first)) = first {
                self.known.extend(members(first));
            }
        }
        names.admit(value, key.offset, self.clash(value).is_some())
    }

    /// The id of a frame that has another meaning already.
    fn clash(&self, value: &'p [u8]) -> Option<&'p [u8]> {
        let is_other =
            |(id, frame): &(&[u8], &[u8])| self.known.get(id).is_some_and(|k| k != frame);
        members(value).find(is_other).map(|(id, _)| id)
    }

    /// Adds the frames of another document; the id of a frame that has two meanings if there is one and no new name.
    pub(super) fn unite(
        &mut self,
        united: &mut United<'p>,
        name: &[u8],
        value: &'p [u8],
        map: Option<IdMap>,
    ) -> Result<(), &'p [u8]> {
        if let (Some(id), None) = (self.clash(value), &map) {
            return Err(id);
        }
        let Some(at) = united.stack_frames else {
            self.known.extend(members(value));
            united.append(STACK_FRAMES, name, vec![Bytes::Input(value)]);
            return Ok(());
        };
        let whole = &mut united.keys[at].value;
        match map {
            None => {
                for (id, frame) in members(value) {
                    if self.known.insert(id, frame).is_none() {
                        push_frame(whole, Bytes::Input(id), vec![Bytes::Input(frame)]);
                    }
                }
            }
            Some(map) => members(value).for_each(|frame| push_renamed(whole, frame, &map)),
        }
        Ok(())
    }
}

fn push_renamed<'p>(whole: &mut Vec<Bytes<'p>>, frame: (&'p [u8], &'p [u8]), map: &IdMap) {
    let (id, frame) = renamed_frame(frame, map);
    push_frame(whole, id, frame);
}

fn push_frame<'p>(whole: &mut Vec<Bytes<'p>>, id: Bytes<'p>, frame: Vec<Bytes<'p>>) {
    let close = open(whole);
    whole.push(id);
    whole.push(Bytes::Made(b":".to_vec()));
    whole.extend(frame);
    whole.push(Bytes::Made(close));
}
