//! Counts args by key: bytes and time, also for the keys of nested objects.

use super::report::Usage;
use super::table::UsageTable;
use tracemill_tokenizer::{members, unescape};

/// Adds the keys of an event's args, and the keys of objects in the args, to a table. Stops when
/// the table takes `most` bytes. `time_ns` is the event's duration. Cost: two passes over the args.
pub(super) fn note_args(
    args: &[u8],
    time_ns: u64,
    table: &mut UsageTable,
    most: u64,
    path: &mut Vec<u8>,
) {
    let mut note = |path: &[u8], (key, value): (&[u8], &[u8])| {
        if table.heap() > most {
            return;
        }
        let bytes = (value.as_ptr() as usize + value.len() - key.as_ptr() as usize) as u64;
        let row = table.row(path);
        table.add(row, &Usage { events: 1, bytes, time_ns, self_ns: 0 });
    };
    for (key, value) in object(args) {
        path.clear();
        push_key(key, path);
        note(path, (key, value));
        path.push(b'.');
        let outer = path.len();
        for (key, value) in object(value) {
            path.truncate(outer);
            push_key(key, path);
            note(path, (key, value));
        }
    }
}

fn object(value: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    value.starts_with(b"{").then(|| members(value)).into_iter().flatten()
}

fn push_key(key: &[u8], path: &mut Vec<u8>) {
    let content = key.get(1..key.len() - 1).unwrap_or_default();
    if content.contains(&b'\\') { unescape(content, path) } else { path.extend_from_slice(content) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_keys_of_two_levels() {
        let args = br#"{"data":{"a":[1,{"x":2}],"b":{"c":1}}, "\u0064ata": 5,"":{}}"#;
        let (mut table, mut path) = (UsageTable::default(), Vec::new());
        for args in [&args[..], b"[1,2]", b""] {
            note_args(args, 7, &mut table, 1 << 20, &mut path);
        }
        let all: Vec<_> = table
            .entries()
            .map(|e| {
                (String::from_utf8_lossy(e.key), e.usage.events, e.usage.bytes, e.usage.time_ns)
            })
            .collect();
        let expected = [
            ("data".into(), 2, 36 + 14, 14),
            ("data.a".into(), 1, 15, 7),
            ("data.b".into(), 1, 11, 7),
            ("".into(), 1, 5, 7),
        ];
        assert_eq!(all, expected);
    }
}
