//! Flags of `redact`.

use super::choices::choices;
use super::{CommonArgs, InputArgs, OutputArgs, TraceArgs};
use clap::Args;
use std::hash::{BuildHasher, RandomState};
use tracemill_join::config::pattern::Pattern;
use tracemill_pipeline::{Redaction, Secret};

pub(super) const ABOUT: &str = "\
Writes a trace that you can share: URLs, paths and user names become placeholders in args, stackFrames, metadata, CPU \
profiles, source maps and keys of objects. Everything else keeps its bytes and the order of the input.

  url   URLs with ://, and data: URLs (host and path become separate
        placeholders); not chrome:// and devtools://
  path  absolute paths of two or more names, and paths below ~ and drives; a
        text that is a path is replaced as a whole
  user  names of home folders (/home/NAME, C:\\Users\\NAME) where paths stay,
        and e-mail addresses

Equal texts get equal placeholders. Placeholders are keyed hashes: without the key nobody can find the original. Each \
run generates a new key, unless --key gives one; then placeholders are the same in all runs.

The rules cannot know everything: host names outside URLs, function names and page titles stay (--also replaces them). \
Check the result before you share it. stderr and --report count the replacements. Text that is not JSON is repaired.";

pub(super) const EXAMPLES: &str = "\
Examples:
  Redact a trace for an issue:
    tracemill redact trace.json.gz -o safe.json.gz

  Redact user names only, and the name of a project:
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
    /// Replace only these [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = choices(Secret::ALL.map(|secret| (secret.name(), secret, ""))), help_heading = "Replacements")]
    what: Vec<Secret>,
    /// Also replace all matches of REGEX; repeatable
    #[arg(long, value_name = "REGEX", help_heading = "Replacements")]
    also: Vec<Pattern>,
    /// Derive placeholders from TEXT, so that they are the same in every run
    ///
    /// Anyone who knows TEXT can test guesses of the original texts.
    #[arg(long, value_name = "TEXT", help_heading = "Replacements")]
    key: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl RedactArgs {
    /// Returns which texts are replaced, and by which rules.
    pub(crate) fn redaction(&self) -> Redaction {
        let secrets = if self.what.is_empty() { Secret::ALL.to_vec() } else { self.what.clone() };
        let key = match &self.key {
            Some(key) => key.clone().into_bytes(),
            // each state has 128 random bits
            None => [RandomState::new(), RandomState::new()]
                .iter()
                .flat_map(|state| (0..2u8).flat_map(|half| state.hash_one(half).to_le_bytes()))
                .collect(),
        };
        Redaction { secrets, also: self.also.clone(), key }
    }
}
