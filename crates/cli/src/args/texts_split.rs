//! The longer texts of the help of `split`.

pub(super) const SPLIT_ABOUT: &str = "\
Splits a trace into parts, each a complete trace: by process, thread, category, time, size or number of events.

Each part is sorted like the output of merge and contains everything it needs to be shown: the metadata events that \
name its processes and threads, all top-level keys (of stackFrames only those that its events use), and whole CPU \
profiles, in the part of the thread that they profile. Every other event is in exactly one part.

Events that identify pages and workers for DevTools are in each part that has one of their processes. A part that \
continues another in time begins with the B events that are open at the cut. A CPU profile is in the part in which it \
begins.

Repeated events are marked, and each part names its trace in its key tracemill, so that a merge of all parts has each \
event once. Parts of an array therefore become objects, unless --format array is given. DevTools annotations are \
dropped.

Files appear when they are complete. Nothing is written unless all inputs can be read and no file is in the way.";

pub(super) const SPLIT_EXAMPLES: &str = "\
Examples:
  One file per thread:
    tracemill split trace.json --by tid -d threads

  Parts that DevTools can open:
    tracemill split huge.json --by size=400M -O '{stem}.{part}.json.gz'

  Ten seconds each, with a list of the parts:
    tracemill split trace.json --by time=10s -d parts --manifest list.json

  One file per process, named after it, large ones in several parts:
    tracemill split trace.json --by pid --max-size 1G -O '{process}.{pid}.{part}.{ext}'

  What would be written?
    tracemill split trace.json --by cat --dry-run";

pub(super) const BY_HELP: &str = "\
One part per pid, tid, cat, time=DUR, size=BYTES or events=N

pid: a process. tid (or pid,tid): a thread of a process. cat: the first category of an event. time=DUR: an interval, \
counted from the first event (a bare number is µs; ns us ms s m h). size=BYTES: at most so many bytes before packing \
(K, M and G are powers of 1024), unless a single event is larger. events=N: at most N events; metadata and repeated \
events do not count.";

pub(super) const TEMPLATE_HELP: &str = "\
Template of the file names [default: {stem}.{pid}.{tid}.{ext}, {stem}.{part}.{ext} and the like]

Fields: {stem} (of the first input's name), {ext} (json or ndjson, with .gz or .zst) and {part} (001, 002, …); with \
--by pid or tid also {pid} and {process}; with --by tid {tid} and {thread}; with --by cat {cat}. Characters that file \
names cannot contain become _. A name that ends in .gz or .zst compresses the parts.";
