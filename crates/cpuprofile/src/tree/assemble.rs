//! Assembles chunks in stream order into one profile with columns.
//!
//! Samples become node indices (4 bytes) and times become steps (8 bytes); both spill to disk. A
//! sample of an undefined node gets a placeholder, resolved at the end. The first step of a chunk
//! counts from the last sample of the previous chunk.
//!
//! If a stream has as many steps as samples, they are paired over the whole stream, as in DevTools;
//! otherwise per chunk, so that a bad chunk does not shift later chunks.
//!
//! ```text
//!   chunk    nodes 1 2 │ samples 2 2 9 │ deltas 5 7 7        9 is not defined yet
//!   chunk    nodes 9   │ samples 9     │ deltas 7
//!
//!   tree     1 2 9                        indices 0 1 2
//!   samples  1 1 2³¹+0 2                  2³¹+k: the k-th undefined id; `later[0]` becomes 2
//!   deltas   5000 7000 7000 7000          nanoseconds
//! ```
//!
//! Cost: a few ns and one lookup per sample. A repeated node is compared byte by byte with the
//! first node of the same id.

use crate::chunk::decoded_chunks::ChunkRef;
use crate::chunk::source::ProfileSource;
use crate::chunk::text::TextSpan;
use crate::chunk::{Extra, NO_ID, TraceId};
use crate::tree::assembled::{Extent, LATER, Profile, text_of};
use crate::tree::{Builder, NONE};
use std::path::Path;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::spill::{SpillVec, SpilledVec};
use tracemill_trace::store::Store;

/// Method of pairing samples with steps, chosen by their total numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pairing {
    /// Over the whole stream, as in DevTools.
    Whole,
    /// Per chunk; surplus samples or steps are dropped.
    ByChunk,
    /// There are samples, but no time steps.
    Untimed,
}

/// Share of the lease for samples, for lines, and for columns.
const COLUMN: Share = Share::of(1, 5);
/// Share of the lease for time steps.
const STEPS: Share = Share::of(2, 5);

/// The parts of a profile to assemble.
#[derive(Clone, Debug)]
pub enum Assembly {
    /// The whole profile: a fifth of the lease each for samples, lines and columns, the rest for
    /// time steps.
    All(Lease),
    /// The call tree and the defects; samples are checked and dropped.
    Tree,
}

/// An id used by samples before any node has it.
struct Unknown {
    id: u64,
    /// Number of samples that use the id.
    hits: u32,
    /// Offset of the first chunk that uses the id.
    offset: u64,
}

/// Assembles the chunks of a stream: [`Assembler::add`] for each in order, then
/// [`Assembler::finish`].
pub struct Assembler<'s, 'p> {
    store: &'s Store<'p>,
    assembly: Assembly,
    taken: u64,
    builder: Builder,
    decoded_text: Vec<u8>,
    pairing: Pairing,
    /// Node indices, or from [`LATER`] on indices in `unknown`; [`NONE`] for a step without a
    /// sample.
    samples: SpillVec<u32>,
    /// Time steps in nanoseconds.
    deltas: SpillVec<i64>,
    /// Lines and columns, beginning with the first chunk that has any; 0 before.
    positions: [Option<SpillVec<i64>>; 2],
    counted: Vec<u32>,
    unknown: Vec<Unknown>,
    unknown_ids: HashMap<u64, u32>,
    trace_ids: Vec<TraceId>,
    extras: Vec<Extra>,
    extra_keys: HashMap<Box<[u8]>, usize>,
    /// Start in nanoseconds: [`Assembler::set_start`], else according to the first chunk that has
    /// one.
    start: Option<i64>,
    /// End in nanoseconds according to the last chunk that has an end.
    end: Option<i64>,
    /// Offset from the clock of the data to the clock of the events.
    shift: i64,
    first: Option<u64>,
    source: Option<ProfileSource>,
    flaws: Flaws,
    /// Number of samples and their time range, if every sample has a node and a step.
    extent: Extent,
    /// Whether some sample has no valid id.
    lost: bool,
}

impl<'s, 'p> Assembler<'s, 'p> {
    /// Creates an assembler for a stream with `samples` samples and `deltas` steps in total.
    /// Reserves columns of these lengths, within their shares. So the numbers must be those of
    /// [`Sums`](crate::streams::profile_parts::ChunkSums).
    pub fn new(
        store: &'s Store<'p>,
        samples: u64,
        deltas: u64,
        assembly: Assembly,
        tmp_dir: &Path,
    ) -> Self {
        let pairing = match (samples, deltas) {
            (1.., 0) => Pairing::Untimed,
            _ if samples == deltas => Pairing::Whole,
            _ => Pairing::ByChunk,
        };
        let (lease, samples, deltas) = match &assembly {
            Assembly::All(lease) => (lease.clone(), samples, deltas),
            Assembly::Tree => (Lease::alone(0, tmp_dir), 0, 0),
        };
        Assembler {
            store,
            assembly,
            taken: 0,
            builder: Builder::default(),
            decoded_text: Vec::new(),
            pairing,
            samples: SpillVec::new(lease.part(COLUMN)).with_room_for(samples),
            deltas: SpillVec::new(lease.part(STEPS)).with_room_for(deltas),
            positions: [None, None],
            counted: Vec::new(),
            unknown: Vec::new(),
            unknown_ids: HashMap::default(),
            trace_ids: Vec::new(),
            extras: Vec::new(),
            extra_keys: HashMap::default(),
            start: None,
            end: None,
            shift: 0,
            first: None,
            source: None,
            flaws: Flaws::default(),
            extent: Extent::default(),
            lost: false,
        }
    }

