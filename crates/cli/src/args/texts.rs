//! Longer texts of the help.

pub(super) const LONG_ABOUT: &str = "\
Merges, sorts, splits, slices, filters, checks and converts performance traces in Chrome Trace Event JSON, which Chrome, \
DevTools, Node, PyTorch, Bazel, clang and many others write. Traces may be far larger than any viewer opens; memory stays \
bounded.

Inputs are objects with traceEvents, arrays, one event per line, V8 CPU profiles, or several of these in a row; plain, \
gzip or zstd; files, folders or pipes. The content determines the format, not the file name. Damaged traces are read as \
far as possible, and losses are reported.";

pub(super) const AFTER_HELP: &str = "\
Exit status:
  0  complete
  1  finished, but something was lost or not found (see the warnings)
  2  wrong command line
  3  an input cannot be used, or --strict found a defect
  4  I/O error, or the memory limit is too low
  5  a limit of diff or report --fail-on is broken
  130, 143  ended by SIGINT, SIGTERM

`tracemill VERB -h` shows examples and common flags, `tracemill VERB --help` everything.";

pub(super) const MERGE_ABOUT: &str = "\
Merges any number of traces into one, sorted by time. A single input is sorted.

Events keep their bytes. Metadata events (ph M) come first, in input order, then events without a ts, then all others by \
ts; at equal ts the longer one first, then in input order. Top-level keys are kept. The output does not depend on threads, \
memory, or whether an input is a file or a pipe.

Parts of a split are merged without the events that they repeat; these are counted.

If several inputs use the same pids or ids, the later inputs are renumbered, so that viewers do not join unrelated \
processes, flows, async operations or stack frames. Rotated logs and other parts of one recording keep theirs. Only the \
bytes of the ids change; a message names the renumbered inputs, and --report has the whole map.

Inputs that state when their clocks start (baseTimeNanoseconds, beginningOfTime) are aligned exactly; --align has other \
methods.

A .cpuprofile becomes the events that V8 would have streamed, with the process and thread in its file name \
(CPU.<date>.<time>.<pid>.<tid>.<seq>.cpuprofile).

-o FILE appears when it is complete: a run that fails or is stopped leaves the old file, or none. -o FOLDER/ writes \
FOLDER/Trace-<date>T<time>.json, with the time in UTC. Inputs are mapped into memory: do not write to them meanwhile.";

pub(super) const MERGE_EXAMPLES: &str = "\
Examples:
  Merge the traces of two processes:
    tracemill merge server.json worker.json -o both.json

  CPU profiles of node --cpu-prof, for DevTools:
    tracemill merge profiles/ --for devtools -o all.json

  Sort one trace, and compress it:
    tracemill merge trace.json -o sorted.json.gz

  All files of a folder, in 512 MiB of memory, with temporary files on a fast disk:
    tracemill merge traces/ -m 512M -T /mnt/scratch -o all.json

  Thousands of files:
    find traces -name '*.json.gz' -print0 | tracemill merge --files-from - -o all.json

  Repair a trace for DevTools:
    tracemill merge trace.json --for devtools -o right.json.gz

  Two hosts whose clocks differ, aligned by their events named step:
    tracemill merge a.json b.json --align marker:step -v -o all.json

  The ranks of a distributed PyTorch job, labelled by file name:
    tracemill merge rank*.json --label-from-name 'rank([0-9]+)' --args-key correlation -o all.json

  Which inputs belong to the same recording, and which pids change?
    tracemill merge traces/ --dry-run

  Edit a merge, and repeat it:
    tracemill merge a.json b.json --write-manifest all.manifest -o all.json
    tracemill merge --manifest all.manifest -f -o all.json

  One event per line, for grep, jq and DuckDB:
    curl -s https://example.org/trace.json | tracemill merge --format ndjson | grep '\"GC\"'";

pub(super) const PROFILE_ABOUT: &str = "\
Lists the CPU profiles in traces, or writes each to a .cpuprofile.

V8 streams a CPU profile into a trace as Profile and ProfileChunk events, from a separate thread, several profiles at a \
time. Chunks are assigned to profiles by process and id, sorted and joined, across several files if needed (rotated logs \
of Node: name them all).";

pub(super) const LIST_ABOUT: &str = "\
Lists the CPU profiles in traces: process, thread, id, source, start, duration, samples, nodes, chunks and damage.

The column `order` shows in which order the chunks of a profile fit together: `both` if they are in time order, `time` or \
`input` if only that order puts every chunk after the nodes it uses, `neither` if no order does.

If the trace has an index (`tracemill index`), only the profiles and the names are read.";

pub(super) const LIST_EXAMPLES: &str = "\
Examples:
  Which threads were profiled?
    tracemill profile list trace.json

  Profiles of one process:
    tracemill profile list --pid 4711 server.json

  The number of samples of each profile:
    tracemill profile list --json trace.json | jq '.profiles[].samples'

  Profiles with more than 1000 samples:
    tracemill profile list --json trace.json | jq '.profiles[] | select(.samples > 1000)'";

pub(super) const EXTRACT_ABOUT: &str = "\
Writes each CPU profile in traces to a .cpuprofile, which DevTools, VS Code and speedscope open.

Sample times are exact; children and hitCount are filled in as V8 does; lines, trace_ids and everything else are kept. \
Files are named like those of Node: CPU.<date>.<time>.<pid>.<tid>.<seq>.cpuprofile. The date comes from the metadata of \
the trace (19700101.000000 if it has none), and the profiles of a process are numbered from 001.

If the trace has an index (`tracemill index`), only the profiles and the names are read.";

pub(super) const EXTRACT_EXAMPLES: &str = "\
Examples:
  All profiles of a trace, into a folder:
    tracemill profile extract trace.json -d profiles

  One thread, into one file:
    tracemill profile extract trace.json --tid 4711 -o main.cpuprofile

  Rotated logs of Node, where a profile spans several files:
    tracemill profile extract node_trace.*.log -d profiles

  With other file names:
    tracemill profile extract trace.json -O '{process}-{thread}-{seq}.cpuprofile'";
