//! Writes parts to files, several at once if there are many.
//!
//! ```text
//!   larger than total / threads, or for a viewer   one after the other, each on all threads
//!   all other parts                                largest first, one part per thread at a time
//! ```
//!
//! Each thread completes its file before it opens the next.

use super::frames::TraceFrames;
use super::group::ThreadGroup;
use super::plan::{OutputPart, Planner};
use crate::fitted::{draft, fit};
use crate::repeated::{MARK, RepeatMarks};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tracemill_join::config::Config;
use tracemill_join::report::warning::Warning;
use tracemill_join::report::{RunReport, ViewerReport};
use tracemill_trace::Limits;
use tracemill_trace::order::{Lists, MergedRuns, Order, Sequence, TimedEntries};
use tracemill_trace::output::packer;
use tracemill_trace::output::target::{Compression, OutputConfig, Target};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Progress;
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::threads::try_each;
use tracemill_write::emit::OrderedEvents;
use tracemill_write::keys::MergedKeys;
use tracemill_write::layout::Layout;
use tracemill_write::reordering::Reordering;
use tracemill_write::trace_writer::{EventCount, TracePlan, TraceWriter};

/// Memory per thread that writes parts, for a buffer and the state of the part. Strong compression
/// needs more memory.
const WRITER: u64 = 16 << 20;

/// Data that the writers of all parts share.
pub(super) struct WriteContext<'j, 's, 'p> {
    pub(super) planner: &'j Planner<'j, 's, 'p>,
    pub(super) groups: &'j [ThreadGroup],
    pub(super) united: &'j MergedKeys<'p>,
    pub(super) frames: Option<&'j TraceFrames>,
    /// Bytes of each part outside its events, without stack frames.
    pub(super) around: u64,
    /// Empty, because metadata and events without a time are sorted with all other events.
    pub(super) lists: &'j Lists,
    pub(super) delays: &'j Reordering,
    pub(super) layout: Layout,
    pub(super) output: &'j OutputConfig,
    pub(super) inputs: &'j Inputs,
    pub(super) config: &'j Config,
}

impl<'p> WriteContext<'_, '_, 'p> {
    fn order(&self) -> Order<'_, 'p> {
        self.planner.order
    }

