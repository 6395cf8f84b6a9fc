//! The file, within its budget.

use super::build::{Built, TOP};
use super::drawn::Drawn;
use super::meta::{DrawnMeta, Meta, WindowsMeta};
use super::sections::{AllSections, SectionSet};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use tracemill_core::bounds::Bounds;
use tracemill_core::envelope::Document;
use tracemill_core::error::Error;
use tracemill_index::{HEAD, Input, Writer, id};

/// The index takes no more than this part of the text, or [`LEAST`].
const PART: u64 = 128;
const LEAST: u64 = 64 << 10;
/// Bytes of META in a page.
const PAGE: usize = 512 << 10;

/// An index that was made: its head, and a temporary file of all behind it.
pub(super) struct Made {
    pub(super) head: [u8; HEAD],
    pub(super) body: File,
    pub(super) bytes: u64,
    /// J is 2 to the power of it.
    pub(super) level: u32,
    pub(super) left_out: Vec<String>,
}

impl Made {
    /// Writes the file, any number of times.
    pub(super) fn write_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.head)?;
        self.body.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.body, out).map(drop)
    }
}

/// What is given up, step by step, until the file is small enough.
#[derive(Clone, Copy)]
struct Step(u32);

impl Step {
    const LAST: Step = Step(10);

    /// How much coarser granules are than they have to be.
    fn coarser(self) -> u32 {
        match self.0 {
            0..=2 => 0,
            3 => 1,
            4 | 5 => 2,
            6 => 3,
            _ if self.0 == Self::LAST.0 => 63,
            _ => 4,
        }
    }

    /// Whether there is no room for what stands of chunks of CPU profiles.
    fn joins_chunks(self) -> bool {
        self.0 >= 5
    }

    fn leaves_out(self, id: u16) -> bool {
        let from = match id {
            id::GRANULE_NAMES => 1,
            id::BINS => 2,
            id::PLACES | id::SPANS | id::STREAMS => 8,
            id::META => 9,
            _ => u32::MAX,
        };
        self.0 >= from
    }
}

/// Makes the file of an input whose text was read, in the folder of temporary files, on so many threads.
pub(super) fn make(
    built: &Built,
    input: &Input,
    (tmp_dir, threads): (&Path, usize),
) -> Result<Made, Error> {
    let text: u64 = built.report.inputs.iter().map(|input| input.bytes).sum();
    let most = (text / PART).max(LEAST);
    let mut sections = AllSections::new(built, tmp_dir, threads);
    let mut attempt = |step, most| {
        attempt(&mut sections, built, input, (Step(step), most))
            .map_err(|e| Error::scratch(tmp_dir, e))
    };
    if let Some(whole) = attempt(0, most)? {
        return Ok(whole);
    }
    // each step takes less than the one before: the first that fits is found in four attempts
    let (mut low, mut high, mut at_high) = (1, Step::LAST.0, None);
    while low < high {
        let middle = low.midpoint(high);
        match attempt(middle, most)? {
            None => low = middle + 1,
            made => (high, at_high) = (middle, made),
        }
    }
    let made = if at_high.is_some() { at_high } else { attempt(Step::LAST.0, u64::MAX)? };
    made.ok_or_else(|| Error::scratch(tmp_dir, io::Error::other("an index has no bounds")))
}

/// Sections without which an index still is one.
const MAY_GO: [u16; 5] = [id::PLACES, id::SPANS, id::STREAMS, id::BINS, id::GRANULE_NAMES];

/// Whether a section can say everything.
fn fits(built: &Built, id: u16) -> bool {
    let has_spans = || built.spans.as_ref().is_some_and(|spans| spans.is_complete);
    match id {
        id::STREAMS => built.has_profiles && built.streams.is_some(),
        id::SPANS => has_spans(),
        id::BINS | id::GRANULE_NAMES => {
            built.drawn.as_ref().is_some_and(|drawn| drawn.fits(&built.threads)) && has_spans()
        }
        _ => true,
    }
}

/// Whether there is anything that a section would say.
fn is_there(built: &Built, id: u16) -> bool {
    match id {
        id::STREAMS => built.has_profiles,
        id::BINS | id::GRANULE_NAMES => built.drawn.is_some(),
        _ => true,
    }
}

