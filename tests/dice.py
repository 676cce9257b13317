"""Draws that are the same in every run."""

from __future__ import annotations

import random

import pytest


@pytest.fixture
def dice(monkeypatch: pytest.MonkeyPatch) -> random.Random:
    """All that a release can draw by, from one seed, so that no test of a law is left to chance."""
    seeded = random.Random(7)
    monkeypatch.setattr("secrets.randbits", seeded.getrandbits)
    monkeypatch.setattr("secrets.randbelow", seeded.randrange)
    monkeypatch.setattr("secrets.token_bytes", seeded.randbytes)
    monkeypatch.setattr("secrets.choice", seeded.choice)
    return seeded
