//! Navigations of a page, with what was painted of each and what the address bar shows: `MetaHandler` and `PageLoadMetricsHandler` of DevTools.
//!
//! ```text
//!   navigationStart "A"     SoftNavigationStart 7             the second is one of scripts, which show another page in place of the first
//!      │ firstContentfulPaint "A"   │ context.firstContentfulPaint
//!      │ largestContentfulPaint::   │ largestContentfulPaint::
//!      │   Candidate "A"            │   CandidateForSoftNavigation 7
//! ```
//!
//! Paints say by id whose they are, and count where a frame and process are known to belong together.

use super::network::{data, text};
use crate::events::meta::main_frame_in;
use crate::events::pages::{Mark, Marked};
use crate::trace::Trace;
use crate::value::clock::by_time;
use crate::value::{at, is_true, number};
use std::collections::hash_map::Entry;
use tracemill_cpuprofile::push_canonical;
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::spill::hash::HashMap;

/// A navigation.
pub(super) struct Navigation<'m> {
    pub(super) own: &'m Marked,
    /// Empty if it has none; so are those of soft ones, which are numbers.
    pub(super) id: String,
    pub(super) frame: String,
    /// Of what was asked for.
    pub(super) url: String,
    /// What the address bar has in the end; empty if nothing says so.
    pub(super) address: String,
    /// Whether it is one of what was the main frame at that place of the trace.
    pub(super) is_main: bool,
    /// Whether it is one of scripts.
    pub(super) is_soft: bool,
    pub(super) first_paint: Option<f64>,
    /// With its candidate's index.
    pub(super) largest: Option<(&'m Marked, f64)>,
}

impl<'m> Navigation<'m> {
    /// One of which nothing is known but its event.
    fn of(own: &'m Marked) -> Self {
        Navigation {
            own,
            id: String::new(),
            frame: frame_of(own).unwrap_or_default(),
            url: String::new(),
            address: String::new(),
            is_main: false,
            is_soft: false,
            first_paint: None,
            largest: None,
        }
    }
}

/// All of a trace, while they are read, and where they stand by their ids.
#[derive(Default)]
struct Navigations<'m> {
    all: Vec<Navigation<'m>>,
    numbers: HashMap<String, usize>,
    soft_numbers: HashMap<Vec<u8>, usize>,
}

/// A paint of a navigation.
struct Paint<'m> {
    ts: f64,
    own: &'m Marked,
    navigation: usize,
}

impl Trace {
    /// Navigations, the first of each id and of soft ones the last, with their paints and addresses, in the order of the trace.
    pub(super) fn navigations(&self) -> Vec<Navigation<'_>> {
        let mut navigations = Navigations::default();
        let mut main: Option<Vec<u8>> = None;
        for own in &self.pages.all {
            match own.mark {
                Mark::Started => {
                    main = at(&own.args, &[b"data"]).and_then(main_frame_in).or(main);
                }
                Mark::Send => navigations.redirect(own),
                Mark::Navigation => navigations.add(own, main.as_deref()),
                Mark::SoftNavigation => navigations.add_soft(own),
                _ => {}
            }
        }
        let mut paints: Vec<Paint<'_>> =
            self.pages.all.iter().filter_map(|own| navigations.paint(own)).collect();
        paints.sort_by(|a, b| by_time(a.ts, b.ts));
        let mut all = navigations.all;
        self.add_paints(&mut all, &paints);
        self.add_addresses(&mut all);
        all
    }

    /// Paints of other frames and processes than those of their navigations do not count.
    fn add_paints<'m>(&self, navigations: &mut [Navigation<'m>], paints: &[Paint<'m>]) {
        for paint in paints {
            let navigation = &mut navigations[paint.navigation];
            let frame = frame_of(paint.own).unwrap_or_default();
            if frame != navigation.frame || !self.meta.shows(frame.as_bytes(), &paint.own.pid) {
                continue;
            }
            if matches!(paint.own.mark, Mark::FirstPaint | Mark::SoftNavigation) {
                navigation.first_paint = Some(paint.ts);
            } else if let Some(index) =
                data(paint.own, b"candidateIndex").and_then(number_above_zero)
                && navigation.largest.is_none_or(|(_, known)| known < index)
            {
                navigation.largest = Some((paint.own, index));
            }
        }
    }

    /// What scripts wrote to the address bar is of the navigation of the main frame before it, up to a soft one.
    fn add_addresses(&self, navigations: &mut [Navigation<'_>]) {
        let mut soft: Vec<f64> =
            navigations.iter().filter(|own| own.is_soft).map(|own| own.own.ts).collect();
        soft.sort_by(|a, b| by_time(*a, *b));
        let mut main: Vec<&mut Navigation<'_>> =
            navigations.iter_mut().filter(|own| own.is_main).collect();
        main.sort_by(|a, b| by_time(a.own.ts, b.own.ts));
        for own in self.pages.all.iter().filter(|own| own.mark == Mark::SameDocument) {
            let kind = at(&own.args, &[b"render_frame_host", b"frame_type"]);
            let before = main.partition_point(|navigation| navigation.own.ts <= own.ts);
            if kind != Some(b"\"PRIMARY_MAIN_FRAME\"") || before == 0 {
                continue;
            }
            let navigation = &mut main[before - 1];
            let next_soft = soft.partition_point(|&ts| ts < navigation.own.ts);
            if soft.get(next_soft).is_none_or(|&ts| ts > own.ts) {
                navigation.address = text(at(&own.args, &[b"url"])).unwrap_or_default();
            }
        }
    }
}

