#!/usr/bin/env python3
"""Writes python/tracemill/_verbs.py: the functions, made of the flags of the command.

    crates/python/generate.py           writes it; the package must be installed
    crates/python/generate.py --check   status 1 if it is not what would be written
"""

import importlib.machinery
import importlib.util
import json
import keyword
import sys
import textwrap
from pathlib import Path

# function -> verb, and what it is asked for as JSON
VERBS = {
    "info": ("info", "--json"),
    "merge": ("merge", "--report=-"),
    "slice": ("slice", "--report=-"),
    "split": ("split", "--report=-"),
    "filter": ("filter", "--report=-"),
    "convert": ("convert", "--report=-"),
    "redact": ("redact", "--report=-"),
    "check": ("check", "--json"),
    "profiles": ("profile list", "--json"),
    "extract_profiles": ("profile extract", "--report=-"),
    "top": ("top", "--json"),
    "tree": ("tree", "--json"),
    "index": ("index", "--report=-"),
}
# What is said, and in which form, is settled: warnings and dictionaries. `print` is a table for people.
SETTLED = {"quiet", "verbose", "progress", "color", "report", "json", "csv", "markdown", "get", "print"}
# Of verbs that answer in JSON: that goes to the caller, in place of text, and of exports, which are `convert`'s.
ANSWERED = {"output", "force", "format", "peek", "heaviest"}
# Verbs that write one trace, which must have a name.
OUTPUT = ["merge", "slice", "filter", "convert", "redact"]

HEAD = '''"""The verbs of the command as functions. Made by generate.py of the command's flags: do not edit."""

from __future__ import annotations

from typing import Iterable, Literal

from ._run import Inputs, Progress, Report, StrPath, Value, run
'''

FORMS = {"bool": "bool", "path": "StrPath", "int": "int", "value": "Value"}


def kind(flag):
    """The type of a keyword, as it is annotated."""
    one = FORMS[flag["kind"]]
    if flag["choices"] and flag["kind"] != "bool":
        one = "Literal[" + ", ".join(json.dumps(own) for own in flag["choices"]) + "]"
    return f"{one} | Iterable[{one}]" if flag["many"] else one


def name(flag):
    """The name of a keyword: that of the flag, with _ behind it if Python has the word."""
    own = flag["flag"].replace("-", "_")
    return own + "_" if keyword.iskeyword(own) else own


def sentence(text):
    """A line of help as a sentence."""
    return text.strip().rstrip(".") + "."


def function(own, verb, form, flags, about):
    """The text of a function."""
    needs_output = own in OUTPUT
    lines, said = [], []
    for flag in flags:
        if needs_output and flag["flag"] == "output":
            lines.insert(0, "    output: StrPath,")
        elif flag["kind"] == "bool":
            lines.append(f"    {name(flag)}: bool = False,")
        else:
            lines.append(f"    {name(flag)}: {kind(flag)} | None = None,")
        value = f" ({flag['value']})" if flag["kind"] != "bool" and flag["value"] else ""
        item = f"{name(flag)}{value}: {sentence(flag['help'] or '')}"
        said.append(textwrap.fill(item, 96, initial_indent="        ", subsequent_indent="            "))
    names = ", ".join(f'"{name(flag)}": {name(flag)}' for flag in flags)
    options = textwrap.fill(names, 104, initial_indent="        ", subsequent_indent="        ", break_long_words=False)
    docs = "\n".join(said).replace("\\", "\\\\")
    return f'''

def {own}(
    inputs: Inputs,
    *,
{chr(10).join(lines)}
    progress: Progress | None = None,
) -> Report:
    """{sentence(about)}

    As ``tracemill {verb}``; returns its report.

    Args:
        inputs: Traces: files, folders (all files in them), or - for standard input.
{docs}
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {{
{options}
    }}
    return run("{verb}", inputs, options, "{form}", progress)
'''


def native():
    """The compiled module of the installed package, which itself needs what is made here."""
    name = "tracemill._native"
    folder = Path(importlib.util.find_spec("tracemill").origin).parent
    path = next(folder.glob("_native.*" + importlib.machinery.EXTENSION_SUFFIXES[-1]))
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def text():
    """All of it."""
    verbs = {own["verb"]: own for own in json.loads(native().flags())}
    out = HEAD
    for own, (verb, form) in VERBS.items():
        without = SETTLED | (ANSWERED if form == "--json" else set())
        chosen = [flag for flag in verbs[verb]["flags"] if flag["flag"] not in without]
        out += function(own, verb, form, chosen, verbs[verb]["about"])
    return out


def main():
    path = Path(__file__).parent / "python/tracemill/_verbs.py"
    made = text()
    if "--check" in sys.argv[1:]:
        same = path.read_text() == made
        if not same:
            print(f"{path.name} is not what the flags make: run crates/python/generate.py", file=sys.stderr)
        return 0 if same else 1
    path.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
