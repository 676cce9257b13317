"""The golden files of the format: one or more of every kind, and forgeries of each.

``python tests/golden_files.py`` writes them to ``tests/golden``. A forgery has a checksum that fits
and breaks its promise: only a proof can tell. ``expected.json`` has exact rows, by which any reader
can be compared.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import rainbowdp as rb
from mechanism_files import POLYGON, as_numbers, as_texts, chain
from rainbowdp.exact.counts import ExactCount
from rainbowdp.exact.mechanism import ExactMechanism, key_finder
from rainbowdp.exact.rows import ExactRow
from rainbowdp.rules.crowd_table.program import make_table, shape_for
from rainbowdp.storage.documents import checksummed

FOLDER = Path(__file__).parent / "golden"
FORGED = FOLDER / "forged"
Content = dict[str, Any]

POLL = rb.Winner(["red", "green", "blue"], "choice")
COMING = rb.Winner(["a", "b"], "choice", ties="any leader", neighbors="added or removed")
MEDIAN = rb.Quantile("1/2", [None, 20, 40.5, None], "age")
SETS = rb.Ranking(["a", "b", "c", "d"], first=2, in_order=False)


def star() -> rb.RainbowGraph:
    """Three arms of length three, each nearest to its own end."""
    edges = [(0, 1), (0, 4), (0, 7), (1, 2), (2, 3), (4, 5), (5, 6), (7, 8), (8, 9)]
    labels = ["x", "x", "x", "x", "y", "y", "y", "z", "z", "z"]
    orders = {"x": ("x", "y", "z"), "y": ("y", "z", "x"), "z": ("z", "x", "y")}
    return rb.RainbowGraph(edges, orders, ("x", "y", "z"), labels=labels)


@cache
def words() -> ExactMechanism:
    """A crowd table with words that is small enough to read: four answers, 42 rows."""
    vote = rb.Winner(list("abcd"))
    shape = shape_for(4, 2.0, str(vote.neighbors), str(vote.ties), (4, 2))
    table, mixing = make_table(shape, rb.DP(2), iterate=True)
    return ExactMechanism(
        rb.DP(2),
        vote.answers,
        table,
        neighbors=vote.neighbors,
        question=vote.describe(),
        mixing=mixing,
        locate=key_finder(vote, table),
    )


MAKERS: dict[str, Callable[[], ExactMechanism | ExactCount]] = {
    "homogeneous-graph": lambda: rb.deploy(star(), rb.DP(1), "homogeneous").exact(),
    "homogeneous-graph-gaussian": lambda: rb.optimal(chain(1, 2), rb.GaussianDP("0.8")).exact(),
    "homogeneous-graph-polygon": lambda: rb.optimal(chain("left", "right"), POLYGON).exact(),
    "homogeneous-threshold": lambda: rb.best(rb.Threshold(5, "age", minimum=65), rb.DP(2)).exact(),
    "homogeneous-share": lambda: rb.best(rb.Share("1/3"), rb.DP(2, "1/1000")).exact(),
    "homogeneous-boundary": lambda: rb.optimal(POLL, rb.DP(2), ["0.4", "0.3", "0.3"]).exact(),
    "proximity-winner": lambda: rb.proximity(POLL, rb.DP.from_ratio(3, delta="1/1000")).exact(),
    "proximity-graph": lambda: rb.deploy(star(), rb.DP(1), "proximity").exact(),
    "margin-flip-quantile": lambda: rb.by_kind(MEDIAN, rb.DP("0.2"), "margin-flip").exact(),
    "margin-flip-graph": lambda: rb.deploy(star(), rb.DP("0.3"), "margin-flip").exact(),
    "ordered-bins": lambda: rb.by_kind(MEDIAN, rb.DP(2), "ordered-bins").exact(),
    "margin-table": lambda: rb.by_kind(POLL, rb.DP(2), "margin-table").exact(),
    "permute-and-flip": lambda: rb.by_kind(POLL, rb.DP("0.5"), "permute-and-flip").exact(),
    "permute-and-flip-people": lambda: rb.by_kind(
        rb.Winner(["a", "b"], "c", person="who", rows_per_person=3, ties="any leader"),
        rb.DP(1),
        "permute-and-flip",
    ).exact(),
    "permute-and-flip-sets": lambda: rb.by_kind(SETS, rb.DP(1), "permute-and-flip").exact(),
    "exponential-rho": lambda: rb.by_kind(POLL, rb.ZeroConcentrated("1/8"), "exponential").exact(),
    "exponential-mu": lambda: rb.by_kind(COMING, rb.GaussianDP("1/2"), "exponential").exact(),
    "exponential-graph": lambda: rb.deploy(star(), rb.DP("0.7"), "exponential").exact(),
    "noisy-counts": lambda: rb.by_kind(POLL, rb.DP(1, "1e-6"), "noisy-counts").exact(),
    "noisy-counts-coming": lambda: rb.by_kind(COMING, rb.GaussianDP(1), "noisy-counts").exact(),
    "crowd-table": lambda: rb.by_kind(
        rb.Winner(list("abcdefg"), neighbors="added or removed"), rb.DP(2), "crowd-table"
    ).exact(),
    "crowd-table-words": lambda: words(),
    "count": lambda: rb.best(rb.Count("age", minimum=65), rb.DP(1)).exact(),
    "count-gaussian": lambda: rb.best(rb.Count(at_most=1000), rb.GaussianDP("3/2")).exact(),
    "names": lambda: rb.best(
        rb.Winner(["grün", "赤", 'a "b" \\', "\U0001f308\u2028"], neighbors="added or removed"),
        rb.DP("0.1"),
    ).exact(),
}


def _stronger(content: Content) -> None:
    """The file claims a tenth more privacy than it has."""
    promise = content["guarantee"]
    for name in ("epsilon", "mu", "rho"):
        if name in promise:
            promise[name] = str(Fraction(promise[name]) * Fraction(9, 10))
    if "ratio" in promise:
        promise["ratio"] = str(1 + (Fraction(promise["ratio"]) - 1) * Fraction(9, 10))
    if promise["kind"] == "trade-off":
        promise["knots"] = [["0", "1"], ["9/20", "9/20"], ["1", "0"]]


def _a_little(content: Content) -> None:
    """A millionth of a millionth of a border row, from the last answer to the first."""
    row = content["regions"][0]["rows"][0]
    row[0], row[-1] = row[0] + (1 << 24), row[-1] - (1 << 24)


def _steeper(content: Content) -> None:
    """The next row is left out."""
    if "ladder" in content:
        del content["ladder"][1]
    elif "steps" in content:
        del content["steps"][1]
    else:
        del content["regions"][0]["rows"][1]


def _more_people(content: Content) -> None:
    """A person may have twice the records, and the scores say so too."""
    content["question"]["rows_per_person"] *= 2
    for part in ("coins", "weights", "noise"):
        for scores in ("scores", "vote"):
            if isinstance(content.get(part), dict) and scores in content[part]:
                content[part][scores]["rows"] *= 2


def _substituted(content: Content) -> None:
    """Made for records that come and go, claimed for records that change."""
    content["neighbors"] = content["question"]["neighbors"] = "substituted"
    for part in ("coins", "weights", "noise"):
        for scores in ("scores", "vote"):
            if isinstance(content.get(part), dict) and scores in content[part]:
                content[part][scores]["neighbors"] = "substituted"
    if "shape" in content:
        content["shape"]["neighbors"] = "substituted"


def _a_ratio_lower(content: Content) -> None:
    """Coins or weights that fall a little faster."""
    part = content["coins"] if "coins" in content else content["weights"]
    part["ratio"] = str(Fraction(part["ratio"]) - Fraction(1, 1 << 50))


def _less_noise(content: Content) -> None:
    deviation = Fraction(content["noise"]["deviation"]) * Fraction(99, 100)
    content["noise"]["deviation"] = str(deviation)


def _a_sharper_peak(content: Content) -> None:
    content["noise"]["half"][0] *= 2


def _a_row_of_another(content: Content) -> None:
    rows = content["rows"]
    rows[0], rows[1] = rows[1], rows[0]


def _a_crowd_at_little_epsilon(content: Content) -> None:
    """Weights that fall slowly enough for ε = 1/10, and losers that have too much together."""
    content["guarantee"]["epsilon"] = "1/10"
    content["total"] = 1 << 64
    steps = [content["total"] * 10_000 // 11_051 + 1]
    while steps[-1] > 1 << 30:
        steps.append(steps[-1] * 10_000 // 11_051 + 1)
    content["steps"] = steps


def _surer_in_a_tie(content: Content) -> None:
    """Where one rival is tied, a tenth of its weight goes to the leader."""
    shape, rows = content["shape"], content["rows"]
    row = rows[1] if shape["ordered"] == 0 else next(row for row in rows if row[1] and not row[2])
    part = row[1] // 10
    row[0], row[1] = row[0] + part, row[1] - part


def _a_little_in_a_tie(content: Content) -> None:
    """The same by a thousandth of what a word leaves to the second letter."""
    row = next(row for row in content["rows"] if row[2] and not row[3])
    part = row[2] // 1000
    row[0], row[2] = row[0] + part, row[2] - part


def _coins_too_fast(content: Content) -> None:
    """A rival behind the last knot loses more by one record than the promise allows."""
    ratio = Fraction(content["shape"]["ratio"])
    content["shape"]["ratio"] = str(ratio - Fraction(1, 1 << 20))


def _coins_twice_as_fast(content: Content) -> None:
    content["shape"]["ratio"] = str(Fraction(content["shape"]["ratio"]) / 2)


def _coins_too_slow(content: Content) -> None:
    """Rivals far behind count nearly as much as those at the last knot."""
    content["shape"]["ratio"] = str(1 - Fraction(1, 1 << 20))


def _letters_swapped(content: Content) -> None:
    """The first two letters of every word trade weights, as if the list were turned around."""
    for row in content["rows"]:
        if row[2]:
            row[1], row[2] = row[2], row[1]


def _fewer_letters(content: Content) -> None:
    """Rows for words, read as if one gap less had letters."""
    content["shape"]["ordered"] -= 1


def _any_leader(content: Content) -> None:
    """Made for ties to the first listed, claimed where any leader is right."""
    content["question"]["ties"] = content["shape"]["ties"] = "any leader"


def _a_leader_alone(content: Content) -> None:
    """Nobody else can be said in a tie, so that one record more is seen."""
    row = content["rows"][1]
    row[0], row[1] = row[0] + row[1] - 1, 1


def _no_touching(content: Content) -> None:
    """For a question, where any two answers may be neighbors."""
    content["touching"].pop()


FORGERIES: dict[str, tuple[Callable[[Content], None], ...]] = {
    "homogeneous-graph": (_stronger, _a_little, _steeper),
    "homogeneous-graph-gaussian": (_stronger, _a_little, _steeper),
    "homogeneous-graph-polygon": (_stronger, _a_little),
    "homogeneous-threshold": (_stronger, _steeper),
    "homogeneous-share": (_stronger, _steeper),
    "homogeneous-boundary": (_stronger, _no_touching, _steeper),
    "proximity-winner": (_stronger, _steeper),
    "proximity-graph": (_stronger, _steeper),
    "margin-flip-quantile": (_stronger, _a_ratio_lower),
    "margin-flip-graph": (_stronger, _a_ratio_lower),
    "ordered-bins": (_stronger, _steeper, _more_people, _a_crowd_at_little_epsilon),
    "margin-table": (_stronger, _a_row_of_another, _more_people),
    "permute-and-flip": (_stronger, _a_ratio_lower, _more_people),
    "permute-and-flip-people": (_stronger, _a_ratio_lower, _more_people),
    "permute-and-flip-sets": (_stronger, _a_ratio_lower, _more_people),
    "exponential-rho": (_stronger, _a_ratio_lower, _more_people),
    "exponential-mu": (_stronger, _a_ratio_lower, _substituted),
    "exponential-graph": (_stronger, _a_ratio_lower),
    "noisy-counts": (_stronger, _less_noise, _more_people),
    "noisy-counts-coming": (_stronger, _less_noise, _substituted),
    "crowd-table": (
        *(_stronger, _substituted, _any_leader, _more_people, _a_row_of_another),
        *(_surer_in_a_tie, _coins_too_fast, _coins_too_slow, _a_leader_alone),
    ),
    "crowd-table-words": (
        *(_stronger, _a_little_in_a_tie, _surer_in_a_tie, _coins_twice_as_fast),
        *(_letters_swapped, _fewer_letters),
    ),
    "count": (_stronger, _a_sharper_peak, _more_people),
    "count-gaussian": (_stronger, _a_sharper_peak, _more_people),
    "names": (_stronger, _substituted),
}


def forged(content: Content, forge: Callable[[Content], None]) -> Content:
    """A forgery of a file's content, without a checksum."""
    changed = as_numbers(copy.deepcopy(content))
    changed.pop("checksum", None)
    forge(changed)
    texts: Content = as_texts(changed)
    return texts


