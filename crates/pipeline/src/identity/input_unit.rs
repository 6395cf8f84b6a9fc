//! An input, or what was made of one, as a party to the decisions on names.

use super::processes::Processes;
use super::rename::Renames;
use crate::config::StatedInput;
use std::sync::Arc;
use tracemill_core::hash::HashMap;
use tracemill_profile::StreamKey;

/// An input, or what was made of one: bytes with identities of their own.
#[derive(Debug, Default)]
pub(crate) struct InputUnit {
    /// The place at which it stands.
    pub(crate) base: u64,
    /// The number of its input.
    pub(crate) input: usize,
    /// Made of a `.cpuprofile`, or for one: it has its identity already.
    pub(crate) made: bool,
    /// What the whole was, if `split` made it of something larger ([`crate::parts`]).
    pub(crate) part_of: Option<Vec<u8>>,
    pub(crate) processes: Processes,
    /// CPU profile streams, and when each began, where it says so.
    pub(crate) streams: HashMap<StreamKey, Option<i64>>,
    /// What a manifest says.
    pub(crate) stated: Option<StatedInput>,
}

/// What becomes of one unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitOutcome {
    /// The number of its recording.
    pub(crate) recording: usize,
    /// Names that change; `None` if none does.
    pub(crate) renames: Option<Arc<Renames>>,
}

/// What becomes of all.
#[derive(Debug, Default)]
pub(crate) struct Decision {
    /// Per unit, in order.
    pub(crate) outcomes: Vec<UnitOutcome>,
}
