"""Eight writers of one ledger, killed 300 times, in each currency, on SQLite and PostgreSQL.

Run it as ``python benchmarks/ledger_kills.py``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from killed_writers import CURRENCIES, killed
from postgres import fresh_schema, server


def main() -> None:
    """Prints a table in Markdown; a broken promise is an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--writers", type=int, default=8)
    options = parser.parse_args()
    print("| database | budget in | kills | entries | answers shown | answers lost | overspent |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder, server() as url:
        for currency in CURRENCIES:
            for place in (f"{folder}/{currency}.db", fresh_schema(url)):
                start = time.monotonic()
                found = killed(place, currency, options.kills, options.writers)
                took = time.monotonic() - start
                database = "PostgreSQL" if "://" in place else "SQLite"
                cells = (database, currency, found.kills, found.entries, found.shown, found.lost, 0)
                print(f"| {' | '.join(map(str, cells))} |", flush=True)
                print(f"{took:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
