"""What every small reader must make of the golden files."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from scipy.stats import chi2

import rainbow_release
from golden_files import FOLDER, FORGED

READER = Path(rainbow_release.__file__).with_name("rainbow-release.js")
PLACES: list[dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
UNLIKELY = 1e-7  # that a test of a right reader fails


def must_fit(drawn: list[int], chances: list[str]) -> None:
    """The draws have these chances, by a chi-square test; the unlikely ones count as one."""
    total = sum(drawn)
    wanted = [float(Fraction(chance)) * total for chance in chances]
    assert all(hoped > 0 or not found for found, hoped in zip(drawn, wanted, strict=True))
    likeliest = wanted.index(max(wanted))
    pooled: dict[int, list[float]] = {}
    for place, pair in enumerate(zip(drawn, wanted, strict=True)):
        cell = pooled.setdefault(place if pair[1] >= 5 else likeliest, [0, 0])
        cell[0], cell[1] = cell[0] + pair[0], cell[1] + pair[1]
    statistic = sum((found - hoped) ** 2 / hoped for found, hoped in pooled.values())
    assert chi2.sf(statistic, max(1, len(pooled) - 1)) > UNLIKELY


def check_javascript(told: dict[str, Any]) -> None:
    """The rows are the golden ones, the draws have their chances, forgeries are refused."""
    refused = told["refused"]
    assert set(refused) == {f"forged/{path.name}" for path in FORGED.iterdir()}
    for name, message in refused.items():
        assert message, f"{name} was taken"
        assert "use rainbowdp itself" not in message
        assert "checksum" not in message
        assert "complete" not in message
    for number, place in enumerate(PLACES):
        assert told["rows"][number] == place["chances"], place
        if "noise" not in place:
            must_fit(told["draws"][str(number)], place["chances"])
