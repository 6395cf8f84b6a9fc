//! Sections made by themselves: several at a time, and each once for all attempts at a file that it is the same in.
//!
//! ```text
//!   attempt 0    GRANULES SPANS STREAMS BINS GRANULE_NAMES    made side by side, each in a temporary file: too large together
//!   attempt 2    GRANULES SPANS STREAMS                       put together of what was made
//!   attempt 6    granules spans streams                       coarser ones are made: these, in turn, side by side
//! ```

use super::observer::Built;
use super::rows;
use super::span::IndexedSpan;
use crate::format::{Sections, Writer};
use crate::packed;
use std::io::{self, BufWriter};
use std::path::Path;
use tracemill_tokenizer::Mapped;
use tracemill_trace::os::Temporary;
use tracemill_trace::run::threads::try_each;
use tracemill_trace::spill::hash::HashMap;

/// What is made of a text, and how coarse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SectionSet {
    /// Of a J of this level.
    Granules(u32),
    Places,
    /// Of a T of this level.
    Spans(u32),
    /// Whether there is room for what stands of chunks.
    Streams(bool),
    Packed,
    /// NAMES, LANES and BINS.
    Drawn(u32),
    GranuleNames(u32),
}

impl SectionSet {
    fn write<W: io::Write>(self, built: &Built, to: &mut Writer<W>) -> io::Result<()> {
        match self {
            SectionSet::Granules(level) => built.granules.write(level, to),
            SectionSet::Places => rows::places(built.places.iter(), to),
            SectionSet::Spans(level) => {
                built.spans.as_ref().map_or(Ok(()), |spans| rows::write(spans, level, to))
            }
            SectionSet::Streams(has_room) => {
                built.streams.as_ref().map_or(Ok(()), |streams| streams.write(has_room, to))
            }
            SectionSet::Packed => packed::write(&built.restarts, to),
            SectionSet::Drawn(level) => drawn(built, level, to),
            SectionSet::GranuleNames(level) => built
                .drawn
                .as_ref()
                .map_or(Ok(()), |drawn| drawn.granules.write(&built.granules, level, to)),
        }
    }
}

fn drawn<W: io::Write>(built: &Built, level: u32, to: &mut Writer<W>) -> io::Result<()> {
    let (Some(drawn), Some(spans)) = (&built.drawn, &built.spans) else { return Ok(()) };
    let listed = |visit: &mut dyn FnMut(&IndexedSpan)| {
        spans.each(level, |span| {
            visit(&span);
            Ok(())
        })
    };
    drawn.write(&built.threads, level, listed, to)
}

/// One that was made.
struct MadeSections {
    sections: Sections,
    /// Their pages; `None` if there are none.
    pages: Option<Mapped>,
}

/// All that were made so far.
pub(super) struct AllSections<'b> {
    built: &'b Built,
    pub(super) tmp_dir: &'b Path,
    threads: usize,
    made: HashMap<SectionSet, MadeSections>,
}

impl<'b> AllSections<'b> {
    /// None yet; at most so many are made at a time.
    pub(super) fn new(built: &'b Built, tmp_dir: &'b Path, threads: usize) -> Self {
        AllSections { built, tmp_dir, threads, made: HashMap::default() }
    }

    /// Makes those that are not there yet, and says how many bytes all of these take in a file.
    pub(super) fn make(&mut self, wanted: &[SectionSet]) -> io::Result<u64> {
        let missing: Vec<SectionSet> =
            wanted.iter().copied().filter(|set| !self.made.contains_key(set)).collect();
        let made = try_each(self.threads, missing.len(), |at| self.one(missing[at]))?;
        self.made.extend(missing.into_iter().zip(made));
        let made = wanted.iter().filter_map(|set| self.made.get(set));
        Ok(made.map(|made| made.sections.file_len()).sum())
    }

    fn one(&self, set: SectionSet) -> io::Result<MadeSections> {
        let mut to = Writer::new(BufWriter::new(Temporary::new(self.tmp_dir)?));
        set.write(self.built, &mut to)?;
        let (pages, sections) = to.into_sections();
        let pages = pages.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(MadeSections { sections, pages: pages.map()? })
    }

    /// Puts one that was made behind what stands in a file.
    pub(super) fn append<W: io::Write>(
        &self,
        set: SectionSet,
        to: &mut Writer<W>,
    ) -> io::Result<()> {
        let Some(made) = self.made.get(&set) else { return Ok(()) };
        to.append(&made.sections, made.pages.as_deref().unwrap_or_default())
    }
}
