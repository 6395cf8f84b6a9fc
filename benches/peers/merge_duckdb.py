"""merge_duckdb.py INPUT... OUTPUT: the merge as SQL; what is beside the events is lost, as with the other peers."""

import sys

import duckdb

*inputs, output = sys.argv[1:]
rows = duckdb.execute(
    """
    SELECT event FROM (
        SELECT unnest(traceEvents) AS event
        FROM read_json(?, columns = {traceEvents: 'JSON[]'}, maximum_object_size = 2147483647)
    )
    ORDER BY CAST(event ->> 'ts' AS DOUBLE)
    """,
    [inputs],
)
with open(output, "w", encoding="utf-8") as file:
    before = '{"traceEvents":[\n'
    while batch := rows.fetchmany(10_000):
        for (event,) in batch:
            file.write(before)
            file.write(event)
            before = ",\n"
    file.write("\n]}\n")
