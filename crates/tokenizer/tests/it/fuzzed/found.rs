//! Inputs that the fuzzer found, with their cause. Every input runs through every target.

/// Description and bytes of each input.
#[rustfmt::skip]
pub(super) const FOUND: &[(&str, &[u8])] = &[
    ("two commas in an event: whoever looked at it again saw no field behind them", b"[{\"ph\":\"X\",,\"args\":{}}]"),
    ("text before the first key of a document vanished", b"{\"trace{EventM\",\"name\":s"),
    ("text behind the events vanished", b"{\"traceEvents\":[{\"ph\":\"X\"}] 12,\"a\":1}"),
    ("a colon without a key vanished", b"{\"traceEvents\":[],:5}"),
    ("a string with a colon on both sides was value and key", b"{\"traceEvents\":[],\"a\":\"b\":2}"),
    ("text behind the keys in the first line of NDJSON vanished", b"{\"tracemill\":{\"a\":1},2}\n{\"ph\":\"X\"}\n"),
    ("two commas among those keys: the rest vanished", b"{\"tracemill\":{\"a\":1,,\"b\":2}}\n{\"ph\":\"X\"}\n"),
    ("a brace right behind the events panicked, if what stood before it was gone", b"{{\"ph\":\"M\",\"name\":0}]{"),
    ("without the line break a quote touched a number, and two numbers were one", b"[{\"ph\":1\n\"ts\":5},{\"ts\":1\n2}]"),
];
