//! Several inputs as one trace: what is one that was not is said.

use crate::support::open_all;
use std::fmt::Write;

/// A trace of a process, with so many threads, from a time on.
fn process(pid: u32, name: &str, from: u32) -> String {
    let mut text = format!(
        r#"[{{"ph":"M","name":"process_name","pid":{pid},"tid":0,"args":{{"name":"{name}"}}}}"#
    );
    for at in 0..20 {
        let ts = from + at * 10;
        write!(text, ",\n{{\"ph\":\"X\",\"name\":\"{name} {at}\",\"pid\":{pid},\"tid\":1,\"ts\":{ts},\"dur\":7}}").unwrap();
    }
    text + "]"
}

#[test]
fn processes_that_a_merge_keeps_apart_are_named() {
    let opened = open_all(&[&process(7, "a", 0), &process(7, "b", 5), &process(8, "c", 0)]);
    let said = opened.site.joined().expect("pid 7 is two processes");
    for part in ["0.json and ", "1.json both have pid 7: shown as one process; "] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(said.ends_with("; merge them first"), "{said}");
    assert!(opened.site.words().ends_with("2.json"), "{}", opened.site.words());
    assert_eq!(opened.json("api/trace")["joined"], said);
}

#[test]
fn what_a_merge_leaves_as_it_is_needs_no_word() {
    let one = open_all(&[&process(7, "a", 0)]);
    assert_eq!(
        (one.site.joined(), &one.json("api/trace")["joined"]),
        (None, &serde_json::Value::Null)
    );
    let two = open_all(&[&process(7, "a", 0), &process(8, "b", 5)]);
    assert_eq!(two.site.joined(), None);
}

#[test]
fn clocks_that_a_merge_moves_are_named() {
    let of = |base: u64, pid| {
        format!(r#"{{"baseTimeNanoseconds":{base},"traceEvents":{}}}"#, process(pid, "a", 1000))
    };
    let said = open_all(&[&of(5_000_000_000, 7), &of(9_000_000_000, 8)]).site.joined();
    let said = said.expect("one clock is four seconds off");
    assert!(said.contains(".json has a clock of its own: its times are shown as they"), "{said}");
    let same = [of(5_000_000_000, 7), of(5_000_000_000, 8)];
    assert_eq!(open_all(&[&same[0], &same[1]]).site.joined(), None);
}
