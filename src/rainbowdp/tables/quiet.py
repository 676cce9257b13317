"""Keep engines from printing what they read.

Warnings, Python's log and Spark's log may show values, and all of them end up on a terminal or in a
file. While a table is looked at they are held back: warnings of this process, the loggers of the
engines, and the log of a Spark that runs on this machine. What a cluster's executors log is theirs.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

_ENGINES = (
    "databricks",
    "duckdb",
    "mysql",
    "narwhals",
    "numexpr",
    "pandas",
    "polars",
    "psycopg",
    "py4j",
    "pyarrow",
    "pymysql",
    "pyspark",
    "snowflake",
    "sqlalchemy",
    "trino",
)
_OF_SPARK = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_lock = threading.Lock()
_inside: list[object] = []  # whoever is looking at a table now, in any thread
_held = ExitStack()  # what to undo when the last of them is done


@contextmanager
def quiet(table: Any) -> Iterator[None]:
    """Hold back what the engines would print while ``table`` is looked at."""
    with _everything_held(), _spark_held(table):
        yield


@contextmanager
def _everything_held() -> Iterator[None]:
    """Warnings and loggers are the process's own: the first holds them back, the last lets go."""
    me = object()
    with _lock:
        if not _inside:
            _held.enter_context(_warnings_held())
            _held.enter_context(_loggers_held())
        _inside.append(me)
    try:
        yield
    finally:
        with _lock:
            _inside.remove(me)
            if not _inside:
                _held.close()


@contextmanager
def _warnings_held() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _loggers_held() -> Iterator[None]:
    """The engines' loggers end in nothing; those that are made meanwhile are below them."""
    nothing = logging.NullHandler()
    parents = [logging.getLogger(name) for name in _ENGINES]
    known: list[logging.Logger] = [
        logger
        for name, logger in list(logging.Logger.manager.loggerDict.items())
        if name.partition(".")[0] in _ENGINES and isinstance(logger, logging.Logger)
    ]
    if "pyspark" in sys.modules:  # it logs an error's message and makes these when one comes
        from pyspark.logger import PySparkLogger

        known += [PySparkLogger.getLogger(name) for name in _OF_SPARK]
    before = [(logger, logger.disabled) for logger in known]
    passed_on = [(logger, logger.propagate) for logger in parents]
    for logger in known:
        logger.disabled = True
    for parent in parents:
        parent.propagate = False
        parent.addHandler(nothing)
    try:
        yield
    finally:
        for parent, propagate in passed_on:
            parent.removeHandler(nothing)
            parent.propagate = propagate
        for logger, disabled in before:
            logger.disabled = disabled


@contextmanager
def _spark_held(table: Any) -> Iterator[None]:
    """Spark logs a failing task with its values on this process's standard error."""
    if type(table).__module__.partition(".")[0] != "pyspark":
        yield
        return
    try:
        log4j = table.sparkSession._jvm.org.apache.logging.log4j
        root = log4j.LogManager.getRootLogger()
        level, configurator = root.getLevel(), log4j.core.config.Configurator
        configurator.setRootLevel(log4j.Level.OFF)
    except Exception:  # Spark Connect: it logs where it runs
        yield
        return
    try:
        yield
    finally:
        configurator.setRootLevel(level)
