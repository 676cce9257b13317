"""``rainbow ask``: a table and a question in, one private answer out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from functools import partial, wraps
from math import floor
from typing import Annotated, Any, TypeAlias

import typer

from rainbowdp.answering.ask import Asking, ask
from rainbowdp.answering.best import best, by_kind
from rainbowdp.answering.counting import CountMechanism
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.answering.release import Release, Statement
from rainbowdp.answering.testing import ProportionMechanism
from rainbowdp.cli.counting import (
    Alone,
    answers_of,
    explained,
    explained_test,
    print_half_widths,
    print_power,
)
from rainbowdp.cli.given import derived, edges, listed, portion
from rainbowdp.cli.interrupts import check, let_go
from rainbowdp.cli.output import (
    AsJson,
    Group,
    guarantee_from,
    must_be_open,
    print_facts,
    print_json,
    progress_bar,
    warn,
)
from rainbowdp.cli.paying import Payment, watched
from rainbowdp.cli.running import Cut, stopping
from rainbowdp.cli.tables import (
    TABLE_HELP,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    Header,
    SqlTable,
    Trusted,
    Where,
    table_from,
)
from rainbowdp.comparison import OTHERS, ours_for
from rainbowdp.errors import InvalidGuarantee, RainbowError
from rainbowdp.guarantees.descriptions import describe_guarantee, warning_about
from rainbowdp.questions import Count, ProportionTest, Quantile, Question, Share, Threshold, Winner
from rainbowdp.questions.asked import Asked
from rainbowdp.questions.count import MOST
from rainbowdp.questions.functions import FUNCTIONS
from rainbowdp.questions.relations import PersonRule, Ties, one_of
from rainbowdp.questions.units import unit_of
from rainbowdp.rules import FAMILIES

asking = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Ask a table one question and get one private answer, paid for in a ledger.",
)


KINDS = ("best", *(family.kind for family in FAMILIES))


def _known_kind(value: str) -> str:
    if value not in KINDS:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(KINDS)}.")
    return value


Column = Annotated[
    str,
    typer.Option(
        help="The column that holds the values, or a function of one: month(visited). "
        f"Functions are {', '.join(FUNCTIONS)}."
    ),
]


EqualsValue = Annotated[str | None, typer.Option(help="Rows with this value match.")]
FromValue = Annotated[
    str | None, typer.Option(help="Rows from this number, date or time up match.")
]
UpToValue = Annotated[str | None, typer.Option(help="Rows up to this number, date or time match.")]


AnyQuestion: TypeAlias = Question | Count | ProportionTest


def _ask(
    make: Callable[..., AnyQuestion],
    *,
    table: Annotated[
        str,
        typer.Argument(metavar="TABLE", help=TABLE_HELP),
    ],
    epsilon: Annotated[
        str | None, typer.Option(help="ε, exactly as written: 1, 0.5 or 1/3.")
    ] = None,
    delta: Annotated[str, typer.Option(help="δ, for (ε,δ)-privacy.")] = "0",
    mu: Annotated[str | None, typer.Option(help="μ, for Gaussian privacy instead of ε.")] = None,
    rho: Annotated[
        str | None, typer.Option(help="ρ, for zero-concentrated privacy instead of ε.")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(help="The ledger that pays: a file or an address.")
    ] = None,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Keep no record. You add up.")
    ] = False,
    name: Annotated[
        str | None, typer.Option(help="Remember the answer: asked again by this name it is free.")
    ] = None,
    declared: Annotated[
        str | None,
        typer.Option("--source", help="What to call the data in the ledger, if not by its path."),
    ] = None,
    neighbors: Annotated[
        str, typer.Option(help="What one change is: 'substituted' or 'added or removed'.")
    ] = "substituted",
    person: Annotated[
        str | None, typer.Option(help="The column that says whose row it is.")
    ] = None,
    rows_per_person: Annotated[int, typer.Option(help="How many rows of one person count.")] = 1,
    person_rule: Annotated[
        str, typer.Option(help="Which of them: a random 'sample', or 'one vote' a person.")
    ] = "sample",
    where: Where = None,
    sql_table: SqlTable = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    trusted: Trusted = False,
    format_: Format = None,
    kind: Annotated[
        str,
        typer.Option(
            "--mechanism",
            callback=_known_kind,
            autocompletion=lambda: list(KINDS),
            metavar="KIND",
            help=f"Overrule the choice of the mechanism: {', '.join(KINDS)}.",
        ),
    ] = "best",
    records: Annotated[
        int | None,
        typer.Option(help="About how many rows there are, if that is public: choose for so many."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show what the mechanism does; read and spend nothing."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make the question and its mechanism, and explain it or ask it."""
    from rainbowdp.ledger import Ledger

    question = make(
        neighbors=neighbors,
        person=person,
        rows_per_person=rows_per_person,
        person_rule=person_rule,
        where=where,
    )
    promise = guarantee_from(epsilon, delta, mu, rho)
    source = None
    if not explain:  # which reads no data; what is not there is reported before a mechanism is made
        source = table_from(
            table,
            sql_table,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            header=header,
            trusted=trusted,
            format_=format_,
        )
    mechanism: Asking
    if isinstance(question, Count | ProportionTest):
        if kind != "best" or records is not None:
            what = "count" if isinstance(question, Count) else "test"
            raise RainbowError(f"A {what} has one mechanism. Leave out --mechanism and --records.")
        mechanism = best(question, promise)
    elif kind == "best":
        mechanism = best(question, promise, records=records)
    elif records is None:
        mechanism = by_kind(question, promise, kind)
    else:
        raise RainbowError("--records helps to choose a mechanism; leave it or --mechanism out.")
    if explain:
        if isinstance(mechanism, CountMechanism):
            _explain_alone(mechanism, explained(mechanism), print_half_widths, as_json)
        elif isinstance(mechanism, ProportionMechanism):
            _explain_alone(mechanism, explained_test(mechanism), print_power, as_json)
        else:
            _explain(mechanism, as_json)
        return
    if ledger is not None and no_ledger:
        raise RainbowError("Give either --ledger or --no-ledger, not both.")
    if ledger is None and not no_ledger:
        raise RainbowError(
            "An answer must be paid for. Give --ledger PLACE, or --no-ledger to keep no record."
        )
    must_be_open()
    book = None if ledger is None else watched(Ledger.open(ledger))
    place = None if book is None else book.where
    payment = None if book is None else Payment.of(book.where, book, promise, question, name)
    try:
        with progress_bar("Reading the table") as progress:
            release = ask(
                mechanism, source, ledger=book, name=name, source=declared, progress=progress
            )
        if book is None:
            check()
        _show(mechanism, release, None if book is None else book.balance(), place, as_json)
        let_go()
    except (Exception, KeyboardInterrupt) as error:
        stopped = stopping(error)
        if stopped is None:
            raise
    else:
        return
    raise Cut(stopped, _cut_off(payment, stopped))


