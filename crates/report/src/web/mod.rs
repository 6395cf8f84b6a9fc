//! Page load and interaction metrics by navigation (DevTools: `PageLoadMetricsHandler`, and the
//! LCP, INP and CLS insights).

pub(crate) mod initiated;
pub(crate) mod insights;
pub(crate) mod interactions;
pub(crate) mod navigations;
pub(crate) mod network;
pub(crate) mod parties;
pub(crate) mod shifts;
pub(crate) mod tracks;
pub(crate) mod visits;

use crate::web::interactions::{Interaction, Interactions, slowest};
use crate::web::navigations::{Navigation, navigations, number_above_zero};
use crate::web::network::{Request, asked_between};
use crate::web::shifts::{ShiftCluster, shift_clusters};
use tracemill_analysis::Trace;
use tracemill_analysis::events::pages::{Mark, Marked};
use tracemill_analysis::value::clock::by_time;
use tracemill_analysis::value::typed::object;
use tracemill_tokenizer::unescaped_text;

/// A metric, or the reason why the metric is unknown.
pub type Metric<T> = Result<T, &'static str>;

/// A visit of a page: the time from a navigation of the main frame to the next one, or the time
/// before the first. Times are microseconds.
///
/// Soft navigations count too, in which a script replaces the page without a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// Final URL in the address bar, after redirects and changes by scripts. Empty if unknown.
    pub url: String,
    /// DevTools' key of the navigation; `None` for the time before the first navigation.
    pub key: Option<String>,
    /// Whether the visit began with a soft navigation.
    pub is_soft: bool,
    /// Start and end on the trace's clock.
    pub bounds: (f64, f64),
    /// URL whose owner is the first party: the URL of the navigation, or else of the main frame.
    pub(crate) first_party: String,
    /// Id of the frame; the main frame's before the first navigation.
    pub(crate) frame: String,
    /// Id of the navigation; empty for soft navigations and before the first navigation.
    pub(crate) navigation: String,
    /// Pid and tid of the navigation, as written; empty before the first navigation.
    pub(crate) pid: Box<[u8]>,
    pub(crate) tid: Box<[u8]>,
    /// Time from the navigation to the first contentful paint.
    pub fcp: Metric<f64>,
    /// Largest contentful paint.
    pub lcp: Metric<LargestPaint>,
    /// The longest interaction, and the interaction at the 98th percentile.
    pub inp: Metric<(Interaction, Interaction)>,
    /// The worst cluster of layout shifts, if any.
    pub shifts: Option<ShiftCluster>,
}

impl Visit {
    /// Returns the cumulative layout shift.
    pub fn cls(&self) -> f64 {
        self.shifts.as_ref().map_or(0.0, |shift| shift.score)
    }
}

/// The largest contentful paint. Times are microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct LargestPaint {
    /// Time from the navigation.
    pub time: f64,
    /// DevTools' key of the paint.
    pub key: String,
    /// DevTools' key of the request for the painted image, if there was one.
    pub request: Option<String>,
    /// Id of that request.
    pub(crate) request_id: Option<String>,
    /// Whether the painted image has `loading=lazy`.
    pub(crate) is_lazy: bool,
    /// Parts of the time from the navigation.
    pub parts: Metric<LargestParts>,
}

/// Parts of the time to the largest contentful paint, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargestParts {
    /// Time to first byte.
    pub first_byte: f64,
    /// Load delay and load time of the image; `None` if there was no request.
    pub load: Option<(f64, f64)>,
    /// Render delay.
    pub render: f64,
}

object! {
    struct Paint { node_id, loading_attr }

