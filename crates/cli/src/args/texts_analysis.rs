//! Texts of the help of `top`, `tree` and `calls`.

pub(super) const TOP_ABOUT: &str = "\
Shows where the time goes: functions and events by self time, with the numbers of DevTools' Bottom-up tab.

Reads Chrome and Node traces, .cpuprofile files, and any trace with complete (X) or begin and end (B, E) events: PyTorch, \
Bazel, clang. CPU profiles become the calls that DevTools draws: each sample lasts until the next one. Several inputs make \
one table, with one row for all calls of the same function, URL, line and column; --per thread makes one table per thread. \
Pids and clocks of several inputs are handled like in merge.

self is the time without nested events; total is the whole time, in which recursive calls count once; percentages are of \
the busy time, in which any event other than (idle) is open. In web traces events that DevTools does not draw do not count, \
unless --all-events is given.

Sums are doubles, added in the order of DevTools: for one thread they are its numbers to the last bit (--json has all \
bits). Where DevTools has a defect the numbers here are correct; --like panel reproduces the defect.";

pub(super) const TOP_EXAMPLES: &str = "\
Examples:
  What is slow in this trace?
    tracemill top trace.json.gz

  The ten hottest functions of a folder of CPU profiles:
    tracemill top -n 10 profiles/

  Which package takes the time?
    tracemill top --group-by package profiles/

  The main thread between two times, as a table for an issue:
    tracemill top --main --from 100ms --to 200ms --markdown server.json

  Time by script, for a spreadsheet:
    tracemill top --group-by url --csv server.json > urls.csv

  Marks, measures and timers of a page:
    tracemill top --track timings trace.json.gz";

pub(super) const TREE_ABOUT: &str = "\
Shows the call tree of each thread, its bottom-up tree or its event log, with the numbers of DevTools.

Rows, ids, times and order are those of the tabs Call tree, Bottom-up and Event log, to the last bit (--json has all bits). \
CPU profiles become the calls that DevTools draws. The log lists events and calls by start, with their keys in DevTools.

--peek NAME lists the callers and callees of a function; --heaviest shows the path with the most time. --per all makes one \
tree of all threads and inputs. Pids and clocks of several inputs are handled like in merge.

Times of --from and --to are microseconds, or have a unit: ns us ms s m h. They count from the trace start; @T is a \
timestamp of the trace. An event that crosses an edge of the window counts with its part inside.";

pub(super) const TREE_EXAMPLES: &str = "\
Examples:
  Who calls what, on the main thread:
    tracemill tree --main server.json

  The most expensive functions, and their callers:
    tracemill tree --bottom-up --main server.json

  The path with the most time:
    tracemill tree --heaviest --per all profiles/

  All threads and profiles as one tree, two levels deep:
    tracemill tree --per all --depth 2 profiles/

  The events of 20 milliseconds:
    tracemill tree --log --main --from 60ms --duration 20ms server.json

  Only while garbage is collected:
    tracemill tree --during GC server.json

  Folded stacks of the main thread, for flamegraph.pl or inferno:
    tracemill tree --main server.json -o main.folded

  For d3-flame-graph and other programs that draw hierarchies:
    tracemill tree --json=nested --main server.json -o main.json

  The numbers of DevTools, in CI:
    tracemill tree --json --like panel server.json | jq '.parts | length'";

pub(super) const CALLS_ABOUT: &str = "\
Writes the trace with function calls as X events: DevTools derives these calls from CPU samples. Perfetto, speedscope and \
chrome://tracing then show the flame chart of DevTools.

Events of the inputs keep their bytes and are sorted like by merge --pid keep --ids keep --align none. A call has the \
category v8.calls, the name of its function or (anonymous), times with three decimals, and in args url, line and column \
(from 0), the node of the profile and the sample. --pid, --tid, --main, --from, --to and --duration select threads and time \
for the calls; all events stay.

The samples stay too: top, tree and calls use these and ignore the written calls. DevTools would show both, so give it the \
original trace.

--rows writes the flame chart of each thread instead of a trace, one JSON array per line, depth first: depth, \"P\" for a \
call from samples or \"E\" for an event, its name, start, duration and self time in microseconds, and its key in DevTools. \
An object that names the thread comes before its rows.";

pub(super) const CALLS_EXAMPLES: &str = "\
Examples:
  The flame chart of DevTools in Perfetto:
    tracemill calls server.json -o server.calls.json.gz

  Only the calls of the main thread:
    tracemill calls --main server.json -o main.calls.json.gz

  The rows of the flame chart, one per line:
    tracemill calls --rows server.json | head

  The same without the samples:
    tracemill calls server.json | tracemill filter --name ^Profile --invert -o flame.json.gz

  Calls longer than a millisecond:
    tracemill calls --rows server.json | jq -c 'select(.[1]? == \"P\" and .[4] > 1000)' | head";
