//! The parts of a compilation, one in the other, as ClangBuildAnalyzer nests them: on a thread an event stands in those that last as long.

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

/// A part of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// One run of it all.
    Compiler,
    Frontend,
    Backend,
    /// A file that is included.
    Source,
    /// A class or a template that is parsed.
    Parse,
    /// A template that is instantiated.
    Template,
    /// All functions that are optimized.
    Module,
    /// One of these.
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
    /// An event of the compiler.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Event {
        pub(super) thread: u32,
        pub(super) what: What,
        /// What it is of; 0 if that is not told.
        pub(super) text: u32,
        /// Ticks.
        pub(super) ts: f64,
        pub(super) dur: f64,
        number: u64,
    }
}

impl Keyed for Event {
    type Key = (u32, u64, u64, u64);

    /// What begins first; then what lasts longer; then what was written later, since clang writes what is within before.
    fn key(&self) -> Self::Key {
        (self.thread, rank(self.ts), !rank(self.dur), !self.number)
    }
}

/// The events of the compiler's parts, thread by thread.
pub(super) fn compiler_events(
    trace: &Trace,
    threads: &[usize],
) -> Result<SortedByKey<Event>, Error> {
    let what = |kind: &Kind| What::of(trace.names().bytes_of(kind.name));
    let of_kinds: Vec<Option<What>> = trace.kinds().iter().map(what).collect();
    let mut sorter = trace.space().sorter(1);
    for &at in threads {
        let (of_thread, thread) = (&trace.threads[at], at as u32);
        for own in trace.records(of_thread) {
            let is_event = own.phase() == b'X';
            let Some(what) = of_kinds[own.kind as usize].filter(|_| is_event) else { continue };
            let text = trace.reported_text(&own);
            let (ts, dur, number) = (own.ts, own.dur, own.number());
            sorter.push(Event { thread, what, text, ts, dur, number })?;
        }
        for own in trace.included(of_thread) {
            let (what, text, ts, dur, number) =
                (What::Source, own.text, own.ts, own.dur, own.number);
            sorter.push(Event { thread, what, text, ts, dur, number })?;
        }
    }
    sorter.finish()
}

/// What ran on a thread at a time.
pub(super) fn stretch_of(trace: &Trace, event: &Event) -> Stretch {
    let (clock, until) = (trace.clock(), event.ts + event.dur);
    Stretch {
        name: trace.names().text(event.text),
        thread: event.thread as usize,
        window: clock.window_of((event.ts, until)),
        ts: clock.micros(event.ts),
        dur: clock.micros(event.dur),
        until: clock.micros(until),
        key: None,
        paths: Vec::new(),
    }
}

/// An event that is open.
struct Open {
    /// When it ends, in ticks.
    end: f64,
    what: What,
    text: u32,
    /// What is compiled.
    path: u32,
    /// Of a template its set, and whether it is the outermost of that.
    set: Option<(u32, bool)>,
    /// Of a file: whether it, or one that includes it, is a header, and whether one of them is none.
    header: bool,
    other: bool,
}

/// Which events are open: entered one by one, thread by thread.
pub(super) struct Nested<'t> {
    trace: &'t Trace,
    room: &'t Quota,
    thread: Option<u32>,
    /// Of inputs with several processes.
    shared: Vec<bool>,
    open: Vec<Open>,
    /// Files that are compiled.
    pub(super) paths: Names,
    /// What sets are called.
    pub(super) set_names: Names,
    /// The sets of names.
    sets: HashMap<u32, u32>,
    /// How many of each set are open.
    open_sets: HashMap<u32, u32>,
}

impl<'t> Nested<'t> {
    pub(super) fn new(trace: &'t Trace, room: &'t Quota) -> Self {
        let mut first: Vec<Option<&[u8]>> = vec![None; trace.inputs.len()];
        let mut shared = vec![false; trace.inputs.len()];
        for thread in &trace.threads {
            let own = first[thread.input_number].get_or_insert(&thread.pid);
            shared[thread.input_number] |= *own != &*thread.pid;
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

    /// Enters the next event: what it does not stand in is left.
    pub(super) fn enter(&mut self, event: &Event) -> Result<(), Error> {
        let end = event.ts + event.dur;
        let is_other = self.thread.replace(event.thread) != Some(event.thread);
        while self.open.last().is_some_and(|own| is_other || own.end < end) {
            let left = self.open.pop();
            if let Some((set, _)) = left.and_then(|own| own.set) {
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
            let including = self.open.last().filter(|own| own.what == What::Source);
            let is_header = is_header(self.trace.names().bytes_of(event.text));
            header = is_header || including.is_some_and(|own| own.header);
            other = !is_header || including.is_some_and(|own| own.other);
        }
        let Event { what, text, .. } = *event;
        self.open.push(Open { end, what, text, path, set, header, other });
        Ok(())
    }

    /// What is compiled: what the event says, or those around it; else the input.
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

    /// The set of a template that begins, and whether no other of it is open.
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

    /// What is compiled where the event that was entered last stands.
    pub(super) fn path(&self) -> u32 {
        self.open.last().map_or(0, |own| own.path)
    }

    /// The set of the template that was entered last, unless it stands in another of that set.
    pub(super) fn outermost_of_set(&self) -> Option<u32> {
        let (set, is_outermost) = self.open.last()?.set?;
        is_outermost.then_some(set)
    }

    /// Whether the file that was entered last is a header, and whether a source includes it itself.
    pub(super) fn header(&self) -> (bool, bool) {
        let [.., around, own] = &self.open[..] else {
            let is = self.open.last().is_some_and(|own| own.header);
            return (is, is);
        };
        let is_header = is_header(self.trace.names().bytes_of(own.text));
        (is_header, around.what != What::Source || !around.header)
    }

    /// The files that led to the file that was entered last, from the outermost on; of more than 32 the innermost.
    pub(super) fn chain(&self) -> Vec<String> {
        const MOST: usize = 32;
        let Some((own, around)) = self.open.split_last() else { return Vec::new() };
        let files = around.iter().rev().take_while(|own| own.what == What::Source);
        let mut chain: Vec<String> =
            files.take(MOST).map(|own| self.trace.names().text(own.text)).collect();
        let is_of_other =
            around.last().is_some_and(|around| around.what == What::Source && around.other);
        // a source that is included stands for the file that is compiled
        if !is_of_other {
            chain.push(self.paths.text(own.path));
        }
        chain.reverse();
        chain
    }
}

/// Whether a file is a header: by the end of its name, which headers of C++ itself do not have.
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
    fn headers_are_known_by_their_names() {
        let paths =
            ["a.h", "b/c.hpp", "vector", "/usr/bin/../include/map", "x.inc", "y.HXX", "a.d\\z"];
        assert!(paths.iter().all(|own| is_header(own.as_bytes())));
        assert!(
            ["a.cpp", "b.h/c.cc", "./x.mm", "end."].iter().all(|own| !is_header(own.as_bytes()))
        );
    }
}
