"""Person rules: what one person may change, and that no answer is favored, in every engine."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from rainbowdp.errors import InvalidQuestion, UnreadableTable
from rainbowdp.questions import Custom, Equals, Quantile, Question, Threshold, Winner, limited
from rainbowdp.tables import count, duck, frame_people, sampling
from rainbowdp.tables.query import Dialect

from . import engines
from .engines import Make, Row

COLORS = ["red", "green", "blue"]
NAMES = ["arrow", "relation", "pandas", "pandas_objects", "polars", "polars_lazy"]
FILES = ["csv", "parquet", "dataset", "sqlite", "duckdb"]
PEOPLE = [1, 2, 3, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]

VOTE = Winner(COLORS, "x")
RULES: list[Any] = [
    limited(VOTE, 1, "who"),
    limited(VOTE, 3, "who"),
    limited(VOTE, 2, "name"),
    limited(VOTE, 1, "name", "one vote"),
    limited(Quantile("1/2", [0, 2, 4, 9], "n"), 2, "who"),
    limited(Quantile("1/2", [0, 2, 4, 9], "n"), 1, "who", "one vote"),
    limited(Threshold(3, "n", minimum=2, maximum=5), 2, "who"),
]


QUICK = [
    "arrow",
    "pandas",
    "polars",
    "parquet",
    "csv",
    "sqlite",
    "postgres",
]  # one of each way to count


@pytest.fixture(
    params=[
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in [*NAMES, *FILES, "postgres"]
    ]
)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """How to make a table of one engine."""
    if request.param == "postgres":
        return engines.Postgres(request.getfixturevalue("postgres_url"))
    found: Make = getattr(
        engines.Files(tmp_path) if request.param in FILES else engines, request.param
    )
    return found


def random_rows(draw: random.Random, size: int, people: Sequence[int | None]) -> list[Row]:
    def row() -> Row:
        who = draw.choice(people)
        name = None if who is None else f"{chr(65 + who % 5)}{'é' * (who % 2)}{who % 3}"
        x = draw.choice([*COLORS, "red", "mauve", None])
        return who, name, x, draw.choice([*range(11), None])

    return [row() for _ in range(size)]


def moved(before: dict[str, int], after: dict[str, int]) -> tuple[int, int]:
    """How many records left their groups, and how many came."""
    change = [after[name] - before[name] for name in before]
    return sum(max(0, -c) for c in change), sum(max(0, c) for c in change)


def check_one_person(make: Make, question: Question, rounds: int) -> None:
    """All rows of one person are replaced by anything, and all rows come in another order."""
    for seed in range(rounds):
        draw = random.Random(seed)
        others = random_rows(draw, draw.randrange(60), [None, *PEOPLE[1:]])
        others = [row for row in others if row[1] != "A1"]
        tables = []
        for _ in range(2):
            own = random_rows(draw, draw.choice([0, 1, 9, 40]), [1])
            named: list[Row] = [(who, "A1", x, n) for who, _, x, n in own]
            rows = [*others, *named]
            draw.shuffle(rows)
            tables.append(make(rows))
        key = draw.getrandbits(63)
        before, after = (count(table, question, key=key) for table in tables)
        assert max(moved(before, after)) <= question.rows_per_person, (question, seed)


def check_sum_of_people(make: Make, question: Question, seed: int) -> None:
    """With one key, counts are the sum of what each person's rows give alone."""
    rows = random_rows(random.Random(seed), 50, [None, *PEOPLE[2:6]])
    by_person: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        by_person[row[0 if question.person == "who" else 1]].append(row)
    total = Counter({name: 0 for name, _ in question.groups})
    for own in by_person.values():
        found = count(make(own), question, key=99 + seed)
        assert sum(found.values()) <= question.rows_per_person
        total.update(found)
    assert count(make(rows), question, key=99 + seed) == total, question


def test_one_person_changes_so_many_records_at_most(make: Make) -> None:
    for question in RULES:
        check_one_person(make, question, 2)


