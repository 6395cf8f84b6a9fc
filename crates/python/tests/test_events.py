"""Events as tables of four libraries, against the json module."""

import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest
import tracemill
from conftest import ROOT, write_trace

AS_WRITTEN = {"pid": "keep", "ids": "keep", "align": "none"}
USUAL = ["ts_ns", "dur_ns", "ph", "pid", "tid", "cat", "name", "id", "args"]


def nanos(micros):
    """Whole nanoseconds of microseconds, rounded down; None if it is no number."""
    number = isinstance(micros, (int, Decimal)) and not isinstance(micros, bool)
    return int((Decimal(micros) * 1000).to_integral_value(ROUND_FLOOR)) if number else None


def plain(value):
    """A value as text: the content of a string, null as None."""
    return value if value is None or isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def number(value):
    """An integer, or a string of one; else None."""
    try:
        return int(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else None
    except ValueError:
        return None


def rows_of(*paths):
    """What the usual columns have, by the json module: in the order of a merge."""
    rows = []
    for path in paths:
        document = json.loads(Path(path).read_text(), parse_float=Decimal)
        events = document if isinstance(document, list) else document["traceEvents"]
        for event in events:
            of = event.get
            dur = nanos(of("dur"))
            row = {
                "ts_ns": nanos(of("ts")), "dur_ns": dur, "ph": plain(of("ph")), "pid": number(of("pid")), "tid": number(of("tid")),
                "cat": plain(of("cat")), "name": plain(of("name")), "id": plain(event.get("id", event.get("id2"))),
                "args": of("args"),
            }  # fmt: skip
            rank = 0 if row["ph"] == "M" else 1 if row["ts_ns"] is None else 2
            time = row["ts_ns"] if rank == 2 else 0
            rows.append(((rank, time, -(dur or 0) if rank == 2 else 0, len(rows)), row))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def rows_in(table):
    """Rows of a pyarrow table, args read as JSON."""
    rows = table.to_pylist()
    for row in rows:
        if row.get("args") is not None:
            row["args"] = json.loads(row["args"], parse_float=Decimal)
    return rows


def random_events(seed, count):
    """Events of all kinds, some without what others have."""
    rng = random.Random(seed)
    times = [rng.randrange(10**6, 10**7) + rng.choice([0, 0.5, 0.125, 0.001]) for _ in range(count)]
    fields = {
        "ph": lambda: rng.choice(["X", "B", "E", "i", "C", "b", "M", "s"]),
        "ts": lambda: rng.choice(times),
        "dur": lambda: rng.choice([0, 1, 2.5, 1000]),
        "pid": lambda: rng.choice([1, 2, 77]),
        "tid": lambda: rng.choice([1, 5, 9]),
        "name": lambda: rng.choice(["a", 'quo"ted', "é\n", "😀", "", 7]),
        "cat": lambda: rng.choice(["c", "a,b"]),
        "id": lambda: rng.choice(["0x1", 12]),
        "args": lambda: rng.choice([{}, {"x": [1, {"y": "\u2028"}]}, None]),
    }
    return [{key: make() for key, make in fields.items() if rng.random() < 0.9} for _ in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_tables_are_what_json_says(seed, empty):
    paths = [write_trace(f"{name}.json", random_events(seed * 2 + at, 300)) for at, name in enumerate("ab")]
    # of a metadata event a merge does not look at the time
    table = pyarrow.table(tracemill.events(paths, **AS_WRITTEN))
    assert table.column_names == USUAL
    assert rows_in(table) == rows_of(*paths)


@pytest.mark.parametrize("seed", range(10))
def test_several_inputs_are_what_merge_makes_of_them(seed, empty):
    flows = [{"ph": ph, "ts": 2 * 10**6, "pid": 1, "tid": 1, "name": "a", "cat": "c", "id": 7} for ph in "sf"]
    paths = []
    for at, name in enumerate("abc"):
        events = [*random_events(seed * 3 + at, 200), *flows]
        Path(f"{name}.json").write_text(json.dumps({"traceEvents": events, "baseTimeNanoseconds": at * 10_500}))
        paths.append(f"{name}.json")
    columns = [*USUAL, "process_name", "thread_name", "event"]
    tables = set()
    for rules in [{}, {"pid": "keep"}, {"ids": "keep"}, {"align": "none"}, {"align": "start"}, AS_WRITTEN]:
        tracemill.merge(paths, output="all.json", force=True, **rules)
        table = pyarrow.table(tracemill.events(paths, columns=columns, **rules))
        assert table.equals(pyarrow.table(tracemill.events("all.json", columns=columns))), rules
        tables.add(str(table.to_pylist()))
    assert len(tables) == 6


def test_rules_of_several_inputs_are_said_and_refuse_places(empty, caplog):
    for at, name in enumerate("ab"):
        write_trace(f"{name}.json", [{"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 1}])
    Path("a.json").write_text(Path("a.json").read_text()[:-2] + ',{"ph":"i","t')
    with caplog.at_level("INFO", logger="tracemill"), pytest.warns(tracemill.TracemillWarning, match="lost 1") as warned:
        table = pyarrow.table(tracemill.events(["a.json", "b.json"], columns=["pid", "name"], window="0.."))
    assert [warning.filename for warning in warned] == [__file__]
    assert "process ids of b.json renumbered" in caplog.text
    assert table.to_pylist() == [{"pid": 1, "name": "a"}, {"pid": 10000001, "name": "b"}]
    for column in ["file", "byte_offset"]:
        with pytest.raises(tracemill.UsageError, match=f'the column {column} .* pid="keep", ids="keep", align="none"'):
            tracemill.events(["a.json", "b.json"], columns=[column])
    with pytest.warns(tracemill.TracemillWarning, match="lost 1"):
        kept = tracemill.events(["a.json", "b.json"], columns=["pid", "file"], **AS_WRITTEN)
    assert pyarrow.table(kept).to_pylist() == [{"pid": 1, "file": "a.json"}, {"pid": 1, "file": "b.json"}]


@pytest.mark.parametrize("name", ["node/trace.json", "node/trace-2.json"])
def test_recordings_are_what_json_says(name):
    path = ROOT / "testdata" / name
    assert rows_in(pyarrow.table(tracemill.events(path))) == rows_of(path)


def test_all_libraries_take_them(node):
    events = tracemill.events(node)
    expected = rows_of(node)
    arrow = pyarrow.table(events)
    frame = polars.DataFrame(events)
    assert frame.to_arrow().to_pylist() == arrow.to_pylist()
    assert pandas.DataFrame.from_arrow(events)["name"].tolist() == pandas.Series(arrow["name"].to_pylist()).tolist()
    assert frame["ts_ns"].to_list() == [row["ts_ns"] for row in expected]
    counts = dict(duckdb.sql("SELECT name, count(*) FROM events WHERE ph = 'X' GROUP BY name").fetchall())
    names = [row["name"] for row in expected if row["ph"] == "X"]
    assert counts == {name: names.count(name) for name in names}
    longest = frame.filter(polars.col("pid") == expected[0]["pid"])["dur_ns"].max()
    assert longest == max(row["dur_ns"] for row in expected if row["dur_ns"] is not None)


def test_windows_and_picks_are_what_json_says(node):
    rows = rows_of(node)
    start = min(row["ts_ns"] for row in rows if row["ph"] != "M")

    def some(**picks):
        return rows_in(pyarrow.table(tracemill.events(node, **picks)))

    def inside(first, last):
        return [row for row in rows if row["ph"] != "M" and first <= row["ts_ns"] - start < last]

    assert some(window="70ms..140ms") == inside(70_000_000, 140_000_000) != []
    both = inside(0, 75_000_000) + inside(160_000_000, 200_000_000)
    assert some(window=["160ms..200ms", "..75ms"]) == both
    assert some(window=f"@{start / 1000:.3f}..") == inside(0, 10**12)
    assert some(window="1h..") == []
    tid = rows[-1]["tid"]
    assert some(tids=tid) == [row for row in rows if row["tid"] == tid]
    assert some(pids=[1, "2"]) == [row for row in rows if row["pid"] in (1, 2)]
    assert some(names=["PROMISE", "none"]) == [row for row in rows if row["name"] == "PROMISE"] != []
    assert some(names=[]) == []


def test_columns_are_those_asked_for(node):
    table = pyarrow.table(tracemill.events(node, columns=["name", "event", "file", "byte_offset"]))
    assert table.column_names == ["name", "event", "file", "byte_offset"]
    text = node.read_bytes()
    for row in table.slice(0, 200).to_pylist():
        assert json.loads(row["event"])["name"] == row["name"]
        assert text[row["byte_offset"] :].startswith(row["event"].encode()) and row["file"] == str(node)
    named = {row["tid"]: row["args"]["name"] for row in rows_of(node) if row["name"] == "thread_name"}
    threads = pyarrow.table(tracemill.events(node, columns=["ph", "tid", "thread_name", "process_name"]))
    for row in threads.to_pylist():
        assert row["ph"] == "M" or row["thread_name"] == named.get(row["tid"])
    with pytest.raises(tracemill.UsageError, match="no column nane: there are file, byte_offset"):
        tracemill.events(node, columns=["nane"])
    with pytest.raises(tracemill.UsageError, match="list of names"):
        tracemill.events(node, columns="name")


def test_ids_are_numbers_and_text(empty):
    events = [{"ph": "X", "pid": 1, "tid": "7", "ts": 1}, {"ph": "X", "pid": 1, "tid": "stream 7", "ts": 2}, {"ph": "M"}]
    path = write_trace("ids.json", [*events, {"ph": "M", "pid": "Spans"}])
    columns = ["pid", "tid", "pid_text", "tid_text"]
    assert pyarrow.table(tracemill.events(path, columns=columns)).to_pylist() == [
        {"pid": None, "tid": None, "pid_text": None, "tid_text": None},
        {"pid": None, "tid": None, "pid_text": "Spans", "tid_text": None},
        {"pid": 1, "tid": 7, "pid_text": "1", "tid_text": "7"},
        {"pid": 1, "tid": None, "pid_text": "1", "tid_text": "stream 7"},
    ]
    assert pyarrow.table(tracemill.events(path, columns=["ts_ns"], tids=[7, "stream 7"])).num_rows == 2
    assert pyarrow.table(tracemill.events(path, columns=["ts_ns"], pids="Spans")).num_rows == 1


def test_times_are_exact(empty):
    Path("t.json").write_text('[{"ph":"X","ts":1700000000000000.123,"dur":0.0019},{"ph":"X","ts":-0.0001}]')
    table = pyarrow.table(tracemill.events("t.json", columns=["ts_ns", "dur_ns"])).to_pylist()
    assert table == [{"ts_ns": -1, "dur_ns": None}, {"ts_ns": 1700000000000000123, "dur_ns": 1}]


def test_cpu_profiles_are_events(node):
    profile = next((ROOT / "testdata/node").glob("*.cpuprofile"))
    names = pyarrow.table(tracemill.events(profile))["name"].to_pylist()
    assert {"Profile", "ProfileChunk"} <= set(names)
    placed = pyarrow.table(tracemill.events(profile, columns=["pid", "tid"], pid_tid=f"{profile.name}=7:8"))
    assert set(placed["pid"].to_pylist()) == {7} and set(placed["tid"].to_pylist()) == {8}


def test_batches_are_small_and_come_when_they_are_asked_for(empty):
    lines = ",".join(f'{{"ph":"i","ts":{at},"name":"e{at % 10}"}}' for at in range(200_000))
    Path("many.json").write_text(f"[{lines}]")
    events = tracemill.events("many.json", columns=["ts_ns", "name"])
    for _ in range(2):
        sizes = [batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(events)]
        assert sum(sizes) == events.read == 200_000 and max(sizes) == 65_536


def test_who_reads_no_further_ends_the_thread(empty):
    lines = ",".join(f'{{"ph":"i","ts":{at}}}' for at in range(500_000))
    Path("many.json").write_text(f"[{lines}]")
    events = tracemill.events("many.json", columns=["ts_ns"])
    assert threads_named("events") == 0
    reader = pyarrow.RecordBatchReader.from_stream(events)
    assert reader.read_next_batch()["ts_ns"][0].as_py() == 0
    # with batches that nobody has read yet
    assert threads_named("events") == 1
    reader.close()
    while threads_named("events"):
        time.sleep(0.01)


def threads_named(name):
    """How many threads of this process have the name."""
    names = []
    for path in Path("/proc/self/task").glob("*/comm"):
        with contextlib.suppress(OSError):  # it has ended
            names.append(path.read_text().strip())
    return names.count(name)


def test_large_texts_make_small_batches(empty):
    big = "x" * (3 << 20)
    events = write_trace("big.json", [{"ph": "i", "ts": at, "name": "e", "args": {"a": big}} for at in range(20)])
    sizes = [batch.nbytes for batch in pyarrow.RecordBatchReader.from_stream(tracemill.events(events))]
    assert sum(sizes) > 20 * len(big) and max(sizes) < 20 << 20


def test_memory_is_bounded():
    code = """if True:
        import resource, sys, pyarrow, tracemill
        with open("many.json", "w") as file:
            file.write("[")
            for at in range(1_000_000):
                file.write('%s{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":1,"name":"name of an event","args":{"a":"%s"}}'
                           % ("," if at else "", 1_000_000 - at, "x" * 200))
            file.write("]")
        events = tracemill.events("many.json", memory="32M", threads=2)
        def heap():
            return int(open("/proc/self/status").read().split("RssAnon:")[1].split()[0])
        peak, rows, last = 0, 0, -1
        before = heap()
        for batch in pyarrow.RecordBatchReader.from_stream(events):
            peak = max(peak, heap())
            rows += batch.num_rows
        print(rows, (peak - before) >> 10)
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    rows, mebibytes = map(int, done.stdout.split())
    assert rows == 1_000_000
    # the table has 300 MiB; four batches of 16 MiB and what pairs of them take while they grow
    assert mebibytes < 150, mebibytes


def test_what_is_lost_is_warned_of(empty):
    Path("cut.json").write_text('[{"ph":"i","ts":1},{"ph":"i","t')
    with pytest.warns(tracemill.TracemillWarning, match="lost 1 piece") as warned:
        events = tracemill.events("cut.json")
    assert warned[0].filename == __file__
    assert pyarrow.table(events).num_rows == 1
    with pytest.raises(tracemill.InputError, match="cut.json"):
        tracemill.events("cut.json", strict=True)
    with pytest.raises(tracemill.InputError, match="gone.json"):
        tracemill.events("gone.json")
    with pytest.raises(tracemill.UsageError, match="no input"):
        tracemill.events([])
    with pytest.raises(ValueError, match="two times"):
        tracemill.events("cut.json", window="1s")


def test_an_input_that_changes_is_no_table(empty):
    path = write_trace("trace.json", [{"ph": "i", "ts": at} for at in range(10)])
    events = tracemill.events(path)
    write_trace("trace.json", [{"ph": "i", "ts": at} for at in range(11)])
    with pytest.raises(Exception, match="trace.json"):
        pyarrow.table(events)


def test_an_empty_trace_is_an_empty_table(empty):
    table = pyarrow.table(tracemill.events(write_trace("none.json", [])))
    assert table.column_names == USUAL and table.num_rows == 0
    assert polars.DataFrame(tracemill.events("none.json", window="1s..2s")).height == 0
