//! JSON objects with long lists. The items of a list are generated while the list is written, to
//! save memory.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// An object. Its keys are written in sorted order.
#[derive(Default)]
pub(crate) struct Object<'r>(BTreeMap<&'static str, JsonNode<'r>>);

/// The value of a key, or an item of a list.
pub(crate) enum JsonNode<'r> {
    Value(Value),
    Object(Object<'r>),
    /// A list. The function generates its items each time the list is written.
    List(Box<dyn Fn() -> Items<'r> + 'r>),
}

type Items<'r> = Box<dyn Iterator<Item = JsonNode<'r>> + 'r>;

impl<'r> Object<'r> {
    /// Sets the value of a key. Replaces the previous value.
    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<JsonNode<'r>>) {
        self.0.insert(key, value.into());
    }

    /// Sets a key to a list. Each call of `items` must generate all items.
    pub(crate) fn list<I>(&mut self, key: &'static str, items: impl Fn() -> I + 'r)
    where
        I: Iterator<Item: Into<JsonNode<'r>>> + 'r,
    {
        let list = move || Box::new(items().map(Into::into)) as Items<'r>;
        self.0.insert(key, JsonNode::List(Box::new(list)));
    }

    /// Adds members. Replaces members with the same keys.
    pub(crate) fn extend(&mut self, members: impl IntoIterator<Item = (&'static str, Value)>) {
        self.0.extend(members.into_iter().map(|(key, value)| (key, JsonNode::Value(value))));
    }
}

impl<const N: usize> From<[(&'static str, Value); N]> for Object<'_> {
    fn from(members: [(&'static str, Value); N]) -> Self {
        let mut object = Object::default();
        object.extend(members);
        object
    }
}

impl From<Value> for JsonNode<'_> {
    fn from(value: Value) -> Self {
        JsonNode::Value(value)
    }
}

impl<'r> From<Object<'r>> for JsonNode<'r> {
    fn from(object: Object<'r>) -> Self {
        JsonNode::Object(object)
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

impl Serialize for JsonNode<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            JsonNode::Value(value) => value.serialize(serializer),
            JsonNode::Object(object) => object.serialize(serializer),
            JsonNode::List(items) => serializer.collect_seq(items()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lazy_lists_serialize_like_eager_ones() {
        let numbers = [1, 2];
        let mut object = Object::from([("b", json!(null)), ("a", json!({"x": 1}))]);
        object.list("c", || numbers.iter().map(|number| json!(number)));
        let inner = |number: &i32| Object::from([("n", json!(number))]);
        object.list("d", move || numbers.iter().map(inner).collect::<Vec<_>>().into_iter());
        object.set("b", Object::from([]));
        let expected = json!({"a": {"x": 1}, "b": {}, "c": [1, 2], "d": [{"n": 1}, {"n": 2}]});
        for _ in 0..2 {
            assert_eq!(serde_json::to_string(&object).unwrap(), expected.to_string());
        }
    }
}
