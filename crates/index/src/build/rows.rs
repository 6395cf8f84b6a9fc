//! Writes SPANS and PLACES.

use super::look::ListedEvent;
use super::spans::Spans;
use crate::format::{Writer, id, spans};
use crate::pages::{PageRows, write_rows};
use std::io;

pub(super) fn places<W: io::Write>(
    all: impl Iterator<Item = ListedEvent>,
    to: &mut Writer<W>,
) -> io::Result<()> {
    let row = |ListedEvent { place, len, sum }| ([place, len, u64::from(sum)], place);
    write_rows(id::PLACES, all.map(row), to)
}

/// Writes SPANS: slices longer than 2^`level` ns, by thread, then by start.
pub(super) fn write<W: io::Write>(all: &Spans, level: u32, to: &mut Writer<W>) -> io::Result<()> {
    to.section(id::SPANS)?;
    let mut rows = PageRows::new();
    all.each(level, |span| {
        let is_open = span.flags & spans::OPEN != 0;
        let row = [
            u64::from(span.kind),
            u64::from(span.flags),
            u64::from(span.thread),
            span.start as u64,
            if is_open { 0 } else { span.end.abs_diff(span.start) },
            span.begin.place,
            span.last.place.wrapping_sub(span.begin.place),
            u64::from(span.begin.sum),
            if span.last == span.begin { 0 } else { u64::from(span.last.sum) },
            u64::from(span.track),
            u64::from(span.name),
        ];
        rows.push(row, span.start..=span.end, &[], to)
    })?;
    rows.end_page(to)
}
