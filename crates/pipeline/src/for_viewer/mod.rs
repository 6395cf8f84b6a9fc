//! Changes the output of a merge so that a viewer opens and shows it correctly (`merge --for`; for
//! other commands see [`crate::fitted`]).
//!
//! The rules are those of `check`.
//!
//! | for DevTools | where |
//! |---|---|
//! | B and E become X; DevTools would pair them over the whole file | [`pairs`], [`complete`] |
//! | one `TracingStartedInBrowser` with all frames; a `CommitLoad` for hidden processes | [`pages`] |
//! | `i` becomes `I`; missing `name`, `cat`, `args`; quoted times | [`fields`] |
//! | long `ProfileChunk` events are split; an event around CPU profiles | [`chunk`], [`around`] |
//! | repaired JSON; a warning above 512 MiB | [`fields`] |
//! | no empty events | [`scan`] |
//!
//! | for Perfetto | where |
//! |---|---|
//! | pids and tids of 32 bits; flow ids that are numbers, in `id` | [`threads`] |
//! | repaired JSON; no `\u` escapes | [`fields`], [`escapes`] |
//! | a file that starts with `{"` or `[{"` | [`scan`], [`form`] |
//! | overlapping slices on added tracks (`--overlaps`) | [`overlaps`] |
//!
//! ```text
//!   scan ─┬─> index ─────────────────────────────────────┐
//!         ├─> B, E, starts ─ in order ─> synthetic ──────┼─> order ─> emit: patches ─> output
//!         └─> tables of threads ─> names, pages ─────────┘     └─> overlaps: walk, edit file
//! ```
//!
//! Changes that concern one event are patches, found by the worker that writes it. Changes that
//! move or join events create *synthetic* events, in a temporary file that is scanned like an
//! input. Without a viewer the cost is one test per event.
//!
//! Memory: threads and their open slices; 16 bytes per B or E event, which spill; 16 bytes per
//! edit, on disk.

mod around;
mod changes;
mod chunk;
mod complete;
mod escapes;
mod fields;
mod overlaps;
mod pages;
mod pairs;
mod profiles;
mod scan;
mod synthetic;
mod threads;

pub(crate) use changes::Changes;
pub(crate) use fields::ViewerFixups;
pub(crate) use scan::{ViewerFacts, ViewerScan};
pub(crate) use synthetic::MergeContext;

use tracemill_trace::output::target::Format;

/// Returns the form that viewers read: no viewer reads NDJSON, and Perfetto refuses an empty array.
pub(crate) fn form(format: Format, events: u64) -> Format {
    match format {
        Format::Array if events > 0 => Format::Array,
        _ => Format::Object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ndjson_and_empty_arrays_become_objects() {
        for (form_in, events, out) in [
            (Format::Ndjson, 5, Format::Object),
            (Format::Array, 5, Format::Array),
            (Format::Array, 0, Format::Object),
            (Format::Object, 5, Format::Object),
        ] {
            assert_eq!(form(form_in, events), out);
        }
    }
}
