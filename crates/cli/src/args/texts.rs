//! The longer texts of the help.

pub(super) const LONG_ABOUT: &str = "\
Merges, sorts, splits, slices, filters, checks and converts performance traces in Chrome Trace Event JSON (Chrome, \
DevTools, Node, PyTorch, Bazel, clang and many more write it), far larger than any viewer can open, at the speed of \
copying them, in bounded memory.

Inputs may be objects with traceEvents, arrays, one event per line, V8 CPU profiles, or several of these in a row; \
plain, gzip or zstd; files, folders or pipes. Their content says what they are, not their name. Damaged traces are \
read as far as possible, and what is lost is reported.";

pub(super) const AFTER_HELP: &str = "\
Exit status:
  0  complete
  1  finished, but something was lost or not found (the warnings say what)
  2  wrong command line
  3  an input cannot be used, or --strict met a defect
  4  the system failed, or the memory budget is too small
  5  a limit of diff --fail-on was broken
  130, 143  ended by SIGINT, SIGTERM

`tracemill VERB --help` has examples.";

pub(super) const MERGE_ABOUT: &str = "\
Merges any number of traces into one, sorted by time. A single input is sorted.

Events keep the bytes they were read with. Metadata events (ph M) come first, in input order, then events without a \
ts, then all others by ts; at equal ts the longer one first, then in input order. Keys beside traceEvents survive. \
The output does not depend on threads, memory, or whether an input is a file or a pipe.

Of parts that split made, each event is written once: what they repeat is left out, and counted.

If several inputs use the same pids or ids, the later ones get new numbers, so that a viewer does not join \
processes, flows, async operations or stack frames that have nothing to do with each other. Rotated logs and other \
parts of one recording keep theirs. Only the bytes of the ids change; a message says what got new numbers, and \
--report has the whole map.

Inputs that say when their times begin to count (baseTimeNanoseconds, beginningOfTime) are put on one time line, \
exactly; --align has other ways.

A .cpuprofile becomes the events that V8 would have streamed, of the process and thread in its name \
(CPU.<date>.<time>.<pid>.<tid>.<seq>.cpuprofile).

-o FILE appears when it is complete: a run that fails or is stopped leaves the old file, or none. Inputs are mapped \
into memory: let their writers finish first.";

pub(super) const MERGE_EXAMPLES: &str = "\
Examples:
  Merge the traces of two processes:
    tracemill merge server.json worker.json -o both.json

  Sort one trace, and pack it for DevTools:
    tracemill merge trace.json -o sorted.json.gz

  All files of a folder, in 512 MiB of memory, spilling to a fast disk:
    tracemill merge traces/ -m 512M -T /mnt/scratch -o all.json

  Thousands of files:
    find traces -name '*.json.gz' -print0 | tracemill merge --files-from - -o all.json

  The CPU profiles of a Node program and its workers (node --cpu-prof), as one trace for DevTools:
    tracemill merge profiles/ --for devtools -o all.json

  A trace that DevTools shows wrongly, mended:
    tracemill merge trace.json --for devtools -o right.json.gz

  Two hosts whose clocks differ, aligned by their events named step:
    tracemill merge a.json b.json --align marker:step -v -o all.json

  The ranks of a distributed PyTorch job, each with its name:
    tracemill merge rank*.json --label-from-name 'rank([0-9]+)' --args-key correlation -o all.json

  Which inputs belong to one recording, and which pids change?
    tracemill merge traces/ --dry-run

  A merge to be edited and repeated:
    tracemill merge a.json b.json --write-manifest all.manifest -o all.json
    tracemill merge --manifest all.manifest -f -o all.json

  One event per line, for grep, jq and DuckDB:
    curl -s https://example.org/trace.json | tracemill merge --format ndjson | grep '\"GC\"'";

pub(super) const PROFILE_ABOUT: &str = "\
Works with the CPU profiles in traces: lists them, or writes each to a .cpuprofile.

V8 streams a CPU profile into a trace in pieces (Profile and ProfileChunk events), from a thread of its own, several \
at a time. The pieces are told apart by process and id, put in order and joined again, across several files if need \
be (rotated logs of Node: name them all).";

pub(super) const LIST_ABOUT: &str = "\
Lists the CPU profiles in traces: process, thread, id, source, start, duration, samples, nodes, chunks, and what is \
wrong.

The column `order` says how the chunks of a profile were put together: `both` if they stand in time order, `time` or \
`input` if only that order puts every chunk after the nodes it uses, `neither` if no order does.

If the trace has an index (`tracemill index`), only the profiles and the names are read.";

pub(super) const LIST_EXAMPLES: &str = "\
Examples:
  Which threads were profiled?
    tracemill profile list trace.json

  Those with more than 1000 samples:
    tracemill profile list --json trace.json | jq '.profiles[] | select(.samples > 1000)'";

pub(super) const EXTRACT_ABOUT: &str = "\
Writes each CPU profile in traces to a .cpuprofile of its own, which DevTools, VS Code and speedscope open.

Sample times are exact; children and hitCount are filled in as V8 does; lines, trace_ids and everything else are \
kept. Files are named as Node names them: CPU.<date>.<time>.<pid>.<tid>.<seq>.cpuprofile. The date comes from the \
trace's metadata (19700101.000000 if it has none), and the profiles of a process are counted from 001.

If the trace has an index (`tracemill index`), only the profiles and the names are read.";

pub(super) const EXTRACT_EXAMPLES: &str = "\
Examples:
  All profiles of a trace, into a folder:
    tracemill profile extract trace.json -d profiles

  One thread, into a pipe:
    tracemill profile extract trace.json --pid 4711 --tid 4711 -o - | gzip > main.cpuprofile.gz

  Rotated logs of Node, where a profile spans several files:
    tracemill profile extract node_trace.*.log -d profiles

  With names of your own:
    tracemill profile extract trace.json -O '{process}-{thread}-{seq}.cpuprofile'";
