"""How a command ends: one sentence, or JSON, and an exit code that a script can tell apart."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from rainbowdp.cli.interrupts import Interrupted, noted
from rainbowdp.errors import (
    BudgetExceeded,
    InvalidFile,
    LedgerError,
    MissingExtra,
    NoTable,
    RainbowError,
    ServiceError,
    UnreadableTable,
    WaitingForApproval,
)

CODES = {
    "failed": 1,
    "usage": 2,
    "unreadable": 3,
    "budget": 4,
    "ledger": 5,
    "output": 6,
    "service": 7,
    "waiting": 8,
    "broken": 9,
    "interrupted": 130,
    "terminated": 143,
}

EXIT_CODES = """Exit codes: 0 done; 1 failed; 2 a wrong option or question; 3 a table or file that
cannot be read; 4 the budget is spent; 5 trouble with the ledger; 6 the output could not be written;
7 trouble with the service; 8 a curator has to approve the question; 9 an audit found a claim
broken; 130 interrupted (143 by SIGTERM). With `--json` an error is a JSON object on standard
output: `{"error": {"kind": …, "message": …, "exit_code": …}}`."""

_KINDS: tuple[tuple[type[Exception], str], ...] = (  # the first that fits
    (BudgetExceeded, "budget"),
    (LedgerError, "ledger"),
    (UnreadableTable, "unreadable"),
    (InvalidFile, "unreadable"),
    (WaitingForApproval, "waiting"),
    (ServiceError, "service"),
    (NoTable, "failed"),
    (MissingExtra, "failed"),
    (RainbowError, "usage"),
    (OSError, "unreadable"),
)
_OUTPUT = (errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT)


class Cut(Exception):
    """A command that was cut off, with words on what became of it."""

    def __init__(self, cause: BaseException, words: str | None = None) -> None:
        super().__init__()
        self.cause, self.words = cause, words


@dataclass(frozen=True)
class Ending:
    """Why a command ended before its time."""

    kind: str
    message: str

    @property
    def code(self) -> int:
        """The exit code."""
        return CODES[self.kind]

    def as_json(self) -> str:
        """What a program reads on standard output."""
        error = {"kind": self.kind, "message": self.message, "exit_code": self.code}
        return json.dumps({"error": error}, indent=2, ensure_ascii=False)


class Group(TyperGroup):
    """Commands that end in one sentence on standard error, or in JSON, and an exit code."""

    def get_help_option(self, ctx: Any) -> Any:
        """The flag, false unless given: for a value that is none Typer loads Pydantic first."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Typer makes endings of its own of some errors, so they go past it."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, OSError) as error:
            cut = Cut(error)
        raise cut

    def main(self, args: Sequence[str] | None = None, *others: Any, **options: Any) -> Any:
        """Run the command and end the program."""
        words = sys.argv[1:] if args is None else list(args)
        ending: Ending | None = None
        code = 0
        try:
            found = super().main(args, *others, **{**options, "standalone_mode": False})
            code = found if isinstance(found, int) else 0
            if code == CODES["interrupted"]:  # Typer says so of any signal
                ending = ending_of(KeyboardInterrupt())
        except (Exception, KeyboardInterrupt) as error:
            ending = ending_of(error)
        if ending is not None:
            code = ending.code
            tell(ending, "--json" in words)
        sys.exit(code)


def stopping(error: BaseException) -> BaseException | None:
    """What stopped a command from outside: a signal, or an output that is closed or full.

    Once a signal has come, it is behind every other error: libraries make their own of it.
    """
    signaled = noted()
    if signaled is not None or isinstance(error, KeyboardInterrupt):
        return signaled or error
    return error if _is_output(error) else None


def _is_output(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in _OUTPUT and error.filename is None


def ending_of(error: BaseException) -> Ending:
    """How a command ends that raised ``error``."""
    words = error.words if isinstance(error, Cut) else None
    if isinstance(error, Cut):
        error = error.cause
    error = stopping(error) or error
    if isinstance(error, KeyboardInterrupt):
        terminated = isinstance(error, Interrupted) and error.number != 2
        kind = "terminated" if terminated else "interrupted"
        return Ending(kind, words or "Interrupted; nothing was spent.")
    if _is_output(error):
        return Ending("output", words or "Standard output cannot be written; nothing was spent.")
    if hasattr(error, "format_message"):  # Typer's own, on how the command is used
        return Ending("usage", _usage(error))
    for known, name in _KINDS:
        if isinstance(error, known):
            return Ending(name, _one_line(error))
    return Ending("failed", _unexpected(error))


def _usage(error: Any) -> str:
    """What was wrong with the words of the command, and where to look."""
    text = " ".join(str(error.format_message()).split()) or "A command is missing"
    context = getattr(error, "ctx", None)
    where = "rainbow" if context is None else context.command_path
    end = "" if text.endswith("?") else "."
    return f"{text.rstrip('.')}{end} See: {where} --help"


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'A file'} cannot be used: {error.strerror or 'unknown'}."
    return " ".join(str(error).split())


def _unexpected(error: BaseException) -> str:
    """Where something went wrong, and nothing of what the data has to do with it."""
    package = Path(__file__).parents[1]
    frames = [
        f"{Path(frame.filename).relative_to(package)}, line {frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if package in Path(frame.filename).parents
    ]
    where = f" at {frames[-1]}" if frames else ""
    return (
        f"Something went wrong that should not: {type(error).__name__}{where}. Please report it "
        "with the command. The message is left out, because it may show private values."
    )


def tell(ending: Ending, as_json: bool) -> None:
    """Say why a command ended, where its user looks."""
    if as_json and ending.kind != "output" and sys.stdout is not None:
        try:
            print(ending.as_json(), flush=True)  # noqa: T201  what a command says
        except OSError:
            _drop_output()
        else:
            return
    if ending.kind == "output":
        _drop_output()
    if sys.stderr is not None:
        with suppress(OSError):  # nobody listens
            said = f"rainbow: {ending.message}"
            print(said, file=sys.stderr, flush=True)  # noqa: T201  what a command says


def _drop_output() -> None:
    """Point standard output at nothing, so that Python does not try again when it ends."""
    with suppress(OSError, AttributeError, ValueError):  # none, or none of the system's
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
