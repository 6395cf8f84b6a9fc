"""SQL as tables of four libraries; needs the program tracemill-query: scripts/wheel --sql."""

import _thread
import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest
import tracemill
from conftest import ROOT, events_of, needs_sql, write_trace

CHROMIUM = ROOT / "testdata/chromium/trace.json.gz"
NAMES = "SELECT name, count(*) AS n FROM events GROUP BY name ORDER BY n DESC, name"
# a sort of pairs of events takes minutes
ENDLESS = "SELECT a.event || b.event AS e FROM events a CROSS JOIN events b ORDER BY e"


def rows(query, *inputs, **options):
    """The rows of a query, by pyarrow."""
    return pyarrow.table(tracemill.sql(query, inputs, **options)).to_pylist()


def children():
    """The programs that this process runs."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            name, state = path.read_text().rsplit(")", 1)
            if int(state.split()[1]) == os.getpid() and "tracemill" in name:
                found.append(int(path.parent.name))
    return found


def instants(path, count):
    """A trace of as many instants."""
    with Path(path).open("w") as file:
        file.write("[" + ",".join(f'{{"ph":"i","ts":{at},"name":"e{at % 10}"}}' for at in range(count)) + "]")
    return path


def interrupts(seconds=0.3):
    """Presses Ctrl-C in a while."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Timer(seconds, _thread.interrupt_main)
    thread.start()
    return thread


