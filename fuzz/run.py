"""Calls with odd things for a number of seconds, each in bounded time and memory.

``make fuzz`` runs it for an hour. Whatever is not a ``RainbowError`` is a finding, and so is a call
of more than five seconds; a finding is printed with the bytes that make it again:
``python fuzz/run.py --again TARGET HEX``.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tests")]

from calls import TARGETS  # noqa: E402  found by the line above
from choices import Choices  # noqa: E402
from rainbowdp.errors import RainbowError  # noqa: E402

LIMIT = 5  # seconds of processor time of a call


class Hang(BaseException):
    """A call that takes too long."""


def _alarm(number: int, frame: FrameType | None) -> None:
    raise Hang


def finding(name: str, data: bytes) -> str | None:
    """What escaped from the call, or nothing."""
    signal.signal(signal.SIGPROF, _alarm)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)  # of processor time: the machine may be busy
    try:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TARGETS[name](Choices(data), Path(folder))
    except RainbowError:
        return None
    except Hang:
        return f"more than {LIMIT} s"
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if "rainbowdp" in frame.filename and "site-packages" not in frame.filename
        ]
        frame = ours[-1] if ours else last
        return (
            f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}: {error!s:.200}"
        )
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def main() -> int:
    """Runs; one if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--calls", type=int, default=None, help="So many instead.")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default="", help="a part of the targets' names")
    parser.add_argument("--gigabytes", type=float, default=4, help="of addresses")
    parser.add_argument("--again", nargs=2, metavar=("TARGET", "HEX"))
    options = parser.parse_args()
    if options.again:
        name, data = options.again[0], bytes.fromhex(options.again[1])
        with tempfile.TemporaryDirectory() as folder:
            TARGETS[name](Choices(data), Path(folder))
        return 0
    most = int(options.gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    names = [name for name in TARGETS if options.only in name]
    seed = options.seed if options.seed is not None else random.SystemRandom().getrandbits(32)
    source, found, done = random.Random(seed), Counter[str](), 0
    end = time.monotonic() + options.seconds
    while done < options.calls if options.calls is not None else time.monotonic() < end:
        name, data = source.choice(names), source.randbytes(48)
        told = finding(name, data)
        done += 1
        if told is not None:
            key = f"{name}: {told.split(': ')[0]}"
            if not found[key]:
                print(f"{name}: {told}\n  again: {name!r} {data.hex()}", flush=True)
            found[key] += 1
    print(f"{done:,} calls of {len(names)} targets, seed {seed}: {found.total():,} findings")
    for key, count in found.most_common():
        print(f"{count:8,}  {key}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
