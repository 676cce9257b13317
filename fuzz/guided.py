"""The same calls, led by coverage: atheris looks for bytes that reach new lines of ours.

``python fuzz/guided.py -max_total_time=300``; libFuzzer's options are passed on. The first byte is
the target, the others are its choices. A finding ends the run, and its bytes are printed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tests")]

with atheris.instrument_imports(include=["rainbowdp"]):
    from calls import TARGETS
    from run import finding

NAMES = sorted(TARGETS)


def once(data: bytes) -> None:
    """One call; libFuzzer watches its time and memory."""
    if not data:
        return
    name = NAMES[data[0] % len(NAMES)]
    told = finding(name, data[1:])
    if told is not None:
        raise AssertionError(f"{name}: {told}\n  again: {name!r} {data[1:].hex()}")


if __name__ == "__main__":
    atheris.Setup(
        [*sys.argv, "-max_len=64", "-len_control=0", "-rss_limit_mb=4096", "-timeout=30"], once
    )
    atheris.Fuzz()
