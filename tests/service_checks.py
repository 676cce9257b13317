"""What must be true of a service and its ledger after a load, whatever was killed."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from postgres import Server
from rainbowdp.ledger import Ledger
from service_load import Load, Reply, load
from service_world import World


@dataclass
class Seen:
    """What clients were told, by key."""

    answers: dict[str, tuple[Any, int, str]] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    twice: int = 0

    def note(self, key: str, reply: Reply) -> None:
        """Remember a reply."""
        said = reply.said
        if reply.status != 200:
            code = f"{reply.status} {said.get('code')}"
            self.refused[code] = self.refused.get(code, 0) + 1
            return
        told = (said["answer"], said["entry"]["number"], said["head"])
        if self.answers.setdefault(key, told) != told:
            self.twice += 1


@dataclass(frozen=True)
class Found:
    """What became of a load."""

    entries: int
    answers: int
    shown: int
    unanswered: int


def check(world: World, seen: Seen, person: str = "ann") -> Found:
    """Compare what clients were told with the ledger.

    Raises
    ------
    AssertionError
        If more was spent than there was, an answer that was shown is not in the ledger or is
        another one there, a key was paid twice, or the chain does not hold.

    """
    ledger = Ledger.open(world.place)
    ledger.verify(*(head for _, _, head in seen.answers.values()))
    balance = ledger.balance()
    assert balance.left.parts == tuple(max(0, part) for part in balance.left.parts), "overspent"
    assert seen.twice == 0, "one key, two answers"
    entries = list(ledger.entries())
    names = [entry.name for entry in entries]
    assert len(set(names)) == len(names), "a key was paid twice"
    by_name = {entry.name: entry for entry in entries}
    for key, (answer, number, head) in seen.answers.items():
        entry = by_name.get(f"{person}/{key}")
        assert entry is not None, "an answer was shown and is not in the ledger"
        assert (entry.answer, entry.number, str(entry.head)) == (answer, number, head)
    assert balance.entries == len(entries)
    unanswered = sum(entry.answer is None for entry in entries)
    assert balance.answers == len(entries) - unanswered
    return Found(len(entries), balance.answers, len(seen.answers), unanswered)


def killed_while_asked(
    world: World,
    server: Server,
    kills: int,
    of_the_server: int,
    clients: int,
    seed: int = 0,
    between: int = 5,
) -> tuple[Load, Seen]:
    """Kill processes, and the database, under a load until so many were killed.

    Between two kills clients see at least so many answers, so that each hits a service that works.
    """
    dice, seen, stop = random.Random(seed), Seen(), threading.Event()
    rest = ["service"] * kills + ["database"] * of_the_server
    dice.shuffle(rest)

    def kill() -> None:
        while rest and not stop.is_set():
            wanted = len(seen.answers) + between
            while len(seen.answers) < wanted and not stop.is_set():
                time.sleep(0.01)
            time.sleep(dice.uniform(0, 0.1))
            if rest.pop() == "service":
                world.kill(dice)
            else:
                server.kill()
                time.sleep(dice.uniform(0, 0.5))
                assert server.start()
        stop.set()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = load(
            world.port, clients, 3600, world.ask, seen.note, patient=True, over=stop.is_set
        )
    finally:
        stop.set()
        killer.join()
    assert not rest
    return found, seen
