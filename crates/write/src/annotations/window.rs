//! Time ranges in annotations: breadcrumbs and labelled ranges.
//!
//! A range is `{"min":…,"max":…,"range":…}` in microseconds of the trace's clock. [`moved`] shifts
//! a range by the same time as the events of its input.

use crate::keys::edit::with_member;
use tracemill_trace::json::member;
use tracemill_trace::time::attos::Attos;
use tracemill_trace::time::shift::Shift;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnnotationSpan {
    pub(super) min: Attos,
    pub(super) max: Attos,
}

impl AnnotationSpan {
    /// Parses a JSON object with `min` and `max`.
    pub(super) fn of(window: &[u8]) -> Option<Self> {
        let side = |name: &[u8]| member(window, name).and_then(Attos::of);
        Some(AnnotationSpan { min: side(b"min")?, max: side(b"max")? })
    }

    /// Returns the range between two times in nanoseconds.
    pub(super) fn between(from: i64, to: i64) -> Self {
        AnnotationSpan { min: Attos::from_nanos(from), max: Attos::from_nanos(to) }
    }

    /// Returns whether the two ranges share at least one point.
    pub(super) fn touches(&self, other: &AnnotationSpan) -> bool {
        self.min <= other.max && other.min <= self.max
    }

    /// Returns the intersection with the range `other`. The ranges must touch.
    fn clipped(self, other: &AnnotationSpan) -> AnnotationSpan {
        AnnotationSpan { min: self.min.max(other.min), max: self.max.min(other.max) }
    }

    fn shifted(self, shift: Option<&Shift>) -> AnnotationSpan {
        let Some(shift) = shift else { return self };
        AnnotationSpan { min: shift.point(self.min), max: shift.point(self.max) }
    }

    /// Returns the range as a JSON object.
    fn text(&self) -> Vec<u8> {
        let mut text = b"{\"min\":".to_vec();
        self.min.push(&mut text);
        text.extend_from_slice(b",\"max\":");
        self.max.push(&mut text);
        text.extend_from_slice(b",\"range\":");
        (self.max - self.min).push(&mut text);
        text.push(b'}');
        text
    }
}

/// Returns a labelled range with its bounds shifted.
pub(super) fn moved(range: &[u8], shift: Option<&Shift>) -> Vec<u8> {
    let bounds = member(range, b"bounds").unwrap_or_default();
    match (shift, AnnotationSpan::of(bounds)) {
        (Some(_), Some(span)) => with_member(range, b"bounds", &span.shifted(shift).text()),
        _ => range.to_vec(),
    }
}

/// Maximum number of breadcrumbs to read. Finding a breadcrumb costs a pass over the text inside
/// it.
const MOST: usize = 100;

/// Breadcrumbs from the outermost to the innermost. Each breadcrumb is a window within the previous
/// window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Breadcrumbs {
    spans: Vec<AnnotationSpan>,
    /// Whether DevTools can read the breadcrumbs as written: the innermost has `child: null`.
    sound: bool,
    /// Whether there were more than [`MOST`] breadcrumbs; the innermost breadcrumbs were not read.
    has_more: bool,
}

impl Breadcrumbs {
    /// Parses up to [`MOST`] breadcrumbs from a JSON value.
    pub(super) fn of(initial: &[u8]) -> Self {
        let (mut crumbs, mut next) = (Breadcrumbs::default(), Some(initial));
        while let Some(crumb) = next.take()
            && let Some(span) = member(crumb, b"window").and_then(AnnotationSpan::of)
        {
            crumbs.spans.push(span);
            let child = member(crumb, b"child");
            crumbs.sound = child == Some(b"null");
            next = child.filter(|child| child.starts_with(b"{"));
            if crumbs.spans.len() == MOST {
                crumbs.has_more = next.take().is_some();
            }
        }
        crumbs
    }

    /// Returns the first window in nanoseconds, rounded down, or `None` if there is no breadcrumb.
    pub(super) fn first(&self) -> Option<(i64, i64)> {
        self.spans.first().map(|span| (span.min.floor(), span.max.floor()))
    }

    /// Returns the number of breadcrumbs after the first. All breadcrumbs beyond [`MOST`] count as
    /// one.
    pub(super) fn inner(&self) -> u64 {
        self.inner_read() + u64::from(self.has_more)
    }

    /// Returns the number of breadcrumbs that were read after the first.
    pub(super) fn inner_read(&self) -> u64 {
        self.spans.len().saturating_sub(1) as u64
    }

