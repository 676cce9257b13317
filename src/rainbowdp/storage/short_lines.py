"""Lines of a stream, none longer than a limit: a packed file may be one line without end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, AnyStr


class LongLine(ValueError):
    """A line that is longer than any that makes sense."""

    def __init__(self, number: int, longest: int) -> None:
        super().__init__(f"line {number:,} is longer than {longest:,} characters")


def short_lines(stream: IO[AnyStr], longest: int) -> Iterator[AnyStr]:
    r"""The lines of a stream with their ends, or ``LongLine`` before more of one is read.

    >>> import io
    >>> list(short_lines(io.StringIO("one\ntwo"), 4))
    ['one\n', 'two']
    """
    number = 0
    while line := stream.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise LongLine(number, longest)
        yield line
