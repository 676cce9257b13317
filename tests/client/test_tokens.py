"""Where a service may be, and that its token is seen by nobody else."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.client.tokens import Token, address_of, is_loopback, token_of

SECRET = "rb_7_c0ffee-secret"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://answers.example.org", "https://answers.example.org"),
        ("https://answers.example.org/", "https://answers.example.org"),
        ("https://example.org:8443/rainbow/", "https://example.org:8443/rainbow"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000"),
        ("http://127.8.7.6", "http://127.8.7.6"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_a_service_is_behind_https_or_on_this_machine(url: str, address: str) -> None:
    assert address_of(url) == address


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://answers.example.org", "in the open"),
        ("http://10.0.0.1", "in the open"),
        ("http://localhost.example.org", "in the open"),
        ("http://127.0.0.1.example.org", "in the open"),
        ("http://[::2]", "in the open"),
        ("answers.example.org", "has an address such as"),
        ("ftp://answers.example.org", "has an address such as"),
        ("https://", "has an address such as"),
        ("https://host:port", "has an address such as"),
        ("https://[::1", "has an address such as"),
        ("", "has an address such as"),
        (f"https://ann:{SECRET}@example.org", "is a place alone"),
        (f"https://example.org?token={SECRET}", "is a place alone"),
        (f"https://example.org#{SECRET}", "is a place alone"),
        (f"http://ann:{SECRET}@example.org", "is a place alone"),
    ],
)
def test_other_addresses_are_refused_without_repeating_a_secret(url: str, why: str) -> None:
    with pytest.raises(rb.ServiceError, match=why) as refused:
        address_of(url)
    assert SECRET not in str(refused.value)


@pytest.mark.slow
@given(st.text(max_size=30))
def test_no_address_is_taken_that_would_go_over_the_network_in_the_open(text: str) -> None:
    for url in (text, f"http://{text}"):
        try:
            address = address_of(url)
        except rb.ServiceError:
            continue
        assert address.startswith(("https://", "http://"))
        if address.startswith("http://"):
            host = address.removeprefix("http://").split("/")[0]
            name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
            assert is_loopback(name.strip("[]").lower())


def test_a_token_shows_itself_to_nobody(tmp_path: Path) -> None:
    token = Token(SECRET)
    for shown in (repr(token), str(token), f"{token}", repr([token]), repr({"token": token})):
        assert SECRET not in shown
    with pytest.raises(TypeError):
        pickle.dumps(token)
    with pytest.raises(TypeError):
        copy.deepcopy(token)
    assert token.header() == f"Bearer {SECRET}"
    assert token.hidden_in(f"who is {SECRET}?") == "who is …?"


def test_a_token_is_given_or_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    assert token_of(None, file).header() == token_of(SECRET, None).header()
    for token, given_file in ((None, None), (SECRET, file)):
        with pytest.raises(rb.ServiceError, match="one token"):
            token_of(token, given_file)
    with pytest.raises(rb.ServiceError, match="cannot be read or is empty"):
        token_of(None, tmp_path / "nowhere")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(rb.ServiceError, match="cannot be read or is empty"):
        token_of(None, tmp_path / "empty")


@pytest.mark.parametrize("text", ["", "two words", f"{SECRET}\nnext: header", "ключ", "a" * 9000])
def test_what_cannot_be_a_token_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(rb.ServiceError, match="A token is one word") as refused:
        Token(text)
    assert not text or text not in str(refused.value)
