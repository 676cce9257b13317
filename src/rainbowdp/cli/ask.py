"""``rainbow ask``: a table and a question in, one private answer out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Annotated, Any, TypeAlias

import typer

from rainbowdp.answering.ask import ask
from rainbowdp.answering.askable import Askable
from rainbowdp.answering.best import best, by_kind
from rainbowdp.cli import choices
from rainbowdp.cli.explaining import explain as explain_it
from rainbowdp.cli.given import derived, edges, grouping, listed, portion, total, weighing
from rainbowdp.cli.interrupts import check, let_go
from rainbowdp.cli.kinds import kind_option, records_option
from rainbowdp.cli.output import (
    AsJson,
    Group,
    must_be_open,
    progress_bar,
)
from rainbowdp.cli.paying import Payment, cut_off, paying_ledger, watched
from rainbowdp.cli.project import project
from rainbowdp.cli.remote import (
    DatasetName,
    Service,
    TokenFile,
    ask_remote,
    explain_remote,
    named_service,
    refuse_local,
    remote_of,
    unit_options,
)
from rainbowdp.cli.running import Cut, stopping
from rainbowdp.cli.showing import show
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
    data_of,
)
from rainbowdp.cli.wanting import Wanted, wanting_options
from rainbowdp.errors import RainbowError
from rainbowdp.questions import (
    Count,
    Keys,
    ProportionTest,
    Quantile,
    Quantiles,
    Question,
    Ranking,
    Share,
    Threshold,
    Winner,
)
from rainbowdp.questions.count import MOST
from rainbowdp.questions.functions import FUNCTIONS
from rainbowdp.questions.relations import PersonRule, Ties, one_of

asking = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Ask a table one question and get one private answer, paid for in a ledger.\n\n"
    "Examples:\n\n"
    "* `rainbow ask winner votes.csv --column choice --among red,green,blue --epsilon 1 "
    "--ledger budget.db`\n"
    "* `rainbow ask quantile people.csv --column income --bins 0,20000,40000,80000 --epsilon 1 "
    "--ledger budget.db`\n"
    "* `rainbow ask winner votes.csv --column choice --among red,green --sure 99% --margin 5 "
    "--explain`\n\n"
    "With `--explain` nothing is read or spent: it shows how sure the answer would be. With "
    "`--sure` and `--margin` you need not know an ε: the smallest one that is enough is found.",
)

_ALIASES = {"mode": "winner", "median": "quantile"}

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


AnyQuestion: TypeAlias = Question | Count | ProportionTest | Keys


def _ask(
    make: Callable[..., AnyQuestion],
    *,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE", help=f"{TABLE_HELP} The data of rainbow.toml, if not given."
        ),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="ε, exactly as written: 1, 0.5 or 1/3.")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="δ, for (ε,δ)-privacy.")] = None,
    mu: Annotated[str | None, typer.Option(help="μ, for Gaussian privacy instead of ε.")] = None,
    rho: Annotated[
        str | None, typer.Option(help="ρ, for zero-concentrated privacy instead of ε.")
    ] = None,
    sure: str | None = None,
    margin: int | None = None,
    currency: str | None = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            help="The ledger that pays: a file or an address. RAINBOW_LEDGER or the ledger of "
            "rainbow.toml, if not given."
        ),
    ] = None,
    no_ledger: Annotated[
        bool,
        typer.Option("--no-ledger", help="Keep no record: you have to add up what was spent."),
    ] = False,
    name: Annotated[
        str | None, typer.Option(help="Remember the answer: asking again under this name is free.")
    ] = None,
    declared: Annotated[
        str | None,
        typer.Option("--source", help="What to call the data in the ledger, if not by its path."),
    ] = None,
    neighbors: Annotated[
        str | None,
        choices.neighbors(
            "What one change is: substituted, which is the default, or added-or-removed."
        ),
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="The column that says whose row it is.")
    ] = None,
    rows_per_person: Annotated[
        int | None, typer.Option(help="How many rows of one person count, 1 if not given.")
    ] = None,
    person_rule: Annotated[str | None, choices.person_rule()] = None,
    where: Where = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Ask in each group: the column, or a function of it, that says which group a row "
            "is in."
        ),
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="The groups to ask in, values of --by: north,south.")
    ] = None,
    groups_are_public: Annotated[
        bool,
        typer.Option(
            "--groups-are-public",
            help="Everybody knows who is in which group, and that cannot change.",
        ),
    ] = False,
    weight: Annotated[
        str | None, typer.Option(help="The column that says what a row weighs, if not 1.")
    ] = None,
    weight_limit: Annotated[
        str | None, typer.Option(help="The largest weight that counts in full.")
    ] = None,
    weight_places: Annotated[
        int, typer.Option(help="How many decimal places of a weight count.")
    ] = 3,
    sql_table: SqlTable = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    trusted: Trusted = False,
    format_: Format = None,
    kind: str = "best",
    records: int | None = None,
    service: Service = None,
    token_file: TokenFile = None,
    dataset: DatasetName = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show what the mechanism does; read and spend nothing."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make the question and its mechanism, and explain it or ask it."""
    from rainbowdp.ledger import Ledger

    weighed = weighing(weight, weight_limit, weight_places)
    if weighed is not None and "weight" not in inspect.signature(make).parameters:
        raise RainbowError("This question counts rows or people. Leave out --weight.")
    settings = project()
    options: dict[str, Any] = {"where": where}
    options |= {} if weighed is None else {"weight": weighed}
    unit: dict[str, Any] = {"neighbors": neighbors, "person": person}
    unit |= {"rows_per_person": rows_per_person, "person_rule": person_rule}
    numbers = {"epsilon": epsilon, "delta": delta, "mu": mu, "rho": rho}
    wanted = Wanted.of(settings, numbers, sure=sure, margin=margin, currency=currency)
    local = {"TABLE": table, "--ledger": ledger, "--no-ledger": no_ledger, "--source": declared}
    address = named_service(settings, service, local=any(local.values()))
    if address is not None:
        local |= {"--sql-table": sql_table, "--delimiter": delimiter, "--encoding": encoding}
        local |= {"--decimal": decimal, "--header": header, "--trusted": trusted}
        local |= {"--format": format_, "--mechanism": None if kind == "best" else kind}
        refuse_local({**local, "--records": records})
        remote = remote_of(settings, address, token_file, dataset)
        asked = grouping(
            make(**unit_options(remote, unit), **options), by, groups, groups_are_public
        )
        promised = wanted.promised(asked)
        if explain:
            explain_remote(remote, asked, promised, as_json)
        else:
            ask_remote(remote, asked, promised, name, as_json)
        return
    plain = make(
        neighbors=settings.get("neighbors", neighbors, "substituted"),
        person=settings.get("person", person),
        rows_per_person=settings.get("rows_per_person", rows_per_person, 1),
        person_rule=settings.get("person_rule", person_rule, "sample"),
        **options,
    )
    question: Any = grouping(plain, by, groups, groups_are_public)  # of any class that best takes
    ledger = paying_ledger(ledger, no_ledger, explain, settings)
    declared = settings.get("source", declared)
    source = None
    if not explain:  # which reads no data; what is not there is reported before a mechanism is made
        source = data_of(
            settings,
            table,
            sql_table,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            header=header,
            trusted=trusted,
            format_=format_,
        )
    one_kind = isinstance(plain, Count | ProportionTest | Keys)
    if one_kind and (kind != "best" or records is not None):
        raise RainbowError(
            "There is one mechanism for this question. Leave out --mechanism and --records."
        )
    promised = wanted.promised(question, kind=kind, records=records)
    promise = promised.guarantee
    mechanism: Askable
    if one_kind:
        mechanism = best(question, promise)
    elif kind == "best":
        mechanism = best(question, promise, records=records)
    elif records is None:
        mechanism = by_kind(question, promise, kind)
    else:
        raise RainbowError("--records helps to choose a mechanism; leave it or --mechanism out.")
    if explain:
        explain_it(mechanism, promised, as_json)
        return
    must_be_open()
    book = None if ledger is None else watched(Ledger.open(ledger))
    payment = None if book is None else Payment.of(book.where, book, promise, question, name)
    try:
        with promised.paid(), progress_bar("Reading the table") as progress:
            release = ask(
                mechanism, source, ledger=book, name=name, source=declared, progress=progress
            )
        if book is None:
            check()
        show(mechanism, promised, release, book, as_json)
        let_go()
    except (Exception, KeyboardInterrupt) as error:
        stopped = stopping(error)
        if stopped is None:
            raise
    else:
        return
    raise Cut(stopped, cut_off(payment, stopped))


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
    command = _ALIASES.get(own.__name__, own.__name__)
    choosing = {
        "kind": Annotated[str, kind_option(command)],
        "records": Annotated[int | None, records_option(command)],
        **wanting_options(command),
    }
    parameters = [
        p.replace(kind=p.KEYWORD_ONLY, annotation=choosing.get(p.name, p.annotation))
        for p in (table, *mine, *shared)
    ]
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


