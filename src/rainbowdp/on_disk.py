"""Mechanism files for graphs that are larger than memory.

The mechanism itself is small: a row for each region and depth, or a rule for margins. What is large
stays in DuckDB: the edges, on every one of which the depths or margins are checked, and the key of
each node, which goes from there to its file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Floats
from rainbowdp.deployment import MOST_WEIGHTS, margin_columns, must_be_columns, region_column
from rainbowdp.errors import InvalidFile, InvalidGuarantee, InvalidMechanism, RainbowError
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.disk import DiskRegions
from rainbowdp.graphs.saying import ON_A_GRAPH
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.mechanisms.best_on_graphs import Candidate
from rainbowdp.mechanisms.by_margins import RuleByMargins
from rainbowdp.mechanisms.leveled import Leveled
from rainbowdp.mechanisms.margin_rules import BY_MARGINS, margin_rule
from rainbowdp.storage.documents import checksum
from rainbowdp.storage.sql import quoted
from rainbowdp.storage.whole_file import whole_file

KINDS = ("homogeneous", *BY_MARGINS)
_CELLS = 1 << 22  # margins that are valued at a time


@dataclass(frozen=True)
class DiskDeployment:
    """An exact mechanism for a graph on disk, and the key of each node; by ``deploy_on_disk``.

    Attributes
    ----------
    regions
        The graph and its regions.
    mechanism
        The mechanism in integers, with its proof.
    least, mean
        The chance of a node's first choice: the least, and in the mean over nodes.
    value
        What it is worth in the mean over nodes, where a utility was given.
    candidates
        What it was chosen from, the best first, if you asked for the best.

    """

    regions: DiskRegions
    mechanism: ExactMechanism
    least: float
    mean: float
    _keys: str = field(repr=False)  # the table of keys
    _columns: dict[str, str] = field(repr=False)  # by the name in the file
    candidates: tuple[Candidate, ...] = ()
    value: float | None = None

    @property
    def keys(self) -> list[str]:
        """The columns that make up a key besides the region."""
        return list(self._columns)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the mechanism to ``path``, and the keys beside it to a ``.parquet`` file.

        Parameters
        ----------
        path
            The mechanism file; the keys have its name with the ending ``.parquet``.

        Returns
        -------
        pathlib.Path
            The mechanism file.

        Raises
        ------
        InvalidFile
            If a file cannot be written.
        InvalidMechanism
            If ``path`` ends in ``.parquet``, which is for the keys.

        """
        target = Path(path)
        table = target.with_suffix(".parquet")
        if table == target:
            raise InvalidMechanism(
                f"the name of the mechanism file must not end in .parquet, got {target}"
            )
        with whole_file(table, "the file of keys", InvalidFile) as draft:
            self._write_keys(draft)
            self.mechanism.save(target)
        return target

    def _write_keys(self, draft: Path) -> None:
        graph = self.regions.graph
        labels = region_column(list(self.regions.rainbows))
        must_be_columns(list(self._columns))
        node, names = f"r.place + {graph.names.start}" if isinstance(graph.names, range) else "", ""
        if not node:
            node, names = "n.name", f"JOIN {graph.names} AS n ON r.place = n.place"
        listed = ", ".join(
            f"k.{column} AS {quoted(name, chr(34))}" for name, column in self._columns.items()
        )
        graph.engine.run(
            f"COPY (SELECT {node} AS node, $labels[r.value + 1] AS region, {listed} "  # noqa: S608
            f"FROM {self.regions.table} AS r LEFT JOIN {self._keys} AS k ON r.place = k.place "
            f"{names} ORDER BY r.place) TO $draft "
            "(FORMAT parquet, COMPRESSION zstd, KV_METADATA {mechanism: $sum})",
            {"labels": labels, "draft": str(draft), "sum": checksum(self.mechanism.describe())},
        )


