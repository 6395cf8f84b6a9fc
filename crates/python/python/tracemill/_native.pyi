from typing import Callable, Optional, Sequence

__all__ = ["__version__", "call", "flags", "main"]

__version__: str

def call(
    words: Sequence[str],
    progress: Callable[[str, int, Optional[int]], object] | None = None,
) -> tuple[int, str, list[tuple[bool, str]]]: ...
def flags() -> str: ...
def main(words: Sequence[str]) -> int: ...
