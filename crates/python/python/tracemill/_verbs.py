"""The verbs of the command as functions. Made by generate.py of the command's flags: do not edit."""

from __future__ import annotations

from typing import Iterable, Literal

from ._run import Inputs, Progress, Report, StrPath, Value, run, run_sides


def info(
    inputs: Inputs,
    *,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    index: Value | None = None,
    full: bool = False,
    top: int | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Say what is in a trace: times, gaps, threads, what takes bytes and time, damage.

    As ``tracemill info``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        index (auto|never|FILE): Whether to ask the index of a trace instead of reading it: auto
            (where it can answer), never, or FILE.
        full: Also everything else, with self times of threads and names, and keys of args;
            takes three times as long.
        top (N): Also everything else except those, with N rows in each list of names and of
            gaps [default: 10].
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "index": index, "full": full,
        "top": top, "threads": threads, "memory": memory, "tmp_dir": tmp_dir
    }
    return run("info", inputs, options, "--json", progress)


def merge(
    inputs: Inputs,
    *,
    output: StrPath,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    index: Value | None = None,
    for_: Literal["devtools", "perfetto"] | None = None,
    overlaps: Literal["keep", "spill", "clip"] | None = None,
    pid: Literal["auto", "keep", "offset", "one"] | None = None,
    ids: Literal["auto", "keep"] | None = None,
    args_key: Value | Iterable[Value] | None = None,
    label: Value | Iterable[Value] | None = None,
    label_from_name: Value | None = None,
    dedup_metadata: bool = False,
    provenance: bool = False,
    manifest: StrPath | None = None,
    write_manifest: StrPath | None = None,
    align: Value | None = None,
    offset: Value | Iterable[Value] | None = None,
    scale: Value | Iterable[Value] | None = None,
    dry_run: bool = False,
    force: bool = False,
    compress: Literal["gz", "zst", "none"] | None = None,
    level: int | None = None,
    format: Literal["object", "array", "ndjson"] | None = None,
    repair: bool = False,
    write_index: bool = False,
    threads: int | None = None,
    memory: Value | None = None,
    sync: bool = False,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Merge traces into one, sorted by time; sorts a single one.

    As ``tracemill merge``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        index (auto|never|FILE): Whether the index of a trace says which parts of it to read:
            auto (where it can), never, or FILE.
        for_ (VIEWER): Change what a viewer stumbles over, so that it opens the output and shows
            it right.
        overlaps (RULE): What to do with X events that begin inside another X of their thread
            and end after it [default: spill for perfetto, keep for devtools].
        pid (RULE): What to do with a pid that several inputs have.
        ids (RULE): What to do with ids of async operations and flows that several inputs have.
        args_key (NAME): Treat the values of NAME in args as ids too, such as "External id" and
            correlation of PyTorch.
        label (FILE=TEXT): Call the processes of an input TEXT, and show them in the order of
            the inputs.
        label_from_name (REGEX): Name processes after their inputs: by what the first group of
            REGEX matches in the path.
        dedup_metadata: Write metadata events (ph M) that are equal to the byte only once.
        provenance: Write to metadata.tracemill of the output what the inputs were and what was
            renamed.
        manifest (FILE): Read inputs, their labels and new pids from FILE, as --write-manifest
            wrote them.
        write_manifest (FILE): Write inputs, their labels and new pids to FILE (JSON), to be
            edited and used for another merge.
        align (METHOD): Move the inputs onto the clock of the first one: auto, none, start,
            base-time, marker:NAME, clock-sync.
        offset (FILE=TIME): Add TIME to the times of an input, on top of what --align finds:
            +1.5ms, -20us; a bare number is µs.
        scale (FILE=FACTOR): Multiply the times and durations of an input by a decimal, before
            anything is added.
        dry_run: Say which inputs are one recording, what would get new names and whose times
            would move, and write only the manifest, if one is asked for.
        output (FILE): Write to FILE, which appears when it is complete; - is standard output
            [default: -].
        force: Replace files that exist.
        compress (CODEC): How to pack the output [default: by the name of -o: .gz, .zst].
        level (N): How hard to pack: gz 0 to 9 [default: 6], zst 1 to 19 [default: 3].
        format (FORM): Form of the output [default: that of the first input].
        repair: Mend text that is not JSON, where it is clear what was meant.
        write_index: Write an index beside each trace that is written, as `tracemill index`
            does.
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        sync: Wait until the output is on disk, so that it survives a power cut.
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "index": index, "for_": for_,
        "overlaps": overlaps, "pid": pid, "ids": ids, "args_key": args_key, "label": label,
        "label_from_name": label_from_name, "dedup_metadata": dedup_metadata, "provenance": provenance,
        "manifest": manifest, "write_manifest": write_manifest, "align": align, "offset": offset,
        "scale": scale, "dry_run": dry_run, "output": output, "force": force, "compress": compress,
        "level": level, "format": format, "repair": repair, "write_index": write_index, "threads":
        threads, "memory": memory, "sync": sync, "tmp_dir": tmp_dir
    }
    return run("merge", inputs, options, "--report=-", progress)


