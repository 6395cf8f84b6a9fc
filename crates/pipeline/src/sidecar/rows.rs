//! The section of intervals: by thread, then by start, with how deep each stands.

use super::span::Span;
use super::spans::Spans;
use std::io;
use tracemill_index::{PageBuilder, Writer, id, spans};

/// Rows of a page.
const ROWS: usize = 8192;

/// Depths of intervals that come by thread and start: all that encloses one of the section is longer, so it stands there too.
#[derive(Default)]
struct Depths {
    thread: u32,
    ends: Vec<i64>,
}

impl Depths {
    fn of(&mut self, span: &Span) -> u64 {
        if !matches!(span.kind, spans::COMPLETE | spans::PAIR) {
            return 0;
        }
        if span.thread != self.thread {
            self.thread = span.thread;
            self.ends.clear();
        }
        while self.ends.pop_if(|end| *end <= span.start).is_some() {}
        self.ends.push(span.end);
        self.ends.len() as u64 - 1
    }
}

/// Writes those longer than 2 to the power of a level.
pub(super) fn write<W: io::Write>(all: &Spans, level: u32, to: &mut Writer<W>) -> io::Result<()> {
    to.section(id::section(id::SPANS))?;
    let mut depths = Depths::default();
    let mut page: Vec<Row> = Vec::new();
    all.each(level, |span| {
        page.push((span, depths.of(&span)));
        if page.len() == ROWS { end_page(&mut page, to) } else { Ok(()) }
    })?;
    end_page(&mut page, to)
}

/// Keys are the least start and the greatest end.
fn end_page<W: io::Write>(page: &mut Vec<Row>, to: &mut Writer<W>) -> io::Result<()> {
    let starts = page.iter().map(|(span, _)| span.start);
    let ends = page.iter().map(|(span, _)| span.end);
    let (Some(least), Some(greatest)) = (starts.min(), ends.max()) else { return Ok(()) };
    to.page(page.len(), (least as u64, greatest as u64), |to| fill(page, to))?;
    page.clear();
    Ok(())
}

/// A row with how deep it stands.
type Row = (Span, u64);

fn fill(page: &[Row], to: &mut PageBuilder) {
    let columns: [fn(&Row) -> u64; 12] = [
        |(span, _)| u64::from(span.kind),
        |(span, _)| u64::from(span.flags),
        |(span, _)| u64::from(span.thread),
        |(span, _)| span.start as u64,
        |(span, _)| if span.flags & spans::OPEN == 0 { span.end.abs_diff(span.start) } else { 0 },
        |&(_, depth)| depth,
        |(span, _)| span.begin.place,
        |(span, _)| span.last.place.wrapping_sub(span.begin.place),
        |(span, _)| u64::from(span.begin.sum),
        |(span, _)| if span.last == span.begin { 0 } else { u64::from(span.last.sum) },
        |(span, _)| u64::from(span.track),
        |(span, _)| u64::from(span.name),
    ];
    for column in columns {
        to.numbers(&page.iter().map(column).collect::<Vec<_>>());
    }
}
