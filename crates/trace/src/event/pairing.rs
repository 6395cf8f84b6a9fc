//! Matches end events to begin events, with one rule for every command.
//!
//! | `E` event with | closes, among the open `B` events of its thread |
//! |---|---|
//! | the name of an open `B` event | the innermost of that name |
//! | another name | the innermost |
//! | an empty name, `null`, or none | the innermost |
//!
//! With no open event, an end event closes nothing. Events are taken in output order: by time, then
//! in input order. So `B a, B b, E a, E b` are two overlapping slices, and an end event with a
//! misspelled name closes only one slice.
//!
//! [`DevtoolsBegins`] is the rule for events written for DevTools, which compares names (also empty
//! names) and categories, and closes nothing without a match.
//!
//! ```
//! use tracemill_trace::event::pairing::Begins;
//!
//! let (a, b) = (1, 2); // hashes of names; 0 is no name
//! let mut open = Begins::default(); // of one thread
//! open.begin(a, "the first B");
//! open.begin(b, "the second B");
//! assert_eq!(open.end(a), Some("the first B"), "the name decides, not the nesting");
//! assert_eq!(open.end(0), Some("the second B"), "an end without a name closes the innermost");
//! assert_eq!(open.end(b), None);
//! ```
//!
//! Cost: constant per event. The first end event that does not match the innermost begin event
//! builds an index by name. Heap per open begin event: 40 bytes (72 for DevTools) plus the value,
//! and about as much in the index.

use crate::spill::hash::HashMap;
use tracemill_tokenizer::{Event, Field};

/// Description of open begin events in errors about exceeded memory.
pub const OPEN: &str = "begins that are open at one time on one thread";

/// Returns whether an event has a name that pairing compares.
#[inline]
pub fn is_named(event: &Event<'_>) -> bool {
    !matches!(
        event.field_and_rest(Field::Name),
        None | Some([b'"', b'"', ..] | [b'n', b'u', b'l', b'l', ..])
    )
}

const NONE: u32 = u32::MAX;

/// Key shared by all entries that any end event may close.
const ANY: u64 = 1;

/// Neighbours of a slot in a list: towards the outermost and towards the innermost.
#[derive(Clone, Copy)]
struct Link {
    outer: u32,
    inner: u32,
}

const LOOSE: Link = Link { outer: NONE, inner: NONE };

/// An open entry: a member of the nesting order, and of one list per nonzero key.
#[derive(Clone, Copy)]
struct Slot<T, const KEYS: usize> {
    value: T,
    order: Link,
    keys: [u64; KEYS],
    lists: [Link; KEYS],
    listed: bool,
}

/// The open entries of one group, outermost first, with a list per key.
#[derive(Clone)]
struct OpenGroup<T, const KEYS: usize> {
    slots: Vec<Slot<T, KEYS>>,
    free: Vec<u32>,
    outermost: u32,
    innermost: u32,
    /// The innermost slot in the lists; all outer slots are in the lists too.
    indexed: u32,
    /// Innermost slot of each list.
    tails: [HashMap<u64, u32>; KEYS],
}

impl<T: Copy, const KEYS: usize> OpenGroup<T, KEYS> {
    fn new() -> Self {
        OpenGroup {
            slots: Vec::new(),
            free: Vec::new(),
            outermost: NONE,
            innermost: NONE,
            indexed: NONE,
            tails: std::array::from_fn(|_| HashMap::default()),
        }
    }

    fn slot(&mut self, at: u32) -> &mut Slot<T, KEYS> {
        &mut self.slots[at as usize]
    }

    fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    #[inline]
    fn push(&mut self, keys: [u64; KEYS], value: T) {
        let outer = self.innermost;
        let order = Link { outer, inner: NONE };
        let slot = Slot { value, order, keys, lists: [LOOSE; KEYS], listed: false };
        let at = match self.free.pop() {
            Some(at) => {
                *self.slot(at) = slot;
                at
            }
            None => {
                // most groups have one slot
                if self.slots.capacity() == 0 {
                    self.slots.reserve_exact(1);
                }
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        match outer {
            NONE => self.outermost = at,
            outer => self.slot(outer).order.inner = at,
        }
        self.innermost = at;
    }

    /// Removes the innermost entry whose key `number` is `key`.
    #[inline]
    fn close(&mut self, number: usize, key: u64) -> Option<T> {
        if self.innermost == NONE {
            return None;
        }
        if self.slot(self.innermost).keys[number] == key {
            return Some(self.remove(self.innermost));
        }
        self.index();
        let at = *self.tails[number].get(&key)?;
        Some(self.remove(at))
    }

    /// Adds the missing slots to the lists.
    #[cold]
    fn index(&mut self) {
        let mut next = match self.indexed {
            NONE => self.outermost,
            indexed => self.slot(indexed).order.inner,
        };
        while next != NONE {
            for number in 0..KEYS {
                let key = self.slot(next).keys[number];
                if key == 0 {
                    continue;
                }
                if let Some(outer) = self.tails[number].insert(key, next) {
                    self.slot(next).lists[number].outer = outer;
                    self.slot(outer).lists[number].inner = next;
                }
            }
            self.slot(next).listed = true;
            self.indexed = next;
            next = self.slot(next).order.inner;
        }
    }

    #[inline]
    fn remove(&mut self, at: u32) -> T {
        let Slot { value, order: Link { outer, inner }, keys, lists, listed } = *self.slot(at);
        match outer {
            NONE => self.outermost = inner,
            outer => self.slot(outer).order.inner = inner,
        }
        match inner {
            NONE => self.innermost = outer,
            inner => self.slot(inner).order.outer = outer,
        }
        if listed {
            self.unlist(keys, lists);
            if self.indexed == at {
                self.indexed = outer;
            }
        }
        self.free.push(at);
        value
    }

    fn unlist(&mut self, keys: [u64; KEYS], lists: [Link; KEYS]) {
        for (number, (key, Link { outer, inner })) in keys.into_iter().zip(lists).enumerate() {
            if key == 0 {
                continue;
            }
            match (inner, outer) {
                (NONE, NONE) => drop(self.tails[number].remove(&key)),
                (NONE, outer) => drop(self.tails[number].insert(key, outer)),
                (inner, _) => self.slot(inner).lists[number].outer = outer,
            }
            if outer != NONE {
                self.slot(outer).lists[number].inner = inner;
            }
        }
    }

    fn values(&self) -> impl Iterator<Item = T> + '_ {
        let mut next = self.outermost;
        std::iter::from_fn(move || {
            let slot = self.slots.get(next as usize)?;
            next = slot.order.inner;
            Some(slot.value)
        })
    }

    /// Returns the approximate heap use in bytes: slots and list entries.
    #[inline]
    fn heap(&self) -> u64 {
        let lists: usize = self.tails.iter().map(HashMap::capacity).sum();
        (self.slots.capacity() * size_of::<Slot<T, KEYS>>() + lists * size_of::<(u64, u32)>())
            as u64
    }

    fn clear(&mut self) {
        self.slots.clear();
        self.free.clear();
        (self.outermost, self.innermost, self.indexed) = (NONE, NONE, NONE);
        self.tails.iter_mut().for_each(HashMap::clear);
    }
}

/// The open begin events of one thread or id.
///
/// Names are hashes; 0 is the hash of a missing or empty name.
#[derive(Clone)]
pub struct Begins<T>(OpenGroup<T, 2>);

impl<T: Copy> Default for Begins<T> {
    fn default() -> Self {
        Begins(OpenGroup::new())
    }
}

impl<T: Copy> Begins<T> {
    /// Pushes a begin event.
    #[inline]
    pub fn begin(&mut self, name: u64, value: T) {
        self.0.push([ANY, name], value);
    }

    /// Pushes an entry that no end event closes, such as a complete event.
    pub fn enclose(&mut self, value: T) {
        self.0.push([0; 2], value);
    }

    /// Pushes a begin event that only [`Begins::end_named`] with this name closes.
    pub fn begin_apart(&mut self, name: u64, value: T) {
        self.0.push([0, name], value);
    }

    /// Removes the begin event that an end event of this name closes. Returns `None` if nothing is
    /// open.
    #[inline]
    pub fn end(&mut self, name: u64) -> Option<T> {
        let named = if name == 0 { None } else { self.0.close(1, name) };
        named.or_else(|| self.0.close(0, ANY))
    }