def deploy_on_disk(
    regions: DiskRegions,
    guarantee: TradeOffCurve,
    kind: str = "best",
    *,
    boundary: Any = None,
    utility: Mapping[Any, Mapping[Answer, float]] | None = None,
) -> DiskDeployment:
    r"""Make a mechanism for a graph on disk exact, check every edge, and find each node's key.

    Parameters
    ----------
    regions
        What ``graph.nearest_sites`` or ``graph.labeled`` returned.
    guarantee
        What is promised between neighbors.
    kind
        ``"homogeneous"``, ``"margin-flip"``, ``"exponential"`` or ``"proximity"``; or ``"best"``,
        whichever of them says the true answer most often in the mean over nodes.
    boundary
        For homogeneous only, as in ``rb.optimal``.
    utility
        For best only: {region: {answer: worth}}, the same for all regions with one first choice.
        By default the first choice is worth 1.

    Returns
    -------
    DiskDeployment
        The mechanism, ready to be saved with the keys.

    Raises
    ------
    InvalidGuarantee
        If the kind is not private here under this guarantee.
    InvalidMechanism
        If there is no such kind, or an edge breaks what the proof relies on.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rainbowdp import DP, graph_on_disk
    >>> work = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(work.name, "roads.csv")
    >>> _ = file.write_text("0,1\n1,2\n2,3\n3,4\n")
    >>> with graph_on_disk(file) as roads:
    ...     near = roads.nearest_sites({"north": 0, "south": 4})
    ...     made = deploy_on_disk(near, DP(1))
    ...     print(made.mechanism.name, round(made.mean, 4))
    homogeneous 0.8456
    >>> work.cleanup()

    """
    expect(regions, DiskRegions, "deploy_on_disk", InvalidMechanism)
    promise = curve_of(guarantee, "deploy_on_disk")
    if kind not in ("best", *KINDS):
        raise InvalidMechanism(f"kind must be best, {' or '.join(KINDS)}, got kind={brief(kind)}")
    if boundary is not None and kind != "homogeneous":
        raise InvalidMechanism(f"{kind} has no boundary to choose; leave out boundary")
    if utility is not None and kind != "best":
        raise InvalidMechanism(f"utility is for best, got kind={brief(kind)}")
    shop = _Shop(regions, promise, _by_first_choice(regions, utility))
    if kind == "homogeneous":
        return shop.homogeneous(boundary)
    if kind != "best":
        return shop.by_margins(kind)
    return shop.best()


def _value(made: DiskDeployment) -> float:
    return made.mean if made.value is None else made.value


def _by_first_choice(
    regions: DiskRegions, utility: Mapping[Any, Mapping[Answer, float]] | None
) -> Floats | None:
    """The worth of each answer by first choice; regions that share one must value alike."""
    if utility is None:
        return None
    expect(utility, Mapping, "utility", InvalidMechanism)
    number = {answer: place for place, answer in enumerate(regions.answers)}
    worth = np.zeros((len(number), len(number)))
    known: dict[int, Any] = {}
    for label, rainbow in regions.rainbows.items():
        if label not in utility or set(utility[label]) != set(number):
            raise InvalidMechanism(
                f"utility must have a worth for each answer in the region {brief(label)}"
            )
        row = np.array([float(utility[label][answer]) for answer in regions.answers])
        if not np.isfinite(row).all():
            raise InvalidMechanism(f"worths must be finite numbers, got others in {brief(label)}")
        place = number[rainbow[0]]
        if place in known and (worth[place] != row).any():
            raise InvalidMechanism(
                f"the regions {brief(known[place])} and {brief(label)} have one first choice, "
                "and on disk "
                "they must value answers alike; use the engine in memory, or the same losses"
            )
        known[place], worth[place] = label, row
    return worth


