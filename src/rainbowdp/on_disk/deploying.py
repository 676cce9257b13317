"""A mechanism for a graph on disk: the best of its kinds for a goal, and its two files."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from rainbowdp.deployment import must_be_columns, region_column
from rainbowdp.errors import InvalidFile, InvalidGuarantee, InvalidMechanism, RainbowError
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.exact.names import name_to_json
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.disk_graph import DiskRegions
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.mechanisms.best_on_graphs import Candidate
from rainbowdp.mechanisms.worths import Forbidden, is_better
from rainbowdp.on_disk.goals import goal_on_disk
from rainbowdp.on_disk.kinds import BOUNDARIES, KINDS, Made, Shop
from rainbowdp.storage.documents import checksum
from rainbowdp.storage.sql import quoted
from rainbowdp.storage.whole_file import whole_file
from rainbowdp.tiling import write_sqlite


@dataclass(frozen=True)
class DiskDeployment:
    """An exact mechanism for a graph on disk, and the key of each node; by ``deploy_on_disk``.

    Attributes
    ----------
    regions
        The graph and the regions of the mechanism.
    mechanism
        The mechanism in integers, with its proof.
    least, mean
        The chance of a node's first choice: the least, and in the mean over nodes.
    value
        What it is worth by the goal, in the mean over nodes as they count.
    goal
        What it is worth, in words.
    note
        How it was made, such as how its boundary was found.
    candidates
        What it was chosen from, the best first, if you asked for the best.

    """

    regions: DiskRegions
    mechanism: ExactMechanism
    least: float
    mean: float
    value: float
    goal: str
    note: str
    _keys: str = field(repr=False)  # the table of keys
    _columns: dict[str, str] = field(repr=False)  # by the name in the file
    candidates: tuple[Candidate, ...] = ()

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

    def save_sqlite(self, path: str | PathLike[str]) -> Path:
        """Write a SQLite database from which a phone draws in SQL (``docs/format.md``).

        Parameters
        ----------
        path
            The database.

        Returns
        -------
        pathlib.Path
            The database.

        Raises
        ------
        InvalidFile
            If it cannot be written.
        InvalidMechanism
            If the rows are too long for a table.

        """
        engine, by_depth = self.regions.graph.engine, self.mechanism.name == "homogeneous"
        columns = ["r.value", "k.level"] if by_depth else [f"k.{c}" for c in self._columns.values()]
        names, spots = [f"c{number}" for number in range(len(columns))], engine.table()
        listed = ", ".join(f"{c} AS {n}" for c, n in zip(columns, names, strict=True))
        source = f"{self.regions.table} AS r LEFT JOIN {self._keys} AS k ON r.place = k.place"
        engine.run(
            f"CREATE TABLE {spots} AS SELECT row_number() OVER (ORDER BY min(r.place)) - 1 AS "  # noqa: S608
            f"spot, {listed} FROM {source} GROUP BY ALL"
        )
        same = " AND ".join(
            f"{c} IS NOT DISTINCT FROM s.{n}" for c, n in zip(columns, names, strict=True)
        )
        node, named = self._node()
        nodes = engine.stream(
            f"SELECT {node}, NULL, s.spot FROM {source} JOIN {spots} AS s ON {same} {named}"  # noqa: S608
        )
        labels = [name_to_json(label) for label in self.regions.rainbows]

        def keys() -> Iterator[list[Any]]:
            for row in engine.stream(f"SELECT {', '.join(names)} FROM {spots} ORDER BY spot"):  # noqa: S608
                yield [labels[row[0]], row[1]] if by_depth else list(row)

        return write_sqlite(path, self.mechanism, keys, by_depth, nodes)

    def _node(self) -> tuple[str, str]:
        """The name of the node at r.place, and the table that has it, in SQL."""
        names = self.regions.graph.names
        if isinstance(names, range):
            return f"(r.place + {names.start})::BIGINT", ""
        return "n.name", f"JOIN {names} AS n ON r.place = n.place"

    def _write_keys(self, draft: Path) -> None:
        graph, (node, names) = self.regions.graph, self._node()
        labels = region_column(list(self.regions.rainbows))
        must_be_columns(list(self._columns))
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
    utility: Any = None,
    weights: Any = None,
    forbid: Forbidden = (),
) -> DiskDeployment:
    r"""Make a mechanism for a graph on disk exact, check every edge, and find each node's key.

    Parameters
    ----------
    regions
        What ``graph.nearest_sites`` or ``graph.labeled`` returned.
    guarantee
        What is promised between neighbors, or for each step where edges have lengths.
    kind
        ``"homogeneous"``, ``"proximity"``, ``"margin-flip"`` or ``"exponential"``; or ``"best"``,
        whichever of them is worth most.
    boundary
        For homogeneous only: ``"worst"`` makes the least sure region as sure as possible, which is
        also tried by default; ``"total"`` is best for the goal in the sum over nodes, and
        ``"symmetric"`` needs no linear program; or as in ``rb.optimal``.
    utility
        What an answer is worth, for best and for the boundary ``"total"``: {region: {answer:
        worth}}, or ``"distance"`` for minus the distance to the named site. By default the first
        choice is worth 1.
    weights
        What each node counts, in order, for the same; ``graph.weights_from`` reads it from a file.
    forbid
        Answers that are never given.

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
    by_name = boundary if isinstance(boundary, str) else None
    if by_name is not None and by_name not in BOUNDARIES:
        raise InvalidMechanism(
            f"boundary must be {' or '.join(BOUNDARIES)}, or a row, got {brief(boundary)}"
        )
    for_total = by_name == "total"
    if (utility is not None or weights is not None) and kind != "best" and not for_total:
        raise InvalidMechanism(
            f"utility and weights are for best and for boundary='total', got kind={brief(kind)}"
        )
    goal = goal_on_disk(regions, utility, weights, forbid)
    if kind == "best":
        made, candidates = _best([Shop(goal, each, promise) for each in goal.served_by()])
    else:
        shop = Shop(goal, goal.aimed_at() if for_total else goal.regions, promise)
        made = shop.with_boundary(boundary) if kind == "homogeneous" else shop.make(kind)
        candidates = ()
    return DiskDeployment(
        made.regions,
        made.mechanism,
        made.least,
        made.mean,
        made.value,
        goal.words,
        made.note,
        made.keys,
        made.columns,
        candidates,
    )


