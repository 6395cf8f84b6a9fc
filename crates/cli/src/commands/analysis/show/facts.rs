//! Finds an event in the flame chart of its thread, with the events around and below it.

use serde_json::json;
use std::collections::HashMap;
use tracemill_analysis::entries::Entry;
use tracemill_analysis::{Entries, EventText, FlameRow, TableRules, Trace, View};
use tracemill_causes::{Causes, EventId, Level, Site};
use tracemill_join::input_set::StackFrame;
use tracemill_report::{ReasonFinder, Reasons};
use tracemill_trace::Error;

/// A row of the flame chart, in milliseconds on the trace's clock.
#[derive(Clone, Debug)]
pub(super) struct Around {
    pub(super) id: EventId,
    pub(super) label: String,
    pub(super) ms: f64,
}

/// Returns the calls of a stack that an event names.
fn sites(stack: Vec<StackFrame>) -> Vec<Site> {
    let place = |place: Option<i64>| place.map(|place| place as f64);
    let site = |frame: StackFrame| Site {
        function: Some(frame.name),
        url: frame.category,
        line: place(frame.line),
        column: place(frame.column),
    };
    stack.into_iter().map(site).collect()
}

/// The children of an event with one label.
#[derive(Clone, Debug, Default)]
pub(super) struct Children {
    pub(super) label: String,
    pub(super) count: u64,
    pub(super) ms: f64,
}

/// Everything about an event. Times are milliseconds on the trace's clock.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) id: EventId,
    pub(super) key: Option<String>,
    pub(super) label: String,
    /// Number of the thread; `None` if no table has it.
    pub(super) thread: Option<usize>,
    pub(super) start: Option<f64>,
    pub(super) duration: f64,
    /// Self time; `None` outside of flame charts.
    pub(super) self_time: Option<f64>,
    /// CPU time, if the trace has it.
    pub(super) cpu: Option<f64>,
    /// The event, if the inputs can be read again; a string if its text is not JSON.
    pub(super) written: Option<serde_json::Value>,
    pub(super) stack: Vec<Level>,
    /// The stack at the end, innermost call first.
    pub(super) end_stack: Vec<Site>,
    /// The initiator, its initiator, and so on.
    pub(super) causes: Vec<EventId>,
    pub(super) started: Vec<EventId>,
    /// Events around the event, outermost first.
    pub(super) parents: Vec<Around>,
    /// By total time.
    pub(super) children: Vec<Children>,
}

impl Facts {
    /// Creates an event without any facts.
    fn new(id: EventId) -> Self {
        Facts {
            id,
            key: None,
            label: String::new(),
            thread: None,
            start: None,
            duration: 0.0,
            self_time: None,
            cpu: None,
            written: None,
            stack: Vec::new(),
            end_stack: Vec::new(),
            causes: Vec::new(),
            started: Vec::new(),
            parents: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Adds the event as written. The stacks that it names replace the calls around it.
    pub(super) fn add_written(&mut self, event: EventText) {
        let EventText { text, stacks } = event;
        // text that is not JSON stays text
        let value = |text: &[u8]| {
            serde_json::from_slice(text).unwrap_or_else(|_| json!(String::from_utf8_lossy(text)))
        };
        self.written = (!text.is_empty()).then(|| value(&text));
        if !stacks.start.is_empty() {
            self.stack.resize_with(self.stack.len().max(1), Level::default);
            self.stack[0].sites = sites(stacks.start);
        }
        self.end_stack = sites(stacks.end);
    }
}

pub(super) struct Finder<'t> {
    pub(super) trace: &'t Trace,
    pub(super) causes: &'t Causes,
    pub(super) reasons: ReasonFinder,
}

impl Finder<'_> {
    /// Finds the event or call with a key.
    pub(super) fn by_key(&self, key: &str) -> Result<Option<Facts>, Error> {
        let Some(id) = EventId::of_key(self.trace, key) else { return Ok(None) };
        if let Some(thread) = id.thread(self.trace)
            && let Some(found) =
                self.in_chart(thread, |entry| EventId::of_entry(entry, thread).has_key_of(id))?
        {
            return Ok(Some(self.with_causes(found)));
        }
        let Some(event) = id.number().and_then(|number| self.trace.cause_event(number)) else {
            return Ok(None);
        };
        let facts = Facts {
            key: Some(key.to_owned()),
            label: id.name(self.trace),
            thread: id.thread(self.trace),
            start: Some(self.trace.start_of(&event)),
            duration: event.dur / 1000.0,
            ..Facts::new(id)
        };
        Ok(Some(self.with_causes(facts)))
    }

