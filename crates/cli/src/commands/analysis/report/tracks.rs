//! Builds the sections about the tracks that DevTools draws above the threads, and about the memory
//! of pages.

use super::section::{Cell, Columns, Section};
use super::sections::ReportInputs;
use crate::text::size;
use serde_json::json;
use tracemill_report::{CounterChange, PageMemory, Track, TrackRow, TrackSummary};
use tracemill_trace::run::words::plural;

fn ms(us: f64) -> Cell {
    Cell::Ms(us / 1000.0)
}

/// Returns the number of rows of each kind, such as `3 marks, 1 measure`.
fn kinds(summary: &TrackSummary) -> String {
    let kinds = summary.kinds.iter().map(|(kind, count)| plural(*count, kind));
    kinds.collect::<Vec<_>>().join(", ")
}

fn figures(summary: &TrackSummary) -> Vec<(&'static str, Cell)> {
    let of = |kind: &str| {
        let found = summary.kinds.iter().find(|(name, _)| *name == kind);
        Cell::Count(found.map_or(0, |(_, count)| *count))
    };
    let of_track = match summary.track {
        Track::Frames => vec![
            ("dropped", of("dropped frame")),
            ("partial", of("partially presented frame")),
            ("idle", of("idle frame")),
        ],
        Track::Timings => vec![
            ("measures", of("measure")),
            ("marks", of("mark")),
            ("console_times", of("console.time")),
            ("time_stamps", of("console.timeStamp")),
            ("markers", of("marker")),
        ],
        Track::LayoutShifts => vec![("clusters", of("cluster")), ("shifts", of("layout shift"))],
        _ => Vec::new(),
    };
    let all = [("count", Cell::Count(summary.count)), ("total_ms", ms(summary.total))];
    all.into_iter().chain(of_track).collect()
}

/// A counter's values in text: the first and the last, and the greatest.
fn values(change: &CounterChange, text: impl Fn(f64) -> String) -> Cell {
    if change.count == 0 {
        return Cell::None;
    }
    let CounterChange { first, last, least, most, rise, fall, .. } = *change;
    let value = json!({"first": first, "last": last, "min": least, "max": most, "rise": rise, "fall": fall});
    Cell::Json(value, format!("{} → {}, max {}", text(first), text(last), text(most)))
}

fn bytes(bytes: f64) -> String {
    size::human(bytes.max(0.0) as u64)
}