Other = Annotated[str | None, typer.Option(help="One more answer, of this name: all other values.")]
MissingValue = Annotated[
    str | None, typer.Option(help="One more answer, of this name: rows without a value.")
]


def _among(among: str, other: str | None, missing: str | None) -> list[str]:
    """The answers of a vote, without those for other values and for none."""
    answers = listed(among)
    for option, name in (("--other", other), ("--missing", missing)):
        if name in answers:
            raise RainbowError(
                f"{option} names an answer of its own, got {name!r}, which --among lists: take "
                "another name."
            )
    return answers


@_command
def winner(
    column: Column,
    among: Annotated[
        str,
        typer.Option(
            help="The possible answers, spelled as in the table: red,green,blue. Other rows do not "
            "count; rainbow look shows how many there are."
        ),
    ],
    other: Other = None,
    missing: MissingValue = None,
    ties: Annotated[str, choices.ties()] = "first listed",
) -> Callable[..., Question]:
    """Which of the listed answers has the most rows? (That is the mode.)

    Example: `rainbow ask winner votes.csv --column choice --among red,green,blue --epsilon 1
    --ledger budget.db`
    """
    tied, answers = one_of(Ties, ties, "ties"), _among(among, other, missing)
    return partial(Winner, answers, column, other=other, missing=missing, ties=tied)


