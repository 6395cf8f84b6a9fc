"""Which requests and functions take the time? Cells of a notebook, as a script: sql.py TRACE

Needs pip install "tracemill[sql]" polars pyarrow.
"""

# %% The tables that queries can read, and their columns.
import sys

import polars
import pyarrow
import tracemill

trace = sys.argv[1]
for table in tracemill.tables(trace):
    print(table["name"], table["count"], [column["name"] for column in table["columns"]][:6])

# %% Where does the time go? The query runs in its own process, within the memory limit.
SLOWEST = """
SELECT name, count(*) AS events, sum(dur_ns) / 1e6 AS ms
FROM events
WHERE ph = 'X' AND dur_ns >= $least
GROUP BY name
ORDER BY ms DESC
LIMIT 5
"""
print(polars.DataFrame(tracemill.sql(SLOWEST, trace, params={"least": 1000}, memory="256M")))

# %% All events, batch by batch: only those that are read are in memory.
events = tracemill.sql("SELECT ts_ns, dur_ns FROM events WHERE dur_ns IS NOT NULL", trace)
longest = 0
for batch in pyarrow.RecordBatchReader.from_stream(events):
    longest = max(longest, max(batch["dur_ns"].to_pylist()))
print(f"the longest event takes {longest / 1e6:.1f} ms")

# %% The arguments of events are JSON.
FUNCTIONS = "SELECT args->'data'->>'functionName' AS function, dur_ns FROM events WHERE name = $name"
calls = polars.DataFrame(tracemill.sql(FUNCTIONS, trace, params={"name": "FunctionCall"}))
print(calls.group_by("function").agg(polars.col("dur_ns").sum()).sort("dur_ns", descending=True).head(3))
