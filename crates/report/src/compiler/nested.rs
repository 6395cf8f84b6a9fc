//! Nests the events of compilations as ClangBuildAnalyzer does: an event encloses each later event
//! of its thread that ends no later.

use super::names::collapsed;
use crate::found::Stretch;
use tracemill_analysis::Trace;
use tracemill_analysis::events::kinds::Kind;
use tracemill_analysis::value::space::rank;
use tracemill_trace::event::names::Names;
use tracemill_trace::order::{Keyed, SortedByKey};
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;

/// The kind of a compilation event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A whole run of the compiler.
    Compiler,
    Frontend,
    Backend,
    /// An included file.
    Source,
    /// A class or template that is parsed.
    Parse,
    /// A template that is instantiated.
    Template,
    /// The optimization of all functions.
    Module,
    /// The optimization of a function.
    Function,
}

record! { enum What { Compiler, Frontend, Backend, Source, Parse, Template, Module, Function } }

impl What {
    fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"ExecuteCompiler" => What::Compiler,
            b"Frontend" => What::Frontend,
            b"Backend" => What::Backend,
            b"Source" => What::Source,
            b"ParseClass" | b"ParseTemplate" => What::Parse,
            b"InstantiateClass" | b"InstantiateFunction" => What::Template,
            b"OptModule" => What::Module,
            b"OptFunction" => What::Function,
            _ => return None,
        })
    }
}

record! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Event {
        pub(super) thread: u32,
        pub(super) what: What,
        /// Index of the event's detail in the trace's table of texts; 0 if the event has no detail.
        pub(super) text: u32,
        /// Start in ticks (time units of the trace's clock).
        pub(super) ts: f64,
        pub(super) dur: f64,
        number: u64,
    }
}

impl Keyed for Event {
    type Key = (u32, u64, u64, u64);

    /// Sorts by start, then longest first, then last written first. Clang writes enclosed events
    /// before the events that enclose them.
    fn key(&self) -> Self::Key {
        (self.thread, rank(self.ts), !rank(self.dur), !self.number)
    }
}

/// Returns the compiler's events, sorted by thread.
pub(super) fn compiler_events(
    trace: &Trace,
    threads: &[usize],
) -> Result<SortedByKey<Event>, Error> {
    let what = |kind: &Kind| What::of(trace.names().bytes_of(kind.name));
    let of_kinds: Vec<Option<What>> = trace.kinds().iter().map(what).collect();
    let mut sorter = trace.space().sorter(1);
    for &at in threads {
        let (of_thread, thread) = (&trace.threads[at], at as u32);
        for record in trace.records(of_thread) {
            let is_event = record.phase() == b'X';
            let Some(what) = of_kinds[record.kind as usize].filter(|_| is_event) else { continue };
            let text = trace.reported_text(&record);
            let (ts, dur, number) = (record.ts, record.dur, record.number());
            sorter.push(Event { thread, what, text, ts, dur, number })?;
        }
        for included in trace.included(of_thread) {
            let (what, text, ts, dur, number) =
                (What::Source, included.text, included.ts, included.dur, included.number);
            sorter.push(Event { thread, what, text, ts, dur, number })?;
        }
    }
    sorter.finish()
}

pub(super) fn stretch_of(trace: &Trace, event: &Event) -> Stretch {
    let (clock, until) = (trace.clock(), event.ts + event.dur);
    Stretch {
        name: trace.names().text(event.text),
        thread: event.thread as usize,
        window: clock.window_of(event.ts, until),
        ts: clock.micros(event.ts),
        dur: clock.micros(event.dur),
        until: clock.micros(until),
        key: None,
        paths: Vec::new(),
        started_by: None,
    }
}

struct Open {
    /// End in ticks.
    end: f64,
    what: What,
    text: u32,
    /// Index of the compiled file's path in `Nested::paths`.
    path: u32,
    /// For a template, its set, and whether no enclosing template belongs to the same set.
    set: Option<(u32, bool)>,
    /// Only for included files. `header` is true if this file or one that includes it is a header;
    /// `other` is true if one of them is not a header.
    header: bool,
    other: bool,
}

/// The stack of open events. The events of all threads are entered in order, thread by thread.
pub(super) struct Nested<'t> {
    trace: &'t Trace,
    room: &'t Quota,
    thread: Option<u32>,
    /// Whether each input has several processes.
    shared: Vec<bool>,
    open: Vec<Open>,
    pub(super) paths: Names,
    pub(super) set_names: Names,
    /// The set of each template: maps the index of the template's name to the index of the set's
    /// name in `set_names`. Templates whose names differ only in arguments form a set.
    sets: HashMap<u32, u32>,
    /// Number of open templates in each set.
    open_sets: HashMap<u32, u32>,
}

impl<'t> Nested<'t> {
    pub(super) fn new(trace: &'t Trace, room: &'t Quota) -> Self {
        let mut first: Vec<Option<&[u8]>> = vec![None; trace.inputs.len()];
        let mut shared = vec![false; trace.inputs.len()];
        for thread in &trace.threads {
            let pid = first[thread.input_number].get_or_insert(&thread.pid);
            shared[thread.input_number] |= *pid != &*thread.pid;
        }
        Nested {
            trace,
            room,
            thread: None,
            shared,
            open: Vec::new(),
            paths: Names::default(),
            set_names: Names::default(),
            sets: HashMap::default(),
            open_sets: HashMap::default(),
        }
    }

