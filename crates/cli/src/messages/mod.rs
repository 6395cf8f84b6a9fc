//! Messages on standard error. Each fact is one line that begins with the name of the program.
//!
//! Errors and broken limits are always printed. With `-q`, nothing else is printed. The summary is
//! printed on a terminal or with `-v`.

mod escape;
pub(crate) mod hints;
pub(crate) mod markdown;
pub(crate) mod progress;
pub(crate) mod signal;
pub(crate) mod wrap;

pub use escape::plain;

use crate::args::{MessageArgs, TerminalChoice};
use crate::files::whole_file::OutputPlace;
use crate::messages::wrap::{columns_of_messages, push_line};
use crate::outcome::exit::{Exit, Failure};
use crate::process::caller::Caller;
use crate::process::pointer::pointed;
use crate::text::size::human;
use crate::text::summary::{Summary, contents, is_given};
use clap::builder::styling::{AnsiColor, Style};
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use tracemill_tokenizer::DamageKind;
use tracemill_trace::run::flaws::{Flaw, FlawKind};
use tracemill_trace::run::{around::Around, losses::InputReport, words::plural};

/// Maximum number of inputs whose losses are listed. Further inputs are only counted.
const INPUTS: usize = 50;

/// The kind of a message, which determines how its line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Error,
    Failed,
    Warning,
    Note,
}

/// Prints messages, or passes them to the program that called this library.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    quiet: bool,
    verbose: bool,
    /// Whether changes that the user did not request are reported only with `-v`.
    terse: bool,
    terminal: bool,
    color: bool,
    /// The program that called this library. It receives the messages instead of standard error.
    caller: Option<Caller>,
}

impl Messages {
    /// Creates the printer that the flags request. Without flags, the defaults apply.
    pub(crate) fn new(args: Option<&MessageArgs>) -> Self {
        let terminal = io::stderr().is_terminal();
        let color = is_colored(args.map_or(TerminalChoice::Auto, |args| args.color), terminal);
        let (quiet, verbose) = args.map_or((false, false), |args| (args.quiet, args.verbose > 0));
        Messages { quiet, verbose, terse: false, terminal, color, caller: None }
    }

    pub(crate) fn to(caller: &Caller) -> Self {
        let caller = Some(caller.clone());
        Messages {
            quiet: false,
            verbose: false,
            terse: false,
            terminal: false,
            color: false,
            caller,
        }
    }

    /// Returns a copy that reports changes which the user did not request only with `-v`.
    pub(crate) fn terse(&self) -> Self {
        Messages { terse: true, ..self.clone() }
    }

    pub(crate) fn caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    /// Returns the destination of a small output. If a program called this library, it receives the
    /// output instead of standard output.
    pub(crate) fn place(&self, path: &Path) -> OutputPlace {
        match (OutputPlace::of(path), &self.caller) {
            (OutputPlace::Stdout, Some(caller)) => OutputPlace::Caller(caller.handed().clone()),
            (place, _) => place,
        }
    }

    fn tell(&self, level: Level, text: &str) {
        match &self.caller {
            Some(caller) => {
                // the calling program recognises a broken limit by its first word
                let word = if level == Level::Failed { FAILED } else { "" };
                caller.handed().say(level != Level::Note, word.to_owned() + &plain_lines(text));
            }
            None => say(&lines(level, text, self.color)),
        }
    }

    /// Prints the reason of a failed run, and the position in the input if it is known.
    pub(crate) fn failure(&self, failure: &Failure) {
        let mut text = lines(Level::Error, &failure.to_string(), self.color);
        if let Some(around) = failure.around() {
            text.push_str(&pointer_lines(around, self.color));
        }
        say(&text);
    }

    /// Reports a broken limit, even with `-q`.
    pub(crate) fn failed(&self, text: &str) {
        self.tell(Level::Failed, text);
    }

    pub(crate) fn warning(&self, text: &str) {
        if !self.quiet {
            self.tell(Level::Warning, text);
        }
    }

