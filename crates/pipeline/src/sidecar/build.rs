//! All parts of an input put together.

use super::granules::{AllGranules, Granules};
use super::part::{Listed, Part};
use crate::config::Config;
use crate::info::{Census, InfoConfig, InfoReport, Table};
use crate::inputs::read_all;
use tracemill_core::envelope::Document;
use tracemill_core::error::Error;
use tracemill_core::order::{Spool, Spooled};
use tracemill_core::read::{Current, Maker, Reader};
use tracemill_core::source::Source;

/// Rows of lists that an index has.
pub(super) const TOP: usize = 100;

/// Everything that an index says of an input.
pub(super) struct Built {
    pub(super) report: InfoReport,
    pub(super) granules: Granules,
    pub(super) lanes: Table,
    /// Least and greatest time of each thread.
    pub(super) times: Vec<Option<(i64, i64)>>,
    pub(super) documents: Vec<Document>,
    pub(super) places: Spooled<Listed>,
}

struct Build {
    census: Census,
    granules: AllGranules,
    times: Vec<Option<(i64, i64)>>,
    places: Spool<Listed>,
}

/// Reads an input. Cost: as `info`, and a sum of each event's bytes; granules and places beyond a sixteenth of the budget's share
/// for indexes each go to disk.
pub(super) fn build(source: &Source, config: &Config) -> Result<Built, Error> {
    let share = config.shares().index / 16;
    let wanted = InfoConfig { top: TOP, full: false, self_times: true };
    let mut build = Build {
        census: Census::new(wanted, config),
        granules: AllGranules::new(Spool::new(&config.tmp_dir, share)),
        times: Vec::new(),
        places: Spool::new(&config.tmp_dir, share),
    };
    let inputs = read_all(std::slice::from_ref(source), config, &mut build)?;
    inputs.check_unchanged()?;
    let text = inputs.reports.iter().map(|input| input.bytes).sum();
    let (report, lanes, documents) = build.census.report_and_rest(inputs)?;
    Ok(Built {
        report,
        granules: build.granules.finish(text)?,
        lanes,
        times: build.times,
        documents,
        places: build.places.take()?,
    })
}

impl Build {
    fn append_times(&mut self, part: &Part) {
        for (own, times) in part.info.lanes.entries().zip(&part.times) {
            // also of those without times, so that threads stay in the order in which they came
            let row = self.census.lanes.row(own.key);
            let Some((least, greatest)) = *times else { continue };
            if row >= self.times.len() {
                self.times.resize(row + 1, None);
            }
            let (low, high) = self.times[row].unwrap_or((least, greatest));
            self.times[row] = Some((low.min(least), high.max(greatest)));
        }
    }
}

impl Reader for Build {
    type Part = Part;

    fn part(base: u64, bytes: usize) -> Part {
        Part::new(Census::part(base, bytes))
    }

    fn maker(&self) -> Maker<Part> {
        let make = self.census.maker();
        Box::new(move |base, bytes| Part::new(make(base, bytes)))
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        self.census.documents()
    }

    const KEEPS_STREAMS: bool = Census::KEEPS_STREAMS;

    const PROVES: bool = Census::PROVES;

    fn take(&mut self, mut part: Part, base: u64, current: Current<'_>) -> Result<(), Error> {
        let granules = std::mem::replace(&mut part.granules, super::granules::PartGranules::new());
        self.granules.append(granules)?;
        self.places.extend(&part.places)?;
        self.append_times(&part);
        self.census.take(part.info, base, current)
    }
}
