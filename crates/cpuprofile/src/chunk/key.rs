//! Keys of streams. A stream is the profile events of one (pid, id), compared with strict types, as
//! in DevTools.
//!
//! Without an `id`, the key uses `id2`; DevTools would merge all such streams of a process. A key
//! is the concatenation of its values, each closed by a zero byte:
//!
//! ```text
//!   pid 7, id "0x1"         # 7 ␀  " 03 00 00 00 00 00 00 00 0x1 ␀    strings follow their length
//!   pid 7, id2 {"local":…}  # 7 ␀  2 # {"local":…} ␀                  other values are as written
//!   pid 7, no id            # 7 ␀  - ␀
//! ```
//!
//! So keys are equal exactly if their bytes are equal.

use tracemill_tokenizer::{Event, Field, canonical, unescape};
use tracemill_trace::spill::hash::HashMap;

/// Text of a value as written in the input.
pub(crate) type Written = Box<[u8]>;

/// The key (pid, id) of a stream in canonical form, for comparing and hashing; see [`stream_key`].
pub type StreamKey = Vec<u8>;

/// Returns the key of an event's stream: equal for events of the same process and `id`.
///
/// `7` differs from `"7"`, as in the JavaScript `Map` of DevTools. `7.0` equals `7`, and escapes in
/// strings are resolved. All events without ids share one key. Cost: a copy of both values.
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

/// Assigns numbers to streams, in the order of their first events.
///
/// Cost: a comparison with the ids of up to 16 recent streams, as written; otherwise building a key
/// and a hash lookup.
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

/// Values of pid, id and id2, as written.
type WrittenIds = [Option<Written>; 3];

/// Number of recent streams that are compared by their ids as written. Few streams are recorded at
/// the same time.
const RECENT: usize = 16;

impl StreamNumbers {
    /// Returns the number of an event's stream; calls `new` with the key if the stream is new.
    pub fn of_event(&mut self, event: &Event<'_>, new: impl FnOnce(StreamKey)) -> usize {
        let ids = [Field::Pid, Field::Id, Field::Id2].map(|field| event.field(field));
        let same =
            |(written, _): &&(WrittenIds, usize)| written.each_ref().map(Option::as_deref) == ids;
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

    /// Returns the number of the stream with this key; calls `new` with the key if the stream is
    /// new.
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

/// Appends a canonical, self-delimiting form of a JSON value; `None` is a missing value.
///
/// Concatenated forms are equal exactly if all values are equal and of the same type. Numbers are
/// compared by value, strings without their escapes, other values by their bytes.
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
            // the length distinguishes ("a", "b") from ("a\0b", …)
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