    /// Replaces the first window by `bounds`, and clips the inner windows to `bounds`. The first
    /// window outside of `bounds`, and all windows inside of it, are dropped.
    ///
    /// Without `bounds`, only shifts the windows.
    pub(super) fn within(mut self, bounds: Option<&AnnotationSpan>, shift: Option<&Shift>) -> Self {
        let before = self.clone();
        self.spans = self.spans.into_iter().map(|span| span.shifted(shift)).collect();
        if let Some(bounds) = bounds {
            let inner = self.spans.into_iter().skip(1).take_while(|span| span.touches(bounds));
            let inner = inner.map(|span| span.clipped(bounds));
            self.spans = std::iter::once(*bounds).chain(inner).collect();
        }
        self.sound &= self.spans == before.spans;
        self
    }

    /// Returns the breadcrumbs as JSON: the text `old` if that is still right, otherwise new text.
    pub(super) fn text(&self, old: Option<&[u8]>) -> Vec<u8> {
        if let Some(old) = old.filter(|_| self.sound) {
            return old.to_vec();
        }
        let mut text = Vec::new();
        for span in &self.spans {
            text.extend_from_slice(b"{\"window\":");
            text.extend(span.text());
            text.extend_from_slice(b",\"child\":");
        }
        text.extend_from_slice(b"null");
        text.extend(std::iter::repeat_n(b'}', self.spans.len()));
        text
    }
}

pub(super) fn span_of_range(range: &[u8]) -> Option<AnnotationSpan> {
    member(range, b"bounds").and_then(AnnotationSpan::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str) -> AnnotationSpan {
        AnnotationSpan::of(text.as_bytes()).unwrap()
    }

    #[test]
    fn breadcrumbs_are_clipped_to_the_bounds() {
        let old = r#"{ "window":{"min":10,"max":90,"range":80},"child":{"window":{"min":5,"max":30.5,"range":25.5},
            "child":{"window":{"min":1,"max":2,"range":1},"child":null}}}"#;
        let crumbs = Breadcrumbs::of(old.as_bytes());
        assert_eq!(crumbs.inner(), 2);
        assert_eq!(crumbs.text(Some(old.as_bytes())), old.as_bytes());
        let bounds = span(r#"{"min":20,"max":100.25}"#);
        let within = crumbs.clone().within(Some(&bounds), None);
        let text = String::from_utf8(within.text(Some(old.as_bytes()))).unwrap();
        let expected = r#"{"window":{"min":20,"max":100.25,"range":80.25},"child":{"window":{"min":20,"max":30.5,"range":10.5},"child":null}}"#;
        assert_eq!(text, expected);
        let later = Shift::new(1_000_000, None);
        let moved = crumbs.within(None, later.as_ref()).text(Some(old.as_bytes()));
        assert!(String::from_utf8(moved).unwrap().contains(r#""min":1005,"max":1030.5,"#));
    }

    #[test]
    fn breadcrumbs_beyond_the_most_count_as_one() {
        let of = |levels: usize| {
            let level = r#"{"window":{"min":1,"max":2,"range":1},"child":"#;
            let text = level.repeat(levels) + "null" + &"}".repeat(levels);
            let crumbs = Breadcrumbs::of(text.as_bytes());
            (
                crumbs.inner(),
                crumbs.inner_read(),
                crumbs.text(Some(text.as_bytes())).len() / level.len(),
            )
        };
        assert_eq!(of(MOST), (99, 99, 102));
        assert_eq!(of(MOST + 1), (100, 99, 102));
        assert_eq!(of(10 * MOST), (100, 99, 102));
    }

    #[test]
    fn breadcrumbs_that_devtools_cannot_read_are_rewritten() {
        let old = br#"{"window":{"min":1,"max":2,"range":1}}"#;
        let text = Breadcrumbs::of(old).text(Some(old));
        assert_eq!(text, br#"{"window":{"min":1,"max":2,"range":1},"child":null}"#);
        assert_eq!(Breadcrumbs::of(b"{}").text(Some(b"{}")), b"null");
    }

    #[test]
    fn ranges_move_with_their_events() {
        let range = br#"{"bounds":{"min":1,"max":3,"range":2}, "label":"x"}"#;
        assert_eq!(moved(range, None), range);
        let later = Shift::new(500, None);
        let expected = br#"{"bounds":{"min":1.5,"max":3.5,"range":2}, "label":"x"}"#;
        assert_eq!(moved(range, later.as_ref()), expected);
    }
}
