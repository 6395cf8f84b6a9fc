//! The longer texts of the help of `check`.

pub(super) const CHECK_ABOUT: &str = "\
Says what is wrong with a trace: no events, text that is not JSON or not UTF-8 (each such event), wrong order, B and E \
that do not pair or nest, X events and pairs that overlap on one thread, async events and flows without their other end, ids that \
clash, numbers in quotes or too long for viewers, missing fields, CPU profiles that do not fit together.

Each finding has a severity. error: a reader will fail, or show it wrong; warning: some readers will; note: allowed \
and harmless. It comes with its count, its first places, and what to do about it. The last line is the verdict, which \
names the viewers that mind. Order is a note, since viewers sort; with --strict it counts.

--for asks another question: does this viewer open the trace and show it right? Whatever the viewer leaves out by \
itself is only a note then, so that a sound fresh recording passes.

Several inputs are judged together, as merge would see them, except for the order of events. Times are compared in \
whole nanoseconds where events pair and nest, and to the last digit where their order is checked. The status is 1 if \
there is an error or a warning.";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  Is this trace sound?
    tracemill check trace.json

  Will DevTools open it, and show it right?
    tracemill check --for devtools trace.json.gz

  In a script: only the status
    tracemill check -q trace.json || echo 'look at it'

  All kinds of errors, one per line:
    tracemill check --json trace.json | jq -r '.findings[] | select(.severity == \"error\") | .kind'";