def slice(
    inputs: Inputs,
    *,
    output: StrPath,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    index: Value | None = None,
    from_: Value | None = None,
    to: Value | None = None,
    duration: Value | None = None,
    head: Value | None = None,
    tail: Value | None = None,
    window: Value | Iterable[Value] | None = None,
    around: Value | None = None,
    margin: Value | None = None,
    nth: Value | None = None,
    edges: Literal["clip", "keep", "drop"] | None = None,
    force: bool = False,
    compress: Literal["gz", "zst", "none"] | None = None,
    level: int | None = None,
    format: Literal["object", "array", "ndjson"] | None = None,
    repair: bool = False,
    write_index: bool = False,
    for_: Literal["devtools", "perfetto"] | None = None,
    overlaps: Literal["keep", "spill", "clip"] | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    sync: bool = False,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Write a window of time as a trace that still renders.

    As ``tracemill slice``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        index (auto|never|FILE): Whether the index of a trace says which parts of it to read:
            auto (where it can), never, or FILE.
        from_ (T): Begin at T: after the start of the trace, or @T as it stands in it [default:
            its start].
        to (T): End before T [default: the end of the trace].
        duration (TIME): End this long after --from.
        head (TIME): The first TIME of the trace.
        tail (TIME): The last TIME of the trace, up to the end of its last event.
        window (A..B): From A to before B, each as in --from; either may be left out; A-B is the
            same.
        around (NAME): Around the longest event with this name, or with one that /REGEX/
            matches; the inputs are read twice.
        margin (TIME): Time to keep before and after the event of --around [default: 5ms].
        nth (N): The Nth event of that name by time, counted from 1, instead of the longest.
        edges (RULE): What to do with events that cross an edge.
        output (FILE): Write to FILE, which appears when it is complete; - is standard output
            [default: -].
        force: Replace files that exist.
        compress (CODEC): How to pack the output [default: by the name of -o: .gz, .zst].
        level (N): How hard to pack: gz 0 to 9 [default: 6], zst 1 to 19 [default: 3].
        format (FORM): Form of the output [default: that of the first input].
        repair: Mend text that is not JSON, where it is clear what was meant.
        write_index: Write an index beside each trace that is written, as `tracemill index`
            does.
        for_ (VIEWER): Change what a viewer stumbles over, so that it opens the output and shows
            it right.
        overlaps (RULE): What to do with X events that begin inside another X of their thread
            and end after it [default: spill for perfetto, keep for devtools].
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        sync: Wait until the output is on disk, so that it survives a power cut.
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "index": index, "from_": from_,
        "to": to, "duration": duration, "head": head, "tail": tail, "window": window, "around": around,
        "margin": margin, "nth": nth, "edges": edges, "output": output, "force": force, "compress":
        compress, "level": level, "format": format, "repair": repair, "write_index": write_index,
        "for_": for_, "overlaps": overlaps, "threads": threads, "memory": memory, "sync": sync,
        "tmp_dir": tmp_dir
    }
    return run("slice", inputs, options, "--report=-", progress)


def split(
    inputs: Inputs,
    *,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    by: Value | None = None,
    max_size: Value | None = None,
    dry_run: bool = False,
    dir: StrPath | None = None,
    template: Value | None = None,
    force: bool = False,
    manifest: StrPath | None = None,
    compress: Literal["gz", "zst", "none"] | None = None,
    level: int | None = None,
    format: Literal["object", "array", "ndjson"] | None = None,
    repair: bool = False,
    write_index: bool = False,
    for_: Literal["devtools", "perfetto"] | None = None,
    overlaps: Literal["keep", "spill", "clip"] | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    sync: bool = False,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Split a trace into parts by process, thread, category, time or size.

    As ``tracemill split``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        by (WHAT): What makes a part: pid, tid, cat, time=DUR, size=BYTES or events=N.
        max_size (SIZE): Cut the parts of --by pid or tid further, at SIZE before packing.
        dry_run: Say what would be written, and write only the manifest, if one is asked for.
        dir (DIR): Write the parts to DIR, which is created if it does not exist [default: .].
        template (TEMPLATE): Names of the parts, such as {stem}.{pid}.{tid}.{ext}.
        force: Replace files that exist.
        manifest (FILE): Write a list of the parts as JSON to FILE; - is standard output.
        compress (CODEC): How to pack the output [default: by the name of -o: .gz, .zst].
        level (N): How hard to pack: gz 0 to 9 [default: 6], zst 1 to 19 [default: 3].
        format (FORM): Form of the output [default: that of the first input].
        repair: Mend text that is not JSON, where it is clear what was meant.
        write_index: Write an index beside each trace that is written, as `tracemill index`
            does.
        for_ (VIEWER): Change what a viewer stumbles over, so that it opens the output and shows
            it right.
        overlaps (RULE): What to do with X events that begin inside another X of their thread
            and end after it [default: spill for perfetto, keep for devtools].
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        sync: Wait until the output is on disk, so that it survives a power cut.
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "by": by, "max_size": max_size,
        "dry_run": dry_run, "dir": dir, "template": template, "force": force, "manifest": manifest,
        "compress": compress, "level": level, "format": format, "repair": repair, "write_index":
        write_index, "for_": for_, "overlaps": overlaps, "threads": threads, "memory": memory, "sync":
        sync, "tmp_dir": tmp_dir
    }
    return run("split", inputs, options, "--report=-", progress)


def filter(
    inputs: Inputs,
    *,
    output: StrPath,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    index: Value | None = None,
    pid: Value | Iterable[Value] | None = None,
    tid: Value | Iterable[Value] | None = None,
    process: Value | Iterable[Value] | None = None,
    thread: Value | Iterable[Value] | None = None,
    ph: Value | Iterable[Value] | None = None,
    cat: Value | Iterable[Value] | None = None,
    name: Value | Iterable[Value] | None = None,
    ignore_case: bool = False,
    min_dur: Value | None = None,
    max_dur: Value | None = None,
    from_: Value | None = None,
    to: Value | None = None,
    drop: Literal["network", "gpu", "animation", "threadpool", "compile"] | Iterable[Literal["network", "gpu", "animation", "threadpool", "compile"]] | None = None,
    invert: bool = False,
    shrink_to: Value | None = None,
    force: bool = False,
    compress: Literal["gz", "zst", "none"] | None = None,
    level: int | None = None,
    format: Literal["object", "array", "ndjson"] | None = None,
    repair: bool = False,
    write_index: bool = False,
    for_: Literal["devtools", "perfetto"] | None = None,
    overlaps: Literal["keep", "spill", "clip"] | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    sync: bool = False,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Keep some events: by process, thread, phase, category, name, duration, time, or size.

    As ``tracemill filter``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        index (auto|never|FILE): Whether the index of a trace says which parts of it to read:
            auto (where it can), never, or FILE.
        pid (IDS): Events of these processes: numbers, ranges, strings, such as 1,2,5-9.
        tid (IDS): Events of these threads.
        process (REGEX): Events of processes whose name (process_name) matches.
        thread (REGEX): Events of threads whose name (thread_name) matches.
        ph (LIST): Events of these phases, such as X,B,E.
        cat (LIST): Events of these categories: exact, or with * and ?.
        name (REGEX): Events whose name matches, anywhere unless anchored with ^ and $.
        ignore_case: Ignore case in --process, --thread, --name and --cat.
        min_dur (TIME): Events that last at least this long.
        max_dur (TIME): Events that last at most this long.
        from_ (TIME): Events that are not over at this time.
        to (TIME): Events that begin before this time.
        drop (LIST): Leave out events that belong to these.
        invert: Keep what would be left out and leave out the rest, as grep -v does.
        shrink_to (SIZE): Keep only the longest of the events that match, so that the output has
            at most this size before packing.
        output (FILE): Write to FILE, which appears when it is complete; - is standard output
            [default: -].
        force: Replace files that exist.
        compress (CODEC): How to pack the output [default: by the name of -o: .gz, .zst].
        level (N): How hard to pack: gz 0 to 9 [default: 6], zst 1 to 19 [default: 3].
        format (FORM): Form of the output [default: that of the first input].
        repair: Mend text that is not JSON, where it is clear what was meant.
        write_index: Write an index beside each trace that is written, as `tracemill index`
            does.
        for_ (VIEWER): Change what a viewer stumbles over, so that it opens the output and shows
            it right.
        overlaps (RULE): What to do with X events that begin inside another X of their thread
            and end after it [default: spill for perfetto, keep for devtools].
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        sync: Wait until the output is on disk, so that it survives a power cut.
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "index": index, "pid": pid,
        "tid": tid, "process": process, "thread": thread, "ph": ph, "cat": cat, "name": name,
        "ignore_case": ignore_case, "min_dur": min_dur, "max_dur": max_dur, "from_": from_, "to": to,
        "drop": drop, "invert": invert, "shrink_to": shrink_to, "output": output, "force": force,
        "compress": compress, "level": level, "format": format, "repair": repair, "write_index":
        write_index, "for_": for_, "overlaps": overlaps, "threads": threads, "memory": memory, "sync":
        sync, "tmp_dir": tmp_dir
    }
    return run("filter", inputs, options, "--report=-", progress)


