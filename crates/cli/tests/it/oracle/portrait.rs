//! What of DevTools' answers is compared, and how a difference is shown.

use serde_json::{Value, json};

/// Columns of a row of a tree before the event's key, which is its index in the file.
const TREE_COLUMNS: usize = 6;

/// Facts on a profile that no rewriting can or should keep:
///
/// * `pid`, `tid` and `profileId`: a .cpuprofile has none, DevTools takes 1, 1 and 0x1.
/// * `rawEndTime`: of a stream DevTools fixes it by the first chunk and never uses it; a .cpuprofile states it.
/// * `lines`, `columns` and their sum: for chunks without them DevTools fills in zeros, in a .cpuprofile they stay
///   absent. `stream` compares them by value.
/// * `traceIds`: DevTools looks for them in streams only. `stream` compares them by value.
/// * `standaloneCalls`: only made for CPU profiles; the calls themselves are compared.
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

/// The facts on a profile that are the same wherever it stands: counts of nodes, samples and times, depth, the special
/// nodes, sums over all samples and all times.
pub(super) fn sheet(profile: &Value) -> Value {
    let mut sheet = profile.as_object().expect("a profile").clone();
    sheet.retain(|key, _| !INCOMPARABLE.contains(&key.as_str()));
    Value::Object(sheet)
}

/// The answer to a single profile, as far as it does not depend on where the profile stands: its sheet, and all calls
/// and the tree that DevTools draws of it.
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

/// The rows of a thread's tree without the events' indices, which are expected to change.
pub(super) fn tree(thread: &Value) -> Vec<&[Value]> {
    let rows = thread["tree"].as_array().expect("a tree").iter();
    rows.map(|row| &row.as_array().expect("a row")[..TREE_COLUMNS]).collect()
}

/// The number of items of a list that is there.
pub(super) fn count(list: &Value) -> usize {
    list.as_array().expect("a list").len()
}

#[track_caller]
pub(super) fn assert_same(what: &str, expected: &Value, got: &Value) {
    if let Some(difference) = first_difference("", expected, got) {
        panic!("{what}: {difference}");
    }
}

/// Where two values differ first, and how.
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
