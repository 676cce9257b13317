from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from rainbowdp.display.colors import GREEN, ORANGE, PALETTE, colors

# Machado, Oliveira and Fernandes (2009), severity 1: what each kind of color blindness sees.
SEEN = {
    "by most": np.eye(3),
    "without red": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "without green": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "without blue": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def lab(color: str, seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIE L*a*b* of a color as it is seen."""
    rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(seen @ linear, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_all_colors_are_told_apart_by_everybody() -> None:
    for seen in SEEN.values():
        for a, b in itertools.combinations(PALETTE, 2):
            assert np.linalg.norm(lab(a, seen) - lab(b, seen)) >= 20


def test_the_first_five_are_told_apart_in_print() -> None:
    lightness = sorted(lab(color, SEEN["by most"])[0] for color in PALETTE[:5])
    assert np.diff(lightness).min() >= 14


def test_answers_named_after_a_color_get_it_and_no_two_share_one() -> None:
    found = colors(["yes", "Red", "green", "no"])
    assert (found["Red"], found["green"]) == (ORANGE, GREEN)
    assert list(found) == ["yes", "Red", "green", "no"]
    assert len(set(found.values())) == 4
    assert len(set(colors(["red", "orange"]).values())) == 2


def test_a_ninth_answer_gets_a_color_too() -> None:
    assert set(colors(range(11)).values()) == set(PALETTE)
