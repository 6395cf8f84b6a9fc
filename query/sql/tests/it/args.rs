//! The table `args`, against a second implementation.

use crate::support::{Knobs, rows, rows_with};
use serde_json::{Value, json};
use tracemill_testkit::Folder;
use tracemill_testkit::Rng;

/// Returns a random value, at most `levels` deep.
fn value(rng: &mut Rng, levels: usize) -> Value {
    match rng.index(if levels == 0 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => json!(rng.index(2) == 0),
        2 => json!(rng.index(1000) as i64 - 500),
        3 => json!(rng.index(1000) as f64 / 8.0 + 0.0625),
        4 => json!(["", "a b", "ü\"\\\n", "17"][rng.index(4)]),
        5 => json!(u64::MAX),
        6 => {
            let count = rng.index(4);
            (0..count).map(|_| value(rng, levels - 1)).collect()
        }
        _ => {
            let count = rng.index(4);
            let member = |_| {
                let name = ["a", "b.c", "é", "x"][rng.index(4)].to_owned();
                (name, value(rng, levels - 1))
            };
            Value::Object((0..count).map(member).collect())
        }
    }
}

/// Adds the rows of a value to `rows`: flat key, key, integer, text, number, type.
fn flatten(value: &Value, flat: &str, key: &str, rows: &mut Vec<Vec<Value>>) {
    let mut add = |integer: Value, text: Value, real: Value, kind: &str| {
        rows.push(vec![json!(flat), json!(key), integer, text, real, json!(kind)]);
    };
    match value {
        Value::Null => {}
        Value::Bool(flag) => add(json!(i64::from(*flag)), Value::Null, Value::Null, "bool"),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => add(json!(integer), Value::Null, Value::Null, "int"),
            None => add(Value::Null, Value::Null, json!(number.as_f64()), "real"),
        },
        Value::String(text) => add(Value::Null, json!(text), Value::Null, "string"),
        Value::Array(all) => {
            for (index, value) in all.iter().enumerate() {
                flatten(value, flat, &format!("{key}[{index}]"), rows);
            }
        }
        Value::Object(all) => {
            for (name, value) in all {
                flatten(value, &format!("{flat}.{name}"), &format!("{key}.{name}"), rows);
            }
        }
    }
}

#[test]
fn values_are_those_of_a_second_implementation() {
    const SQL: &str =
        "SELECT flat_key, key, int_value, string_value, real_value, value_type FROM args";
    let folder = Folder::new();
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let (mut events, mut expected) = (Vec::new(), Vec::new());
        for ts in 0..20 {
            let args: Value = (0..rng.index(4))
                .map(|at| (format!("k{at}"), value(&mut rng, 3)))
                .collect::<serde_json::Map<_, _>>()
                .into();
            flatten(&args, "args", "args", &mut expected);
            events.push(json!({"ph": "X", "ts": ts, "dur": 1, "name": "a", "args": args}));
        }
        let file = folder.file("a.json", json!(events).to_string());
        for (threads, memory) in [(1, 32 << 20), (7, 256 << 20)] {
            let found = rows_with(std::slice::from_ref(&file), SQL, Knobs { threads, memory });
            assert_eq!(found, expected, "seed {seed}");
        }
    }
}

#[test]
fn deep_values_are_json_and_sets_join_events() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        r#"[{{"ph":"X","ts":1,"name":"a"}},{{"ph":"X","ts":2,"name":"b","args":{{"deep":{deep},"n":NaN}}}}]"#
    );
    let folder = Folder::new().with("a.json", text);
    let sql = "SELECT e.name, a.value_type, length(a.string_value) AS l FROM args a \
               JOIN events e ON e.event_id = a.arg_set_id ORDER BY 3 DESC";
    let found = rows(&folder.path("a.json"), sql);
    let left = 2 * (100_000 - 63) + 1;
    assert_eq!(
        found,
        [json!(["b", "json", left]), json!(["b", "json", 3])]
            .map(|row| row.as_array().unwrap().clone())
    );
}
