//! What looks for one thing in all inputs.

use super::chunk::SealedChunk;
use super::look::Look;
use crate::read::{InputStart, Needs, Starter};
use crate::run::error::Error;

/// Looks for one thing in the events of all inputs.
///
/// ```text
///   workers   starter()(chunk) ─ Look::event … ─ Look::seal ─>┐
///   caller    begin(input) ─────────────────────────────────> merge(found), merge(found), …    begin(input) …
/// ```
///
/// Only what [`starter`](Observer::starter) returns, and the chunks it creates, leave the calling
/// thread. So an observer may borrow, and need not be [`Sync`].
pub trait Observer {
    /// The look of one chunk, with what it found.
    type Chunk: Look + 'static;

    /// Returns what the session must do for this observer.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    /// Starts an input, or the synthetic events that were made from the current one.
    fn begin(&mut self, _input: &InputStart<'_>) {}

    /// Returns what creates the looks of the current input. The session asks once after each
    /// [`begin`](Observer::begin).
    fn starter(&self) -> Starter<Self::Chunk>;

    /// Returns whether looks ignore *plain* events: complete events (`X`) with a ts and a name that has
    /// no meaning for viewers. If all observers do, a list of such events that a verb has made is
    /// indexed by its entries, and not scanned.
    fn ignores_plain_events(&self) -> bool {
        false
    }

    /// Merges what was found in a chunk. Chunks arrive in input order.
    ///
    /// A file of a folder may be left out because it is no trace. Its chunks, which have no events, are
    /// merged before that is known; the next input then has its number and its base.
    ///
    /// # Errors
    /// Any error ends the scan, which returns it.
    fn merge(&mut self, found: Self::Chunk, chunk: &SealedChunk<'_>) -> Result<(), Error>;
}

/// A value for each input that has chunks, by the base of the input. Synthetic events have a base,
/// and so a value, of their own.
#[derive(Debug)]
pub struct PerInput<T>(Vec<(u64, T)>);

impl<T> Default for PerInput<T> {
    fn default() -> Self {
        PerInput(Vec::new())
    }
}

impl<T: Default> PerInput<T> {
    /// Returns the value of the input at `base`, which is the last one or new. Before it adds a value
    /// it passes the last one to `end`.
    pub fn at(&mut self, base: u64, end: impl FnOnce(&mut T)) -> &mut T {
        if self.0.last().is_none_or(|last| last.0 != base) {
            if let Some((_, last)) = self.0.last_mut() {
                end(last);
            }
            self.0.push((base, T::default()));
        }
        let last = self.0.len() - 1;
        &mut self.0[last].1
    }
}

impl<T> IntoIterator for PerInput<T> {
    type Item = (u64, T);
    type IntoIter = std::vec::IntoIter<(u64, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
