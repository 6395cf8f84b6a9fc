//! Stacks of events, with the stacks of the code that scheduled them (DevTools:
//! `StackTraceForEvent`).
//!
//! ```text
//!   number   parent  value
//!   0                         the empty stack
//!   1        0       main     main
//!   2        1       f        f < main
//!   3        slot 0  timer    … scheduled as "timer" by the stack of slot 0
//!   4        3       g        g … timer … f < main
//! ```
//!
//! Stacks that share callers share nodes. A slot has the stack of an entry that scheduled a task, or
//! that is an initiator: it may be found later than the stacks that continue with it.
//!
//! Cost: one walk over each flame chart; 8 bytes per distinct stack and its index, and distinct
//! functions and call sites, on disk beyond the lease.

use crate::event_id::EventId;
use crate::python::PythonFunction;
use crate::sites::{Site, Sites};
use crate::sorted::{Row, SortedRows, Sorter};
use crate::tasks::Jump;
use tracemill_analysis::entries::Entry;
use tracemill_analysis::events::carried::stack_texts;
use tracemill_analysis::profile::functions::Frame;
use tracemill_analysis::value::space::Space;
use tracemill_analysis::{Thread, Trace};
use tracemill_trace::Error;
use tracemill_trace::event::names::Names;
use tracemill_trace::record;
use tracemill_trace::spill::hash::{HashMap, mix};
use tracemill_trace::spill::{SpillArray, SpillIndex, SpillVec, SpilledVec};

record! {
    /// A stack of the table; the default is the empty stack.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct StackId {
        pub(crate) number: u32,
    }
}

record! {
    /// A node of the table of stacks.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Node {
        /// Number of the function; for a task [`TASK`] and the number of the text of its name; for
        /// an event with an initiator [`INITIATED`] and the slot of the initiator's stack.
        value: u32,
        /// Number of the calling stack; for a task the slot of the scheduler's stack.
        parent: u32,
    }
}

/// Flag of nodes of tasks.
const TASK: u32 = 1 << 31;
/// Flag of nodes of events with an initiator. The stack around the event comes first, then that of
/// the initiator.
const INITIATED: u32 = 1 << 30;

/// The calls that one task made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// Name of the task that these calls scheduled; `None` for the calls around the event itself.
    pub task: Option<String>,
    /// Calls, innermost first.
    pub sites: Vec<Site>,
}

record! {
    /// An entry with a stack.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct StackOf {
        /// The entry.
        pub event: EventId,
        /// Its stack.
        pub stack: StackId,
    }
}

record! {
    /// An entry with whose stack others continue.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Slot {
        /// Number of the entry's stack.
        stack: u32,
        /// Number of the text of the name of the task, or of the entry.
        task: u32,
    }
}

/// A step from the inside of a stack to its outside.
enum Step {
    /// A function or call site, by its number.
    Function(u32),
    /// The calls that follow scheduled a task, or started the event; the number of its name's text.
    Task(u32),
}

/// The stacks of all entries.
pub struct Stacks {
    sites: Sites,
    nodes: SpillArray<Node>,
    slots: SpillArray<Slot>,
    /// Entries with a stack, by thread, then in pre-order.
    pub entries: SpilledVec<StackOf>,
    /// End of each thread's range in `entries`.
    ends: Vec<usize>,
}

