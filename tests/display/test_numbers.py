from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rainbowdp.display.numbers import percent, uncertain
from rainbowdp.display.pages import SHARED


@pytest.mark.parametrize(
    ("chance", "shown"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.7310585786300049, "73.11 %"),
        (Fraction(1, 3), "33.33 %"),
        (0.12125, "12.13 %"),  # a tie, exactly
        (0.99994, "99.99 %"),
        (0.99996, "> 99.99 %"),
        (0.00004, "< 0.01 %"),
        (5e-324, "< 0.01 %"),
    ],
)
def test_a_probability_is_written_in_one_way(chance: float, shown: str) -> None:
    assert percent(chance) == shown


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_only_what_is_certain_is_called_so(chance: float) -> None:
    assert percent(chance) not in ("0 %", "100 %", "0.00 %", "100.00 %")
    assert percent(chance) == uncertain(chance)
    assert uncertain(1.0) == "> 99.99 %"


def test_pages_write_them_alike() -> None:
    node = shutil.which("node")
    assert node, "Node is missing: make programs installs it"
    ticks = [n / 1600 for n in range(1601)] + [10.0**-n for n in range(20)]
    ticks += [1 - 10.0**-n for n in range(1, 17)]
    module = "data:text/javascript," + quote((SHARED / "numbers.js").read_text())
    script = (
        f"import {{ percent }} from {json.dumps(module)};"
        f"console.log(JSON.stringify({json.dumps(ticks)}.map(percent)))"
    )
    run = subprocess.run(
        [node, "--input-type=module", "-e", script], capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout) == [percent(tick) for tick in ticks]
