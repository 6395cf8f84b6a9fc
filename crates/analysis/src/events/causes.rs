//! Events that may cause others, as the scan collects them: every event with a time, and the phases
//! of flows.
//!
//! The crate `tracemill-causes` joins them to flows and initiators.

use crate::events::carried::StackCollector;
use crate::events::devices::integer;
use crate::value::args::CauseArgs;
use crate::value::clock::Clock;
use crate::value::record::{ChunkPosition, Record};
use crate::value::typed::decode_short;
use crate::value::{Value, is_shortest, micros, named, template};
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::names::Names;
use tracemill_trace::json::member;
use tracemill_trace::observe::EventRef;
use tracemill_trace::record;
use tracemill_trace::spill::SpillVec;

/// The part of an event in causes (DevTools: `InitiatorsHandler`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CauseRole {
    /// An event that only flows can connect.
    #[default]
    Other,
    /// A start, step or end of a flow. It binds to the event around it.
    Flow,
    /// An end of a flow that binds to the next event.
    FlowToNext,
    /// A complete or begin event that starts the flow of its `bind_id`.
    StartFlow,
    /// A complete or begin event that continues the flow of its `bind_id`.
    StepFlow,
    /// A complete or begin event that ends the flow of its `bind_id`.
    EndFlow,
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
    /// Creates an asynchronous resource of Node.
    CreateResource,
    /// Runs a callback of an asynchronous resource of Node, or creates another one because of it.
    UseResource,
    /// A forward operator of PyTorch.
    Forward,
    /// The backward operator of a forward operator with the same sequence number.
    Backward,
    /// A call of `performance.measure`.
    CallMeasure,
    /// The begin of the time that such a call measures.
    BeginMeasure,
}

record! {
    enum CauseRole {
        Other, Flow, FlowToNext, StartFlow, StepFlow, EndFlow, ScheduleStyle, RecalculateStyle, InvalidateLayout, Layout,
        InstallTimer, FireTimer, RequestIdle, FireIdle, CreateSocket, UseSocket, ScheduleTask, RunTask, ScheduleAsync, RunAsync,
        CreateResource, UseResource, Forward, Backward, CallMeasure, BeginMeasure,
    }
}

impl CauseRole {
    /// Returns the role of events with this name and categories, if their phase is right too.
    pub(crate) fn of(name: &[u8], cats: &[u8]) -> Self {
        use CauseRole::*;
        let is_hook = cats.split(|&byte| byte == b',').any(|cat| cat == b"node.async_hooks");
        let is_operator = matches!(cats, b"cpu_op" | b"Operator");
        match name {
            _ if is_operator && name.starts_with(b"autograd::engine::evaluate_function") => Other,
            _ if is_operator => Forward,
            _ if is_hook && name.ends_with(b"_CALLBACK") => UseResource,
            _ if is_hook => CreateResource,
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
            b"UserTiming::Measure" => CallMeasure,
            _ => Other,
        }
    }

    /// Returns whether the event is a phase of a flow: `s`, `t` or `f`.
    pub fn is_phase_of_flow(self) -> bool {
        matches!(self, CauseRole::Flow | CauseRole::FlowToNext)
    }

    /// Returns whether events with a `bind_id` have the role.
    fn has_bind_id(self) -> bool {
        matches!(self, CauseRole::StartFlow | CauseRole::StepFlow | CauseRole::EndFlow)
    }

    fn is_of_hooks(self) -> bool {
        matches!(self, CauseRole::CreateResource | CauseRole::UseResource)
    }

