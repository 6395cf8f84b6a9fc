//! Parts to files: several at once where there are many, each by all threads where there are few.
//!
//! ```text
//!   parts larger than an even share   one after the other, each by all threads
//!   all others                        largest first, each by one thread, twice as many at once as there are threads
//! ```
//!
//! Of threads that write to a disk half are waiting for it. A part is opened when its turn comes and complete before its
//! thread takes the next, so no more files are open than that.

use super::frames::Frames;
use super::plan::{Group, Part, Planner};
use crate::annotations::{Annotations, Fates, Written};
use crate::config::Config;
use crate::delays::Delays;
use crate::emit::Emit;
use crate::keys::{Bytes, Key, United, free_name};
use crate::layout::Layout;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tracemill_core::error::Error;
use tracemill_core::order::{Lists, MergedRuns, Order, Sequence, Timed};
use tracemill_core::output::packer;
use tracemill_core::read::Inputs;
use tracemill_core::target::{Compression, OutputConfig, Target};
use tracemill_core::threads::try_each;

/// Bytes of the budget for each thread that writes parts: a buffer, and what its part needs; more where it packs thoroughly.
const WRITER: u64 = 16 << 20;

/// What all parts share.
pub(super) struct Job<'j, 's, 'p> {
    pub(super) planner: &'j Planner<'j, 's, 'p>,
    pub(super) groups: &'j [Group],
    pub(super) united: &'j United<'p>,
    pub(super) frames: Option<Frames>,
    pub(super) annotations: &'j Annotations<'p>,
    /// Metadata and untimed events: none, since they are in order with all others.
    pub(super) lists: &'j Lists,
    pub(super) delays: &'j Delays,
    pub(super) layout: Layout,
    pub(super) output: &'j OutputConfig,
    pub(super) inputs: &'j Inputs,
    pub(super) config: &'j Config,
}

impl<'p> Job<'_, '_, 'p> {
    fn order(&self) -> Order<'_, 'p> {
        self.planner.order
    }

    /// A part on its way to a file.
    fn emit<'e>(&'e self, part: &'e Part, sequence: &Sequence<'e>) -> Emit<'e, 'e, 'p> {
        let order = self.order();
        let timed = match sequence.buckets() {
            Some(buckets) => Timed::Buckets(buckets),
            None => Timed::Merged(Mutex::new(MergedRuns::over(sequence.0.iter().copied(), order))),
        };
        let delays = match part.has_streams() {
            true => self.delays.clone(),
            false => Delays::default(),
        };
        Emit {
            order,
            layout: self.layout,
            delays,
            lists: self.lists,
            timed,
            rewrite: None,
            retouch: None,
        }
    }

    /// The keys beside the events of a part, and what became of annotations.
    fn keys(&self, part: &Part, sequence: &Sequence<'_>) -> (United<'p>, Fates) {
        let store = self.order().0;
        let mut united = self.united.for_part();
        if let Some(frames) = &self.frames {
            united.keys[frames.key].value = vec![Bytes::Made(frames.value(sequence, store))];
        }
        if !part.copies.is_empty() {
            let mut value = Vec::new();
            let mut opening: &[u8] = b"{\"copies\":[";
            for copy in &part.copies {
                value.push(Bytes::Made(opening.to_vec()));
                value.push(Bytes::Input(store.event(copy.place)));
                opening = b",";
            }
            value.push(Bytes::Made(b"]}".to_vec()));
            united.keys.push(Key { name: free_name(&united), value });
        }
        let emit = self.emit(part, sequence);
        let written = Written::some(&emit, self.config);
        let fates = self.annotations.put(&mut united, &written);
        (united, fates)
    }

    /// Bytes of a part before packing, as if NDJSON kept line breaks within events; and what becomes of annotations in it.
    pub(super) fn len(&self, part: &Part) -> (u64, Fates) {
        if self.frames.is_none() && part.copies.is_empty() && self.annotations.is_empty() {
            return self.rough_len(part);
        }
        let (keys, fates) = self.keys(part, &self.planner.sequence(part, self.groups));
        (self.len_with(part, &keys), fates)
    }

    /// As [`Job::len`], without what only the events of the part tell.
    pub(super) fn rough_len(&self, part: &Part) -> (u64, Fates) {
        (self.len_with(part, self.united), Fates::default())
    }

    fn len_with(&self, part: &Part, keys: &United<'_>) -> u64 {
        self.layout.opening(keys).len() as u64
            + self.layout.events_len(part.events, part.bytes)
            + self.layout.closing_len(keys)
    }

    /// Writes all parts; returns the bytes of each before packing.
    pub(super) fn write_all(
        &self,
        parts: &[Part],
        files: &[PathBuf],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<u64>, Error> {
        let all = parts.iter().map(|part| part.bytes).sum::<u64>();
        let share = all / self.config.threads as u64;
        let (mut lens, mut rest) = (vec![0; parts.len()], Vec::new());
        for (number, part) in parts.iter().enumerate() {
            if part.bytes > share {
                lens[number] = self.write(part, &files[number], self.config, warnings)?;
            } else {
                rest.push(number);
            }
        }
        rest.sort_by_key(|&number| Reverse(parts[number].bytes));
        let mut config = self.config.clone();
        config.threads = 1;
        let config = &config;
        let written = try_each(self.writers(), rest.len(), |task| {
            let (number, mut said) = (rest[task], Vec::new());
            let len = self.write(&parts[number], &files[number], config, &mut said)?;
            Ok::<_, Error>((len, said))
        })?;
        for (number, (len, said)) in rest.into_iter().zip(written) {
            lens[number] = len;
            warnings.extend(said);
        }
        Ok(lens)
    }

    /// Threads that write parts side by side. Those that pack keep blocks too, so that not each thread may.
    fn writers(&self) -> usize {
        let threads = self.config.threads;
        // half as much again for what else there is: two at once took 36 MiB with -m 32M, four 67 with -m 64M
        let each = WRITER.max(packer(self.output.compression) / 2 * 3);
        match self.output.compression {
            Compression::None => threads,
            _ => threads.min(self.config.room_for(each)).max(1),
        }
    }

    /// Writes a part.
    fn write(
        &self,
        part: &Part,
        file: &Path,
        config: &Config,
        warnings: &mut Vec<String>,
    ) -> Result<u64, Error> {
        let sequence = self.planner.sequence(part, self.groups);
        let (keys, _) = self.keys(part, &sequence);
        let target = match &self.output.target {
            Target::File { replace, .. } => {
                Target::File { path: file.to_owned(), replace: *replace }
            }
            Target::Stdout | Target::Writer(_) => {
                Target::File { path: file.to_owned(), replace: false }
            }
        };
        let output = OutputConfig { target, ..self.output.clone() };
        let emit = self.emit(part, &sequence);
        let mut said = Vec::new();
        let size = (part.events, part.bytes);
        let check = || self.inputs.check_unchanged();
        let len = emit.write_all(&keys, size, (&output, None), config, &mut said, check)?;
        warnings.extend(said.into_iter().map(|text| format!("{}: {text}", file.display())));
        Ok(len)
    }
}
