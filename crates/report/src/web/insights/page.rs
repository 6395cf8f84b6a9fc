//! The events and requests of a visit, for its insights.

use crate::web::Visit;
use crate::web::network::Request;
use tracemill_analysis::Trace;
use tracemill_analysis::events::pages::{Mark, Marked};
use tracemill_analysis::value::Value;
use tracemill_analysis::value::typed::{List, Object, decode, object};
use tracemill_trace::spill::hash::HashMap;

/// A visit with its events.
pub(crate) struct Page<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) visit: &'t Visit,
    /// Requests that overlap the visit, in the order of their first events.
    pub(crate) requests: Vec<&'t Request>,
    /// Page events that overlap the visit, in input order.
    marks: Vec<&'t Marked>,
    /// The last check of the document's encoding.
    pub(crate) charset: Option<&'t Marked>,
    /// Times of selectors in the style recalculations of the visit and its frame.
    pub(crate) selectors: Vec<&'t Marked>,
    by_id: &'t HashMap<&'t str, &'t Request>,
}

object! {
    struct Answer { headers: List<Object<WrittenHeader>> }

    struct WrittenHeader { name, value }

    struct InFrame { frame }

    struct Style { begin_data: Object<InFrame> }

    struct Selectors { #[serde(rename = "selector_stats")] selector_stats }
}

/// A header of a response.
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl Header {
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

impl<'t> Page<'t> {
    pub(crate) fn marks(&self, mark: Mark) -> impl Iterator<Item = &'t Marked> {
        self.marks.iter().copied().filter(move |marked| marked.mark == mark)
    }

    /// Returns the request for the page, or the reason why there is none. The reason is `None` for
    /// visits that need no request.
    pub(crate) fn document(&self) -> Result<&'t Request, Option<&'static str>> {
        if self.visit.navigation.is_empty() {
            return Err(None);
        }
        self.request(&self.visit.navigation).ok_or(Some("the request for the page is missing"))
    }

    /// Returns the request with an id.
    pub(crate) fn request(&self, id: &str) -> Option<&'t Request> {
        self.by_id.get(id).copied()
    }

    /// Returns the headers of the response, if the trace has them.
    pub(crate) fn headers(&self, request: &Request) -> Option<Vec<Header>> {
        let answer = &self.trace.marks()[request.places.answer?];
        let text = |value: &Value| value.printable().unwrap_or_default();
        let headers = answer.data::<Answer>()?.headers.0?.into_iter();
        let headers = headers.map(|Object(header)| header.unwrap_or_default());
        Some(
            headers
                .map(|header| Header { name: text(&header.name), value: text(&header.value) })
                .collect(),
        )
    }

    /// Returns whether a frame id is that of the visit.
    pub(crate) fn is_frame(&self, frame: &Value) -> bool {
        frame.printable().as_deref() == Some(&*self.visit.frame)
    }
}

/// Returns whether an insight of a visit uses events of this kind.
fn is_used(mark: Mark) -> bool {
    use Mark::*;
    matches!(mark, ViewportTag | Commit | FontLoad | PaintImage | DomStats | LargeUpdate)
}

/// Returns the pages, which are in the order of time, that overlap an interval. An interval without
/// duration does not overlap a page that begins at the same time, as in DevTools.
fn overlapped<'p, 't>(
    pages: &'p mut [Page<'t>],
    from: f64,
    dur: f64,
) -> impl Iterator<Item = &'p mut Page<'t>> {
    let first = pages.partition_point(|page| page.visit.bounds.1 < from);
    let is_in = move |page: &&mut Page<'t>| page.visit.bounds.0 < from + dur;
    pages[first..].iter_mut().take_while(is_in)
}

/// Distributes the requests and page events among the visits. `by_id` has the requests by id.
pub(crate) fn pages<'t>(
    trace: &'t Trace,
    visits: &'t [Visit],
    requests: &'t [Request],
    by_id: &'t HashMap<&'t str, &'t Request>,
) -> Vec<Page<'t>> {
    let page = |visit| Page {
        trace,
        visit,
        requests: Vec::new(),
        marks: Vec::new(),
        charset: None,
        selectors: Vec::new(),
        by_id,
    };
    let mut pages: Vec<Page<'t>> = visits.iter().map(page).collect();
    for request in requests {
        let pages = overlapped(&mut pages, request.start, request.duration());
        pages.for_each(|page| page.requests.push(request));
    }
    for mark in trace.marks().iter().filter(|mark| is_used(mark.mark)) {
        overlapped(&mut pages, mark.ts, mark.dur).for_each(|page| page.marks.push(mark));
    }
    add_checks(trace, &mut pages);
    add_selectors(trace, &mut pages);
    pages
}

/// Adds to each navigation the last check of the encoding before the next navigation of its frame.
fn add_checks<'t>(trace: &'t Trace, pages: &mut [Page<'t>]) {
    let mut by_frame: HashMap<&str, Vec<usize>> = HashMap::default();
    for (at, page) in pages.iter().enumerate() {
        if !page.visit.navigation.is_empty() {
            by_frame.entry(&page.visit.frame).or_default().push(at);
        }
    }
    let checks = trace.marks().iter().filter(|mark| mark.mark == Mark::Charset);
    for check in checks {
        let frame = check.data::<InFrame>().and_then(|data| data.frame.printable());
        let navigations = frame.and_then(|frame| by_frame.get(&*frame));
        let Some(navigations) = navigations else { continue };
        let before = navigations.partition_point(|&at| pages[at].visit.bounds.0 <= check.ts);
        let Some(&at) = before.checked_sub(1).and_then(|last| navigations.get(last)) else {
            continue;
        };
        let page = &mut pages[at];
        if page.charset.is_none_or(|known| known.ts <= check.ts) {
            page.charset = Some(check);
        }
    }
}

/// Adds the times of selectors. If a style recalculation has them twice, the last ones count.
fn add_selectors<'t>(trace: &'t Trace, pages: &mut [Page<'t>]) {
    let mut styles: Vec<(&Marked, Option<&'t Marked>)> = Vec::new();
    for mark in trace.marks() {
        let is_known = styles.last().is_some_and(|(style, _)| style.number == mark.number);
        match (mark.mark, styles.last_mut()) {
            (Mark::Style, _) if !is_known => styles.push((mark, None)),
            (Mark::Selectors, Some((_, times)))
                if decode::<Selectors>(&mark.args).selector_stats.is_true() =>
            {
                *times = Some(mark)
            }
            _ => {}
        }
    }
    for (style, times) in styles {
        let Some(times) = times else { continue };
        let frame = decode::<Style>(&style.args).begin_data.0.unwrap_or_default().frame;
        for page in overlapped(pages, style.ts, style.dur) {
            if page.is_frame(&frame) {
                page.selectors.push(times);
            }
        }
    }
}
