//! What an event belongs to: a pair's thread, a group of one id, a stream of a CPU profile.

use super::criteria::text_of;
use super::threads::plain;
use super::undecided::Role;
use tracemill_profile::{self as profile, stream_key};
use tracemill_tokenizer::{Event, Field, members, string_is};

/// What an event is to others.
#[inline]
pub(super) fn role_of(event: &Event<'_>, pairs: bool) -> Role {
    match profile::Role::of(event) {
        Some(profile::Role::Head) => return Role::Head,
        Some(profile::Role::Chunk) => return Role::Chunk,
        _ => {}
    }
    match event.phase() {
        b'B' | b'E' if !pairs => Role::Single,
        b'B' => Role::Begin,
        b'E' => Role::End,
        phase if is_of_groups(phase) && has_id(event) => Role::Member,
        _ => Role::Single,
    }
}

/// Whether events of a phase share ids with others.
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

/// The number of the group of an event that shares an id with others, for who must know all groups.
#[inline]
pub(crate) fn group_of(event: &Event<'_>, scratch: &mut Vec<u8>) -> Option<u64> {
    let is_member = is_of_groups(event.phase()) && role_of(event, true) == Role::Member;
    is_member.then(|| key_of(event, Role::Member, scratch))
}

/// A number for what the events of a pair's thread, a group or a stream have in common.
///
/// 64 bits of a hash: of ten million groups some two are taken for one with a probability of 1 in 100,000, and then they
/// stay or go together.
pub(super) fn key_of(event: &Event<'_>, role: Role, scratch: &mut Vec<u8>) -> u64 {
    let mut hash = Hash::new();
    match role {
        Role::Head | Role::Chunk => {
            hash.piece(b"P");
            hash.piece(&stream_key(event));
        }
        Role::Begin | Role::End => {
            hash.piece(b"B");
            hash.piece(text_of(event, Field::Pid, scratch));
            hash.piece(text_of(event, Field::Tid, scratch));
        }
        Role::Single | Role::Member => {
            let class = match event.phase() {
                b's' | b't' | b'f' => b"s",
                b'N' | b'O' | b'D' => b"N",
                _ => b"b",
            };
            hash.piece(class);
            hash.piece(text_of(event, Field::Cat, scratch));
            hash.piece(text_of(event, Field::Scope, scratch));
            if class == b"s" {
                hash.piece(text_of(event, Field::Name, scratch));
            }
            match event.field(Field::Id) {
                Some(id) => hash.piece(plain(id, scratch)),
                None => hash_id2(event, &mut hash, scratch),
            }
        }
    }
    hash.finish()
}

/// A number for the name of a `B` or `E`, not 0.
pub(super) fn name_of(event: &Event<'_>, scratch: &mut Vec<u8>) -> u64 {
    let mut hash = Hash::new();
    hash.piece(text_of(event, Field::Name, scratch));
    hash.finish().max(1)
}

/// `id2`: a local id is one of its process.
fn hash_id2(event: &Event<'_>, hash: &mut Hash, scratch: &mut Vec<u8>) {
    let id2 = event.field(Field::Id2).unwrap_or_default();
    let find = |name: &[u8]| members(id2).find(|(key, _)| string_is(key, name));
    if let Some((_, local)) = find(b"local") {
        hash.piece(plain(local, scratch));
        hash.piece(b"local");
        hash.piece(text_of(event, Field::Pid, scratch));
    } else {
        let global = find(b"global").map_or(id2, |(_, id)| id);
        hash.piece(plain(global, scratch));
    }
}

/// FNV-1a with the lengths of the pieces in between, mixed at the end.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Hash(0xCBF2_9CE4_8422_2325)
    }

    fn piece(&mut self, bytes: &[u8]) {
        let len = (bytes.len() as u32).to_le_bytes();
        for &byte in bytes.iter().chain(&len) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    fn finish(self) -> u64 {
        let mixed = (self.0 ^ self.0 >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        mixed ^ mixed >> 33
    }
}
