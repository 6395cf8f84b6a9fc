//! Parses JSON into structs in one pass, instead of searching for each member.
//!
//! ```text
//! object! {
//!     struct Args { data: Object<Data>, sample_trace_id }          Object: a struct, if the value is one
//!     struct Data { url, frames: List<Object<Frame>> }             List: elements, if the value is an array
//! }                                                                all others: a Value
//! ```
//!
//! A field accepts any value, so a value of an unexpected kind leaves the other fields intact.
//! simd-json parses valid text. If simd-json refuses the text, a pull reader parses it instead.
//! Examples are damage, duplicate members, halves of surrogate pairs, numbers beyond doubles and
//! deep nesting.

use crate::value::{Value, content, number};
use serde::de::value::{BytesDeserializer, Error, MapAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use simd_json::Buffers;
use std::borrow::Cow;
use std::cell::RefCell;
use std::marker::PhantomData;
use tracemill_tokenizer::Cursor;
use tracemill_trace::spill::hash::HashMap;

/// Defines structs with a derived `Deserialize`. A member's name is the field's name in camel case,
/// unless `#[serde(rename)]` gives another.
#[macro_export]
macro_rules! object {
    (@kind) => { $crate::value::Value };
    (@kind $kind:ty) => { $kind };
    ($($(#[$attribute:meta])* $see:vis struct $name:ident {
        $($(#[$of_field:meta])* $see_field:vis $field:ident $(: $kind:ty)?),* $(,)?
    })*) => {$(
        $(#[$attribute])*
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        $see struct $name {
            $($(#[$of_field])* $see_field $field: $crate::value::typed::object!(@kind $($kind)?),)*
        }
    )*};
}

pub use object;

/// Maximum nesting for simd-json, which recurses per level.
const MAX_DEPTH: usize = 128;
/// Maximum size of kept buffers.
const KEPT_BYTES: usize = 1 << 16;

thread_local! {
    /// A copy of the parsed text, which simd-json modifies, and its buffers.
    static BUFFERS: RefCell<(Vec<u8>, Buffers)> =
        RefCell::new((Vec::new(), Buffers::with_max_depth(0, MAX_DEPTH)));
}

/// Parses an object. If `json` is not an object, returns a struct without members. Cost: copies and
/// parses the whole text.
pub fn decode<T: DeserializeOwned + Default>(json: &[u8]) -> T {
    parse::<Object<T>>(json).0.unwrap_or_default()
}

/// Parses a value, an [`Object`] or a [`List`]. Cost: copies and parses the whole text, which takes
/// at least about 150 ns.
pub(crate) fn parse<T: DeserializeOwned + Default>(json: &[u8]) -> T {
    BUFFERS.with_borrow_mut(|(copy, buffers)| {
        copy.clear();
        copy.extend_from_slice(json);
        let decoded = simd_json::serde::from_slice_with_buffers(copy, buffers);
        if copy.capacity() > KEPT_BYTES {
            (*copy, *buffers) = (Vec::new(), Buffers::with_max_depth(0, MAX_DEPTH));
        }
        decoded.unwrap_or_else(|_| pull(json))
    })
}

/// Parses the object `data` of `args`.
pub(crate) fn decode_data<T: DeserializeOwned + Default>(args: &[u8]) -> Option<T> {
    #[derive(Default, Deserialize)]
    #[serde(default, bound(deserialize = "T: Deserialize<'de> + Default"))]
    struct Args<T> {
        data: Object<T>,
    }

    decode::<Args<T>>(args).data.0
}

/// Reads an object with the pull reader: faster than [`decode`] for the short `args` of frequent
/// events, and without a copy.
pub(crate) fn decode_short<T: DeserializeOwned + Default>(json: &[u8]) -> T {
    pull::<Object<T>>(json).0.unwrap_or_default()
}

fn pull<T: DeserializeOwned + Default>(json: &[u8]) -> T {
    let of = |is_repeated| {
        T::deserialize(Pull { cursor: &mut Cursor::new(json), is_repeated, last: None })
    };
    // A derived `deserialize` fails only for duplicate members.
    of(false).or_else(|_| of(true)).unwrap_or_default()
}

/// A deserializer for the next value of a cursor, or for the rest of an entered object or array.
struct Pull<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    /// Whether members may occur twice. If so, the last one counts, as in `JSON.parse`.
    is_repeated: bool,
    /// Offsets of the last value of each member, if members may occur twice.
    last: Option<HashMap<Cow<'a, [u8]>, usize>>,
}

impl<'a> Pull<'_, 'a> {
    fn value(&mut self) -> Pull<'_, 'a> {
        Pull { cursor: self.cursor, is_repeated: self.is_repeated, last: None }
    }

    /// Finds the last member of each name in the entered object.
    fn find_last(&mut self) {
        let (mut ahead, mut last) = (self.cursor.clone(), HashMap::default());
        while let Some(key) = ahead.next_key() {
            last.insert(key, ahead.offset());
            ahead.value();
        }
        self.last = Some(last);
    }
}

impl<'de> Deserializer<'de> for Pull<'_, 'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        if self.cursor.enter(b'{') {
            if self.is_repeated {
                self.find_last();
            }
            return visitor.visit_map(self);
        }
        if self.cursor.enter(b'[') {
            return visitor.visit_seq(self);
        }
        match self.cursor.value() {
            b"true" => visitor.visit_bool(true),
            b"false" => visitor.visit_bool(false),
            b"null" => visitor.visit_unit(),
            text @ [b'"', ..] => match content(text) {
                Some(text) => visitor.visit_bytes(&text),
                None => visitor.visit_none(),
            },
            scalar => match number(scalar) {
                Some(number) => visitor.visit_f64(number),
                None => visitor.visit_none(),
            },
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.cursor.value();
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map struct enum identifier
    }
}

impl<'de> MapAccess<'de> for Pull<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        while let Some(key) = self.cursor.next_key() {
            let offset = self.cursor.offset();
            if self.last.as_ref().is_none_or(|last| last.get(&key) == Some(&offset)) {
                return seed.deserialize(BytesDeserializer::new(&key)).map(Some);
            }
            self.cursor.value();
        }
        Ok(None)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(self.value())
    }
}

impl<'de> SeqAccess<'de> for Pull<'_, 'de> {
    type Error = Error;

    fn next_element_seed<E: DeserializeSeed<'de>>(
        &mut self,
        seed: E,
    ) -> Result<Option<E::Value>, Error> {
        if !self.cursor.next_element() {
            return Ok(None);
        }
        seed.deserialize(self.value()).map(Some)
    }
}