    struct Image { #[serde(rename = "DOMNodeId")] node_id, image_url }
}

/// Returns the visits of pages, one for each navigation of the main frame.
///
/// # Errors
/// Returns the reason why the trace has no metrics.
pub fn page_visits(trace: &Trace) -> Metric<Vec<Visit>> {
    visits(trace, &network::requests(trace), &interactions::interactions(trace))
}

/// Returns the visits, one for each navigation of the main frame.
///
/// # Errors
/// Returns the reason why the trace has no metrics.
pub(crate) fn visits(
    trace: &Trace,
    requests: &[Request],
    interactions: &Interactions,
) -> Metric<Vec<Visit>> {
    let navigations = navigations(trace);
    // A soft navigation needs no other event to identify the page.
    if trace.meta().main_frame.is_none() && !navigations.iter().any(|navigation| navigation.is_soft)
    {
        return Err(
            "TracingStartedInBrowser is missing; record in DevTools' Performance panel to get LCP, INP and CLS",
        );
    }
    if has_several_inputs(trace) {
        return Err("several inputs have pages: report on each of them separately");
    }
    let clusters = shift_clusters(trace, starts_of_pages(trace, &navigations), |_, _| {});
    let is_visit = |navigation: &&Navigation<'_>| {
        navigation.is_soft || navigation.is_main && !navigation.id.is_empty()
    };
    let mut visited: Vec<&Navigation<'_>> = navigations.iter().filter(is_visit).collect();
    visited.sort_by(|a, b| by_time(a.own.ts, b.own.ts));
    let times: Vec<f64> = visited.iter().map(|navigation| navigation.own.ts).collect();
    let main_url = main_url(trace, &navigations);

    let mut visits = Vec::new();
    let (first, last) = trace.bounds;
    let end_of = |at: usize| times.get(at).map_or(last, |next| next - 1.0);
    let navigated = (0..)
        .zip(&visited)
        .map(|(at, navigation)| (Some(*navigation), (navigation.own.ts, end_of(at + 1))));
    for (navigation, bounds) in std::iter::once((None, (first, end_of(0)))).chain(navigated) {
        let is_in = |ts: f64, dur: f64| ts <= bounds.1 && bounds.0 < ts + dur;
        let worst = worst(clusters.iter().filter(|cluster| is_in(cluster.ts, cluster.dur)));
        let within =
            interactions.outermost().filter(|interaction| is_in(interaction.ts, interaction.dur));
        let inp = slowest(within).ok_or("no user interactions recorded");
        let or_main = |url: &str| if url.is_empty() { &main_url } else { url }.to_owned();
        let event = navigation.map(|current| current.own);
        let visit = Visit {
            first_party: or_main(navigation.map_or("", |current| &current.url)),
            url: navigation.map_or_else(String::new, |current| or_main(&current.address)),
            frame: navigation.map_or_else(|| main_frame(trace), |current| current.frame.clone()),
            navigation: navigation.map_or_else(String::new, |current| current.id.clone()),
            pid: event.map_or_else(Default::default, |event| event.pid.clone()),
            tid: event.map_or_else(Default::default, |event| event.tid.clone()),
            key: event.map(|event| format!("r-{}", event.number)),
            is_soft: navigation.is_some_and(|current| current.is_soft),
            bounds,
            fcp: navigation.ok_or("navigationStart is missing").and_then(|current| {
                let paint = current.first_paint.ok_or("firstContentfulPaint is missing");
                paint.map(|ts| ts - current.own.ts)
            }),
            lcp: navigation
                .ok_or("navigationStart is missing")
                .and_then(|current| largest(trace, current, requests)),
            inp,
            shifts: worst.cloned(),
        };
        // A visit before the first navigation is left out if nothing happened in it.
        if visit.key.is_some() || visited.is_empty() || visit.inp.is_ok() || visit.shifts.is_some()
        {
            visits.push(visit);
        }
    }
    Ok(visits)
}

/// Returns whether several inputs have pages.
fn has_several_inputs(trace: &Trace) -> bool {
    let pages = trace.marks().iter().filter(|marked| is_of_page(marked.mark));
    let mut inputs = pages.map(|page| page.input);
    let first = inputs.next();
    inputs.any(|input| Some(input) != first)
}

/// Returns the first of the clusters with the greatest score above zero.
fn worst<'c>(clusters: impl Iterator<Item = &'c ShiftCluster>) -> Option<&'c ShiftCluster> {
    let mut worst: Option<&ShiftCluster> = None;
    for cluster in clusters {
        if cluster.score > worst.map_or(0.0, |worst| worst.score) {
            worst = Some(cluster);
        }
    }
    worst
}

