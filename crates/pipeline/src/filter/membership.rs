//! Assigns events to the pair, group or CPU profile that they belong to.

use super::undecided::PairRole;
use tracemill_cpuprofile as profile;
use tracemill_cpuprofile::stream_key;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::KeyHash;

/// Returns the role of an event in its pair, group or stream.
#[inline]
pub(super) fn role_of(event: &Event<'_>, pairs: bool) -> PairRole {
    match profile::Role::of(event) {
        Some(profile::Role::Head) => return PairRole::Head,
        Some(profile::Role::Chunk) => return PairRole::Chunk,
        _ => {}
    }
    match event.phase() {
        b'B' | b'E' if !pairs => PairRole::Single,
        b'B' => PairRole::Begin,
        b'E' => PairRole::End,
        phase if is_of_groups(phase) && has_id(event) => match phase {
            b'b' | b'S' => PairRole::Start,
            b'e' | b'F' => PairRole::Finish,
            _ => PairRole::Member,
        },
        _ => PairRole::Single,
    }
}

/// Returns whether events of a phase share ids with other events.
#[inline]
fn is_of_groups(phase: u8) -> bool {
    matches!(
        phase,
        b'b' | b'n' | b'e' | b'S' | b'T' | b'p' | b'F' | b's' | b't' | b'f' | b'N' | b'O' | b'D'
    )
}

fn has_id(event: &Event<'_>) -> bool {
    event.field_and_rest(Field::Id).or(event.field_and_rest(Field::Id2)).is_some()
}

/// Returns a hash of the fields that all events of a thread, a group or a stream share.
///
/// A collision joins two groups. With 64 bits and ten million groups its probability is 1 in
/// 100,000.
pub(super) fn key_of(event: &Event<'_>, role: PairRole) -> u64 {
    let class = match (role, event.phase()) {
        (PairRole::Head | PairRole::Chunk, _) => b'P',
        (PairRole::Begin | PairRole::End, _) => b'B',
        (_, b's' | b't' | b'f') => b's',
        (_, b'N' | b'O' | b'D') => b'N',
        _ => b'b',
    };
    let mut hash = KeyHash::<1>::new(class);
    let fields: &[Field] = match class {
        b'P' => &[],
        b'B' => &[Field::Pid, Field::Tid],
        b's' => &[Field::Cat, Field::Scope, Field::Name],
        _ => &[Field::Cat, Field::Scope],
    };
    fields.iter().for_each(|&field| hash.field(event, field));
    match role {
        PairRole::Head | PairRole::Chunk => hash.opaque(&stream_key(event)),
        PairRole::Begin | PairRole::End => {}
        // an `id2` that is neither global nor local is compared as written
        _ if hash.id(event) => {}
        _ => hash.value(event.field(Field::Id2)),
    }
    let [key] = hash.finish();
    key
}
