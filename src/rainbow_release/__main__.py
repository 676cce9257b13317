"""``python -m rainbow_release poll.json --counts red=10,green=7``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import Mechanism, NoisyCount, Refused, check_tiles, javascript, load, schema, sql

USAGE = """usage: python -m rainbow_release FILE [--counts NAME=N,… | --margins ANSWER=N,… |
       --region LABEL --depth N | --tiles FOLDER]
       python -m rainbow_release --javascript | --sql | --schema

Proves the mechanism file again, in integers. With counts, margins or a place it also draws one
answer, which spends the guarantee of the file once: no ledger is kept here. With a folder of tiles
it checks every edge of them. The second form prints the same reader for browsers and phones, the
query for SQLite, or the JSON Schema of files."""


def main(arguments: Sequence[str]) -> int:
    """Prove a file, and draw if a dataset is given."""
    if not arguments or "-h" in arguments or "--help" in arguments:
        print(USAGE)
        return 0 if arguments else 2
    printed = {"--javascript": javascript, "--sql": sql, "--schema": schema}
    if len(arguments) == 1 and arguments[0] in printed:
        sys.stdout.write(printed[arguments[0]]())
        return 0
    path, *rest = arguments
    try:
        options = dict(zip(rest[::2], rest[1::2], strict=True))
        known = ({"--counts"}, {"--margins"}, {"--region", "--depth"}, {"--tiles"}, set[str]())
        if set(options) not in known:
            raise Refused("give --counts, --margins, --region and --depth, or --tiles")
        mechanism = load(path)
        if not options:
            print(f"proved: {mechanism.kind}, {mechanism.proved}, {mechanism.guarantee}")
        elif "--tiles" in options:
            if not isinstance(mechanism, Mechanism):
                raise Refused("tiles are of a graph, and this is the file of a count")
            tiles, nodes, edges = check_tiles(options["--tiles"], mechanism)
            print(f"checked: {edges} edges between {nodes} nodes, in {tiles} tiles")
        elif "--counts" in options:
            print(mechanism.release(_numbers(options["--counts"])))
        elif isinstance(mechanism, NoisyCount):
            raise Refused("the file of a count takes --counts matching=N")
        elif "--margins" in options:
            named = {str(answer): answer for answer in mechanism.answers}
            margins = _numbers(options["--margins"])
            print(mechanism.release_at({named.get(a, a): n for a, n in margins.items()}))
        else:
            label = options["--region"]
            depth = None if options["--depth"] == "none" else _number(options["--depth"])
            try:
                print(mechanism.release_at((label, depth)))
            except Refused:
                if not label.isdigit():
                    raise
                print(mechanism.release_at((int(label), depth)))
    except (Refused, ValueError) as error:
        print(f"refused: {error}", file=sys.stderr)
        return 3
    return 0


def _numbers(text: str) -> dict[str, int]:
    found = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        if name in found:
            raise Refused(f"{name} must be given once")
        found[name] = _number(number)
    return found


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 300):
        raise Refused(f"a whole number from 0 is wanted, got {text[:40]!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