/// A struct. Values that JavaScript treats as false become `None`, and other values that are not
/// objects become an empty struct.
#[derive(Clone, Debug, Default)]
pub struct Object<T>(pub Option<T>);

/// The first `MOST` elements of an array. Values other than arrays become `None`.
#[derive(Clone, Debug, Default)]
pub struct List<T, const MOST: usize = { usize::MAX }>(pub Option<Vec<T>>);

/// A type that accepts any value.
trait OfAny<'de>: Sized {
    fn scalar(value: Value) -> Self;

    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::scalar(Value::Other))
    }

    fn seq<A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::scalar(Value::Other))
    }
}

impl OfAny<'_> for Value {
    fn scalar(value: Value) -> Self {
        value
    }
}

impl<'de, T: Deserialize<'de> + Default> OfAny<'de> for Object<T> {
    fn scalar(value: Value) -> Self {
        Object(value.is_true().then(T::default))
    }

    fn map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Object(Some(value)))
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> OfAny<'de> for List<T, MOST> {
    fn scalar(_: Value) -> Self {
        List(None)
    }

    fn seq<A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        let mut all = Vec::new();
        loop {
            let next = match all.len() < MOST {
                true => seq.next_element()?.map(|element| all.push(element)),
                false => seq.next_element::<IgnoredAny>()?.map(drop),
            };
            if next.is_none() {
                return Ok(List(Some(all)));
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for List<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyVisitor(PhantomData))
    }
}

