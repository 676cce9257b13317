"""The command on a pseudo-terminal, interrupted at some moment, and what must then be true."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

# What happens before, while Python itself starts, is not ours.
COMMAND = """
import sys, rainbow_command
class Tell:
    def find_spec(self, name, *others):
        if name == "rainbowdp":
            print("started", flush=True)
sys.meta_path.insert(0, Tell())
rainbow_command.main()
"""
LIMIT = 120.0  # seconds until a run counts as hanging


@dataclass(frozen=True)
class Ended:
    """How a run ended, and what the terminal and standard output got."""

    code: int
    terminal: str
    output: str

    @property
    def answer(self) -> str | None:
        """The answer that was printed, if all of it was."""
        try:
            return str(json.loads(self.output.removeprefix("started\n"))["answer"])
        except (ValueError, KeyError):
            return None


def after(moment: float) -> Callable[[str, str, float], bool]:
    """So many seconds after the start of the import."""
    started: list[float] = []

    def when(_: str, output: str, seconds: float) -> bool:
        if "started" in output:
            started.append(seconds)
        return bool(started) and seconds - started[0] > moment

    return when


def run(
    arguments: Sequence[str],
    when: Callable[[str, str, float], bool],
    *,
    number: int = signal.SIGINT,
    then: Callable[[], object] = lambda: None,
) -> Ended:
    """Run the command and interrupt it once ``when(terminal, output, seconds)`` holds.

    Standard error is the terminal, and Ctrl-C is typed there; standard output is a pipe.
    """
    terminal, stderr = pty.openpty()

    def own_terminal() -> None:
        os.setsid()
        import fcntl
        import termios

        fcntl.ioctl(2, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        stdin=stderr,
        stdout=subprocess.PIPE,
        stderr=stderr,
        preexec_fn=own_terminal,
    )
    os.close(stderr)
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    got = {terminal: b"", pipe: b""}
    open_ = set(got)
    sent, start = False, time.monotonic()
    while open_:
        passed = time.monotonic() - start
        if passed > LIMIT:
            process.kill()
        texts = [got[end].decode(errors="replace") for end in (terminal, pipe)]
        if not sent and when(texts[0], texts[1], passed):
            sent = True
            if number == signal.SIGINT:
                os.write(terminal, b"\x03")
            else:
                process.send_signal(number)
            then()
        for end in select.select(list(open_), [], [], 0.005)[0]:
            try:
                found = os.read(end, 65536)
            except OSError:  # the other side of a terminal is gone
                found = b""
            got[end] += found
            if not found:
                open_.discard(end)
    code = process.wait()
    process.stdout.close()
    os.close(terminal)
    assert passed <= LIMIT, got
    return Ended(code, got[terminal].decode(errors="replace"), got[pipe].decode(errors="replace"))


def entries(place: Path) -> list[tuple[int, str | None]]:
    """What a ledger holds, read without a line of ours."""
    with sqlite3.connect(f"file:{place}?mode=ro", uri=True) as connection:
        query = (
            "SELECT paid.content, given.content FROM rainbow_records AS paid "
            "LEFT JOIN rainbow_records AS given "
            "ON given.subject = paid.number AND given.kind = 'answer' "
            "WHERE paid.kind = 'payment' ORDER BY paid.number"
        )
        return [
            (json.loads(paid)["entry"], None if given is None else json.loads(given)["answer"])
            for paid, given in connection.execute(query)
        ]


def judge(ended: Ended, before: int, place: Path, code: int = 130) -> str:
    """What happened, in a word; raises where that must not happen."""
    paid = entries(place)[before:]
    told = " ".join((ended.terminal + ended.output).split())
    assert "Traceback" not in told, ended
    assert len(paid) <= 1, ended
    if '"answer":' in ended.output:
        assert len(paid) == 1, ended
        assert f'"answer": "{paid[0][1]}"' in ended.output, (ended, paid)
    if ended.answer is not None:
        assert ended.code in (0, code), ended
        return "answered"
    assert ended.code == code, ended
    if not paid:
        assert "Interrupted; nothing was spent." in told, ended
        return "nothing spent"
    assert f"Interrupted after the payment: entry {paid[0][0]} was paid" in told, (ended, paid)
    return "paid and said so"
