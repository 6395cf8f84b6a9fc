"""samtools for performance traces: Chrome Trace Event JSON and V8 CPU profiles of any size.

`events` makes a table of them, of any size, for polars, pandas, pyarrow and duckdb, and `sql` answers queries over
them; `tables` lists what queries can read. Each other function is a verb of the
command ``tracemill``, its keywords are the command's flags, and what it returns is the report that the command writes
as JSON. Times are ``"12s"``, ``"500ms"``, … after the start of the trace, ``"@…"`` as they
are written in it, or numbers of microseconds.

What the command would warn of is a `TracemillWarning`; what it would fail with is an `Error`. Ctrl-C ends a call, whose
output then stays as it was.
"""

from ._errors import Error, InputError, MachineError, TracemillWarning, UsageError
from ._events import events
from ._native import Events, Rows, __version__
from ._run import Report
from ._sql import sql, tables
from ._verbs import (
    calls,
    check,
    convert,
    diff,
    extract_profiles,
    filter,
    flame,
    index,
    info,
    merge,
    profiles,
    redact,
    report,
    show,
    slice,
    split,
    top,
    tree,
)

__all__ = [
    "Error",
    "Events",
    "InputError",
    "MachineError",
    "Report",
    "Rows",
    "TracemillWarning",
    "UsageError",
    "__version__",
    "calls",
    "check",
    "convert",
    "diff",
    "events",
    "extract_profiles",
    "filter",
    "flame",
    "index",
    "info",
    "merge",
    "profiles",
    "redact",
    "report",
    "show",
    "slice",
    "split",
    "sql",
    "tables",
    "top",
    "tree",
]
