//! Kinds of mapped files.

/// The kind of a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// An input or its index; readers check [`Mapped::is_intact`](super::Mapped::is_intact).
    Input,
    /// A file written by this process. Lost pages of all such files are reported together by
    /// [`temporary_lost`](super::temporary_lost).
    Temporary,
}
