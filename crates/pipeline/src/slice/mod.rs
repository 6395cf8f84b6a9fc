//! `slice`: windows of time out of traces, as traces that still render.
//!
//! ```text
//!   inputs ─ scan ─┬─> plain: X, moments ─ inside? across an edge? ─┬─────────> kept ──┐
//!                  ├─> parts of pairs ─ walked once in order ───────┤                  ├─ sort ─> output
//!                  ├─> CPU profile streams ─ put together ──────────┴─> made ─> file ──┘
//!                  └─> metadata, untimed, essential: always kept
//! ```
//!
//! An event keeps its bytes unless an edge cuts it; then only the numbers that change are others. What is made at edges
//! (see `made`) is written to a file that is one more input of the same machinery that writes a merge.
//!
//! | kind | `clip` | `keep` | `drop` |
//! |---|---|---|---|
//! | X | what of it lies inside (`complete`) | if it touches a window | if it lies in one |
//! | B E, b e, S F | re-opened and closed at edges (`clip`) | both if they touch (`pairs`) | both if both lie in one |
//! | s t f | begin and end moved to the edges | all if one lies inside | all if all lie in one |
//! | C | inside; the last value before repeated at the edge | inside | inside |
//! | CPU profile streams | re-based (`profile::window`) | whole if they touch | whole if they lie in one |
//! | any other with a time | inside | inside | inside |
//! | M, events without a time, [`kinds::is_essential`] | always | always | always |
//!
//! Windows that hold the whole trace change nothing: the output is that of a merge.

mod clip;
mod complete;
mod edge;
mod index;
mod keys;
mod kinds;
mod made;
mod pairs;
mod report;
mod windows;

pub use report::SliceReport;
pub(crate) use windows::Windows;
pub use windows::{Moment, TimeWindow};

use crate::annotations::{Annotations, Written};
use crate::config::{Config, Format, OutputConfig, Source};
use crate::delays::Delays;
use crate::emit::Emit;
use crate::error::Error;
use crate::input::expand;
use crate::kept::Kept;
use crate::keys::unite;
use crate::layout::Layout;
use crate::merge::{default_format, warn};
use crate::order::{Entry, Gather, KeyedSorter, Lists, Order, Runs, Sorter, Spool};
use crate::outline::Document;
use crate::output;
use crate::profile::{Cut, Streams, cut_streams};
use crate::read::{Inputs, Reader, read_all};
use crate::store::{Place, Store};
use clip::Clip;
use complete::Fate;
use index::{Index, Plan};
use made::Made;
use pairs::Pairs;
use std::path::Path;
use std::sync::atomic::Ordering;
use tracemill_tokenizer::fields_of;
use windows::Bounds;

/// What becomes of that which an edge of a window cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edges {
    /// It is cut too, and stays well-formed.
    #[default]
    Clip,
    /// It is kept whole.
    Keep,
    /// It is dropped.
    Drop,
}

/// Writes what of `sources`, taken together, lies in the windows, in the order of contract C3.
///
/// Windows that overlap or touch are one. Events are those of a merge; see the module doc for what becomes of each kind.
///
/// Cost: one pass over the inputs; another if windows count from the start of a trace, all inputs are files, and the
/// trace begins more than a second before its first events. Profile streams are read again where windows need them. Heap:
/// 16 bytes for each event that may lie inside or reach in, and 48 for each part of a pair before the last window's end;
/// where a window counts from the end, or from the start of what can be read once only, all events before or behind may.
/// Of what is made at edges 16 bytes each. All that goes to disk beyond its share of the budget. Beside that 64 bytes for
/// each B that is open at one time in one thread, and one call tree at a time. Of each chunk of a CPU profile 56 bytes, on
/// disk beyond another share.
///
/// # Errors
/// As [`crate::merge()`]; [`crate::ErrorKind::Window`] if there is no window, or one that ends before it begins.
pub fn slice(
    sources: &[Source],
    windows: &[TimeWindow],
    edges: Edges,
    output: &OutputConfig,
    config: &Config,
) -> Result<SliceReport, Error> {
    config.check()?;
    windows::check(windows)?;
    output::check(output, &sources.iter().collect::<Vec<_>>())?;
    let (inputs, mut index) = read(sources, windows, edges, config)?;
    let found = index.bounds();
    let bounds = found.unwrap_or(Bounds { first: 0, last: 0, end: 0 });
    let windows = Windows::of(windows, bounds)?;
    let mut report = SliceReport::new(&windows, edges, config);
    report.written.spooled_bytes = inputs.spooled;
    report.written.warnings.extend(inputs.warnings.iter().cloned());

    let payloads = || inputs.payloads.iter().map(|held| (held.base, &*held.payload));
    let store = Store::new(payloads(), index.long.clone());
    let whole = found.is_none_or(|bounds| windows.hold(bounds));
    let judge = Judge { store: &store, windows: &windows, edges, bounds, whole, config };
    let annotations = Annotations::read(&index.documents, &inputs, whole, &store);
    let documents = std::mem::take(&mut index.documents);
    let entries = Spool::new(&config.tmp_dir, judge.share() / 2);
    let watched = annotations.events().collect();
    let mut made = Made::new(Index::RESERVED, &config.tmp_dir, entries, watched);
    let chosen = judge.choose(index, &inputs, &mut made, &mut report)?;

    let made = made.finish()?;
    let mut long = store.into_long();
    long.extend(&made.long);
    let store = Store::new(std::iter::once((0, &made.payload)).chain(payloads()), long);
    let written = Beside {
        made: &made,
        documents: &documents,
        annotations: &annotations,
        inputs: &inputs,
        store: &store,
        whole,
    };
    chosen.write(written, output, config, &mut report)?;
    report.end(inputs, found);
    Ok(report)
}

