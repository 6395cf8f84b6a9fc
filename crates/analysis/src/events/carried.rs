//! Stacks that events carry in their `args`.

use crate::value::Value;
use crate::value::args::{CauseArgs, CauseData};
use crate::value::shortest;
use crate::value::space::Space;
use crate::value::typed::{Object, decode_short};
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::names::Names;
use tracemill_trace::spill::{SpillVec, SpilledVec};
use tracemill_trace::{Error, record};

record! {
    /// The place of the stack of an event.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct StackPlace {
        /// Number of the event among all.
        event: u64,
        offset: u64,
        len: u32,
    }
}

/// The stacks of a chunk; equal stacks once.
#[derive(Default)]
pub(crate) struct StacksOfChunk {
    /// Number of each event in the chunk, and of its stack in `texts`.
    events: Vec<(u64, u32)>,
    texts: Names,
}

impl StacksOfChunk {
    /// Adds the stack of the `number_in`th event of the chunk, whose name is `name`.
    pub(crate) fn note(&mut self, event: &Event<'_>, name: &[u8], number_in: u64) {
        if let Some(stack) = payload_stack(event, name) {
            self.events.push((number_in, self.texts.number(&stack)));
        }
    }
}

/// Collects the stacks of a scan, in memory or in files beyond the lease.
pub(crate) struct StackCollector {
    places: SpillVec<StackPlace>,
    bytes: SpillVec<u8>,
}

impl StackCollector {
    pub(crate) fn new(space: &Space) -> Self {
        StackCollector { places: space.spool(16), bytes: space.spool(16) }
    }

    /// Adds the stacks of the next chunk, whose first event has the number `first`.
    pub(crate) fn append(&mut self, chunk: &StacksOfChunk, first: u64) -> Result<(), Error> {
        let mut offsets: Vec<u64> = Vec::with_capacity(chunk.texts.len());
        for number in 0..chunk.texts.len() as u32 {
            offsets.push(self.bytes.len() as u64);
            self.bytes.extend(chunk.texts.bytes_of(number))?;
        }
        for &(event, text) in &chunk.events {
            let (offset, len) = (offsets[text as usize], chunk.texts.bytes_of(text).len() as u32);
            self.places.push(StackPlace { event: first + event, offset, len })?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<CarriedStacks, Error> {
        Ok(CarriedStacks { places: self.places.finish()?, bytes: self.bytes.finish()? })
    }
}

/// The stacks that events carry, by event.
#[derive(Default)]
pub(crate) struct CarriedStacks {
    places: SpilledVec<StackPlace>,
    bytes: SpilledVec<u8>,
}

impl CarriedStacks {
    /// Returns the stack of an event as [`stack_texts`] reads it; empty if it carries none. Cost: a
    /// binary search.
    pub(crate) fn of(&self, event: u64) -> Vec<u8> {
        let at = self.places.partition_point(|place| place.event < event);
        let place = self.places.get(at).filter(|place| place.event == event);
        place.map_or_else(Vec::new, |StackPlace { offset, len, .. }| {
            self.bytes.range(offset as usize..offset as usize + len as usize).collect()
        })
    }
}

/// Appends a frame to a stack as [`stack_texts`] reads it.
pub fn push_site(out: &mut Vec<u8>, texts: StackTexts<'_>) {
    for text in texts {
        let len = text.map_or(u32::MAX, |text| text.len() as u32);
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(text.unwrap_or_default());
    }
}

/// Function, URL, line and column of a frame, as JavaScript writes them; lines and columns count
/// from 0. `None` is a missing member.
pub type StackTexts<'s> = [Option<&'s [u8]>; 4];

/// Returns the frames of a stack that an event carries, innermost first.
pub fn stack_texts(mut stack: &[u8]) -> impl Iterator<Item = StackTexts<'_>> {
    let mut text = move || {
        let (len, rest) = stack.split_first_chunk::<4>()?;
        let len = u32::from_le_bytes(*len);
        let text = (len != u32::MAX).then(|| &rest[..len as usize]);
        stack = &rest[text.map_or(0, <[u8]>::len)..];
        Some(text)
    };
    std::iter::from_fn(move || Some([text()?, text()?, text()?, text()?]))
}

/// Returns the stack that an event carries in `args`, without native functions (DevTools:
/// `getZeroIndexedStackTraceInEventPayload`); `None` if it carries none.
fn payload_stack(event: &Event<'_>, name: &[u8]) -> Option<Vec<u8>> {
    let mut args: CauseArgs = decode_short(event.field(Field::Args)?);
    let is_call = name == b"FunctionCall" && event.phase() != b'I';
    let data = args.data.0.as_mut().filter(|_| is_call);
    let called = data.and_then(CauseData::frame_of_call);
    let begin =
        args.begin_data.0.as_mut().filter(|_| matches!(name, b"Layout" | b"UpdateLayoutTree"));
    let in_data = args.data.0.as_mut().and_then(|data| data.stack_trace.0.take());
    let stack = in_data
        .or_else(|| args.stack_trace.0.take())
        .or_else(|| begin.and_then(|begin| begin.stack_trace.0.take()))
        .unwrap_or_else(|| called.map(|frame| Object(Some(frame))).into_iter().collect());
    let counts_from_one = matches!(
        name,
        b"ScheduleStyleRecalculation"
            | b"InvalidateLayout"
            | b"FunctionCall"
            | b"Layout"
            | b"UpdateLayoutTree"
    ) || event.field(Field::Cat) == Some(b"\"blink.user_timing\"");
    let mut out = Vec::new();
    for frame in stack.iter().filter_map(|frame| frame.0.as_ref()) {
        let place = |value: &Value| {
            let number = value.number()?;
            // DevTools leaves 0 as it is.
            Some(if counts_from_one && number != 0.0 { number - 1.0 } else { number })
        };
        let (line, column) = (place(&frame.line_number), place(&frame.column_number));
        let is_native = (line, column) == (Some(-1.0), Some(-1.0))
            && frame.url.text() == Some(b"")
            && &*frame.script_id.template() == b"0";
        if is_native {
            continue;
        }
        let [line, column] = [line, column].map(|place| place.map(shortest));
        let [line, column] = [&line, &column].map(|place| place.as_deref().map(str::as_bytes));
        push_site(&mut out, [frame.function_name.text(), frame.url.text(), line, column]);
    }
    (!out.is_empty()).then_some(out)
}
