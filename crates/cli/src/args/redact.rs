//! Flags of `redact`.

use super::choices::choices;
use super::{CommonArgs, InputArgs, OutputArgs, TraceArgs};
use clap::Args;
use std::hash::{BuildHasher, RandomState};
use tracemill_join::config::pattern::Pattern;
use tracemill_pipeline::{Redaction, Secret};

pub(super) const ABOUT: &str = "\
Writes a trace that you can show to others: addresses, paths and names of users become placeholders, wherever they \
stand: in args, stackFrames, metadata, CPU profiles, source maps and keys of objects. Everything else stays as it \
is, to the byte, in the order of the input.

  url   addresses with :// and data: (host and path are told apart); not chrome:// and devtools://
  path  absolute paths of two names and more, and those below ~ and drives; a text that is a path as a whole goes as a whole
  user  names of home folders (/home/NAME, C:\\Users\\NAME) where paths stay, and e-mail addresses

Equal texts get equal placeholders. These are keyed hashes, so nobody can find out what they stand for without the \
key. Each run makes a new key, unless --key gives one: then placeholders are the same in all runs.

The rules cannot know everything: host names without an address, names of functions and titles of pages stay (--also \
takes them out). So look at the result before you share it. stderr and --report say how often something was \
replaced, never by what. Text that is not JSON is mended.";

pub(super) const EXAMPLES: &str = "\
Examples:
  Before a trace goes into an issue:
    tracemill redact trace.json.gz -o safe.json.gz

  Names of users only, and those of a project:
    tracemill redact --what user --also 'Project ?X' trace.json -o safe.json

  Two recordings with the same placeholders:
    tracemill redact --key 'a long secret' before.json -o before-safe.json
    tracemill redact --key 'a long secret' after.json -o after-safe.json

  A window of it, for DevTools:
    tracemill slice trace.json --from 2s --duration 1s --for devtools | tracemill redact -o safe.json";

/// Flags of `redact`.
#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// What is replaced [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = choices(Secret::ALL.map(|own| (own.name(), own, ""))), help_heading = "What is replaced")]
    what: Vec<Secret>,
    /// Also replace everything that matches; may be given more than once
    #[arg(long, value_name = "REGEX", help_heading = "What is replaced")]
    also: Vec<Pattern>,
    /// Make the placeholders with TEXT, so that other runs with it make the same; whoever knows it can try out texts
    #[arg(long, value_name = "TEXT", help_heading = "What is replaced")]
    key: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl RedactArgs {
    /// What the pipeline takes.
    pub(crate) fn redaction(&self) -> Redaction {
        let secrets = if self.what.is_empty() { Secret::ALL.to_vec() } else { self.what.clone() };
        let key = match &self.key {
            Some(key) => key.clone().into_bytes(),
            // each has keys of 128 bits that the system gave
            None => [RandomState::new(), RandomState::new()]
                .iter()
                .flat_map(|state| (0..2u8).flat_map(|half| state.hash_one(half).to_le_bytes()))
                .collect(),
        };
        Redaction { secrets, also: self.also.clone(), key }
    }
}