    /// Removes the innermost begin event of exactly this name.
    pub fn end_named(&mut self, name: u64) -> Option<T> {
        self.0.close(1, name)
    }

    /// Returns the number of open entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether nothing is open.
    pub fn is_empty(&self) -> bool {
        self.0.innermost == NONE
    }

    /// Returns the value of the innermost open entry.
    pub fn innermost(&self) -> Option<&T> {
        self.0.slots.get(self.0.innermost as usize).map(|slot| &slot.value)
    }

    /// Returns the value of the innermost open entry, mutably.
    pub fn innermost_mut(&mut self) -> Option<&mut T> {
        self.0.slots.get_mut(self.0.innermost as usize).map(|slot| &mut slot.value)
    }

    /// Removes and returns the innermost entry of any kind.
    pub fn pop_innermost(&mut self) -> Option<T> {
        let at = self.0.innermost;
        (at != NONE).then(|| self.0.remove(at))
    }

    /// Removes and returns the outermost entry of any kind.
    pub fn pop_outermost(&mut self) -> Option<T> {
        let at = self.0.outermost;
        (at != NONE).then(|| self.0.remove(at))
    }

    /// Returns all open values, outermost first.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.0.values()
    }

    /// Passes all open values to `visit`, outermost first.
    ///
    /// # Errors
    /// Returns any error of `visit`.
    pub fn each_mut<E>(&mut self, mut visit: impl FnMut(&mut T) -> Result<(), E>) -> Result<(), E> {
        let mut next = self.0.outermost;
        while let Some(slot) = self.0.slots.get_mut(next as usize) {
            visit(&mut slot.value)?;
            next = slot.order.inner;
        }
        Ok(())
    }

