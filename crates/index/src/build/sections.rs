//! Builds sections in parallel, each once for all attempts to fit the file into its size limit.
//!
//! ```text
//!   attempt 0    GRANULES SPANS STREAMS BINS GRANULE_NAMES    built in parallel, but too large
//!   attempt 2    GRANULES SPANS STREAMS                       those already built
//!   attempt 6    granules spans streams                       coarser ones, built in parallel
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

/// Sections that are built together, and their resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SectionSet {
    /// GRANULES: blocks for a block gap J (see `granules`) of 2^level ns.
    Granules(u32),
    Places,
    /// SPANS: slices longer than a look-back T (see `spans`) of 2^level ns.
    Spans(u32),
    /// STREAMS and STREAM_EVENTS; the value is whether the data of chunks is included.
    Streams(bool),
    Packed,
    /// NAMES, LANES and BINS, for a look-back T of 2^level ns.
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

/// The finished sections of one [`SectionSet`].
struct MadeSections {
    sections: Sections,
    pages: Option<Mapped>,
}

pub(super) struct AllSections<'b> {
    built: &'b Built,
    pub(super) tmp_dir: &'b Path,
    threads: usize,
    sections: HashMap<SectionSet, MadeSections>,
}

impl<'b> AllSections<'b> {
    /// Creates an empty list; up to `threads` sections are built in parallel.
    pub(super) fn new(built: &'b Built, tmp_dir: &'b Path, threads: usize) -> Self {
        AllSections { built, tmp_dir, threads, sections: HashMap::default() }
    }

    /// Builds missing sections, and returns the file size of all `wanted` sections in bytes.
    pub(super) fn make(&mut self, wanted: &[SectionSet]) -> io::Result<u64> {
        let missing: Vec<SectionSet> =
            wanted.iter().copied().filter(|set| !self.sections.contains_key(set)).collect();
        let new_sections = try_each(self.threads, missing.len(), |at| self.one(missing[at]))?;
        self.sections.extend(missing.into_iter().zip(new_sections));
        let wanted_sections = wanted.iter().filter_map(|set| self.sections.get(set));
        Ok(wanted_sections.map(|part| part.sections.file_len()).sum())
    }

    fn one(&self, set: SectionSet) -> io::Result<MadeSections> {
        let mut to = Writer::new(BufWriter::new(Temporary::new(self.tmp_dir)?));
        set.write(self.built, &mut to)?;
        let (pages, sections) = to.into_sections();
        let pages = pages.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(MadeSections { sections, pages: pages.map()? })
    }

    pub(super) fn append<W: io::Write>(
        &self,
        set: SectionSet,
        to: &mut Writer<W>,
    ) -> io::Result<()> {
        let Some(part) = self.sections.get(&set) else { return Ok(()) };
        to.append(&part.sections, part.pages.as_deref().unwrap_or_default())
    }
}