def _best(shops: Sequence[Shop]) -> tuple[Made, tuple[Candidate, ...]]:
    """The kind that is worth most, of several that are as good the first, and all of them."""
    chosen: Made | None = None
    candidates: list[Candidate] = []
    for shop in shops:
        shop.prepare()
    for kind in KINDS:
        started = time.process_time()
        made, why = _better(kind, shops)
        taken = time.process_time() - started
        if made is None:
            candidates.append(Candidate(kind, None, why, taken))
            continue
        candidates.append(Candidate(kind, made.value, made.note, taken))
        if chosen is None or is_better(made.value, chosen.value):
            chosen = made
    if chosen is None:
        reasons = "; ".join(f"{each.kind}: {each.note}" for each in candidates)
        raise InvalidGuarantee(f"no kind can keep {shops[0].guarantee} here ({reasons})")
    name = chosen.mechanism.name

    def rank(each: Candidate) -> tuple[bool, float]:
        return each.kind != name, math.inf if each.value is None else -each.value

    return chosen, tuple(sorted(candidates, key=rank))


def _better(kind: str, shops: Sequence[Shop]) -> tuple[Made | None, str]:
    """The better mechanism of a kind, or why there is none."""
    found: Made | None = None
    why = ""
    for shop in shops:
        try:
            made = shop.make(kind)
        except RainbowError as error:
            why = why or str(error)
            continue
        if found is None or is_better(made.value, found.value):
            found = made
    return found, why