COUNTS: dict[str, list[dict[str, int]]] = {
    "homogeneous-threshold": [{"matching": n} for n in (0, 4, 5, 9, 10**20)],
    "homogeneous-share": [{"matching": 3, "others": 7}, {"matching": 50, "others": 60}],
    "homogeneous-boundary": [{"red": 4, "green": 4, "blue": 1}, {"blue": 30}],
    "proximity-winner": [{"red": 4, "green": 6}, {"red": 1, "green": 1, "blue": 1}],
    "margin-flip-quantile": [{}, dict(zip(MEDIAN.answers, (4, 1, 2), strict=True))],
    "ordered-bins": [{}, dict(zip(MEDIAN.answers, (4, 1, 2), strict=True))],
    "margin-table": [
        {"red": 4, "green": 4, "blue": 3},
        {"red": 0, "green": 17, "blue": 9},
        {"red": 10**20},
    ],
    "permute-and-flip": [{"red": 4, "green": 4, "blue": 3}, {"blue": 700, "red": 1}],
    "permute-and-flip-people": [{"a": 4, "b": 4}, {"a": 10, "b": 31}],
    "permute-and-flip-sets": [{"a": 4, "b": 4, "c": 3, "d": 9}],
    "exponential-rho": [{"red": 4, "green": 4, "blue": 3}, {"blue": 70}],
    "exponential-mu": [{"a": 3, "b": 9}],
    "noisy-counts": [{"red": 4, "green": 4, "blue": 3}, {"blue": 12, "red": 9}],
    "noisy-counts-coming": [{"a": 4, "b": 4}, {"a": 4, "b": 6}],
    "crowd-table": [
        dict(zip("abcdefg", (4, 4, 3, 9, 9, 0, 9), strict=True)),
        {"c": 12, "g": 5, "a": 1},
        {"b": 10**20},
    ],
    "crowd-table-words": [
        *({"a": 4, "b": 4, "c": 4, "d": 4}, {"a": 4, "b": 5, "c": 5, "d": 3}),
        *({"c": 9, "a": 9, "d": 2}, {"d": 10**20, "a": 10**20 - 4}),
    ],
    "names": [{"grün": 3, "赤": 3}, {"\U0001f308\u2028": 40}],
}
KEYS: dict[str, list[Any]] = {
    "homogeneous-graph": [["x", 0], ["y", 2], ["z", 10**6]],
    "homogeneous-graph-gaussian": [[1, 0], [2, 1]],
    "homogeneous-graph-polygon": [["left", 0], ["right", 2]],
    "proximity-graph": [{"x": 0, "y": 1, "z": 1}, {"x": 3, "y": 0, "z": 4}],
    "margin-flip-graph": [{"x": 0, "y": 1, "z": 1}, {"x": 3, "y": 0, "z": 400}],
    "exponential-graph": [{"x": 0, "y": 1, "z": 1}, {"x": 3, "y": 0, "z": 400}],
}