/// Reads everything; once more if the trace does not begin where it was thought to.
fn read(
    sources: &[Source],
    windows: &[TimeWindow],
    edges: Edges,
    config: &Config,
) -> Result<(Inputs, Index), Error> {
    let mut first = None;
    // who reads a file that grows is not misled twice
    for guesses in [can_be_read_again(sources)?, true, false] {
        let plan = Plan::new(windows.to_vec(), edges, guesses, first.filter(|_| guesses));
        let mut index = Index::new(plan, config);
        let inputs = read_all(sources, config, &mut index)?;
        if index.guessed_right() {
            return Ok((inputs, index));
        }
        first = index.bounds().map(|bounds| bounds.first);
        config.progress.bytes_scanned.store(0, Ordering::Relaxed);
    }
    unreachable!("what was not guessed is not wrong")
}

/// Whether every input is a file.
fn can_be_read_again(sources: &[Source]) -> Result<bool, Error> {
    let is_file = |path: &Path| std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    Ok(expand(sources)?.iter().all(|input| is_file(input.source.path())))
}

/// What decides on an event.
#[derive(Clone, Copy)]
struct Judge<'j, 'p> {
    store: &'j Store<'p>,
    windows: &'j Windows,
    edges: Edges,
    bounds: Bounds,
    /// The windows hold the whole trace: everything is kept as it is.
    whole: bool,
    config: &'j Config,
}

/// Events of the inputs that are kept.
struct Chosen {
    events: u64,
    bytes: u64,
    timed: Sorter,
    lists: Lists,
    delays: Delays,
}

impl<'j, 'p> Judge<'j, 'p> {
    fn order(self) -> Order<'j, 'p> {
        Order(self.store)
    }

    /// Bytes for one of a few lists.
    fn share(self) -> u64 {
        self.config.shares().index / 4
    }

    fn gather(self) -> Gather<'j, 'p> {
        Gather::new(self.share(), &self.config.tmp_dir, self.order())
    }

    /// Decides on everything; what is cut goes to `made`.
    fn choose(
        self,
        index: Index,
        inputs: &Inputs,
        made: &mut Made,
        report: &mut SliceReport,
    ) -> Result<Chosen, Error> {
        let Index { mut plain, parts, mut essential, mut streams, .. } = index;
        streams.finish()?;
        let mut kept = self.gather();
        let (plain, lists) = plain.finish(self.store)?;
        let (essential, _) = essential.finish(self.store)?;
        report.written.spilled_runs = plain.spilled() + essential.spilled();
        self.choose_plain(&plain, &mut kept, made, report)?;
        drop(plain);
        self.choose_parts(parts, &mut kept, made, report)?;
        self.choose_essential(&essential, &mut kept, made, report)?;
        let cut = self.choose_streams(&streams, inputs, &mut kept, made, report)?;
        let lists = self.without(lists, &streams, &cut)?;
        let delays = self.delays(&streams, &cut)?;
        let (mut events, mut bytes) = (0, 0);
        for place in lists.iter() {
            (events, bytes) = (events + 1, bytes + self.store.len(place));
        }
        report.kept_always += events;
        let (own, own_bytes) = (kept.events, kept.bytes);
        (events, bytes) = (events + own, bytes + own_bytes);
        Ok(Chosen { events, bytes, timed: kept.finish()?, lists, delays })
    }