    /// Adds the next chunk in stream order, from the event at `offset`.
    ///
    /// # Errors
    /// Returns [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file
    /// cannot be written.
    pub fn add(&mut self, chunk: ChunkRef<'_>, offset: u64) -> Result<(), Error> {
        self.first.get_or_insert(offset);
        self.flaws.append(chunk.flaws);
        let before = self.decoded_text.len();
        self.decoded_text.extend_from_slice(chunk.decoded_text);
        let moved = |text: TextSpan| match text.decoded_at() {
            Some(at) => TextSpan { offset: text.offset + before as u64, len: at.len() as u64 },
            None => text,
        };
        for node in chunk.nodes {
            let text = moved(node.text);
            let (store, decoded_text) = (self.store, &self.decoded_text);
            let bytes = |text: TextSpan| text_of(text, store, decoded_text);
            let same = |earlier| bytes(earlier) == bytes(text);
            self.builder.add(node, chunk.children, text, same, &mut self.flaws);
        }
        self.counted.resize(self.builder.len(), 0);
        self.add_samples(chunk, offset)?;
        self.trace_ids.extend_from_slice(chunk.trace_ids);
        for extra in chunk.extras {
            self.add_extra(extra);
        }
        self.start = self.start.or(chunk.start);
        self.end = chunk.end.or(self.end);
        self.source = chunk.source.or(self.source);
        Ok(())
    }

    /// Adds an unknown key. The first value counts, and a different later value is a flaw.
    fn add_extra(&mut self, extra: &Extra) {
        let bytes = |text| text_of(text, self.store, &self.decoded_text);
        let next = self.extras.len();
        let at = *self.extra_keys.entry(bytes(extra.key).into()).or_insert(next);
        match self.extras.get(at) {
            None => self.extras.push(extra.clone()),
            Some(known) if bytes(known.value) == bytes(extra.value) => {}
            Some(_) => self.flaws.add(FlawKind::Key, extra.value.offset),
        }
    }

    /// Pairs the samples of a chunk with the steps, and counts those without a partner.
    fn add_samples(&mut self, chunk: ChunkRef<'_>, offset: u64) -> Result<(), Error> {
        let (samples, deltas) = (chunk.samples.len(), chunk.deltas.len());
        let unpaired = match self.pairing {
            Pairing::ByChunk => samples.abs_diff(deltas) as u64,
            Pairing::Whole | Pairing::Untimed => 0,
        };
        self.flaws.add_many(FlawKind::Unpaired, offset, unpaired);
        let take = if self.pairing == Pairing::ByChunk { samples.min(deltas) } else { samples };
        let placeholders = if self.pairing == Pairing::ByChunk { deltas - take } else { 0 };
        self.taken += (take + placeholders) as u64;
        chunk.deltas.iter().for_each(|&delta| self.extent.add(delta));
        for numbers in [chunk.lines, chunk.columns].into_iter().flatten() {
            if !numbers.is_empty() && numbers.len() != samples {
                self.flaws.add(FlawKind::Lines, offset);
            }
        }
        let ids = &chunk.samples[..take];
        match self.assembly {
            Assembly::Tree => {
                for &id in ids {
                    self.number(id, offset);
                }
                Ok(())
            }
            Assembly::All(ref lease) => {
                let column = lease.part(COLUMN);
                self.keep_samples(chunk, ids, placeholders, column, offset)
            }
        }
    }

    /// Adds samples `ids` to the columns, and `placeholders` for steps without a sample.
    fn keep_samples(
        &mut self,
        chunk: ChunkRef<'_>,
        ids: &[u64],
        placeholders: usize,
        column: Lease,
        offset: u64,
    ) -> Result<(), Error> {
        let before = self.samples.len();
        for &id in ids {
            let number = self.number(id, offset);
            self.samples.push(number)?;
        }
        self.deltas.extend(chunk.deltas)?;
        for _ in 0..placeholders {
            self.samples.push(NONE)?;
        }
        let count = self.samples.len() - before;
        for (at, numbers) in [chunk.lines, chunk.columns].into_iter().enumerate() {
            if numbers.is_none() && self.positions[at].is_none() {
                continue;
            }
            let numbers = numbers.unwrap_or_default();
            let column = match &mut self.positions[at] {
                Some(column) => column,
                none => none.insert(zeros(before, column.clone())?),
            };
            let filled = numbers.len().min(count);
            column.extend(&numbers[..filled])?;
            (filled..count).try_for_each(|_| column.push(0))?;
        }
        Ok(())
    }

