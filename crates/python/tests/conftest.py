"""What the tests of the installed package share."""

import json
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HAS_SQL = (Path(sys.executable).parent / "tracemill-query").exists() or shutil.which("tracemill-query") is not None
needs_sql = pytest.mark.skipif(not HAS_SQL, reason="tracemill-query is not installed: scripts/wheel --sql")


@pytest.fixture
def node():
    """A trace that Node recorded."""
    return ROOT / "testdata/node/trace.json"


@pytest.fixture
def other():
    """Another of the same program."""
    return ROOT / "testdata/node/trace-2.json"


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def events_of(path):
    """The events of a trace, as the json module reads them."""
    document = json.loads(Path(path).read_text())
    return document if isinstance(document, list) else document["traceEvents"]


def write_trace(path, events):
    """Writes events as a trace."""
    Path(path).write_text(json.dumps({"traceEvents": events}))
    return path
