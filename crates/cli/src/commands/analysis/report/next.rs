//! Commands for the next step, as a shell reads them.

use crate::args::flag_words;
use tracemill_analysis::{Thread, Window};
use tracemill_join::config::id_set::IdSet;
use tracemill_trace::run::words::shell_word;

/// What all of them have in common.
pub(super) struct Next {
    /// Inputs, with the flags that say how they are read.
    pub(super) inputs: Vec<String>,
    /// Flags that say which threads and events count.
    pub(super) part: Vec<String>,
    /// Flags that choose events, without those that choose threads.
    pub(super) rules: Vec<String>,
    /// Flags of the window, if one was asked for.
    pub(super) window: Vec<String>,
    /// Where the times of the report begin, in nanoseconds of the trace.
    pub(super) origin: i64,
}

/// Flags of a window of times that begin at `origin`, in nanoseconds of the trace.
pub(super) fn window_words(window: Window, origin: i64) -> Vec<String> {
    let time = |ms: f64| format!("@{}ns", (ms * 1e6).round() as i128 + i128::from(origin));
    vec!["--from".to_owned(), time(window.from), "--to".to_owned(), time(window.to)]
}

fn id_words(flag: &str, id: String) -> [String; 2] {
    [flag.to_owned(), IdSet::of(id).to_string()]
}

fn thread_words(thread: &Thread) -> Vec<String> {
    [id_words("--pid", thread.pid_text()), id_words("--tid", thread.tid_text())].concat()
}

impl Next {
    /// The inputs as a shell reads them, if naming them again and again would fill the page.
    pub(super) fn many_inputs(&self) -> Option<String> {
        let words = self.inputs.iter().map(|word| shell_word(word)).collect::<Vec<_>>();
        let text = words.join(" ");
        (words.len() > 1 && text.len() > 40).then_some(text)
    }

    fn line(&self, parts: &[&[String]]) -> String {
        let mut line = String::from("tracemill");
        for word in parts.iter().copied().flatten().chain(&self.inputs) {
            line.push(' ');
            line.push_str(&shell_word(word));
        }
        line
    }

    /// A command for the threads and the time of the report.
    pub(super) fn of_all(&self, words: &[&str]) -> String {
        self.line(&[&owned(words), &self.part, &self.window])
    }

    /// A command for one thread, in the time of the report.
    pub(super) fn of_thread(&self, words: &[&str], thread: &Thread) -> String {
        self.line(&[&owned(words), &thread_words(thread), &self.rules, &self.window])
    }

    /// Of one process, in the time of the report.
    pub(super) fn of_process(&self, words: &[&str], thread: &Thread) -> String {
        let pid = id_words("--pid", thread.pid_text());
        self.line(&[&owned(words), &pid, &self.rules, &self.window])
    }

    /// A command for one thread in a time of its own.
    pub(super) fn of_stretch(&self, words: &[&str], thread: &Thread, window: Window) -> String {
        let time = window_words(window, self.origin);
        self.line(&[&owned(words), &thread_words(thread), &self.rules, &time])
    }

    /// The events of one thread in a time of its own, as they are.
    pub(super) fn events_of(&self, thread: &Thread, window: Window) -> String {
        self.line(&[&owned(&["filter"]), &thread_words(thread), &window_words(window, self.origin)])
    }

    /// A command for the threads of the report in a time of its own.
    pub(super) fn of_window(&self, words: &[&str], window: Window) -> String {
        self.line(&[&owned(words), &self.part, &window_words(window, self.origin)])
    }

    /// A command for all events in a time of its own.
    pub(super) fn of_time(&self, words: &[&str], window: Window) -> String {
        self.line(&[&owned(words), &window_words(window, self.origin)])
    }

    /// A command for an event.
    pub(super) fn of_event(&self, words: &[&str], key: &str) -> String {
        self.line(&[&owned(words), &owned(&["--event", key]), &self.rules])
    }

    /// A command for the inputs as they are.
    pub(super) fn of_inputs(&self, words: &[&str]) -> String {
        self.line(&[&owned(words)])
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    // texts of the trace may begin with a hyphen
    const WITH_TEXT: [&str; 4] = ["--peek", "--text", "--focus", "--name"];
    let mut all: Vec<String> = Vec::new();
    for &word in words {
        match all.pop() {
            Some(flag) if WITH_TEXT.contains(&&*flag) => all.extend(flag_words(&flag, word)),
            last => all.extend(last.into_iter().chain([word.to_owned()])),
        }
    }
    all
}
