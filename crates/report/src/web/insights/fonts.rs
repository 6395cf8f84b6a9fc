//! Fonts whose load hides text (DevTools: `FontDisplay`).

use crate::web::insights::found::{Found, Offender, State};
use crate::web::insights::page::Page;
use serde::Serialize;
use tracemill_analysis::Trace;
use tracemill_analysis::events::pages::{Mark, Marked};
use tracemill_analysis::value::clock::by_time;
use tracemill_analysis::value::typed::{decode, object};
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::spill::hash::HashMap;

/// Milliseconds for which Chrome hides text at most, and to which savings are rounded.
const MOST: f64 = 3000.0;
const STEP: f64 = 5.0;

/// Fonts whose load hides text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FontDisplay {
    /// The fonts, the longest load first.
    pub fonts: Vec<SlowFont>,
}

/// A font whose load hides text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlowFont {
    /// Name of the font; `None` if the load did not end.
    pub name: Option<String>,
    /// The request for the font.
    #[serde(flatten)]
    pub request: Offender,
    /// The CSS property `font-display`.
    pub display: String,
    /// Milliseconds for which text may be hidden.
    pub wasted_ms: f64,
}

object! {
    struct Load { display, id, url }

    struct Loaded { url, name }
}

/// The last load of each URL: the number of the event of its end, and the name of the font.
pub(crate) type FontNames = HashMap<Vec<u8>, (u64, Option<String>)>;

/// Returns the names of all loaded fonts by URL.
pub(crate) fn font_names(trace: &Trace) -> FontNames {
    let loaded = trace.marks().iter().filter(|mark| mark.mark == Mark::FontLoaded);
    let named = loaded.map(|mark| {
        let Loaded { url, name } = decode(&mark.args);
        (url.written(), (mark.number, name.printable()))
    });
    named.collect()
}

fn slow_font(page: &Page<'_>, mark: &Marked, names: &FontNames) -> Option<SlowFont> {
    let load: Load = decode(&mark.args);
    let pid = String::from_utf8_lossy(&mark.pid);
    let id = format!("{}.{}", pid.trim_matches('"'), unescaped_text(&load.id.template()));
    let request = page.request(&id)?;
    let display = load.display.printable()?;
    if !matches!(&*display, "block" | "fallback" | "auto") {
        return None;
    }
    let wasted = ((request.finish - request.send) / 1000.0 / STEP).floor() * STEP;
    let name = names.get(&load.url.written()).filter(|(number, _)| *number > mark.number);
    (wasted != 0.0).then(|| SlowFont {
        name: name.and_then(|(_, name)| name.clone()),
        request: Offender::of(request),
        display,
        wasted_ms: wasted.min(MOST),
    })
}

pub(crate) fn insight(page: &Page<'_>, names: &FontNames) -> Found<FontDisplay> {
    let mut loads: Vec<&Marked> = page.marks(Mark::FontLoad).collect();
    loads.sort_by(|a, b| by_time(a.ts, b.ts));
    let loads = loads.into_iter();
    let mut fonts: Vec<SlowFont> = loads.filter_map(|mark| slow_font(page, mark, names)).collect();
    fonts.sort_by(|a, b| b.wasted_ms.total_cmp(&a.wasted_ms));
    let state = State::fail_if(fonts.iter().any(|font| font.wasted_ms > 0.0));
    Found::new(state, FontDisplay { fonts })
}
