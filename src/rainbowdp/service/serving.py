"""The processes of a service: listen, answer, and stop without losing a question.

A signal to stop makes a process refuse new questions, with 503 and Retry-After, until those that
run are finished; then it ends. Several processes share one socket. One that dies is replaced, and
all of them end when the one that started them is gone.
"""

from __future__ import annotations

import errno
import gc
import multiprocessing
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from rainbowdp.errors import RainbowError
from rainbowdp.service.app import create_app
from rainbowdp.service.config import Settings
from rainbowdp.service.logs import log_to_standard_error, tell
from rainbowdp.service.state import Service

METRICS = "PROMETHEUS_MULTIPROC_DIR"  # where prometheus_client adds up several processes
_COUNTED = "counted"  # the file in which processes count requests together
_LOOK = 0.2  # seconds between two looks at the processes
_YOUNG = 10.0  # seconds: whoever dies earlier than this never worked
_MOST_YOUNG = 5  # deaths of young processes in a row
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Server(uvicorn.Server):
    """A server that finishes what is running before it stops listening."""

    def __init__(self, config: uvicorn.Config, service: Service, parent: int | None) -> None:
        super().__init__(config)
        self._service, self._parent = service, parent

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal: the first lets questions finish, the second does not."""
        if self._service.stopping:
            self.should_exit = True
        self._service.stop()

    async def on_tick(self, counter: int) -> bool:
        """Whether to end now."""
        if self._parent is not None and os.getppid() != self._parent:
            self._service.stop()
        self.should_exit |= self._service.stopped
        return await super().on_tick(counter)


def serve(settings: Settings, ready: Callable[[str], None]) -> None:
    """Answer until a signal comes.

    Parameters
    ----------
    settings
        What ``service.toml`` says.
    ready
        Called with the address when the service listens.

    Raises
    ------
    InvalidFile
        If a ledger cannot be opened, or a table lacks what the settings list.

    """
    log_to_standard_error()
    if settings.workers == 1:
        with _bound(settings) as listening:
            _run(settings, listening, None, lambda: ready(_address(listening)))
        return
    create_app(settings)  # what is wrong is told here, once
    with _bound(settings) as listening, tempfile.TemporaryDirectory() as folder:
        os.environ[METRICS] = folder
        ready(_address(listening))
        _Crew(settings, listening, Path(folder) / _COUNTED).run()


def server_config(app: FastAPI, grace: float) -> uvicorn.Config:
    """How an application is served; what was made until now is never looked at as garbage."""
    gc.collect()
    gc.freeze()
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, int(grace)),
    )


def _run(
    settings: Settings,
    listening: socket.socket,
    parent: int | None,
    ready: Callable[[], None],
    shared: Path | None = None,
) -> None:
    """One process that answers."""
    app = create_app(settings, shared=shared)
    config = server_config(app, settings.grace)
    ready()
    tell("start", process=os.getpid(), datasets=sorted(settings.dataset))
    _Server(config, app.state.service, parent).run([listening])
    gc.unfreeze()  # DuckDB complains of what is not cleared away at the end
    unfinished = app.state.service.running
    tell("stop", process=os.getpid(), unfinished=unfinished)
    if unfinished:  # whose threads would be waited for; what they paid for is on disk, or not paid
        os._exit(1)


def _work(settings: Settings, listening: socket.socket, parent: int, shared: Path) -> None:
    """What one of several processes runs."""
    log_to_standard_error()
    _run(settings, listening, parent, lambda: None, shared)


class _Crew:
    """Several processes on one socket."""

    def __init__(self, settings: Settings, listening: socket.socket, shared: Path) -> None:
        self._settings, self._listening, self._shared = settings, listening, shared
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[tuple[BaseProcess, float]] = []
        self._stopping = False

    def run(self) -> None:
        """Keep so many processes alive until a signal comes."""
        before = {sig: signal.signal(sig, self._stop) for sig in _SIGNALS}
        young = 0
        try:
            self._workers = [self._started() for _ in range(self._settings.workers)]
            while not self._stopping:
                time.sleep(_LOOK)
                for place, (worker, begun) in enumerate(self._workers):
                    if worker.is_alive() or self._stopping:
                        continue
                    alone = (worker.exitcode or 0) >= 0  # by itself, and not by a signal
                    young = young + 1 if alone and time.monotonic() - begun < _YOUNG else 0
                    tell("lost", process=worker.pid, code=worker.exitcode)
                    if young >= _MOST_YOUNG:
                        raise RainbowError(
                            "The processes of the service end as soon as they start. See the log "
                            "above for the reason."
                        )
                    self._workers[place] = self._started()
        finally:
            self._end()
            for sig, handler in before.items():
                signal.signal(sig, handler)

    def _started(self) -> tuple[BaseProcess, float]:
        arguments = (self._settings, self._listening, os.getpid(), self._shared)
        worker = self._context.Process(target=_work, args=arguments)
        worker.start()
        return worker, time.monotonic()

    def _stop(self, *_: Any) -> None:
        self._stopping = True

    def _end(self) -> None:
        """Let all of them finish, and end those that do not."""
        for worker, _ in self._workers:
            worker.terminate()
        end = time.monotonic() + self._settings.grace + 2
        for worker, _ in self._workers:
            worker.join(max(0.1, end - time.monotonic()))
            if worker.is_alive():
                worker.kill()
                worker.join()


def _bound(settings: Settings) -> socket.socket:
    """The socket that the service listens at."""
    if settings.socket is not None:
        return _bound_to_file(settings.placed(settings.socket))
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        wrong = error.strerror or "it cannot be used"
    else:
        return listening
    listening.close()
    raise RainbowError(
        f"The service cannot listen at {settings.host}, port {settings.port}: {wrong}. Choose "
        "another port."
    )


def _bound_to_file(place: str) -> socket.socket:
    """A Unix socket in a file; one that a killed service left is replaced, another file is not."""
    listening, file = socket.socket(socket.AF_UNIX), Path(place)
    wrong = "another service listens there"
    try:
        if file.is_socket():
            with socket.socket(socket.AF_UNIX) as other:
                if other.connect_ex(place) != 0:
                    file.unlink()
        listening.bind(place)
        file.chmod(0o666)  # its folder says who may reach it
    except OSError as error:
        if error.errno != errno.EADDRINUSE or not file.is_socket():
            wrong = error.strerror or str(error)
    else:
        return listening
    listening.close()
    raise RainbowError(
        f"The service cannot listen at {place}: {wrong}. Make its folder writable for this user, "
        "or choose another place."
    )


def _address(listening: socket.socket) -> str:
    if listening.family == socket.AF_UNIX:
        return f"unix:{listening.getsockname()}"
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
