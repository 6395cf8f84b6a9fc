//! The longer texts of the help of `split`.

pub(super) const SPLIT_ABOUT: &str = "\
Splits a trace into parts that are traces of their own: by process, thread, category, time, size or number of events.

Each part is sorted as merge sorts, and has what it needs to be shown: the metadata events that name its processes and \
threads, all keys beside traceEvents (of stackFrames those that its events name), and CPU profiles whole, with the \
thread that they are of, whichever thread wrote them. All other events are in one part each.

Events by which DevTools knows pages and workers are in each part that has a process of theirs. Where parts are stretches of \
time, B events that are open at a cut are repeated at the start of the next part, and a CPU profile is in the part in which it begins.

Each part says in its key tracemill of which trace it is and what it repeats, by which merge makes that trace of them again. \
So parts of an array are objects, unless --format array is given; then nothing is repeated.

Files appear when they are complete. Nothing is written unless all inputs could be read and no file is in the way.";

pub(super) const SPLIT_EXAMPLES: &str = "\
Examples:
  One file for each thread:
    tracemill split trace.json --by tid -d threads

  Pieces that DevTools can open:
    tracemill split huge.json --by size=400M -O '{stem}.{part}.json.gz'

  Ten seconds each, with a list of what is where:
    tracemill split trace.json --by time=10s -d parts --manifest parts/index.json

  Processes by their names, large ones in pieces:
    tracemill split trace.json --by pid --max-size 1G -O '{process}.{pid}.{part}.{ext}'

  What would be written?
    tracemill split trace.json --by cat --dry-run";

pub(super) const BY_HELP: &str = "\
What makes a part

pid: a process. tid (or pid,tid): a thread of a process. cat: the first of an event's categories. time=DUR: a stretch of \
time, counted from the first event (a bare number is µs; ns us ms s m h). size=BYTES: at most so many before packing (K, M \
and G are powers of 1024), unless one event is larger. events=N: at most so many, metadata and repeated ones not counted.";

pub(super) const TEMPLATE_HELP: &str = "\
Names of the parts [default: {stem}.{pid}.{tid}.{ext}, {stem}.{part}.{ext} and the like]

There are {stem} (of the first input's name), {ext} (json or ndjson, and .gz or .zst) and {part} (001, 002, …); with --by pid \
or tid {pid} and {process}; with --by tid {tid} and {thread}; with --by cat {cat}. Characters that do not belong into \
names become _. An ending in .gz or .zst packs the parts.";