/// Returns the times of all navigations of the main frame, at which clusters of shifts begin.
pub(crate) fn starts_of_pages(trace: &Trace, navigations: &[Navigation<'_>]) -> Vec<f64> {
    let main = main_frame(trace);
    let is_of_main = |page: &&Navigation<'_>| page.is_soft || page.frame == main;
    navigations.iter().filter(is_of_main).map(|navigation| navigation.own.ts).collect()
}

/// Returns the id of the main frame; empty if it is unknown.
fn main_frame(trace: &Trace) -> String {
    trace.meta().main_frame.as_deref().map(unescaped_text).unwrap_or_default()
}

/// Returns whether only pages have events of this kind.
fn is_of_page(mark: Mark) -> bool {
    use Mark::*;
    matches!(mark, Navigation | SoftNavigation | FirstPaint | LargestPaint | Shift | Begin)
}

/// Returns the URL of the main frame. If the recording began with a navigation, that is its URL;
/// otherwise, the URL at the start of the recording.
fn main_url(trace: &Trace, navigations: &[Navigation<'_>]) -> String {
    /// Maximum microseconds between the start of the recording and its first navigation.
    const SOON: f64 = 500_000.0;
    let first = navigations.iter().find(|navigation| navigation.is_main);
    let is_it = |navigation: &&Navigation<'_>| {
        navigation.own.ts - trace.bounds.0 < SOON && navigation.is_outermost
    };
    match first.filter(is_it).filter(|navigation| !navigation.url.is_empty()) {
        Some(navigation) => navigation.url.clone(),
        None => unescaped_text(trace.meta().main_frame_url.as_deref().unwrap_or_default()),
    }
}

fn largest(
    trace: &Trace,
    navigation: &Navigation<'_>,
    requests: &[Request],
) -> Metric<LargestPaint> {
    let (paint, _) = navigation.largest.ok_or("largestContentfulPaint::Candidate is missing")?;
    let start = navigation.own.ts;
    let (request, document) = if navigation.is_soft {
        (None, Err("scripts changed the page, without a request for it"))
    } else {
        let document = requests.iter().rev().find(|request| request.id == navigation.id);
        let document = document.ok_or("the request for the page is missing");
        (request_of_paint(trace, paint, start, requests), document)
    };
    let parts = document.and_then(|document| {
        let answered =
            document.answered.ok_or("the request for the page has no times of its answer")?;
        let (load, ready) = match request {
            Some(navigation) => (
                Some((navigation.start - answered, navigation.finish - navigation.start)),
                navigation.finish,
            ),
            None => (None, answered),
        };
        Ok(LargestParts { first_byte: answered - start, load, render: paint.ts - ready })
    });
    Ok(LargestPaint {
        time: paint.ts - start,
        key: format!("r-{}", paint.number),
        request: request.map(|request| request.key.clone()),
        request_id: request.map(|request| request.id.clone()),
        is_lazy: paint
            .data::<Paint>()
            .is_some_and(|paint| paint.loading_attr.text() == Some(b"lazy")),
        parts,
    })
}

/// Returns the request for the image of a paint. Uses the last image that was painted in the same
/// element.
fn request_of_paint<'r>(
    trace: &Trace,
    paint: &Marked,
    start: f64,
    requests: &'r [Request],
) -> Option<&'r Request> {
    let node = number_above_zero(&paint.data::<Paint>()?.node_id)?;
    let is_near = |marked: &&Marked| marked.mark == Mark::LargestImage && marked.pid == paint.pid;
    let images = trace.marks().iter().rev().filter(is_near);
    let mut images = images.filter_map(|mark| Some((mark, mark.data::<Image>()?)));
    let (image, data) = images.find(|(_, image)| image.node_id.number() == Some(node))?;
    let url = data.image_url.printable().filter(|url| !url.is_empty())?;
    asked_between(requests, &url, start, image.ts)
}
