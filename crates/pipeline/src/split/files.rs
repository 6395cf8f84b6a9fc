//! Names and reports of parts.

use super::cut::too_many;
use super::group::ThreadGroup;
use super::plan::OutputPart;
use super::{SplitBy, SplitPart, SplitRun, refusal};
use std::path::{Path, PathBuf};
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::to_text;
use tracemill_trace::input::source::Source;
use tracemill_trace::json::printable;
use tracemill_trace::output;
use tracemill_trace::output::target::{Compression, Format, OutputConfig, Target};
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashSet;
use tracemill_write::file_names::{fill, resolved_path, safe, stem};

/// Returns whether a part would overwrite a reserved file, or an existing file in a reserved
/// folder.
fn is_reserved(part: &Path, reserved: &HashSet<PathBuf>) -> bool {
    let is_within = || part.ancestors().skip(1).any(|folder| reserved.contains(folder));
    reserved.contains(part) || is_within() && part.exists()
}

impl SplitRun<'_, '_> {
    /// Returns the file of each part. Fails if two parts have the same name or a file exists
    /// already.
    pub(super) fn files(
        &self,
        parts: &[OutputPart],
        groups: &[ThreadGroup],
        format: Format,
    ) -> Result<Vec<PathBuf>, Error> {
        if parts.len() > super::cut::PARTS_MOST {
            return Err(too_many());
        }
        let (split, usual) = (self.split, self.split.by.template(self.split.max_size.is_some()));
        let template = split.template.as_deref().unwrap_or(usual);
        let constant = [
            ("{stem}", self.sources.first().map_or(String::new(), |source| stem(source.path()))),
            ("{ext}", extension(format, split.compression)),
        ];
        let digits = parts.len().to_string().len().max(3);
        let sources: Vec<&Source> = self.sources.iter().collect();
        let reserved: HashSet<PathBuf> =
            split.reserved.iter().map(|path| resolved_path(path)).collect();
        let (mut taken, mut files) = (HashSet::default(), Vec::with_capacity(parts.len()));
        for (number, part) in parts.iter().enumerate() {
            let mut values = constant.to_vec();
            values.push(("{part}", format!("{:0digits$}", number + 1)));
            self.push_ids(&mut values, &groups[part.group]);
            let name = fill(template, &values);
            if name.is_empty() || !taken.insert(name.clone()) {
                return Err(refusal(format!(
                    "two parts would be called {name}: use {{part}} in the template"
                )));
            }
            let file = split.dir.join(name);
            if !reserved.is_empty() && is_reserved(&resolved_path(&file), &reserved) {
                let name = file.display();
                return Err(refusal(format!(
                    "a part would be written over {name}: choose another name"
                )));
            }
            let target = Target::File { path: file.clone(), replace: split.replace };
            let compression = Compression::None;
            output::check(&OutputConfig { target, format: None, compression }, &sources)?;
            files.push(file);
        }
        Ok(files)
    }

    /// Adds the values of placeholders for ids and names of a group.
    fn push_ids(&self, values: &mut Vec<(&'static str, String)>, group: &ThreadGroup) {
        let partition =
            group.threads.first().map(|&thread| &self.found.partitions[thread as usize]);
        let (pid, tid) =
            partition.map_or((&[][..], &[][..]), |partition| (&partition.pid, &partition.tid));
        let names = &self.found.names;
        values.extend([
            ("{pid}", safe(&printable(pid))),
            ("{tid}", safe(&printable(tid))),
            ("{process}", safe(&names.process(pid).unwrap_or_default())),
            ("{thread}", safe(&names.thread(pid, tid).unwrap_or_default())),
            ("{cat}", safe(&partition.map_or(String::new(), |partition| partition.category()))),
        ]);
    }

    /// Adds a warning if parts exceed the maximum size.
    pub(super) fn warn_of_sizes(&self, lens: &[u64], warnings: &mut Vec<Warning>) {
        let most = match (self.split.by, self.split.max_size) {
            (SplitBy::Size(most), _) | (_, Some(most)) => most,
            _ => return,
        };
        let larger = lens.iter().filter(|&&len| len > most).count();
        if larger > 0 {
            let (of, viewer) = (lens.len(), self.config.viewer.viewer);
            warnings.push(Warning::PartsTooLarge { larger, of, most, viewer });
        }
    }

    /// Refuses parts whose total length far exceeds the input, because each part repeats metadata
    /// and keys.
    pub(super) fn refuse_repetition(&self, lens: &[u64]) -> Result<(), Error> {
        /// Maximum ratio of output to input bytes, and output bytes that are always allowed.
        const MOST: (u64, u64) = (4, 64 << 20);
        let read: u64 = self.inputs.reports.iter().map(|input| input.bytes).sum();
        let all: u64 = lens.iter().sum();
        if all <= MOST.1 || all / MOST.0 <= read {
            return Ok(());
        }
        Err(refusal(format!(
            "the {} parts would take {all} bytes, {} times as much as what was read, since each repeats metadata and keys: \
             choose larger parts (a dry run shows how large they become)",
            lens.len(),
            all / read.max(1)
        )))
    }

    /// Returns the report of each part.
    pub(super) fn described(
        &self,
        parts: &[OutputPart],
        groups: &[ThreadGroup],
        files: Vec<PathBuf>,
        lens: &[u64],
    ) -> Vec<SplitPart> {
        let by = self.split.by;
        let written = to_text;
        let describe = |((part, file), &bytes): ((&OutputPart, PathBuf), &u64)| {
            let thread = groups[part.group].threads.first();
            let partition = thread.map(|&thread| &self.found.partitions[thread as usize]);
            let of = |value: fn(&super::partition::Partition) -> &[u8]| {
                partition.map_or(String::new(), |l| written(value(l)))
            };
            let has_pid = matches!(by, SplitBy::Pid | SplitBy::Tid);
            SplitPart {
                file,
                pid: has_pid.then(|| of(|partition| &partition.pid)),
                tid: (by == SplitBy::Tid).then(|| of(|partition| &partition.tid)),
                cat: (by == SplitBy::Cat)
                    .then(|| partition.map_or(String::new(), |partition| partition.category())),
                events: part.events,
                metadata: part.metadata_events,
                copies: part.copies.len() as u64,
                bytes,
                times_ns: part.times,
            }
        };
        parts.iter().zip(files).zip(lens).map(describe).collect()
    }
}

fn extension(format: Format, compression: Compression) -> String {
    let form = if format == Format::Ndjson { "ndjson" } else { "json" };
    let packing = match compression {
        Compression::None => "",
        Compression::Gzip { .. } => ".gz",
        Compression::Zstd { .. } => ".zst",
    };
    format!("{form}{packing}")
}
