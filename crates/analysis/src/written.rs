//! Calls of samples as X events, which any viewer draws.

use crate::query::TableRules;
use crate::rows::CallRow;
use crate::table::View;
use crate::trace::Trace;
use std::io::{self, Write};
use tracemill_core::json::{push_integer, push_string};
use tracemill_pipeline::Error;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenCalls {
    /// Calls.
    pub calls: u64,
    /// Calls whose start or end is no number: left out.
    pub untimed: u64,
}

impl Trace {
    /// Writes the calls of threads, given by their numbers, as a trace: an array of X events of category [`CALLS`](tracemill_pipeline::CALLS), one a line. Each has
    /// process and thread as the inputs write them, times in microseconds with three decimals, and in `args` url, line, column (from 0),
    /// node and sample, as far as they are known. Both ends are rounded, so calls that lie in each other still do. `window`, in microseconds
    /// on the trace's clock, leaves out calls that it does not touch.
    ///
    /// Cost: the flame chart of one thread at a time ([`Trace::track`]).
    ///
    /// # Errors
    /// What temporary files say, and what `failed` makes of what `out` says.
    pub fn write_calls(
        &self,
        threads: &[usize],
        rules: TableRules,
        window: Option<(f64, f64)>,
        out: &mut dyn Write,
        failed: impl Fn(io::Error) -> Error,
    ) -> Result<WrittenCalls, Error> {
        let mut written = WrittenCalls::default();
        let mut text = Vec::new();
        for &at in threads {
            let thread = &self.threads[at];
            if thread.model.is_none() {
                continue;
            }
            let track = self.track(thread)?;
            View::new(&track, rules).call_rows(|call| {
                if window.is_some_and(|(from, to)| call.ts + call.dur < from || call.ts > to) {
                    return Ok(());
                }
                let Some((start, end)) = nanos(call.ts).zip(nanos(call.ts + call.dur)) else {
                    written.untimed += 1;
                    return Ok(());
                };
                text.clear();
                text.extend_from_slice(if written.calls == 0 { b"[\n" } else { b",\n" });
                push_call(&call, (&thread.pid, &thread.tid), (start, end), &mut text);
                out.write_all(&text).map_err(&failed)?;
                written.calls += 1;
                Ok(())
            })?;
        }
        out.write_all(if written.calls == 0 { b"[]\n" } else { b"\n]\n" }).map_err(&failed)?;
        Ok(written)
    }
}

/// Microseconds as the nearest nanosecond; `None` if that is none of 64 bits.
fn nanos(micros: f64) -> Option<i64> {
    let nanos = (micros * 1000.0).round();
    (nanos.abs() < i64::MAX as f64).then_some(nanos as i64)
}

fn push_call(call: &CallRow<'_>, ids: (&[u8], &[u8]), (start, end): (i64, i64), out: &mut Vec<u8>) {
    let name = match call.name {
        b"" => "(anonymous)".into(),
        name => String::from_utf8_lossy(name),
    };
    out.extend_from_slice(b"{\"name\":");
    push_string(&name, out);
    out.extend_from_slice(b",\"cat\":\"v8.calls\",\"ph\":\"X\"");
    for (key, id) in [("pid", ids.0), ("tid", ids.1)] {
        if !id.is_empty() {
            out.extend_from_slice(format!(",\"{key}\":").as_bytes());
            out.extend_from_slice(id);
        }
    }
    out.extend_from_slice(b",\"ts\":");
    push_decimals(start, out);
    out.extend_from_slice(b",\"dur\":");
    push_decimals(end - start, out);
    out.extend_from_slice(b",\"args\":{\"node\":");
    push_integer(call.node, out);
    if !call.url.is_empty() {
        out.extend_from_slice(b",\"url\":");
        push_string(&String::from_utf8_lossy(call.url), out);
    }
    let sample = call.sample.map(i64::from);
    for (key, number) in [("line", call.line), ("column", call.column), ("sample", sample)] {
        if let Some(number) = number {
            out.extend_from_slice(format!(",\"{key}\":").as_bytes());
            push_integer(number, out);
        }
    }
    out.extend_from_slice(b"}}");
}

/// Nanoseconds as microseconds with three decimals.
fn push_decimals(nanos: i64, out: &mut Vec<u8>) {
    let sign = if nanos < 0 { "-" } else { "" };
    let size = nanos.unsigned_abs();
    out.extend_from_slice(format!("{sign}{}.{:03}", size / 1000, size % 1000).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_decimals() {
        let text = |nanos| {
            let mut out = Vec::new();
            push_decimals(nanos, &mut out);
            String::from_utf8(out).expect("digits")
        };
        assert_eq!([text(0), text(1_500), text(-70)], ["0.000", "1.500", "-0.070"]);
        assert_eq!((nanos(1.0004), nanos(f64::NAN), nanos(1e300)), (Some(1000), None, None));
    }

    #[test]
    fn a_call_says_what_is_known_of_it() {
        let call = CallRow {
            ts: 1.0,
            dur: 2.0,
            name: b"",
            url: b"a\"b",
            line: Some(3),
            column: None,
            node: 7,
            sample: None,
        };
        let mut out = Vec::new();
        push_call(&call, (b"1", b"\"t\""), (1000, 3000), &mut out);
        let expected = r#"{"name":"(anonymous)","cat":"v8.calls","ph":"X","pid":1,"tid":"t","ts":1.000,"dur":2.000,"args":{"node":7,"url":"a\"b","line":3}}"#;
        assert_eq!(String::from_utf8(out).expect("JSON"), expected);
    }
}
