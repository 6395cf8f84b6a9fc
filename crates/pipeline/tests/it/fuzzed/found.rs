//! What the fuzzer found, and what it was.

/// A name, the target, and the bytes that made it fail.
pub(super) type Found = (&'static str, fn(&[u8]), &'static [u8]);

pub(super) const FOUND: &[Found] = &[("nothing at all", super::verbs, b"")];
