"""Events as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable

from ._errors import UsageError
from ._native import Events, open_events
from ._run import Inputs, Progress, StrPath, Value, flags, inputs_of, several, tell

if TYPE_CHECKING:
    from typing import Literal

    _Column = Literal[
        "file",
        "byte_offset",
        "ph",
        "cat",
        "name",
        "pid",
        "tid",
        "pid_text",
        "tid_text",
        "ts_ns",
        "dur_ns",
        "tts_ns",
        "tdur_ns",
        "ts_text",
        "id",
        "scope",
        "bind_id",
        "args",
        "event",
        "process_name",
        "thread_name",
    ]


def events(
    inputs: Inputs,
    *,
    columns: Iterable[_Column] | None = None,
    window: str | Iterable[str] | None = None,
    pids: Value | Iterable[Value] | None = None,
    tids: Value | Iterable[Value] | None = None,
    names: str | Iterable[str] | None = None,
    pid: Literal["auto", "keep", "offset", "one"] | None = None,
    ids: Literal["auto", "keep"] | None = None,
    align: Value | None = None,
    files_from: StrPath | None = None,
    pid_tid: Value | Iterable[Value] | None = None,
    strict: bool = False,
    threads: int | None = None,
    memory: Value | None = None,
    tmp_dir: StrPath | None = None,
    progress: Progress | None = None,
) -> Events:
    """The events of traces as a table, which libraries take as a stream of Arrow batches.

    ``polars.DataFrame(events)``, ``pandas.DataFrame.from_arrow(events)``, ``pyarrow.table(events)`` and
    ``duckdb.sql("FROM events")`` read it without a copy of their own between. The traces are read now: their order is found, what is
    more than ``memory`` holds goes to disk. Batches of up to 65,536 events are made while they are read, at most four at a time, so
    a table larger than the memory can be read batch by batch: ``pyarrow.RecordBatchReader.from_stream(events)``.
    Each reader begins anew.

    Rows are those of a merge, in its order: metadata, events without a time, then by time. Several inputs are merged into ``tmp_dir``
    first: where they share pids or ids the later ones get new ones, and clocks are aligned, unless ``pid``, ``ids`` and ``align`` say
    otherwise. In a window there are only events that begin in it.

    Args:
        inputs: Traces and .cpuprofile files: files, folders (all files in them), or - for standard input.
        columns: Which, and in which order: ts_ns, dur_ns (whole nanoseconds, rounded down), ph, pid, tid, cat, name, id (or
            id2 as JSON), args (as JSON), which are the usual ones; pid_text and tid_text (as written: pid and tid are null if
            they are no integers), tts_ns, tdur_ns, ts_text, scope, bind_id, event (all of it, as JSON), as in the table
            events of SQL; process_name, thread_name (the last names in the trace); file and byte_offset (its file, and the
            byte at which it begins there; of several inputs only with pid="keep", ids="keep" and align="none", by which they
            are read as they are). What an event has not is null.
        window: Only events that begin from A to before B, as A..B, with times as in slice: "1s..1.5s", "@522975000000..".
        pids: Only events of these processes.
        tids: Only events of these threads.
        names: Only events with exactly these names.
        pid: What becomes of a pid that several inputs have, as in merge [default: auto].
        ids: What becomes of ids of async operations and flows that several inputs have, as in merge [default: auto].
        align: How inputs are moved onto the clock of the first one, as in merge [default: auto].
        files_from: Read more inputs from this file, one per line.
        pid_tid: Process and thread of a .cpuprofile (FILE=PID:TID), instead of those in its name.
        strict: Stop at the first defect.
        threads: Worker threads [default: all processors].
        memory: The most heap memory to use, such as "64M" [default: a quarter of the memory].
        tmp_dir: Folder for temporary files [default: TMPDIR, or /tmp].
        progress: Called some times a second, in the calling thread, with what is done ("reading"), how many bytes of it,
            and how many there will be, or None.
    """
    given = {
        "pid": pid, "ids": ids, "align": align, "files_from": files_from, "pid_tid": pid_tid, "strict": strict,
        "threads": threads, "memory": memory, "tmp_dir": tmp_dir,
    }  # fmt: skip
    words = ["merge", *flags(given), "--", *inputs_of(inputs, files_from)]
    if isinstance(columns, str):
        raise UsageError(f'columns are a list of names, such as ["{columns}"]')
    chosen = None if columns is None else list(columns)
    windows = [] if window is None else [str(one) for one in several(window)]
    table, said = open_events(words, windows, chosen, texts(pids), texts(tids), texts(names), progress)
    tell(said, 2)
    return table


def texts(given: Value | Iterable[Value] | None) -> set[str] | None:
    """Ids or names as they are compared."""
    return None if given is None else {str(one) for one in several(given)}
