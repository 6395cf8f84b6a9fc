"""The verbs as functions, against the json module and the installed command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import tracemill
from conftest import events_of, write_trace


def command(*words, status=0):
    """What the installed command prints."""
    program = Path(sys.executable).parent / "tracemill"
    done = subprocess.run([program, *words], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout


def without_run(report):
    """A report less what differs between two runs."""
    return {key: value for key, value in report.items() if key != "seconds"}


def instants(count):
    """Events of one thread, the last first."""
    return [{"ph": "i", "name": f"e{at}", "pid": 1, "tid": 2, "ts": at} for at in reversed(range(count))]


def test_info_counts_what_json_counts(node):
    events = events_of(node)
    report = tracemill.info(node)
    assert report["events"] == len(events)
    assert report["metadata"] == sum(event["ph"] == "M" for event in events)
    assert {one["pid"] for one in report["processes"]} == {event["pid"] for event in events}


def test_reports_are_those_of_the_command(node, empty):
    for own, verb in [
        (tracemill.info(node, top=3), ["info", "--top=3"]),
        (tracemill.check(node, for_="devtools"), ["check", "--for=devtools"]),
        (tracemill.profiles(node), ["profile", "list"]),
        (tracemill.top(node, top=5), ["top", "--top=5"]),
        (tracemill.tree(node, bottom_up=True), ["tree", "--bottom-up"]),
        (tracemill.report(node, top=2), ["report", "--top=2"]),
    ]:
        status = 1 if verb[0] == "check" else 0
        theirs = json.loads(command(*verb, "--json", str(node), status=status))
        assert without_run(own) == without_run(theirs), verb


def test_a_slice_has_the_events_of_its_window(empty):
    trace = write_trace("trace.json", instants(1000))
    report = tracemill.slice(trace, from_="100us", duration=50, output="part.json")
    assert [event["ts"] for event in events_of("part.json")] == list(range(100, 150))
    assert report["verb"] == "slice"
    assert report["slice"]["windows"] == [{"from_ns": 100_000, "to_ns": 150_000}]


def test_merge_sorts_all_inputs(node, other, empty):
    report = tracemill.merge([node, str(other)], output="all.json", pid="keep", ids="keep")
    merged = events_of("all.json")
    assert len(merged) == len(events_of(node)) + len(events_of(other)) - report["identity"]["metadata_dropped"]
    times = [event["ts"] for event in merged if event["ph"] != "M"]
    assert times == sorted(times)


def test_filter_keeps_what_was_asked_for(node, empty):
    report = tracemill.filter(node, ph="X", min_dur="10us", output="some.json")
    kept = [event for event in events_of("some.json") if event["ph"] != "M"]
    assert kept == [event for event in events_of(node) if event["ph"] == "X" and event["dur"] >= 10] != []
    assert report["lost"] == 0


def test_split_and_convert_write_what_there_is(node, empty):
    report = tracemill.split(node, by="tid", dir="parts")
    assert {Path(part["file"]) for part in report["parts"]} == set(Path("parts").glob("*.json"))
    tracemill.convert(node, format="ndjson", output="lines.ndjson")
    lines = [json.loads(line) for line in Path("lines.ndjson").read_text().splitlines()]
    assert lines == events_of(node)


def test_profiles_are_extracted_and_listed_alike(node, empty):
    listed = tracemill.profiles(node)["profiles"]
    report = tracemill.extract_profiles(node, dir="profiles")
    assert len(listed) == len(report["profiles"]) == len(list(Path("profiles").iterdir())) > 0
    profile = json.loads(next(Path("profiles").iterdir()).read_text())
    assert listed[0]["samples"] == len(profile["samples"])


def test_runs_are_compared_one_by_one_or_side_by_side(node, other, empty):
    def theirs(*words):
        return json.loads(command("diff", "--json", *map(str, words)))

    assert tracemill.diff(node, other) == theirs(node, other)
    Path("runs").mkdir()
    for name in "ab":
        Path("runs", f"{name}.json").write_bytes(other.read_bytes())
    sides = tracemill.diff([node], ["runs", other], key="place")
    assert sides == theirs("--base", node, "--new", "runs", other, "--key", "place")
    assert sides["runs"] == [1, 3]
    # a folder by itself is one run
    assert tracemill.diff(node, Path("runs"))["runs"] == [1, 1]
    with pytest.warns(tracemill.TracemillWarning, match="^FAILED self of "):
        tracemill.diff(node, other, fail_on="self>0ms", any=True)
    with pytest.raises(tracemill.UsageError, match="no input"):
        tracemill.diff(node, [])


def test_pictures_and_calls_are_those_of_the_command(node, empty):
    report = tracemill.flame(node, output="own.svg", group_by="category")
    command("flame", "-q", "--group-by=category", "-o", "their.svg", str(node))
    assert Path("own.svg").read_bytes() == Path("their.svg").read_bytes() != b""
    assert report["verb"] == "flame"
    report = tracemill.calls(node, output="own.json")
    command("calls", "-q", "-o", "their.json", str(node))
    assert Path("own.json").read_bytes() == Path("their.json").read_bytes()
    assert len(events_of("own.json")) == len(events_of(node)) + report["decisions"]["calls"] > len(events_of(node))


def test_a_limit_that_is_broken_is_a_warning(node):
    with pytest.warns(tracemill.TracemillWarning, match="^FAILED ") as warned:
        report = tracemill.report(node, fail_on=["busy>1us"])
    assert report["schema"] == "tracemill.report/1" and warned[0].filename == __file__


def test_redacted_and_indexed_traces_say_the_same(node, empty):
    Path("trace.json").write_bytes(node.read_bytes())
    tracemill.redact("trace.json", output="safe.json")
    assert len(events_of("safe.json")) == len(events_of(node))
    tracemill.index("trace.json")
    assert Path("trace.json.tmi").exists()
    assert tracemill.info("trace.json")["events"] == len(events_of(node))


def test_inputs_may_be_many_and_oddly_named(empty):
    names = ["-dash.json", "two words.json", "12s-13s.json", Path("é.json")]
    for at, name in enumerate(names):
        write_trace(name, [{"ph": "i", "name": "e", "pid": at, "tid": 1, "ts": at}])
    assert tracemill.info(names)["events"] == len(names)
    assert tracemill.info(iter(names))["events"] == len(names)
    assert tracemill.info(empty)["events"] == len(names)
    assert tracemill.info([], files_from=write_list(names))["events"] == len(names)


def write_list(names):
    """A list of names for files_from."""
    Path("list").write_text("\n".join(map(str, names)))
    return "list"


def test_what_is_lost_is_warned_of(empty):
    Path("cut.json").write_text('[{"ph":"i","ts":1,"pid":1,"tid":1},{"ph":"i","t')
    with pytest.warns(tracemill.TracemillWarning, match="cut.json: lost 1 piece") as warned:
        report = tracemill.info("cut.json")
    assert report["lost"] == 1 and report["events"] == 1
    assert warned[0].filename == __file__


def test_what_is_done_unasked_is_logged(empty, caplog):
    for name in "ab":
        write_trace(f"{name}.json", [{"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": 5, "dur": 1}])
    with caplog.at_level("INFO", logger="tracemill"):
        tracemill.merge(["a.json", "b.json"], label=["a.json=one", "b.json=two"], output="all.json")
    assert "process ids of b.json renumbered" in caplog.text


def test_failures_have_types_and_say_where(node, empty):
    with pytest.raises(tracemill.InputError, match="gone.json"):
        tracemill.info("gone.json")
    Path("bad.json").write_text('[{"ph":"i","ts":nul}]')
    with pytest.raises(tracemill.InputError, match=r"byte 1\d") as why:
        tracemill.merge("bad.json", strict=True, output="out.json")
    assert "^" in str(why.value)
    with pytest.raises(tracemill.UsageError, match="exists already"):
        tracemill.merge(node, output="bad.json")
    with pytest.raises(tracemill.UsageError, match="no input"):
        tracemill.info([])
    with pytest.raises(ValueError, match="expected a time"):
        tracemill.slice(node, head="-1s", output="out.json")
    with pytest.raises(tracemill.UsageError, match="possible values: self, total, count, name, start]$"):
        tracemill.top(node, sort="bogus")
    with pytest.raises(tracemill.MachineError, match="expected at least 33554432"):
        tracemill.info(node, memory="1M")
    with pytest.raises(OSError, match="nowhere"):
        tracemill.merge(node, output="nowhere/at/all.json")
    with pytest.raises(TypeError):
        tracemill.info(node, bogus=1)
    assert sorted(path.name for path in empty.iterdir()) == ["bad.json"]


def test_nothing_is_printed(node, empty, capfd):
    tracemill.split(node, by="tid", dir="parts", dry_run=True)
    tracemill.top(node)
    tracemill.merge(node, output="all.json")
    assert capfd.readouterr() == ("", "")


def test_the_command_is_the_command(node, empty):
    assert f"{len(events_of(node)):,} events" in command("info", str(node))
    assert command("--version").strip() == f"tracemill {tracemill.__version__}"
    command("info", "gone.json", status=3)
    command("info", "--start", status=2)
    module = [sys.executable, "-m", "tracemill", "check", "-q", str(node)]
    assert subprocess.run(module).returncode == 1


def test_flags_of_other_tools_are_told_ours(node):
    program = Path(sys.executable).parent / "tracemill"
    done = subprocess.run([program, "slice", "--start", "1s", node], capture_output=True, text=True)
    assert "did you mean --from?" in done.stderr
