"""The package itself: types, texts, what is in it, how fast it is there."""

import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import tracemill
from conftest import ROOT

PYTHON = ROOT / "crates/python"
VERBS = [getattr(tracemill, name) for name in tracemill.__all__ if inspect.isfunction(getattr(tracemill, name))]


def test_types_are_strict(tmp_path):
    use = tmp_path / "use.py"
    use.write_text(
        "from pathlib import Path\n"
        "import tracemill\n"
        "report: tracemill.Report = tracemill.info(Path('a.json'), top=3, memory='1G')\n"
        "tracemill.slice(['a', Path('b')], from_='1s', duration=5.5, output='c', for_='devtools')\n"
    )
    run = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache"]
    done = subprocess.run([*run, use, PYTHON / "python/tracemill"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import tracemill\ntracemill.info('a', top='many')\ntracemill.slice('a', for_='emacs', output='b')\n")
    done = subprocess.run([*run, wrong], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.count("error:") == 2, done.stdout


def test_stubs_are_those_of_the_module(tmp_path):
    run = [sys.executable, "-m", "mypy.stubtest", "tracemill"]
    done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_every_keyword_is_documented():
    assert len(VERBS) > 10
    for verb in VERBS:
        for name in inspect.signature(verb).parameters:
            assert f"\n        {name}" in verb.__doc__, (verb.__name__, name)


def test_licences_are_in_it():
    files = {path.name: path for path in importlib.metadata.files("tracemill")}
    for name in ["LICENSE-MIT", "LICENSE-APACHE"]:
        assert files[name].read_text() == (ROOT / name).read_text()
    others = files["LICENSES-THIRD-PARTY.txt"].read_text()
    assert all(f"  {name} " in others for name in ["clap", "pyo3", "arrow-array"])
    assert "py.typed" in files


def test_no_path_of_the_sources_is_in_it():
    # of the compiled module in a release alone: `scripts/wheel --release`
    for path in importlib.metadata.files("tracemill"):
        if path.suffix != ".so":
            assert str(ROOT).encode() not in path.locate().read_bytes(), path


def test_import_takes_no_other_package():
    code = "import sys; before = set(sys.modules); import tracemill; print(sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(eval(done.stdout))
    assert not loaded & {"json", "logging", "pyarrow", "asyncio", "importlib"}, loaded
    assert "tracemill" in loaded


def test_help_is_there_for_the_command():
    program = Path(sys.executable).parent / "tracemill"
    assert "Verbs" in subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