_also("mode", winner, "Which listed value is the most frequent? The same as `rainbow ask winner`.")


@_command
def ranking(
    column: Column,
    among: Annotated[str, typer.Option(help="What to rank: red,green,blue.")],
    first: Annotated[int, typer.Option(help="How many of them to name.")],
    as_set: Annotated[
        bool,
        typer.Option("--as-set", help="Name who is among the first, without their order."),
    ] = False,
    other: Other = None,
    missing: MissingValue = None,
) -> Callable[..., Question]:
    """Which of the listed values have the most rows, in order or as a set?

    Example: `rainbow ask ranking votes.csv --column choice --among red,green,blue,white --first 3
    --epsilon 1 --ledger budget.db`
    """
    ranked, ordered = _among(among, other, missing), not as_set
    return partial(
        Ranking, ranked, column, first=first, in_order=ordered, other=other, missing=missing
    )


@_command
def share(
    column: Column,
    at_least: Annotated[str, typer.Option(help="Which share makes it a yes: 60%, 0.6 or 2/3.")],
    equals: EqualsValue = None,
    minimum: FromValue = None,
    maximum: UpToValue = None,
) -> Callable[..., Question]:
    """Is the share of matching rows, among those with a value, large enough? Yes or no.

    Both are private: how many rows match, and how many there are. --where says which rows count.

    Example: `rainbow ask share patients.csv --column outcome --equals recovered --at-least 60%
    --where "age > 65 and ward = 'X'" --epsilon 1 --ledger budget.db`
    """
    part = portion(at_least)
    return partial(Share, part, column, equals=equals, minimum=minimum, maximum=maximum)


