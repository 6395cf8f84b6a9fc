//! Flags of `completions` and `man`: what packages of tracemill have beside the program.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

pub(super) const COMPLETIONS_ABOUT: &str = "\
Writes a script with which a shell completes verbs, flags and their values to standard output.";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  For bash, from now on:
    mkdir -p ~/.local/share/bash-completion/completions
    tracemill completions bash > ~/.local/share/bash-completion/completions/tracemill

  For fish:
    mkdir -p ~/.config/fish/completions
    tracemill completions fish > ~/.config/fish/completions/tracemill.fish

  For zsh, in a folder of its fpath:
    tracemill completions zsh > _tracemill";

pub(super) const MAN_ABOUT: &str = "\
Writes the manual: one page to standard output, that of tracemill or of the verb named, or all pages to a folder.

Each verb has a page of its own, tracemill-merge.1 and so on. They say what --help says.";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  Read the page of a verb:
    tracemill man merge > merge.1 && man -l merge.1

  All pages, for a package:
    tracemill man -d man1";

/// Flags of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// Flags of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The page of this verb, such as merge or profile list [default: tracemill]
    #[arg(value_name = "VERB", conflicts_with = "dir")]
    pub(crate) verb: Vec<String>,
    /// Write all pages to DIR, which is created if it does not exist
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub(crate) dir: Option<PathBuf>,
    /// Replace files that exist
    #[arg(short, long, help_heading = "Output", requires = "dir")]
    pub(crate) force: bool,
}
