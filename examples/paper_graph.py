"""The paper's first figure, from graph to checked mechanism."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import rainbowdp as rb
from rainbowdp import paper

BAR = 12


def bar(probabilities: dict[str, float]) -> str:
    """The answers of one row as a colored bar, most preferred first."""
    ends = [0.0]
    for p in probabilities.values():
        ends.append(ends[-1] + p)
    cells = [round(BAR * end) for end in ends]
    parts = zip(probabilities, cells, cells[1:], strict=False)
    return "".join(f"[{color}]{'█' * (end - start)}[/]" for color, start, end in parts)


def main() -> None:
    console = Console()
    graph = paper.figure_one()
    guarantee = rb.DP(1)
    mechanism = rb.optimal(graph, guarantee)

    console.print(f"\n[bold]{graph}[/]")
    console.print(
        "Each dataset prefers the answers in some order, its rainbow. The optimal mechanism under "
        f"[bold]{guarantee}[/] depends only on that rainbow and on the depth: how many steps the "
        "dataset is away from the border to another rainbow.\n"
    )
    table = Table("rainbow", "depth", "datasets", *graph.answers, "", box=SIMPLE_HEAD)
    for (rainbow, depth), row in mechanism.rows.items():
        here = [d for d in graph.datasets if (graph.region[d], graph.depth[d]) == (rainbow, depth)]
        numbers = [f"{row[answer]:.4f}" for answer in graph.answers]
        order = " ".join(f"[{answer}]{answer}[/]" for answer in rainbow)
        table.add_row(order, str(depth), ", ".join(here), *numbers, bar(row))
    console.print(table)

    console.print(f"On the boundary graph: {mechanism.check()}.")
    console.print(f"On every edge:         {mechanism.check(every_edge=True)}.")
    coin = rb.Mechanism.from_table(
        graph, {d: mechanism.rows[graph.region[d], 0] for d in graph.datasets}
    )
    console.print(f"Against the same mechanism without depth: {rb.relate(mechanism, coin)}.\n")


if __name__ == "__main__":
    main()
