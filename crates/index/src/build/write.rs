//! Writes the index within its size limit. If the file is too large, it is built again at a later
//! step of size reduction: each step drops sections or makes sections coarser.

use super::observer::Built;
use super::sections::{AllSections, SectionSet};
use crate::format::{HEAD, Input, Writer, id};
use crate::meta::{DrawnMeta, Meta, WindowsMeta};
use crate::sound::TOP;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::run::error::Error;
use tracemill_trace::time::bounds::Bounds;

/// Least number of text bytes per index byte, unless the index is smaller than [`LEAST`].
const PART: u64 = 128;
const LEAST: u64 = 64 << 10;
const PAGE: usize = 512 << 10;

/// A new index: the head of the file, and a temporary file with everything after the head.
pub(super) struct MadeIndex {
    pub(super) head: [u8; HEAD],
    pub(super) body: File,
    pub(super) bytes: u64,
    /// log2 of the block gap J (see `granules`), in nanoseconds.
    pub(super) level: u32,
    pub(super) left_out: Vec<String>,
}

impl MadeIndex {
    /// Writes the index file to `out`. Can be called several times.
    pub(super) fn write_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.head)?;
        self.body.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.body, out).map(drop)
    }
}

/// Number of the last step of size reduction. A later step makes a smaller index.
const LAST: u32 = 10;
/// Number of the first step of size reduction that leaves out the report of `info`.
const WITHOUT_INFO: u32 = 9;

/// Sections and resolution of the file at a step of size reduction.
struct ChosenSections {
    level: u32,
    look_back: Option<u32>,
    sets: Vec<SectionSet>,
    left_out: Vec<String>,
}

impl ChosenSections {
    fn of(built: &Built, step: u32) -> Self {
        let coarser = [0, 0, 0, 1, 2, 2, 3, 4, 4, 4, 63][step.min(LAST) as usize];
        let level = (built.granules.level + coarser).min(63);
        let spans = built.spans.as_ref().filter(|spans| spans.is_complete && step < 8);
        let look_back = spans.map(|spans| (spans.level + coarser).min(64));
        let longer = look_back.unwrap_or_default();
        let has_spans = look_back.is_some();
        let is_drawn = built.drawn.as_ref().map(|drawn| has_spans && drawn.fits(&built.threads));
        // id, first step without it, and whether it is complete (`None`: nothing to store)
        let all = [
            (id::GRANULES, u32::MAX, Some(true), SectionSet::Granules(level)),
            (id::PLACES, 8, Some(true), SectionSet::Places),
            (id::SPANS, 8, Some(has_spans), SectionSet::Spans(longer)),
            (
                id::STREAMS,
                8,
                built.has_profiles.then_some(built.streams.is_some()),
                // the data of chunks is dropped before the section
                SectionSet::Streams(step < 5),
            ),
            (id::PACK, 8, (!built.restarts.is_empty()).then_some(has_spans), SectionSet::Packed),
            (id::BINS, 2, is_drawn, SectionSet::Drawn(longer)),
            (id::GRANULE_NAMES, 1, is_drawn, SectionSet::GranuleNames(level)),
        ];
        let mut chosen =
            ChosenSections { level, look_back, sets: Vec::new(), left_out: Vec::new() };
        for (id, end, fits, set) in all {
            match fits {
                Some(true) if step < end => chosen.sets.push(set),
                Some(_) => chosen.left_out.extend(id::name(id).map(str::to_owned)),
                None => {}
            }
        }
        chosen
    }
}