def test_counts_are_a_sum_over_people(make: Make) -> None:
    for seed, question in enumerate((RULES[1], RULES[2], RULES[3], RULES[5])):
        check_sum_of_people(make, question, seed)


def test_a_person_just_above_the_limit_loses_just_what_is_above(make: Make) -> None:
    sizes = range(1, 7)
    rows: list[Row] = [(who, f"p{who}", COLORS[i % 3], i) for who in sizes for i in range(who)]
    table = make(rows)
    for most in sizes:
        found = count(table, limited(VOTE, most, "who"))
        assert sum(found.values()) == sum(min(size, most) for size in sizes)


def ways(rows: tuple[int, ...], most: int) -> dict[tuple[int, ...], float]:
    """The multivariate hypergeometric law of a sample, by counting its subsets."""
    all_ = math.comb(sum(rows), most)
    return {
        kept: math.prod(map(math.comb, rows, kept)) / all_
        for kept in product(*(range(r + 1) for r in rows))
        if sum(kept) == most
    }


def fit(seen: Counter[Any], law: dict[Any, float]) -> float:
    """The p-value of what was seen."""
    assert set(seen) <= set(law)
    total = sum(seen.values())
    return float(chisquare([seen[k] for k in law], [total * p for p in law.values()]).pvalue)


def check_sample(make: Make, people: int = 100, keys: int = 1) -> None:
    """Each person has answers of their own, so that counts tell what was kept of whom."""
    records, most = (5, 2, 1), 3
    rows: list[Row] = []
    for who, (group, times) in product(range(people), enumerate(records)):
        rows += [(who, f"p{who}", f"{who} {group}", who)] * times
    random.Random(1).shuffle(rows)
    table = make(rows)
    listed = [f"{who} {group}" for who in range(people) for group in range(len(records))]
    random.Random(2).shuffle(listed)
    seen: Counter[tuple[int, ...]] = Counter()
    for key, person in product(range(keys), ("who", "name")):
        found = count(table, Winner(listed, "x", person=person, rows_per_person=most), key=key)
        seen.update(
            tuple(found[f"{who} {group}"] for group in range(len(records))) for who in range(people)
        )
    assert fit(seen, ways(records, most)) > 0.001


def test_a_sample_has_the_law_of_draws_without_replacement(make: Make) -> None:
    check_sample(make)


def check_symmetry(make: Make) -> None:
    """Everybody has two votes for red and one for green: red has two thirds, first or last."""
    people = 900
    votes = ("red", "red", "green")
    table = make([(who, f"p{who}", x, 0) for who in range(people) for x in votes])
    for listed in (["red", "green"], ["green", "red"]):
        for key in range(3):
            question = Winner(listed, "x", person="who")
            found = count(table, question, key=key)
            assert sum(found.values()) == people
            assert abs(found["red"] - 600) < 4 * math.sqrt(people * 2 / 9), (listed, key)


def test_the_order_of_the_answers_does_not_matter(make: Make) -> None:
    check_symmetry(make)


def test_one_vote_is_the_most_frequent_answer(make: Make) -> None:
    draw = random.Random(4)
    rows: list[Row] = []
    expected, tied = Counter({"red": 0, "green": 0, "blue": 0}), 0
    for who in range(400):
        votes = [draw.choice([*COLORS, "mauve", None]) for _ in range(draw.randrange(7))]
        rows += [(who, f"p{who}", x, 0) for x in votes]
        often = Counter(x for x in votes if x in COLORS).most_common()
        if often and (len(often) == 1 or often[0][1] > often[1][1]):
            expected[str(often[0][0])] += 1
        elif often:
            tied += 1
    draw.shuffle(rows)
    table = make(rows)
    found = count(table, limited(VOTE, 1, "who", "one vote"), key=1)
    assert sum(found.values()) == expected.total() + tied
    assert all(found[color] >= expected[color] for color in COLORS)
    decided = count(table, limited(Threshold(1, "x", equals="red"), 1, "who", "one vote"))
    voters = {who for who, _, x, _ in rows if x == "red"}
    assert decided == {"matching": len(voters)}


