//! Flags of `completions` and `man`, for packages of tracemill.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

pub(super) const COMPLETIONS_ABOUT: &str = "\
Writes a shell script to standard output that completes verbs, flags and their values.";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  For bash, in the current shell:
    tracemill completions bash > tracemill.bash && source tracemill.bash

  For fish:
    mkdir -p ~/.config/fish/completions
    tracemill completions fish > ~/.config/fish/completions/tracemill.fish

  For zsh, in a folder of its fpath:
    tracemill completions zsh > _tracemill

  For bash, in every shell:
    mkdir -p ~/.local/share/bash-completion/completions
    tracemill completions bash > ~/.local/share/bash-completion/completions/tracemill";

pub(super) const MAN_ABOUT: &str = "\
Writes the manual: the page of tracemill or of a verb to standard output, or all pages to a folder.

Each verb has its page, such as tracemill-merge.1, with the text of --help.";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  The page of a verb:
    tracemill man profile extract > extract.1

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
    /// Write all pages to DIR, and create it if needed
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub(crate) dir: Option<PathBuf>,
    /// Replace existing files
    #[arg(short, long, help_heading = "Output", requires = "dir")]
    pub(crate) force: bool,
}