    /// Returns the role of an event whose name has the role `of_name`.
    fn of_event(event: &Event<'_>, of_name: CauseRole) -> Self {
        let is = |key: &[u8], value: &[u8]| member(event.bytes, key) == Some(value);
        match event.phase() {
            b's' | b't' => CauseRole::Flow,
            b'f' if is(b"bp", b"\"e\"") => CauseRole::Flow,
            b'f' => CauseRole::FlowToNext,
            b'b' if of_name.is_of_hooks() => of_name,
            b'b' if event.field(Field::Cat) == Some(b"\"blink.user_timing\"") => {
                CauseRole::BeginMeasure
            }
            b'X' | b'B' if of_name == CauseRole::Other && event.field(Field::BindId).is_some() => {
                match (is(b"flow_in", b"true"), is(b"flow_out", b"true")) {
                    (true, true) => CauseRole::StepFlow,
                    (true, false) => CauseRole::EndFlow,
                    (false, true) => CauseRole::StartFlow,
                    (false, false) => CauseRole::Other,
                }
            }
            b'X' if !of_name.is_of_hooks() => of_name,
            _ if of_name.is_complete() || of_name.is_of_hooks() => CauseRole::Other,
            _ => of_name,
        }
    }

    /// Returns whether only complete events have the role.
    fn is_complete(self) -> bool {
        use CauseRole::*;
        matches!(self, FireTimer | FireIdle | RunTask | Forward)
    }

    /// Returns the member of `args` by which events of the role belong together.
    fn link(self, args: &CauseArgs) -> Option<&Value> {
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
            CallMeasure | BeginMeasure => Some(&args.trace_id),
            _ => None,
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
        /// Start in microseconds as written, or in ticks (time units of the trace's clock) after
        /// placing.
        pub ts: f64,
        /// Duration in the unit of `ts`; 0 if missing.
        pub dur: f64,
        /// The value that links the event to others: id of a flow, timer, frame, task, resource or
        /// measure, sequence number of an operator; of [`CauseRole::ScheduleAsync`] the task's name. 0 if
        /// there is none.
        pub id: u64,
        /// Number of the kind.
        pub kind: u32,
        /// Number of the text of pid and tid.
        pub thread: u32,
        /// Number of the input.
        pub input: u32,
        /// Nanoseconds that `ts` as written cannot represent.
        pub(crate) rest: i32,
        /// Part of the event in causes.
        pub role: CauseRole,
        /// The `ph`.
        pub phase: u8,
    }
}

/// Collects events that may cause others, and the stacks that events carry.
pub(crate) struct CauseCollector {
    pub(crate) events: SpillVec<CauseEvent>,
    pub(crate) stacks: StackCollector,
}

impl CauseEvent {
    /// Reads an event with a time; `kind_role` is the role of its name, and `thread` the number of
    /// its [`thread_text`].
    pub(crate) fn of(
        event: &Event<'_>,
        at: &EventRef,
        kind_role: CauseRole,
        kind: u32,
        thread: u32,
        names: &mut Names,
    ) -> Option<Self> {
        let EventRef { number, offset, .. } = *at;
        let ts = micros(event, Field::Ts)?;
        let role = CauseRole::of_event(event, kind_role);
        let dur = micros(event, Field::Dur).unwrap_or(0.0);
        let args = event.field(Field::Args).unwrap_or_default();
        let operator = (role == CauseRole::Forward).then(|| Operator::of(args));
        let role = operator.as_ref().map_or(role, |operator| operator.role);
        let id = match role {
            CauseRole::Forward | CauseRole::Backward => operator.map_or(0, |operator| operator.id),
            CauseRole::Other | CauseRole::RunAsync => 0,
            _ if role.is_phase_of_flow() => link_id(&template(event.field(Field::Id)), names),
            _ if role.has_bind_id() => link_id(&template(event.field(Field::BindId)), names),
            _ if role.is_of_hooks() => event.field(Field::Id).and_then(resource).unwrap_or(0),
            _ => {
                let args: CauseArgs = decode_short(args);
                match role.link(&args) {
                    None => 0,
                    Some(name) if role == CauseRole::ScheduleAsync => {
                        u64::from(names.number(&name.template())) | TEXT
                    }
                    Some(id) => link_id(&id.template(), names),
                }
            }
        };
        let (phase, rest) = (event.phase(), 0);
        Some(CauseEvent { number, offset, ts, dur, id, kind, thread, input: 0, rest, role, phase })
    }

