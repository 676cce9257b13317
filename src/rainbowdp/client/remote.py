"""``rb.connect`` and ``rb.Remote``: a service's datasets, asked as a session asks a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote
from uuid import uuid4

from rainbowdp.answering.release import Release
from rainbowdp.client.answers import release_of
from rainbowdp.client.tokens import address_of, token_of
from rainbowdp.client.told import RemoteBalance, RemoteExplanation, RemotePlan
from rainbowdp.client.wire import PATIENCE, Wire
from rainbowdp.display import cards
from rainbowdp.errors import InvalidGuarantee, InvalidQuestion, WaitingForApproval
from rainbowdp.guarantees.descriptions import describe_guarantee, restore_guarantee
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.quantity import Number
from rainbowdp.questions.units import Unit
from rainbowdp.sessions.asker import Asker, asked_how, guarantee_of
from rainbowdp.sessions.asking import Questions
from rainbowdp.sessions.plan import PlanRelease
from rainbowdp.sessions.planning import Wanted, named_targets
from rainbowdp.sessions.targets import Asked

if TYPE_CHECKING:  # a ledger's values bring SQLAlchemy
    from rainbowdp.ledger import Cost, Entry, Head


_NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}")


def connect(
    url: str,
    *,
    token: str | None = None,
    token_file: str | PathLike[str] | None = None,
    dataset: str | None = None,
    guarantee: Guarantee | None = None,
    patience: float = PATIENCE,
) -> Remote:
    """Connect to a service that holds the data and answers questions about it.

    Parameters
    ----------
    url
        Where it is: ``https://…``; ``http://`` for a service on this machine alone.
    token
        The token that the service gave you.
    token_file
        Instead, a file that holds it and nothing else.
    dataset
        The dataset to ask; ``remote["patients"]`` chooses one later.
    guarantee
        What each answer keeps, unless a question says otherwise.
    patience
        For how many seconds to keep trying if the network fails or the service is busy. A question
        that is sent again is paid for only once.

    Returns
    -------
    Remote
        Asked as a session is: ``remote.winner([...], "vote", epsilon="0.5")``.

    Raises
    ------
    ServiceError
        If the address is not safe or there is no such service, or it does not know the token or the
        dataset.
    MissingExtra
        If httpx is not installed.

    Examples
    --------
    >>> import rainbowdp as rb
    >>> rb.connect("http://answers.example.org", token="rb_1_secret")
    Traceback (most recent call last):
    ...
    rainbowdp.errors.ServiceError: http://answers.example.org would send your token and the \