def test_ties_of_one_vote_go_to_nobody_in_particular(make: Make) -> None:
    people = 600
    table = make([(who, f"p{who}", x, 0) for who in range(people) for x in ("red", "green")])
    for listed in (["red", "green"], ["green", "red"]):
        found = count(table, Winner(listed, "x", person="name", person_rule="one vote"), key=7)
        assert sum(found.values()) == people
        assert abs(found["red"] - people / 2) < 4 * math.sqrt(people / 4)


def test_one_vote_for_a_quantile_is_the_median(make: Make) -> None:
    """Each value its own bin: a person's vote is one of the two medians."""
    draw = random.Random(6)
    rows: list[Row] = []
    lows: Counter[int] = Counter()
    highs: Counter[int] = Counter()
    for who in range(300):
        values = [draw.randrange(8) for _ in range(draw.randrange(8))]
        rows += [(who, f"p{who}", "", n) for n in values]
        if values:
            lows[statistics.median_low(values)] += 1
            highs[statistics.median_high(values)] += 1
    question = Quantile("1/2", range(9), "n", person="who", person_rule="one vote")
    found = list(count(make(rows), question, key=3).values())
    assert sum(found) == lows.total()
    below, above, seen = 0, 0, 0
    for n in range(8):
        below, above, seen = below + lows[n], above + highs[n], seen + found[n]
        assert above <= seen <= below
    ends: list[Row] = [(who, f"p{who}", "", n) for who in range(600) for n in (1, 6)]
    halves = list(count(make(ends), question, key=3).values())
    assert halves[1] + halves[6] == 600
    assert abs(halves[1] - 300) < 4 * math.sqrt(150)


@pytest.mark.slow
def test_spark_keeps_what_the_rules_say(spark: Any, tmp_path: Path) -> None:
    files = engines.Files(tmp_path)

    def make(rows: list[Row]) -> Any:
        return spark.read.parquet(str(files.parquet(rows)))

    rows = random_rows(random.Random(0), 30, [2**53, 2**53 + 1])
    for question in (RULES[1], RULES[3], RULES[5]):
        names = {row[0 if question.person == "who" else 1] for row in rows}
        column = 0 if question.person == "who" else 1
        parts = [count(make([r for r in rows if r[column] == w]), question, key=5) for w in names]
        whole = {name: sum(part[name] for part in parts) for name, _ in question.groups}
        assert count(make(rows), question, key=5) == whole
    check_sample(make, people=40)


# Faults that these tests must find


def check_rounds(make: Make) -> None:
    """Many, as the engines put people in an order of their own: one round can miss a fault."""
    for seed in range(200):
        check_sum_of_people(make, RULES[1], seed)


def test_hashing_the_place_of_a_person_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        frame_people, "hashed", lambda values, key: np.arange(len(values), dtype=np.uint64)
    )
    for make in (engines.pandas, engines.polars):
        with pytest.raises(AssertionError):
            check_rounds(make)
    monkeypatch.undo()
    drawn = np.random.default_rng(1)
    monkeypatch.setattr(
        frame_people, "hashed", lambda values, key: drawn.integers(0, 2**63, len(values), np.uint64)
    )
    with pytest.raises(AssertionError):
        check_one_person(engines.polars, RULES[1], 1000)  # few rounds show it


def test_the_first_listed_first_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    first_listed = Dialect(hashed=lambda key, terms: "0", spread=duck.DIALECT.spread)
    monkeypatch.setattr(duck, "DIALECT", first_listed)
    with pytest.raises(AssertionError):
        check_symmetry(engines.arrow)


def test_an_exclusive_or_with_the_last_term_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    weak = Dialect(lambda key, terms: f"hash({key}, {terms})", duck.DIALECT.spread)
    monkeypatch.setattr(duck, "DIALECT", weak)
    with pytest.raises(AssertionError):
        check_sample(engines.arrow, keys=3)


def test_one_record_too_many_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    first = sampling._first
    monkeypatch.setattr(sampling, "_first", lambda person, most: first(person, most + 1))
    with pytest.raises(AssertionError):
        check_sum_of_people(engines.pandas, RULES[1], 1)