    /// Sets the nanoseconds that `ts` cannot represent.
    pub(crate) fn with_rest(self, nanos: i64) -> Self {
        CauseEvent { rest: nanos as i32, ..self }
    }

    /// Returns the event that creates a resource of Node as a use of the resource that triggers it.
    pub(crate) fn triggered(&self, event: &Event<'_>) -> Option<Self> {
        if self.role != CauseRole::CreateResource {
            return None;
        }
        let args: CauseArgs = decode_short(event.field(Field::Args)?);
        let trigger = args.data.0?.trigger_async_id.number()?;
        Some(CauseEvent { id: trigger as u64, role: CauseRole::UseResource, ..*self })
    }

    /// Converts the times as written to the trace's clock.
    pub(crate) fn placed(self, clock: Clock, place: &InputPlace) -> Self {
        let CauseEvent { number, ts, dur, kind, phase, rest, .. } = self;
        let mut record = Record::new(ts, dur, kind, 0, number, phase).with_rest(rest.into());
        match clock.origin() {
            Some(_) => clock.place(&mut record, place.offset()),
            None => record.ts = place.moved(ts),
        }
        CauseEvent { ts: record.ts, dur: record.dur, ..self }
    }

    /// Returns the event after the earlier events of its input, with numbers of the merged tables.
    pub(crate) fn after(self, chunk: ChunkPosition, kind: u32, texts: &[u32]) -> Self {
        let text = |number: u64| u64::from(texts[number as usize]);
        let id = match self.role {
            role if role.is_of_hooks() => self.id,
            _ if self.id & TEXT == 0 => self.id,
            _ => text(self.id & !TEXT) | TEXT,
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

/// Returns the text of a thread in [`CauseEvent::thread`].
pub fn thread_text(pid: &[u8], tid: &[u8]) -> Vec<u8> {
    [pid, b"\0", tid].concat()
}

/// Returns the pid and tid of a [`thread_text`].
pub(crate) fn ids_of(thread: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(0, thread).unwrap_or(thread.len());
    (&thread[..end], thread.get(end + 1..).unwrap_or_default())
}

/// Returns the id of an asynchronous resource of Node: a string with a hexadecimal number.
fn resource(id: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(id).ok()?.trim_matches('"');
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// An operator of PyTorch.
struct Operator {
    role: CauseRole,
    /// Sequence number, which a forward operator and its backward operator share, plus 1; 0 if there
    /// is none.
    id: u64,
}

impl Operator {
    /// Reads `args`. Backward operators have the thread of their forward operator, counted from 1.
    fn of(args: &[u8]) -> Self {
        let found = named(args, [b"Sequence number", b"Fwd thread id"]);
        let [number, thread] = found.map(|value| value.and_then(integer));
        let role = if thread > Some(0) { CauseRole::Backward } else { CauseRole::Forward };
        Operator { role, id: number.and_then(|id| u64::try_from(id).ok()).map_or(0, |id| id + 1) }
    }
}

/// Flag of ids that are numbers of texts.
const TEXT: u64 = 1 << 63;
/// Flag of ids that are hexadecimal numbers.
const HEX: u64 = 1 << 62;

/// Returns the id of a text that links events; 0 for an empty text. Equal ids are equal texts.
/// Numbers need no memory, because most traces have as many of them as events.
fn link_id(text: &[u8], names: &mut Names) -> u64 {
    if is_shortest(text) {
        return text.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')) + 1;
    }
    match hexadecimal(text) {
        _ if text.is_empty() => 0,
        Some(number) => number | HEX,
        None => u64::from(names.number(text)) | TEXT,
    }
}

/// Returns the number of a text such as `0x1f`: at most 60 bits, in lower case, without zeros in
/// front. Other texts are not the only ones of their number.
fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").filter(|digits| digits.len() <= 15)?;
    let is_digit = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let is_only = digits.first() != Some(&b'0') && digits.iter().all(is_digit);
    u64::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| is_only)?, 16).ok()
}
