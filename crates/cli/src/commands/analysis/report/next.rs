//! Builds the commands that a report suggests as next steps, quoted for a shell.

use crate::args::flag_words;
use tracemill_analysis::{Thread, Window};
use tracemill_join::config::id_set::IdSet;
use tracemill_trace::run::words::shell_word;

/// The arguments that all suggested commands share.
pub(super) struct Next {
    /// Inputs, with the flags that determine how they are read.
    pub(super) inputs: Vec<String>,
    /// Flags that select threads and events.
    pub(super) part: Vec<String>,
    /// Flags that select events but not threads.
    pub(super) rules: Vec<String>,
    /// Flags that select the clock.
    pub(super) times: Vec<String>,
    /// Flags that select the window of the report.
    pub(super) window: Vec<String>,
    /// Time 0 of the report's times, in nanoseconds on the clock of the trace.
    pub(super) origin: i64,
}

/// Returns flags that select a window. `origin` is time 0 of the window, in nanoseconds as written.
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
    /// Returns the quoted inputs, if they are too long to be in every command.
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

    /// Returns a command for the threads and the window of the report. `words` begin the command.
    pub(super) fn of_all(&self, words: &[&str]) -> String {
        self.line(&[&owned(words), &self.part, &self.window])
    }

    /// Returns a command for one thread in the window of the report.
    pub(super) fn of_thread(&self, words: &[&str], thread: &Thread) -> String {
        self.line(&[&owned(words), &thread_words(thread), &self.rules, &self.window])
    }

    /// Returns a command for the process of a thread in the window of the report.
    pub(super) fn of_process(&self, words: &[&str], thread: &Thread) -> String {
        let pid = id_words("--pid", thread.pid_text());
        self.line(&[&owned(words), &pid, &self.rules, &self.window])
    }

    /// Returns a command for one thread in a given window.
    pub(super) fn of_stretch(&self, words: &[&str], thread: &Thread, window: Window) -> String {
        let time = window_words(window, self.origin);
        self.line(&[&owned(words), &thread_words(thread), &self.rules, &time])
    }

    /// Returns a `filter` command for the events of one thread in a given window.
    pub(super) fn events_of(&self, thread: &Thread, window: Window) -> String {
        self.line(&[&owned(&["filter"]), &thread_words(thread), &window_words(window, self.origin)])
    }

    /// Returns a command for the threads of the report in a given window.
    pub(super) fn of_window(&self, words: &[&str], window: Window) -> String {
        self.line(&[&owned(words), &self.part, &window_words(window, self.origin)])
    }

    pub(super) fn of_event(&self, words: &[&str], key: &str) -> String {
        self.line(&[&owned(words), &owned(&["--event", key]), &self.rules])
    }

    /// Returns a command for a track of DevTools in the window of the report.
    pub(super) fn of_track(&self, name: &str) -> String {
        self.line(&[&owned(&["top"]), &flag_words("--track", name), &self.times, &self.window])
    }

    /// Returns a command for some of the inputs.
    pub(super) fn of_some(&self, verb: &str, inputs: &[&str]) -> String {
        let flags = self.times.iter().map(String::as_str);
        let words = [verb].into_iter().chain(flags).chain(inputs.iter().copied());
        let words = words.map(shell_word).collect::<Vec<_>>();
        format!("tracemill {}", words.join(" "))
    }

    /// Returns a command for the inputs that has no other flags.
    pub(super) fn of_inputs(&self, words: &[&str]) -> String {
        self.line(&[&owned(words)])
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    // the values of these flags may begin with a hyphen
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