struct AnyVisitor<T>(PhantomData<T>);

macro_rules! scalars {
    ($($visit:ident($($value:ident: $kind:ty)?) $scalar:expr;)*) => {
        $(fn $visit<E>(self $(, $value: $kind)?) -> Result<T, E> {
            Ok(T::scalar($scalar))
        })*
    };
}

impl<'de, T: OfAny<'de>> Visitor<'de> for AnyVisitor<T> {
    type Value = T;

    scalars! {
        visit_none() Value::Other;
        visit_unit() Value::Null;
        visit_bool(value: bool) Value::Bool(value);
        visit_f64(value: f64) Value::Number(value);
        visit_i64(value: i64) Value::Number(value as f64);
        visit_u64(value: u64) Value::Number(value as f64);
        visit_str(value: &str) Value::Text(value.into());
        visit_bytes(value: &[u8]) Value::Text(value.into());
    }

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        T::seq(seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{elements, is_true, member, string};
    use tracemill_testkit::Rng;

    object! {
        struct Outer { a, #[serde(rename = "é")] e, list: List<Value>, inner: Object<Inner> }
        struct Inner { a, list: List<Object<Inner>, 2> }
    }

    /// Returns what look-ups find in a value.
    fn looked_up(value: Option<&[u8]>) -> String {
        let value = value
            .map(|text| (number(text).map(|float| float + 0.0), string(text), is_true(Some(text))));
        format!("{value:?}")
    }

    fn parsed(value: &Value) -> String {
        let parts = (
            value.number().map(|float| float + 0.0),
            value.text().map(<[u8]>::to_vec),
            value.is_true(),
        );
        format!("{:?}", Some(parts).filter(|_| *value != Value::Missing))
    }

    #[track_caller]
    fn assert_finds_the_same(text: &[u8]) {
        for outer in [decode::<Outer>(text), decode_short(text)] {
            let shown = text.escape_ascii();
            let at = |name: &str| member(text, name.as_bytes());
            assert_eq!(parsed(&outer.a), looked_up(at("a")), "{shown}");
            assert_eq!(parsed(&outer.e), looked_up(at("é")), "{shown}");
            let list: Vec<String> = outer.list.0.iter().flatten().map(parsed).collect();
            let of_list = elements(at("list").unwrap_or_default());
            assert_eq!(
                list,
                of_list.map(|item| looked_up(Some(item))).collect::<Vec<_>>(),
                "{shown}"
            );
            let inner = at("inner").filter(|item| is_true(Some(item)));
            assert_eq!(outer.inner.0.is_some(), inner.is_some(), "{shown}");
            let Some((inner, of_inner)) = outer.inner.0.zip(inner) else { continue };
            assert_eq!(parsed(&inner.a), looked_up(member(of_inner, b"a")), "{shown}");
            let frames = elements(member(of_inner, b"list").unwrap_or_default()).take(2);
            let frames: Vec<String> = frames.map(|frame| looked_up(member(frame, b"a"))).collect();
            let of_frame = |object: &Object<Inner>| {
                object.0.as_ref().map_or("None".into(), |object| parsed(&object.a))
            };
            assert_eq!(
                inner.list.0.iter().flatten().map(of_frame).collect::<Vec<_>>(),
                frames,
                "{shown}"
            );
        }
    }

    fn value(random: &mut Rng, depth: u64) -> String {
        const ODD: &[&str] = &[
            "0",
            "-0",
            "-0.0",
            "1e400",
            "-1e400",
            "1e-400",
            "9007199254740993",
            "9223372036854775808",
            "18446744073709551616",
            "-9223372036854775809",
            "123456789012345678901234567890",
            "0.1e1",
            "2.2250738585072011e-308",
            "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880.5",
            "01",
            "1.",
            "NaN",
            "Infinity",
            "-",
            "nul",
            "null",
            "true",
            "false",
            "\"\"",
            "\"0\"",
            "\"12.50\"",
            "\" 1\"",
            "\"1e2\"",
            "\"\\ud800\"",
            "\"\\ud83d\\ude00\"",
            "\"\\udc00x\"",
            "\"a\\/b\\u0041\\n\"",
            "\"\\x\"",
            "\"a\tb\"",
            "\"é\"",
            "{}",
            "[]",
        ];
        match random.below(8) {
            0 | 1 => random.pick(ODD).to_string(),
            2 => (random.bits() as i64 >> random.below(64)).to_string(),
            3 => format!("{:e}", f64::from_bits(random.bits())),
            4 => format!("{}.{}", random.below(1 << 40), random.below(1 << 30)),
            5 if depth > 0 => {
                let all: Vec<String> =
                    (0..random.below(4)).map(|_| value(random, depth - 1)).collect();
                format!("[{}]", all.join(", "))
            }
            _ if depth > 0 => object(random, depth - 1),
            _ => format!("\"{}\"", random.below(100)),
        }
    }

    fn object(random: &mut Rng, depth: u64) -> String {
        let keys = ["a", "\\u0061", "é", "\\u00e9", "list", "inner", "inner", "list", "x", ""];
        let mut member = |key: &str| format!("\"{key}\" :{}", value(random, depth));
        let all: Vec<String> = keys.iter().map(|key| member(key)).collect();
        let mut all: Vec<String> = all;
        for _ in 0..random.below(10) {
            all.remove(random.below(all.len() as u64) as usize);
        }
        format!("{{{}}}", all.join(","))
    }

    #[test]
    fn structs_hold_what_lookups_find() {
        let mut quick = 0;
        for seed in 0..4000 {
            let mut random = Rng::new(seed);
            let text = object(&mut random, 3);
            let mut copy = text.clone().into_bytes();
            quick += usize::from(simd_json::serde::from_slice::<Object<Outer>>(&mut copy).is_ok());
            assert_finds_the_same(text.as_bytes());
            // Changing or removing bytes makes invalid UTF-8 and invalid JSON.
            let mut bytes = text.into_bytes();
            if let Some(at) = (bytes.len() as u64 - 2).checked_sub(1).map(|most| random.below(most))
            {
                bytes[at as usize + 1] = 0xFF;
            }
            decode::<Outer>(&bytes);
            decode::<Outer>(&bytes[..bytes.len() / 2]);
        }
        assert!((400..3600).contains(&quick), "{quick}");
    }

    /// A value of any type leaves others intact, and no depth aborts the program.
    #[test]
    fn odd_values_leave_other_members_intact() {
        let deep = |open: &str, close: &str| {
            format!(r#"{{"x":{}{},"a":7}}"#, open.repeat(100_000), close.repeat(100_000))
        };
        for text in [
            deep("[", "]"),
            deep("{\"a\":", "}"),
            deep("{\"list\":[", "]}"),
            r#"{"x":NaN,"a":7}"#.to_owned(),
            r#"{"a":6,"inner":{"a":1,"a":2},"a":7}"#.to_owned(),
            r#"{"inner":[1],"list":{"a":1},"a":7} , {"a":8}"#.to_owned(),
        ] {
            assert_eq!(decode::<Outer>(text.as_bytes()).a, Value::Number(7.0));
            assert_eq!(decode_short::<Outer>(text.as_bytes()).a, Value::Number(7.0));
        }
        for none in ["", "7", "[7]", "null", "\"a\""] {
            assert_eq!(decode::<Outer>(none.as_bytes()).a, Value::Missing);
        }
        assert_eq!(decode::<Outer>(b"{\"x\":\"\xFF\",\"a\":\"\xFE\"}").a, Value::Text(vec![0xFE]));
    }
}
