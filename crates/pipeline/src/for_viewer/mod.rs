//! What a merge changes so that a viewer takes its output and shows it right (`merge --for`; other verbs by way of
//! [`crate::fitted`]).
//!
//! The rules are those that `check` knows a viewer by; sources: `devtools-semantics.md` §1, §3, §8, §9, §11, §15
//! and `users.md` §4.
//!
//! | for DevTools | where |
//! |---|---|
//! | B and E, which it pairs over the whole file, are paired by thread and written as X | [`pairs`], [`complete`] |
//! | one `TracingStartedInBrowser`: the earliest, with the frames of all | [`pages`] |
//! | a `CommitLoad` for processes that it would hide: those of recordings that are not of a browser | [`pages`] |
//! | `i` is `I`; missing `name`, `cat`, `args`; times in quotes | [`fields`] |
//! | at most 10,000 samples, nodes or steps in a `ProfileChunk` | [`chunk`] |
//! | an event around CPU profiles, where there is nothing else that it draws | [`around`] |
//! | strict JSON: `NaN` is `null`, and other lapses are mended | [`fields`] |
//! | no empty events, which have no name | [`scan`] |
//! | less than 512 MiB of text | said, with how to slice it |
//!
//! | for Perfetto | where |
//! |---|---|
//! | pids and tids fit into 32 bits | [`threads`] |
//! | ids of flows are integers or hexadecimal, and stand in `id` | [`threads`] |
//! | strict JSON, as for DevTools | [`fields`] |
//! | characters as themselves, not as `\u` escapes | [`escapes`] |
//! | it begins with `{"` or `[{"`: no empty events, no lines | [`scan`], [`form`] |
//! | X events and pairs of B and E that overlap on one thread go to a lane beside it (`--overlaps`) | [`overlaps`] |
//!
//! ```text
//!   scan ─┬─> index ───────────────────────────────────┐
//!         ├─> B, E, starts ─ in order ─> made events ──┼─> order ─> emit: patches of single events ─> output
//!         └─> tables of threads ─> names, pages ───────┘     └─> overlaps: one walk, an edit file
//! ```
//!
//! What can be told from an event alone is a patch, found by the worker that writes it. What changes its place in the order
//! or joins several events is *made*: a text in a temporary file that is scanned like one more input. A merge for nobody
//! has neither: it costs one test an event.
//!
//! Memory: threads and what is open on them; B and E events 16 bytes each within the budget; edits 16 bytes each on disk.

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

/// The form that viewers read, for a trace of so many events: none reads lines, and Perfetto does not know an empty array.
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
    fn viewers_read_no_lines() {
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
