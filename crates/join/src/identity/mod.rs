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
//! Decisions follow once all inputs have been read. The scan keeps the offsets of values (`offsets`),
//! and the writer renames the values there (`rename`). Where they exceed the memory it searches
//! again. Only events of recordings with renames cost time, and only those values change.

mod candidates;
mod decide;
mod describe;
mod frames;
mod input_unit;
mod last_thread;
mod offsets;
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
pub use rename::{RenamedUnit, Renamer, Rewrite};
pub(crate) use resolve::renamed_key;
pub use resolve::{DecidedNames, LabelEvents, UnitFacts, decide_names, may_be_several};
pub use spelling::IdMap;
pub(crate) use watch::IdentityWatch;

use tracemill_tokenizer::{Event, Field, members};
use tracemill_trace::json::{elements, member};

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

/// Returns whether an event has an `id`, `id2` or `bind_id`.
#[inline]
fn has_ids(event: &Event<'_>) -> bool {
    event.has(Field::Id) | event.has(Field::Id2) | event.has(Field::BindId)
}

/// Calls `found` for every id of an event that viewers join across processes: `id`, the members of
/// `id2`, `bind_id`.
#[inline]
fn each_id<'e>(event: &Event<'e>, mut found: impl FnMut(&'e [u8])) {
    if let Some(id) = event.field(Field::BindId) {
        found(id);
    }
    if reach(event.phase()) == IdScope::Everywhere {
        event.field(Field::Id).into_iter().for_each(&mut found);
        // the members end where the object does
        if let Some(id2 @ [b'{', ..]) = event.field_and_rest(Field::Id2) {
            members(id2).for_each(|(_, id)| found(id));
        }
    }
}

/// Events that name processes in `args.data`.
const FRAME_EVENTS: [&[u8]; 3] =
    [b"TracingStartedInBrowser", b"FrameCommittedInBrowser", b"ProcessReadyInBrowser"];

/// Returns whether an event is one of [`FRAME_EVENTS`]. The first two letters exclude most events.
#[inline(always)]
fn names_processes(event: &Event<'_>) -> bool {
    let name = event.field_and_rest(Field::Name);
    matches!(name, Some([b'"', b'\\', ..] | [b'"', b'T' | b'F' | b'P', b'r' | b'\\', ..]))
        && is_frame_event(event)
}

#[cold]
fn is_frame_event(event: &Event<'_>) -> bool {
    FRAME_EVENTS.iter().any(|name| event.is_string(Field::Name, name))
}

/// Calls `found` for every pid of an event: `pid`, and those in the `args` of [`FRAME_EVENTS`].
#[inline]
fn each_pid<'e>(event: &Event<'e>, mut found: impl FnMut(&'e [u8])) {
    event.field(Field::Pid).into_iter().for_each(&mut found);
    if names_processes(event) {
        each_process_id(event.field(Field::Args).unwrap_or_default(), found);
    }
}

/// Calls `found` for `data.processId` and `data.frames[].processId` in `args`.
pub fn each_process_id<'a>(args: &'a [u8], mut found: impl FnMut(&'a [u8])) {
    let Some(data) = member(args, b"data") else { return };
    if let Some(pid) = member(data, b"processId") {
        found(pid);
    }
    let frames = elements(member(data, b"frames").unwrap_or_default());
    frames.filter_map(|frame| member(frame, b"processId")).for_each(found);
}

/// Calls `found` for the members of `args` with these names, with the index of the name. The last
/// of equal members wins.
fn each_args_key<'e>(event: &Event<'e>, names: &[Vec<u8>], mut found: impl FnMut(usize, &'e [u8])) {
    if names.is_empty() {
        return;
    }
    let Some(args) = event.field(Field::Args) else { return };
    for (number, name) in names.iter().enumerate() {
        if let Some(value) = member(args, name) {
            found(number, value);
        }
    }
}
