"""``--explain``: what a mechanism would do, before any data is read and anything is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict
from fractions import Fraction
from typing import Any, NamedTuple

import typer

from rainbowdp.answering.askable import Askable
from rainbowdp.answering.counting import CountMechanism
from rainbowdp.answering.distance import MeanOff, is_ordered, off_by
from rainbowdp.answering.grouped import GroupedMechanism
from rainbowdp.answering.measure import fixed_histograms, shape_of
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.answering.naming import KeysMechanism
from rainbowdp.answering.testing import ProportionMechanism
from rainbowdp.baselines import Baseline
from rainbowdp.cli.counting import (
    answers_of,
    explained,
    explained_test,
    print_half_widths,
    print_power,
)
from rainbowdp.cli.output import print_facts, print_json, warn
from rainbowdp.cli.showing import (
    change_in_words,
    counted_rows,
    each_group,
    kind_in_words,
    proved,
    sureness,
    workings,
    worth_as_json,
)
from rainbowdp.cli.wanting import Promised
from rainbowdp.comparison import OTHERS, ours_for
from rainbowdp.display.numbers import uncertain
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.questions import Quantiles, Question, Ranking, Threshold
from rainbowdp.questions.units import unit_of

_SHOWN = 6  # of very many answers
_CHANCES = tuple(Fraction(share, 1000) for share in (1, 100, 500, 900, 950, 990, 999))
_FEW = 64  # answers up to which textbook mechanisms take no time


class _Explained(NamedTuple):
    """What is special to a kind of question: its answers, JSON of its own, and a table."""

    answers: str
    more: dict[str, Any]
    show: Callable[[], None]


def explain(asked: Askable, promised: Promised, as_json: bool) -> None:
    """Show what a mechanism does, beside what is in use elsewhere."""
    inner = asked.inner if isinstance(asked, GroupedMechanism) else asked
    special = _explained(inner)
    if as_json:
        print_json(
            {
                "mechanism": asked.name,
                "guarantee": describe_guarantee(asked.guarantee),
                **worth_as_json(asked),
                "question": asked.question.describe(),
                "proof": asked.proof_in_words,
                "proves": proved(asked.proves()),
                **promised.as_json(),
                **special.more,
            }
        )
        return
    whom = unit_of(asked.question).whom
    print_facts(
        {
            "mechanism": kind_in_words(asked),
            **workings(asked),
            **promised.facts(),
            "guarantee": f"{asked.guarantee}, {change_in_words(asked.question)}",
            "in words": asked.guarantee.in_words(whom),
            **each_group(asked),
            "answers": special.answers,
            **counted_rows(asked.question),
            **({"sure": sureness(asked)} if isinstance(inner, QuestionMechanism) else {}),
            "proves": asked.proves().in_words(),
        }
    )
    special.show()
    typer.echo("\nNo data was read and nothing was spent.")
    warn(asked.guarantee, whom)


def _explained(mechanism: Askable) -> _Explained:
    if isinstance(mechanism, CountMechanism):
        count = mechanism
        return _Explained(answers_of(count), explained(count), lambda: print_half_widths(count))
    if isinstance(mechanism, ProportionMechanism):
        test = mechanism
        return _Explained(answers_of(test), explained_test(test), lambda: print_power(test))
    if isinstance(mechanism, KeysMechanism):
        return _of_keys(mechanism)
    assert isinstance(mechanism, QuestionMechanism)
    return _by_margin(mechanism)


def _of_keys(mechanism: KeysMechanism) -> _Explained:
    """The chance of a key by its people."""
    chances = [(sure, mechanism.people_for(sure)) for sure in _CHANCES]

    def show() -> None:
        typer.echo("\nhow many people a key needs to be named so surely\n")
        for sure, people in chances:
            typer.echo(f"{float(100 * sure):8.4g} %  {people:8,}")

    more = {"people": [{"chance": str(sure), "people": people} for sure, people in chances]}
    return _Explained("names of keys, each of enough people", more, show)


def _by_margin(mechanism: QuestionMechanism) -> _Explained:
    """The chance of the true answer by how near the next one is."""
    margins = list(_margins(mechanism))
    rows = mechanism.by_margin(margins)
    others = _others(mechanism)
    beside = {
        name: [least for _, least, _ in other.by_margin(margins)] for name, other in others.items()
    }
    far = _far_off(mechanism, others)
    more = {
        "probability_of_true_answer": [
            {"margin": margin, "least": least, "most": most} for margin, least, most in rows
        ],
        "least_of_others": beside,
    }
    if far:
        more["off_in_the_mean"] = {name: asdict(off) for name, off in far.items()}

    def show() -> None:
        unit = _counted(mechanism.question)
        typer.echo(f"\nmargin: how many {unit} must change before another answer is the true one")
        typer.echo("chance of the true answer: at least this much, whatever the table\n")
        lines = [["margin", *(f"{margin:,}" for margin, _, _ in rows)]]
        lines.append([mechanism.name, *(uncertain(low) for _, low, _ in rows)])
        most = [uncertain(high) for _, _, high in rows]
        if most != lines[-1][1:]:
            lines.append(["  at most", *most])
        lines += [[name, *map(uncertain, column)] for name, column in beside.items()]
        _print_aligned(lines, left=True)
        if _is_passed(rows, beside.values()):
            typer.echo(
                "\nThese are worst cases. Unless you name one, the mechanism is chosen by its mean "
                "over many tables."
            )
        if far:
            typer.echo(f"\nhow far off, in the mean over histograms of 16 to 1,048,576 {unit}\n")
            _print_aligned(_lines_of(far))
        if isinstance(mechanism.question, Threshold) and mechanism.question.limit == 1:
            typer.echo(
                "\nFor several thresholds of one count, ask for the count: it answers them all."
            )

    return _Explained(_listed_answers(mechanism.question), more, show)


def _is_passed(rows: Iterable[tuple[int, float, float]], others: Iterable[list[float]]) -> bool:
    """Whether another mechanism has a better worst case at some margin."""
    own = [least for _, least, _ in rows]
    return any(
        uncertain(there) != uncertain(here) and there > here
        for other in others
        for here, there in zip(own, other, strict=True)
    )


def _far_off(mechanism: QuestionMechanism, others: dict[str, Any]) -> dict[str, MeanOff]:
    """How far off bins in order would be, nearest first; nothing for other answers."""
    question = mechanism.question
    if not is_ordered(question):
        return {}
    counts, margins = fixed_histograms(shape_of(question), None)
    found = {}
    for name, other in {mechanism.name: mechanism, **others}.items():
        if isinstance(other, Baseline):
            rows = other.rows(counts, margins)
        else:
            rows = other.exact().rule.rows_at(question, counts, margins)
        found[name] = MeanOff.over(off_by(question, rows, counts, margins))
    return dict(sorted(found.items(), key=lambda item: item[1].records))


def _lines_of(far: dict[str, MeanOff]) -> list[list[str]]:
    width = max(map(len, far))
    head = ["".ljust(width), "wrong", "records off", "bins off", "> 1 bin off"]
    return [
        head,
        *(
            [
                name.ljust(width),
                uncertain(off.wrong),
                f"{off.records:.4g}",
                f"{off.bins:.4g}",
                uncertain(off.beyond or 0.0),
            ]
            for name, off in far.items()
        ),
    ]


def _print_aligned(lines: list[list[str]], *, left: bool = False) -> None:
    """Print columns aligned right; with ``left`` the first one, of names, is not."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        first, *cells = (cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        typer.echo("  ".join([line[0].ljust(widths[0]) if left else first, *cells]).rstrip())


