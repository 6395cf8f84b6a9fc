//! Times of CSS selectors (DevTools: `SlowCSSSelector`).

use crate::web::insights::found::{Found, State};
use crate::web::insights::page::Page;
use serde::Serialize;
use tracemill_analysis::value::Value;
use tracemill_analysis::value::typed::{List, Object, decode, object};
use tracemill_trace::spill::hash::HashMap;

/// Milliseconds from which a selector is slow.
const SLOW: f64 = 0.5;

/// Times of all selectors, if Chrome recorded them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SelectorCosts {
    /// Milliseconds of all selectors.
    pub elapsed_ms: f64,
    /// Number of elements that were compared with a selector.
    pub attempts: f64,
    /// Number of elements that matched.
    pub matches: f64,
    /// The selector with the most time, if it is slow.
    pub slowest: Option<Selector>,
    /// The selector with the most attempts.
    pub most_tried: Option<Selector>,
}

/// The times of a selector in all style recalculations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Selector {
    /// The selector.
    pub selector: Option<String>,
    /// Id of its style sheet.
    pub sheet: Option<String>,
    /// Milliseconds.
    pub elapsed_ms: f64,
    /// Number of elements that were compared with the selector.
    pub attempts: f64,
    /// Number of elements that matched.
    pub matches: f64,
}

object! {
    struct Args { #[serde(rename = "selector_stats")] selector_stats: Object<Stats> }

    struct Stats { #[serde(rename = "selector_timings")] selector_timings: List<Object<Timing>> }

    struct Timing {
        selector, #[serde(rename = "style_sheet_id")] style_sheet_id, #[serde(rename = "elapsed (us)")] elapsed,
        #[serde(rename = "match_attempts")] match_attempts, #[serde(rename = "match_count")] match_count,
    }
}

/// The sums of a selector. Times are microseconds.
#[derive(Clone, Copy, Default)]
struct Sums {
    elapsed: f64,
    attempts: f64,
    matches: f64,
}

impl Sums {
    fn add(&mut self, timing: &Timing) {
        let number = |value: &Value| value.number().unwrap_or(f64::NAN);
        self.elapsed += number(&timing.elapsed);
        self.attempts += number(&timing.match_attempts);
        self.matches += number(&timing.match_count);
    }
}

/// The sums of a selector, by its text and style sheet.
type Costs = ((Option<String>, Option<String>), Sums);

/// Returns the sums of each selector, in the order of the events.
fn costs(page: &Page<'_>) -> Vec<Costs> {
    let mut all: Vec<Costs> = Vec::new();
    let mut places: HashMap<(Option<String>, Option<String>), usize> = HashMap::default();
    for mark in &page.selectors {
        let stats = decode::<Args>(&mark.args).selector_stats.0.unwrap_or_default();
        for Object(timing) in stats.selector_timings.0.unwrap_or_default() {
            let timing = timing.unwrap_or_default();
            let name = (timing.selector.printable(), timing.style_sheet_id.printable());
            let next = all.len();
            let at = *places.entry(name.clone()).or_insert(next);
            if at == next {
                all.push((name, Sums::default()));
            }
            all[at].1.add(&timing);
        }
    }
    all
}

/// Returns the selector with the greatest value; the last of several.
fn top(all: &[Costs], value: impl Fn(&Sums) -> f64) -> Option<Selector> {
    let (name, sums) = all.iter().reduce(|a, b| if value(&a.1) > value(&b.1) { a } else { b })?;
    Some(Selector {
        selector: name.0.clone(),
        sheet: name.1.clone(),
        elapsed_ms: sums.elapsed / 1000.0,
        attempts: sums.attempts,
        matches: sums.matches,
    })
}

pub(crate) fn insight(page: &Page<'_>) -> Found<SelectorCosts> {
    let all = costs(page);
    let sum = |value: fn(&Sums) -> f64| all.iter().map(|(_, sums)| value(sums)).sum::<f64>();
    let found = SelectorCosts {
        elapsed_ms: sum(|sums| sums.elapsed) / 1000.0,
        attempts: sum(|sums| sums.attempts),
        matches: sum(|sums| sums.matches),
        slowest: top(&all, |sums| sums.elapsed).filter(|top| top.elapsed_ms >= SLOW),
        most_tried: top(&all, |sums| sums.attempts),
    };
    let state = State::informative_if(found.slowest.is_some());
    Found::new(state, found)
}
