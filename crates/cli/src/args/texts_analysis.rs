//! Texts of the help of `top`, `tree` and `calls`.

pub(super) const TOP_ABOUT: &str = "\
Says where the time goes: functions and events by self time, with the numbers of the Bottom-up tab of DevTools.

Reads Chrome and Node traces, .cpuprofile files, and any trace with complete (X) or begin and end (B, E) events: \
PyTorch, Bazel, clang. CPU profiles become the calls that DevTools draws; each lasts until the next sample says \
otherwise. Several inputs make one table, with one row for calls of the same function, URL, line and column; --per \
thread makes a table for each thread. Where inputs share pids, or their clocks differ, top decides as merge does.

self is the time in which nothing below an event is open; total is its whole time, in which calls of itself do not \
count again; percentages are of the time in which anything is open but (idle). In web traces events that DevTools does not draw \
do not count, unless --all-events is given.

Sums are doubles, added up in the same order as in DevTools: for one thread they are its numbers, to the last bit \
(--json has all of them). Where DevTools has a defect the numbers here are right; --like panel has the defect too.";

pub(super) const TOP_EXAMPLES: &str = "\
Examples:
  What is slow in this trace?
    tracemill top trace.json.gz

  The ten hottest functions of a folder of CPU profiles:
    tracemill top -n 10 profiles/

  Of the main thread between two times, as a table for an issue:
    tracemill top --main --from 100ms --to 200ms --markdown server.json

  Which package takes the time?
    tracemill top --group-by package profiles/

  Time by script, for a spreadsheet:
    tracemill top --group-by url --csv server.json > urls.csv";

pub(super) const TREE_ABOUT: &str = "\
Shows the call tree of each thread, or its bottom-up tree or event log, with the numbers of DevTools.

Rows, ids, times and order are those of the tabs Call tree, Bottom-up and Event log, to the last bit (--json has all \
of them). CPU profiles become the calls that DevTools draws. The log lists events and calls by start, with the key \
by which DevTools knows them.

--peek NAME lists the callers of a function and what it calls; --heaviest shows the one path that takes most time. \
--per all makes one tree of all threads and inputs. Where inputs share pids, or their clocks differ, tree decides as \
merge does.

Times of --from and --to are microseconds, or have a unit: ns us ms s m h; they count from the start of the trace, \
with @ they are as written in it. Of an event that crosses an edge of the window the part inside counts.";

pub(super) const TREE_EXAMPLES: &str = "\
Examples:
  Who calls what, on the main thread:
    tracemill tree --main server.json

  What takes time, and who calls that:
    tracemill tree --bottom-up --main server.json

  All threads and profiles as one tree, two levels deep:
    tracemill tree --per all --depth 2 profiles/

  What happened in twenty milliseconds:
    tracemill tree --log --main --from 60ms --duration 20ms server.json

  Only while garbage is collected:
    tracemill tree --during GC server.json

  The path on which most time is spent:
    tracemill tree --heaviest --per all profiles/

  Folded stacks of the main thread, for flamegraph.pl or inferno:
    tracemill tree --main server.json -o main.folded

  For d3-flame-graph and others that draw hierarchies:
    tracemill tree --json=nested --main server.json -o main.json

  The same numbers as DevTools, in CI:
    tracemill tree --json --like panel server.json | jq '.parts | length'";

pub(super) const CALLS_ABOUT: &str = "\
Writes the trace with each call that DevTools makes of the samples of CPU profiles as a complete event (X), so that \
Perfetto, speedscope and chrome://tracing show the flame chart of DevTools.

Events of the inputs keep their bytes and are sorted as by merge --pid keep --ids keep --align none. A call has the \
category v8.calls, the name of its function or (anonymous), times with three decimals, and in args url, line and \
column (from 0), the profile's node and the sample. --pid, --tid, --main, --from, --to and --duration choose threads \
and time for the calls; all events stay.

The samples stay too: top, tree and calls use these and leave out the calls that were written. DevTools itself would \
show both, so give it the original trace.

With --rows no trace is written but the flame chart of each thread, one JSON array per line, depth first: depth, \
\"P\" for a call from samples or \"E\" for an event, its name, start, duration and self time in microseconds, and \
the key by which DevTools knows it. An object that names the thread stands before its rows.";

pub(super) const CALLS_EXAMPLES: &str = "\
Examples:
  The flame chart of DevTools in Perfetto:
    tracemill calls server.json -o server.calls.json.gz

  The same without the samples:
    tracemill calls server.json | tracemill filter --name ^Profile --invert -o flame.json.gz

  Calls longer than a millisecond:
    tracemill calls --rows server.json | jq -c 'select(.[1]? == \"P\" and .[4] > 1000)' | head";
