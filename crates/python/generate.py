#!/usr/bin/env python3
"""Writes python/tracemill/_verbs.py, the verbs as functions, from the flags of the command.

Run it before `maturin build`. Cargo builds examples/flags.rs, which prints the flags as JSON. Ends with status 1 if a verb has no
line here, or if a function is missing in the package or in docs/python.md.
"""

import json
import keyword
import subprocess
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent

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
    "show": ("show", "--json"),
    "top": ("top", "--json"),
    "tree": ("tree", "--json"),
    "index": ("index", "--report=-"),
    "report": ("report", "--json"),
    "diff": ("diff", "--json"),
    "flame": ("flame", "--report=-"),
    "calls": ("calls", "--report=-"),
}
# Verbs for somebody at a terminal, and the folder of the two of `profile`.
NO_FUNCTION = {"view", "record", "query", "completions", "man", "profile"}
# What is said, and in which form, is settled: warnings and dictionaries. `print` is a table for people.
SETTLED = {"quiet", "verbose", "progress", "color", "report", "json", "csv", "markdown", "get", "print"}
# Of verbs that answer in JSON: that goes to the caller, in place of text, and of exports, which are `convert`'s.
ANSWERED = {"output", "force", "sync", "format", "peek", "heaviest", "causes"}
# What is given by its place: names, types, documentation, and how it is handed on.
INPUTS = (
    ["inputs: Inputs,"],
    ["inputs: Traces: files, folders (all files in them), or - for standard input."],
    'run("{verb}", inputs, options, "{form}", progress)',
)
SIDES = (
    ["base: Inputs,", "new: Inputs,"],
    [
        "base: One run: a trace, or a folder (all files in it); or a list of runs, in which each file of a folder is one.",
        "new: The other side, likewise.",
    ],
    'run_sides("{verb}", (base, new), options, "{form}", progress)',
)
# Verbs that write one file, which must have a name.
OUTPUT = ["merge", "slice", "filter", "convert", "redact", "flame", "calls"]

HEAD = '''"""The verbs of the command as functions. Written by generate.py from the command's flags: do not edit."""

from __future__ import annotations

from typing import Iterable, Literal

from ._run import Inputs, Progress, Report, StrPath, Value, run, run_sides
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


def item(text):
    """An argument in a documentation."""
    return textwrap.fill(text, 96, initial_indent="        ", subsequent_indent="            ")


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
        said.append(item(f"{name(flag)}{value}: {sentence(flag['help'] or '')}"))
    names = ", ".join(f'"{name(flag)}": {name(flag)}' for flag in flags)
    options = textwrap.fill(names, 104, initial_indent="        ", subsequent_indent="        ", break_long_words=False)
    docs = "\n".join(said).replace("\\", "\\\\")
    places, about_places, call = SIDES if own == "diff" else INPUTS
    about_places = "\n".join(item(text) for text in about_places)
    return f'''

def {own}(
{chr(10).join("    " + place for place in places)}
    *,
{chr(10).join(lines)}
    progress: Progress | None = None,
) -> Report:
    """{sentence(about)}

    As ``tracemill {verb}``; returns its report.

    Args:
{about_places}
{docs}
        progress: Called some times a second, in the calling thread, with what is done ("reading",
            "writing"), how many bytes of it, and how many there will be, or None.
    """
    options = {{
{options}
    }}
    return {call.format(verb=verb, form=form)}
'''


def text(verbs):
    """All of it."""
    out = HEAD
    for own, (verb, form) in VERBS.items():
        without = SETTLED | (ANSWERED if form == "--json" else set()) | ({"base", "new"} if own == "diff" else set())
        chosen = [flag for flag in verbs[verb]["flags"] if flag["flag"] not in without]
        out += function(own, verb, form, chosen, verbs[verb]["about"])
    return out


def missing(verbs):
    """Yields what must be added by hand for a new verb or function."""
    known = {verb for verb, _ in VERBS.values()} | NO_FUNCTION
    for verb in verbs:
        if verb not in known:
            yield f"{verb} is in neither VERBS nor NO_FUNCTION of generate.py"
    package = (HERE / "python/tracemill/__init__.py").read_text(encoding="utf-8")
    page = (HERE / "../../docs/python.md").read_text(encoding="utf-8")
    for own in VERBS:
        if f'"{own}",' not in package:
            yield f"__init__.py does not export {own}"
        if f"`{own}`" not in page:
            yield f"docs/python.md does not name {own}"


def main():
    command = ["cargo", "run", "--quiet", "--manifest-path", HERE / "Cargo.toml", "--example", "flags"]
    table = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    verbs = {own["verb"]: own for own in json.loads(table)}
    wrong = list(missing(verbs))
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        return 1
    (HERE / "python/tracemill/_verbs.py").write_text(text(verbs), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