impl Stacks {
    /// Returns the entries of a thread that have a stack, in pre-order.
    pub fn of_thread(&self, thread: usize) -> impl Iterator<Item = StackOf> + '_ {
        let end = |at: usize| self.ends.get(at).copied().unwrap_or(self.entries.len());
        let start = if thread == 0 { 0 } else { end(thread - 1) };
        self.entries.range(start..end(thread))
    }

    /// Returns the number of the innermost function of a stack, also across tasks; `None` if there
    /// is no function. The function of a call itself is skipped.
    pub(crate) fn caller(&self, stack: StackId, is_call: bool) -> Option<u32> {
        self.functions(stack).nth(usize::from(is_call))
    }

    /// Returns the number of the innermost function with a known file, also across tasks.
    pub fn innermost(&self, stack: StackId) -> Option<u32> {
        self.functions(stack).find(|&number| self.sites.has_file(number))
    }

    /// Returns the innermost function with a known file, also across tasks.
    pub fn innermost_site(&self, stack: StackId) -> Option<Site> {
        self.innermost(stack).map(|number| self.site_of(number))
    }

    /// Returns the numbers of the functions of a stack, innermost first.
    fn functions(&self, stack: StackId) -> impl Iterator<Item = u32> + '_ {
        self.steps(stack).filter_map(|step| match step {
            Step::Function(frame) => Some(frame),
            Step::Task(_) => None,
        })
    }

    /// Returns the functions of a stack, innermost first, with the tasks between them.
    fn steps(&self, stack: StackId) -> impl Iterator<Item = Step> + '_ {
        let slot = |number: u32| self.slots.get(number as usize).unwrap_or_default();
        let (mut number, mut initiator) = (stack.number, None);
        std::iter::from_fn(move || {
            loop {
                let node = self.nodes.get(number as usize).filter(|_| number != 0);
                if let Some(Node { value, parent }) = node.filter(|node| node.value & TASK == 0) {
                    number = parent;
                    if value & INITIATED == 0 {
                        return Some(Step::Function(value));
                    }
                    initiator = initiator.or_else(|| Some(slot(value & !INITIATED)));
                    continue;
                }
                let scheduler =
                    node.map(|Node { value, parent }| Slot { task: value & !TASK, ..slot(parent) });
                let Slot { stack, task } = initiator.take().or(scheduler)?;
                number = stack;
                return Some(Step::Task(task));
            }
        })
    }

    /// Returns the function with a number.
    pub fn site_of(&self, number: u32) -> Site {
        self.sites.site(number)
    }

    /// Returns the stack of an entry; the empty stack if it has none. Cost: a search through all
    /// entries.
    pub fn of(&self, event: EventId) -> StackId {
        self.entries
            .iter()
            .find(|entry| entry.event == event)
            .map(|entry| entry.stack)
            .unwrap_or_default()
    }

    /// Returns the stacks of events, in the same order; the empty stack for those that have none.
    /// Cost: a pass over all entries.
    pub fn of_all(&self, events: &[EventId]) -> Vec<StackId> {
        let mut found: HashMap<EventId, StackId> =
            events.iter().map(|event| (*event, StackId::default())).collect();
        for entry in self.entries.iter() {
            if let Some(stack) = found.get_mut(&entry.event).filter(|stack| stack.number == 0) {
                *stack = entry.stack;
            }
        }
        events.iter().map(|event| found[event]).collect()
    }

    /// Returns the calls around an event, and those of the tasks that scheduled them, up to `most`
    /// levels.
    pub fn levels(&self, stack: StackId, trace: &Trace, most: usize) -> Vec<Level> {
        let mut levels = vec![Level::default()];
        for step in self.steps(stack) {
            match step {
                Step::Function(frame) => {
                    if let Some(level) = levels.last_mut() {
                        level.sites.push(self.site_of(frame));
                    }
                }
                Step::Task(_) if levels.len() == most => break,
                Step::Task(task) => {
                    levels.push(Level { task: Some(trace.names().text(task)), sites: Vec::new() });
                }
            }
        }
        levels
    }
}

/// Builds the table of stacks.
struct Builder {
    sites: Sites,
    nodes: SpillArray<Node>,
    index: SpillIndex,
}

impl Builder {
    fn new(space: &Space) -> Result<Self, Error> {
        let mut nodes: SpillArray<Node> = space.array(4);
        nodes.push(Node::default())?;
        Ok(Builder { sites: Sites::new(space), nodes, index: space.index(8) })
    }

