//! Writes an event for people: one screen, and commands that go on from it.

use super::super::unit::time_text;
use super::facts::Facts;
use crate::messages::plain;
use serde_json::Value;
use tracemill_analysis::Trace;
use tracemill_causes::{EventId, Site};
use tracemill_trace::run::words::{plural, shell_word};
use unicode_width::UnicodeWidthChar;

/// Rows of a list, and lines of args, unless `--full` is given.
const ROWS: usize = 10;
/// Started events, as many as DevTools shows.
const STARTED: usize = 20;
/// Lines of args.
const LINES: usize = 15;
/// Columns of a name.
const NAME: usize = 32;

/// How to write events.
pub(super) struct Page<'t> {
    pub(super) trace: &'t Trace,
    /// Width of the terminal; `None` for a file.
    pub(super) columns: Option<usize>,
    /// Whether to write everything.
    pub(super) full: bool,
    /// Words of a command line that read the same inputs.
    pub(super) inputs: Vec<String>,
    /// Whether the inputs are one file.
    pub(super) is_file: bool,
}

impl Page<'_> {
    /// Returns the lines of an event.
    pub(super) fn of(&self, facts: &Facts) -> String {
        let mut out = String::new();
        let key = facts.key.as_deref().unwrap_or("a pair of B and E");
        self.line(&mut out, 0, &format!("{}  {key}", facts.label));
        self.when_and_where(&mut out, facts);
        self.args(&mut out, facts);
        self.stack(&mut out, facts);
        self.end_stack(&mut out, facts);
        self.events(&mut out, "started by", &facts.causes, ROWS, facts.start);
        self.events(&mut out, "started", &facts.started, STARTED, facts.start);
        self.around(&mut out, facts);
        self.children(&mut out, facts);
        self.next(&mut out, facts);
        out
    }

    /// Adds a line, cut to the width of the terminal unless `--full` is given.
    fn line(&self, out: &mut String, indent: usize, text: &str) {
        let line = format!("{:indent$}{}", "", plain(text));
        let columns = self.columns.filter(|_| !self.full).unwrap_or(usize::MAX);
        let mut width = 0;
        for character in line.trim_end().chars() {
            width += character.width().unwrap_or(0);
            if width >= columns {
                out.push('…');
                break;
            }
            out.push(character);
        }
        out.push('\n');
    }

    fn head(&self, out: &mut String, title: &str, text: &str) {
        self.line(out, 2, &format!("{title:<11} {text}"));
    }

    fn when_and_where(&self, out: &mut String, facts: &Facts) {
        let trace = self.trace;
        if let Some(thread) = facts.thread.map(|at| &trace.threads[at]) {
            let name =
                thread.name.clone().unwrap_or_else(|| format!("thread {}", thread.tid_text()));
            let process = trace.process_name(thread).unwrap_or_else(|| "process".to_owned());
            self.head(out, "thread", &format!("{name} ({process} {})", thread.pid_text()));
        } else if let Some(event) = &facts.written {
            let [pid, tid] = ["pid", "tid"].map(|key| match &event[key] {
                Value::String(id) => id.clone(),
                id => id.to_string(),
            });
            self.head(out, "thread", &format!("thread {tid} (process {pid})"));
        }
        let mut times = Vec::new();
        let start = facts.start.map(|start| start - trace.start_ms());
        times.extend(start.map(|ms| format!("{} after the trace start", time_text(ms))));
        if facts.duration > 0.0 {
            times.push(format!("duration {}", time_text(facts.duration)));
        }
        let self_time = facts.self_time.filter(|ms| *ms > 0.0);
        times.extend(self_time.map(|ms| format!("self {}", time_text(ms))));
        times.extend(facts.cpu.map(|ms| format!("CPU {}", time_text(ms))));
        self.head(out, "time", &times.join(", "));
        let category = facts.written.as_ref().and_then(|event| event["cat"].as_str());
        category.iter().for_each(|text| self.head(out, "category", text));
    }

    fn args(&self, out: &mut String, facts: &Facts) {
        let Some(event) = &facts.written else { return };
        let args = &event["args"];
        let text = match event {
            Value::String(text) => text.clone(),
            _ => serde_json::to_string_pretty(args).unwrap_or_default(),
        };
        let lines: Vec<&str> = text.lines().collect();
        let lines = match (event, args) {
            (Value::String(_), _) => &lines[..],
            // the outer braces say nothing
            (_, Value::Object(members)) if !members.is_empty() => &lines[1..lines.len() - 1],
            (_, Value::Object(_) | Value::Null) => return,
            _ => &lines[..],
        };
        self.head(out, if event.is_string() { "event" } else { "args" }, "");
        let most = if self.full { usize::MAX } else { LINES };
        lines.iter().take(most).for_each(|line| self.line(out, 2, line));
        self.more(out, lines.len().saturating_sub(most), "line");
    }

    fn more(&self, out: &mut String, count: usize, noun: &str) {
        if count > 0 {
            self.line(out, 4, &format!("… {} more (--full)", plural(count as u64, noun)));
        }
    }

    fn stack(&self, out: &mut String, facts: &Facts) {
        if facts.stack.iter().all(|level| level.sites.is_empty()) && facts.stack.len() < 2 {
            return;
        }
        self.head(out, "stack", "");
        let most = if self.full { usize::MAX } else { ROWS };
        for level in facts.stack.iter().take(most) {
            if let Some(task) = &level.task {
                self.line(out, 4, &format!("scheduled as {task} by"));
            }
            self.sites(out, &level.sites);
        }
        self.more(out, facts.stack.len().saturating_sub(most), "task");
    }

    fn end_stack(&self, out: &mut String, facts: &Facts) {
        if facts.end_stack.is_empty() {
            return;
        }
        self.head(out, "stack at end", "");
        self.sites(out, &facts.end_stack);
    }

    fn sites(&self, out: &mut String, sites: &[Site]) {
        let most = if self.full { usize::MAX } else { ROWS };
        sites.iter().take(most).for_each(|site| self.line(out, 4, &site_line(site)));
        self.more(out, sites.len().saturating_sub(most), "call");
    }

    /// Adds a list of events with their times before or after `start`.
    fn events(
        &self,
        out: &mut String,
        title: &str,
        events: &[EventId],
        rows: usize,
        start: Option<f64>,
    ) {
        if events.is_empty() {
            return;
        }
        self.head(
            out,
            title,
            &if events.len() > 1 { events.len().to_string() } else { String::new() },
        );
        let most = if self.full { usize::MAX } else { rows };
        for event in events.iter().take(most) {
            let key = event.key(self.trace).text().unwrap_or_default();
            let distance =
                start.zip(event.start(self.trace)).map(|(start, other)| match other - start {
                    ms if ms < 0.0 => format!("{} before", time_text(-ms)),
                    ms => format!("{} after", time_text(ms)),
                });
            let name = padded(&event.name(self.trace));
            self.line(out, 4, &format!("{name} {:>12} {}", key, distance.unwrap_or_default()));
        }
        self.more(out, events.len().saturating_sub(most), "event");
    }

    fn around(&self, out: &mut String, facts: &Facts) {
        if facts.parents.is_empty() {
            return;
        }
        self.head(out, "inside", "outermost first");
        let most = if self.full { usize::MAX } else { ROWS };
        let hidden = facts.parents.len().saturating_sub(most);
        self.more(out, hidden, "event");
        for parent in &facts.parents[hidden..] {
            let key = parent.id.key(self.trace).text().unwrap_or_default();
            self.line(
                out,
                4,
                &format!("{} {:>12} {}", padded(&parent.label), key, time_text(parent.ms)),
            );
        }
    }

    fn children(&self, out: &mut String, facts: &Facts) {
        if facts.children.is_empty() {
            return;
        }
        self.head(out, "children", "by time");
        let most = if self.full { usize::MAX } else { ROWS };
        for child in facts.children.iter().take(most) {
            let time = if child.ms > 0.0 { time_text(child.ms) } else { String::new() };
            let count = format!("{} ×", child.count);
            self.line(out, 4, &format!("{} {count:>12} {time}", padded(&child.label)));
        }
        self.more(out, facts.children.len().saturating_sub(most), "name");
    }

    /// Adds the commands that go on from the event. They are never cut.
    fn next(&self, out: &mut String, facts: &Facts) {
        let words: String = self.inputs.iter().map(|word| shell_word(word) + " ").collect();
        let mut commands = Vec::new();
        let cause = facts.causes.first().and_then(|cause| cause.key(self.trace).text());
        commands.extend(cause.map(|key| format!("tracemill show {words}{key}")));
        if let Some(key) =
            facts.key.as_deref().filter(|_| self.is_file && facts.self_time.is_some())
        {
            commands.push(format!("tracemill slice {words}--event {key} -o around.json"));
        }
        if !commands.is_empty() {
            self.head(out, "next", "");
            commands.iter().for_each(|command| out.push_str(&format!("    {}\n", plain(command))));
        }
    }
}

/// Returns a name with blanks up to a fixed width, or cut to it.
fn padded(name: &str) -> String {
    let mut out: String = name.chars().take(NAME).collect();
    if name.chars().count() > NAME {
        out.pop();
        out.push('…');
    }
    format!("{out:<NAME$}")
}

/// Returns the name and place of a call.
fn site_line(site: &Site) -> String {
    let function = site.function.as_deref().filter(|name| !name.is_empty());
    format!("{} {}", padded(function.unwrap_or("(anonymous)")), site.place())
}
