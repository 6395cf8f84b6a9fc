"""Calls of verbs: keywords to words of a command line, answers to dictionaries, messages to warnings."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Union

from ._errors import TracemillWarning, UsageError
from ._native import call

StrPath = Union[str, "os.PathLike[str]"]
Inputs = Union[StrPath, Iterable[StrPath]]
Value = Union[str, int, float]
Report = Dict[str, Any]
Progress = Callable[[str, int, Optional[int]], object]


def run(verb: str, inputs: Inputs, options: dict[str, Any], form: str, progress: Progress | None) -> Report:
    """Runs a verb. ``options`` are keywords, ``form`` is the flag that asks for JSON."""
    return answer(verb, inputs_of(inputs, options.get("files_from")), options, form, progress)


def run_sides(
    verb: str, sides: tuple[Inputs, Inputs], options: dict[str, Any], form: str, progress: Progress | None
) -> Report:
    """Runs a verb that compares: of one run each, or of several."""
    names = [inputs_of(side, None) for side in sides]
    if all(is_one(side) for side in sides):
        return answer(verb, [name for side in names for name in side], options, form, progress)
    return answer(verb, [], {**options, "base": names[0], "new": names[1]}, form, progress)


def answer(verb: str, names: list[str], options: dict[str, Any], form: str, progress: Progress | None) -> Report:
    """What a verb answers of these inputs."""
    _status, text, said = call([*verb.split(), form, *flags(options), "--", *names], progress)
    tell(said, 4)  # the line that called the function of the verb
    import json  # not needed before the first call

    report: Report = json.loads(text)
    return report


def inputs_of(inputs: Inputs, files_from: StrPath | None) -> list[str]:
    """The inputs as words; there must be one, or a list of them."""
    names = [os.fsdecode(name) for name in several(inputs)]
    if not names and files_from is None:
        raise UsageError("no input: name a file, a folder, or - for standard input")
    return names


def tell(said: list[tuple[bool, str]], level: int) -> None:
    """Warns of messages that are warnings, and logs what was done without being asked for; ``level`` is a stacklevel of the caller."""
    for is_warning, line in said:
        if is_warning:
            warnings.warn(line, TracemillWarning, stacklevel=level + 1)
            continue
        import logging  # not needed before the first note

        logging.getLogger("tracemill").info(line)


def several(value: Any) -> Iterable[Any]:
    """One or several."""
    return [value] if is_one(value) else value


def is_one(value: Any) -> bool:
    """Whether it is one value, and not several."""
    return isinstance(value, (str, bytes, os.PathLike, int, float))


def flags(options: dict[str, Any]) -> Iterator[str]:
    """Keywords as flags: ``from_="1s"`` is ``--from=1s``."""
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            yield flag
            continue
        for one in several(value):
            text = os.fsdecode(one) if isinstance(one, (str, bytes, os.PathLike)) else str(one)
            yield f"{flag}={text}"