    /// Returns the stack of a node, adding the node if it is new.
    fn node(&mut self, node: Node) -> Result<u32, Error> {
        let hash = mix(u64::from(node.value) << 32 | u64::from(node.parent), 0x9E37_79B9_7F4A_7C15);
        let nodes = &self.nodes;
        let is_it = |number: u32| nodes.get(number as usize) == Some(node);
        if let Some(number) = self.index.find(hash, is_it) {
            return Ok(number);
        }
        let number = self.nodes.len() as u32;
        self.nodes.push(node)?;
        self.index.insert(hash, number)?;
        Ok(number)
    }

    /// Returns the number of a function of a profile; `None` for native functions.
    fn function(&mut self, frame: &Frame, names: &Names) -> Result<Option<u32>, Error> {
        if frame.is_native(names) {
            return Ok(None);
        }
        let [function, url, line, column] = [frame.function, frame.url, frame.line, frame.column]
            .map(|text| Some(names.bytes_of(text)));
        let function = function.filter(|_| !frame.is_nameless);
        self.sites.number([function, url, line, column]).map(Some)
    }

    /// Returns the number of a Python function.
    fn python(&mut self, python: PythonFunction<'_>) -> Result<u32, Error> {
        let line = python.line.map(|line| line.to_string());
        let line = line.as_deref().map(str::as_bytes);
        self.sites.number([Some(python.function), python.url, line, None])
    }

    /// Puts the call sites that an event carries over the stack around it. They replace as many
    /// calls, or come before everything if there are none (DevTools: `StackTraceForEvent.get`).
    fn put_over(&mut self, stack: u32, carried: &[u8]) -> Result<u32, Error> {
        let mut sites: Vec<u32> = Vec::new();
        let mut rest = stack;
        let has_calls = self.call(stack).is_some();
        for texts in stack_texts(carried) {
            if has_calls {
                let Some(parent) = self.call(rest) else { break };
                rest = parent;
            }
            sites.push(self.sites.number(texts)?);
        }
        sites.into_iter().rev().try_fold(rest, |parent, value| self.node(Node { value, parent }))
    }

    /// Returns the stack below the innermost call of a task's calls; `None` if there is no call.
    fn call(&self, stack: u32) -> Option<u32> {
        let node = self.nodes.get(stack as usize).filter(|_| stack != 0)?;
        (node.value & (TASK | INITIATED) == 0).then_some(node.parent)
    }
}

record! {
    /// A jump to the stack of a slot.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct ToSlot {
        pub(crate) slot: u32,
        task: u32,
    }
}

/// The entries with slots by position, and the entries that continue with their stacks.
pub(crate) struct Schedulers {
    /// [`key`](crate::tasks::Position::key) of the entry of each slot, in order.
    pub(crate) slots: SpilledVec<u64>,
    /// By [`key`](crate::tasks::Position::key) of the entry.
    pub(crate) jumps: SortedRows<1, ToSlot>,
}

impl Schedulers {
    pub(crate) fn of(jumps: &SortedRows<1, Jump>, space: &Space) -> Result<Self, Error> {
        let mut by_target: Sorter<2, u32> = space.sorter(8);
        for Row { key: [entry], value: Jump { to, task } } in jumps.iter() {
            by_target.push(Row { key: [to.key(), entry], value: task })?;
        }
        let mut slots: SpillVec<u64> = space.spool(8);
        let mut by_entry: Sorter<1, ToSlot> = space.sorter(8);
        let mut last = None;
        for Row { key: [target, entry], value: task } in by_target.finish()?.iter() {
            if last.replace(target) != Some(target) {
                slots.push(target)?;
            }
            let slot = slots.len() as u32 - 1;
            by_entry.push(Row { key: [entry], value: ToSlot { slot, task } })?;
        }
        Ok(Schedulers { slots: slots.finish()?, jumps: by_entry.finish()? })
    }
}

