//! What tells streams apart: (pid, id), types strict, as in DevTools; where there is no `id`, `id2` takes its place (DevTools
//! would fuse all streams of the process).
//!
//! A key is made of its values in an order, each closed by a zero byte:
//!
//! ```text
//!   pid 7, id "0x1"      # 7 ␀  " 03 00 00 00 00 00 00 00 0x1 ␀       a string has its length first
//!   pid 7, id2 {"local":…}  # 7 ␀  2 # {"local":…} ␀                  what is neither number nor string: as it is written
//!   pid 7, no id         # 7 ␀  - ␀
//! ```
//!
//! So equal bytes mean equal keys, and whoever compares or hashes keys need not know what is in them.

use tracemill_tokenizer::{Event, Field, canonical, unescape};
use tracemill_trace::spill::hash::HashMap;

/// A value as it is written.
pub(crate) type Written = Box<[u8]>;

/// (pid, id), canonical and joined: see [`stream_key`]. Its bytes are for comparing and hashing, not for reading.
pub type StreamKey = Vec<u8>;

/// The key of an event's stream: equal for two events exactly if they are of one process and one `id`.
///
/// `7` is not `"7"`, since DevTools holds both in a `Map` of JavaScript; `7.0` is `7`, and escapes in strings are resolved. An event without
/// ids has a key too, that of all such events. Cost: a copy of both values.
///
/// ```
/// use tracemill_cpuprofile::stream_key;
/// use tracemill_tokenizer::fields_of;
///
/// let key = |event: &str| stream_key(&fields_of(event.as_bytes()).of(event.as_bytes()));
/// let plain = key(r#"{"pid":7,"tid":8,"id":"0x1"}"#);
/// assert_eq!(plain, key(r#"{"id":"0x\u0031","tid":9,"pid":7.0}"#)); // threads do not matter, spellings neither
/// assert_ne!(plain, key(r#"{"pid":"7","id":"0x1"}"#)); // types do
/// assert_ne!(plain, key(r#"{"pid":7,"id2":"0x1"}"#));
/// ```
pub fn stream_key(event: &Event<'_>) -> StreamKey {
    let mut key = Vec::new();
    push_canonical(event.field(Field::Pid), &mut key);
    match event.field(Field::Id) {
        None if event.field(Field::Id2).is_some() => {
            key.push(b'2');
            push_canonical(event.field(Field::Id2), &mut key);
        }
        id => push_canonical(id, &mut key),
    }
    key
}

/// Numbers of streams, in the order of their first events.
///
/// Those of the last events are known by their ids as they are written: who asks for the stream of chunk after chunk need not make its key
/// for each, since few streams take turns. Cost: a comparison of ids with those of up to 16 streams, else a key and a look-up.
///
/// ```
/// use tracemill_cpuprofile::{StreamNumbers, stream_key};
/// use tracemill_tokenizer::fields_of;
///
/// let (mut numbers, mut keys) = (StreamNumbers::default(), Vec::new());
/// for id in ["0x1", "0x2", "0x1"] {
///     let chunk = format!(r#"{{"name":"ProfileChunk","pid":7,"id":"{id}"}}"#).into_bytes();
///     let spans = fields_of(&chunk);
///     let number = numbers.of_event(&spans.of(&chunk), |key| keys.push(key));
///     assert_eq!(stream_key(&spans.of(&chunk)), keys[number]);
/// }
/// assert_eq!(keys.len(), 2);
/// ```
#[derive(Default)]
pub struct StreamNumbers {
    recent: Vec<(WrittenIds, usize)>,
    by_key: HashMap<StreamKey, usize>,
}

/// pid, id, id2
type WrittenIds = [Option<Written>; 3];

/// Streams that are known by their ids as written: a few are recorded at one time.
const RECENT: usize = 16;

impl StreamNumbers {
    /// The number of the stream of an event that is part of one; if it is the first of it, `new` is given the key.
    pub fn of_event(&mut self, event: &Event<'_>, new: impl FnOnce(StreamKey)) -> usize {
        let ids = [Field::Pid, Field::Id, Field::Id2].map(|field| event.field(field));
        let same = |(own, _): &&(WrittenIds, usize)| own.each_ref().map(Option::as_deref) == ids;
        if let Some(&(_, number)) = self.recent.iter().find(same) {
            return number;
        }
        let number = self.of_key(stream_key(event), new);
        if self.recent.len() == RECENT {
            self.recent.clear();
        }
        self.recent.push((ids.map(|id| id.map(Box::from)), number));
        number
    }

    /// The number of the stream of a key, which is given to `new` if it was not seen before.
    pub fn of_key(&mut self, key: StreamKey, new: impl FnOnce(StreamKey)) -> usize {
        if let Some(&number) = self.by_key.get(&key) {
            return number;
        }
        let number = self.by_key.len();
        self.by_key.insert(key.clone(), number);
        new(key);
        number
    }
}

/// Appends a form of a value that is the same for equal values of one type only, and ends where it can be seen: so forms behind
/// each other are equal if and only if all values are.
///
/// `value` is the text of a JSON value, `None` one that is missing. Numbers are compared by what they are, strings without their escapes,
/// anything else by its bytes.
///
/// ```
/// use tracemill_cpuprofile::push_canonical;
///
/// let form = |values: [&str; 2]| {
///     let mut key = Vec::new();
///     values.iter().for_each(|value| push_canonical(Some(value.as_bytes()), &mut key));
///     key
/// };
/// assert_eq!(form(["1e3", r#""a""#]), form(["1000", r#""\u0061""#]));
/// assert_ne!(form([r#""a""#, r#""bc""#]), form([r#""ab""#, r#""c""#]));
/// ```
pub fn push_canonical(value: Option<&[u8]>, key: &mut Vec<u8>) {
    match value {
        None => key.push(b'-'),
        Some([quote @ b'"', content @ .., b'"']) => {
            key.push(*quote);
            let mut text = Vec::new();
            unescape(content, &mut text);
            // the length keeps ("a", "b") and ("a\0b", …) apart
            key.extend_from_slice(&(text.len() as u64).to_le_bytes());
            key.extend_from_slice(&text);
        }
        Some(value) => {
            key.push(b'#');
            if !canonical(value, key) {
                key.extend_from_slice(value);
            }
        }
    }
    key.push(0);
}
