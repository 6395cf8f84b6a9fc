//! Calls that the ignore list leaves out: those of functions on it directly below others of these.

use crate::entries::Entry;
use crate::profile::model::Model;

/// Which functions of a profile are on a list: asked once a function, not once a call.
pub(crate) struct Listed<'m> {
    model: &'m Model,
    functions: Vec<bool>,
}

impl<'m> Listed<'m> {
    /// Of a profile, of which `is_listed` tells by the number of a URL; `None` if it has no function on the list.
    pub(crate) fn new(model: &'m Model, is_listed: impl Fn(u32) -> bool) -> Option<Self> {
        let functions: Vec<bool> = model.frames().map(|frame| is_listed(frame.url)).collect();
        functions.contains(&true).then_some(Listed { model, functions })
    }

    /// Whether an entry is a call of one of them.
    pub(crate) fn has(&self, entry: &Entry) -> bool {
        entry.is_call() && self.functions[self.model.node(entry.kind).frame as usize]
    }
}

/// Finds calls that a list leaves out among entries that come in order.
pub(crate) struct Ignored<'m> {
    listed: Listed<'m>,
    /// Of each open entry.
    open: Vec<bool>,
}

impl<'m> Ignored<'m> {
    pub(crate) fn new(listed: Listed<'m>) -> Self {
        Ignored { listed, open: Vec::new() }
    }

    /// Whether an entry is one of them. All calls must come; what is no call may be missing.
    pub(crate) fn leaves_out(&mut self, entry: &Entry, depth: u32) -> bool {
        self.open.resize(depth as usize, false);
        let is_below = self.open.last().copied().unwrap_or(false);
        let is_listed = self.listed.has(entry);
        self.open.push(is_listed);
        is_listed && is_below
    }
}
