"""Who asks, where the system has names for its users and where it has none."""

from __future__ import annotations

import os
import sys

import pytest

import rainbowdp as rb
from rainbowdp.ledger.software import SOFTWARE, user


def unknown(number: int) -> None:
    raise KeyError(number)


def test_the_user_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    assert user() == pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert user() == f"uid {os.getuid()}"
    monkeypatch.setitem(sys.modules, "pwd", None)
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    assert user() == "ann"


def test_the_release_that_asks() -> None:
    assert f"rainbowdp {rb.__version__}" == SOFTWARE
