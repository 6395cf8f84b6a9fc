//! Selects the values of DevTools' results to compare, and shows differences.

use serde_json::{Value, json};

/// Columns of a tree row before the event's key, which is its index in the file.
const TREE_COLUMNS: usize = 6;

/// Properties of a profile that cannot stay the same:
///
/// * `pid`, `tid` and `profileId`: a .cpuprofile has none, so DevTools uses 1, 1 and 0x1.
/// * `rawEndTime`: for streams DevTools derives it from the first chunk and never uses it.
/// * `lines`, `columns` and their sum: DevTools fills in zeros for chunks without them. `stream`
///   compares the values.
/// * `traceIds`: DevTools reads them in streams only. `stream` compares the values.
/// * `standaloneCalls`: exists for CPU profiles only; the calls themselves are compared.
const INCOMPARABLE: [&str; 9] = [
    "pid",
    "tid",
    "profileId",
    "rawEndTime",
    "lines",
    "columns",
    "linesSha256",
    "traceIds",
    "standaloneCalls",
];

/// Returns the properties of a profile that do not depend on its file: counts, depth, special
/// nodes, and sums over samples and times.
pub(super) fn sheet(profile: &Value) -> Value {
    let mut sheet = profile.as_object().expect("a profile").clone();
    sheet.retain(|key, _| !INCOMPARABLE.contains(&key.as_str()));
    Value::Object(sheet)
}

/// Returns the comparable part of a result for a single profile: its properties, all calls, and the
/// tree.
pub(super) fn portrait(answer: &Value) -> Value {
    let profiles = answer["profiles"].as_array().expect("profiles");
    let threads = answer["threads"].as_array().expect("threads");
    let sheets: Vec<Value> = profiles.iter().map(sheet).collect();
    let threads: Vec<Value> = threads
        .iter()
        .map(|t| json!({"type": t["type"], "calls": t["profileCalls"], "tree": tree(t)}))
        .collect();
    json!({"profiles": sheets, "threads": threads})
}

/// Returns the tree rows of a thread without event indices, which may change.
pub(super) fn tree(thread: &Value) -> Vec<&[Value]> {
    let rows = thread["tree"].as_array().expect("a tree").iter();
    rows.map(|row| &row.as_array().expect("a row")[..TREE_COLUMNS]).collect()
}

/// Returns the length of a list, which must exist.
pub(super) fn count(list: &Value) -> usize {
    list.as_array().expect("a list").len()
}

#[track_caller]
pub(super) fn assert_same(what: &str, expected: &Value, got: &Value) {
    if let Some(difference) = first_difference("", expected, got) {
        panic!("{what}: {difference}");
    }
}

/// Describes the first difference between two values.
fn first_difference(path: &str, expected: &Value, got: &Value) -> Option<String> {
    if expected == got {
        return None;
    }
    let inner = match (expected, got) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().find_map(|(key, a)| first_difference(&format!("{path}.{key}"), a, &b[key]))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|i| first_difference(&format!("{path}[{i}]"), &a[i], &b[i]))
        }
        _ => None,
    };
    inner.or_else(|| Some(format!("at {path}: expected {}, got {}", short(expected), short(got))))
}

fn short(value: &Value) -> String {
    let text: String = value.to_string().chars().take(300).collect();
    let len = value.as_array().map(|list| format!("{} items: ", list.len()));
    len.unwrap_or_default() + &text
}
