//! Navigations of a page, with their paints and final address (DevTools: `MetaHandler` and
//! `PageLoadMetricsHandler`).
//!
//! ```text
//!   navigationStart "A"     SoftNavigationStart 7       (a script shows another page)
//!      │ firstContentfulPaint "A"   │ context.firstContentfulPaint
//!      │ largestContentfulPaint::   │ largestContentfulPaint::
//!      │   Candidate "A"            │   CandidateForSoftNavigation 7
//! ```
//!
//! A paint names its navigation by id. It counts only if its frame and process belong together.

use std::collections::hash_map::Entry;
use tracemill_analysis::Trace;
use tracemill_analysis::events::meta::Started;
use tracemill_analysis::events::pages::{Mark, Marked};
use tracemill_analysis::value::Value;
use tracemill_analysis::value::clock::by_time;
use tracemill_analysis::value::typed::{Object, decode, object};
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::spill::hash::HashMap;

pub(crate) struct Navigation<'m> {
    pub(crate) own: &'m Marked,
    /// Id of the navigation. Empty if it has no id, and for soft navigations, whose ids are
    /// numbers.
    pub(crate) id: String,
    pub(crate) frame: String,
    /// Requested URL.
    pub(crate) url: String,
    /// Final URL in the address bar; empty if unknown.
    pub(crate) address: String,
    /// Whether the frame was the main frame at this position of the trace.
    pub(crate) is_main: bool,
    /// Whether Chrome marks the frame as outermost.
    pub(crate) is_outermost: bool,
    /// Whether this is a soft navigation, made by scripts.
    pub(crate) is_soft: bool,
    pub(crate) first_paint: Option<f64>,
    /// The last candidate for the largest paint, and the index of the candidate.
    pub(crate) largest: Option<(&'m Marked, f64)>,
}

impl<'m> Navigation<'m> {
    /// Creates a navigation from its event. All fields that other events determine are empty.
    fn of(mark: &'m Marked, args: &Args) -> Self {
        Navigation {
            own: mark,
            id: String::new(),
            frame: args.frame.printable().unwrap_or_default(),
            url: String::new(),
            address: String::new(),
            is_main: false,
            is_outermost: false,
            is_soft: false,
            first_paint: None,
            largest: None,
        }
    }
}

/// The navigations so far, and the number of each by id.
#[derive(Default)]
struct Navigations<'m> {
    all: Vec<Navigation<'m>>,
    numbers: HashMap<String, usize>,
    soft_numbers: HashMap<Vec<u8>, usize>,
}

struct Paint<'m> {
    ts: f64,
    own: &'m Marked,
    navigation: usize,
    args: Args,
}

object! {
    struct Args {
        data: Object<Data>, context: Object<Context>, frame, url, #[serde(rename = "render_frame_host")] render_frame_host: Object<Host>,
    }

    struct Data {
        #[serde(rename = "documentLoaderURL")] document_loader_url, navigation_id, performance_timeline_navigation_id, candidate_index,
        is_outermost_main_frame, resource_type, request_id, url,
    }

    /// Data of a soft navigation.
    struct Context { #[serde(rename = "URL")] url, performance_timeline_navigation_id, first_contentful_paint }

    struct Host { #[serde(rename = "frame_type")] frame_type }
}

/// Returns the navigations in trace order, with their paints and addresses. If several have the
/// same id, the first counts; of soft navigations, the last.
pub(crate) fn navigations(trace: &Trace) -> Vec<Navigation<'_>> {
    let mut navigations = Navigations::default();
    let mut main: Option<Vec<u8>> = None;
    for mark in trace.marks() {
        match mark.mark {
            Mark::Started => {
                let started: Started = mark.data().unwrap_or_default();
                main = started.main_frame().map(<[u8]>::to_vec).or(main);
            }
            Mark::Send => navigations.redirect(mark),
            Mark::Navigation => navigations.add(mark, main.as_deref()),
            Mark::SoftNavigation => navigations.add_soft(mark),
            _ => {}
        }
    }
    let mut paints: Vec<Paint<'_>> =
        trace.marks().iter().filter_map(|mark| navigations.paint(mark)).collect();
    paints.sort_by(|a, b| by_time(a.ts, b.ts));
    let mut all = navigations.all;
    add_paints(trace, &mut all, &paints);
    add_addresses(trace, &mut all);
    all
}

/// Adds paints to their navigations. Leaves out paints whose frame or process differs from that of
/// the navigation.
fn add_paints<'m>(trace: &Trace, navigations: &mut [Navigation<'m>], paints: &[Paint<'m>]) {
    for paint in paints {
        let navigation = &mut navigations[paint.navigation];
        let frame = paint.args.frame.printable().unwrap_or_default();
        if frame != navigation.frame || !trace.meta().shows(frame.as_bytes(), &paint.own.pid) {
            continue;
        }
        if matches!(paint.own.mark, Mark::FirstPaint | Mark::SoftNavigation) {
            navigation.first_paint = Some(paint.ts);
        } else if let Some(data) = &paint.args.data.0
            && let Some(index) = number_above_zero(&data.candidate_index)
            && navigation.largest.is_none_or(|(_, known)| known < index)
        {
            navigation.largest = Some((paint.own, index));
        }
    }
}

