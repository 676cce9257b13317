"""How each mechanism does, as a value to print, draw or turn into JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rainbowdp.aliases import Dataset
from rainbowdp.answering.distance import MeanOff
from rainbowdp.assessing.assess import Loss
from rainbowdp.display import cards
from rainbowdp.display.numbers import percent, uncertain
from rainbowdp.display.tabular import csv_text, latex_text
from rainbowdp.errors import RainbowError
from rainbowdp.expecting import brief
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.guarantee import Guarantee


@dataclass(frozen=True)
class Standing:
    """How one mechanism does on the compared datasets."""

    name: str
    mechanism: str
    mean_error: float
    worst: float
    worst_dataset: Dataset
    by_margin: Mapping[int, float]
    sure_from: int | None
    epsilon_to_match: float | None
    off: MeanOff | None = None
    value: float | None = None
    loss: Loss | None = None

    def as_dict(self) -> dict[str, Any]:
        """The standing, ready for JSON."""
        return {
            "name": self.name,
            "mechanism": self.mechanism,
            "mean_error": self.mean_error,
            "worst_probability_of_true_answer": self.worst,
            "worst_dataset": self.worst_dataset,
            "probability_of_true_answer_by_margin": {str(m): p for m, p in self.by_margin.items()},
            "sure_from_margin": self.sure_from,
            "epsilon_to_match": self.epsilon_to_match,
            "records_off": None if self.off is None else self.off.records,
            "bins_off": None if self.off is None else self.off.bins,
            "more_than_one_bin_off": None if self.off is None else self.off.beyond,
            "mean_worth": self.value,
            "distance": None if self.loss is None else self.loss.distance,
            "extra_distance": None if self.loss is None else self.loss.extra,
            "within": {}
            if self.loss is None
            else {f"{x:g}": p for x, p in self.loss.within.items()},
        }


@dataclass(frozen=True)
class Comparison:
    """Mechanisms side by side; made by ``rb.compare``.

    Attributes
    ----------
    what
        The question or graph, in words.
    guarantee
        What every mechanism promises.
    over
        The compared datasets, in words.
    datasets
        How many they are.
    standings
        How each mechanism does, in the order given; the others are compared with the first.
    left_out
        The mechanisms that do not exist under this guarantee, and why.
    unit
        What distances count: records, or people if a person may have several.

    """

    what: str
    guarantee: Guarantee
    over: str
    datasets: int
    standings: tuple[Standing, ...]
    left_out: Mapping[str, str]
    unit: str = "records"

    def __getitem__(self, name: str) -> Standing:
        """The standing of the mechanism called ``name``."""
        for standing in self.standings:
            if standing.name == name:
                return standing
        names = ", ".join(s.name for s in self.standings)
        raise RainbowError(f"a comparison must be asked for one of {names}, got {brief(name)}")

    def _repr_html_(self) -> str:
        head, *rows = self._summary()
        table = cards.table(head, rows, len(rows))
        over = f"errors over {self.over}"
        out = (f"left out: {name}, as {reason}" for name, reason in self.left_out.items())
        return cards.card(f"{self.what}, {self.guarantee}", over, table, *out)

    def _summary(self) -> list[tuple[str, ...]]:
        first = self.standings[0].name
        bins = (f"{self.unit} off", "bins off", "> 1 bin off") if self.standings[0].off else ()
        far = (*bins, *_measures(self.standings[0]))
        head = (
            *("mechanism", "mean error", "worst error", *far),
            *("99 % sure from", f"ε to match {first}"),
        )
        rows = [
            (
                s.name if s.name == s.mechanism else f"{s.name} ({s.mechanism})",
                percent(s.mean_error),
                percent(1 - s.worst),
                *_far_off(s.off),
                *_lost(s),
                "–" if s.sure_from is None else f"margin {s.sure_from}",
                "–" if s.epsilon_to_match is None else f"{s.epsilon_to_match:.3g}",
            )
            for s in self.standings
        ]
        return [head, *rows]

    def __str__(self) -> str:
        shown = _spread(sorted(self.standings[0].by_margin), 8)
        margins = [
            (s.name, *(uncertain(s.by_margin[margin]) for margin in shown)) for s in self.standings
        ]
        return "\n".join(
            [
                f"{self.what}, {self.guarantee}",
                f"errors over {self.over}",
                "",
                *_aligned(self._summary()),
                "",
                "least probability of the true answer by margin",
                *_aligned([("margin", *map(str, shown)), *margins]),
                *(f"left out: {name}, as {reason}" for name, reason in self.left_out.items()),
            ]
        )

    def to_csv(self) -> str:
        """The summary as comma-separated values, percentages and all as they are printed."""
        head, *rows = self._summary()
        return csv_text(head, rows)

    def to_latex(self) -> str:
        """The summary as a LaTeX ``tabular``, which needs no package."""
        head, *rows = self._summary()
        return latex_text(head, rows)

    def to_frame(self) -> Any:
        """The standings as a pandas frame, in numbers: a row for each mechanism."""
        import pandas as pd

        rows = []
        for standing in self.standings:
            said = standing.as_dict()
            del said["probability_of_true_answer_by_margin"]
            within = {f"within {x}": chance for x, chance in said.pop("within").items()}
            rows.append({**said, **within})
        return pd.DataFrame(rows)

    def as_dict(self) -> dict[str, Any]:
        """The comparison, ready for JSON."""
        return {
            "question": self.what,
            "guarantee": describe_guarantee(self.guarantee),
            "over": self.over,
            "datasets": self.datasets,
            "mechanisms": [standing.as_dict() for standing in self.standings],
            "left_out": dict(self.left_out),
        }


def _measures(standing: Standing) -> tuple[str, ...]:
    """The heads of what a graph is compared by besides errors."""
    worth = () if standing.value is None else ("worth",)
    if standing.loss is None:
        return worth
    return (*worth, "distance", "extra", *(f"within {x:g}" for x in standing.loss.within))


def _lost(standing: Standing) -> tuple[str, ...]:
    worth = () if standing.value is None else (f"{standing.value:.4g}",)
    if standing.loss is None:
        return worth
    away = (f"{standing.loss.distance:.4g}", f"{standing.loss.extra:.4g}")
    return (*worth, *away, *(uncertain(p) for p in standing.loss.within.values()))


def _far_off(off: MeanOff | None) -> tuple[str, ...]:
    if off is None or off.bins is None or off.beyond is None:
        return ()
    return f"{off.records:.3g}", f"{off.bins:.3g}", percent(off.beyond)


def _spread(margins: Sequence[int], most: int) -> list[int]:
    """At most ``most`` of the margins: the first few, then ever fewer, and the last."""
    if len(margins) <= most:
        return list(margins)
    places = np.unique(np.geomspace(1, len(margins), most).round().astype(int)) - 1
    return [margins[place] for place in places]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first column aligned left and the others right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _by_distance(loss: Loss | None) -> dict[str, float]:
    return {} if loss is None else {f"{x:g}": chance for x, chance in loss.within.items()}
