"""DuckDB reads what it is told to, leaves nothing behind, and cannot be talked into more."""

from __future__ import annotations

import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from rainbowdp.questions import Winner
from rainbowdp.tables import count
from rainbowdp.tables.locked import locked_connection, private_folder

VOTES = pa.table({"vote": ["a", "a", "b"], "person": ["1", "2", "3"]})


def test_a_folder_overrules_no_column(tmp_path: Path) -> None:
    inside = tmp_path / "vote=b" / "person=7"
    inside.mkdir(parents=True)
    pyarrow.parquet.write_table(VOTES, inside / "t.parquet")
    for path in (inside / "t.parquet", f"{tmp_path}/*/*/*.parquet"):
        assert count(path, Winner(["a", "b"], "vote")) == {"a": 2, "b": 1}
        assert count(path, Winner(["a", "b"], "vote", person="person")) == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    "query",
    [
        "FROM read_parquet('{folder}/other.parquet')",
        "FROM read_parquet('{folder}/*.parquet')",
        "FROM '{folder}/other.parquet'",
        "FROM read_csv('/etc/passwd')",
        "FROM glob('{folder}/*')",
        "COPY (SELECT 1) TO '{folder}/out.csv'",
        "ATTACH '{folder}/other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "FROM read_csv('https://localhost/x.csv')",
        "FROM leaked",  # a variable of the caller
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "SET temp_directory = '{folder}'",
        "SET lock_configuration = false",
    ],
)
def test_nothing_else_can_be_read_written_loaded_or_set(tmp_path: Path, query: str) -> None:
    for name in ("told", "other"):
        pyarrow.parquet.write_table(VOTES, tmp_path / f"{name}.parquet")
    leaked = VOTES
    told = tmp_path / "told.parquet"
    with private_folder() as folder, locked_connection(folder, [told]) as connection:
        assert len(connection.execute(f"FROM read_parquet('{told}')").fetchall()) == len(leaked)
        with pytest.raises(duckdb.Error):
            connection.execute(query.format(folder=tmp_path)).fetchall()


def test_what_is_spilled_is_private_and_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with private_folder() as folder, locked_connection(folder) as connection:
        assert folder.parent == tmp_path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        setting = connection.execute("SELECT current_setting('temp_directory')").fetchone()
        assert setting == (str(folder),)
        (folder / "spilled").write_text("person ids")
    assert list(tmp_path.iterdir()) == []
    with suppress(KeyboardInterrupt), private_folder() as folder:
        (folder / "spilled").write_text("person ids")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_query_beyond_memory_spills_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(
        "rainbowdp.tables.locked._SETTINGS", ("memory_limit = '60MB'", "threads = 1")
    )
    with private_folder() as folder, locked_connection(folder) as connection:
        query = "SELECT count(*) FROM (SELECT DISTINCT md5(range::VARCHAR) FROM range(1_500_000))"
        assert connection.execute(query).fetchone() == (1_500_000,)
        assert list(folder.iterdir())
    assert list(tmp_path.iterdir()) == []
