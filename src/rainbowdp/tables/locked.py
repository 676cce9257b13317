"""DuckDB of our own, locked down: it reads what it is told to and nothing else.

No file but the named ones, no network, no extension beyond those it is built with, temporary files
in a folder that only this user can enter and that is gone afterwards, and no way to change that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rainbowdp.storage.sql import quoted

if TYPE_CHECKING:
    import duckdb

_SETTINGS = (
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "allow_community_extensions = false",
    "allow_persistent_secrets = false",
    "python_enable_replacements = false",  # a name in SQL is never a variable of Python
    "parquet_metadata_cache = true",  # it is read three times
    # Without those statistics no comparison is decided early, and NaN, larger than any number, is
    # in no range by itself.
    "disabled_optimizers = 'statistics_propagation'",
    "enable_progress_bar = true",
    "enable_progress_bar_print = false",
)


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder that only this user can enter, removed with all that is in it."""
    with TemporaryDirectory(prefix="rainbowdp-") as folder:
        yield Path(folder)


@contextmanager
def locked_connection(
    folder: Path, files: Sequence[str | Path] = (), *, database: str | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that can read ``files``, and spill into ``folder`` what memory cannot hold.

    It is to an empty database, or to the file ``database``, which it only reads.
    """
    import duckdb

    with duckdb.connect(database or ":memory:", read_only=database is not None) as connection:
        for setting in _SETTINGS:
            connection.execute(f"SET {setting}")
        connection.execute(f"SET temp_directory = {quoted(str(folder), chr(39))}")
        listed = ", ".join(quoted(str(file), "'") for file in files)
        connection.execute(f"SET allowed_paths = [{listed}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection
