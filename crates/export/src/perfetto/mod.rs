//! Exports traces in Perfetto's format `perfetto_trace.proto`: slices, instants, counters, flows,
//! samples, and the names of threads and processes.
//!
//! ```text
//!  inputs ─ merge for Perfetto ─> draft (on disk, in order of time) ─ scan ─> packets ─> output
//! ```
//!
//! The merge makes ids unique, aligns clocks and moves overlapping events. So the export reads each
//! event once, and keeps only open events in memory.
//!
//! Field numbers are those of `protos/perfetto/trace` in Perfetto's repository.

mod annotations;
mod counts;
mod events;
mod open;
mod packets;
mod profiles;
mod tracks;

pub use counts::Perfetto;
use events::Writer;
use packets::Packets;
use std::io::{self, Write};
use tracemill_join::config::{CheckFor, Config, Overlaps, ViewerRules};
use tracemill_join::report::MergeReport;
use tracemill_pipeline::merge;
use tracemill_tokenizer::{Mapped, Scanner, Stop, Tier, Window};
use tracemill_trace::output::draft::Draft;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::{Error, Source};

/// Merged inputs in the order of their times, ready to be written in Perfetto's format.
pub struct PerfettoDraft {
    bytes: Option<Mapped>,
    /// Report of the merge.
    pub merged: MergeReport,
    limits: Limits,
    refused: Option<Error>,
}

impl PerfettoDraft {
    /// Merges `sources` for Perfetto, as [`merge`] does. The merge moves overlapping events to
    /// separate tracks.
    ///
    /// Cost: a merge, whose output is a temporary file.
    ///
    /// # Errors
    /// Returns the errors of [`merge`].
    pub fn read(sources: &[Source], config: &Config) -> Result<Self, Error> {
        let draft = Draft::new(&config.limits.tmp_dir)?;
        let mut config = config.clone();
        config.viewer = ViewerRules { viewer: Some(CheckFor::Perfetto), overlaps: Overlaps::Spill };
        let output = OutputConfig { format: None, ..draft.output() };
        let merged = merge(sources, &output, &config).map_err(|error| draft.error(error))?;
        Ok(PerfettoDraft { bytes: draft.map()?, merged, limits: config.limits, refused: None })
    }

    /// Writes the trace without compression. Equal inputs give equal bytes on all machines.
    ///
    /// Times are whole nanoseconds, except that times of samples are whole microseconds.
    ///
    /// Cost: one pass over the events. Heap: open events, 400 bytes per thread, at most 10 MiB for
    /// texts and tracks, and the call trees of CPU profiles.
    ///
    /// # Errors
    /// Returns the error of `out`, or an error that [`PerfettoDraft::check`] explains.
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<Perfetto> {
        /// Number of bytes between checks for cancellation.
        const PIECE: usize = 4 << 20;
        let bytes: &[u8] = self.bytes.as_deref().unwrap_or_default();
        let mut writer = Writer::new(Packets::new(out), bytes, self.limits.open_quota());
        let mut scanner = Scanner::new(Tier::best());
        let mut end = 0;
        while end < bytes.len() && writer.out.failed.is_none() && writer.room.refused.is_none() {
            if self.limits.cancel.check().is_err() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let from = scanner.retain_from();
            end = bytes.len().min(end + PIECE);
            let last = end == bytes.len();
            let window = Window { bytes: &bytes[from as usize..end], base: from, last };
            scanner.feed(window, Stop::NEVER, &mut writer);
        }
        writer.finish();
        let (failed, written) = (writer.out.failed.take(), writer.written);
        self.refused = writer.room.refused;
        match &self.refused {
            Some(_) => Err(io::ErrorKind::OutOfMemory.into()),
            None => failed.map_or(Ok(written), Err),
        }
    }

    /// Returns the error for which [`PerfettoDraft::write`] failed, unless its output failed.
    ///
    /// # Errors
    /// Returns [`tracemill_trace::ErrorKind::Cancelled`], or
    /// [`tracemill_trace::ErrorKind::Exceeded`] if the open events exceed half of the memory
    /// budget.
    pub fn check(&mut self) -> Result<(), Error> {
        self.limits.cancel.check()?;
        self.refused.take().map_or(Ok(()), Err)
    }
}
