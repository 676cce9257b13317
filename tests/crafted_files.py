"""Small files that are made to hurt a reader: deep, long, huge, ambiguous; none is a mechanism."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import rainbowdp as rb
from mechanism_files import as_texts, contents, made
from rainbowdp.storage.documents import checksum

Content = dict[str, Any]


def _sealed(content: Content) -> str:
    content = as_texts(content)
    content.pop("checksum", None)
    return json.dumps({**content, "checksum": checksum(content)})


def _many_answers() -> str:
    """20,000 answers and no touching pairs: all pairs of them would fill 15 GB."""
    names = [str(number) for number in range(20_000)]
    content = contents("boundary")
    content["answers"] = content["question"]["answers"] = names
    content["regions"] = []
    content["touching"] = []
    return _sealed(content)


def _many_regions() -> str:
    names = [str(number) for number in range(12_000)]
    content = contents("boundary")
    content["answers"] = content["question"]["answers"] = names
    content["regions"] = [{"label": name, "certain": None, "rows": []} for name in names]
    content["touching"] = [[0, number] for number in range(1, 12_000)]
    return _sealed(content)


def _touching_again_and_again() -> str:
    content = contents("graph")
    content["touching"] = content["touching"] * 70_000
    return _sealed(content)


def _long_margins() -> str:
    content = contents("proximity")
    content["steps"] = [1] * 1_000_000
    return _sealed(content)


def _long_bins() -> str:
    content = contents("quantile")
    content["steps"] = [1] * 1_000_000
    return _sealed(content)


def _a_table_of_many_corners() -> str:
    """165 rows whose corners are 10^8."""
    names = list("abcdefghi")
    question = rb.Winner(names, ties="any leader", neighbors="substituted").describe()
    total = 1 << 64
    return _sealed(
        {
            **contents("margin table"),
            "question": question,
            "answers": names,
            "shape": {
                "answers": 9,
                "neighbors": "substituted",
                "ties": "any leader",
                "knots": [0, 1, 2],
                "farthest": 9,
                "ratio": "1/2",
                "labeled": 0,
            },
            "total": 9 * total,
            "rows": [[total] * 9] * 165,
        }
    )


def _many_sets() -> str:
    ranking = rb.Ranking(["a", "b", "c", "d"], first=2, in_order=False)
    content = rb.by_kind(ranking, rb.DP(1), "permute-and-flip").exact().describe()
    content["coins"]["scores"] |= {"ranked": 4_000_000, "first": 2_000_000}
    return _sealed(content)


def _many_people() -> str:
    content = contents("coins")
    content["question"]["rows_per_person"] = 9_000_000_000_000_000
    content["coins"]["scores"]["rows"] = 9_000_000_000_000_000
    return _sealed(content)


def _wide_noise() -> str:
    vote = rb.Winner(["a", "b"])
    content = rb.by_kind(vote, rb.GaussianDP(1), "noisy-counts").exact().describe()
    content["noise"] |= {"deviation": "1" + "0" * 60, "bits": 4096}
    return _sealed(content)


def _a_long_count() -> str:
    content = rb.best(rb.Count(), rb.GaussianDP(1)).exact().describe()
    content["noise"]["half"] = content["noise"]["half"][:1] * 100_000
    return _sealed(content)


def _a_long_guarantee() -> str:
    content = contents("homogeneous")
    content["guarantee"] = {"kind": "dp", "epsilon": "1/1" + "0" * 4000, "delta": "0"}
    return _sealed(content)


def _a_curve_of_many_knots() -> str:
    content = contents("polygon")
    content["guarantee"]["knots"] = [[f"{i}/20000", f"{20000 - i}/20000"] for i in range(20_001)]
    return _sealed(content)


def _a_label_in_lists() -> str:
    content = contents("graph")
    label: Any = "x"
    for _ in range(200):
        label = [label]
    content["regions"][0]["label"] = label
    return _sealed(content)


def _a_long_weight() -> str:
    content = made("proximity").describe()
    content["total"] = "9" * 300_000
    return _sealed(content)


def _plain(text: str) -> Callable[[], str]:
    def make() -> str:
        return text

    return make


def _with(old: str, new: str) -> Callable[[], str]:
    """A good file with a piece of its text replaced."""

    def make() -> str:
        text = made("homogeneous").as_text()
        assert old in text
        return text.replace(old, new, 1)

    return make


CRAFTED: dict[str, Callable[[], str]] = {
    "nothing": _plain(""),
    "a list": _plain("[]"),
    "a text": _plain('"rainbowdp mechanism"'),
    "deep lists": _plain("[" * 200_000 + "]" * 200_000),
    "deep objects": _plain('{"a":' * 100_000 + "1" + "}" * 100_000),
    "deep, not closed": _plain("[" * 300_000),
    "a huge integer": _with('"version": 1', '"version": 1' + "0" * 400_000),
    "an integer above 2^53": _with('"version": 1', '"version": 9007199254740993'),
    "NaN": _with('"version": 1', '"version": NaN'),
    "Infinity": _with('"version": 1', '"version": Infinity'),
    "a float": _with('"version": 1', '"version": 1.0'),
    "an exponent": _with('"version": 1', '"version": 1e0'),
    "a key twice": _with('"version": 1', '"version": 1, "version": 1'),
    "a key twice, escaped": _with('"version": 1', '"version": 1, "v\\u0065rsion": 1'),
    "half a surrogate": _with('"a"', '"\\ud800"'),
    "the other half": _with('"a"', '"\\udc00x"'),
    "a control character": _with('"a"', '"\x01"'),
    "a trailing comma": _with('"version": 1,', '"version": 1,,'),
    "more behind": lambda: made("homogeneous").as_text() + "{}",
    "a long fraction": lambda: _sealed({**contents("proximity"), "mixing": "9" * 300_000}),
    "a long weight": _a_long_weight,
    "20,000 answers": _many_answers,
    "12,000 regions": _many_regions,
    "one pair 70,000 times": _touching_again_and_again,
    "margins with 10^6 steps": _long_margins,
    "bins with 10^6 steps": _long_bins,
    "10^8 corners": _a_table_of_many_corners,
    "sets of millions": _many_sets,
    "billions of records a person": _many_people,
    "endless noise": _wide_noise,
    "a long count": _a_long_count,
    "a long epsilon": _a_long_guarantee,
    "20,000 knots": _a_curve_of_many_knots,
    "a label in 200 lists": _a_label_in_lists,
}