def test_without_the_program_it_is_told_how_to_get_it(node, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tracemill._sql.NEAR", "")
    with pytest.raises(tracemill.UsageError, match=r'tracemill-query: pip install "tracemill\[sql\]"'):
        tracemill.sql("SELECT 1", node)
    with pytest.raises(tracemill.UsageError, match="pip install"):
        tracemill.tables()


@needs_sql
def test_all_libraries_take_rows(node):
    counts = Counter(event["name"] for event in events_of(node))
    expected = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    answer = tracemill.sql(NAMES, node)
    assert answer.columns == ["name", "n"] and repr(answer) == "<tracemill.Rows: name, n>"
    table = pyarrow.table(answer)
    assert table.schema.types == [pyarrow.string(), pyarrow.int64()]
    assert [tuple(row.values()) for row in table.to_pylist()] == expected
    # each of these runs the query again
    assert polars.DataFrame(answer).rows() == expected
    assert list(pandas.DataFrame.from_arrow(answer).itertuples(index=False, name=None)) == expected
    assert duckdb.sql("FROM answer").fetchall() == expected
    assert duckdb.sql("SELECT sum(n) FROM answer").fetchall() == [(sum(counts.values()),)]
    assert children() == []


@needs_sql
@pytest.mark.parametrize("seed", range(5))
def test_rows_are_those_of_events(seed, empty):
    rng = random.Random(seed)
    kinds = [{"ph": "X", "pid": pid, "tid": tid, "name": name} for pid in (1, "p") for tid in (2, "7") for name in "aé"]
    path = write_trace("a.json", [{**rng.choice(kinds), "ts": at, "dur": rng.randrange(9)} for at in range(300)])
    columns = ["ts_ns", "dur_ns", "ph", "pid", "tid", "pid_text", "tid_text", "name", "event", "file", "byte_offset"]
    events = pyarrow.table(tracemill.events(path, columns=columns))
    assert rows(f"SELECT {', '.join(columns)} FROM events", path) == events.to_pylist()
    some = pyarrow.table(tracemill.events(path, columns=columns, pids="p", names=["a", "b"]))
    where = "pid_text = 'p' AND name IN ('a', 'b')"
    assert rows(f"SELECT {', '.join(columns)} FROM events WHERE {where}", path) == some.to_pylist()


@needs_sql
def test_parameters_have_the_types_of_python(empty):
    write_trace("a.json", [{"ph": "i", "ts": 1, "pid": 7, "name": "7"}, {"ph": "i", "ts": 2, "pid": -8, "name": "it's"}])

    def found(where, **params):
        return [row["pid"] for row in rows(f"SELECT pid FROM events WHERE {where}", "a.json", params=params)]

    assert found("pid = $pid", pid=7) == [7]
    assert found("name = $name", name="7") == [7]
    assert found("name = $name", name="it's") == [-8]
    assert found("ts_ns > $ts", ts=1000.5) == [-8]
    with pytest.raises(tracemill.UsageError, match=r"\$pid has no value; there are values of \$pdi"):
        found("pid = $pid", pdi=7)
    with pytest.raises(tracemill.UsageError, match=r"the query has no \$tid; there are parameters of \$pid"):
        found("pid = $pid", pid=7, tid=8)
    for wrong in [None, True, [1], float("nan")]:
        with pytest.raises(tracemill.UsageError, match="the parameter pid is .*: expected a str"):
            found("pid = $pid", pid=wrong)


@needs_sql
def test_errors_are_those_of_other_calls(node, empty):
    Path("cut.json").write_text('[{"ph":"i","ts":1},{"ph":"i","t')
    with pytest.raises(tracemill.UsageError, match="nosuch"):
        tracemill.sql("SELECT nosuch FROM events", node)
    with pytest.raises(tracemill.UsageError, match="queries only read|not a SELECT"):
        tracemill.sql("DROP TABLE events", node)
    with pytest.raises(tracemill.InputError, match="gone.json"):
        tracemill.sql(NAMES, "gone.json")
    with pytest.raises(tracemill.InputError, match="cut.json"):
        tracemill.sql(NAMES, "cut.json", strict=True)
    with pytest.raises(tracemill.MachineError, match="memory budget of 1 MiB"):
        tracemill.sql(NAMES, node, memory="1M")
    with pytest.raises(tracemill.UsageError, match="no input"):
        tracemill.sql(NAMES, [])
    with pytest.raises(tracemill.UsageError, match="cannot find|--threads|invalid"):
        tracemill.sql(NAMES, node, threads=-1)
    assert children() == []


@needs_sql
def test_losses_are_warned_of_at_the_end(empty):
    Path("cut.json").write_text('[{"ph":"i","ts":1,"name":"a"},{"ph":"i","t')
    answer = tracemill.sql(NAMES, "cut.json")
    with pytest.warns(tracemill.TracemillWarning, match="cut.json: lost 1 piece"):
        assert pyarrow.table(answer).to_pylist() == [{"name": "a", "n": 1}]
    with pytest.warns(tracemill.TracemillWarning, match="cut.json: lost 1 piece"):
        assert tracemill.tables("cut.json")[0]["count"] == 1


@needs_sql
def test_tables_have_columns_and_counts(node):
    tables = {table["name"]: table for table in tracemill.tables(node)}
    assert tables["events"]["count"] == len(events_of(node))
    columns = {column["name"]: column["type"] for column in tables["events"]["columns"]}
    answer = tracemill.sql("SELECT * FROM events LIMIT 0", node)
    assert list(columns) == answer.columns
    assert columns["ts_ns"] == "BIGINT" and columns["name"] == "TEXT"
    assert "count" not in tracemill.tables()[0]


@needs_sql
def test_rows_come_while_they_are_read_and_the_program_ends_with_the_reader(empty):
    instants("many.json", 1_000_000)
    answer = tracemill.sql("SELECT ts_ns, name, event FROM events", "many.json")
    reader = pyarrow.RecordBatchReader.from_stream(answer)
    first = reader.read_next_batch()
    assert first["ts_ns"][0].as_py() == 0 and 0 < first.num_rows < 100_000
    # the rest does not fit into the pipe
    assert len(children()) == 1
    reader.close()
    assert children() == []
    # nobody takes its rows
    answer = tracemill.sql("SELECT event FROM events", "many.json")
    assert len(children()) == 1
    del answer
    assert children() == []


@needs_sql
def test_ctrl_c_ends_the_call_and_the_program(node, empty):
    before = signal.getsignal(signal.SIGINT)
    try:
        begun, thread = time.monotonic(), interrupts()
        with pytest.raises(KeyboardInterrupt):
            tracemill.sql(ENDLESS, node, memory="64M", tmp_dir=".")
        thread.join()
        assert time.monotonic() - begun < 30 and children() == []
        assert list(empty.iterdir()) == []
        # while a library reads: it knows errors only as text, and the interrupt follows
        answer = tracemill.sql(f"SELECT event FROM events UNION ALL ({ENDLESS})", node, memory="64M", tmp_dir=".")
        with pytest.raises(KeyboardInterrupt):
            try:
                thread = interrupts()
                pyarrow.table(answer)
            except pyarrow.ArrowInvalid as error:
                assert "KeyboardInterrupt" in str(error)
                time.sleep(1)
        thread.join()
        assert children() == [] and list(empty.iterdir()) == []
    finally:
        signal.signal(signal.SIGINT, before)


@needs_sql
def test_other_threads_run_while_a_query_does(empty):
    instants("many.json", 300_000)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    answer = tracemill.sql(NAMES, "many.json")
    called = time.monotonic()
    pyarrow.table(answer)
    stop.set()
    thread.join()
    assert sum(start + (called - start) / 4 < at < called - (called - start) / 4 for at in ticks) > 5


@needs_sql
def test_the_command_finds_the_program(node, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["query", "-q", "SELECT count(*) AS n FROM events", str(node)]
    expected = f"n\n{len(events_of(node))}\n"
    program = Path(sys.executable).parent / "tracemill"
    for command in [[program], [sys.executable, "-m", "tracemill"]]:
        done = subprocess.run([*command, *words], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, expected), done.stderr


@needs_sql
def test_the_example_runs():
    example = ROOT / "crates/python/examples/sql.py"
    done = subprocess.run([sys.executable, example, CHROMIUM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "events 9315 ['file'" in done.stdout and "onmessage" in done.stdout


def test_the_extra_has_the_version_of_the_package():
    from importlib.metadata import requires

    assert any(need.startswith(f"tracemill-sql=={tracemill.__version__}") for need in requires("tracemill"))
