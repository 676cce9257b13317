"""A real MariaDB server for the tests, in a folder of its own.

Its programs are those on PATH; ``make programs`` installs Debian's. Without them the tests that
need it fail.
"""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql
import pytest

_NUMBERS = itertools.count(1)
_OPTIONS = [
    "--bind-address=127.0.0.1",
    "--character-set-server=utf8mb4",
    "--innodb-buffer-pool-size=16M",
    "--innodb-flush-log-at-trx-commit=0",  # the tests kill no machine
    "--skip-name-resolve",
]


@pytest.fixture(scope="session")
def mariadb_url() -> Iterator[str]:
    """The address of a server that runs until the session ends."""
    with server() as url:
        yield url


def fresh_database(url: str) -> str:
    """The address of a new, empty database on the server."""
    name = f"fresh_{next(_NUMBERS)}"
    run(url, f"CREATE DATABASE {name}")
    return f"{url}/{name}?ssl_disabled=true"  # certificates take long to load


def run(url: str, *statements: str, rows: Any = None) -> None:
    """Run statements beside the connection under test, the last one for each of ``rows``."""
    place, _, database = url.partition("@")[2].partition("?")[0].partition("/")
    host, _, port = place.partition(":")
    with (
        pymysql.connect(
            host=host,
            port=int(port),
            user="root",
            database=database or None,
            autocommit=True,
            ssl_disabled=True,  # certificates take long to load
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SET sql_mode = 'NO_ENGINE_SUBSTITUTION'")  # takes zero dates
        for statement in statements[: len(statements) - (rows is not None)]:
            cursor.execute(statement)
        if rows is not None:
            cursor.executemany(statements[-1], rows)


@contextmanager
def server() -> Iterator[str]:
    """A server on a free loopback port, with its data in a folder that is removed afterwards."""
    if shutil.which("mariadbd") is None or shutil.which("mariadb-install-db") is None:
        pytest.fail("MariaDB is missing: make programs installs it")
    folder = Path(tempfile.mkdtemp(prefix="rainbow-mariadb-"))
    try:
        user = _user(folder)
        common = ["--no-defaults", f"--datadir={folder / 'data'}", *user]
        subprocess.run(
            ["mariadb-install-db", *common, "--auth-root-authentication-method=normal"],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with (folder / "log").open("wb") as log:
            process, url = _start([*common, f"--socket={folder / 'socket'}"], log)
        try:
            yield url
        finally:
            process.kill()  # at once; the data is thrown away
            process.wait()
    finally:
        shutil.rmtree(folder)


def _start(common: list[str], log: Any) -> tuple[subprocess.Popen[bytes], str]:
    for _ in range(5):  # another process may take the port that was free
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen(
            ["mariadbd", *common, *_OPTIONS, f"--port={port}"], stdout=log, stderr=log
        )
        url = f"mysql+pymysql://root@127.0.0.1:{port}"
        while process.poll() is None:
            try:
                run(url)
            except pymysql.OperationalError:
                time.sleep(0.05)
            else:
                return process, url
    raise RuntimeError(f"MariaDB does not start: {Path(log.name).read_text()[-2000:]}")


def _user(folder: Path) -> list[str]:
    """It refuses to run as root, so root starts it as another user."""
    if os.geteuid() != 0:
        return []
    user = pwd.getpwnam("nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return [f"--user={user.pw_name}"]
