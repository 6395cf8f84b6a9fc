"""merge.py INPUT... OUTPUT: the merge as people write it in Python; with orjson if that is installed, else with json."""

import sys

try:
    import orjson

    loads, dumps = orjson.loads, orjson.dumps
except ImportError:
    import json

    loads = json.loads

    def dumps(event):
        return json.dumps(event, separators=(",", ":")).encode()


*inputs, output = sys.argv[1:]
events = []
for path in inputs:
    with open(path, "rb") as file:
        events += loads(file.read())["traceEvents"]
events.sort(key=lambda event: event.get("ts", 0))
with open(output, "wb") as file:
    file.write(b'{"traceEvents":[\n')
    file.write(b",\n".join(map(dumps, events)))
    file.write(b"\n]}\n")