# Who is who


def test_a_stretch_of_records_goes_on_where_the_last_one_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = random_rows(random.Random(8), 300, PEOPLE[:3])
    for question in RULES[:3]:
        whole = count(engines.polars(rows), question, key=8)
        monkeypatch.setattr(sampling, "_AT_ONCE", 7)
        assert count(engines.polars(rows), question, key=8) == whole
        monkeypatch.undo()


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_floats_tell_nobody_apart(kind: Any, tmp_path: Path) -> None:
    table = pa.table({"who": pa.array([1, 2, None], kind), "x": ["red"] * 3})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    tables = [
        *(table, duckdb.from_arrow(table), table.to_pandas(), pl.from_arrow(table)),
        *(table.to_pandas(types_mapper=pd.ArrowDtype), tmp_path / "t.parquet"),
        table.to_pandas().astype({"who": "category"}),
        table.to_pandas().astype({"who": "Float64"}),
    ]
    for one in tables:
        for asked in (VOTE, Winner(["a", "b"], "x")):
            with pytest.raises(UnreadableTable) as caught:
                count(one, limited(asked, 1, "who"))
            assert "floats cannot tell people apart, got the person column 'who' of " in str(
                caught.value
            )
            assert str(caught.value).endswith(
                "make it text or whole numbers, which in pandas are Int64 where some are missing"
            )


def test_lists_tell_nobody_apart() -> None:
    table = pa.table({"who": [[1], [2]], "x": ["red", "red"]})
    for one in (table, duckdb.from_arrow(table), pl.from_arrow(table)):
        with pytest.raises(UnreadableTable, match="a person column must hold texts, whole numbers"):
            count(one, limited(VOTE, 1, "who"))


def test_whole_numbers_beyond_floats_stay_apart(make: Make) -> None:
    """One row without a person used to make floats of all ids in pandas."""
    ids = [2**53 + i for i in range(50)]
    rows: list[Row] = [(who, str(who), "red", 0) for who in ids]
    for more in ([], [(None, None, "red", 0)]):
        assert count(make([*rows, *more]), limited(VOTE, 1, "who"))["red"] == 50


def test_texts_are_told_apart_by_their_bytes(make: Make) -> None:
    names = ["a", "A", "a ", " a", "é", "e\u0301", "ss", "ß", "1", "01", "1.0"]
    rows: list[Row] = [(0, name, "red", 0) for name in names]
    assert count(make(rows * 3), limited(VOTE, 1, "name"))["red"] == len(names)


def test_collations_tell_nobody_together(postgres_url: str) -> None:
    from postgres import connect, fresh_schema
    from rainbowdp.tables import SQLTable

    url = fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute(
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', "
            "deterministic = false)"
        )
        connection.execute("CREATE TABLE t (name text COLLATE loose, cents numeric, x text)")
        connection.execute(
            "INSERT INTO t VALUES ('a', 1.0, 'red'), ('A', 1.00, 'red'), ('a', 1, 'red'), "
            "('á', 'NaN', 'red')"
        )
    assert count(SQLTable(url, "t"), limited(VOTE, 1, "name"))["red"] == 3
    assert count(SQLTable(url, "t"), limited(VOTE, 1, "cents"))["red"] == 1
    relation = duckdb.connect()
    relation.execute("CREATE TABLE t (name VARCHAR COLLATE NOCASE, x VARCHAR)")
    relation.execute("INSERT INTO t VALUES ('a', 'red'), ('A', 'red')")
    assert count(relation.table("t"), limited(VOTE, 1, "name"))["red"] == 2