    /// Finds the innermost event or call at a time, on the first of `threads` that has one.
    pub(super) fn at(&self, threads: &[usize], ms: f64) -> Result<Option<Facts>, Error> {
        let time = self.trace.clock().ticks_of(ms);
        for &thread in threads {
            let track = self.trace.track(&self.trace.threads[thread])?;
            let entries = track.entries().map(|placed| placed.entry);
            let begun = entries.take_while(|entry| entry.ts <= time);
            let innermost = begun.filter(|entry| time < entry.end()).last();
            if let Some(innermost) = innermost
                && let Some(found) = self.in_chart(thread, |entry| *entry == innermost)?
            {
                return Ok(Some(self.with_causes(found)));
            }
        }
        Ok(None)
    }

    /// Finds the first entry of a thread's flame chart that `is_it` accepts, with the entries around
    /// and below it.
    fn in_chart(
        &self,
        thread: usize,
        mut is_it: impl FnMut(&Entry) -> bool,
    ) -> Result<Option<Facts>, Error> {
        let track = self.trace.track(&self.trace.threads[thread])?;
        let rules = TableRules { entries: Entries::All, ..TableRules::default() };
        let view = View::new(&track, rules);
        let (parents, children) = (Vec::new(), HashMap::new());
        let mut walk = Walk { trace: self.trace, thread, parents, found: None, children };
        let flame = view.flame()?;
        // An error ends the walk early.
        let _ended = flame.rows(|row| if walk.add(row, &mut is_it) { Err(()) } else { Ok(()) });
        let mut children: Vec<Children> = walk.children.into_values().collect();
        children.sort_by(|a, b| b.ms.total_cmp(&a.ms).then_with(|| a.label.cmp(&b.label)));
        Ok(walk.found.map(|(facts, _)| Facts { children, ..facts }))
    }

    /// Adds the stack, causes and effects of an event.
    fn with_causes(&self, facts: Facts) -> Facts {
        let Reasons { causes, started, stack } =
            self.reasons.find(facts.id, self.trace, self.causes);
        Facts { causes, stack, started, ..facts }
    }
}

/// A walk over the rows of a flame chart, up to the end of the entry that it finds.
struct Walk<'t> {
    trace: &'t Trace,
    thread: usize,
    parents: Vec<Around>,
    /// The entry, and its depth.
    found: Option<(Facts, u32)>,
    /// Children of the entry by label.
    children: HashMap<String, Children>,
}

impl Walk<'_> {
    /// Adds a row. Returns whether the walk is done.
    fn add(&mut self, row: FlameRow, is_it: &mut impl FnMut(&Entry) -> bool) -> bool {
        let label = row.label.unwrap_or(row.id);
        if let Some((_, depth)) = &self.found {
            if row.depth == *depth + 1 {
                let children = self.children.entry(label.clone()).or_default();
                children.label = label;
                children.count += 1;
                children.ms += row.dur / 1000.0;
            }
            return row.depth <= *depth;
        }
        self.parents.truncate(row.depth as usize);
        let id = EventId::of_entry(&row.entry, self.thread);
        if is_it(&row.entry) {
            let found = Facts {
                key: row.key,
                label,
                thread: Some(self.thread),
                start: Some(row.ts / 1000.0),
                duration: row.dur / 1000.0,
                self_time: Some(row.self_time / 1000.0),
                cpu: self.trace.cpu_time(&row.entry).map(|micros| micros / 1000.0),
                parents: std::mem::take(&mut self.parents),
                ..Facts::new(id)
            };
            self.found = Some((found, row.depth));
            return false;
        }
        self.parents.push(Around { id, label, ms: row.dur / 1000.0 });
        false
    }
}