def _cut_off(payment: Payment | None, error: BaseException) -> str:
    """What became of a question that was interrupted, or whose answer nobody could read."""
    interrupted = isinstance(error, KeyboardInterrupt)
    what = "Interrupted" if interrupted else "Standard output cannot be written"
    if payment is not None:
        return payment.in_words(what)
    return f"{what}; no answer was given." if interrupted else f"{what}; the answer is lost."


Own: TypeAlias = Callable[
    ..., Callable[..., AnyQuestion]
]  # from options to what makes the question


def _command(own: Own) -> Own:
    """A command with the options of ``own``, which says what to make, and those of ``_ask``."""

    def run(**options: Any) -> None:
        mine = {name: options.pop(name) for name in inspect.signature(own).parameters}
        mine["column"], function = derived(mine["column"])
        _ask(partial(own(**mine), apply=function), **options)

    table, *shared = list(inspect.signature(_ask, eval_str=True).parameters.values())[1:]
    mine = inspect.signature(own, eval_str=True).parameters.values()
    parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (table, *mine, *shared)]
    run.__name__, run.__doc__ = own.__name__, own.__doc__
    # Typer reads the options from here; mypy does not know that a function may have a signature.
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    asking.command()(run)
    return own


def _also(name: str, own: Own, summary: str) -> None:
    """The same command under another name that people look for."""

    @wraps(own)
    def alias(**options: Any) -> Callable[..., AnyQuestion]:
        return own(**options)

    alias.__name__, alias.__doc__ = name, summary
    _command(alias)


