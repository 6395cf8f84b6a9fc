//! `tracemill completions` and `tracemill man`, generated from the clap command.

use crate::args::{self, Cli, CompletionsArgs, ManArgs};
use crate::files::whole_file::OutputPlace;
use crate::outcome::exit::{Exit, Failure};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;
use std::path::Path;

/// The reason for a panic if writing to memory fails, which cannot happen.
const TO_MEMORY: &str = "memory takes all bytes";

/// Prints the completion script for a shell.
pub(super) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    let mut command = shown(&args::command());
    clap_complete::generate(args.shell, &mut command, "tracemill", &mut script);
    OutputPlace::Stdout.write(&script)?;
    Ok(Exit::Complete)
}

/// Copies a clap command without its hidden flags. Completion scripts would offer hidden flags.
fn shown(command: &Command) -> Command {
    let name = command.get_name().to_owned();
    let about = command.get_about().cloned().unwrap_or_default();
    Command::new(name)
        .about(about)
        .version(env!("CARGO_PKG_VERSION"))
        .disable_version_flag(command.get_version().is_none())
        .args(command.get_arguments().filter(|arg| !arg.is_hide_set()))
        .subcommands(command.get_subcommands().map(shown))
}

/// Prints one man page, or writes all of them to a folder.
pub(super) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let Some(dir) = &args.dir else {
        OutputPlace::Stdout.write(&page(verb(&root, &args.verb)?))?;
        return Ok(Exit::Complete);
    };
    let pages = pages(&root);
    let place = |name: &str| OutputPlace::of(&dir.join(format!("{name}.1")));
    for (name, _) in &pages {
        place(name).check("the page", &[], args.force)?;
    }
    make(dir)?;
    for (name, text) in &pages {
        place(name).write(text)?;
    }
    Ok(Exit::Complete)
}

fn make(dir: &Path) -> Result<(), Failure> {
    let failed = |source: io::Error| Failure::Write { path: dir.display().to_string(), source };
    std::fs::create_dir_all(dir).map_err(failed)
}

/// Finds the clap command of a verb, such as `profile list`.
fn verb<'c>(root: &'c Command, words: &[String]) -> Result<&'c Command, Failure> {
    words.iter().try_fold(root, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let verbs = command.get_subcommands().map(Command::get_name);
            let suggestion = crate::text::similar::suggestion(word, verbs);
            Failure::usage(format!("there is no page of a verb {word}{suggestion}"))
        })
    })
}

/// Returns the names and texts of all man pages. The page of `tracemill` is the first.
fn pages(command: &Command) -> Vec<(String, Vec<u8>)> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let mut all = vec![(name.to_owned(), page(command))];
    all.extend(command.get_subcommands().flat_map(pages));
    all
}

/// Renders the man page of a clap command. The page has no date, so that builds are reproducible.
fn page(command: &Command) -> Vec<u8> {
    let man = Man::new(command.clone());
    let name = command.get_display_name().unwrap_or(command.get_name());
    // `Man::render_title` would leave out an empty date
    let title = concat!(" 1 \"\" \"tracemill ", env!("CARGO_PKG_VERSION"), "\" tracemill\n");
    let mut text = format!(".TH {name}{title}").into_bytes();
    let written = man
        .render_name_section(&mut text)
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text));
    written.expect(TO_MEMORY);
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text).expect(TO_MEMORY);
    }
    if let Some(rest) = command.get_after_long_help() {
        text.extend(sections(&rest.to_string()).to_roff().into_bytes());
    }
    text
}

/// Formats the help text that follows the flags. A line that is not indented and ends with a colon
/// is a heading.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    for line in text.lines() {
        match line.strip_suffix(':').filter(|heading| !heading.starts_with(' ')) {
            Some(heading) => {
                roff.control("fi", []).control("SH", [heading.to_uppercase().as_str()]);
                roff.control("nf", []);
            }
            None => {
                roff.text([roman(line)]);
            }
        }
    }
    roff.control("fi", []);
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_become_sections_and_line_breaks_stay() {
        let roff = sections("Examples:\n  First:\n    tracemill -h\n\n.x").to_roff();
        assert!(roff.contains(".SH EXAMPLES\n.nf\n"), "{roff}");
        assert!(roff.contains("  First:\n"), "{roff}");
        assert!(roff.contains("    tracemill \\-h\n"), "{roff}");
        // a line of text that looks like a roff request is escaped
        assert!(!roff.contains("\n.x"), "{roff}");
    }

    #[test]
    fn hidden_flags_are_left_out() {
        let command = shown(&args::command());
        let merge = command.find_subcommand("merge").expect("a verb");
        let names: Vec<&str> = merge.get_arguments().map(|arg| arg.get_id().as_str()).collect();
        assert!(names.contains(&"output") && !names.contains(&"tier"), "{names:?}");
    }
}
