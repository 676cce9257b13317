"""The main job on shipped data: three questions, one ledger, three private answers."""

from __future__ import annotations

import tempfile
from math import floor
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import rainbowdp as rb

ELECTION = str(Path(__file__).parent / "data" / "election.csv")
TRAVEL = str(Path(__file__).parent / "data" / "travel.csv")


def main() -> None:
    console = Console()
    threshold = rb.Threshold(500, "vote", equals="Clinton")
    median = rb.Quantile("1/2", [0, 15_000, 25_000, 35_000, 50_000, 200_000], "income")
    winner = rb.Winner(["air", "train", "bus", "car"], "mode")
    asked = {
        "Did at least 500 of the 944 expect to vote for Clinton?": (
            rb.best(threshold, rb.DP(1)),
            ELECTION,
        ),
        "Which bracket holds the median household income?": (
            rb.best(median, rb.DP(1)),
            ELECTION,
        ),
        "How do most of the 210 travel?": (rb.best(winner, rb.DP("1.5")), TRAVEL),
    }
    with tempfile.TemporaryDirectory() as folder:
        ledger = rb.Ledger.create(Path(folder) / "budget.db", dataset="two-surveys", epsilon=4)
        console.print("\n[bold]Three private answers[/], for one record substituted\n")
        table = Table("question", "guarantee", "mechanism", "answer", box=SIMPLE_HEAD)
        for words, (mechanism, data) in asked.items():
            answer = rb.ask(mechanism, data, ledger=ledger).answer
            shown = f"[bold green]{escape(answer)}[/]"
            table.add_row(words, str(mechanism.guarantee), mechanism.name, shown)
        console.print(table)
        balance = ledger.balance()
        console.print(f"Spent {balance.spent} of {balance.total}; left {balance.left}.")
        console.print(
            "Each mechanism was proved private in integers before its answer was drawn.\n"
        )

        console.print("How sure is such an answer? It depends on the [bold]margin[/]: how many")
        console.print("records would have to change before another answer were the true one.\n")
        sure = Table("margin", *asked, box=SIMPLE_HEAD)
        for margin in (1, 2, 3, 5, 10, 20):
            least = [mechanism.by_margin([margin])[0][1] for mechanism, _ in asked.values()]
            # rounded down: no private answer is certain
            sure.add_row(str(margin), *(f"{floor(p * 1e6) / 1e4:.4f}%" for p in least))
        console.print(sure)
        console.print("(the least probability of the true answer, before any data is read)\n")


if __name__ == "__main__":
    main()
