//! Flags about the ids of processes, threads and async operations in merged inputs.

use super::choices::choices;
use crate::files::manifest::{self, Manifest};
use crate::outcome::exit::Failure;
use clap::Args;
use std::path::PathBuf;
use tracemill_join::config::pattern::Pattern;
use tracemill_join::config::{IdPolicy, IdentityRules, PidPolicy};

/// Flags about pids and ids that several inputs use.
#[derive(Debug, Args)]
#[command(next_help_heading = "Identity")]
pub(crate) struct IdentityArgs {
    /// How to handle a pid that several inputs use
    ///
    /// A new pid contains the old one: 4711 becomes 10004711.
    #[arg(long, value_name = "RULE", default_value = "auto", value_parser = choices(PIDS))]
    pub(crate) pid: PidPolicy,
    /// How to handle ids of async operations and flows that several inputs use
    #[arg(long, value_name = "RULE", default_value = "auto", value_parser = choices(IDS))]
    pub(crate) ids: IdPolicy,
    /// Treat args.NAME as an id too, such as PyTorch's "External id" and correlation
    ///
    /// Repeatable; each NAME has its separate ids.
    #[arg(long, value_name = "NAME")]
    pub(crate) args_key: Vec<String>,
    /// Label the processes of an input, and sort processes by input
    ///
    /// Adds process_name ("TEXT: name"), process_labels and process_sort_index events. FILE is a path
    /// or a file name. Repeatable, once per file.
    #[arg(long, value_name = "FILE=TEXT", value_parser = label)]
    pub(crate) label: Vec<(PathBuf, String)>,
    /// Label processes with the part of the input's path that REGEX matches (its first group)
    #[arg(long, value_name = "REGEX")]
    pub(crate) label_from_name: Option<Pattern>,
    /// Write events whose bytes are equal only once
    ///
    /// The first copy stays; -v and --report count the others. Chunks of CPU profiles always stay.
    /// Includes --dedup-metadata.
    #[arg(long)]
    pub(crate) dedup: bool,
    /// Write metadata events (ph M) whose bytes are equal only once
    #[arg(long)]
    pub(crate) dedup_metadata: bool,
    /// Record inputs, renamed ids and clock offsets in metadata.tracemill of the output
    #[arg(long)]
    pub(crate) provenance: bool,
    /// Read inputs, labels, new pids and clock offsets from FILE (see --write-manifest)
    ///
    /// These inputs come after the others. An input without `pids` is handled as --pid says.
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Write inputs, labels, new pids and clock offsets to FILE (JSON), to edit and merge again
    #[arg(long, value_name = "FILE")]
    pub(crate) write_manifest: Option<PathBuf>,
}

/// Values of `--pid`.
const PIDS: [(&str, PidPolicy, &str); 4] = [
    (
        "auto",
        PidPolicy::Auto,
        "Keep it if the inputs are provably one recording (parts of a split, rotated logs such as a.1.log and a.2.log, a continued CPU profile); else renumber the later input",
    ),
    ("keep", PidPolicy::Keep, "Keep it: equal pids are one process"),
    (
        "offset",
        PidPolicy::Offset,
        "Renumber all: add a power of ten to the pids of the second input, twice that to the third",
    ),
    (
        "one",
        PidPolicy::One,
        "Like auto, but make all .cpuprofile inputs threads of the earliest one",
    ),
];

/// Values of `--ids`.
const IDS: [(&str, IdPolicy, &str); 2] = [
    (
        "auto",
        IdPolicy::Auto,
        "Keep them within a recording; renumber a later recording if its ids could clash",
    ),
    ("keep", IdPolicy::Keep, "Keep them: equal ids are one operation"),
];

/// Splits `FILE=TEXT`.
fn label(text: &str) -> Result<(PathBuf, String), String> {
    let parts = text.split_once('=').filter(|(file, label)| !file.is_empty() && !label.is_empty());
    let (file, label) = parts.ok_or_else(|| "expected FILE=TEXT".to_owned())?;
    Ok((file.into(), label.to_owned()))
}

impl IdentityArgs {
    /// Reads the manifest, if one is given.
    pub(crate) fn manifest(&self) -> Result<Option<Manifest>, Failure> {
        self.manifest.as_deref().map(manifest::read).transpose()
    }

    /// Returns the identity rules of the merge.
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
