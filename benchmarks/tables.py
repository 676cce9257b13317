"""Margin tables: how long one takes to make, to take from the cache proved again, and to draw from.

Prints Markdown; ε = 1, one record substituted. A number on the command line is the largest number
of answers (6 takes some minutes where ties go to the first listed).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import timeit

import rainbowdp as rb
from rainbowdp import table_proof, table_store
from rainbowdp.standing import TIES

DRAWS = 2000
VOTES = (1000, 990, 971, 955, 940, 700)


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("| answers | ties | rows | made [processor s] | from the cache, proved [ms] ", end="")
    print("| a release [µs] |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        os.environ[table_store.FOLDER] = folder
        for answers in range(2, most + 1):
            for ties in TIES:
                asked = (answers, rb.DP(1), "substituted", ties)
                start = time.process_time()
                table, _ = table_store.fetch_table(*asked)
                made = time.process_time() - start
                table_store._kept.clear()
                table_proof._remembered.clear()
                start = time.perf_counter()
                table_store.fetch_table(*asked)
                kept = time.perf_counter() - start
                names = [str(number) for number in range(answers)]
                exact = rb.ExactMechanism(rb.DP(1), tuple(names), table, neighbours="substituted")
                votes = dict(zip(names, VOTES, strict=False))
                draw = min(timeit.repeat(lambda e=exact, v=votes: e.release(v), number=DRAWS))  # type: ignore[misc]
                cells = f"{made:.2f} | {1e3 * kept:.0f} | {1e6 * draw / DRAWS:.0f}"
                print(f"| {answers} | {ties} | {len(table.rows)} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
