"""A plan as a TOML file: a total, and a table for each question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rainbowdp.cli.given import derived
from rainbowdp.cli.output import guarantee_from
from rainbowdp.cli.project import KEYS, NUMBERS, Project, checked, read_toml
from rainbowdp.errors import InvalidFile, RainbowError
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import (
    Count,
    Grouped,
    Keys,
    ProportionTest,
    Quantile,
    Quantiles,
    Ranking,
    Share,
    Threshold,
    Weight,
    Winner,
)
from rainbowdp.sessions.targets import Target

_WISHES = ("weight", "sure", "margin", "shares", "people")
_SHARED = ("column", "where", "rows_per_person", "person_rule")
_MATCHING = ("equals", "minimum", "maximum")
_VOTE = ("among", "other", "missing")

# What each kind is made by, what it takes by position, and what else it may have.
_KINDS: dict[str, tuple[Callable[..., Any], tuple[str, ...], tuple[str, ...]]] = {
    "winner": (Winner, ("among",), ("other", "missing", "ties", "weigh")),
    "mode": (Winner, ("among",), ("other", "missing", "ties", "weigh")),
    "ranking": (Ranking, ("among",), ("first", "in_order", "other", "missing", "weigh")),
    "share": (Share, ("at_least",), (*_MATCHING, "weigh")),
    "threshold": (Threshold, ("at_least",), (*_MATCHING, "weigh")),
    "quantile": (Quantile, ("q", "bins"), ("closed_ends", "weigh")),
    "quantiles": (Quantiles, ("q", "bins"), ("closed_ends", "weigh")),
    "count": (Count, (), (*_MATCHING, "at_most")),
    "proportion-test": (ProportionTest, ("above",), (*_MATCHING, "sample_size", "alpha")),
    "keys": (Keys, (), ("keys_per_person",)),
}
_GROUPS = ("by", "groups", "groups_are_public")
_RENAMED = {"sample_size": "records"}


@dataclass(frozen=True)
class PlanFile:
    """What a file plans, and what it says of data and ledger."""

    targets: tuple[Target, ...]
    total: Guarantee | None
    settings: Project


def read_plan(file: Path, around: Project) -> PlanFile:
    """The plan of a file; what it does not say of data and ledger the project around it does."""
    said = read_toml(file)
    asked = said.pop("question", None)
    total = said.pop("total", None)
    if not isinstance(asked, list) or not asked:
        raise InvalidFile(f"{file}: a plan needs questions. Begin each with a line [[question]].")
    for number in NUMBERS:
        if number in said:
            raise InvalidFile(
                f"{file}: {number} is part of the total. Write total = {{ {number} = … }}."
            )
    own = checked(said, file)
    settings = Project(file, {**around.said, **own})
    targets = tuple(_target(one, number, file, settings) for number, one in enumerate(asked, 1))
    return PlanFile(targets, None if total is None else _total(total, file), settings)


def _total(total: Any, file: Path) -> Guarantee:
    if not isinstance(total, Mapping) or not set(total) <= set(NUMBERS):
        raise InvalidFile(
            f'{file}: total must be as {{ epsilon = 3, delta = "1e-6" }}, or of mu or rho alone.'
        )
    given = {name: None if name not in total else str(total[name]) for name in NUMBERS}
    try:
        return guarantee_from(given["epsilon"], given["delta"] or "0", given["mu"], given["rho"])
    except RainbowError as error:
        wrong = str(error)
    raise InvalidFile(f"{file}: total: {wrong}")


def _target(said: Any, number: int, file: Path, settings: Project) -> Target:
    """One question and what is wanted of it."""
    where = f"{file}, question {number}"
    if not isinstance(said, Mapping):
        raise InvalidFile(f"{where}: must be a table that begins with [[question]].")
    given = dict(said)
    name, kind = given.pop("name", None), given.pop("kind", None)
    if name is not None:
        where = f"{file}, question {name!r}"
    if kind not in _KINDS:
        raise InvalidFile(f"{where}: kind must be one of {', '.join(_KINDS)}, got {kind!r}.")
    make, by_position, others = _KINDS[kind]
    known = {*_SHARED, *_WISHES, *_GROUPS, *by_position, *others}
    for key in given:
        if key not in known:
            raise InvalidFile(
                f"{where}: a {kind} has no key {key!r}. Keys are {', '.join(sorted(known))}."
            )
    missing = [key for key in (*by_position, "column") if key not in given]
    if missing:
        raise InvalidFile(f"{where}: {missing[0]} is missing.")
    wishes = {key: given.pop(key) for key in _WISHES if key in given}
    try:
        question = _question(make, by_position, given, settings)
        return Target(question, None if name is None else str(name), **wishes)
    except (RainbowError, TypeError, AttributeError) as error:
        wrong = str(error) if isinstance(error, RainbowError) else "a value is of a wrong type"
    raise InvalidFile(f"{where}: {wrong}")


def _question(
    make: Callable[..., Any], by_position: tuple[str, ...], given: dict[str, Any], settings: Project
) -> Any:
    groups = {key: given.pop(key) for key in _GROUPS if key in given}
    column, function = derived(given.pop("column"))
    first = [given.pop(key) for key in by_position]
    weigh = given.pop("weigh", None)
    if weigh is not None:
        given["weight"] = Weight(**weigh)
    unit = {
        "neighbors": settings.get("neighbors", default="substituted"),
        "person": settings.get("person"),
    }
    if make is not Keys:
        unit |= {
            "rows_per_person": settings.get("rows_per_person", default=1),
            "person_rule": settings.get("person_rule", default="sample"),
        }
    options = {_RENAMED.get(key, key): value for key, value in given.items()}
    plain = partial(make, *first, column, apply=function)(**{**unit, **options})
    if not groups:
        return plain
    by, apply = derived(groups.get("by", ""))
    public = groups.get("groups_are_public", False)
    return Grouped(plain, by, groups.get("groups", []), public=public, apply=apply)


__all__ = ["KEYS", "PlanFile", "read_plan"]
