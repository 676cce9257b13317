"""``rainbow compare``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from rainbowdp.cli import choices
from rainbowdp.cli.output import AsJson, print_json, warn
from rainbowdp.errors import RainbowError


class Kind(StrEnum):
    """The questions to choose from."""

    winner = "winner"
    ranking = "ranking"
    share = "share"
    threshold = "threshold"
    quantile = "quantile"
    quantiles = "quantiles"


def compare(
    question: Annotated[Kind, typer.Argument(help="The kind of question.")],
    records: Annotated[int, typer.Option(help="Compare over all histograms of this many records.")],
    epsilon: Annotated[str, typer.Option(help="ε, exactly as written: 1, 0.5 or 1/3.")],
    delta: Annotated[str, typer.Option(help="δ, for (ε,δ)-privacy.")] = "0",
    answers: Annotated[
        int | None,
        typer.Option(help="How many answers a vote, or bins a quantile, has; 2 if not given."),
    ] = None,
    among: Annotated[
        str | None, typer.Option(help="Or the answers themselves, as in ask: red,green,blue.")
    ] = None,
    first: Annotated[int, typer.Option(help="How many a ranking names.")] = 2,
    as_set: Annotated[bool, typer.Option("--as-set", help="A ranking without its order.")] = False,
    at_least: Annotated[
        str | None,
        typer.Option(help="The threshold or the share; half of the records if not given."),
    ] = None,
    q: Annotated[
        str, typer.Option("--q", help="Which quantile: 0.5 is the median; or several: 0.25,0.75.")
    ] = "0.5",
    neighbors: Annotated[str, choices.neighbors()] = "substituted",
    ties: Annotated[str, choices.ties()] = "first listed",
    rows_per_person: Annotated[int, typer.Option(help="How many rows one person may have.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Compare our mechanisms with what others use, before any data is seen.

    Mean error and worst case over all histograms of that many records, for a quantile also how far
    off answers are, the margin from which each mechanism is 99 % sure, and the ε it would need to
    do as well as ours. Reads no data, spends nothing.

    Example: `rainbow compare winner --answers 3 --records 20 --epsilon 1`
    """
    from rainbowdp.cli.given import listed, portion, whole_number
    from rainbowdp.comparison import compare as compared
    from rainbowdp.guarantees.dp import DP
    from rainbowdp.questions import Quantile, Quantiles, Ranking, Share, Threshold, Winner
    from rainbowdp.questions.relations import Neighbors, Ties, one_of

    if among is not None and answers is not None:
        raise RainbowError("Give either --answers or --among, not both.")
    named = listed(among) if among is not None else None
    answers = len(named) if named is not None else 2 if answers is None else answers
    if answers < 2:
        raise RainbowError(f"A question has at least 2 answers, not {answers}: see --answers.")
    if records < 1:
        raise RainbowError(f"A comparison needs at least 1 record, not {records}: see --records.")
    relation = one_of(Neighbors, neighbors, "neighbors")
    made: Winner | Ranking | Share | Threshold | Quantile | Quantiles
    names = named or [str(number) for number in range(1, answers + 1)]
    if question is Kind.ranking:
        made = Ranking(
            names,
            first=first,
            in_order=not as_set,
            neighbors=relation,
            rows_per_person=rows_per_person,
        )
    elif question is Kind.winner:
        made = Winner(
            names,
            ties=one_of(Ties, ties, "ties"),
            neighbors=relation,
            rows_per_person=rows_per_person,
        )
    elif question is Kind.quantile:
        bins = list(range(answers + 1))
        made = Quantile(q, bins, neighbors=relation, rows_per_person=rows_per_person)
    elif question is Kind.quantiles:
        bins = list(range(answers + 1))
        made = Quantiles(listed(q), bins, neighbors=relation, rows_per_person=rows_per_person)
    elif question is Kind.share:
        part = portion(at_least or "1/2")
        made = Share(part, neighbors=relation, rows_per_person=rows_per_person)
    else:
        least = -(-records // 2) if at_least is None else whole_number(at_least, "--at-least")
        made = Threshold(least, neighbors=relation, rows_per_person=rows_per_person)
    promise = DP(epsilon, delta)
    comparison = compared(made, promise, records=records)
    if as_json:
        print_json(comparison.as_dict())
    else:
        typer.echo(str(comparison))
        warn(promise, "one record" if rows_per_person == 1 else "one person")