def _counted(question: Question) -> str:
    """What a margin counts."""
    limit = question.rows_per_person
    if limit == 1:
        return "records" if question.person is None else "people"
    promised = "" if question.person is not None else ", as you promise"
    return f"people (of up to {limit} records{promised})"


def _listed_answers(question: Question) -> str:
    """All answers, or the first of very many."""
    if not isinstance(question, Ranking | Quantiles):
        return ", ".join(question.answers)
    shown, many = "; ".join(question.answers[:_SHOWN]), len(question.answers)
    return shown if many <= _SHOWN else f"{shown}; … ({many:,} in all)"


def _others(mechanism: QuestionMechanism) -> dict[str, Any]:
    """What else there is for the question and the guarantee, by name."""
    makers = ours_for(mechanism.question, mechanism.guarantee)
    if len(mechanism.question.answers) <= _FEW:
        makers |= OTHERS
    del makers["best"]
    found: dict[str, Any] = {}
    for name, make in makers.items():
        with suppress(InvalidGuarantee):  # not every mechanism exists under every guarantee
            found[name] = make(mechanism.question, mechanism.guarantee)
    return {
        name: other
        for name, other in found.items()
        if other != mechanism and name != mechanism.name
    }


def _margins(mechanism: QuestionMechanism) -> Iterable[int]:
    """Margins worth showing: 1, 2, 3, 5, 10, … until the true answer is all but certain."""
    scale = 1
    while True:
        for step in (1, 2, 3, 5):
            yield step * scale
            if mechanism.by_margin([step * scale])[0][1] > 0.9999 or step * scale >= 10**6:
                return
        scale *= 10
