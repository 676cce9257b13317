"""People and their tokens: shown once, hashed at rest, expiring, and revoked everywhere at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from openid_issuer import Issuer, issuer
from postgres import fresh_schema
from rainbowdp.errors import InvalidFile, Unavailable
from rainbowdp.service.people import tokens
from rainbowdp.service.people.directory import People
from rainbowdp.service.people.roles import Expired, Person, Role, Unauthenticated
from rainbowdp.service.people.store import METADATA, STORE, TOKENS, Store
from rainbowdp.service.people.tokens import Token, Verifier, id_of
from rainbowdp.service.problems import NotDone
from token_forgeries import NOON, Clock, forgeries, with_openid


@pytest.fixture
def people(place: str) -> People:
    return People(Store.at(place))


def test_a_token_says_whose_it_is(people: People) -> None:
    people.add("ann", [Role.ANALYST, Role.AUDITOR], by="root")
    new = people.token("ann", by="root", days=7)
    person = people.person(new.token)
    assert person == Person(
        "ann",
        frozenset({Role.ANALYST, Role.AUDITOR}),
        datetime.fromisoformat(new.expires),
        new.id,
    )
    assert people.person(new.token) == person  # remembered
    assert new.token not in repr(new)
    assert new.token not in repr(people.members())


def test_only_hashes_are_kept(people: People) -> None:
    people.add("ann", [Role.ANALYST], by="root")
    new = people.token("ann", by="root")
    people.person(new.token)
    secret = new.token.split("_")[2]
    with people.store.reading.begin() as connection:
        kept = [
            str(cell)
            for table in METADATA.sorted_tables
            for row in connection.execute(select(table))
            for cell in row
        ]
    assert not [cell for cell in kept if secret in cell or secret[:16] in cell]
    assert [cell for cell in kept if cell.startswith("$argon2id$v=19$m=19456,t=2,p=1$")]


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    store = Store.at(str(tmp_path / "people.db"))
    assert (tmp_path / "people.db").stat().st_mode & 0o777 == 0o600
    assert Store.at(store.where).where == store.where


def test_revoking_works_at_once_in_every_process(place: str) -> None:
    one, other = People(Store.at(place)), People(Store.at(place))
    one.add("ann", [Role.ANALYST], by="root")
    first, second = one.token("ann", by="root"), one.token("ann", by="root")
    for here in (one, other):
        here.person(first.token)
        here.person(second.token)
    assert one.revoke(first.id).revoked is not None
    for here in (one, other, People(Store.at(place))):
        with pytest.raises(Unauthenticated, match="revoked"):
            here.person(first.token)
        here.person(second.token)
    when = one.revoke(first.id).revoked
    assert one.revoke(first.token).revoked == when  # once; the whole token names itself, too


def test_somebody_who_is_removed_is_refused_at_once(place: str) -> None:
    one, other = People(Store.at(place)), People(Store.at(place))
    one.add("ann", [Role.ANALYST], by="root")
    new = one.token("ann", by="root")
    other.person(new.token)
    one.remove("ann", by="root")
    with pytest.raises(Unauthenticated):
        other.person(new.token)
    with pytest.raises(NotDone, match="There is nobody of the name 'ann'"):
        one.token("ann", by="root")
    one.add("ann", [Role.AUDITOR], by="root")
    with pytest.raises(Unauthenticated):
        other.person(new.token)  # old tokens stay revoked
    assert other.person(one.token("ann", by="root").token).roles == {Role.AUDITOR}


def test_roles_change_at_once(place: str) -> None:
    one, other = People(Store.at(place)), People(Store.at(place))
    one.add("ann", [Role.CURATOR], by="root")
    new = one.token("ann", by="root")
    assert other.person(new.token).roles == {Role.CURATOR}
    one.add("ann", [Role.AUDITOR], by="root")
    assert other.person(new.token).roles == {Role.AUDITOR}


def test_tokens_expire(place: str) -> None:
    clock = Clock()
    people = People(Store.at(place), clock=clock)
    people.add("ann", [Role.ANALYST], by="root")
    new = people.token("ann", by="root", days=1)
    assert new.expires == "2026-11-18T12:00:00+00:00"
    clock.now = NOON + timedelta(days=1) - timedelta(seconds=1)
    people.person(new.token)
    clock.now = NOON + timedelta(days=1)
    with pytest.raises(Expired, match="has expired"):
        people.person(new.token)
    wrong = new.token[:-1] + ("0" if new.token[-1] != "0" else "1")
    with pytest.raises(Unauthenticated) as caught:
        people.person(wrong)
    assert not isinstance(caught.value, Expired)  # only its owner learns that it has expired


def test_a_changed_hash_is_noticed_though_the_token_was_known(people: People) -> None:
    people.add("ann", [Role.ANALYST], by="root")
    new = people.token("ann", by="root")
    people.person(new.token)
    with people.store.write() as connection:
        connection.execute(update(TOKENS), {"hash": Token.new().hashed()})
    with pytest.raises(Unauthenticated):
        people.person(new.token)


@pytest.fixture
def watched() -> Any:
    with issuer() as found:
        yield found


def test_people_of_an_issuer_are_others_than_those_of_the_store(
    place: str, watched: Issuer
) -> None:
    people = with_openid(place, watched)
    people.add("ann", [Role.CURATOR], by="root")
    found = people.person(watched.token(sub="ann"))
    assert found.name == "ann@127.0.0.1"
    assert found.roles == {Role.ANALYST}
    with pytest.raises(NotDone, match="A name has up to 64 small letters"):
        people.add("ann@127.0.0.1/x", [Role.CURATOR], by="root")
    people.remove("ann@127.0.0.1", by="root")
    with pytest.raises(Unauthenticated, match="You were removed"):
        people.person(watched.token(sub="ann"))
    with pytest.raises(NotDone):
        people.token("ann@127.0.0.1", by="root")
    people.add("ann@127.0.0.1", [], by="root")
    assert people.person(watched.token(sub="ann")).roles == {Role.ANALYST}
    with pytest.raises(NotDone):
        people.token("ann@127.0.0.1", by="root")  # the issuer says who this is, and nobody else


@pytest.mark.slow
def test_a_thousand_forged_tokens_are_refused(watched: Issuer, tmp_path: Path) -> None:
    clock = Clock()
    people = with_openid(str(tmp_path / "people.db"), watched, clock)
    forged = forgeries(people, watched, clock, tmp_path)
    assert len(forged) >= 1000
    accepted = []
    for bearer in forged:
        with suppress(Unauthenticated):
            accepted.append((bearer, people.person(bearer)))
    assert accepted == []
    assert people.person(people.token("ann", by="root").token).name == "ann"
    assert people.person(watched.token()).name == "ann@127.0.0.1"


@pytest.mark.slow
def test_eight_threads_know_the_same_people(people: People) -> None:
    tokens = {}
    for number in range(3):
        people.add(f"p{number}", [Role.ANALYST], by="root")
        tokens[f"p{number}"] = people.token(f"p{number}", by="root").token
    with ThreadPoolExecutor(8) as pool:
        asked = [name for name in tokens for _ in range(5)]
        names = list(pool.map(lambda name: people.person(tokens[name]).name, asked))
    assert names == asked


@pytest.mark.parametrize("name", ["", "Ann", "a/b", "a b", "-a", "a" * 65, "ä", "a\n", "a@", "."])
def test_names_fit_into_addresses_and_ledgers(tmp_path: Path, name: str) -> None:
    people = People(Store.at(str(tmp_path / "people.db")))
    with pytest.raises(NotDone, match="A name has up to 64 small letters"):
        people.add(name, [Role.ANALYST], by="root")


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    people = People(Store.at(str(tmp_path / "people.db")))
    with pytest.raises(NotDone, match="Name a role for this person"):
        people.add("ann", [], by="root")
    with pytest.raises(NotDone, match="There is nobody of the name 'ben'"):
        people.token("ben", by="root")
    with pytest.raises(NotDone, match="There is nobody of the name 'ben'"):
        people.remove("ben", by="root")
    with pytest.raises(NotDone, match="There is no token of this id"):
        people.revoke("0" * 16)
    people.add("ann", [Role.ANALYST], by="root")
    for days in (0, -1, 367):
        with pytest.raises(NotDone, match="A token works for 1 to 366 days"):
            people.token("ann", by="root", days=days)


def test_a_store_elsewhere_or_of_another_version_is_refused(tmp_path: Path) -> None:
    for place, message in [
        ("mysql://db/x", "A store cannot be kept at mysql://"),
        ("postgresql://user:secret@host:port/x", "is malformed"),
        (str(tmp_path / "none" / "people.db"), "There is no folder for"),
    ]:
        with pytest.raises(InvalidFile, match=message) as caught:
            Store.at(place)
        assert "secret" not in str(caught.value)
    store = Store.at(str(tmp_path / "people.db"))
    with store.write() as connection:
        connection.execute(update(STORE), {"version": 9})
    with pytest.raises(InvalidFile, match="is a store of version 9, and this release"):
        Store.at(store.where)


def test_a_store_out_of_reach_lets_nobody_in(tmp_path: Path) -> None:
    people = People(Store.at(str(tmp_path / "people.db")))
    people.add("ann", [Role.ANALYST], by="root")
    new = people.token("ann", by="root")
    people.person(new.token)
    people.ready()
    (tmp_path / "people.db").write_bytes(b"nothing of the kind" * 100)
    with pytest.raises(Unavailable, match="cannot be looked up now"):
        people.person(new.token)
    with pytest.raises(Unavailable):
        people.ready()
    assert id_of(new.token) == new.id


def test_many_first_requests_with_one_token_compare_it_once_or_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hash takes as long as some ten questions, and a process has many threads."""
    token, verifier = Token.new(), Verifier()
    hashed, compared = token.hashed(), []
    real = tokens._compared

    def counted(bearer: str, kept: str) -> bool:
        compared.append(bearer)
        return real(bearer, kept)

    monkeypatch.setattr(tokens, "_compared", counted)
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(lambda _: verifier.matches(token.text, hashed), range(32)))
    assert len(compared) <= 2
    assert not verifier.matches(Token.new().text, hashed)


def test_what_is_written_is_on_disk_whatever_the_server_does_by_default(postgres_url: str) -> None:
    store = Store.at(f"{fresh_schema(postgres_url)}%20-csynchronous_commit%3Doff")
    with store.write() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"
    store.close()