def convert(
    inputs: Inputs,
    *,
    output: StrPath,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    force: bool = False,
    compress: Literal["gz", "zst", "none"] | None = None,
    level: int | None = None,
    repair: bool = False,
    write_index: bool = False,
    for_: Literal["devtools", "perfetto"] | None = None,
    overlaps: Literal["keep", "spill", "clip"] | None = None,
    style: Literal["keep", "compact", "pretty"] | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    sync: bool = False,
    tmp_dir: StrPath | None = None,
    format: Literal["object", "array", "ndjson", "folded", "speedscope", "pprof", "perfetto"] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Write a trace in another form: object, array, one event per line, compact, pretty.

    As ``tracemill convert``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        output (FILE): Write to FILE, which appears when it is complete; - is standard output
            [default: -].
        force: Replace files that exist.
        compress (CODEC): How to pack the output [default: by the name of -o: .gz, .zst].
        level (N): How hard to pack: gz 0 to 9 [default: 6], zst 1 to 19 [default: 3].
        repair: Mend text that is not JSON, where it is clear what was meant.
        write_index: Write an index beside each trace that is written, as `tracemill index`
            does.
        for_ (VIEWER): Change what a viewer stumbles over, so that it opens the output and shows
            it right.
        overlaps (RULE): What to do with X events that begin inside another X of their thread
            and end after it [default: spill for perfetto, keep for devtools].
        style (STYLE): White space of the output.
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        sync: Wait until the output is on disk, so that it survives a power cut.
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        format (FORM): Form of the output [default: that of the first input].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "output": output, "force":
        force, "compress": compress, "level": level, "repair": repair, "write_index": write_index,
        "for_": for_, "overlaps": overlaps, "style": style, "threads": threads, "memory": memory,
        "sync": sync, "tmp_dir": tmp_dir, "format": format
    }
    return run("convert", inputs, options, "--report=-", progress)


def redact(
    inputs: Inputs,
    *,
    output: StrPath,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    what: Literal["url", "path", "user"] | Iterable[Literal["url", "path", "user"]] | None = None,
    also: Value | Iterable[Value] | None = None,
    key: Value | None = None,
    force: bool = False,
    compress: Literal["gz", "zst", "none"] | None = None,
    level: int | None = None,
    format: Literal["object", "array", "ndjson"] | None = None,
    repair: bool = False,
    write_index: bool = False,
    threads: int | None = None,
    memory: Value | None = None,
    sync: bool = False,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Replace addresses, paths and user names by placeholders, to share a trace.

    As ``tracemill redact``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        what (LIST): What is replaced [default: all].
        also (REGEX): Also replace everything that matches; may be given more than once.
        key (TEXT): Make the placeholders with TEXT, so that other runs with it make the same;
            whoever knows it can try out texts.
        output (FILE): Write to FILE, which appears when it is complete; - is standard output
            [default: -].
        force: Replace files that exist.
        compress (CODEC): How to pack the output [default: by the name of -o: .gz, .zst].
        level (N): How hard to pack: gz 0 to 9 [default: 6], zst 1 to 19 [default: 3].
        format (FORM): Form of the output [default: that of the first input].
        repair: Mend text that is not JSON, where it is clear what was meant.
        write_index: Write an index beside each trace that is written, as `tracemill index`
            does.
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        sync: Wait until the output is on disk, so that it survives a power cut.
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "what": what, "also": also,
        "key": key, "output": output, "force": force, "compress": compress, "level": level, "format":
        format, "repair": repair, "write_index": write_index, "threads": threads, "memory": memory,
        "sync": sync, "tmp_dir": tmp_dir
    }
    return run("redact", inputs, options, "--report=-", progress)


def check(
    inputs: Inputs,
    *,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    for_: Literal["devtools", "perfetto"] | Iterable[Literal["devtools", "perfetto"]] | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Say what is wrong with a trace, and what to do about it.

    As ``tracemill check``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        for_ (VIEWER): Check what this viewer needs too; may be given more than once.
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "for_": for_, "threads":
        threads, "memory": memory, "tmp_dir": tmp_dir
    }
    return run("check", inputs, options, "--json", progress)


