//! The longer texts of the help of `split`.

pub(super) const SPLIT_ABOUT: &str = "\
Splits a trace into parts that are traces of their own: by process, thread, category, time, size or number of events.

Each part is sorted as merge sorts it, and has all it needs to be shown: the metadata events that name its processes \
and threads, all keys beside traceEvents (of stackFrames only those that its events use), and whole CPU profiles, \
with the thread they belong to, whichever thread wrote them. Every other event is in exactly one part.

Events by which DevTools knows pages and workers are in each part that has one of their processes. Where a part follows another in time, it begins with the B events that are open at the cut; a CPU profile is in the part in which it begins.

Repeated events are marked, and each part says in its key tracemill which trace it comes from, so that a merge of all \
parts has each event once. Parts of an array therefore become objects, unless --format array is given. DevTools \
annotations are left out.

Files appear when they are complete. Nothing is written unless all inputs can be read and no file is in the way.";

pub(super) const SPLIT_EXAMPLES: &str = "\
Examples:
  One file for each thread:
    tracemill split trace.json --by tid -d threads

  Pieces that DevTools can open:
    tracemill split huge.json --by size=400M -O '{stem}.{part}.json.gz'

  Ten seconds each, with a list of what is in which file:
    tracemill split trace.json --by time=10s -d parts --manifest parts/index.json

  One file per process, named after it, large ones in pieces:
    tracemill split trace.json --by pid --max-size 1G -O '{process}.{pid}.{part}.{ext}'

  What would be written?
    tracemill split trace.json --by cat --dry-run";

pub(super) const BY_HELP: &str = "\
What makes a part

pid: a process. tid (or pid,tid): a thread of a process. cat: the first category of an event. time=DUR: a stretch of \
time, counted from the first event (a bare number is µs; ns us ms s m h). size=BYTES: at most so many bytes before \
packing (K, M and G are powers of 1024), unless one event is larger. events=N: at most N events; metadata and \
repeated events do not count.";

pub(super) const TEMPLATE_HELP: &str = "\
Names of the parts [default: {stem}.{pid}.{tid}.{ext}, {stem}.{part}.{ext} and the like]

Fields are {stem} (of the first input's name), {ext} (json or ndjson, with .gz or .zst) and {part} (001, 002, …); \
with --by pid or tid also {pid} and {process}; with --by tid {tid} and {thread}; with --by cat {cat}. Characters \
that cannot be in a name become _. A name that ends in .gz or .zst packs the parts.";
