"""Calls while they run: progress, threads, Ctrl-C."""

import _thread
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import tracemill

# events of a trace that takes long enough for something to happen meanwhile
MANY = 1_500_000


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """A trace whose events stand in reverse order."""
    path = tmp_path_factory.mktemp("large") / "large.json"
    line = '{{"ph":"X","name":"work {}","cat":"c","pid":1,"tid":{},"ts":{},"dur":3,"args":{{"n":{}}}}}'
    with path.open("w") as file:
        file.write("[\n")
        for at in range(MANY, 0, -1):
            file.write(line.format(at % 1000, at % 7, at, at) + ("\n" if at == 1 else ",\n"))
        file.write("]\n")
    return path


def test_progress_is_told_in_this_thread(large):
    told = []
    report = tracemill.info(large, progress=lambda *stage: told.append((threading.get_ident(), *stage)))
    assert report["events"] == MANY
    assert {ident for ident, *_ in told} == {threading.get_ident()}
    done = [done for _, stage, done, _ in told if stage == "reading"]
    assert done == sorted(done) and done[-1] >= large.stat().st_size
    assert {total for *_, total in told} <= {None, large.stat().st_size}


def test_what_progress_raises_ends_the_call(large, tmp_path):
    class Enough(Exception):
        pass

    def progress(stage, done, total):
        raise Enough

    with pytest.raises(Enough):
        tracemill.merge(large, output=tmp_path / "out.json", progress=progress)
    assert list(tmp_path.iterdir()) == []


def test_what_comes_after_the_output_does_not_undo_the_answer(node, tmp_path, monkeypatch):
    class Late(Exception):
        pass

    output, late = tmp_path / "out.json", []

    def progress(stage, done, total):
        if output.exists():
            raise Late

    monkeypatch.setattr(sys, "unraisablehook", lambda why: late.append(why.exc_type))
    report = tracemill.merge(node, output=output, progress=progress)
    assert report["output"]["events"] > 0 and late == [Late]


def test_a_reader_that_goes_ends_its_thread(large):
    def threads():
        names = Path("/proc/self/task").glob("*/comm")
        return sum(name.read_text() == "events\n" for name in names)

    def become(count):
        end = time.monotonic() + 1
        while threads() != count and time.monotonic() < end:
            time.sleep(0.005)
        return threads() == count

    if not Path("/proc/self/task").exists():
        pytest.skip("threads are counted in /proc")
    reading = tracemill.events(large, names="none of these").__arrow_c_stream__()
    assert become(1)
    del reading
    assert become(0)


def test_other_threads_run_meanwhile(large):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    tracemill.top(large)
    end = time.monotonic()
    stop.set()
    thread.join()
    # without the lock released there is none between the first moments and the last
    inside = [at for at in ticks if start + (end - start) / 4 < at < end - (end - start) / 4]
    assert len(inside) > 5


def test_ctrl_c_ends_a_call(large, tmp_path):
    # whoever runs the tests in the background ignores it for them
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    output = tmp_path / "out.json.gz"
    output.write_text("what was there")
    begun = threading.Event()

    def interrupt():
        begun.wait()
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        tracemill.merge(large, output=output, force=True, level=9, progress=lambda *_: begun.set())
    thread.join()
    signal.signal(signal.SIGINT, before)
    assert output.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [output]


def test_ctrl_c_ends_the_command(tmp_path):
    program = Path(sys.executable).parent / "tracemill"
    words = [program, "merge", "-", "-o", "out.json"]
    running = subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    # more than a pipe takes by itself: it has begun to read, and waits for more
    running.stdin.write(b"[" + b" " * (1 << 20))
    running.stdin.flush()
    running.send_signal(signal.SIGINT)
    assert (running.wait(), running.stderr.read()) == (130, b"")
    assert list(tmp_path.iterdir()) == []


def test_calls_of_several_threads_do_not_mix(node, tmp_path):
    counts = {}

    def count(at):
        path = tmp_path / f"{at}.json"
        path.write_text("[" + ",".join('{"ph":"i","ts":1}' for _ in range(at + 1)) + "]")
        counts[at] = tracemill.info(path)["events"]

    threads = [threading.Thread(target=count, args=(at,)) for at in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == {at: at + 1 for at in range(20)}