impl ReportInputs<'_> {
    /// Returns the sections of all tracks with rows; extension tracks share a section.
    pub(super) fn tracks(&self) -> Vec<Section> {
        let all = &self.report.tracks;
        let is_of_extension = |summary: &&TrackSummary| summary.track.key() == "extension-track";
        let others = all.iter().filter(|summary| !is_of_extension(summary));
        let sections = others.map(|summary| self.track(summary));
        let of_extensions: Vec<&TrackSummary> = all.iter().filter(is_of_extension).collect();
        sections.chain(self.extension_tracks(&of_extensions)).collect()
    }

    fn track(&self, summary: &TrackSummary) -> Section {
        let part =
            |at: usize| move |row: &&TrackRow| row.parts.map_or(Cell::None, |parts| ms(parts[at]));
        let score = |row: &&TrackRow| {
            row.score.map_or(Cell::None, |score| Cell::Json(json!(score), format!("{score:.4}")))
        };
        let mut columns = Columns::<&TrackRow>::new()
            .ms("start_ms", "at ms", |row| self.after_start(row.ts / 1000.0))
            .ms("dur_ms", "ms", |row| row.dur / 1000.0);
        if summary.track == Track::Interactions {
            columns = columns
                .figure("delay_ms", "delay ms", part(0))
                .figure("handling_ms", "handling ms", part(1))
                .figure("presentation_ms", "presentation ms", part(2));
        }
        if summary.track == Track::LayoutShifts {
            columns = columns.figure("score", "score", score);
        }
        let columns = columns
            .words("name", "name", |row| Cell::text(&row.name))
            .words("key", "key", |row| Cell::optional(row.key.as_deref()))
            .words("kind", "", |row| Cell::text(row.kind));
        let next = |_: &&TrackRow| self.next.of_track(summary.track.key());
        let (first, last) = summary.starts;
        let head = match summary.track {
            Track::Screenshots => {
                let [first, last] = [first, last].map(|us| self.after_start(us / 1000.0));
                format!("{}, from {first:.0} ms to {last:.0} ms", kinds(summary))
            }
            _ if summary.listed() > 1 => format!("{}; the longest", kinds(summary)),
            _ => kinds(summary),
        };
        // another section is about the GPUs of PyTorch
        let id = if summary.track == Track::Gpu { "gpu-tasks" } else { summary.track.key() };
        Section::new(id, columns, &summary.longest, next)
            .of(summary.listed())
            .with(head, figures(summary))
    }

    fn extension_tracks(&self, all: &[&TrackSummary]) -> Option<Section> {
        let text = |number: u32| self.trace.names().text(number);
        let names = |summary: &TrackSummary| match summary.track {
            Track::Extension { name, group } => [name, group].map(text),
            _ => Default::default(),
        };
        let longest = |summary: &TrackSummary, cell: fn(&TrackRow) -> Cell| {
            summary.longest.first().map_or(Cell::None, cell)
        };
        let columns = Columns::<&TrackSummary>::new()
            .ms("total_ms", "total ms", |summary| summary.total / 1000.0)
            .count("count", "count", |summary| summary.count)
            .figure("max_ms", "max ms", |summary| longest(summary, |row| ms(row.dur)))
            .words("longest", "longest", |summary| longest(summary, |row| Cell::text(&row.name)))
            .words("track", "track", |summary| Cell::text(&names(summary)[0]))
            .words("group", "group", |summary| Cell::optional(Some(&names(summary)[1])))
            .words("key", "", |summary| longest(summary, |row| Cell::optional(row.key.as_deref())));
        let mut rows = all.to_vec();
        rows.sort_by(|a, b| b.total.total_cmp(&a.total));
        rows.truncate(self.rows);
        let next = |summary: &&TrackSummary| self.next.of_track(&names(summary)[0]);
        let count = all.len() as u64;
        let section = Section::new("extension-tracks", columns, rows, next).of(count);
        let figures = vec![("tracks", Cell::Count(count))];
        (count > 0).then(|| section.with(plural(count, "track"), figures))
    }

    /// Returns the section about the counters of page processes.
    pub(super) fn memory(&self) -> Option<Section> {
        let all = &self.report.memory;
        let number = |number: f64| number.to_string();
        let worst = |page: &PageMemory, cell: Cell| {
            if page.worst_rise > 0.0 { cell } else { Cell::None }
        };
        let columns = Columns::<&PageMemory>::new()
            .words("heap", "JS heap", |page| values(&page.heap, bytes))
            .words("rise_bytes", "rise", |page| {
                Cell::Json(json!(page.heap.rise), bytes(page.heap.rise))
            })
            .words("fall_bytes", "fall", |page| {
                Cell::Json(json!(page.heap.fall), bytes(page.heap.fall))
            })
            .words("worst_rise_bytes", "worst second", |page| {
                let text = format!("+{}", bytes(page.worst_rise));
                worst(page, Cell::Json(json!(page.worst_rise), text))
            })
            .figure("start_ms", "from ms", |page| {
                worst(page, Cell::Ms(self.after_start(page.worst_ts / 1000.0)))
            })
            .words("nodes", "nodes", |page| values(&page.nodes, number))
            .words("listeners", "listeners", |page| values(&page.listeners, number))
            .spare()
            .words("documents", "documents", |page| values(&page.documents, number))
            .spare()
            .words("pid", "pid", |page| Cell::id(&page.pid))
            .words("url", "page", |page| Cell::optional(Some(&page.url)))
            .count("count", "", |page| page.heap.count);
        let mut rows: Vec<&PageMemory> = all.iter().collect();
        rows.sort_by(|a, b| b.heap.most.total_cmp(&a.heap.most));
        rows.truncate(self.rows);
        let next = |_: &&PageMemory| {
            self.next.of_inputs(&["filter", "--ph", "I", "--name", "^UpdateCounters$"])
        };
        let count = all.len() as u64;
        let section = Section::new("memory", columns, rows, next).of(count);
        let figures = vec![("processes", Cell::Count(count))];
        (count > 0).then(|| section.with(plural(count, "process"), figures))
    }
}
