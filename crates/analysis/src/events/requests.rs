//! Last events of network requests. DevTools (`NetworkRequestsHandler`) keeps only the last
//! response, finish, priority and cache event of each request, in file order.

use crate::value::args::Args;
use crate::value::typed::decode_short;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// Returns whether DevTools uses only the last event with this name of each request.
pub(crate) fn is_once(name: &[u8]) -> bool {
    kind(name).is_some()
}

fn kind(name: &[u8]) -> Option<u8> {
    Some(match name {
        b"ResourceChangePriority" => 0,
        b"ResourceReceiveResponse" => 1,
        b"ResourceFinish" => 2,
        b"ResourceMarkAsCached" => 3,
        _ => return None,
    })
}

/// Identifies the events of one kind that belong to one request.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    kind: u8,
    request: Box<[u8]>,
}

/// The number of the last event of each kind, for each request.
#[derive(Default)]
pub(crate) struct Requests {
    last: HashMap<Key, u64>,
    bytes: u64,
}

impl Requests {
    /// Adds an event, the `number`th of its chunk, if DevTools uses only the last such event of a
    /// request.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, number: u64) {
        let Some(name @ [b'"', b'R', ..]) = event.field_and_rest(Field::Name) else { return };
        let Some(kind) = name[1..].split(|&byte| byte == b'"').next().and_then(kind) else {
            return;
        };
        let args = event.field(Field::Args).unwrap_or_default();
        let request = decode_short::<Args>(args).request_id().into();
        self.push(Key { kind, request }, number);
    }

    fn push(&mut self, key: Key, number: u64) {
        /// Heap bytes of a table entry, and of the event's number in [`Trace`](crate::Trace).
        const OWN: usize = 2 * size_of::<(Key, u64)>() + 32;
        let size = OWN + key.request.len();
        if self.last.insert(key, number).is_none() {
            self.bytes += size as u64;
        }
    }

    /// Adds the events of a later chunk, before which there are `first` events.
    pub(crate) fn append(&mut self, later: Requests, first: u64) {
        later.last.into_iter().for_each(|(key, number)| self.push(key, number + first));
    }

    pub(crate) fn heap(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn numbers(&self) -> HashSet<u64> {
        self.last.values().copied().collect()
    }
}
