//! Selects threads of a trace by process, thread or name.

use crate::events::meta::Page;
use crate::trace::{Thread, ThreadKind, Trace, id_text};
use tracemill_join::config::id_set::IdSet;
use tracemill_join::config::pattern::Pattern;
use tracemill_tokenizer::unescaped_text;
use tracemill_viewers::essential::HIDDEN_THREADS;

/// A selection of threads; a thread must meet all conditions.
#[derive(Clone, Debug, Default)]
pub struct ThreadChoice {
    /// Process ids; all if `None`.
    pub pid: Option<IdSet>,
    /// Thread ids; all if `None`.
    pub tid: Option<IdSet>,
    /// Patterns of process names, one of which must match; all processes if empty.
    pub process: Vec<Pattern>,
    /// Patterns of thread names, one of which must match; all threads if empty.
    pub thread: Vec<Pattern>,
    /// Whether only the main thread is selected.
    ///
    /// The main thread is `CrRendererMain` of the main frame, `JavaScriptMainThread` of Node, or
    /// thread 0 of CPU profiles. Without these, it is the thread with the most events.
    pub main: bool,
    /// Whether only threads that DevTools' panel shows are selected, in the panel's order.
    pub as_panel: bool,
}

impl Thread {
    fn weight(&self) -> u64 {
        self.records.len() as u64 + self.samples()
    }

    /// Returns the number of events and calls. If the calls are not computed yet, counts samples
    /// instead.
    pub fn entries(&self) -> u64 {
        let calls = self.kept.as_ref().map_or_else(|| self.samples(), |calls| calls.len() as u64);
        self.records.len() as u64 + calls
    }

    /// Returns the pid as text.
    pub fn pid_text(&self) -> String {
        id_text(&self.pid)
    }

    /// Returns the tid as text.
    pub fn tid_text(&self) -> String {
        id_text(&self.tid)
    }
}

/// Returns whether one of the patterns matches the name, or there are no patterns.
fn matches(patterns: &[Pattern], name: Option<&str>) -> bool {
    patterns.is_empty()
        || name.is_some_and(|name| patterns.iter().any(|pattern| pattern.is_match(name)))
}

impl Trace {
    /// Returns the name of a thread's process, if it has one.
    pub fn process_name(&self, thread: &Thread) -> Option<String> {
        let name = self.meta.process_names.get(&thread.pid)?;
        Some(unescaped_text(name))
    }

    /// Returns the numbers of the selected threads that have events or samples.
    pub fn choose(&self, choice: &ThreadChoice) -> Vec<usize> {
        let has = |set: &Option<IdSet>, id: &[u8]| set.as_ref().is_none_or(|set| set.contains(id));
        let mut chosen: Vec<usize> = (0..self.threads.len())
            .filter(|&at| {
                let thread = &self.threads[at];
                let shown = !choice.as_panel || self.is_in_panel(thread);
                shown
                    && thread.weight() > 0
                    && has(&choice.pid, &thread.pid)
                    && has(&choice.tid, &thread.tid)
                    && matches(&choice.thread, thread.name.as_deref())
                    && matches(&choice.process, self.process_name(thread).as_deref())
            })
            .collect();
        if choice.as_panel {
            chosen.sort_by_key(|&at| {
                let thread = &self.threads[at];
                (self.rank(thread), std::cmp::Reverse(thread.entries()))
            });
        }
        if choice.main {
            let main = chosen.iter().copied().max_by_key(|&at| {
                let thread = &self.threads[at];
                (self.is_main(thread), thread.weight(), std::cmp::Reverse(at))
            });
            chosen = main.into_iter().collect();
        }
        chosen
    }

    fn is_in_panel(&self, thread: &Thread) -> bool {
        let hidden = thread.name.as_deref().is_some_and(|name| HIDDEN_THREADS.contains(&name));
        thread.is_in_devtools && (self.is_generic || !hidden)
    }

    fn page_of(&self, thread: &Thread) -> Option<&Page> {
        self.meta.page(&thread.pid)
    }

    /// Returns a rank by which threads are ordered in DevTools' panel; lower ranks come first
    /// (DevTools: `#addThreadAppenders`).
    fn rank(&self, thread: &Thread) -> u8 {
        if self.is_generic {
            return 7;
        }
        let page = self.page_of(thread);
        let is_own = |url: &[u8]| url.starts_with(b"about:") || url.starts_with(b"chrome:");
        match thread.kind {
            ThreadKind::Main if !page.is_some_and(|page| page.is_on_main_frame) => 1,
            ThreadKind::Main if page.and_then(|p| p.url.as_deref()).is_some_and(is_own) => 2,
            ThreadKind::Main => 0,
            ThreadKind::Worker => 3,
            ThreadKind::Rasterizer => 4,
            ThreadKind::ThreadPool => 5,
            ThreadKind::Other => 7,
            ThreadKind::CpuProfile => 8,
        }
    }

    fn is_main(&self, thread: &Thread) -> u8 {
        let name = thread.name.as_deref();
        match thread.kind {
            ThreadKind::Main if self.page_of(thread).is_some_and(|p| p.is_on_main_frame) => 3,
            ThreadKind::Main => 2,
            ThreadKind::CpuProfile if &*thread.tid == b"0" => 2,
            _ if name == Some("JavaScriptMainThread") => 2,
            _ => 0,
        }
    }
}
