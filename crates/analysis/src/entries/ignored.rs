//! Finds calls that an ignore list omits: listed functions called directly by listed functions.

use crate::entries::Entry;
use crate::profile::model::Model;

/// The functions of a profile that are on a list, determined once per function.
pub(crate) struct Listed<'m> {
    model: &'m Model,
    functions: Vec<bool>,
}

impl<'m> Listed<'m> {
    /// Creates the list of functions whose URL `is_listed` accepts, given the number of the URL.
    /// Returns `None` if there are no such functions.
    pub(crate) fn new(model: &'m Model, is_listed: impl Fn(u32) -> bool) -> Option<Self> {
        let functions: Vec<bool> = model.frames().map(|frame| is_listed(frame.url)).collect();
        functions.contains(&true).then_some(Listed { model, functions })
    }

    pub(crate) fn has(&self, entry: &Entry) -> bool {
        entry.is_call() && self.functions[self.model.node(entry.kind).frame as usize]
    }
}

/// Finds the calls that the list omits, in entries passed in order.
pub(crate) struct Ignored<'m> {
    listed: Listed<'m>,
    /// For each open entry, whether it is listed.
    open: Vec<bool>,
}

impl<'m> Ignored<'m> {
    pub(crate) fn new(listed: Listed<'m>) -> Self {
        Ignored { listed, open: Vec::new() }
    }

    /// Returns whether an entry is an omitted call. The caller must pass every call; it may leave
    /// out events.
    pub(crate) fn leaves_out(&mut self, entry: &Entry, depth: u32) -> bool {
        self.open.resize(depth as usize, false);
        let is_below = self.open.last().copied().unwrap_or(false);
        let is_listed = self.listed.has(entry);
        self.open.push(is_listed);
        is_listed && is_below
    }
}
