//! Builds by clang with `-ftime-trace`: the tables of ClangBuildAnalyzer. They list the slowest
//! files, templates, functions and headers.

mod headers;
mod names;
mod nested;
mod sums;

use crate::found::{Compiled, CompiledSource};
use headers::Headers;
use names::{collapsed, demangled};
use nested::{Event, Nested, What, compiler_events, stretch_of};
use sums::{Costs, Rows, Sum};
use tracemill_analysis::{Trace, Window};
use tracemill_trace::Error;
use tracemill_trace::event::names::Names;
use tracemill_trace::run::limits::Quota;

struct Tables<'t> {
    trace: &'t Trace,
    room: &'t Quota,
    window: Window,
    rows: usize,
    found: Compiled,
    /// The sums for each source file and phase. The flag is true for code generation, and false for
    /// parsing.
    sources: Costs<(u32, bool)>,
    templates: Costs<u32>,
    template_sets: Costs<u32>,
    /// The sums for each function and compiled file.
    functions: Costs<(u32, u32)>,
    headers: Headers,
}

/// Reports on the events, within the window, of the threads with the given numbers.
///
/// Cost: visits each event, sorts the compiler's events (36 bytes each), and walks them twice.
/// Heap: about 100 bytes per template, function of a file, and header.
pub(crate) fn compiled(
    trace: &Trace,
    threads: &[usize],
    rows: usize,
    window: Window,
    room: &Quota,
) -> Result<Compiled, Error> {
    let events = compiler_events(trace, threads)?;
    let mut tables = Tables {
        trace,
        room,
        window,
        rows,
        found: Compiled::default(),
        sources: Costs::default(),
        templates: Costs::default(),
        template_sets: Costs::default(),
        functions: Costs::default(),
        headers: Headers::default(),
    };
    let mut nested = Nested::new(trace, room);
    for event in events.iter() {
        nested.enter(&event)?;
        tables.add(&event, &nested)?;
    }
    let Nested { paths, set_names, .. } = nested;
    tables.headers.choose(trace, rows);
    let mut nested = Nested::new(trace, room);
    for event in events.iter() {
        nested.enter(&event)?;
        if event.what == What::Source && tables.is_in(&event) {
            tables.headers.follow(&event, &nested);
        }
    }
    tables.finish(&paths, &set_names)
}

impl Tables<'_> {
    fn is_in(&self, event: &Event) -> bool {
        let starts = self.trace.clock().ms_of(event.ts);
        starts >= self.window.from && starts <= self.window.to
    }

    fn add(&mut self, event: &Event, nested: &Nested<'_>) -> Result<(), Error> {
        if !self.is_in(event) {
            return Ok(());
        }
        let (path, room) = (nested.path(), self.room);
        let one = Sum::of(event, path);
        match event.what {
            What::Compiler => self.found.runs += 1,
            What::Frontend => {
                self.found.frontend += self.trace.clock().ms_of(event.dur);
                self.sources.add((path, false), one, room)?;
            }
            What::Backend => {
                self.found.backend += self.trace.clock().ms_of(event.dur);
                self.sources.add((path, true), one, room)?;
            }
            What::Template => {
                self.templates.add(event.text, one, room)?;
                if let Some(set) = nested.outermost_of_set() {
                    self.template_sets.add(set, one, room)?;
                }
            }
            What::Function => self.functions.add((event.text, path), one, room)?,
            What::Source => self.headers.add(event, nested, room)?,
            What::Module | What::Parse => {}
        }
        Ok(())
    }

    /// Returns the source files that took longest, and the number of all source files.
    fn longest_sources(&self, paths: &Names) -> (Vec<CompiledSource>, u64) {
        type OfFile<'s> = [(&'s (u32, bool), &'s Sum)];
        let sums = self.sources.sorted();
        let mut files: Vec<&OfFile<'_>> = sums.chunk_by(|one, next| one.0.0 == next.0.0).collect();
        let ticks = |file: &OfFile<'_>| file.iter().map(|(_, sum)| sum.total).sum::<f64>();
        files.sort_by(|a, b| ticks(b).total_cmp(&ticks(a)));
        let source = |file: &&OfFile<'_>| {
            let of_phase = |phase: bool| file.iter().filter(move |(key, _)| key.1 == phase);
            let ms =
                |phase| of_phase(phase).map(|(_, sum)| self.trace.clock().ms_of(sum.total)).sum();
            let longest = file.iter().map(|(_, sum)| &sum.longest);
            let longest = longest.max_by(|a, b| a.dur.total_cmp(&b.dur))?;
            let (file, longest) = (paths.text(file[0].0.0), stretch_of(self.trace, longest));
            Some(CompiledSource { file, parse: ms(false), codegen: ms(true), longest })
        };
        (files.iter().take(self.rows).filter_map(source).collect(), files.len() as u64)
    }

    fn number(&self, names: &mut Names, name: &str) -> Result<u32, Error> {
        let before = names.heap();
        let number = names.number(name.as_bytes());
        self.room.take(names.heap() - before, "names of functions")?;
        Ok(number)
    }

    fn finish(mut self, paths: &Names, set_names: &Names) -> Result<Compiled, Error> {
        let (trace, rows) = (self.trace, self.rows);
        let names = trace.names();
        let ranking = Rows { trace, paths, rows };
        let mut found = std::mem::take(&mut self.found);
        (found.sources, found.all_sources) = self.longest_sources(paths);
        found.all_templates = self.templates.len();
        found.templates = ranking.best(&self.templates, |&template| names.text(template));
        found.all_template_sets = self.template_sets.len();
        found.template_sets = ranking.best(&self.template_sets, |&id| set_names.text(id));
        // A constructor has several symbols, which demangle to the same name.
        let (mut plain_names, mut functions) = (Names::default(), Costs::default());
        let (mut last, mut plain) = (None, 0);
        for (&(name, path), &sum) in self.functions.sorted() {
            // Demangles each name once, though many files may contain it.
            if last.replace(name) != Some(name) {
                plain = self.number(&mut plain_names, &demangled(names.bytes_of(name)))?;
            }
            functions.add((plain, path), sum, self.room)?;
        }
        let (mut set_names, mut function_sets) = (Names::default(), Costs::default());
        let (mut last, mut set) = (None, 0);
        for (&(name, path), &sum) in functions.sorted() {
            if last.replace(name) != Some(name) {
                set = self.number(&mut set_names, &collapsed(&plain_names.text(name)))?;
            }
            // Each function of a file counts once in its set, even if it was optimized several
            // times.
            function_sets.add(set, Sum { count: 1, path, ..sum }, self.room)?;
        }
        found.all_functions = functions.len();
        found.functions = ranking.best(&functions, |function| plain_names.text(function.0));
        found.all_function_sets = function_sets.len();
        found.function_sets = ranking.best(&function_sets, |&id| set_names.text(id));
        found.all_headers = self.headers.len();
        found.headers = self.headers.finish(&ranking);
        Ok(found)
    }
}
