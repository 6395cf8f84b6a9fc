//! What a map is of.

/// What a mapped file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// An input, or its index. Whoever reads it asks [`Mapped::is_intact`](super::Mapped::is_intact).
    Input,
    /// What this process wrote. A lost page is noted for all such files at once: [`temporary_lost`](super::temporary_lost).
    Temporary,
}
