"""Starting: importing the package and ``rainbow --help``, beside importing NumPy in the same run.

Each is a process of its own with the bytecode cached, in turns; the least of so many runs, in
processor time, to which other people's load adds little. Prints a Markdown table.

    python benchmarks/start.py [RUNS]
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import tempfile

RUNS = 15
COMMAND = "import sys; sys.argv = ['rainbow', {words}]; import rainbow_command as c; c.main()"
WORKS = {
    "`import numpy`": "import numpy",
    "`import rainbowdp`": "import rainbowdp",
    "the same, and `rb.DP(1)`": "import rainbowdp as rb; rb.DP(1)",
    "the same, and every public name, SQLAlchemy's `rb.Ledger` too": "from rainbowdp import *",
    "`rainbow --help`": COMMAND.format(words="'--help'"),
    "`rainbow ask winner --help`": COMMAND.format(words="'ask', 'winner', '--help'"),
}


def seconds(code: str, environment: dict[str, str]) -> float:
    """The processor time of one process that runs ``code``."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)  # noqa: S603  ours
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        least = dict.fromkeys(WORKS, math.inf)
        for number in range(runs + 1):
            for name, code in WORKS.items():
                found = seconds(code, environment)
                if number:  # the first round fills the cache
                    least[name] = min(least[name], found)
    print(f"Python {sys.version.partition(' ')[0]}, {os.cpu_count()} processors, {runs} runs.\n")
    print("| process | processor seconds | × NumPy |")
    print("| --- | --- | --- |")
    for name, found in least.items():
        print(f"| {name} | {found:.2f} | {found / least['`import numpy`']:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