impl<'m> Navigations<'m> {
    /// A navigation is led to where the last of its requests goes.
    fn redirect(&mut self, request: &Marked) {
        if data(request, b"resourceType") != Some(b"\"Document\"") {
            return;
        }
        let id = text(data(request, b"requestId")).unwrap_or_default();
        if let Some(&number) = self.numbers.get(&id) {
            self.all[number].address = text(data(request, b"url")).unwrap_or_default();
        }
    }

    /// Takes a navigation; `main` is the main frame at its place.
    fn add(&mut self, own: &'m Marked, main: Option<&[u8]>) {
        let url = data(own, b"documentLoaderURL");
        if !is_true(at(&own.args, &[b"data"])) || url == Some(b"\"\"") {
            return;
        }
        let id = text(data(own, b"navigationId")).unwrap_or_default();
        let next = self.all.len();
        if *self.numbers.entry(id.clone()).or_insert(next) != next {
            return;
        }
        let (frame, url) = (frame_of(own), text(url).unwrap_or_default());
        let is_main = frame.is_some() && frame == main.map(unescaped_text);
        let address = url.clone();
        self.all.push(Navigation { id, url, address, is_main, ..Navigation::of(own) });
    }

    fn add_soft(&mut self, own: &'m Marked) {
        let address = text(context(own, b"URL")).unwrap_or_default();
        let navigation = Navigation { address, is_soft: true, ..Navigation::of(own) };
        match self.soft_numbers.entry(soft_id(context(own, SOFT_ID))) {
            Entry::Occupied(number) => self.all[*number.get()] = navigation,
            Entry::Vacant(number) => {
                number.insert(self.all.len());
                self.all.push(navigation);
            }
        }
    }

    /// What of an event is a paint of a navigation that is known.
    fn paint(&self, own: &'m Marked) -> Option<Paint<'m>> {
        let hard = || self.numbers.get(&text(data(own, b"navigationId")).unwrap_or_default());
        let soft = |id: Option<&[u8]>| self.soft_numbers.get(&soft_id(id));
        let (ts, number) = match own.mark {
            Mark::FirstPaint | Mark::LargestPaint => (own.ts, hard()),
            Mark::SoftLargestPaint => match data(own, SOFT_ID) {
                id if is_true(id) => (own.ts, soft(id)),
                _ => (own.ts, hard()),
            },
            Mark::SoftNavigation => {
                let painted = context(own, b"firstContentfulPaint").and_then(number_above_zero)?;
                (painted + own.offset, soft(context(own, SOFT_ID)))
            }
            _ => return None,
        };
        Some(Paint { ts, own, navigation: *number? })
    }
}

/// The key of the number of a soft navigation.
const SOFT_ID: &[u8] = b"performanceTimelineNavigationId";

fn soft_id(value: Option<&[u8]>) -> Vec<u8> {
    let mut id = Vec::new();
    push_canonical(value, &mut id);
    id
}

/// What the context of a soft navigation says.
fn context<'m>(own: &'m Marked, key: &[u8]) -> Option<&'m [u8]> {
    at(&own.args, &[b"context", key])
}

fn frame_of(own: &Marked) -> Option<String> {
    text(at(&own.args, &[b"frame"]))
}

pub(super) fn number_above_zero(value: &[u8]) -> Option<f64> {
    number(value).filter(|number| *number != 0.0)
}