    /// Enters the next event. Before that, leaves all open events that do not enclose it.
    pub(super) fn enter(&mut self, event: &Event) -> Result<(), Error> {
        let end = event.ts + event.dur;
        let is_other = self.thread.replace(event.thread) != Some(event.thread);
        while self.open.last().is_some_and(|open| is_other || open.end < end) {
            let left = self.open.pop();
            if let Some((set, _)) = left.and_then(|open| open.set) {
                self.open_sets.entry(set).and_modify(|count| *count -= 1);
            }
        }
        let path = self.path_within(event)?;
        let set = match event.what {
            What::Template => Some(self.set(event.text)?),
            _ => None,
        };
        let (mut header, mut other) = (false, false);
        if event.what == What::Source {
            let including = self.open.last().filter(|source| source.what == What::Source);
            let is_header = is_header(self.trace.names().bytes_of(event.text));
            header = is_header || including.is_some_and(|source| source.header);
            other = !is_header || including.is_some_and(|source| source.other);
        }
        let Event { what, text, .. } = *event;
        self.open.push(Open { end, what, text, path, set, header, other });
        Ok(())
    }

    /// Returns the compiled file of an event: the file that the event or an enclosing event names,
    /// or else the input.
    fn path_within(&mut self, event: &Event) -> Result<u32, Error> {
        use What::{Backend, Compiler, Frontend, Module};
        let tells = matches!(event.what, Compiler | Frontend | Backend | Module);
        if tells && event.text != 0 {
            return self.path_of(self.trace.names().bytes_of(event.text));
        }
        if let Some(around) = self.open.last() {
            return Ok(around.path);
        }
        let thread = &self.trace.threads[event.thread as usize];
        let name = &self.trace.inputs[thread.input_number].name;
        if self.shared[thread.input_number] {
            return self.path_of(format!("{name} (process {})", thread.pid_text()).as_bytes());
        }
        self.path_of(name.as_bytes())
    }

    fn path_of(&mut self, text: &[u8]) -> Result<u32, Error> {
        let before = self.paths.len();
        let path = self.paths.number(text);
        if self.paths.len() > before {
            self.room.take(text.len() as u64 + 24, "paths of files that were compiled")?;
        }
        Ok(path)
    }

    /// Adds a template to the open templates of its set. Returns the set, and whether no other
    /// template of the set is open.
    fn set(&mut self, text: u32) -> Result<(u32, bool), Error> {
        let set = match self.sets.get(&text) {
            Some(&set) => set,
            None => {
                let name = self.trace.names().text(text);
                let name = collapsed(&name);
                let set = self.set_names.number(name.as_bytes());
                self.sets.insert(text, set);
                self.room.take(name.len() as u64 + 60, "names of sets of templates")?;
                set
            }
        };
        let open = self.open_sets.entry(set).or_default();
        *open += 1;
        Ok((set, *open == 1))
    }

    /// Returns the compiled file of the last entered event.
    pub(super) fn path(&self) -> u32 {
        self.open.last().map_or(0, |open| open.path)
    }

    /// Returns the set of the template that was entered last. Returns `None` if an enclosing
    /// template belongs to the same set.
    pub(super) fn outermost_of_set(&self) -> Option<u32> {
        let (set, is_outermost) = self.open.last()?.set?;
        is_outermost.then_some(set)
    }

    /// Returns whether the file that was entered last is a header, and whether a source includes it
    /// directly.
    pub(super) fn header(&self) -> (bool, bool) {
        let [.., around, source] = &self.open[..] else {
            let is = self.open.last().is_some_and(|open| open.header);
            return (is, is);
        };
        let is_header = is_header(self.trace.names().bytes_of(source.text));
        (is_header, around.what != What::Source || !around.header)
    }

    /// Returns the include chain of the file that was entered last, outermost first. The chain has
    /// at most the innermost 32 files.
    pub(super) fn chain(&self) -> Vec<String> {
        const MOST: usize = 32;
        let Some((source, around)) = self.open.split_last() else { return Vec::new() };
        let files = around.iter().rev().take_while(|file| file.what == What::Source);
        let mut chain: Vec<String> =
            files.take(MOST).map(|file| self.trace.names().text(file.text)).collect();
        let is_of_other =
            around.last().is_some_and(|around| around.what == What::Source && around.other);
        // If a source is included, the chain begins with that source instead of the compiled file.
        if !is_of_other {
            chain.push(self.paths.text(source.path));
        }
        chain.reverse();
        chain
    }
}

/// Returns whether a file is a header: its extension begins with `h` or `i`, or the file has no
/// extension.
pub(super) fn is_header(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(path);
    match name.iter().rposition(|&byte| byte == b'.') {
        None => true,
        Some(dot) => matches!(name.get(dot + 1), Some(b'h' | b'H' | b'i' | b'I')),
    }
}

#[cfg(test)]
mod tests {
    use super::is_header;

    #[test]
    fn headers_are_detected_by_extension() {
        let paths =
            ["a.h", "b/c.hpp", "vector", "/usr/bin/../include/map", "x.inc", "y.HXX", "a.d\\z"];
        assert!(paths.iter().all(|path| is_header(path.as_bytes())));
        assert!(
            ["a.cpp", "b.h/c.cc", "./x.mm", "end."].iter().all(|path| !is_header(path.as_bytes()))
        );
    }
}
