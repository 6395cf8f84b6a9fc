//! Pairs that stay whole (`--edges keep`) or go whole (`--edges drop`): all parts of the trace are walked once in order.
//!
//! `keep` keeps what touches a window: a pair from its begin to its end, a flow if a step of it lies inside. What has no
//! end is open to the end of the trace. `drop` keeps what has all its parts in one window. A part without a partner is
//! a moment. Pairing is that of `clip`.
//!
//! Heap: about 100 bytes for each pair that is open at one time, 16 for each step of an open flow.

use super::Edges;
use super::keys::{KeyMap, Part, has_rest};
use super::kinds::{Kind, Step};
use super::windows::Windows;
use crate::error::Error;
use crate::order::Entry;
use crate::order::Gather;
use crate::store::Store;

/// Something that has begun.
struct Open {
    kind: Kind,
    name: u64,
    /// Its begin, and the steps of a flow.
    parts: Vec<Entry>,
}

/// Walks over the parts of pairs.
pub(super) struct Pairs<'a, 'p> {
    store: &'a Store<'p>,
    windows: &'a Windows,
    edges: Edges,
    open: KeyMap<Vec<Open>>,
}

impl<'a, 'p> Pairs<'a, 'p> {
    pub(super) fn new(store: &'a Store<'p>, windows: &'a Windows, edges: Edges) -> Self {
        Pairs { store, windows, edges, open: KeyMap::default() }
    }

    /// Takes the next part in order.
    pub(super) fn take(&mut self, part: &Part, kept: &mut Gather<'_, '_>) -> Result<(), Error> {
        let &Part { entry, name, kind, step, .. } = part;
        let Some(key) = part.key() else { return self.moment(entry, kept) };
        let open = self.open.entry(key).or_default();
        let of_name = |own: &Open| name == 0 || own.name == name;
        match step {
            Step::Begin => {
                let former = if kind == Kind::Flow { open.pop() } else { None };
                open.push(Open { kind, name, parts: vec![entry] });
                former.map_or(Ok(()), |flow| self.decide(&flow, None, kept))
            }
            Step::Middle | Step::End if kind == Kind::Flow => {
                let Some(flow) = open.last_mut() else { return self.forget(key, entry, kept) };
                flow.parts.push(entry);
                if step == Step::Middle {
                    return Ok(());
                }
                let flow = open.pop();
                self.open.remove(&key);
                flow.map_or(Ok(()), |flow| self.decide(&flow, None, kept))
            }
            Step::Middle => Ok(()),
            Step::End => {
                let Some(at) = open.iter().rposition(of_name) else {
                    return self.forget(key, entry, kept);
                };
                let own = open.remove(at);
                if open.is_empty() {
                    self.open.remove(&key);
                }
                self.decide(&own, Some(entry), kept)
            }
        }
    }

    /// A part without a partner.
    fn forget(&mut self, key: u128, entry: Entry, kept: &mut Gather<'_, '_>) -> Result<(), Error> {
        if self.open.get(&key).is_some_and(Vec::is_empty) {
            self.open.remove(&key);
        }
        self.moment(entry, kept)
    }

    fn moment(&self, entry: Entry, kept: &mut Gather<'_, '_>) -> Result<(), Error> {
        if self.windows.at(entry.time).is_some() { kept.push(entry) } else { Ok(()) }
    }

    /// Decides on all parts of something.
    fn decide(
        &self,
        open: &Open,
        end: Option<Entry>,
        kept: &mut Gather<'_, '_>,
    ) -> Result<(), Error> {
        let window = |entry: Entry| self.windows.at(entry.time);
        let begin = open.parts[0];
        let mut all = open.parts.iter().copied().chain(end);
        let stays = match (self.edges, open.kind, end) {
            (Edges::Drop, ..) => {
                let first = window(begin);
                first.is_some() && all.all(|entry| window(entry) == first)
            }
            (_, Kind::Flow, _) => all.any(|entry| window(entry).is_some()),
            (_, _, None) => begin.time < self.windows.end(),
            (_, _, Some(end)) => self.touch(begin, end),
        };
        if stays {
            open.parts.iter().copied().chain(end).try_for_each(|entry| kept.push(entry))?;
        }
        Ok(())
    }

    /// Whether a window has some of a pair in it. One that ends where the window begins has none there.
    fn touch(&self, begin: Entry, end: Entry) -> bool {
        if !self.windows.touch(begin.time, end.time) {
            return false;
        }
        self.windows.0.iter().any(|&(from, to)| {
            let later = || end.time > from || begin.time >= from || has_rest(end, self.store);
            begin.time < to && end.time >= from && later()
        })
    }

    /// All parts were taken.
    pub(super) fn finish(&mut self, kept: &mut Gather<'_, '_>) -> Result<(), Error> {
        let open = std::mem::take(&mut self.open);
        // what is kept is sorted later: the order of deciding cannot be seen
        open.into_values().flatten().try_for_each(|own| self.decide(&own, None, kept))
    }
}
