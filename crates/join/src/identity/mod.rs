//! Decides identities when several inputs become one trace: which inputs share ids, and which ids
//! are renamed.
//!
//! Viewers treat events with equal ids as belonging together, whatever file they come from: two
//! processes with one pid become one, and flows pair across recordings. So `merge` renames ids.
//!
//! | field | of events | joined by viewers | renamed |
//! |---|---|---|---|
//! | `pid` | all | everywhere | where two recordings have it (`decide`) |
//! | `tid` | all | within its pid | never: the pid distinguishes it |
//! | `id`, `id2.local`, `id2.global` | async (`b n e`, `S T p F`), flow (`s t f`), memory dumps (`v V`) | everywhere: Perfetto by category, name and id or by category and id, DevTools by category, id and name over all pids | where two recordings may have it (`spelling`) |
//! | `bind_id` | all | everywhere | with `id` |
//! | `id` | CPU profile streams (`P`), objects (`N O D`), contexts, all others | within its pid | never: the pid distinguishes it |
//! | `scope`, `cat`, `name` | all | a part of the key | never |
//! | `sf`, `esf`; top-level `samples`, `stackFrames` | all | everywhere | where one id has two meanings (`keys`) |
//! | `args.data.processId`, `args.data.frames[].processId` | `TracingStartedInBrowser`, `FrameCommittedInBrowser`, `ProcessReadyInBrowser` | with `pid`: DevTools finds pages by it | with `pid` |
//! | `args.KEY` of `--args-key` | all | by their producer's tools | as `id`, each KEY separately |
//!
//! Inputs of one *recording* (rotated logs, parts of `split`) share their ids and keep them; see
//! `decide`. `.cpuprofile` inputs got their identities earlier
//! ([`tracemill_cpuprofile::Identities`]) and keep them.
//!
//! ```text
//!   scan ─> facts of chunks ─> of inputs ─> recordings ─> renames ─> emit: patches ─> output
//!           (workers)                       (decide)                 (workers)
//! ```
//!
//! Decisions follow once all inputs have been read. The writer searches for renamed values again
//! (`rename`): only events of recordings with renames cost time, and only those values change.

mod candidates;
mod decide;
mod describe;
mod frames;
mod input_unit;
pub mod parts;
mod pids;
mod processes;
mod rename;
mod resolve;
mod spelling;
mod watch;

pub use describe::push_provenance;
pub use frames::{FrameNames, renamed_frame, renamed_samples};
pub use processes::key_of;
pub(crate) use rename::Renames;
pub use rename::{RenamedUnit, Renamer, Rewrite, each_process_id};
pub(crate) use resolve::renamed_key;
pub use resolve::{DecidedNames, LabelEvents, UnitFacts, decide_names, may_be_several};
pub use spelling::IdMap;
pub(crate) use watch::IdentityWatch;

use tracemill_tokenizer::{Event, Field};

/// Scope in which an `id` is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdScope {
    /// Viewers join the id across all processes.
    Everywhere,
    /// The id is unique only within its process.
    OwnProcess,
}

/// Returns the scope of `id` and `id2` for events of a phase.
#[inline]
fn reach(phase: u8) -> IdScope {
    match phase {
        b'b' | b'n' | b'e' | b'S' | b'T' | b'p' | b'F' | b's' | b't' | b'f' | b'v' | b'V' => {
            IdScope::Everywhere
        }
        _ => IdScope::OwnProcess,
    }
}

/// Calls `found` for every id of an event that viewers join across processes: `id`, the members of
/// `id2`, `bind_id`.
#[inline]
fn each_id<'e>(event: &Event<'e>, phase: u8, mut found: impl FnMut(&'e [u8])) {
    if let Some(id) = event.field(Field::BindId) {
        found(id);
    }
    if reach(phase) == IdScope::Everywhere {
        let (id, id2) = (event.field(Field::Id), event.field(Field::Id2));
        id.into_iter().for_each(&mut found);
        if let Some(id2 @ [b'{', ..]) = id2 {
            let ids = tracemill_tokenizer::members(id2);
            ids.for_each(|(_, id)| found(id));
        }
    }
}

/// Calls `found` for the members of `args` with these names, with the index of the name. The last
/// of equal members wins.
fn each_args_key<'e>(event: &Event<'e>, names: &[Vec<u8>], mut found: impl FnMut(usize, &'e [u8])) {
    if names.is_empty() {
        return;
    }
    let Some(args) = event.field(Field::Args) else { return };
    for (number, name) in names.iter().enumerate() {
        if let Some(value) = tracemill_trace::json::member(args, name) {
            found(number, value);
        }
    }
}
