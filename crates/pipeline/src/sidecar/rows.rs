//! Writes the sections of intervals, by thread, then by start, and of events that count wherever they stand.

use super::look::Listed;
use super::pages::Rows;
use super::span::Span;
use super::spans::Spans;
use std::io;
use tracemill_index::{PageBuilder, Writer, id, spans};

/// Rows of a page.
const ROWS: usize = 8192;

/// Writes PLACES.
pub(super) fn places<W: io::Write>(
    all: impl Iterator<Item = Listed>,
    to: &mut Writer<W>,
) -> io::Result<()> {
    to.section(id::PLACES)?;
    let mut rows = Rows::new();
    for Listed { place, len, kinds, sum } in all {
        rows.push([place, len, kinds, u64::from(sum)], &[], to)?;
    }
    rows.end_page(to)
}

/// Writes those longer than 2 to the power of a level.
pub(super) fn write<W: io::Write>(all: &Spans, level: u32, to: &mut Writer<W>) -> io::Result<()> {
    to.section(id::SPANS)?;
    let mut page: Vec<Span> = Vec::new();
    all.each(level, |span| {
        page.push(span);
        if page.len() == ROWS { end_page(&mut page, to) } else { Ok(()) }
    })?;
    end_page(&mut page, to)
}

/// Keys are the least start and the greatest end.
fn end_page<W: io::Write>(page: &mut Vec<Span>, to: &mut Writer<W>) -> io::Result<()> {
    let starts = page.iter().map(|span| span.start);
    let ends = page.iter().map(|span| span.end);
    let (Some(least), Some(greatest)) = (starts.min(), ends.max()) else { return Ok(()) };
    to.page(page.len(), (least as u64, greatest as u64), |to| fill(page, to))?;
    page.clear();
    Ok(())
}

fn fill(page: &[Span], to: &mut PageBuilder) {
    let columns: [fn(&Span) -> u64; 11] = [
        |span| u64::from(span.kind),
        |span| u64::from(span.flags),
        |span| u64::from(span.thread),
        |span| span.start as u64,
        |span| if span.flags & spans::OPEN == 0 { span.end.abs_diff(span.start) } else { 0 },
        |span| span.begin.place,
        |span| span.last.place.wrapping_sub(span.begin.place),
        |span| u64::from(span.begin.sum),
        |span| if span.last == span.begin { 0 } else { u64::from(span.last.sum) },
        |span| u64::from(span.track),
        |span| u64::from(span.name),
    ];
    for column in columns {
        to.numbers(&page.iter().map(column).collect::<Vec<_>>());
    }
}