/// Builds the index of an input from `built`, with temporary files in `tmp_dir`.
pub(super) fn make(
    built: &Built,
    input: &Input,
    tmp_dir: &Path,
    threads: usize,
) -> Result<MadeIndex, Error> {
    let text: u64 = built.report.inputs.iter().map(|input| input.bytes).sum();
    let most = (text / PART).max(LEAST);
    let mut sections = AllSections::new(built, tmp_dir, threads);
    let mut attempt = |step, most| {
        attempt(&mut sections, built, input, step, most).map_err(|e| Error::scratch(tmp_dir, e))
    };
    if let Some(whole) = attempt(0, most)? {
        return Ok(whole);
    }
    // sizes decrease with the step, so a binary search takes four attempts
    let (mut low, mut high, mut at_high) = (1, LAST, None);
    while low < high {
        let middle = low.midpoint(high);
        match attempt(middle, most)? {
            None => low = middle + 1,
            index => (high, at_high) = (middle, index),
        }
    }
    let index = if at_high.is_some() { at_high } else { attempt(LAST, u64::MAX)? };
    index.ok_or_else(|| Error::scratch(tmp_dir, io::Error::other("an index has no bounds")))
}

/// Builds the index file at a step of size reduction. Returns `None` if the file exceeds `most`
/// bytes.
fn attempt(
    sections: &mut AllSections<'_>,
    built: &Built,
    input: &Input,
    step: u32,
    most: u64,
) -> io::Result<Option<MadeIndex>> {
    let chosen = ChosenSections::of(built, step);
    if sections.make(&chosen.sets)? > most {
        return Ok(None);
    }
    let file = tempfile::tempfile_in(sections.tmp_dir)?;
    let mut to = Writer::new(BufWriter::new(file));
    to.section(id::META)?;
    let meta = serde_json::to_vec(&meta(built, &chosen, step < WITHOUT_INFO)?)?;
    for part in meta.chunks(PAGE) {
        to.page(1, 0..=0, |page| _ = page.bytes(part))?;
    }
    let ChosenSections { level, sets, left_out, .. } = chosen;
    sets.into_iter().try_for_each(|set| sections.append(set, &mut to))?;
    let bytes = to.file_len();
    if bytes > most {
        return Ok(None);
    }
    let (mut body, head) = to.finish(input)?;
    body.flush()?;
    let mut body = body.into_inner().map_err(io::IntoInnerError::into_error)?;
    body.seek(SeekFrom::Start(0))?;
    Ok(Some(MadeIndex { head, body, bytes, level, left_out }))
}

/// Returns whether the input is one document without top-level keys between its events.
fn is_one_list(built: &Built) -> bool {
    let reach = built.granules.reach();
    let is_within =
        |document: &Document| document.keys.iter().any(|key| reach.contains(&key.offset));
    matches!(&built.documents[..], [document] if document.alike == 0 && !is_within(document))
}

fn meta(built: &Built, chosen: &ChosenSections, with_info: bool) -> io::Result<Meta> {
    let [input] = &built.report.inputs[..] else {
        return Err(io::Error::other("an index is of one input"));
    };
    // warnings name the input, so they must come from a scan
    let can_answer = with_info && built.report.warnings.is_empty();
    let info = can_answer.then(|| built.report.clone());
    debug_assert!(built.report.gaps.len() <= TOP);
    let mut meta = Meta::of(chosen.level, chosen.left_out.clone(), input, info);
    meta.times = built.times.map(|(least, greatest)| [least, greatest]);
    meta.windows = built.spans.as_ref().zip(chosen.look_back).map(|(spans, level)| WindowsMeta {
        level,
        has_crossings: spans.has_crossings,
        has_strangers: spans.has_strangers,
        has_profiles: built.has_profiles,
        has_lapses: built.has_lapses,
        is_one_list: is_one_list(built),
        bounds: built.bounds.map(|Bounds { start, first, last, end }| [start, first, last, end]),
    });
    let is_drawn = chosen.sets.iter().any(|set| matches!(set, SectionSet::Drawn(_)));
    let threads = built.threads.entries().count() as u32;
    let drawn = built.drawn.as_ref().filter(|_| is_drawn);
    meta.drawn = drawn.map(|drawn| DrawnMeta { level: drawn.level(), threads });
    Ok(meta)
}
