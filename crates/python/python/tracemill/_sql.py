"""SQL over traces."""

from __future__ import annotations

import os
import sys
from typing import Any, Iterable, Mapping

from ._errors import UsageError
from ._native import Rows, open_query, query_text
from ._run import Inputs, Report, StrPath, Value, flags, inputs_of, tell

# where `pip install "tracemill[sql]"` puts the program
NEAR = os.path.join(os.path.dirname(sys.executable), "tracemill")


def sql(
    query: str,
    inputs: Inputs,
    *,
    params: Mapping[str, Value] | None = None,
    as_is: bool = False,
    files_from: StrPath | None = None,
    pid_tid: Value | Iterable[Value] | None = None,
    strict: bool = False,
    threads: int | None = None,
    memory: Value | None = None,
    tmp_dir: StrPath | None = None,
) -> Rows:
    """The rows of a query over traces of any size, which libraries take as a stream of Arrow batches.

    ``polars.DataFrame(rows)``, ``pandas.DataFrame.from_arrow(rows)``, ``pyarrow.table(rows)`` and ``duckdb.sql("FROM rows")`` read
    it without a copy of their own between. The query runs in the program ``tracemill-query``, which
    ``pip install "tracemill[sql]"`` installs, within ``memory``. The call returns when the first rows are there; the
    others are computed while they are read. Each reader after the first runs the query again.

    The dialect is that of PostgreSQL; ``tracemill.tables()`` lists the tables. Several inputs are read as the one trace that
    ``merge`` makes of them.

    Args:
        query: One SELECT, after any number of CREATE VIEW statements.
        inputs: Traces and .cpuprofile files: files, folders (all files in them), or - for standard input.
        params: Values of parameters: {"pid": 7} is the value of $pid.
        as_is: Keep the pids and times of several inputs as they are.
        files_from: Read more inputs from this file, one per line.
        pid_tid: Process and thread of a .cpuprofile (FILE=PID:TID), instead of those in its name.
        strict: Stop at the first defect.
        threads: Worker threads [default: all processors].
        memory: The most heap memory to use, such as "64M" [default: a quarter of the memory].
        tmp_dir: Folder for temporary files [default: TMPDIR, or /tmp].
    """
    given = {
        "as_is": as_is, "files_from": files_from, "pid_tid": pid_tid, "strict": strict, "threads": threads, "memory": memory,
        "tmp_dir": tmp_dir, "param": [f"{name}={literal(name, value)}" for name, value in (params or {}).items()],
    }  # fmt: skip
    words = ["query", "--format=arrow", "--color=never", *flags(given)]
    return open_query([*words, "--", query, *inputs_of(inputs, files_from)], NEAR)


def literal(name: str, value: Any) -> str:
    """The value of a parameter as the command takes it."""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and abs(value) < float("inf"):
        return repr(float(value))
    raise UsageError(f"the parameter {name} is {value!r}: expected a str, an int or a finite float")


def tables(inputs: Inputs | None = None) -> list[Report]:
    """The tables that queries can read, in the order of the documentation.

    Each is a dictionary with its ``name``, a sentence about its ``rows``, and its ``columns``, of which each has ``name``, ``type``
    and ``meaning``. This needs ``pip install "tracemill[sql]"``.

    Args:
        inputs: Traces whose rows are counted: then each table has its ``count``.
    """
    import json  # not needed before

    text, _ = query_text(["query", "--tables", "--format=json"], NEAR)
    found: list[Report] = json.loads(text)
    if inputs is not None:
        counts = ", ".join(f'(SELECT count(*) FROM {table["name"]}) AS "{at}"' for at, table in enumerate(found))
        words = ["query", "--format=ndjson", "--color=never", "--", f"SELECT {counts}", *inputs_of(inputs, None)]
        text, said = query_text(words, NEAR)
        tell(said, 2)
        for table, count in zip(found, json.loads(text).values()):
            table["count"] = count
    return found