@dataclass(frozen=True)
class _Shop:
    """What the kinds are made from; margins are found once for all of them."""

    regions: DiskRegions
    guarantee: TradeOffCurve
    worth: Floats | None = None  # by first choice and answer
    tables: dict[int, str] = field(default_factory=dict)

    def best(self) -> DiskDeployment:
        self._prepare()
        made: list[DiskDeployment] = []
        candidates: list[Candidate] = []
        for kind in KINDS:
            try:
                found = self.homogeneous() if kind == KINDS[0] else self.by_margins(kind)
            except RainbowError as error:
                candidates.append(Candidate(kind, None, str(error), 0.0))
                continue
            made.append(found)
            candidates.append(Candidate(kind, _value(found), "", 0.0))
        if not made:
            reasons = "; ".join(f"{each.kind}: {each.note}" for each in candidates)
            raise InvalidGuarantee(f"no kind can keep {self.guarantee} here ({reasons})")
        chosen = max(made, key=_value)
        candidates.sort(key=lambda each: math.inf if each.value is None else -each.value)
        return replace(chosen, candidates=tuple(candidates))

    def _prepare(self) -> None:
        """Find margins once, as far as any kind looks."""
        lasts = []
        for kind in BY_MARGINS[:2]:
            with suppress(InvalidGuarantee):
                lasts.append(self._rule(kind).last_margin)
        if lasts:
            self._margins(max(lasts))

    def _rule(self, kind: str) -> RuleByMargins:
        def most(weights: Sequence[int]) -> int:
            return self._most(self._margins(len(weights) - 1), weights)

        return margin_rule(kind, self.regions.answers, self.guarantee, most)

    def homogeneous(self, boundary: Any = None) -> DiskDeployment:
        """A row for each region and depth; depths are checked on every edge."""
        regions = self.regions
        leveled = Leveled(counts=regions.counts, touching=regions.touching)
        if len(leveled.counts) * len(regions.answers) > MOST_WEIGHTS:
            raise InvalidMechanism(
                f"the mechanism file would have more than {MOST_WEIGHTS:,} weights; use fewer "
                "regions or answers"
            )
        regions.must_be_depths()
        made = leveled.optimal(regions.rainbows, self.guarantee, boundary, regions.answers)
        check = made.check(every_edge=True)
        if not check:
            raise InvalidMechanism(f"the mechanism is not private: {check}")
        sure = [
            (made[place][regions.rainbows[place[0]][0]], n) for place, n in leveled.counts.items()
        ]
        mean = sum(chance * n for chance, n in sure) / len(regions.graph)
        least = min(chance for chance, _ in sure)
        value = None
        if self.worth is not None:
            number = {answer: place for place, answer in enumerate(regions.answers)}
            value = 0.0
            for place, n in leveled.counts.items():
                row = self.worth[number[regions.rainbows[place[0]][0]]]
                value += n * sum(row[number[v]] * p for v, p in made[place].items())
            value /= len(regions.graph)
        columns = {"depth": "level"}
        return DiskDeployment(
            regions, made.exact(), least, mean, regions.depth_table, columns, value=value
        )

    def by_margins(self, kind: str) -> DiskDeployment:
        """A rule for margins; that these are margins is checked on every edge."""
        regions, rule = self.regions, self._rule(kind)
        table = self._margins(rule.last_margin)
        exact = ExactMechanism(self.guarantee, regions.answers, rule, ON_A_GRAPH)
        least, mean, value = self._truth(table, rule)
        columns = {name: f"m{k}" for k, name in enumerate(margin_columns(regions.answers))}
        return DiskDeployment(regions, exact, least, mean, table, columns, value=value)

    def _margins(self, cut: int) -> str:
        """The table of margins up to ``cut`` at least, checked on every edge."""
        cut = max(1, cut)
        known = next((name for held, name in self.tables.items() if held >= cut), None)
        if known is not None:
            return known
        regions, engine = self.regions, self.regions.graph.engine
        table = regions.margin_table(cut)
        jump = engine.farthest_jump(table, [f"m{k}" for k in range(len(regions.answers))])
        if jump > 1:
            raise InvalidMechanism(
                f"margins must change by at most 1 between neighbors, but one changes by {jump}"
            )
        self.tables[cut] = table
        return table

    def _most(self, table: str, weights: Sequence[int]) -> int:
        """The largest sum of the weights of a node's margins."""
        listed = ", ".join(map(str, weights))
        parts = " + ".join(
            f"w[least(m{k}, {len(weights) - 1}) + 1]::HUGEINT"
            for k in range(len(self.regions.answers))
        )
        (found,) = self.regions.graph.engine.one(
            f"SELECT max({parts}) FROM {table}, (SELECT list_value({listed}) AS w)"  # noqa: S608
        )
        return int(found)

    def _truth(self, table: str, rule: RuleByMargins) -> tuple[float, float, float | None]:
        """The least and the mean chance of the first choice, and the mean worth if there is one.

        Margins are 0 at the first choice and only there.
        """
        total, least, worth = 0.0, math.inf, 0.0
        for block in self._blocks(table):
            if ((block == 0).sum(axis=1) != 1).any():
                raise InvalidMechanism("a margin must be 0 at exactly the first choice")
            rows = rule.rows_of(block)
            sure = rows[block == 0]
            total, least = total + float(sure.sum()), min(least, float(sure.min()))
            if self.worth is not None:
                worth += float((self.worth[block.argmin(axis=1)] * rows).sum())
        size = len(self.regions.graph)
        return least, total / size, None if self.worth is None else worth / size

    def _blocks(self, table: str) -> Iterator[NDArray[np.float64]]:
        """The margins of all nodes, some at a time."""
        answers, size = len(self.regions.answers), len(self.regions.graph)
        step = max(1, _CELLS // answers)
        listed = ", ".join(f"m{k}" for k in range(answers))
        for start in range(0, size, step):
            found = self.regions.graph.engine.arrays(
                f"SELECT {listed} FROM {table} WHERE place >= {start} "  # noqa: S608
                f"AND place < {start + step}"
            )
            yield np.stack([found[f"m{k}"] for k in range(answers)], axis=1).astype(np.float64)