    fn events<'e>(
        &'e self,
        part: &'e OutputPart,
        sequence: &Sequence<'e>,
    ) -> OrderedEvents<'e, 'e, 'p> {
        let order = self.order();
        let timed = match sequence.buckets() {
            Some(buckets) => TimedEntries::Buckets(buckets),
            None => TimedEntries::Merged(Mutex::new(MergedRuns::over(
                sequence.0.iter().copied(),
                order,
            ))),
        };
        let delays = match part.has_streams() {
            true => self.delays.clone(),
            false => Reordering::default(),
        };
        OrderedEvents {
            order,
            layout: self.layout,
            delays,
            lists: self.lists,
            timed,
            patchers: Vec::new(),
        }
    }

    /// Returns the index of the `stackFrames` key and its value in a part.
    fn frames(&self, part: &OutputPart) -> Option<(usize, Vec<u8>)> {
        let frames = self.frames?;
        let sequence = self.planner.sequence(part, self.groups);
        Some((frames.key, frames.value(&sequence, self.order().0)))
    }

    /// Returns the marks of repeated events. Parts for a viewer have no marks, because their begin
    /// events are joined with end events.
    fn marks(&self, part: &OutputPart) -> RepeatMarks {
        let repeated = part.copies.iter().filter(|_| self.config.viewer.viewer.is_none());
        let mut offsets: Vec<u64> = repeated.map(|copy| copy.place.offset()).collect();
        offsets.sort_unstable();
        RepeatMarks(offsets)
    }

    /// Returns the bytes of a part before compression. For NDJSON this counts line breaks inside
    /// events and frames.
    pub(super) fn len(&self, part: &OutputPart) -> u64 {
        let frames = self.frames(part).map_or(0, |(_, value)| value.len() as u64);
        let bytes = part.bytes + MARK * self.marks(part).0.len() as u64;
        self.around + frames + self.layout.events_len(part.events, bytes)
    }

    pub(super) fn write_all(
        &self,
        parts: &[OutputPart],
        files: &[PathBuf],
    ) -> Result<Vec<WrittenPart>, Error> {
        let all = parts.iter().map(|part| part.bytes).sum::<u64>();
        let share = all / self.config.limits.threads as u64;
        // a merge for a viewer takes all threads and most of the memory
        let alone = self.config.viewer.viewer.is_some();
        let (mut written, mut rest) = (vec![WrittenPart::default(); parts.len()], Vec::new());
        for (number, part) in parts.iter().enumerate() {
            if part.bytes > share || alone {
                written[number] = self.write(part, &files[number], self.config)?;
            } else {
                rest.push(number);
            }
        }
        rest.sort_by_key(|&number| Reverse(parts[number].bytes));
        let mut config = self.config.clone();
        config.limits.threads = 1;
        let config = &config;
        let small = try_each(self.writers(), rest.len(), |task| {
            self.write(&parts[rest[task]], &files[rest[task]], config)
        })?;
        for (number, part) in rest.into_iter().zip(small) {
            written[number] = part;
        }
        Ok(written)
    }

    /// Returns the number of parts to write in parallel, limited by the memory for compression.
    fn writers(&self) -> usize {
        let threads = self.config.limits.threads;
        // half as much again for other state
        let each = WRITER.max(packer(self.output.compression) / 2 * 3);
        match self.output.compression {
            Compression::None => threads,
            _ => threads.min(self.config.limits.room_for(each)).max(1),
        }
    }

    /// Writes a part, for the viewer if there is one.
    fn write(&self, part: &OutputPart, file: &Path, config: &Config) -> Result<WrittenPart, Error> {
        let target = match &self.output.target {
            Target::File { replace, .. } => {
                Target::File { path: file.to_owned(), replace: *replace }
            }
            Target::Stdout | Target::Writer(_) => {
                Target::File { path: file.to_owned(), replace: false }
            }
        };
        let output = OutputConfig { target, ..self.output.clone() };
        let mut written = match config.viewer.viewer {
            None => self.write_to(part, &output, &config.limits)?,
            Some(_) => {
                let write =
                    |to: &OutputConfig, plain: &Config| self.write_to(part, to, &plain.limits);
                let (mut written, draft) = draft("the part", &output, config, write)?;
                let fitted = fit(draft, None, &output, &for_a_part(config))?;
                Progress::add(&config.limits.progress.bytes_written, fitted.run.bytes);
                (written.bytes, written.events) = (fitted.run.bytes, fitted.run.events);
                written.viewer = fitted.run.viewer;
                written.warnings.extend(fitted.run.warnings);
                written
            }
        };
        let warnings = std::mem::take(&mut written.warnings).into_iter();
        let in_part = |warning| Warning::InPart(file.to_owned(), Box::new(warning));
        written.warnings = warnings.map(in_part).collect();
        Ok(written)
    }

    /// Writes a part without a viewer.
    fn write_to(
        &self,
        part: &OutputPart,
        output: &OutputConfig,
        limits: &Limits,
    ) -> Result<WrittenPart, Error> {
        let sequence = self.planner.sequence(part, self.groups);
        let keys = self.united.for_part(self.frames(part));
        let mut events = self.events(part, &sequence);
        let marks = self.marks(part);
        if !marks.0.is_empty() {
            events.patchers.push(&marks);
        }
        let count = EventCount { events: part.events, bytes: part.bytes };
        let plan = TracePlan { events, count, keys, report: RunReport::new(limits) };
        let run = TraceWriter::new(output, limits).write(plan, self.inputs)?;
        let viewer = ViewerReport::default();
        Ok(WrittenPart { bytes: run.bytes, events: run.events, viewer, warnings: run.warnings })
    }
}

#[derive(Clone, Default)]
pub(super) struct WrittenPart {
    /// Bytes before compression.
    pub(super) bytes: u64,
    pub(super) events: u64,
    pub(super) viewer: ViewerReport,
    pub(super) warnings: Vec<Warning>,
}

/// Returns the config for merging one part, without the memory of the index.
fn for_a_part(config: &Config) -> Config {
    let mut one = Config { limits: config.limits.within(Share::of(3, 4)), ..config.clone() };
    one.limits.progress = Arc::default();
    one
}
