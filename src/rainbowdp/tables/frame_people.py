"""People in data frames: who they are by a column's type, and what is kept of their records.

pandas numbers them before the counting, as its own grouping takes 1, 1.0 and True for one value
in a column of objects; Polars groups by the values themselves; Spark speaks SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rainbowdp.errors import UnreadableTable
from rainbowdp.tables import sampling
from rainbowdp.tables.identities import Words, hashed, spelled
from rainbowdp.tables.people import People, no_identity
from rainbowdp.tables.query import Dialect, kept, unweighed
from rainbowdp.tables.sampling import Identify, Integers

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

SPARK = Dialect(
    hashed=lambda key, terms: f"xxhash64({key}L, {terms})",
    spread=lambda table: (
        f"SELECT person, number, explode(sequence(1L, records)) AS i FROM {table} AS many"  # noqa: S608
    ),
)


class Identified(Protocol):
    """A frame whose rows all have a person, in the column ``person``."""

    @property
    def frame(self) -> nw.LazyFrame[Any]:
        """The frame."""

    def kept(
        self, groups: nw.LazyFrame[Any], people: People, most: int | None
    ) -> Iterable[Sequence[Any]]:
        """Number and count of each group, from the records of each person and number.

        Where rows weigh up to ``most`` units, which are part of the number, their sums.
        """


def identified(frame: nw.LazyFrame[Any], name: str) -> Identified:
    """The rows that have a person in ``person``, a column that the user calls ``name``."""
    import narwhals as nw

    if frame.implementation.is_pandas():
        return _in_pandas(frame, name)
    known = ~nw.col("person").is_null()
    dtype = frame.collect_schema()["person"]
    empty = isinstance(dtype, nw.Unknown) and _is_null_type(frame)
    if not empty:
        check_identity(dtype, name)
    if frame.implementation.is_polars():
        if empty or isinstance(dtype, nw.Categorical | nw.Enum):
            frame = frame.with_columns(nw.col("person").cast(nw.String()))
        return _Polars(frame.filter(known))
    if frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect():
        native = frame.to_native()
        if isinstance(dtype, nw.String):  # bytes, since texts may have a collation
            native = native.withColumn("person", native["person"].cast("binary"))
        return _Spark(nw.from_native(native).filter(known).lazy())
    raise UnreadableTable(
        "people can be told apart in pandas, Polars, PyArrow, DuckDB and PySpark frames, "
        f"got one of {frame.implementation.value}: write it to a Parquet file"
    )


def check_identity(dtype: nw.dtypes.DType, name: str) -> None:
    """Raise unless a column of this type tells people apart exactly."""
    import narwhals as nw

    exact = nw.String | nw.Categorical | nw.Enum | nw.Boolean | nw.Binary | nw.Decimal
    if dtype.is_float():
        raise no_identity(name, dtype, floats=True)
    if not (dtype.is_integer() or isinstance(dtype, exact | nw.Date | nw.Datetime | nw.Time)):
        raise no_identity(name, dtype, floats=False)


def _is_null_type(frame: nw.LazyFrame[Any]) -> bool:
    """Whether ``person`` is declared to hold nothing."""
    native = frame.to_native()
    kind = native.collect_schema()["person"] if hasattr(native, "collect_schema") else None
    return str(kind) == "Null"


@dataclass(frozen=True)
class _Pandas:
    frame: nw.LazyFrame[Any]
    values: Sequence[Any] | NDArray[Any]  # of the people by their numbers

    def kept(
        self, groups: nw.LazyFrame[Any], people: People, most: int | None
    ) -> Iterable[Sequence[Any]]:
        values = self.values

        def identify(numbers: Integers) -> Words:
            if isinstance(values, np.ndarray):
                return hashed(values[numbers], people.key)
            return hashed([values[number] for number in numbers], people.key)

        return _in_numpy(groups.collect(), people, identify, most)


@dataclass(frozen=True)
class _Polars:
    frame: nw.LazyFrame[Any]

    def kept(
        self, groups: nw.LazyFrame[Any], people: People, most: int | None
    ) -> Iterable[Sequence[Any]]:
        import narwhals as nw

        counted = groups.collect()
        different = counted.select("person").unique().with_row_index("place")
        values, dtype = different["person"], different.schema["person"]
        whole = dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128)

        def identify(numbers: Integers) -> Words:
            some = values[numbers]
            return hashed(some.to_numpy() if whole else some.to_list(), people.key)

        counted = counted.join(different, on="person")
        numbers = counted.select("number", "records", person="place")
        return _in_numpy(numbers, people, identify, most)


@dataclass(frozen=True)
class _Spark:
    frame: nw.LazyFrame[Any]

    def kept(
        self, groups: nw.LazyFrame[Any], people: People, most: int | None
    ) -> Iterable[Sequence[Any]]:
        native = groups.select("person", "number", "records").to_native()
        sql = kept("SELECT person, number, records FROM {counted}", people, SPARK)
        if most is not None:
            sql = unweighed(sql, most, SPARK)
        rows: Iterable[Sequence[Any]] = native.sparkSession.sql(sql, counted=native).collect()
        return rows


def _in_numpy(
    counted: nw.DataFrame[Any], people: People, identify: Identify, most: int | None
) -> Iterable[Sequence[Any]]:
    """Number and count of each group, where people have numbers."""
    names = ("person", "number", "records")
    person, number, records = (counted[name].to_numpy().astype(np.int64) for name in names)
    found, total = sampling.kept(person, number, records, people, identify)
    if most is not None:
        units = found % (most + 1)
        found, total = sampling.summed(found - units, total * units)
    return list(zip(found.tolist(), total.tolist(), strict=True))


def _in_pandas(frame: nw.LazyFrame[Any], name: str) -> _Pandas:
    """People by their numbers in the order in which they come, which nothing hangs on."""
    import narwhals as nw
    import pandas as pd

    native = frame.to_native()
    column = native["person"]
    values: Sequence[Any] | NDArray[Any]
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), list(column.cat.categories)
        if column.dtype.categories.dtype.kind == "f":
            raise no_identity(name, column.dtype.categories.dtype, floats=True)
    elif column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
        spellings = pd.Series([spelled(value) for value in column], dtype=object)
        codes, different = pd.factorize(spellings)
        # Values again, not their spellings: a text must get the hash that it has among texts alone.
        place = np.zeros(len(different), np.int64)
        place[codes[codes >= 0]] = np.flatnonzero(codes >= 0)
        values = list(column.iloc[place])
    else:
        if column.dtype != object:
            check_identity(frame.collect_schema()["person"], name)
        codes, different = pd.factorize(column)
        kind = getattr(different.dtype, "kind", "O")
        values = different.to_numpy(f"{kind}8") if kind in "iu" else list(different)
    native = native.assign(person=codes.astype(np.int64))
    return _Pandas(nw.from_native(native[codes >= 0]).lazy(), values)