    /// Complete events and moments.
    fn choose_plain(
        self,
        plain: &Runs,
        kept: &mut Gather<'_, '_>,
        made: &mut Made,
        report: &mut SliceReport,
    ) -> Result<(), Error> {
        let mut cuts = self.gather();
        for entry in plain.iter() {
            match self.fate(entry) {
                Fate::Kept => kept.push(entry)?,
                Fate::Cut => cuts.push(entry)?,
                Fate::Dropped => {}
            }
        }
        let (cuts, _) = cuts.finish()?.finish(self.store)?;
        cuts.each_in_order(self.order(), |entry| {
            report.clipped += 1;
            let pieces = complete::pieces(entry, self.windows, self.store);
            pieces.iter().try_for_each(|piece| made.event_of(entry, piece))
        })
    }

    #[inline]
    fn fate(self, entry: Entry) -> Fate {
        if self.whole {
            return Fate::Kept;
        }
        complete::fate(entry, self.windows, self.edges, self.store)
    }

    /// Parts of pairs, and counters.
    fn choose_parts(
        self,
        parts: KeyedSorter<keys::Part>,
        kept: &mut Gather<'j, 'p>,
        made: &mut Made,
        report: &mut SliceReport,
    ) -> Result<(), Error> {
        let Judge { store, windows, config, .. } = self;
        let parts = parts.finish(self.order())?;
        report.written.spilled_runs += parts.runs();
        if self.whole {
            return parts.iter().try_for_each(|part| kept.push(part.entry));
        }
        if self.edges == Edges::Clip {
            let edges = KeyedSorter::new(&config.tmp_dir, self.share() / 2, config.threads);
            let mut clip = Clip::new(store, windows, self.bounds, kept, edges);
            parts.sorted(self.order()).try_for_each(|part| clip.take(&part))?;
            let edges = clip.finish()?.finish(self.order())?;
            report.written.spilled_runs += edges.runs();
            let counts = edge::make(&edges, windows, store, made)?;
            (report.opened, report.closed) = (counts.opened, counts.closed);
            report.counters = counts.counters;
            return Ok(());
        }
        let steps = Spool::new(&config.tmp_dir, self.share() / 2);
        let mut pairs = Pairs::new(store, windows, self.edges, kept, steps);
        parts.sorted(self.order()).try_for_each(|part| pairs.take(&part))?;
        pairs.end_key()
    }

    /// Events that are kept wherever they stand. One at which DevTools begins must not begin before the window.
    fn choose_essential(
        self,
        essential: &Runs,
        kept: &mut Gather<'_, '_>,
        made: &mut Made,
        report: &mut SliceReport,
    ) -> Result<(), Error> {
        let first = self.windows.0.first().map_or(i64::MIN, |window| window.0);
        essential.each_in_order(self.order(), |entry| {
            if self.whole || self.windows.at(entry.time).is_some() && self.fate(entry) == Fate::Kept
            {
                return kept.push(entry);
            }
            let bytes = self.store.event(entry.place);
            match self.fate(entry) {
                Fate::Cut => {
                    report.clipped += 1;
                    let pieces = complete::pieces(entry, self.windows, self.store);
                    return pieces.iter().try_for_each(|piece| made.event_of(entry, piece));
                }
                Fate::Dropped if self.edges == Edges::Clip && entry.time < first => {
                    let spans = fields_of(bytes);
                    if kinds::is_start(&spans.of(bytes)) {
                        report.moved += 1;
                        return made.event_of(entry, &edge::at(self.store, entry, first));
                    }
                }
                _ => {}
            }
            report.kept_always += 1;
            kept.push(entry)
        })
    }

