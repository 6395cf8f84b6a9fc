"""What the documentation shows, run from top to bottom in a folder with two traces."""

import re
import shutil

import pytest
from conftest import ROOT, needs_sql

PAGES = ["docs/python.md", "crates/python/README.md", pytest.param("docs/sql.md", marks=needs_sql)]


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page, node, other, empty, capsys):
    for name, trace in [("trace.json", node), ("trace-2.json", other), ("rank0.json", node), ("rank1.json", other)]:
        shutil.copy(trace, empty / name)
    examples = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert examples
    names = {}
    for example in examples:
        exec(compile(example, page, "exec"), names)
    assert capsys.readouterr().out
