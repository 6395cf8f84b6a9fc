//! The longer texts of the help of `check`.

pub(super) const CHECK_ABOUT: &str = "\
Finds what is wrong with a trace: no events, text that is not JSON or not UTF-8 (each such event), wrong order, B and E \
that do not pair or nest, X events and pairs that overlap on one thread, async events and flows without their other end, \
clashing ids, numbers in quotes or too long for viewers, missing fields, inconsistent CPU profiles.

Each finding has a severity. error: a reader will fail or show it incorrectly; warning: some readers will; note: allowed \
and harmless. It comes with a count, its first places, and a suggestion. The last line is the verdict, which names the \
affected viewers. Wrong order is a note, since viewers sort; with --strict it is a warning.

--for asks another question: does this viewer open the trace and show it correctly? Anything that the viewer ignores is \
only a note then, so that a sound recording passes.

Several inputs are checked together, as merge would see them, except for the order of events. Pairs and nesting are \
compared in whole nanoseconds, the order to the last digit. The status is 1 if there is an error or a warning.";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  Is this trace sound?
    tracemill check trace.json

  Will DevTools open it, and show it correctly?
    tracemill check --for devtools trace.json.gz

  In a script: only the status:
    tracemill check -q trace.json || echo 'see the findings'

  All kinds of errors, one per line:
    tracemill check --json trace.json | jq -r '.findings[] | select(.severity == \"error\") | .kind'";