@_command
def winner(
    column: Column,
    among: Annotated[str, typer.Option(help="The possible answers: red,green,blue.")],
    other: Annotated[
        str | None, typer.Option(help="One more answer, by this name: all other values.")
    ] = None,
    missing: Annotated[
        str | None, typer.Option(help="One more answer, by this name: rows without a value.")
    ] = None,
    ties: Annotated[
        str, typer.Option(help="Who is right in a tie: 'first listed' or 'any leader'.")
    ] = "first listed",
) -> Callable[..., Question]:
    """Which of the listed answers has the most rows? (That is the mode.)

    Example: `rainbow ask winner votes.csv --column choice --among red,green,blue --epsilon 1
    --ledger budget.db`
    """
    tied, answers = one_of(Ties, ties, "ties"), listed(among)
    for option, name in (("--other", other), ("--missing", missing)):
        if name in answers:
            raise RainbowError(
                f"{option} names an answer of its own, got {name!r}, which --among lists: take "
                "another name."
            )
    return partial(Winner, answers, column, other=other, missing=missing, ties=tied)


_also("mode", winner, "Which listed value is the most frequent? The same as `rainbow ask winner`.")


@_command
def share(
    column: Column,
    at_least: Annotated[str, typer.Option(help="Which share makes it a yes: 60%, 0.6 or 2/3.")],
    equals: EqualsValue = None,
    minimum: FromValue = None,
    maximum: UpToValue = None,
) -> Callable[..., Question]:
    """Do at least so many of the rows match, of those that have a value? The answer is yes or no.

    Both are private: how many rows match, and how many there are. Say of whom with --where.

    Example: `rainbow ask share patients.csv --column outcome --equals recovered --at-least 60%
    --where "age > 65 and ward = 'X'" --epsilon 1 --ledger budget.db`
    """
    part = portion(at_least)
    return partial(Share, part, column, equals=equals, minimum=minimum, maximum=maximum)


@_command
def threshold(
    column: Column,
    at_least: Annotated[int, typer.Option(help="How many matching rows make it a yes.")],
    equals: EqualsValue = None,
    minimum: FromValue = None,
    maximum: UpToValue = None,
) -> Callable[..., Question]:
    """Are there at least so many matching rows? The answer is yes or no.

    Example: `rainbow ask threshold people.parquet --column age --minimum 65 --at-least 1000
    --epsilon 0.5 --ledger budget.db`
    """
    return partial(Threshold, at_least, column, equals=equals, minimum=minimum, maximum=maximum)


@_command
def count(
    column: Column,
    equals: EqualsValue = None,
    minimum: FromValue = None,
    maximum: UpToValue = None,
    at_most: Annotated[
        int, typer.Option(help="The largest answer; larger counts count as this.")
    ] = MOST,
) -> Callable[..., Count]:
    """How many matching rows are there? The answer is a number with noise.

    With one row a person it answers every threshold at once, each as surely as
    `rainbow ask threshold` would.

    Example: `rainbow ask count people.parquet --column age --minimum 65 --epsilon 0.5
    --ledger budget.db`
    """
    return partial(Count, column, equals=equals, minimum=minimum, maximum=maximum, at_most=at_most)


@_command
def proportion_test(
    column: Column,
    above: Annotated[str, typer.Option(help="Do more than this share match? 60%, 0.6 or 2/3.")],
    sample_size: Annotated[int, typer.Option(help="How many rows there are, which is public.")],
    alpha: Annotated[str, typer.Option(help="The largest chance of a false alarm.")] = "0.05",
    equals: EqualsValue = None,
    minimum: FromValue = None,
    maximum: UpToValue = None,
) -> Callable[..., ProportionTest]:
    """Do rows match more often than a given share, beyond chance? Significant, or not significant.

    Example: `rainbow ask test patients.csv --column outcome --equals recovered --above 60%
    --sample-size 200 --epsilon 1 --ledger budget.db`
    """
    return partial(
        ProportionTest,
        portion(above),
        column,
        records=sample_size,
        alpha=portion(alpha),
        equals=equals,
        minimum=minimum,
        maximum=maximum,
    )


