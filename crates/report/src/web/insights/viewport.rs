//! Whether the page's viewport suits phones (DevTools: `Viewport`).

use crate::web::insights::found::{Found, State};
use crate::web::insights::page::Page;
use crate::web::interactions::Interaction;
use serde::Serialize;
use tracemill_analysis::events::pages::Mark;
use tracemill_analysis::value::typed::{decode, object};

/// Duration of a long interaction and delay of a late one, in microseconds.
const LONG: f64 = 200_000.0;
const LATE: f64 = 50_000.0;
/// Maximum savings in milliseconds. Chrome waits this time for a double tap.
const MOST: f64 = 300.0;

/// The viewport of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Viewport {
    /// Whether Chrome found the page optimized for phones; `None` if it painted no frame.
    pub mobile_optimized: Option<bool>,
    /// DevTools' key of the event of the viewport's declaration.
    pub key: Option<String>,
    /// DevTools' keys of the long interactions of the whole trace that began late, if the page is not optimized.
    pub interactions: Vec<String>,
    /// Milliseconds by which optimization may shorten the longest interaction.
    pub inp_savings_ms: Option<f64>,
}

object! {
    struct InFrame { frame }

    struct Committed { frame, #[serde(rename = "is_mobile_optimized")] is_mobile_optimized }
}

pub(crate) fn insight(page: &Page<'_>, interactions: &[Interaction]) -> Found<Viewport> {
    let mut tags = page.marks(Mark::ViewportTag);
    let tag = tags.find(|tag| page.is_frame(&tag.data::<InFrame>().unwrap_or_default().frame));
    let after = tag.map_or(f64::NEG_INFINITY, |tag| tag.ts);
    let commits = page.marks(Mark::Commit).filter(|commit| commit.ts >= after);
    let commits = commits.map(|commit| decode::<Committed>(&commit.args));
    let mut commits = commits.filter(|commit| page.is_frame(&commit.frame)).peekable();
    if commits.peek().is_none() {
        let why = "BeginCommitCompositorFrame is missing";
        return Found::without(Some(why));
    }
    let key = tag.map(|tag| format!("r-{}", tag.number));
    if commits.all(|commit| commit.is_mobile_optimized.is_true()) {
        let found = Viewport { mobile_optimized: Some(true), key, ..Viewport::default() };
        return Found::new(State::Pass, found);
    }
    let is_slow = |interaction: &&Interaction| {
        interaction.dur > LONG && interaction.is_of_pointer() && interaction.delay() >= LATE
    };
    let slow = || interactions.iter().filter(is_slow);
    let delay = slow().map(Interaction::delay).fold(0.0, f64::max);
    let found = Viewport {
        mobile_optimized: Some(false),
        key,
        interactions: slow().map(|interaction| interaction.key.clone()).collect(),
        inp_savings_ms: Some((delay / 1000.0).min(MOST)),
    };
    Found::new(State::Fail, found)
}