    /// Prints warnings. If several differ only in input name and numbers, prints one of them with
    /// their count.
    pub(crate) fn warnings(&self, texts: &[String]) {
        let mut folded: Vec<(String, &str, u64)> = Vec::new();
        for text in texts {
            // the text before the first colon may be the name of an input
            let (name, rest) = text.split_once(": ").unwrap_or(("", text));
            let rest = if name.contains(['.', '/']) { rest } else { text };
            let key = rest.replace(|c: char| c.is_ascii_digit(), "");
            match folded.iter_mut().find(|entry| entry.0 == key) {
                Some(entry) => entry.2 += 1,
                None => folded.push((key, text, 1)),
            }
        }
        for (_, text, count) in folded {
            match count {
                1 => self.warning(text),
                count => self.warning(&format!("{text}; {count} equal warnings")),
            }
        }
    }

    /// Reports a change that the user did not request.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet && (self.verbose || !self.terse) {
            self.tell(Level::Note, text);
        }
    }

    /// Reports a detail of the run, only with `-v`.
    pub(crate) fn note(&self, text: &str) {
        if self.verbose {
            self.tell(Level::Note, text);
        }
    }

    pub(crate) fn summary(&self, summary: &Summary) {
        if self.verbose || self.terminal && !self.quiet {
            self.tell(Level::Note, &summary.text());
        }
    }

    /// Warns about the losses of each input, and about its text that is not valid JSON.
    pub(crate) fn losses(&self, inputs: &[InputReport]) {
        loss_texts(inputs).iter().for_each(|text| self.warning(text));
        for (mended, text) in lapse_texts(inputs) {
            if mended { self.say(&text) } else { self.warning(&text) }
        }
    }

    /// Prints a description of each input, only with `-v`.
    pub(crate) fn inputs(&self, inputs: &[InputReport]) {
        for input in inputs.iter().filter(|input| is_given(input)) {
            input_texts(input).iter().for_each(|text| self.note(text));
        }
    }
}

/// Prints the error of an invalid command line, or the help that the command line requests.
pub(crate) fn usage(error: &clap::Error, words: &[OsString]) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let printed = error.print().and_then(|()| io::stdout().flush());
            let path = "standard output".to_owned();
            let Err(source) = printed.map_err(|source| Failure::Write { path, source }) else {
                return Exit::Complete;
            };
            let exit = Exit::of(&source);
            if exit != Exit::Complete {
                say(&lines(Level::Error, &source.to_string(), false));
            }
            exit
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            Exit::Usage
        }
        _ => {
            let text = &hints::message(error, words);
            let color = is_colored(TerminalChoice::Auto, io::stderr().is_terminal());
            say(&lines(Level::Error, text, color));
            Exit::Usage
        }
    }
}

/// Returns the message of a failed run, with the position in the input if it is known.
pub(crate) fn failure_text(failure: &Failure) -> String {
    let mut text = plain_lines(&failure.to_string());
    if let Some(around) = failure.around() {
        let [line, caret] = pointed(around, None);
        text.push_str(&format!("\n  {line}\n  {caret}"));
    }
    text
}

/// Returns whether text for people is coloured, on standard output or in a file.
pub(crate) fn has_colors(when: TerminalChoice, is_stdout: bool) -> bool {
    is_colored(when, is_stdout && io::stdout().is_terminal())
}

/// Returns whether to use colours, by the conventions of <https://no-color.org>. A terminal with
/// `TERM=dumb` gets no colours.
fn is_colored(when: TerminalChoice, is_terminal: bool) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match when {
        TerminalChoice::Always => true,
        TerminalChoice::Never => false,
        TerminalChoice::Auto => {
            let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            is_terminal && !is_set("NO_COLOR") && !is_dumb
        }
    }
}

fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// The start of each message.
const NAME: &str = "tracemill: ";

/// The word before the message of a broken limit.
const FAILED: &str = "FAILED ";

/// Formats a message as lines. Only the first line begins with the kind of the message.
fn lines(level: Level, text: &str, color: bool) -> String {
    let (style, word) = match level {
        Level::Error => (AnsiColor::Red.on_default().bold(), "error: "),
        Level::Failed => (AnsiColor::Red.on_default().bold(), FAILED),
        Level::Warning => (AnsiColor::Yellow.on_default().bold(), "warning: "),
        Level::Note => (Style::new(), ""),
    };
    let (mut all, columns) = (String::new(), columns_of_messages());
    let mut word = if color && !word.is_empty() {
        format!("{style}{}{style:#} ", word.trim_end())
    } else {
        word.to_owned()
    };
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let line = format!("{NAME}{word}{}", plain(line));
        push_line(&mut all, &line, NAME.len(), columns);
        word.clear();
    }
    all
}

