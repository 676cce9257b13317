"""Ledgers on a disk that fails, thousands of sessions, each with a seed to replay.

Run it as ``python benchmarks/ledger_faults.py --seeds 10000``; one seed alone with ``--first 4711
--seeds 1``. The disk and the session are those of the tests.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from faulty_sessions import KINDS, campaign


def main() -> None:
    """Prints a table in Markdown; a broken promise is an error that names its seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    memory = Path("/dev/shm")  # noqa: S108
    start, found = time.monotonic(), Counter[tuple[str, str, bool]]()
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        for first in range(options.first, options.first + options.seeds, 500):
            last = min(first + 500, options.first + options.seeds)
            found += campaign(range(first, last), Path(folder))
            minutes = (time.monotonic() - start) / 60
            print(f"{last} seeds, {minutes:.1f} min", file=sys.stderr, flush=True)
    print("| what went wrong | sessions | whole at the end | damage noticed | broken promises |")
    print("| --- | --- | --- | --- | --- |")
    for kind in KINDS:
        whole = sum(found[kind, "whole", errors] for errors in (False, True))
        noticed = sum(found[kind, "noticed", errors] for errors in (False, True))
        print(f"| {kind} | {whole + noticed} | {whole} | {noticed} | 0 |")


if __name__ == "__main__":
    main()