@_command
def threshold(
    column: Column,
    at_least: Annotated[
        str, typer.Option(help="How many matching rows, or how much weight, make it a yes.")
    ],
    equals: EqualsValue = None,
    minimum: FromValue = None,
    maximum: UpToValue = None,
) -> Callable[..., Question]:
    """Are there at least this many matching rows? The answer is yes or no.

    Example: `rainbow ask threshold people.parquet --column age --minimum 65 --at-least 1000
    --epsilon 0.5 --ledger budget.db`
    """
    enough = total(at_least)
    return partial(Threshold, enough, column, equals=equals, minimum=minimum, maximum=maximum)


Bins = Annotated[
    str,
    typer.Option(
        help="Edges of the bins, numbers or dates: 0,10000,20000,50000. "
        "The first and the last may be left out: ,10000,20000,"
    ),
]
ClosedEnds = Annotated[
    bool,
    typer.Option("--closed-ends", help="Leave out rows beyond the first and the last edge."),
]


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

    With one row per person it answers every threshold at once, each as surely as
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
def keys(
    column: Column,
    keys_per_person: Annotated[
        int, typer.Option(help="For how many keys one person counts at most.")
    ] = 1,
) -> Callable[..., Keys]:
    """Which values are there, when the list itself is private? Those that enough people have.

    Needs a δ: the chance of naming a value that only one person has. Ask for the keys first, then
    ask in these groups, or for a vote among them.

    Example: `rainbow ask keys visits.csv --column diagnosis --person patient --keys-per-person 2
    --epsilon 1 --delta 1e-6 --ledger budget.db`
    """

    def make(*, rows_per_person: int, person_rule: str, **options: Any) -> Keys:
        if rows_per_person != 1 or person_rule != PersonRule.SAMPLE:
            raise RainbowError(
                "Keys are limited by --keys-per-person; leave out --rows-per-person and "
                "--person-rule."
            )
        return Keys(column, keys_per_person=keys_per_person, **options)

    return make


@_command
def quantile(
    column: Column,
    bins: Bins,
    q: Annotated[str, typer.Option("--q", help="Which quantile: 0.5 is the median.")] = "0.5",
    closed_ends: ClosedEnds = False,
) -> Callable[..., Question]:
    """Which bin holds the quantile? A bin runs from its edge up to, but not including, the next.

    Rows beyond the outer edges are counted in the outer bins, whose names say so: < 20000, ≥ 40000.

    Example: `rainbow ask quantile people.csv --column income --bins 0,20000,40000,80000
    --epsilon 1 --ledger budget.db`
    """
    return partial(Quantile, q, edges(bins), column, closed_ends=closed_ends)


@_command
def median(column: Column, bins: Bins, closed_ends: ClosedEnds = False) -> Callable[..., Question]:
    """Which bin holds the median? The same as `rainbow ask quantile`, which has others, too.

    Example: `rainbow ask median people.csv --column income --bins 0,20000,40000,80000
    --epsilon 1 --ledger budget.db`
    """
    return partial(Quantile, "0.5", edges(bins), column, closed_ends=closed_ends)


@_command
def quantiles(
    column: Column,
    bins: Bins,
    q: Annotated[
        str, typer.Option("--q", help="Which quantiles, in rising order.")
    ] = "0.25,0.5,0.75",
    closed_ends: ClosedEnds = False,
) -> Callable[..., Question]:
    """Which bins hold several quantiles, all in one answer? Quartiles, if you do not say which.

    The answer names a bin for each: < 20000 | [20000, 40000) | [20000, 40000).

    Example: `rainbow ask quantiles people.csv --column income --bins 0,20000,40000,80000
    --q 0.25,0.5,0.75 --epsilon 1 --ledger budget.db`
    """
    return partial(Quantiles, listed(q), edges(bins), column, closed_ends=closed_ends)
