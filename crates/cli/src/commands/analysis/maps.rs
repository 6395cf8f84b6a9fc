//! Messages about source maps.

use crate::messages::Messages;
use tracemill_analysis::{MapFault, Mapped, SourceMaps};
use tracemill_trace::run::words::plural;

/// Maximum number of unusable maps that are reported individually.
const TOLD: usize = 5;

/// Reports unusable maps, and the number of functions that other maps renamed.
pub(super) fn tell(maps: &SourceMaps, mapped: &Mapped, messages: &Messages) {
    for map in mapped.unusable.iter().take(TOLD) {
        messages.warning(&format!("source map not used: {}; {}", map.why, remedy(map.fault)));
    }
    let more = mapped.unusable.len().saturating_sub(TOLD) as u64;
    if more > 0 {
        messages.warning(&format!("{} more not used", plural(more, "source map")));
    }
    for doubt in mapped.doubtful.iter().take(TOLD) {
        messages.warning(&format!(
            "{doubt}: if it is of another build, name the folder of this one with --source-maps"
        ));
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

/// Returns a suggestion for an unusable map.
fn remedy(fault: MapFault) -> &'static str {
    match fault {
        MapFault::Broken => "have the build write it anew",
        MapFault::TooLarge => "-m gives more memory",
        MapFault::Elsewhere => "--source-maps takes the folder or file that has it, too",
        MapFault::Ambiguous => {
            "--source-maps takes the folder of one of them, or the map as a file"
        }
        MapFault::Unreadable => "its functions stay as the script has them",
    }
}