/// Adds addresses that scripts set to the previous navigation of the main frame. Addresses after a
/// soft navigation are left out.
fn add_addresses(trace: &Trace, navigations: &mut [Navigation<'_>]) {
    let mut soft: Vec<f64> = navigations
        .iter()
        .filter(|navigation| navigation.is_soft)
        .map(|navigation| navigation.own.ts)
        .collect();
    soft.sort_by(|a, b| by_time(*a, *b));
    let mut main: Vec<&mut Navigation<'_>> =
        navigations.iter_mut().filter(|navigation| navigation.is_main).collect();
    main.sort_by(|a, b| by_time(a.own.ts, b.own.ts));
    for mark in trace.marks().iter().filter(|mark| mark.mark == Mark::SameDocument) {
        let args: Args = decode(&mark.args);
        let host = args.render_frame_host.0.unwrap_or_default();
        let before = main.partition_point(|navigation| navigation.own.ts <= mark.ts);
        if host.frame_type.text() != Some(b"PRIMARY_MAIN_FRAME") || before == 0 {
            continue;
        }
        let navigation = &mut main[before - 1];
        let next_soft = soft.partition_point(|&ts| ts < navigation.own.ts);
        if soft.get(next_soft).is_none_or(|&ts| ts > mark.ts) {
            navigation.address = args.url.printable().unwrap_or_default();
        }
    }
}

impl<'m> Navigations<'m> {
    /// Sets the address of a navigation to the URL of a request. The last request of the navigation
    /// counts.
    fn redirect(&mut self, request: &Marked) {
        let Data { resource_type, request_id, url, .. } = request.data().unwrap_or_default();
        if resource_type.text() != Some(b"Document") {
            return;
        }
        if let Some(&number) = self.numbers.get(&request_id.printable().unwrap_or_default()) {
            self.all[number].address = url.printable().unwrap_or_default();
        }
    }

    /// Adds a navigation. `main` is the id of the main frame at this position of the trace.
    fn add(&mut self, mark: &'m Marked, main: Option<&[u8]>) {
        let args: Args = decode(&mark.args);
        let Some(data) = &args.data.0 else { return };
        if data.document_loader_url.text() == Some(b"") {
            return;
        }
        let id = data.navigation_id.printable().unwrap_or_default();
        let next = self.all.len();
        if *self.numbers.entry(id.clone()).or_insert(next) != next {
            return;
        }
        let url = data.document_loader_url.printable().unwrap_or_default();
        let frame = args.frame.printable();
        let is_main = frame.is_some() && frame == main.map(unescaped_text);
        let is_outermost = data.is_outermost_main_frame.is_true();
        let address = url.clone();
        let new = Navigation::of(mark, &args);
        self.all.push(Navigation { id, url, address, is_main, is_outermost, ..new });
    }

    fn add_soft(&mut self, mark: &'m Marked) {
        let args: Args = decode(&mark.args);
        let navigation = Navigation { is_soft: true, ..Navigation::of(mark, &args) };
        let context = args.context.0.unwrap_or_default();
        let address = context.url.printable().unwrap_or_default();
        let navigation = Navigation { address, ..navigation };
        match self.soft_numbers.entry(context.performance_timeline_navigation_id.written()) {
            Entry::Occupied(number) => self.all[*number.get()] = navigation,
            Entry::Vacant(number) => {
                number.insert(self.all.len());
                self.all.push(navigation);
            }
        }
    }

    /// Returns the paint that an event describes. Returns `None` if its navigation is unknown.
    fn paint(&self, mark: &'m Marked) -> Option<Paint<'m>> {
        if !matches!(
            mark.mark,
            Mark::FirstPaint | Mark::LargestPaint | Mark::SoftLargestPaint | Mark::SoftNavigation
        ) {
            return None;
        }
        let args: Args = decode(&mark.args);
        let soft = |id: &Value| self.soft_numbers.get(&id.written()).copied();
        let (ts, navigation) = if mark.mark == Mark::SoftNavigation {
            let context = args.context.0.as_ref()?;
            let painted = number_above_zero(&context.first_contentful_paint)?;
            (painted + mark.offset, soft(&context.performance_timeline_navigation_id)?)
        } else {
            let none = Data::default();
            let data = args.data.0.as_ref().unwrap_or(&none);
            let soft_id = data.performance_timeline_navigation_id.truthy();
            let number = match soft_id.filter(|_| mark.mark == Mark::SoftLargestPaint) {
                Some(id) => soft(id)?,
                None => *self.numbers.get(&data.navigation_id.printable().unwrap_or_default())?,
            };
            (mark.ts, number)
        };
        Some(Paint { ts, own: mark, navigation, args })
    }
}

pub(crate) fn number_above_zero(value: &Value) -> Option<f64> {
    value.number().filter(|number| *number != 0.0)
}