_also(
    "test",
    proportion_test,
    "Do rows match more often than a share? The same as `rainbow ask proportion-test`.",
)


@_command
def quantile(
    column: Column,
    bins: Annotated[
        str,
        typer.Option(
            help="Edges of the bins, numbers or dates: 0,10000,20000,50000. "
            "The first and the last may be left out: ,10000,20000,"
        ),
    ],
    q: Annotated[str, typer.Option("--q", help="Which quantile: 0.5 is the median.")] = "0.5",
    closed_ends: Annotated[
        bool,
        typer.Option("--closed-ends", help="Leave out rows beyond the first and the last edge."),
    ] = False,
) -> Callable[..., Question]:
    """Which bin holds the quantile? Bins run from each edge up to, but without, the next.

    Rows beyond the outer edges are counted in the outer bins, whose names say so: < 20000, ≥ 40000.

    Example: `rainbow ask quantile people.csv --column income --bins 0,20000,40000,80000
    --epsilon 1 --ledger budget.db`
    """
    return partial(Quantile, q, edges(bins), column, closed_ends=closed_ends)


def _show(
    mechanism: Asking,
    release: Release,
    balance: Any,
    where: str | None,
    as_json: bool,
) -> None:
    entry = release.entry
    drawn_by = _drawn_by(mechanism, release)
    if as_json:
        print_json(
            {
                "answer": release.answer,
                "question": mechanism.question.describe(),
                "unit": unit_of(mechanism.question).describe(),
                "guarantee": describe_guarantee(mechanism.guarantee),
                **_worth_as_json(mechanism),
                "mechanism": drawn_by,
                "proof": None if release.recalled else mechanism.proof.statement,
                "proves": _proved(release.proves, release.answer),
                "recalled": release.recalled,
                "drawn": None if entry is None else entry.time,
                "entry": None if entry is None else entry.number,
                "source": None if entry is None else entry.source,
                "balance": None if balance is None else balance.as_dict(),
            }
        )
        return
    facts = {
        "answer": str(release.answer),
        "guarantee": f"{mechanism.guarantee}, {_change(mechanism.question)}",
        "in words": mechanism.guarantee.in_words(unit_of(mechanism.question).whom),
        "mechanism": _named(mechanism),
        **_filtered(mechanism.question),
    }
    if release.proves is not None:
        facts["proves"] = release.proves.in_words(release.answer)
    if drawn_by != mechanism.name:
        facts["mechanism"] = f"{drawn_by}, which drew the recorded answer"
    if entry is None:
        facts["ledger"] = "none: this answer is not recorded anywhere"
    elif release.recalled:
        drawn = datetime.fromisoformat(entry.time).strftime("%Y-%m-%d %H:%M UTC")
        facts["ledger"] = f"{where}: recalled, drawn {drawn}, nothing spent; left {balance.left}"
    else:
        facts["ledger"] = f"{where}: left {balance.left} of {balance.total}"
    print_facts(facts)
    warn(mechanism.guarantee, unit_of(mechanism.question).whom)


def _proved(proves: Statement | None, answer: object = None) -> dict[str, Any] | None:
    return None if proves is None else {**proves.describe(), "in_words": proves.in_words(answer)}


def _worth_as_json(mechanism: Asking) -> dict[str, Any]:
    """What the guarantee is worth, and a warning where it is worth little."""
    about = unit_of(mechanism.question).whom
    return {
        "in_words": mechanism.guarantee.in_words(about),
        "best_guess": mechanism.guarantee.best_guess(),
        "warning": warning_about(mechanism.guarantee, about),
    }


def _drawn_by(mechanism: Asking, release: Release) -> str:
    """The kind of mechanism that drew an answer: a recalled one may be of another kind."""
    recorded = None if release.entry is None else release.entry.mechanism
    return mechanism.name if recorded is None else str(recorded["kind"])


def _named(mechanism: Asking) -> str:
    """The kind of mechanism, and what is known of it."""
    return ", ".join(filter(None, [mechanism.name, mechanism.claim, "proved exactly"]))


