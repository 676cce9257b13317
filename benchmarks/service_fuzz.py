"""Requests that nobody should send, against a real service.

Those that schemathesis draws from the OpenAPI document are in
``tests/service/test_openapi.py``.

Run it as ``python benchmarks/service_fuzz.py``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from odd_requests import fuzzed, private_in
from postgres import fresh_schema, killable_server
from service_world import CANARY, world


def main() -> None:
    """Prints a table in Markdown; what is wrong is an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix=CANARY) as folder,
        killable_server("fsync=off", "max_connections=400") as server,
        world(Path(folder), fresh_schema(server.url), 2, time_limit="20 s") as service,
    ):
        start = time.monotonic()
        found = fuzzed(service, options.requests, options.clients, options.seed)
        took = time.monotonic() - start
        for wrong, request in found.wrong[:5]:
            print(wrong, request[:2000], file=sys.stderr)
        leaks = private_in(service.log, service)
    print("| requests | by status | cut off | 5xx | wrong replies | private values in logs |")
    print("| --- | --- | --- | --- | --- | --- |")
    by_status = ", ".join(f"{status}: {many:,}" for status, many in sorted(found.statuses.items()))
    failures = sum(many for status, many in found.statuses.items() if status >= 500)
    cells = (f"{found.requests:,}", by_status, found.cut, failures, len(found.wrong), len(leaks))
    print(f"| {' | '.join(map(str, cells))} |")
    print(f"{took:.0f} s", file=sys.stderr)
    assert not found.wrong
    assert not leaks, leaks[:3]


if __name__ == "__main__":
    main()