/// Formats an excerpt of an input, with a caret below the position of the error.
fn pointer_lines(around: &Around, color: bool) -> String {
    let room = columns_of_messages().map(|columns| columns.saturating_sub(NAME.len() + 2));
    let [text, caret] = pointed(around, room);
    let style = if color { AnsiColor::Red.on_default().bold() } else { Style::new() };
    format!("tracemill:   {text}\ntracemill:   {style}{caret}{style:#}\n")
}

/// Escapes control characters in each line with [`plain`].
fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// Returns a message for each input and each kind of loss.
pub(crate) fn loss_texts(inputs: &[InputReport]) -> Vec<String> {
    let damaged = inputs.iter().filter(|input| input.losses.count() > 0 || !input.flaws.is_empty());
    let mut texts = Vec::new();
    for input in damaged.clone().take(INPUTS) {
        for (kind, tally) in input.losses.iter() {
            let mut text = format!(
                "{}: lost {} ({}, {}): {}",
                input.name,
                plural(tally.count, "piece"),
                kind.name(),
                plural(tally.bytes, "byte"),
                kind.sentence()
            );
            if let Some(first) = tally.examples.first() {
                text.push_str(&format!("; first at byte {}: {}", first.offset, first.excerpt));
            }
            if kind == DamageKind::NotJson && !input.lapses.mended {
                text.push_str("; --repair saves those that can be mended");
            }
            texts.push(text);
        }
        for (kind, flaw) in input.flaws.iter() {
            texts.push(format!("{}: {}", input.name, flaw_text(kind, flaw)));
        }
    }
    let more = damaged.count().saturating_sub(INPUTS);
    if more > 0 {
        texts.push(format!(
            "… and {} with losses; --report has all",
            plural(more as u64, "more input")
        ));
    }
    texts
}

/// Returns a message about one kind of flaw in a CPU profile, with its count and first offset.
pub(crate) fn flaw_text(kind: FlawKind, flaw: &Flaw) -> String {
    let times = match flaw.count {
        1 => "once".to_owned(),
        count => plural(count, "time"),
    };
    let (sentence, name, offset) = (kind.sentence(), kind.name(), flaw.offset);
    let input = match flaw.input.is_empty() {
        true => String::new(),
        false => format!(" of {}", flaw.input),
    };
    format!("{sentence} ({name}, {times}); first at byte {offset}{input}")
}

/// Returns a message per input and kind of invalid JSON, and whether it was repaired.
fn lapse_texts(inputs: &[InputReport]) -> Vec<(bool, String)> {
    let lapsed = inputs.iter().filter(|input| input.lapses.count() > 0);
    let mut texts = Vec::new();
    for input in lapsed.clone().take(INPUTS) {
        let mended = input.lapses.mended;
        let (done, remedy) = match mended {
            true => ("mended", ""),
            false => ("kept as it stands", "; the output is not JSON there; --repair mends it"),
        };
        for (kind, tally) in input.lapses.iter() {
            let first = tally.examples.first();
            let first = first.map_or(String::new(), |first| {
                format!("; first at byte {}: {}", first.noticed, first.excerpt)
            });
            texts.push((
                mended,
                format!(
                    "{}: {done} in {} ({}): {}{first}{remedy}",
                    input.name,
                    plural(tally.count, "place"),
                    kind.name(),
                    kind.sentence()
                ),
            ));
        }
    }
    let more = lapsed.count().saturating_sub(INPUTS);
    if more > 0 {
        let inputs = plural(more as u64, "more input");
        texts.push((false, format!("… and {inputs} that are not JSON; --report has all")));
    }
    texts
}

