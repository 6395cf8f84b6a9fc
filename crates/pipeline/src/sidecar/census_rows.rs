//! The rows of CENSUS, and whether there are any.

use super::build::Built;
use super::pages::{Rows, TEXT_MOST};
use crate::identity::{Process, Processes, key_of};
use std::io;
use tracemill_core::hash::{HashMap, HashSet};
use tracemill_core::thread_table::ids_of_key;
use tracemill_index::{Writer, census, id};

/// Whether everything has room.
pub(super) fn fits(built: &Built) -> bool {
    let Some((processes, streams)) = &built.census.lists else { return false };
    let names = processes.by_pid.iter().flat_map(|(_, own)| [&own.name, &own.labels]);
    let names = names.flatten().map(Vec::len);
    let ids = processes.ids.iter().filter_map(|ids| ids.texts());
    let ids = ids.flat_map(|(first, last)| [first.len(), last.len()]);
    let keys = streams.begins().map(|(key, _)| key.len());
    names.chain(ids).chain(keys).all(|len| len <= TEXT_MOST)
}

/// Whether a merge finds the same in the trace: nothing is lost, mended or said of it, and all stands in one document.
pub(super) fn is_plain(built: &Built) -> bool {
    let [input] = &built.report.inputs[..] else { return false };
    let is_whole = input.lost() == 0 && input.unclosed == 0 && input.odd_separators == 0;
    let one = matches!(&built.documents[..], [document] if document.alike == 0);
    is_whole && one && input.events > 0 && !built.has_lapses && built.report.warnings.is_empty()
}

pub(super) fn write<W: io::Write>(built: &Built, to: &mut Writer<W>) -> io::Result<()> {
    let Some((processes, streams)) = &built.census.lists else { return Ok(()) };
    to.section(id::section(id::CENSUS))?;
    let mut rows = Facts { rows: Rows::new(0), to };
    let spans = built.times.iter().copied().flatten();
    let span = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let flags = flag(span.is_some(), census::SPAN)
        | flag(built.census.has_syncs, census::SYNCS)
        | flag(built.census.browser, census::BROWSER);
    rows.push((census::TRACE, flags), range(span), [b"", b""])?;
    write_processes(built, processes, &mut rows)?;
    for ids in &processes.ids {
        for (hex, (low, high)) in ids.numbers() {
            rows.push((census::NUMBERS, flag(hex, census::HEX)), (low, high - low), [b"", b""])?;
        }
        if let Some((first, last)) = ids.texts() {
            rows.push((census::TEXTS, 0), (ids.tag(), 0), [first, last])?;
        }
    }
    let mut streams: Vec<_> = streams.begins().collect();
    streams.sort_unstable();
    for (key, begin) in streams {
        let flags = flag(begin.is_some(), census::BEGIN);
        rows.push((census::STREAM, flags), (begin.unwrap_or(0) as u64, 0), [key, b""])?;
    }
    rows.rows.end_page(rows.to)
}

fn flag(is_so: bool, bit: u64) -> u64 {
    if is_so { bit } else { 0 }
}

/// A first and a last time as numbers.
fn range(times: Option<(i64, i64)>) -> (u64, u64) {
    times.map_or((0, 0), |(first, last)| (first as u64, last.abs_diff(first)))
}

/// Processes in the order of their first rows in LANES, and the rows that have nothing but metadata.
fn write_processes<W: io::Write>(
    built: &Built,
    processes: &Processes,
    rows: &mut Facts<'_, W>,
) -> io::Result<()> {
    let by_key: HashMap<&[u8], &Process> =
        processes.by_pid.iter().map(|(key, process)| (&**key, process)).collect();
    let mut written = HashSet::default();
    let mut silent: Vec<(u64, u64)> = Vec::new();
    for (row, thread) in (0..).zip(built.threads.entries()) {
        let (pid, tid) = ids_of_key(thread.key);
        if pid.is_empty() {
            continue;
        }
        let key = key_of(Some(pid));
        let Some(process) = by_key.get(&*key) else { continue };
        let tid = key_of(Some(tid).filter(|tid| !tid.is_empty()));
        if process.threads.binary_search(&tid).is_err() {
            match silent.last_mut() {
                Some((first, count)) if *first + *count == row => *count += 1,
                _ => silent.push((row, 1)),
            }
        }
        if written.insert(key) {
            let flags = flag(process.name.is_some(), census::NAME)
                | flag(process.labels.is_some(), census::LABELS)
                | flag(process.times.bulk().is_some(), census::TIMES);
            let texts = [&process.name, &process.labels];
            let texts = texts.map(|text| text.as_deref().unwrap_or_default());
            rows.push((census::PROCESS, flags), range(process.times.bulk()), texts)?;
        }
    }
    let mut silent = silent.into_iter();
    silent.try_for_each(|run| rows.push((census::LANES, 0), run, [b"", b""]))
}

/// Rows that are being written.
struct Facts<'w, W: io::Write> {
    rows: Rows<6>,
    to: &'w mut Writer<W>,
}

impl<W: io::Write> Facts<'_, W> {
    fn push(
        &mut self,
        (kind, flags): (u64, u64),
        (a, b): (u64, u64),
        texts: [&[u8]; 2],
    ) -> io::Result<()> {
        let [first, second] = texts.map(|text| text.len() as u64);
        self.rows.push([kind, flags, a, b, first, second], &texts, self.to)
    }
}
