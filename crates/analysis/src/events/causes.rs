//! Events that may cause others, as the scan collects them: every event with a time, and the phases
//! of flows.
//!
//! The crate `tracemill-causes` joins them to flows and initiators.

use crate::value::args::CauseArgs;
use crate::value::record::ChunkPosition;
use crate::value::shortest;
use crate::value::typed::decode_short;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::names::Names;
use tracemill_trace::observe::EventRef;
use tracemill_trace::record;

/// The part of an event in causes (DevTools: `InitiatorsHandler`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CauseRole {
    /// An event that only flows can connect.
    #[default]
    Other,
    /// A start, step or end of a flow.
    Flow,
    /// Schedules a style recalculation of a frame.
    ScheduleStyle,
    /// Recalculates the styles of a frame.
    RecalculateStyle,
    /// Invalidates the layout of a frame.
    InvalidateLayout,
    /// Lays out a frame.
    Layout,
    /// Installs a timer.
    InstallTimer,
    /// Runs a timer.
    FireTimer,
    /// Requests an idle callback.
    RequestIdle,
    /// Runs an idle callback.
    FireIdle,
    /// Creates a WebSocket.
    CreateSocket,
    /// Uses a WebSocket.
    UseSocket,
    /// Schedules a callback of `postTask`.
    ScheduleTask,
    /// Runs or aborts a callback of `postTask`.
    RunTask,
    /// Schedules an asynchronous task of V8.
    ScheduleAsync,
    /// Runs an asynchronous task of V8.
    RunAsync,
}

record! {
    enum CauseRole {
        Other, Flow, ScheduleStyle, RecalculateStyle, InvalidateLayout, Layout, InstallTimer, FireTimer, RequestIdle, FireIdle,
        CreateSocket, UseSocket, ScheduleTask, RunTask, ScheduleAsync, RunAsync,
    }
}

impl CauseRole {
    /// Returns the role of events with this name, if their phase is right too.
    pub(crate) fn of(name: &[u8]) -> Self {
        use CauseRole::*;
        match name {
            b"ScheduleStyleRecalculation" => ScheduleStyle,
            b"UpdateLayoutTree" => RecalculateStyle,
            b"InvalidateLayout" => InvalidateLayout,
            b"Layout" => Layout,
            b"TimerInstall" => InstallTimer,
            b"TimerFire" => FireTimer,
            b"RequestIdleCallback" => RequestIdle,
            b"FireIdleCallback" => FireIdle,
            b"WebSocketCreate" => CreateSocket,
            b"WebSocketSendHandshakeRequest"
            | b"WebSocketReceiveHandshakeResponse"
            | b"WebSocketDestroy"
            | b"WebSocketSend"
            | b"WebSocketReceive" => UseSocket,
            b"SchedulePostTaskCallback" => ScheduleTask,
            b"RunPostTaskCallback" | b"AbortPostTaskCallback" => RunTask,
            b"v8::Debugger::AsyncTaskScheduled" => ScheduleAsync,
            b"v8::Debugger::AsyncTaskRun" => RunAsync,
            _ => Other,
        }
    }

    /// Returns whether DevTools takes the role only from complete events.
    fn is_complete(self) -> bool {
        matches!(self, CauseRole::FireTimer | CauseRole::FireIdle | CauseRole::RunTask)
    }

    /// Returns the member of `args` by which events of the role belong together.
    fn link(self, args: &CauseArgs) -> Option<&crate::value::Value> {
        use CauseRole::*;
        let data = || args.data.0.as_ref();
        let begin = || args.begin_data.0.as_ref();
        match self {
            ScheduleStyle | InvalidateLayout => data().map(|data| &data.frame),
            RecalculateStyle | Layout => begin().map(|begin| &begin.frame),
            InstallTimer | FireTimer => data().map(|data| &data.timer_id),
            RequestIdle | FireIdle => data().map(|data| &data.id),
            CreateSocket | UseSocket => data().map(|data| &data.identifier),
            ScheduleTask | RunTask => data().map(|data| &data.task_id),
            ScheduleAsync => Some(&args.task_name),
            Other | Flow | RunAsync => None,
        }
    }
}

record! {
    /// An event that may cause others.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CauseEvent {
        /// Number of the event among all.
        pub number: u64,
        /// Offset of the event in the address space of the inputs.
        pub offset: u64,
        /// Microseconds as written.
        pub ts: f64,
        /// Duration in microseconds; 0 if missing.
        pub dur: f64,
        /// Id of a flow. Elsewhere the number of the text that links it to other events, or 0.
        pub id: u64,
        /// Number of the kind.
        pub kind: u32,
        /// Number of the text of pid and tid.
        pub thread: u32,
        /// Number of the input.
        pub input: u32,
        /// Part of the event in causes.
        pub role: CauseRole,
        /// The `ph`.
        pub phase: u8,
    }
}

