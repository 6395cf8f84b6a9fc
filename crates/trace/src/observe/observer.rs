//! Defines observers, which collect one kind of fact from all inputs.

use super::chunk::SealedChunk;
use super::look::Look;
use crate::read::{InputStart, Needs, Starter};
use crate::run::error::Error;

/// Collects one kind of fact from the events of all inputs.
///
/// ```text
///   workers   starter()(chunk) ─ Look::event … ─ Look::seal ─>┐
///   caller    begin(input) ─────────────────────────────────> merge(found), …    begin(input) …
/// ```
///
/// Only the result of [`starter`](Observer::starter) and its chunks leave the calling thread, so an
/// observer may borrow and need not be [`Sync`].
pub trait Observer {
    /// The look of one chunk, which holds its findings.
    type Chunk: Look + 'static;

    /// Returns the work that the session must do for this observer.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    /// Starts an input, or the synthetic events derived from the current input.
    fn begin(&mut self, _input: &InputStart<'_>) {}

    /// Returns a function that creates the looks of the current input. The scan calls this after
    /// [`begin`](Observer::begin).
    fn starter(&self) -> Starter<Self::Chunk>;

    /// Returns whether looks ignore *plain* events: complete events (`X`) with a `ts` and a name
    /// without meaning for viewers. If all observers do, a list of plain events that a command
    /// wrote is indexed from its entries, without a scan.
    fn ignores_plain_events(&self) -> bool {
        false
    }

    /// Merges the findings of a chunk. Chunks arrive in input order.
    ///
    /// If a file in a folder proves not to be a trace, its chunks without events were merged
    /// already. The next input gets the same number and base.
    ///
    /// # Errors
    /// Returns any error of the observer. The error ends the scan.
    fn merge(&mut self, found: Self::Chunk, chunk: &SealedChunk<'_>) -> Result<(), Error>;
}

/// One value per input that has chunks, keyed by the base of the input. Synthetic events have a
/// base and a value of their own.
#[derive(Debug)]
pub struct PerInput<T>(Vec<(u64, T)>);

impl<T> Default for PerInput<T> {
    fn default() -> Self {
        PerInput(Vec::new())
    }
}

impl<T: Default> PerInput<T> {
    /// Returns the value of the input at `base`, which is the last input or a new input. Passes the
    /// value of the previous input to `end` before adding a value.
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
