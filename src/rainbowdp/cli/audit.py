"""``rainbow audit``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rainbowdp.cli.output import AsJson, guarantee_from, print_json, working
from rainbowdp.cli.running import CODES
from rainbowdp.errors import InvalidFile, RainbowError

if TYPE_CHECKING:
    from rainbowdp.questions import Count, Question


def audit(
    mechanism: Annotated[
        str,
        typer.Argument(
            help="A mechanism file; a CSV or JSON file of rows; or a function, as file.py:name."
        ),
    ],
    question: Annotated[
        str | None,
        typer.Option(help="The question as JSON, or a file of it; a mechanism file has its own."),
    ] = None,
    edges: Annotated[
        Path | None, typer.Option(help="For rows on a graph: a file with the edges of the graph.")
    ] = None,
    records: Annotated[
        int | None, typer.Option(help="Compare all histograms of at most this many records.")
    ] = None,
    tries: Annotated[
        int | None, typer.Option(help="Compare this many pairs of neighbors, drawn at random.")
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="If the function draws an answer: how many times to call it.")
    ] = None,
    confidence: Annotated[
        str, typer.Option(help="How sure a statement from draws has to be.")
    ] = "0.99",
    epsilon: Annotated[str | None, typer.Option(help="Claim ε, exactly as written.")] = None,
    delta: Annotated[str, typer.Option(help="The claim's δ, with --epsilon.")] = "0",
    mu: Annotated[str | None, typer.Option(help="Claim μ-Gaussian privacy.")] = None,
    rho: Annotated[str | None, typer.Option(help="Claim ρ-zero-concentrated privacy.")] = None,
    rounding: Annotated[
        str | None,
        typer.Option(help="By what relative amount rounded rows may exceed the claim: 1e-9."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Makes random pairs repeatable.")] = None,
    snippet: Annotated[
        bool, typer.Option("--snippet", help="Print a script that shows the worst pair.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find out what any finite mechanism really keeps, over all neighbors.

    Prints ε, δ, μ, ρ and Rényi divergences of the worst neighbors, exactly for rows and with
    confidence for draws, and that pair of neighbors. A claim is tested: the one in the options, or
    what a mechanism file promises. If it is broken, the exit code is 9.

    Example: `rainbow audit poll.json --records 10`

    Example: `rainbow audit law.py:rows --question '{"kind": "winner", "answers": ["a", "b"]}'
    --epsilon 1`
    """
    from rainbowdp.auditing.audit import audit as audited

    claim = None
    if epsilon is not None or mu is not None or rho is not None:
        claim = guarantee_from(epsilon, delta, mu, rho)
    elif delta != "0":
        raise RainbowError("--delta belongs to --epsilon. Leave it out, or give --epsilon.")
    if edges is not None and question is not None:
        raise RainbowError("Neighbors come from --question or from --edges. Leave out one of them.")
    subject: Any = _function(mechanism) if ":" in mechanism else Path(mechanism)
    with working("comparing neighbors"):
        found = audited(
            subject,
            None if question is None else _question(question),
            claim,
            records=records,
            tries=tries,
            pairs=None if edges is None else _pairs(edges),
            draws=draws,
            confidence=confidence,
            rounding=rounding,
            seed=seed,
        )
    if as_json:
        print_json(found.as_dict())
    elif snippet:
        typer.echo(found.snippet(), nl=False)
    else:
        typer.echo(str(found))
    if not found:
        raise typer.Exit(CODES["broken"])
    if found.verdict == "undecided":
        raise typer.Exit(CODES["failed"])


def _question(text: str) -> Question | Count:
    import json

    from rainbowdp.questions import Count, Question, from_description
    from rainbowdp.storage.documents import read_text

    if not text.lstrip().startswith("{"):
        text = read_text(text)
    try:
        found = from_description(json.loads(text))
    except (ValueError, RecursionError) as error:
        if isinstance(error, RainbowError):
            raise
        raise RainbowError(f"--question must be JSON, or a file of it: {error}.") from None
    if not isinstance(found, Question | Count):
        raise RainbowError(
            "--question must have finitely many answers that are listed, such as a winner, a "
            "threshold, a quantile or a ranking."
        )
    return found


def _pairs(path: Path) -> list[tuple[Any, Any]]:
    from rainbowdp.graphs.readers.edges import read_graph

    found = read_graph(path)
    pairs: list[tuple[Any, Any]] = [(one, other) for one, other in found.pairs]
    names = found.names
    return pairs if names is None else [(names[int(a)], names[int(b)]) for a, b in pairs]


def _function(given: str) -> Callable[..., Any]:
    """The function ``name`` of ``file.py``."""
    import runpy

    file, _, name = given.rpartition(":")
    if not file.endswith(".py"):
        raise RainbowError(f"A function is given as file.py:name, not as {given}.")
    try:
        held = runpy.run_path(file)
    except OSError as error:
        raise InvalidFile(f"cannot read {file}: {error.strerror}") from error
    except Exception as error:
        raise InvalidFile(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    if not callable(held.get(name)):
        raise InvalidFile(f"{file} has no function {name!r}")
    function: Callable[..., Any] = held[name]
    return function