    #[inline]
    fn number(&mut self, id: u64, offset: u64) -> u32 {
        if let Some(number) = self.builder.number(id) {
            self.counted[number as usize] += 1;
            return number;
        }
        self.unknown(id, offset)
    }

    /// Returns a placeholder for an id without a node, which may still be defined later.
    #[cold]
    fn unknown(&mut self, id: u64, offset: u64) -> u32 {
        if id == NO_ID {
            self.lost = true;
            self.flaws.add(FlawKind::Sample, offset);
            return NONE;
        }
        let next = self.unknown.len() as u32;
        let at = *self.unknown_ids.entry(id).or_insert(next);
        if at == next {
            self.unknown.push(Unknown { id, hits: 0, offset });
        }
        self.unknown[at as usize].hits += 1;
        LATER + at
    }

    /// Sets the known start of the profile, which overrides the start from chunks.
    ///
    /// `data_start` is the start in the clock of the data, which may differ from the clock of the
    /// events.
    pub fn set_start(&mut self, start: Option<i64>, data_start: Option<i64>) {
        self.start = start.or(self.start);
        self.shift =
            start.zip(data_start).map_or(0, |(start, data_start)| start.saturating_sub(data_start));
    }

    /// Builds the tree and resolves ids after all chunks were added.
    ///
    /// Cost: a pass over the nodes, and over the samples if some have no node or no times.
    ///
    /// # Errors
    /// Returns the errors of [`Assembler::add`].
    pub fn finish(mut self) -> Result<Profile<'s, 'p>, Error> {
        let later: Vec<u32> = self
            .unknown
            .iter()
            .map(|unknown| {
                let node = self.builder.number(unknown.id);
                match node {
                    Some(node) => self.counted[node as usize] += unknown.hits,
                    None => self.flaws.add_many(
                        FlawKind::Sample,
                        unknown.offset,
                        u64::from(unknown.hits),
                    ),
                }
                node.unwrap_or(NONE)
            })
            .collect();
        let trace_ids = self.last_trace_ids();
        let tree = self.builder.finish(&mut self.flaws);
        let plain = self.pairing == Pairing::Whole && !self.lost && later.is_empty();
        let [lines, columns] = self.positions;
        let [lines, columns] = [finished(lines)?, finished(columns)?];
        let mut profile = Profile {
            plain,
            store: self.store,
            decoded_text: self.decoded_text,
            tree,
            counted: self.counted,
            later,
            samples: self.samples.finish()?,
            deltas: self.deltas.finish()?,
            positions: [lines, columns],
            trace_ids,
            extras: self.extras,
            start: self.start,
            end: self.end.map(|end| end.saturating_add(self.shift)),
            source: self.source,
            flaws: self.flaws,
            extent: self.extent,
        };
        if self.pairing == Pairing::Untimed {
            profile.judge_untimed(self.first.unwrap_or(0), self.taken);
        }
        let Assembly::All(lease) = self.assembly else { return Ok(profile) };
        if self.pairing == Pairing::Untimed {
            profile.spread(SpillVec::new(lease.part(STEPS)))?;
        }
        if !plain {
            profile.measure();
        }
        Ok(profile)
    }

    /// Returns the last entry of each trace id, without those of unknown nodes.
    fn last_trace_ids(&mut self) -> Vec<(TextSpan, u32)> {
        let mut last: HashMap<&[u8], usize> = HashMap::default();
        let mut kept: Vec<(TextSpan, u32)> = Vec::new();
        for entry in &self.trace_ids {
            let Some(node) = self.builder.number(entry.node) else {
                self.flaws.add(FlawKind::TraceId, entry.key.offset);
                continue;
            };
            let at = *last
                .entry(text_of(entry.key, self.store, &self.decoded_text))
                .or_insert(kept.len());
            match kept.get_mut(at) {
                Some(known) => known.1 = node,
                None => kept.push((entry.key, node)),
            }
        }
        kept
    }
}

fn finished(column: Option<SpillVec<i64>>) -> Result<Option<SpilledVec<i64>>, Error> {
    column.map(SpillVec::finish).transpose()
}

/// Creates a column with 0 for each sample before the first chunk with lines.
fn zeros(count: usize, lease: Lease) -> Result<SpillVec<i64>, Error> {
    let mut column = SpillVec::new(lease).with_room_for(count as u64);
    (0..count).try_for_each(|_| column.push(0))?;
    Ok(column)
}