impl CauseEvent {
    /// Reads an event with a time; `kind_role` is the role of its name.
    pub(crate) fn of(
        event: &Event<'_>,
        at: &EventRef,
        kind_role: CauseRole,
        kind: u32,
        names: &mut Names,
    ) -> Option<Self> {
        let EventRef { number, offset, .. } = *at;
        let phase = event.phase();
        let ts = crate::value::micros(event, Field::Ts)?;
        let role = match phase {
            b's' | b't' | b'f' => CauseRole::Flow,
            b'X' => kind_role,
            _ if kind_role.is_complete() => CauseRole::Other,
            _ => kind_role,
        };
        let dur = crate::value::micros(event, Field::Dur).unwrap_or(0.0);
        let id = match role {
            CauseRole::Flow => flow_id(event, names),
            CauseRole::Other | CauseRole::RunAsync => 0,
            _ => {
                let args: CauseArgs = decode_short(event.field(Field::Args).unwrap_or_default());
                role.link(&args).map_or(0, |value| u64::from(names.number(&value.template())))
            }
        };
        let [pid, tid] =
            [Field::Pid, Field::Tid].map(|field| event.field(field).unwrap_or_default());
        let thread = names.number(&[pid, b"\0", tid].concat());
        Some(CauseEvent { number, offset, ts, dur, id, kind, thread, input: 0, role, phase })
    }

    /// Returns the event after the earlier events of its input, with numbers of the merged tables.
    pub(crate) fn after(self, chunk: ChunkPosition, kind: u32, texts: &[u32]) -> Self {
        let text = |number: u64| u64::from(texts[number as usize]);
        let id = match self.role {
            CauseRole::Flow if self.id & TEXT == 0 => self.id,
            CauseRole::Flow => text(self.id & !TEXT) | TEXT,
            _ => text(self.id),
        };
        CauseEvent {
            number: self.number + chunk.first,
            id,
            kind,
            thread: texts[self.thread as usize],
            input: chunk.input as u32,
            ..self
        }
    }
}

/// Flag of flow ids that are numbers of texts.
const TEXT: u64 = 1 << 63;

/// Returns the id of a flow: an integer itself, or the number of its text.
fn flow_id(event: &Event<'_>, names: &mut Names) -> u64 {
    let id = event.field(Field::Id);
    let digits = id.filter(|id| id.len() < 16).and_then(|id| std::str::from_utf8(id).ok());
    match digits.and_then(|digits| digits.parse::<u64>().ok()) {
        Some(number) => number,
        None => u64::from(names.number(&crate::value::template(id))) | TEXT,
    }
}

/// Appends a frame of a stack to a text that equal stacks share. `None` is a missing member.
fn push_text(out: &mut Vec<u8>, text: Option<&[u8]>) {
    let len = text.map_or(u32::MAX, |text| text.len() as u32);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(text.unwrap_or_default());
}

/// Function, URL, line and column of a frame, as JavaScript writes them; lines and columns count
/// from 0. `None` is a missing member.
pub type StackTexts<'s> = [Option<&'s [u8]>; 4];

/// Returns the frames of a stack that [`payload_stack`] wrote, innermost first.
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
pub(crate) fn payload_stack(event: &Event<'_>, name: &[u8]) -> Option<Vec<u8>> {
    let mut args: CauseArgs = decode_short(event.field(Field::Args)?);
    let own_frame = (name == b"FunctionCall" && event.phase() != b'I')
        .then(|| args.data.0.as_mut().and_then(|data| data.frame_of_call()))
        .flatten();
    let begin =
        args.begin_data.0.as_mut().filter(|_| matches!(name, b"Layout" | b"UpdateLayoutTree"));
    let in_data = args.data.0.as_mut().and_then(|data| data.stack_trace.0.take());
    let stack = in_data
        .or_else(|| args.stack_trace.0.take())
        .or_else(|| begin.and_then(|begin| begin.stack_trace.0.take()))
        .unwrap_or_else(|| {
            own_frame.map(|frame| crate::value::typed::Object(Some(frame))).into_iter().collect()
        });
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
        let place = |value: &crate::value::Value| {
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
        push_text(&mut out, frame.function_name.text());
        push_text(&mut out, frame.url.text());
        push_text(&mut out, line.map(shortest).as_deref().map(str::as_bytes));
        push_text(&mut out, column.map(shortest).as_deref().map(str::as_bytes));
    }
    (!out.is_empty()).then_some(out)
}
