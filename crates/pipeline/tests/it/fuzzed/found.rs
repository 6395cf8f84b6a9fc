//! What the fuzzer found, and what it was.

/// A name, the target, and the bytes that made it fail.
pub(super) type Found = (&'static str, fn(&[u8]), &'static [u8]);

#[rustfmt::skip]
pub(super) const FOUND: &[Found] = &[
    ("a .cpuprofile of nodes without ids panicked", super::verbs, b"\0\0\0\0{\"nodes\":[{\"callFrame\":{}}],\"startTime\":1,\"samples\":[2,1],\"timeDeltas\":[3,5]}"),
];
