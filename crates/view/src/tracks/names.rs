//! Names that the whole trace and all windows share, so that their numbers are equal.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tracemill_analysis::title_of;
use tracemill_tokenizer::to_text;
use tracemill_trace::event::names::Names;

/// A table of names. The number of a name never changes.
#[derive(Clone, Default)]
pub(crate) struct SharedNames(Arc<RwLock<Names>>);

impl SharedNames {
    fn read(&self) -> RwLockReadGuard<'_, Names> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Names> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of a name, and adds the name if it is new.
    pub(crate) fn number(&self, text: &[u8]) -> u32 {
        self.write().number(text)
    }

    /// Adds the names of another table. Returns the number of each added name in this table.
    pub(crate) fn append(&self, other: &Names) -> Vec<u32> {
        self.write().append(other)
    }

    /// Returns the number of a name, if the table has the name.
    pub(crate) fn find(&self, text: &[u8]) -> Option<u32> {
        self.read().find(text)
    }

    pub(crate) fn len(&self) -> usize {
        self.read().len()
    }

    pub(crate) fn heap(&self) -> u64 {
        let names = self.read();
        names.heap() + names.len() as u64 * 40
    }

    pub(crate) fn text(&self, number: u32) -> String {
        let names = self.read();
        let is_one = (number as usize) < names.len();
        if is_one { to_text(names.bytes_of(number)) } else { String::new() }
    }

    /// Returns the numbers of names that contain a text, ignoring ASCII case.
    pub(crate) fn holding(&self, text: &str) -> BTreeSet<u32> {
        let names = self.read();
        let all = 0..names.len() as u32;
        all.filter(|&name| holds(names.bytes_of(name), text.as_bytes())).collect()
    }
}

/// Returns whether a name, or its title in DevTools, contains a text, ignoring ASCII case.
pub(crate) fn holds(name: &[u8], text: &[u8]) -> bool {
    let is_in = |name: &[u8]| name.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text));
    let title = || str::from_utf8(name).ok().and_then(title_of);
    text.is_empty() || is_in(name) || title().is_some_and(|title| is_in(title.as_bytes()))
}