/// Returns the description of an input: events, bytes, encoding, and unusual syntax that causes no
/// loss.
fn input_texts(input: &InputReport) -> Vec<String> {
    let name = &input.name;
    let encoding = input.encoding.map_or(String::new(), |encoding| format!(", {encoding}"));
    let holds = contents(input.events, input.profiles);
    let mut texts = vec![format!("{name}: {holds}, {}{encoding}", human(input.bytes))];
    if input.unclosed > 0 {
        let documents = plural(input.unclosed, "document");
        texts.push(format!(
            "{name}: {documents} without closing brackets, which the format allows; nothing is lost"
        ));
    }
    if input.odd_separators > 0 {
        let commas = plural(input.odd_separators, "comma");
        texts.push(format!("{name}: {commas} missing or doubled; nothing is lost"));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::Damage;
    use tracemill_trace::run::losses::Losses;

    fn damaged(name: &str, losses: &[(DamageKind, u64, &[u8])]) -> InputReport {
        let mut input = InputReport { name: name.into(), ..InputReport::default() };
        for &(kind, offset, lost) in losses {
            let mut all = Losses::default();
            all.add(&Damage { kind, offset, noticed: offset, lost });
            input.losses.append(all);
        }
        input
    }

    #[test]
    fn every_line_begins_with_the_program_name() {
        assert_eq!(lines(Level::Error, "no", false), "tracemill: error: no\n");
        assert_eq!(
            lines(Level::Warning, "a\n\n b\n", false),
            "tracemill: warning: a\ntracemill:  b\n"
        );
        assert_eq!(lines(Level::Note, "fine", true), "tracemill: fine\n");
        let red = lines(Level::Error, "no", true);
        assert_eq!(red, "tracemill: \u{1b}[1m\u{1b}[31merror:\u{1b}[0m no\n");
    }

    #[test]
    fn the_caret_is_under_the_error() {
        let around =
            Around { bytes: b"[nul]".to_vec(), at: 1, more_before: true, more_behind: false };
        let plain = "tracemill:   …[nul]\ntracemill:     ^\n";
        assert_eq!(pointer_lines(&around, false), plain);
        let red = pointer_lines(&around, true);
        assert_eq!(red, plain.replace("  ^", "\u{1b}[1m\u{1b}[31m  ^\u{1b}[0m"));
    }

    #[test]
    fn terminal_control_characters_are_escaped() {
        assert_eq!(plain("a\u{1b}[31mb\t×"), "a\\u{1b}[31mb\\t×");
        assert_eq!(plain("a\u{202E}cba\u{2069}é"), "a\\u{202e}cba\\u{2069}é");
    }

    #[test]
    fn losses_are_summed_by_input_and_kind() {
        let inputs = [
            damaged("good.json", &[]),
            damaged(
                "a.json",
                &[
                    (DamageKind::Truncated, 900, b"{\"ph\""),
                    (DamageKind::Malformed, 5123, b"{\"name\":\"a\"b\"}"),
                    (DamageKind::Malformed, 6000, b"{}"),
                ],
            ),
        ];
        let texts = loss_texts(&inputs);
        assert_eq!(texts.len(), 2);
        let sentence = DamageKind::Malformed.sentence();
        assert_eq!(
            texts[0],
            format!(
                "a.json: lost 2 pieces (malformed, 16 bytes): {sentence}; first at byte 5123: {{\"name\":\"a\"b\"}}"
            )
        );
        assert!(
            texts[1].starts_with("a.json: lost 1 piece (truncated, 5 bytes): "),
            "{}",
            texts[1]
        );
    }

    #[test]
    fn many_damaged_inputs_are_counted() {
        let input = damaged("x", &[(DamageKind::Garbage, 0, b"?")]);
        let texts = loss_texts(&vec![input; INPUTS + 2]);
        assert_eq!(texts.len(), INPUTS + 1);
        assert_eq!(texts[INPUTS], "… and 2 more inputs with losses; --report has all");
    }

    #[test]
    fn inputs_are_described_with_size_and_encoding() {
        let input = InputReport {
            name: "a".into(),
            bytes: 2048,
            events: 1,
            encoding: Some("gzip"),
            unclosed: 1,
            odd_separators: 2,
            ..InputReport::default()
        };
        let texts = input_texts(&input);
        assert_eq!(texts[0], "a: 1 event, 2.0 KiB, gzip");
        assert!(texts[1].starts_with("a: 1 document without closing brackets"));
        assert!(texts[2].starts_with("a: 2 commas missing or doubled"));
    }
}
