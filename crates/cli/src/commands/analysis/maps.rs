//! What is said of source maps.

use crate::messages::Messages;
use tracemill_analysis::{Mapped, SourceMaps};
use tracemill_pipeline::plural;

/// Maps that cannot be used of which each is told.
const TOLD: usize = 5;

/// Tells which maps cannot be used, and how much became of the others.
pub(super) fn tell(maps: &SourceMaps, mapped: &Mapped, messages: &Messages) {
    for why in mapped.unusable.iter().take(TOLD) {
        messages.warning(&format!("source map not used: {why}"));
    }
    let more = mapped.unusable.len().saturating_sub(TOLD) as u64;
    if more > 0 {
        messages.warning(&format!("{} more not used", plural(more, "source map")));
    }
    let (names, count) = &mapped.unmapped;
    if !maps.paths.is_empty() && mapped.scripts == 0 && mapped.unusable.is_empty() && *count > 0 {
        let first = names.first().map_or("", |name| name);
        messages.warning(&format!(
            "no source map is of any of {}, such as {first}: a folder stands for the end of their paths, js/app.js.map \
             for https://host/static/js/app.js",
            plural(*count, "script")
        ));
    }
    if mapped.scripts > 0 {
        messages.note(&format!(
            "source maps of {}: {} with places of their sources, {} with other names",
            plural(mapped.scripts, "script"),
            plural(mapped.functions, "function"),
            mapped.named
        ));
    }
}