def test_objects_are_compared_by_value_and_type() -> None:
    day = pd.Timestamp("2024-01-01")
    noon = pd.Timestamp("2024-01-01 12:00", tz="UTC")
    ids = [
        *(1, True, 1.0, "1", b"1", Decimal(1), 0, False, "", day, day.date(), noon),
        *(2**70, 2**53, 2**53 + 1, float(2**53), math.inf, Decimal("Infinity"), Decimal(0)),
    ]
    same = [np.int64(1), np.True_, np.float64(1), "1", Decimal("1.00"), Decimal("0.0"), -0.0, 0.0]
    same += [noon.tz_convert("Asia/Tokyo")]
    nobody = [None, math.nan, pd.NA, pd.NaT, [1], {}, Decimal("NaN"), np.array([1, 2]), object()]
    who = pd.Series([*ids, *same, *nobody], dtype=object)
    table = pd.DataFrame({"who": who, "x": "red"})
    assert count(table, limited(VOTE, 1, "who"))["red"] == len(ids) + 1  # and 0.0


def test_one_odd_person_changes_nobody_else() -> None:
    """Among texts alone pandas has a quicker way; it must keep the same rows."""
    rows = random_rows(random.Random(2), 200, PEOPLE)
    table = engines.pandas_objects(rows)
    for odd in (7, 1.5, [1], object()):
        more = pd.concat([table, pd.DataFrame({"name": [odd], "x": ["mauve"], "n": [0]})])
        for key in range(5):
            question = limited(VOTE, 2, "name")
            assert count(more, question, key=key) == count(table, question, key=key)


def test_categories_are_the_texts_they_stand_for() -> None:
    rows = random_rows(random.Random(3), 200, PEOPLE)
    plain = engines.polars(rows)
    question = limited(VOTE, 2, "name")
    for key in range(4):
        for kind in (pl.Categorical, pl.Enum(plain["name"].unique().sort(descending=True))):
            cast = plain.with_columns(pl.col("name").cast(kind))
            assert count(cast, question, key=key) == count(plain, question, key=key)
            arrow = cast.to_arrow()
            assert count(arrow, question, key=key) == count(plain.to_arrow(), question, key=key)
        frame = engines.pandas(rows)
        orders = [sorted(set(frame["name"])), sorted(set(frame["name"]))[::-1]]
        found = [
            count(frame.assign(name=pd.Categorical(frame["name"], o)), question, key=key)
            for o in orders
        ]
        assert found[0] == found[1] == count(frame, question, key=key)


def test_nobody_at_all_counts_nothing() -> None:
    for table in (
        pa.table({"who": pa.nulls(2), "x": ["red", "red"]}),
        pl.DataFrame({"who": [None, None], "x": ["red", "red"]}),
        pd.DataFrame({"who": [None, None], "x": ["red", "red"]}),
    ):
        assert not any(count(table, limited(VOTE, 1, "who")).values())


# The words


def test_a_key_is_drawn_for_each_counting() -> None:
    table = engines.arrow([(who, "", x, 0) for who in range(500) for x in ("red", "green")])
    found = {count(table, limited(VOTE, 1, "who"))["red"] for _ in range(8)}
    assert len(found) > 1


def test_a_person_rule_is_a_word_of_the_question() -> None:
    asked = Winner(["a", "b"], "x", person="who", person_rule="one vote")
    assert asked.person_rule == "one vote"
    assert asked.describe()["person_rule"] == "one vote"
    assert Winner(["a", "b"]).describe()["person_rule"] == "sample"
    assert asked.margins({"a": 10}) == Winner(["a", "b"]).margins({"a": 10})
    with pytest.raises(InvalidQuestion, match="person_rule must be 'sample' or 'one vote'"):
        Winner(["a", "b"], "x", person_rule="first")
    with pytest.raises(InvalidQuestion, match="each person is one record, got rows_per_person=2"):
        limited(asked, 2, "who", "one vote")
    with pytest.raises(InvalidQuestion, match="needs person="):
        Winner(["a", "b"], "x", person_rule="one vote")
    own = Custom(
        ["a", "b"],
        lambda counts: {"a": 0, "b": 1},
        neighbors="substituted",
        name="own",
        column="x",
        groups=[("a", Equals("a"))],
        person="who",
        person_rule="one vote",
    )
    assert own.describe()["person_rule"] == "one vote"
    table = pa.table({"who": [1, 1, 2], "x": ["a", "a", "b"]})
    assert count(table, own) == {"a": 1}