def profiles(
    inputs: Inputs,
    *,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    index: Value | None = None,
    pid: Value | Iterable[Value] | None = None,
    tid: Value | Iterable[Value] | None = None,
    id: Value | Iterable[Value] | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """List them: process, thread, start, duration, samples, damage.

    As ``tracemill profile list``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        index (auto|never|FILE): Whether the index of a trace says which parts of it to read:
            auto (where it can), never, or FILE.
        pid (IDS): Only profiles of these processes: numbers, ranges, strings, such as 1,2,5-9.
        tid (IDS): Only profiles of these threads.
        id (IDS): Only profiles with these ids, such as 0x1.
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "index": index, "pid": pid,
        "tid": tid, "id": id, "threads": threads, "memory": memory, "tmp_dir": tmp_dir
    }
    return run("profile list", inputs, options, "--json", progress)


def extract_profiles(
    inputs: Inputs,
    *,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    index: Value | None = None,
    pid: Value | Iterable[Value] | None = None,
    tid: Value | Iterable[Value] | None = None,
    id: Value | Iterable[Value] | None = None,
    dir: StrPath | None = None,
    template: Value | None = None,
    output: StrPath | None = None,
    force: bool = False,
    threads: int | None = None,
    memory: Value | None = None,
    sync: bool = False,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Write each to a .cpuprofile that DevTools, VS Code and speedscope open.

    As ``tracemill profile extract``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        index (auto|never|FILE): Whether the index of a trace says which parts of it to read:
            auto (where it can), never, or FILE.
        pid (IDS): Only profiles of these processes: numbers, ranges, strings, such as 1,2,5-9.
        tid (IDS): Only profiles of these threads.
        id (IDS): Only profiles with these ids, such as 0x1.
        dir (DIR): Write the files to DIR, which is created if it does not exist [default: .].
        template (TEMPLATE): Names of the files [default:
            CPU.{date}.{time}.{pid}.{tid}.{seq}.cpuprofile].
        output (FILE): Write the one profile chosen to FILE; - is standard output.
        force: Replace files that exist.
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        sync: Wait until the output is on disk, so that it survives a power cut.
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "index": index, "pid": pid,
        "tid": tid, "id": id, "dir": dir, "template": template, "output": output, "force": force,
        "threads": threads, "memory": memory, "sync": sync, "tmp_dir": tmp_dir
    }
    return run("profile extract", inputs, options, "--report=-", progress)


def top(
    inputs: Inputs,
    *,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    index: Value | None = None,
    pid: Value | Iterable[Value] | None = None,
    tid: Value | Iterable[Value] | None = None,
    process: Value | Iterable[Value] | None = None,
    thread: Value | Iterable[Value] | None = None,
    main: bool = False,
    from_: Value | None = None,
    to: Value | None = None,
    duration: Value | None = None,
    head: Value | None = None,
    tail: Value | None = None,
    ignore_list: Value | None = None,
    fold_numbers: bool = False,
    all_events: bool = False,
    like: Literal["panel"] | None = None,
    entities: StrPath | None = None,
    source_maps: StrPath | Iterable[StrPath] | None = None,
    no_source_maps: bool = False,
    window: Value | Iterable[Value] | None = None,
    during: Value | None = None,
    event: Value | None = None,
    focus: Value | None = None,
    ignore: Value | None = None,
    hide: Value | None = None,
    root: Value | None = None,
    text: Value | None = None,
    weights: Literal["next", "delta", "hits"] | None = None,
    key: Literal["devtools", "place", "line", "function", "url"] | None = None,
    times: Literal["auto", "devtools", "exact"] | None = None,
    top: int | None = None,
    sort: Literal["self", "total", "count", "name", "start"] | None = None,
    group_by: Literal["none", "activity", "category", "domain", "subdomain", "url", "third-party", "frame", "package", "file", "process", "thread"] | None = None,
    per: Literal["thread", "process", "input", "all"] | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Say where the time goes: functions and events by self time.

    As ``tracemill top``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        index (auto|never|FILE): Whether the index of a trace says which parts of it to read:
            auto (where it can), never, or FILE.
        pid (IDS): Only these processes: 7, 7,9 or 100..199.
        tid (IDS): Only these threads.
        process (REGEX): Only processes with a name (process_name) that matches.
        thread (REGEX): Only threads with a name (thread_name) that matches.
        main: Only the main thread: CrRendererMain of the main frame, JavaScriptMainThread of
            Node, thread 0 of CPU profiles, else the one with the most events.
        from_ (T): Begin at T: after the start of the trace, or @T as it stands in it [default:
            its start].
        to (T): End at T [default: the end of the trace].
        duration (TIME): End this long after --from.
        head (TIME): The first TIME of the trace.
        tail (TIME): The last TIME of the trace.
        ignore_list (REGEX): Leave out calls from files of this list to others of it, as
            DevTools does: REGEX for URLs, @FILE with one in each line, or its own list
            (node_modules and node:).
        fold_numbers: Put events whose names differ only in digits into one row: each run of
            digits becomes N.
        all_events: Also count events that DevTools does not draw, such as tasks of the
            browser's own.
        like (VIEWER): Do what a viewer does, even where that is a defect: panel is the
            Performance panel of DevTools.
        entities (FILE): Companies by their domains, for --group-by third-party and reports:
            entities.json of the npm package third-party-web [default: root domains].
        source_maps (DIR|FILE): Functions of built scripts have the names and places of their
            sources: a folder with scripts or maps, or a map; may be given several times.
        no_source_maps: Functions as the recording has them, also if the trace holds source
            maps.
        window (A..B): From A to B, each as in --from; either may be left out. Several windows
            are added up. panel is what DevTools opens with, full all.
        during (REGEX): Only the time in which a matching event or call is open, on any thread;
            added up.
        event (KEY): Only the thread and time of this event: a key of tree --log, such as r-12.
        focus (REGEX): Only the time in which a matching event or call of the thread is open:
            name or URL.
        ignore (REGEX): Not the time in which a matching one is open.
        hide (REGEX): No rows for matching ones: their time goes to their callers.
        root (REGEX): Trees begin at matching ones.
        text (TEXT): Only rows with this text in their name or URL, in any case, like the filter
            of DevTools (which looks at args too).
        weights (RULE): How long a sample of a CPU profile counts.
        key (KEY): What calls must have in common to be one row [default: their id in DevTools
            if the table has one thread, else their place].
        times (CLOCK): How times are counted.
        top (N): How many rows [default: 30; JSON and CSV: all].
        sort (KEY): How rows are sorted.
        group_by (KEY): Group rows.
        per (UNIT): Which threads share a table.
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "index": index, "pid": pid,
        "tid": tid, "process": process, "thread": thread, "main": main, "from_": from_, "to": to,
        "duration": duration, "head": head, "tail": tail, "ignore_list": ignore_list, "fold_numbers":
        fold_numbers, "all_events": all_events, "like": like, "entities": entities, "source_maps":
        source_maps, "no_source_maps": no_source_maps, "window": window, "during": during, "event":
        event, "focus": focus, "ignore": ignore, "hide": hide, "root": root, "text": text, "weights":
        weights, "key": key, "times": times, "top": top, "sort": sort, "group_by": group_by, "per": per,
        "threads": threads, "memory": memory, "tmp_dir": tmp_dir
    }
    return run("top", inputs, options, "--json", progress)


def tree(
    inputs: Inputs,
    *,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    index: Value | None = None,
    pid: Value | Iterable[Value] | None = None,
    tid: Value | Iterable[Value] | None = None,
    process: Value | Iterable[Value] | None = None,
    thread: Value | Iterable[Value] | None = None,
    main: bool = False,
    from_: Value | None = None,
    to: Value | None = None,
    duration: Value | None = None,
    head: Value | None = None,
    tail: Value | None = None,
    ignore_list: Value | None = None,
    fold_numbers: bool = False,
    all_events: bool = False,
    like: Literal["panel"] | None = None,
    entities: StrPath | None = None,
    source_maps: StrPath | Iterable[StrPath] | None = None,
    no_source_maps: bool = False,
    window: Value | Iterable[Value] | None = None,
    during: Value | None = None,
    event: Value | None = None,
    focus: Value | None = None,
    ignore: Value | None = None,
    hide: Value | None = None,
    root: Value | None = None,
    text: Value | None = None,
    weights: Literal["next", "delta", "hits"] | None = None,
    key: Literal["devtools", "place", "line", "function", "url"] | None = None,
    times: Literal["auto", "devtools", "exact"] | None = None,
    bottom_up: bool = False,
    log: bool = False,
    depth: int | None = None,
    min: Value | None = None,
    sort: Literal["self", "total", "count", "name", "start"] | None = None,
    top: int | None = None,
    group_by: Literal["none", "activity", "category", "domain", "subdomain", "url", "third-party", "frame", "package", "file", "process", "thread"] | None = None,
    per: Literal["thread", "process", "input", "all"] | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Show call trees, bottom-up trees and event logs with the numbers of DevTools.

    As ``tracemill tree``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        index (auto|never|FILE): Whether the index of a trace says which parts of it to read:
            auto (where it can), never, or FILE.
        pid (IDS): Only these processes: 7, 7,9 or 100..199.
        tid (IDS): Only these threads.
        process (REGEX): Only processes with a name (process_name) that matches.
        thread (REGEX): Only threads with a name (thread_name) that matches.
        main: Only the main thread: CrRendererMain of the main frame, JavaScriptMainThread of
            Node, thread 0 of CPU profiles, else the one with the most events.
        from_ (T): Begin at T: after the start of the trace, or @T as it stands in it [default:
            its start].
        to (T): End at T [default: the end of the trace].
        duration (TIME): End this long after --from.
        head (TIME): The first TIME of the trace.
        tail (TIME): The last TIME of the trace.
        ignore_list (REGEX): Leave out calls from files of this list to others of it, as
            DevTools does: REGEX for URLs, @FILE with one in each line, or its own list
            (node_modules and node:).
        fold_numbers: Put events whose names differ only in digits into one row: each run of
            digits becomes N.
        all_events: Also count events that DevTools does not draw, such as tasks of the
            browser's own.
        like (VIEWER): Do what a viewer does, even where that is a defect: panel is the
            Performance panel of DevTools.
        entities (FILE): Companies by their domains, for --group-by third-party and reports:
            entities.json of the npm package third-party-web [default: root domains].
        source_maps (DIR|FILE): Functions of built scripts have the names and places of their
            sources: a folder with scripts or maps, or a map; may be given several times.
        no_source_maps: Functions as the recording has them, also if the trace holds source
            maps.
        window (A..B): From A to B, each as in --from; either may be left out. Several windows
            are added up. panel is what DevTools opens with, full all.
        during (REGEX): Only the time in which a matching event or call is open, on any thread;
            added up.
        event (KEY): Only the thread and time of this event: a key of tree --log, such as r-12.
        focus (REGEX): Only the time in which a matching event or call of the thread is open:
            name or URL.
        ignore (REGEX): Not the time in which a matching one is open.
        hide (REGEX): No rows for matching ones: their time goes to their callers.
        root (REGEX): Trees begin at matching ones.
        text (TEXT): Only rows with this text in their name or URL, in any case, like the filter
            of DevTools (which looks at args too).
        weights (RULE): How long a sample of a CPU profile counts.
        key (KEY): What calls must have in common to be one row [default: their id in DevTools
            if the table has one thread, else their place].
        times (CLOCK): How times are counted.
        bottom_up: From callees to callers, by self time.
        log: One row for each event, by start.
        depth (N): How many levels [default: 12; bottom-up 6, also in JSON and CSV].
        min (SIZE): Leave out what takes less, with everything below it: 0.5% of the busy time,
            2ms [default: 0.5%; log, JSON and CSV: 0].
        sort (KEY): How rows are sorted below each other [default: total; bottom-up self, log
            start].
        top (N): At most so many rows in each table.
        group_by (KEY): Group rows.
        per (UNIT): Which threads share a table.
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "index": index, "pid": pid,
        "tid": tid, "process": process, "thread": thread, "main": main, "from_": from_, "to": to,
        "duration": duration, "head": head, "tail": tail, "ignore_list": ignore_list, "fold_numbers":
        fold_numbers, "all_events": all_events, "like": like, "entities": entities, "source_maps":
        source_maps, "no_source_maps": no_source_maps, "window": window, "during": during, "event":
        event, "focus": focus, "ignore": ignore, "hide": hide, "root": root, "text": text, "weights":
        weights, "key": key, "times": times, "bottom_up": bottom_up, "log": log, "depth": depth, "min":
        min, "sort": sort, "top": top, "group_by": group_by, "per": per, "threads": threads, "memory":
        memory, "tmp_dir": tmp_dir
    }
    return run("tree", inputs, options, "--json", progress)


def index(
    inputs: Inputs,
    *,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    output: StrPath | None = None,
    force: bool = False,
    verify: bool = False,
    threads: int | None = None,
    memory: Value | None = None,
    sync: bool = False,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Write an index beside a trace, by which other verbs read only what they need.

    As ``tracemill index``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        output (FILE): Write the index of the one INPUT to FILE [default: INPUT.tmi].
        force: Make a new index even where there is a fresh one, and replace files that are no
            indexes.
        verify: Write nothing: make the index again and compare (status 3 if it differs).
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        sync: Wait until the output is on disk, so that it survives a power cut.
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "output": output, "force":
        force, "verify": verify, "threads": threads, "memory": memory, "sync": sync, "tmp_dir": tmp_dir
    }
    return run("index", inputs, options, "--report=-", progress)


def report(
    inputs: Inputs,
    *,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    as_: Literal["chrome", "node", "cpuprofile", "pytorch", "clang", "bazel", "generic"] | None = None,
    pid: Value | Iterable[Value] | None = None,
    tid: Value | Iterable[Value] | None = None,
    process: Value | Iterable[Value] | None = None,
    thread: Value | Iterable[Value] | None = None,
    main: bool = False,
    from_: Value | None = None,
    to: Value | None = None,
    duration: Value | None = None,
    head: Value | None = None,
    tail: Value | None = None,
    ignore_list: Value | None = None,
    fold_numbers: bool = False,
    all_events: bool = False,
    like: Literal["panel"] | None = None,
    entities: StrPath | None = None,
    source_maps: StrPath | Iterable[StrPath] | None = None,
    no_source_maps: bool = False,
    times: Literal["auto", "devtools", "exact"] | None = None,
    top: int | None = None,
    kernel_gap: Value | None = None,
    last_step: Literal["keep", "drop"] | None = None,
    fail_on: Value | Iterable[Value] | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Say what is slow: one page, with the command for the next step in each row.

    As ``tracemill report``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        as_ (PRODUCER): What wrote the trace [default: what its events tell].
        pid (IDS): Only these processes: 7, 7,9 or 100..199.
        tid (IDS): Only these threads.
        process (REGEX): Only processes with a name (process_name) that matches.
        thread (REGEX): Only threads with a name (thread_name) that matches.
        main: Only the main thread: CrRendererMain of the main frame, JavaScriptMainThread of
            Node, thread 0 of CPU profiles, else the one with the most events.
        from_ (T): Begin at T: after the start of the trace, or @T as it stands in it [default:
            its start].
        to (T): End at T [default: the end of the trace].
        duration (TIME): End this long after --from.
        head (TIME): The first TIME of the trace.
        tail (TIME): The last TIME of the trace.
        ignore_list (REGEX): Leave out calls from files of this list to others of it, as
            DevTools does: REGEX for URLs, @FILE with one in each line, or its own list
            (node_modules and node:).
        fold_numbers: Put events whose names differ only in digits into one row: each run of
            digits becomes N.
        all_events: Also count events that DevTools does not draw, such as tasks of the
            browser's own.
        like (VIEWER): Do what a viewer does, even where that is a defect: panel is the
            Performance panel of DevTools.
        entities (FILE): Companies by their domains, for --group-by third-party and reports:
            entities.json of the npm package third-party-web [default: root domains].
        source_maps (DIR|FILE): Functions of built scripts have the names and places of their
            sources: a folder with scripts or maps, or a map; may be given several times.
        no_source_maps: Functions as the recording has them, also if the trace holds source
            maps.
        times (CLOCK): How times are counted.
        top (N): How many rows a section has.
        kernel_gap (TIME): Below this the time between two kernels of a stream is the cost of
            launching them (kernel wait), unless the host was late.
        last_step (WHAT): drop: leave out kernels that are launched in the last step, which is
            often incomplete, as HTA does.
        fail_on (TERMS): End with status 5 if this limit is broken: 'blocking>200ms'; may be
            given several times.
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "as_": as_, "pid": pid, "tid":
        tid, "process": process, "thread": thread, "main": main, "from_": from_, "to": to, "duration":
        duration, "head": head, "tail": tail, "ignore_list": ignore_list, "fold_numbers": fold_numbers,
        "all_events": all_events, "like": like, "entities": entities, "source_maps": source_maps,
        "no_source_maps": no_source_maps, "times": times, "top": top, "kernel_gap": kernel_gap,
        "last_step": last_step, "fail_on": fail_on, "threads": threads, "memory": memory, "tmp_dir":
        tmp_dir
    }
    return run("report", inputs, options, "--json", progress)


def diff(
    base: Inputs,
    new: Inputs,
    *,
    strict: bool = False,
    pid: Value | Iterable[Value] | None = None,
    tid: Value | Iterable[Value] | None = None,
    process: Value | Iterable[Value] | None = None,
    thread: Value | Iterable[Value] | None = None,
    main: bool = False,
    from_: Value | None = None,
    to: Value | None = None,
    duration: Value | None = None,
    head: Value | None = None,
    tail: Value | None = None,
    ignore_list: Value | None = None,
    fold_numbers: bool = False,
    all_events: bool = False,
    like: Literal["panel"] | None = None,
    entities: StrPath | None = None,
    source_maps: StrPath | Iterable[StrPath] | None = None,
    no_source_maps: bool = False,
    window: Value | Iterable[Value] | None = None,
    during: Value | None = None,
    event: Value | None = None,
    focus: Value | None = None,
    ignore: Value | None = None,
    hide: Value | None = None,
    root: Value | None = None,
    text: Value | None = None,
    weights: Literal["next", "delta", "hits"] | None = None,
    key: Literal["devtools", "place", "line", "function", "url"] | None = None,
    times: Literal["auto", "devtools", "exact"] | None = None,
    match: Literal["exact", "line", "name"] | None = None,
    normalize: Value | None = None,
    min_delta: Value | None = None,
    fail_on: Value | Iterable[Value] | None = None,
    any: bool = False,
    top: int | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Compare two traces, or many runs per side: what became slower.

    As ``tracemill diff``; returns its report.

    Args:
        base: One run: a trace, or a folder (all files in it); or a list of runs, in which each
            file of a folder is one.
        new: The other side, likewise.
        strict: Stop at the first defect of an input (status 3).
        pid (IDS): Only these processes: 7, 7,9 or 100..199.
        tid (IDS): Only these threads.
        process (REGEX): Only processes with a name (process_name) that matches.
        thread (REGEX): Only threads with a name (thread_name) that matches.
        main: Only the main thread: CrRendererMain of the main frame, JavaScriptMainThread of
            Node, thread 0 of CPU profiles, else the one with the most events.
        from_ (T): Begin at T: after the start of the trace, or @T as it stands in it [default:
            its start].
        to (T): End at T [default: the end of the trace].
        duration (TIME): End this long after --from.
        head (TIME): The first TIME of the trace.
        tail (TIME): The last TIME of the trace.
        ignore_list (REGEX): Leave out calls from files of this list to others of it, as
            DevTools does: REGEX for URLs, @FILE with one in each line, or its own list
            (node_modules and node:).
        fold_numbers: Put events whose names differ only in digits into one row: each run of
            digits becomes N.
        all_events: Also count events that DevTools does not draw, such as tasks of the
            browser's own.
        like (VIEWER): Do what a viewer does, even where that is a defect: panel is the
            Performance panel of DevTools.
        entities (FILE): Companies by their domains, for --group-by third-party and reports:
            entities.json of the npm package third-party-web [default: root domains].
        source_maps (DIR|FILE): Functions of built scripts have the names and places of their
            sources: a folder with scripts or maps, or a map; may be given several times.
        no_source_maps: Functions as the recording has them, also if the trace holds source
            maps.
        window (A..B): From A to B, each as in --from; either may be left out. Several windows
            are added up. panel is what DevTools opens with, full all.
        during (REGEX): Only the time in which a matching event or call is open, on any thread;
            added up.
        event (KEY): Only the thread and time of this event: a key of tree --log, such as r-12.
        focus (REGEX): Only the time in which a matching event or call of the thread is open:
            name or URL.
        ignore (REGEX): Not the time in which a matching one is open.
        hide (REGEX): No rows for matching ones: their time goes to their callers.
        root (REGEX): Trees begin at matching ones.
        text (TEXT): Only rows with this text in their name or URL, in any case, like the filter
            of DevTools (which looks at args too).
        weights (RULE): How long a sample of a CPU profile counts.
        key (KEY): What calls must have in common to be one row [default: their id in DevTools
            if the table has one thread, else their place].
        times (CLOCK): How times are counted.
        match (HOW): Which functions count as the same although they differ.
        normalize (TO): Scale times: none, busy, or event:NAME, so that this takes as long in
            all runs.
        min_delta (PERCENT): Test only what takes at least this share of the busy time.
        fail_on (TERMS): End with status 5 if a row, or the whole run, breaks this:
            'self>5%&self>2ms', 'lcp>10%'; may be given several times.
        any: --fail-on also counts differences that may be chance.
        top (N): How many rows [default: 30; JSON and CSV: all].
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "strict": strict, "pid": pid, "tid": tid, "process": process, "thread": thread, "main": main,
        "from_": from_, "to": to, "duration": duration, "head": head, "tail": tail, "ignore_list":
        ignore_list, "fold_numbers": fold_numbers, "all_events": all_events, "like": like, "entities":
        entities, "source_maps": source_maps, "no_source_maps": no_source_maps, "window": window,
        "during": during, "event": event, "focus": focus, "ignore": ignore, "hide": hide, "root": root,
        "text": text, "weights": weights, "key": key, "times": times, "match": match, "normalize":
        normalize, "min_delta": min_delta, "fail_on": fail_on, "any": any, "top": top, "threads":
        threads, "memory": memory, "tmp_dir": tmp_dir
    }
    return run_sides("diff", (base, new), options, "--json", progress)


def flame(
    inputs: Inputs,
    *,
    output: StrPath,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    index: Value | None = None,
    pid: Value | Iterable[Value] | None = None,
    tid: Value | Iterable[Value] | None = None,
    process: Value | Iterable[Value] | None = None,
    thread: Value | Iterable[Value] | None = None,
    main: bool = False,
    from_: Value | None = None,
    to: Value | None = None,
    duration: Value | None = None,
    head: Value | None = None,
    tail: Value | None = None,
    ignore_list: Value | None = None,
    fold_numbers: bool = False,
    all_events: bool = False,
    like: Literal["panel"] | None = None,
    entities: StrPath | None = None,
    source_maps: StrPath | Iterable[StrPath] | None = None,
    no_source_maps: bool = False,
    window: Value | Iterable[Value] | None = None,
    during: Value | None = None,
    event: Value | None = None,
    focus: Value | None = None,
    ignore: Value | None = None,
    hide: Value | None = None,
    root: Value | None = None,
    text: Value | None = None,
    weights: Literal["next", "delta", "hits"] | None = None,
    key: Literal["devtools", "place", "line", "function", "url"] | None = None,
    times: Literal["auto", "devtools", "exact"] | None = None,
    order: Literal["heavy", "name", "time"] | None = None,
    flame: bool = False,
    peek: Value | None = None,
    diff: StrPath | None = None,
    total: bool = False,
    min_delta: Value | None = None,
    normalize: bool = False,
    depth: int | None = None,
    max_frames: int | None = None,
    group_by: Literal["none", "activity", "category", "domain", "subdomain", "url", "third-party", "frame", "package", "file", "process", "thread"] | None = None,
    per: Literal["thread", "process", "input", "all"] | None = None,
    force: bool = False,
    format: Literal["svg", "text"] | None = None,
    threads: int | None = None,
    memory: Value | None = None,
    sync: bool = False,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Draw flame graphs and flame charts: SVG, or on the terminal.

    As ``tracemill flame``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        index (auto|never|FILE): Whether the index of a trace says which parts of it to read:
            auto (where it can), never, or FILE.
        pid (IDS): Only these processes: 7, 7,9 or 100..199.
        tid (IDS): Only these threads.
        process (REGEX): Only processes with a name (process_name) that matches.
        thread (REGEX): Only threads with a name (thread_name) that matches.
        main: Only the main thread: CrRendererMain of the main frame, JavaScriptMainThread of
            Node, thread 0 of CPU profiles, else the one with the most events.
        from_ (T): Begin at T: after the start of the trace, or @T as it stands in it [default:
            its start].
        to (T): End at T [default: the end of the trace].
        duration (TIME): End this long after --from.
        head (TIME): The first TIME of the trace.
        tail (TIME): The last TIME of the trace.
        ignore_list (REGEX): Leave out calls from files of this list to others of it, as
            DevTools does: REGEX for URLs, @FILE with one in each line, or its own list
            (node_modules and node:).
        fold_numbers: Put events whose names differ only in digits into one row: each run of
            digits becomes N.
        all_events: Also count events that DevTools does not draw, such as tasks of the
            browser's own.
        like (VIEWER): Do what a viewer does, even where that is a defect: panel is the
            Performance panel of DevTools.
        entities (FILE): Companies by their domains, for --group-by third-party and reports:
            entities.json of the npm package third-party-web [default: root domains].
        source_maps (DIR|FILE): Functions of built scripts have the names and places of their
            sources: a folder with scripts or maps, or a map; may be given several times.
        no_source_maps: Functions as the recording has them, also if the trace holds source
            maps.
        window (A..B): From A to B, each as in --from; either may be left out. Several windows
            are added up. panel is what DevTools opens with, full all.
        during (REGEX): Only the time in which a matching event or call is open, on any thread;
            added up.
        event (KEY): Only the thread and time of this event: a key of tree --log, such as r-12.
        focus (REGEX): Only the time in which a matching event or call of the thread is open:
            name or URL.
        ignore (REGEX): Not the time in which a matching one is open.
        hide (REGEX): No rows for matching ones: their time goes to their callers.
        root (REGEX): Trees begin at matching ones.
        text (TEXT): Only rows with this text in their name or URL, in any case, like the filter
            of DevTools (which looks at args too).
        weights (RULE): How long a sample of a CPU profile counts.
        key (KEY): What calls must have in common to be one row [default: their id in DevTools
            if the table has one thread, else their place].
        times (CLOCK): How times are counted.
        order (ORDER): How the frames of a caller are ordered.
        flame: Draw callees above their callers.
        peek (NAME): Draw the callers of this function or event above it, what it calls below.
        diff (BASE): Colour by what changed since BASE: a trace, a CPU profile or a folder of
            them.
        total: Colour by total time, not by self time.
        min_delta (PERCENT): Draw what changed less in grey: 1% of the picture.
        normalize: Scale BASE to the total of the other.
        depth (N): How many levels; what is deeper counts for its caller [default: 1000].
        max_frames (N): The most frames that are drawn.
        group_by (KEY): Group frames.
        per (UNIT): Which threads are drawn as one [default: thread; of --peek and --diff: all].
        output (FILE): Write to FILE, which appears when it is complete; - is standard output
            [default: -].
        force: Replace files that exist.
        format (FORM): How the picture is written [default: svg if the name of -o ends in .svg,
            else text].
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        sync: Wait until the output is on disk, so that it survives a power cut.
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "index": index, "pid": pid,
        "tid": tid, "process": process, "thread": thread, "main": main, "from_": from_, "to": to,
        "duration": duration, "head": head, "tail": tail, "ignore_list": ignore_list, "fold_numbers":
        fold_numbers, "all_events": all_events, "like": like, "entities": entities, "source_maps":
        source_maps, "no_source_maps": no_source_maps, "window": window, "during": during, "event":
        event, "focus": focus, "ignore": ignore, "hide": hide, "root": root, "text": text, "weights":
        weights, "key": key, "times": times, "order": order, "flame": flame, "peek": peek, "diff": diff,
        "total": total, "min_delta": min_delta, "normalize": normalize, "depth": depth, "max_frames":
        max_frames, "group_by": group_by, "per": per, "output": output, "force": force, "format":
        format, "threads": threads, "memory": memory, "sync": sync, "tmp_dir": tmp_dir
    }
    return run("flame", inputs, options, "--report=-", progress)


def calls(
    inputs: Inputs,
    *,
    output: StrPath,
    files_from: StrPath | None = None,
    strict: bool = False,
    pid_tid: Value | Iterable[Value] | None = None,
    pid: Value | Iterable[Value] | None = None,
    tid: Value | Iterable[Value] | None = None,
    process: Value | Iterable[Value] | None = None,
    thread: Value | Iterable[Value] | None = None,
    main: bool = False,
    from_: Value | None = None,
    to: Value | None = None,
    duration: Value | None = None,
    head: Value | None = None,
    tail: Value | None = None,
    ignore_list: Value | None = None,
    fold_numbers: bool = False,
    all_events: bool = False,
    like: Literal["panel"] | None = None,
    entities: StrPath | None = None,
    source_maps: StrPath | Iterable[StrPath] | None = None,
    no_source_maps: bool = False,
    times: Literal["auto", "devtools", "exact"] | None = None,
    rows: bool = False,
    force: bool = False,
    compress: Literal["gz", "zst", "none"] | None = None,
    level: int | None = None,
    format: Literal["object", "array", "ndjson"] | None = None,
    repair: bool = False,
    write_index: bool = False,
    threads: int | None = None,
    memory: Value | None = None,
    sync: bool = False,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Report:
    """Write the trace with the calls of its CPU samples as events, or its flame chart as rows.

    As ``tracemill calls``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
        files_from (FILE): Read more inputs from FILE, one per line.
        strict: Stop at the first defect and write nothing (status 3).
        pid_tid (FILE=PID:TID): Process and thread of a .cpuprofile, instead of those in its
            name.
        pid (IDS): Only these processes: 7, 7,9 or 100..199.
        tid (IDS): Only these threads.
        process (REGEX): Only processes with a name (process_name) that matches.
        thread (REGEX): Only threads with a name (thread_name) that matches.
        main: Only the main thread: CrRendererMain of the main frame, JavaScriptMainThread of
            Node, thread 0 of CPU profiles, else the one with the most events.
        from_ (T): Begin at T: after the start of the trace, or @T as it stands in it [default:
            its start].
        to (T): End at T [default: the end of the trace].
        duration (TIME): End this long after --from.
        head (TIME): The first TIME of the trace.
        tail (TIME): The last TIME of the trace.
        ignore_list (REGEX): Leave out calls from files of this list to others of it, as
            DevTools does: REGEX for URLs, @FILE with one in each line, or its own list
            (node_modules and node:).
        fold_numbers: Put events whose names differ only in digits into one row: each run of
            digits becomes N.
        all_events: Also count events that DevTools does not draw, such as tasks of the
            browser's own.
        like (VIEWER): Do what a viewer does, even where that is a defect: panel is the
            Performance panel of DevTools.
        entities (FILE): Companies by their domains, for --group-by third-party and reports:
            entities.json of the npm package third-party-web [default: root domains].
        source_maps (DIR|FILE): Functions of built scripts have the names and places of their
            sources: a folder with scripts or maps, or a map; may be given several times.
        no_source_maps: Functions as the recording has them, also if the trace holds source
            maps.
        times (CLOCK): How times are counted.
        rows: Write not a trace but the flame chart as rows, events and calls, one JSON array
            per line.
        output (FILE): Write to FILE, which appears when it is complete; - is standard output
            [default: -].
        force: Replace files that exist.
        compress (CODEC): How to pack the output [default: by the name of -o: .gz, .zst].
        level (N): How hard to pack: gz 0 to 9 [default: 6], zst 1 to 19 [default: 3].
        format (FORM): Form of the output [default: that of the first input].
        repair: Mend text that is not JSON, where it is clear what was meant.
        write_index: Write an index beside each trace that is written, as `tracemill index`
            does.
        threads (N): Worker threads [default: all processors].
        memory (SIZE): The most heap memory to use, such as 64M or 1.5G [default: a quarter of
            the memory].
        sync: Wait until the output is on disk, so that it survives a power cut.
        tmp_dir (DIR): Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {
        "files_from": files_from, "strict": strict, "pid_tid": pid_tid, "pid": pid, "tid": tid,
        "process": process, "thread": thread, "main": main, "from_": from_, "to": to, "duration":
        duration, "head": head, "tail": tail, "ignore_list": ignore_list, "fold_numbers": fold_numbers,
        "all_events": all_events, "like": like, "entities": entities, "source_maps": source_maps,
        "no_source_maps": no_source_maps, "times": times, "rows": rows, "output": output, "force":
        force, "compress": compress, "level": level, "format": format, "repair": repair, "write_index":
        write_index, "threads": threads, "memory": memory, "sync": sync, "tmp_dir": tmp_dir
    }
    return run("calls", inputs, options, "--report=-", progress)