/// The file of a step; `None` if that takes more than so many bytes.
fn attempt(
    sections: &mut AllSections<'_>,
    built: &Built,
    input: &Input,
    (step, most): (Step, u64),
) -> io::Result<Option<Made>> {
    let level = (built.granules.level + step.coarser()).min(63);
    let keeps = |id: u16| fits(built, id) && !step.leaves_out(id);
    let left_out = MAY_GO.into_iter().filter(|&id| is_there(built, id) && !keeps(id));
    let left_out: Vec<String> = left_out.filter_map(id::name).map(str::to_owned).collect();
    let spans = built.spans.as_ref().filter(|_| keeps(id::SPANS));
    let drawn = built.drawn.as_ref().filter(|_| keeps(id::BINS));
    let look_back = spans.map(|spans| (spans.level + step.coarser()).min(64));
    let behind = wanted(built, (level, look_back), keeps, !step.joins_chunks());
    let granules = SectionSet::Granules(level);
    let all: Vec<SectionSet> = behind.iter().copied().chain([granules]).collect();
    if sections.make(&all)? > most {
        return Ok(None);
    }

    let file = tempfile::tempfile_in(sections.tmp_dir)?;
    let mut to = Writer::new(BufWriter::new(file));
    to.section(id::META)?;
    let mut meta = meta(built, (level, look_back), keeps(id::META), left_out.clone())?;
    let threads = built.threads.entries().count() as u32;
    let of_drawn = |drawn: &Drawn| DrawnMeta {
        level: drawn.level(),
        has_all_names: drawn.is_complete,
        threads,
    };
    meta.drawn = drawn.map(of_drawn);
    let meta = serde_json::to_vec(&meta)?;
    for part in meta.chunks(PAGE) {
        to.page(1, (0, 0), |page| _ = page.bytes(part))?;
    }
    sections.append(granules, &mut to)?;
    behind.into_iter().try_for_each(|set| sections.append(set, &mut to))?;
    let bytes = to.file_len();
    if bytes > most {
        return Ok(None);
    }
    let (mut body, head) = to.finish(input)?;
    body.flush()?;
    let mut body = body.into_inner().map_err(io::IntoInnerError::into_error)?;
    body.seek(SeekFrom::Start(0))?;
    Ok(Some(Made { head, body, bytes, level, left_out }))
}

/// What stands behind GRANULES, in its order, for a J and a T of these levels.
fn wanted(
    built: &Built,
    (level, look_back): (u32, Option<u32>),
    keeps: impl Fn(u16) -> bool,
    has_chunks: bool,
) -> Vec<SectionSet> {
    let of_spans = |set: fn(u32) -> SectionSet| look_back.map(set);
    let has_streams = built.streams.is_some() && keeps(id::STREAMS);
    let is_drawn = built.drawn.is_some() && keeps(id::BINS);
    let all = [
        keeps(id::PLACES).then_some(SectionSet::Places),
        of_spans(SectionSet::Spans),
        has_streams.then_some(SectionSet::Streams(has_chunks)),
        of_spans(|_| SectionSet::Packed).filter(|_| built.packed.is_some()),
        of_spans(SectionSet::Drawn).filter(|_| is_drawn),
        (is_drawn && keeps(id::GRANULE_NAMES)).then_some(SectionSet::GranuleNames(level)),
    ];
    all.into_iter().flatten().collect()
}

/// Whether there is one document, with nothing but events from the first to the last.
fn is_one_list(built: &Built) -> bool {
    let reach = built.granules.reach();
    let is_within =
        |document: &Document| document.keys.iter().any(|key| reach.contains(&key.offset));
    matches!(&built.documents[..], [own] if own.alike == 0 && !is_within(own))
}

fn meta(
    built: &Built,
    (level, look_back): (u32, Option<u32>),
    with_info: bool,
    left_out: Vec<String>,
) -> io::Result<Meta> {
    let [input] = &built.report.inputs[..] else {
        return Err(io::Error::other("an index is of one input"));
    };
    // what is said beside the trace names the input: who asks gets it from a scan
    let can_answer = with_info && built.report.warnings.is_empty();
    let info = can_answer.then(|| built.report.clone());
    debug_assert!(built.report.gaps.len() <= TOP);
    let windows = built.spans.as_ref().zip(look_back).map(|(spans, level)| WindowsMeta {
        level,
        has_crossings: spans.has_crossings,
        has_strangers: spans.has_strangers,
        has_profiles: built.has_profiles,
        has_lapses: built.has_lapses,
        is_one_list: is_one_list(built),
        bounds: built.bounds.map(|Bounds { start, first, last, end }| [start, first, last, end]),
    });
    let mut meta = Meta::of(level, left_out, input, info);
    meta.windows = windows;
    Ok(meta)
}
