//! Flags on who is who when inputs are merged.

use super::choices::choices;
use crate::exit::Failure;
use crate::manifest::{self, Manifest};
use clap::Args;
use std::path::PathBuf;
use tracemill_join::config::pattern::Pattern;
use tracemill_join::config::{IdPolicy, IdentityRules, PidPolicy};

/// Which processes and ids of several inputs are the same.
#[derive(Debug, Args)]
#[command(next_help_heading = "Identity")]
pub(crate) struct IdentityArgs {
    /// What to do with a pid that several inputs have
    ///
    /// A new pid shows the old one: 4711 becomes 10004711.
    #[arg(long, value_name = "RULE", default_value = "auto", value_parser = choices(PIDS))]
    pub(crate) pid: PidPolicy,
    /// What to do with ids of async operations and flows that several inputs have
    #[arg(long, value_name = "RULE", default_value = "auto", value_parser = choices(IDS))]
    pub(crate) ids: IdPolicy,
    /// Treat the values of NAME in args as ids too, such as "External id" and correlation of PyTorch
    ///
    /// May be given more than once; each has ids of its own.
    #[arg(long, value_name = "NAME")]
    pub(crate) args_key: Vec<String>,
    /// Call the processes of an input TEXT, and show them in the order of the inputs
    ///
    /// Adds process_name ("TEXT: name"), process_labels and process_sort_index events. FILE is the input's path or its
    /// name. May be given once for each file.
    #[arg(long, value_name = "FILE=TEXT", value_parser = label)]
    pub(crate) label: Vec<(PathBuf, String)>,
    /// Name processes after their inputs: by what the first group of REGEX matches in the path
    #[arg(long, value_name = "REGEX")]
    pub(crate) label_from_name: Option<Pattern>,
    /// Write events that are equal to the byte only once
    ///
    /// Of equal ones the first stays; -v and --report say how many went. Chunks of CPU profiles stay. Metadata events
    /// (ph M) are compared too, as with --dedup-metadata.
    #[arg(long)]
    pub(crate) dedup: bool,
    /// Write metadata events (ph M) that are equal to the byte only once
    #[arg(long)]
    pub(crate) dedup_metadata: bool,
    /// Write to metadata.tracemill of the output what the inputs were and what was renamed
    #[arg(long)]
    pub(crate) provenance: bool,
    /// Read inputs, their labels and new pids from FILE, as --write-manifest wrote them
    ///
    /// These inputs follow the others. For an input without `pids` the pids are decided as usual.
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Write inputs, their labels and new pids to FILE (JSON), to be edited and used for another merge
    #[arg(long, value_name = "FILE")]
    pub(crate) write_manifest: Option<PathBuf>,
}

/// Whose processes are whose.
const PIDS: [(&str, PidPolicy, &str); 4] = [
    (
        "auto",
        PidPolicy::Auto,
        "One process if the inputs are provably one recording (parts of a split, rotated logs such as a.1.log and a.2.log, a CPU profile that goes on); else the later one gets a new pid",
    ),
    ("keep", PidPolicy::Keep, "One process"),
    (
        "offset",
        PidPolicy::Offset,
        "Always different ones: pids of the second input grow by a power of ten, of the third by twice that",
    ),
    (
        "one",
        PidPolicy::One,
        "Like auto, but all .cpuprofile inputs are threads of the earliest one",
    ),
];

/// Whose ids are whose.
const IDS: [(&str, IdPolicy, &str); 2] = [
    (
        "auto",
        IdPolicy::Auto,
        "The same within a recording; those of a later recording are renamed if they lie among earlier ones",
    ),
    ("keep", IdPolicy::Keep, "The same"),
];

/// `FILE=TEXT`
fn label(text: &str) -> Result<(PathBuf, String), String> {
    let parts = text.split_once('=').filter(|(file, label)| !file.is_empty() && !label.is_empty());
    let (file, label) = parts.ok_or_else(|| "expected FILE=TEXT".to_owned())?;
    Ok((file.into(), label.to_owned()))
}

impl IdentityArgs {
    /// The manifest to merge by, if there is one.
    pub(crate) fn manifest(&self) -> Result<Option<Manifest>, Failure> {
        self.manifest.as_deref().map(manifest::read).transpose()
    }

    /// What the pipeline takes.
    pub(crate) fn rules(&self, manifest: Option<&Manifest>) -> IdentityRules {
        let mut labels = self.label.clone();
        labels.extend(manifest.iter().flat_map(|manifest| manifest.labels.iter().cloned()));
        IdentityRules {
            pid: self.pid,
            ids: self.ids,
            args_keys: self.args_key.clone(),
            labels,
            label_from_name: self.label_from_name.clone(),
            dedup: self.dedup,
            dedup_metadata: self.dedup || self.dedup_metadata,
            provenance: self.provenance,
            stated: manifest.map_or_else(Vec::new, |manifest| manifest.stated.clone()),
        }
    }
}