def expected(name: str, made: ExactMechanism | ExactCount) -> Iterator[dict[str, Any]]:
    """The exact rows of a file at a few places, in lowest terms."""
    if isinstance(made, ExactCount):
        for number in (-3, 0, 1, 2, 7):
            share = Fraction(made.noise.weight(number), made.noise.total)
            yield {"file": name, "noise": number, "chances": [str(share)]}
        return
    for counts in COUNTS.get(name, []):
        row = made.at(counts).probabilities
        yield {"file": name, "counts": _texts(counts), "chances": [str(row[a]) for a in row]}
    for key in KEYS.get(name, []):
        place = tuple(key) if isinstance(key, list) else key  # as a phone has it, not as the graph
        row = ExactRow(made.answers, made.rule.weights(place, made.answers)).probabilities
        yield {"file": name, "key": _texts(key), "chances": [str(row[a]) for a in row]}


def _texts(given: Any) -> Any:
    """Numbers above 2^53 as text, as everywhere."""
    if isinstance(given, dict):
        return {key: value if value < 1 << 53 else str(value) for key, value in given.items()}
    return given


def write_all() -> None:
    """Make and write all of them."""
    FORGED.mkdir(parents=True, exist_ok=True)
    places: list[dict[str, Any]] = []
    for name, make in MAKERS.items():
        made = make()
        made.save(FOLDER / f"{name}.json")
        content = made.describe()
        for forge in FORGERIES[name]:
            text = checksummed(forged(content, forge))
            (FORGED / f"{name}-{forge.__name__[1:]}.json").write_text(text, encoding="utf-8")
        places += expected(name, made)
    text = json.dumps(places, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / "expected.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_all()