    fn choose_streams(
        self,
        streams: &Streams,
        inputs: &Inputs,
        kept: &mut Gather<'_, '_>,
        made: &mut Made,
        report: &mut SliceReport,
    ) -> Result<Cut, Error> {
        let mut cut = if self.whole {
            Cut { stays: vec![true; streams.groups().len()], ..Cut::default() }
        } else {
            let (windows, edges) = (self.windows, self.edges);
            let mut push = |event: &[u8]| made.event(event);
            cut_streams(streams, windows, edges, self.store, self.config, &mut push)?
        };
        for group in cut.groups(streams, true) {
            let mut timed = group.events().filter(|entry| entry.time != i64::MIN);
            timed.try_for_each(|entry| kept.push(entry))?;
        }
        report.written.spilled_runs += streams.spilled;
        report.rebased = cut.rebased;
        report.samples = cut.samples;
        report.flaws = std::mem::take(&mut cut.flaws);
        report.flaws.locate(|offset| inputs.locate(offset));
        if cut.whole > 0 {
            report.written.warnings.push(format!(
                "{} CPU profiles reach beyond the windows and were kept whole: they are CpuProfile events, or have no \
                 Profile event that says when they begin",
                cut.whole
            ));
        }
        Ok(cut)
    }

    /// The lists without events of profiles that do not stay.
    fn without(self, lists: Lists, streams: &Streams, cut: &Cut) -> Result<Lists, Error> {
        /// Places that are handed on at a time.
        const BATCH: usize = 8 * 1024;
        let mut gone = self.gather();
        for group in cut.groups(streams, false) {
            let mut untimed = group.events().filter(|entry| entry.time == i64::MIN);
            untimed.try_for_each(|entry| gone.push(entry))?;
        }
        if gone.events == 0 {
            return Ok(lists);
        }
        let (gone, _) = gone.finish()?.finish(self.store)?;
        let (mut left, mut batch) = (Kept::new(&self.config.tmp_dir, self.share()), Vec::new());
        let mut keep = |place| {
            batch.push(place);
            if batch.len() < BATCH { Ok(()) } else { left.push(std::mem::take(&mut batch)) }
        };
        // both are in input order, but for metadata, which comes first and stays
        let mut places = lists.iter();
        gone.each_in_order(self.order(), |gone| {
            let stays = |place: &Place| place.offset() != gone.place.offset();
            places.by_ref().take_while(stays).try_for_each(&mut keep)
        })?;
        places.try_for_each(&mut keep)?;
        left.push(batch)?;
        left.finish()
    }

    /// What becomes of streams whose chunks are not in order of time.
    fn delays(self, streams: &Streams, cut: &Cut) -> Result<Delays, Error> {
        let suspects = streams.suspects();
        if suspects.is_empty() {
            return Ok(Delays::default());
        }
        let groups = cut.groups(streams, true).filter(|group| suspects.contains(group.key));
        let chunks = groups.flat_map(|group| group.chunks().iter());
        Delays::find(&suspects, chunks, self.order(), self.config)
    }
}

/// What is written beside the events chosen, and where it stands.
#[derive(Clone, Copy)]
struct Beside<'w, 'p> {
    made: &'w made::All,
    documents: &'w [Document],
    annotations: &'w Annotations<'p>,
    inputs: &'w Inputs,
    store: &'w Store<'p>,
    /// See [`Judge::whole`].
    whole: bool,
}

impl Chosen {
    /// Writes what was chosen and what was made.
    fn write(
        self,
        Beside { made, documents, annotations, inputs, store, whole }: Beside<'_, '_>,
        output: &OutputConfig,
        config: &Config,
        report: &mut SliceReport,
    ) -> Result<(), Error> {
        let order = Order(store);
        let mut timed = Gather::onto(self.timed, order);
        made.entries.iter().try_for_each(|entry| timed.push(entry))?;
        let (events, bytes) = (self.events + timed.events, self.bytes + timed.bytes);
        let (runs, _) = timed.finish()?.finish(store)?;
        let mut united = unite(documents, store);
        let written = &mut report.written;
        written.events = events;
        written.format = output.format.unwrap_or_else(|| default_format(documents));
        written.delayed_chunks = self.delays.count();
        let is_array = written.format == Format::Array;
        written.keys_lost = if is_array { united.keys.len() as u64 } else { 0 };
        warn(&united, &self.delays, &written.format, &mut written.warnings);
        let (delays, layout) = (self.delays, Layout::of(written.format));
        let emit = Emit {
            order,
            layout,
            delays,
            lists: &self.lists,
            timed: runs.timed(order),
            rewrite: None,
            retouch: None,
        };
        let output_of = Written { whole, made: Some(&made.of), ..Written::whole(&emit, config) };
        written.annotations = annotations.put(&mut united, &output_of).report();
        written.warnings.extend(written.annotations.warning());
        let size = (events, bytes);
        let check = || inputs.check_unchanged();
        written.bytes =
            emit.write_all(&united, size, output, config, &mut written.warnings, check)?;
        Ok(())
    }
}