/// Finds the stacks of all entries. `jumps` are the asynchronous tasks of V8, or `by_format` the
/// initiators of events.
///
/// # Errors
/// Returns an I/O error if a temporary file fails.
pub(crate) fn stacks(
    trace: &Trace,
    jumps: &SortedRows<1, Jump>,
    by_format: bool,
    space: &Space,
) -> Result<Stacks, Error> {
    let schedulers = Schedulers::of(jumps, space)?;
    let mut builder = Builder::new(space)?;
    let mut calls =
        Calls { trace, by_format, of_kinds: HashMap::default(), of_profile: HashMap::default() };
    let mut slots: SpillArray<Slot> = space.array(16);
    let mut entries: SpillVec<StackOf> = space.spool(4);
    let mut ends = Vec::with_capacity(trace.threads.len());
    let mut jumps = schedulers.jumps.iter().peekable();
    let mut wanted = (0u32..).zip(schedulers.slots.iter()).peekable();
    for (number, thread) in (0u32..).zip(&trace.threads) {
        ends.extend((number > 0).then_some(entries.len()));
        if thread.entries() == 0 && thread.samples() == 0 {
            continue;
        }
        let track = trace.track(thread)?;
        calls.of_profile.clear();
        let mut open: Vec<u32> = Vec::new();
        for (ordinal, placed) in (0u32..).zip(track.entries()) {
            let position = u64::from(number) << 32 | u64::from(ordinal);
            open.truncate(placed.depth as usize);
            let entry = placed.entry;
            while jumps.next_if(|row| row.key[0] < position).is_some() {}
            let mut stack = open.last().copied().unwrap_or(0);
            if let Some(Row { value, .. }) = jumps.next_if(|row| row.key[0] == position) {
                let ToSlot { slot, task } = value;
                stack = builder.node(match by_format {
                    true => Node { value: slot | INITIATED, parent: stack },
                    false => Node { value: task | TASK, parent: slot },
                })?;
            }
            if let Some(value) = calls.of(thread, &entry, &mut builder)? {
                stack = builder.node(Node { value, parent: stack })?;
            }
            open.push(stack);
            if let Some((slot, _)) = wanted.next_if(|(_, wanted)| *wanted == position) {
                slots.resize(slot as usize + 1, Slot::default())?;
                let task =
                    if entry.is_call() { 0 } else { trace.kinds()[entry.kind as usize].name };
                slots.set(slot as usize, Slot { stack, task });
            }
            let carried = trace.carried_stack(&entry);
            let all = if carried.is_empty() { stack } else { builder.put_over(stack, &carried)? };
            if all != 0 {
                let event = EventId::of_entry(&entry, number as usize);
                entries.push(StackOf { event, stack: StackId { number: all } })?;
            }
        }
    }
    let Builder { sites, nodes, .. } = builder;
    Ok(Stacks { sites, nodes, slots, entries: entries.finish()?, ends })
}

/// The numbers of the functions of calls.
struct Calls<'t> {
    trace: &'t Trace,
    /// Whether slices of Python functions are calls.
    by_format: bool,
    of_kinds: HashMap<u32, Option<u32>>,
    /// By function of the profile of the thread.
    of_profile: HashMap<u32, Option<u32>>,
}

impl Calls<'_> {
    /// Returns the number of the function of a call; `None` for other events and native functions.
    fn of(
        &mut self,
        thread: &Thread,
        entry: &Entry,
        builder: &mut Builder,
    ) -> Result<Option<u32>, Error> {
        let (trace, kind) = (self.trace, entry.kind);
        let Some(model) = thread.model().filter(|_| entry.is_call()) else {
            return match self.of_kinds.get(&kind) {
                _ if !self.by_format => Ok(None),
                Some(&number) => Ok(number),
                None => {
                    let function = PythonFunction::of(trace.kinds()[kind as usize], trace.names());
                    let number = function.map(|function| builder.python(function)).transpose()?;
                    self.of_kinds.insert(kind, number);
                    Ok(number)
                }
            };
        };
        let function = model.node(kind).frame;
        if let Some(&number) = self.of_profile.get(&function) {
            return Ok(number);
        }
        let number = builder.function(&model.frame(kind), trace.names())?;
        self.of_profile.insert(function, number);
        Ok(number)
    }
}
