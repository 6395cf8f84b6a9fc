//! Commands for the next step, as a shell reads them.

use tracemill_analysis::{Thread, Window};

/// What all of them have in common.
pub(super) struct Next {
    /// Inputs, with the flags that say how they are read.
    pub(super) inputs: Vec<String>,
    /// Flags that say which threads and events count.
    pub(super) part: Vec<String>,
    /// The same of events only.
    pub(super) rules: Vec<String>,
    /// Flags of the window, if one was asked for.
    pub(super) window: Vec<String>,
}

/// Flags of a window.
pub(super) fn window_words(window: Window) -> Vec<String> {
    let time = |ms: f64| format!("@{}ns", (ms * 1e6).round() as i128);
    vec!["--from".to_owned(), time(window.from), "--to".to_owned(), time(window.to)]
}

fn thread_words(thread: &Thread) -> Vec<String> {
    ["--pid".to_owned(), thread.pid_text(), "--tid".to_owned(), thread.tid_text()].to_vec()
}

impl Next {
    fn line(&self, parts: &[&[String]]) -> String {
        let mut line = String::from("tracemill");
        for word in parts.iter().copied().flatten().chain(&self.inputs) {
            line.push(' ');
            line.push_str(&quoted(word));
        }
        line
    }

    /// Of the threads and the time of the report.
    pub(super) fn of_all(&self, words: &[&str]) -> String {
        self.line(&[&owned(words), &self.part, &self.window])
    }

    /// Of one thread, in the time of the report.
    pub(super) fn of_thread(&self, words: &[&str], thread: &Thread) -> String {
        self.line(&[&owned(words), &thread_words(thread), &self.rules, &self.window])
    }

    /// Of one thread in a time of its own.
    pub(super) fn of_stretch(&self, words: &[&str], thread: &Thread, window: Window) -> String {
        let time = window_words(window);
        self.line(&[&owned(words), &thread_words(thread), &self.rules, &time])
    }

    /// The events of one thread in a time of its own, as they are.
    pub(super) fn events_of(&self, thread: &Thread, window: Window) -> String {
        self.line(&[&owned(&["filter"]), &thread_words(thread), &window_words(window)])
    }

    /// Of the threads of the report in a time of its own.
    pub(super) fn of_window(&self, words: &[&str], window: Window) -> String {
        self.line(&[&owned(words), &self.part, &window_words(window)])
    }

    /// Of an event.
    pub(super) fn of_event(&self, words: &[&str], key: &str) -> String {
        self.line(&[&owned(words), &owned(&["--event", key]), &self.rules])
    }

    /// Of the inputs as they are.
    pub(super) fn of_inputs(&self, words: &[&str]) -> String {
        self.line(&[&owned(words)])
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A word as a POSIX shell reads it; with control characters as bash and zsh do.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.chars().any(char::is_control) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut text = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes)
                    .bytes()
                    .for_each(|byte| text += &format!("\\x{byte:02x}"));
            }
            c => text.push(c),
        }
    }
    text + "'"
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn shells_read_words_as_they_are() {
        let words =
            ["a", "", "it's", "a b", "$x", "(anonymous)", "tab\tend", "é", "a\\b\n'", "--name=^x$"];
        let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let script = format!("printf '%s\\0' {}", line.join(" "));
        let said = std::process::Command::new("bash").args(["-c", &script]).output().expect("bash");
        let said = String::from_utf8(said.stdout).expect("UTF-8");
        let read: Vec<&str> = said.split_terminator('\0').collect();
        assert_eq!(read, words);
    }
}