    /// Returns the approximate heap use in bytes. Open entries cannot spill, so callers use a
    /// [`Quota`](crate::run::limits::Quota).
    #[inline]
    pub fn heap(&self) -> u64 {
        self.0.heap()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The open begin events of one thread, paired as DevTools pairs them.
///
/// ```
/// use tracemill_trace::event::pairing::DevtoolsBegins;
///
/// let (name, cat, other) = (1, 2, 3); // hashes
/// let mut open = DevtoolsBegins::default();
/// open.begin(name, cat, "B");
/// assert_eq!(open.end(Some(other), None), None, "an end that fits nothing closes nothing");
/// assert_eq!(open.end(Some(name), Some(other)), None, "its category counts");
/// assert_eq!(open.end(Some(name), None), Some("B"));
/// ```
pub struct DevtoolsBegins<T>(OpenGroup<T, 4>);

impl<T: Copy> Default for DevtoolsBegins<T> {
    fn default() -> Self {
        DevtoolsBegins(OpenGroup::new())
    }
}

fn both(name: u64, cat: u64) -> u64 {
    (name.rotate_left(32) ^ cat.wrapping_mul(0x9E37_79B9_7F4A_7C15)).max(1)
}

impl<T: Copy> DevtoolsBegins<T> {
    /// Pushes a begin event with the hashes of its name and category.
    pub fn begin(&mut self, name: u64, cat: u64, value: T) {
        self.0.push([ANY, name.max(1), cat.max(1), both(name, cat)], value);
    }

    /// Removes the innermost begin event with the given name and category; `None` matches any.
    pub fn end(&mut self, name: Option<u64>, cat: Option<u64>) -> Option<T> {
        match (name, cat) {
            (None, None) => self.0.close(0, ANY),
            (Some(name), None) => self.0.close(1, name.max(1)),
            (None, Some(cat)) => self.0.close(2, cat.max(1)),
            (Some(name), Some(cat)) => self.0.close(3, both(name, cat)),
        }
    }

    /// Returns the approximate heap use in bytes, like [`Begins::heap`].
    #[inline]
    pub fn heap(&self) -> u64 {
        self.0.heap()
    }

    /// Returns all open values, outermost first.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.0.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::Rng;

    fn naive_end(open: &mut Vec<(u64, u32)>, name: u64) -> Option<u32> {
        let same_name =
            open.iter().rposition(|&(open_name, _)| open_name != 0 && open_name == name);
        let at = same_name.or(open.len().checked_sub(1))?;
        Some(open.remove(at).1)
    }

    #[test]
    fn random_sequences_pair_like_the_naive_rule() {
        for seed in 0..400 {
            let mut rng = Rng::new(seed);
            let (mut open, mut naive) = (Begins::default(), Vec::new());
            let names = 1 + rng.below(6);
            for number in 0..300 {
                match rng.below(20) {
                    0..9 => {
                        let name = rng.below(names);
                        open.begin(name, number);
                        naive.push((name, number));
                    }
                    9..17 => {
                        let name = rng.below(names + 1);
                        let expected = naive_end(&mut naive, name);
                        assert_eq!(open.end(name), expected, "{seed}, {number}");
                    }
                    17 => {
                        let name = 1 + rng.below(names);
                        let at = naive.iter().rposition(|&(open_name, _)| open_name == name);
                        let expected = at.map(|at| naive.remove(at).1);
                        assert_eq!(open.end_named(name), expected, "{seed}, {number}");
                    }
                    18 => assert_eq!(open.pop_innermost(), naive.pop().map(|entry| entry.1)),
                    _ => {
                        let outermost = (!naive.is_empty()).then(|| naive.remove(0).1);
                        assert_eq!(open.pop_outermost(), outermost, "{seed}, {number}");
                    }
                }
                let all: Vec<u32> = naive.iter().map(|entry| entry.1).collect();
                assert_eq!(open.values().collect::<Vec<_>>(), all, "{seed}, {number}");
                assert_eq!((open.len(), open.is_empty()), (all.len(), all.is_empty()));
            }
        }
    }

    #[test]
    fn no_end_event_closes_a_complete_event() {
        let mut open = Begins::default();
        open.begin(7, 'a');
        open.enclose('x');
        assert_eq!((open.end(0), open.end(0)), (Some('a'), None));
        assert_eq!(open.innermost(), Some(&'x'));
        assert_eq!((open.pop_innermost(), open.is_empty()), (Some('x'), true));
    }

    #[test]
    fn devtools_pairs_only_equal_names_and_categories() {
        for seed in 0..400 {
            let mut rng = Rng::new(seed);
            let mut open = DevtoolsBegins::default();
            let mut naive: Vec<(u64, u64, u32)> = Vec::new();
            for number in 0..200 {
                let (name, cat) = (rng.below(4), rng.below(3));
                if rng.below(2) == 0 {
                    open.begin(name, cat, number);
                    naive.push((name, cat, number));
                    continue;
                }
                let wanted = [name, cat].map(|value| (rng.below(4) > 0).then_some(value));
                let is = |wanted: Option<u64>, key| wanted.is_none_or(|value| value.max(1) == key);
                let fits = |&(name, cat, _): &(u64, u64, u32)| {
                    is(wanted[0], name.max(1)) && is(wanted[1], cat.max(1))
                };
                // hashes 0 and 1 share a key when only one of name and category is given
                let distinct = wanted.iter().all(|value| value.is_none_or(|value| value > 1));
                if distinct {
                    let expected = naive.iter().rposition(fits).map(|at| naive.remove(at).2);
                    assert_eq!(open.end(wanted[0], wanted[1]), expected, "{seed}, {number}");
                }
            }
            assert!(open.values().eq(naive.iter().map(|entry| entry.2)), "{seed}");
        }
    }

    #[test]
    fn cost_is_independent_of_the_number_of_open_events() {
        const MANY: u64 = 200_000;
        let mut open = Begins::default();
        for _ in 0..2 {
            (0..MANY).for_each(|number| open.begin(2, number));
            (0..MANY).for_each(|number| open.begin(3, number));
            assert!((0..MANY).rev().all(|number| open.end(2) == Some(number)));
            (0..MANY).for_each(|number| open.begin(4 + number, number));
            assert!((0..MANY).all(|number| open.end(4 + number) == Some(number)));
            (0..MANY).for_each(|_| open.enclose(0));
            assert!((0..MANY).rev().all(|number| open.end(MANY + 9) == Some(number)));
            assert_eq!((open.end(0), open.len()), (None, MANY as usize));
            open.clear();
            assert!(open.is_empty());
        }
    }
}