def _change(question: Asked) -> str:
    """What one change of the data is, in words."""
    change = f"{unit_of(question)} {question.neighbors}"
    if question.person is None:
        return change
    if question.person_rule == PersonRule.ONE_VOTE:
        return f"{change}, one vote each"
    limit = question.rows_per_person
    return f"{change}, a sample of up to {limit} {'row' if limit == 1 else 'rows'} each"


def _filtered(question: Asked) -> dict[str, str]:
    """Which rows are counted, where a condition says it."""
    return {} if question.where is None else {"counted": f"rows where {question.where}"}


def _counted(question: Question) -> str:
    """What a margin counts."""
    limit = question.rows_per_person
    if limit == 1:
        return "records" if question.person is None else "people"
    promised = "" if question.person is not None else ", as you promise"
    return f"people (of up to {limit} records{promised})"


def _explain(mechanism: QuestionMechanism, as_json: bool) -> None:
    margins = list(_margins(mechanism))
    rows = mechanism.by_margin(margins)
    beside = {
        name: [least for _, least, _ in other.by_margin(margins)]
        for name, other in _others(mechanism).items()
    }
    if as_json:
        print_json(
            {
                "mechanism": mechanism.name,
                "guarantee": describe_guarantee(mechanism.guarantee),
                **_worth_as_json(mechanism),
                "question": mechanism.question.describe(),
                "proof": mechanism.proof.statement,
                "proves": _proved(mechanism.proves()),
                "probability_of_true_answer": [
                    {"margin": margin, "least": least, "most": most} for margin, least, most in rows
                ],
                "least_of_others": beside,
            }
        )
        return
    unit = _counted(mechanism.question)
    print_facts(
        {
            "mechanism": _named(mechanism),
            "guarantee": f"{mechanism.guarantee}, {_change(mechanism.question)}",
            "in words": mechanism.guarantee.in_words(unit_of(mechanism.question).whom),
            "answers": ", ".join(mechanism.question.answers),
            **_filtered(mechanism.question),
            "proves": mechanism.proves().in_words(),
        }
    )
    typer.echo(f"\nmargin: how many {unit} must change before another answer is the true one")
    typer.echo("probability of the true answer, and the least of what others have\n")
    lines = [["margin", mechanism.name, *beside]]
    for place, (margin, least, most) in enumerate(rows):
        low, high = _percent(least), _percent(most)
        own = low if low == high else f"{low} to {high}"
        lines.append([str(margin), own, *(_percent(column[place]) for column in beside.values())])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        typer.echo("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    if isinstance(mechanism.question, Threshold) and mechanism.question.rows_per_person == 1:
        typer.echo("\nFor several thresholds of one count, ask for the count: it answers them all.")
    typer.echo("\nNo data was read and nothing was spent.")
    warn(mechanism.guarantee, unit_of(mechanism.question).whom)


def _explain_alone(
    mechanism: Alone, more: dict[str, Any], show: Callable[[Alone], None], as_json: bool
) -> None:
    """Explain a mechanism that has no rivals for its question."""
    if as_json:
        print_json(
            {
                "mechanism": mechanism.name,
                "guarantee": describe_guarantee(mechanism.guarantee),
                **_worth_as_json(mechanism),
                "question": mechanism.question.describe(),
                "proof": mechanism.proof.statement,
                "proves": _proved(mechanism.proves()),
                **more,
            }
        )
        return
    whom = unit_of(mechanism.question).whom
    print_facts(
        {
            "mechanism": _named(mechanism),
            "guarantee": f"{mechanism.guarantee}, {_change(mechanism.question)}",
            "in words": mechanism.guarantee.in_words(whom),
            "answers": answers_of(mechanism),
            **_filtered(mechanism.question),
            "proves": mechanism.proves().in_words(),
        }
    )
    show(mechanism)
    typer.echo("\nNo data was read and nothing was spent.")
    warn(mechanism.guarantee, whom)


def _percent(chance: float) -> str:
    return f"{floor(chance * 1e6) / 1e4:.4f}%"  # rounded down, so never "100%"


def _others(mechanism: QuestionMechanism) -> dict[str, Any]:
    """What else there is for the question and the guarantee, by name."""
    makers = {**ours_for(mechanism.question, mechanism.guarantee), **OTHERS}
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