answers in the open. Write https://, which only a service on this machine does without.

    """
    wire = Wire(address_of(url), token_of(token, token_file), patience)
    remote = Remote(wire, None, None, guarantee)
    if dataset is not None:
        return remote[dataset]
    wire.get("/v1/me")  # says at once if the service does not know us
    return remote


@dataclass(frozen=True, repr=False, eq=False)
class Remote(Asker):
    """A service, and the one of its datasets that you ask; made by ``rb.connect``.

    It has the methods of ``rb.Session``. Questions go to the service, which alone holds the data
    and the ledger; what comes back are the same releases, entries and errors.

    Attributes
    ----------
    wire : Wire
        The way to the service.
    about : dict or None
        What may be asked of the chosen dataset, as its curator says.
    made : Questions or None
        Makes questions for its unit.
    guarantee : Guarantee or None
        What each answer keeps, unless a question says otherwise.

    """

    wire: Wire
    about: Mapping[str, Any] | None
    made: Questions | None
    guarantee: Guarantee | None = None

    @property
    def dataset(self) -> str | None:
        """The dataset that is asked."""
        return None if self.about is None else str(self.about["name"])

    @property
    def questions(self) -> Questions:  # type: ignore[override]  # read, never set
        """Makes questions about the dataset without asking them."""
        if self.made is None:
            raise self._unchosen()
        return self.made

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets that the service has for you."""
        return tuple(one["name"] for one in self.wire.get("/v1/datasets")["datasets"])

    def __getitem__(self, dataset: str) -> Self:
        """The same service, asked about this dataset."""
        about = self.wire.get(f"/v1/datasets/{quote(dataset, safe='')}")
        unit = Unit.restore(about["unit"])
        made = Questions(about["neighbors"], unit.person, unit.rows_per_person)
        return type(self)(self.wire, about, made, self.guarantee)

    def __iter__(self) -> Iterator[str]:
        return iter(self.datasets)

    def _with(self, questions: Questions) -> Self:
        return type(self)(self.wire, self.about, questions, self.guarantee)

    def _unchosen(self) -> InvalidQuestion:
        first = next(iter(self.datasets), "patients")
        return InvalidQuestion(
            f"no dataset of {self.wire.address} is chosen: write remote[{first!r}], or give "
            f"dataset={first!r} to connect"
        )

    def _path(self, what: str) -> str:
        if self.dataset is None:
            raise self._unchosen()
        return f"/v1/datasets/{quote(self.dataset, safe='')}/{what}"

    def ask(self, question: Asked | RemotePlan, **options: Any) -> Release:
        """Have the service answer a question, or all of a plan; paid once, however often sent.

        Parameters
        ----------
        question
            A question, such as ``remote.questions.winner(...)``, or a plan.
        **options
            A guarantee, as ``epsilon`` (with ``delta``), ``mu``, ``rho`` or ``guarantee``; or how
            sure the answer has to be, as ``sure`` and ``margin``, from which a guarantee is found
            on this machine. Also ``name``, by which the answer is recalled for free.

        Returns
        -------
        Release
            The answer and its entry, both in the service's ledger.

        Raises
        ------
        BudgetExceeded
            If it costs more than is left, or than you may spend.
        InvalidQuestion
            If the curator does not allow it.
        WaitingForApproval
            If a curator has to approve it first; ask again by its ``name`` then.
        ServiceError
            If the service cannot be reached or refuses; ``name`` says how to ask again for free.

        """
        described = None if isinstance(question, RemotePlan) else question.describe()
        return release_of(self.ask_json(question, **options), described)

    def ask_json(self, question: Asked | RemotePlan, **options: Any) -> Mapping[str, Any]:
        """Ask as ``ask`` does, for the service's reply as it came.

        Parameters
        ----------
        question, **options
            As for ``ask``.

        Returns
        -------
        dict
            The answer, what it proves, its entry and what is left, in JSON values.

        """
        promise, how = asked_how(options)
        for name in ("records", "progress"):
            if name in how:
                raise InvalidQuestion(f"a service takes no {name}: leave it out")
        if isinstance(question, RemotePlan):
            if any(value is not None for value in promise.values()):
                raise InvalidQuestion("a plan has its guarantees: leave out those of ask")
            body: dict[str, Any] = {"plan": dict(question.wanted)}
        else:
            body = self._asked(question, promise)
        key = checked_name(how["name"]) if "name" in how else str(uuid4())
        status, reply = self.wire.pay(self._path("ask"), body, key)
        if status == 202:
            raise WaitingForApproval(
                f"A curator has to approve this question first (request {reply['request']}). Ask "
                f"again by the name {key!r} then; nothing is paid before.",
                request=str(reply["request"]),
                name=key,
            )
        found: Mapping[str, Any] = reply
        return found

    def _asked(self, question: Asked, promise: dict[str, Any]) -> dict[str, Any]:
        chosen = guarantee_of(promise, self.guarantee, question)
        return {"question": question.describe(), "guarantee": spelled(chosen)}

    def price(self, question: Asked, **promise: Any) -> Cost:
        """What an answer would cost; nothing is read or spent.

        Parameters
        ----------
        question
            A question about this dataset.
        **promise
            A guarantee, as for ``ask``.

        Returns
        -------
        Cost
            In the currency of the ledger.

        """
        from rainbowdp.ledger.cost import restore_cost

        reply = self.wire.post(self._path("price"), self._asked(question, promise))
        return restore_cost(reply["cost"])

    def explain(self, question: Asked, **promise: Any) -> RemoteExplanation:
        """What a question would do and cost, and how many such answers are left.

        Parameters
        ----------
        question
            A question about this dataset.
        **promise
            A guarantee, as for ``ask``.

        Returns
        -------
        RemoteExplanation
            Nothing was read or spent.

        """
        from rainbowdp.ledger.cost import restore_cost

        reply = self.wire.post(self._path("explain"), self._asked(question, promise))
        return RemoteExplanation(reply, restore_cost(reply["cost"]), reply["answers_left"])

    def plan(
        self,
        questions: Wanted,
        total: Guarantee | None = None,
        *,
        delta: Number = "1e-6",
        currency: str | None = None,
    ) -> RemotePlan:
        """Divide what is left, or a part of it, among questions that are known beforehand.

        Parameters
        ----------
        questions
            Targets or questions about this dataset, as for ``rb.plan``.
        total
            What all answers keep together; what is left in the ledger, if left out.
        delta, currency
            As for ``rb.plan``.

        Returns
        -------
        RemotePlan
            For ``remote.run``; nothing was read or spent.

        """
        wanted: dict[str, Any] = {
            "questions": {
                str(target.name): {"question": target.question.describe(), **target.describe()}
                for target in named_targets(questions)
            },
            "delta": str(delta),
        }
        if currency is not None:
            wanted["currency"] = currency
        if total is None:  # what is run must be what was shown, whatever is left by then
            total = restore_guarantee(self.wire.post(self._path("plan"), wanted)["total"])
        wanted["total"] = spelled(total)
        return RemotePlan(wanted, self.wire.post(self._path("plan"), wanted))

    def run(self, plan: RemotePlan, *, name: str | None = None) -> PlanRelease:
        """Ask all questions of a plan: one scan, one payment, one entry.

        Parameters
        ----------
        plan
            What ``plan`` made.
        name
            Remembers the answers.

        Returns
        -------
        PlanRelease
            An answer for each question, by its name.

        """
        release = self.ask(plan, name=name)
        assert isinstance(release, PlanRelease)
        return release

    def recall(self, name: str) -> Release:
        """An earlier answer of yours that the service remembers, for free.

        Parameters
        ----------
        name
            What it was named when it was asked for; of somebody else, for auditors and curators,
            ``"person/name"``.

        Returns
        -------
        Release
            The same answer and entry.

        Raises
        ------
        ServiceError
            If you have no answer of this name.

        """
        person, slash, own = str(name).rpartition("/")
        asked = f"{quote(person, safe='')}{slash}{checked_name(own)}"
        return release_of(self.wire.get(self._path(f"answers/{asked}")))

    def balance(self) -> RemoteBalance:
        """The budget of the dataset: in total, spent and left; and your own limits.

        Returns
        -------
        RemoteBalance
            At this moment.

        """
        return RemoteBalance.restore(self.wire.get(self._path("balance")))

    def history(self, last: int | None = None) -> tuple[Entry, ...]:
        """What was asked: by you, or by all if you are an auditor or a curator.

        Parameters
        ----------
        last
            Only this many, the latest.

        Returns
        -------
        tuple of Entry
            Oldest first.

        """
        from rainbowdp.ledger import Entry

        reply = self.wire.get(self._path("history"), last=last)
        return tuple(Entry.restore(one) for one in reply["entries"])

    def head(self) -> Head:
        """The end of the ledger's chain: keep it, and have it verified later.

        Returns
        -------
        Head
            Stands for all of the past.

        """
        from rainbowdp.ledger import Head

        return Head.parse(self.wire.get(self._path("head"))["head"])

    def close(self) -> None:
        """Let go of the connections to the service."""
        self.wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        chosen = "" if self.dataset is None else f", dataset={self.dataset!r}"
        return f"Remote({self.wire.address!r}{chosen})"

    def _repr_html_(self) -> str:
        named: dict[str, object] = {"service": self.wire.address}
        if self.about is None:
            named["datasets"] = ", ".join(self.datasets)
            return cards.card("Service", cards.facts(named))
        balance = self.balance()
        unit = Unit.restore(self.about["unit"])
        named |= {
            "protects": f"{unit} {self.about['neighbors']}",
            "left": f"{balance.left} of {balance.total}",
        }
        if self.guarantee is not None:
            named["each answer"] = str(self.guarantee)
        return cards.card(f"Remote: {self.dataset}", cards.facts(named))


def spelled(guarantee: Guarantee) -> dict[str, str]:
    """A guarantee as a service takes it: its numbers alone.

    >>> from rainbowdp import DP
    >>> spelled(DP("0.5"))
    {'epsilon': '1/2', 'delta': '0'}
    """
    numbers = {name: str(n) for name, n in describe_guarantee(guarantee).items() if name != "kind"}
    if not set(numbers) <= {"epsilon", "delta", "mu", "rho"}:
        raise InvalidGuarantee(
            f"a service takes ε and δ, μ or ρ, got {guarantee!r}: give epsilon=, mu= or rho="
        )
    return numbers


def checked_name(name: object) -> str:
    """A name that may go into a header and an address."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidQuestion(
            "a service takes names of up to 128 letters, digits and . _ : -, got "
            f"{str(name)[:60]!r}: choose another"
        )
    return name
