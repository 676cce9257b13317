"""A service of several processes over PostgreSQL beside a bare endpoint that counts and inserts.

The same clients, processes, table and database for both, in short rounds that take turns, so that
what else the machine does falls on both. PostgreSQL syncs every transaction to disk, as it does
unless told otherwise: a payment, and the row of the bare endpoint, are durable. Then the ledger is
compared with what the clients were told, and a small budget is asked for until it is spent: exactly
all of it. Run it as ``python benchmarks/service.py``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from bare_service import bare_service
from postgres import fresh_schema, killable_server
from rainbowdp.ledger import Ledger
from service_checks import Seen, check
from service_load import Load, Reply, load, posted
from service_world import QUESTION, World, world

_WARM = 10  # seconds before anything is measured: connections and tokens are met for the first time


def bare_request(key: str) -> bytes:
    """A question to the bare endpoint."""
    body = {"question": QUESTION, "guarantee": {"epsilon": "0.0001"}}
    return posted("/ask", body, {"Idempotency-Key": key})


def in_turns(service: World, bare: int, options: argparse.Namespace, seen: Seen) -> list[Load]:
    """The loads on the service, and on the bare endpoint, in rounds that take turns."""
    ours, theirs = Load(), Load()
    clients, each = options.clients, options.seconds / options.rounds

    def asked(number: int, seconds: float) -> None:
        def note(key: str, reply: Reply) -> None:
            seen.note(f"{number}-{key}", reply)

        here = load(
            *(service.port, clients, seconds), lambda key: service.ask(f"{number}-{key}"), note
        )
        there = load(bare, clients, seconds, lambda key: bare_request(f"{number}-{key}"))
        if number:
            ours.add(here)
            theirs.add(there)

    for number in range(options.rounds + 1):  # the first one is not measured
        asked(number, each if number else _WARM)
    return [ours, theirs]


def row(name: str, rows: int, found: Load, best: float) -> str:
    """A row of the table."""
    cells = (
        *(name, f"{rows:,}", len(found.latencies), f"{found.throughput:.0f}"),
        *(f"{found.throughput / best:.2f}", f"{1000 * found.quantile(0.5):.0f} ms"),
        *(f"{1000 * found.quantile(0.99):.0f} ms", found.failures + found.cut),
    )
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Prints a table in Markdown; a broken promise is an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 100_000])
    options = parser.parse_args()
    print("| endpoint | rows | replies | a second | share | p50 | p99 | 5xx or cut |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with killable_server("fsync=on", "max_connections=400") as server:
        for rows in options.rows:
            database, seen = fresh_schema(server.url), Seen()
            budget = {"epsilon": "1000"}
            with (
                tempfile.TemporaryDirectory() as folder,
                world(Path(folder), database, options.processes, rows, budget=budget) as service,
                bare_service(database, options.processes) as port,
            ):
                ours, theirs = in_turns(service, port, options, seen)
                found = check(service, seen)
            print(row("count and insert", rows, theirs, theirs.throughput))
            print(row("the service", rows, ours, theirs.throughput), flush=True)
            assert not seen.refused, seen.refused
            assert not ours.failures + ours.cut
            assert found.unanswered == 0
        spend_all(fresh_schema(server.url), options)


def spend_all(database: str, options: argparse.Namespace) -> None:
    """Ask for a small budget until nothing is left."""
    seen, many = Seen(), 300
    budget = {"epsilon": str(Fraction(many, 10_000))}
    with (
        tempfile.TemporaryDirectory() as folder,
        world(Path(folder), database, options.processes, budget=budget) as service,
    ):
        load(
            *(service.port, options.clients, 600, service.ask, seen.note),
            over=lambda: bool(seen.refused),
        )
        check(service, seen)
        balance = Ledger.open(service.place).balance()
    assert balance.spent == balance.total, "overspent, or less than everything"
    assert len(seen.answers) == many
    assert set(seen.refused) == {"409 budget_exceeded"}, seen.refused
    print(f"\nA budget for {many} answers: {len(seen.answers)} given, nothing left, 0 overspent.")


if __name__ == "__main__":
    main()
