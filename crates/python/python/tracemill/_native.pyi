from typing import Callable, Optional, Sequence, final

__all__ = ["Events", "Rows", "__version__", "call", "main", "open_events", "open_query", "query_text"]

__version__: str

@final
class Events:
    """The events of traces, which were read: a table of any size, as a stream of Arrow batches."""

    @property
    def columns(self) -> list[str]: ...
    @property
    def read(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Rows:
    """The rows of a query, which runs while they are read: a stream of Arrow batches."""

    @property
    def columns(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def call(
    words: Sequence[str],
    progress: Callable[[str, int, Optional[int]], object] | None = None,
) -> tuple[int, str, list[tuple[bool, str]]]: ...
def main(words: Sequence[str]) -> int: ...
def open_events(
    words: Sequence[str],
    windows: Sequence[str],
    columns: Sequence[str] | None,
    pids: set[str] | None,
    tids: set[str] | None,
    names: set[str] | None,
    progress: Callable[[str, int, Optional[int]], object] | None = None,
) -> tuple[Events, list[tuple[bool, str]]]: ...
def open_query(words: Sequence[str], near: str) -> Rows: ...
def query_text(words: Sequence[str], near: str) -> tuple[str, list[tuple[bool, str]]]: ...
