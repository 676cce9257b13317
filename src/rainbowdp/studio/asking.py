"""A question of one's own: what would be answered, how surely, and what that would prove.

The counts are made up by whoever looks at the page: no table is read and no ledger is charged, so
what is drawn here is a simulation, and the page says so.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rainbowdp.answering.best import best
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.display.colors import colors
from rainbowdp.errors import InvalidQuestion, RainbowError
from rainbowdp.guarantees.dp import DP
from rainbowdp.questions import Quantile, Question, Ranking, Share, Threshold, Winner
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.sessions.buying import least
from rainbowdp.sessions.needing import guarantee_for
from rainbowdp.sessions.planning import plan
from rainbowdp.sessions.targets import Target
from rainbowdp.studio.settings import Wrong, shown

KINDS = ("winner", "share", "threshold", "quantile", "ranking")
MOST_OPTIONS = 6
MOST_PEOPLE = 1_000_000
MOST_DRAWS = 20
MOST_QUESTIONS = 12
_MARGINS = (1, 2, 3, 5, 8, 12, 20, 50)
_LONGEST = 40  # characters of a name or a number
_TABLE, _SURE = "table.csv", 0.99


@dataclass(frozen=True)
class Asked:
    """What the page asked for: a question, made-up counts, and an ε or what is wanted of it."""

    kind: str
    question: Question
    counts: tuple[int, ...]
    guarantee: DP | None
    target: Target | None
    spelled: str
    command: str

    @property
    def table(self) -> dict[str, int]:
        """The counts by group."""
        names = (name for name, _ in self.question.groups)
        return dict(zip(names, self.counts, strict=True))


def read_asked(content: Mapping[str, Any]) -> Asked:
    """The question in ``content``, or what is wrong with which field."""
    kind = content.get("kind")
    if kind not in KINDS:
        raise Wrong("kind", f"a question must be one of {', '.join(KINDS)}, got {shown(kind)}")
    more, flags = _relation(content)
    made = {"winner": _winner, "ranking": _ranking, "quantile": _quantile}.get(kind, _matching)
    try:
        question, spelled, command = made(str(kind), content, more)
    except InvalidQuestion as error:
        field = error.field if isinstance(error, Wrong) else _FIELDS[str(kind)]
        raise Wrong(field, str(error)) from None
    guarantee, target = _promise(content, question)
    arguments = [*command, *flags]
    return Asked(
        str(kind),
        question,
        _counts(content.get("counts"), question),
        guarantee,
        target,
        spelled,
        f"rainbow ask {kind} {_TABLE} {shlex.join(arguments)}",
    )


_FIELDS = {
    "winner": "options",
    "ranking": "first",
    "quantile": "bins",
    "share": "at_least",
    "threshold": "at_least",
}


def answer(content: Mapping[str, Any]) -> dict[str, Any]:
    """All that the page shows of a question."""
    asked = read_asked(content)
    mechanism, guarantee = _mechanism(asked)
    question, table = asked.question, asked.table
    row, margins = mechanism[table], question.margins(table)
    truth = next(a for a, margin in margins.items() if margin == 0)
    others = [margin for a, margin in margins.items() if a != truth]
    palette = colors(question.answers)
    rule = mechanism.exact().rule
    proof = mechanism.exact().proof.statement.partition(" with total")[0]
    return {
        "guarantee": str(guarantee),
        "epsilon": str(guarantee.exact_epsilon and float(guarantee.exact_epsilon)),
        "in_words": guarantee.in_words("one record"),
        "mechanism": mechanism.name,
        "claim": mechanism.claim,
        "proof": f"{guarantee} on tables of every size: {proof}, in whole numbers",
        "groups": list(table),
        "truth": truth,
        "margin": min(others, default=None),
        "chances": [
            {"answer": str(a), "chance": float(p), "margin": margins[a], "color": palette[a]}
            for a, p in row.items()
        ],
        "by_margin": [
            {"margin": margin, "least": low, "most": high}
            for margin, low, high in mechanism.by_margin(list(_MARGINS))
        ],
        "sure_from": least(lambda margin: rule.chances(question, margin)[0] >= _SURE),
        "proves": mechanism.proves().in_words(),
        "python": _python(asked, guarantee),
        "command": f"{asked.command} --epsilon {_epsilon(guarantee)} --ledger budget.db",
    }


def draw(content: Mapping[str, Any]) -> dict[str, Any]:
    """Some answers to the made-up counts, drawn as they would be, and what the last would prove."""
    many = content.get("draws", 1)
    if type(many) is not int or not 1 <= many <= MOST_DRAWS:
        raise Wrong("draws", f"draws must be from 1 to {MOST_DRAWS}, got {shown(many)}")
    asked = read_asked(content)
    mechanism, _ = _mechanism(asked)
    palette = colors(asked.question.answers)
    drawn = [mechanism.release(asked.table) for _ in range(many)]
    proves = mechanism.proves()
    return {
        "answers": [{"answer": str(a), "color": palette[a]} for a in drawn],
        "tally": {str(a): n for a, n in Counter(drawn).most_common()},
        "proves": proves.in_words(drawn[-1]),
    }


def mechanism_file(content: Mapping[str, Any]) -> str:
    """The text of the mechanism file."""
    return _mechanism(read_asked(content))[0].exact().as_text()


def divide(content: Mapping[str, Any]) -> dict[str, Any]:
    """A total divided among several questions: what each gets, and what that buys."""
    given = content.get("questions")
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_QUESTIONS:
        raise Wrong("plan", f"a plan must have 1 to {MOST_QUESTIONS} questions; add one above")
    total = _guarantee(content.get("epsilon"), content.get("delta", "0"), "total")
    wanted = {}
    for number, each in enumerate(given, 1):
        if not isinstance(each, Mapping):
            raise Wrong("plan", f"question {number} of the plan must be a question")
        name = _text(each.get("name", f"question {number}"), "plan")
        weight = _number(each.get("weight", "1"), "plan")
        if name in wanted:
            raise Wrong("plan", f"two questions of a plan must have two names, got {name!r} twice")
        asked = read_asked(each)
        if asked.target is not None:
            wanted[name] = replace(asked.target, weight=weight)
        else:
            wanted[name] = Target(asked.question, weight=weight)
    try:
        made = plan(wanted, total)
    except RainbowError as error:
        raise Wrong("plan", str(error)) from None
    words = made.in_words()
    return {
        "total": str(made.guarantee),
        "way": made.way.name,
        "way_in_words": made.way.in_words,
        "questions": [
            {
                "name": name,
                "guarantee": str(made[name].guarantee),
                "mechanism": made[name].name,
                "buys": words[name],
            }
            for name in made.names
        ],
        "others": [
            {"way": way, "guarantee": guarantee, "buys": buys}
            for way, guarantee, buys in made.comparison()
        ],
    }


@lru_cache(maxsize=64)
def _best(question: Question, guarantee: DP) -> QuestionMechanism:
    made = best(question, guarantee)
    assert isinstance(made, QuestionMechanism)
    return made


def _mechanism(asked: Asked) -> tuple[QuestionMechanism, DP]:
    question: Any = asked.question  # hashable, each of them
    guarantee = asked.guarantee
    if guarantee is None:
        assert asked.target is not None
        certainty, margin = asked.target.certainty, asked.target.margin
        try:
            found = guarantee_for(question, sure=certainty, margin=margin)
        except RainbowError as error:
            raise Wrong("sure", str(error)) from None
        assert isinstance(found, DP)
        guarantee = found
    try:
        return _best(question, guarantee), guarantee
    except RainbowError as error:
        raise Wrong("epsilon", str(error)) from None


def _winner(kind: str, content: Mapping[str, Any], more: dict[str, str]) -> Any:
    options = _options(content.get("options"))
    ties = _one_of(Ties, content.get("ties", str(Ties.FIRST_LISTED)), "ties")
    tied = {} if ties == Ties.FIRST_LISTED else {"ties": str(ties)}
    command = ["--column", "answer", "--among", ",".join(options)]
    command += ["--ties", str(ties)] if tied else []
    question = Winner(options, "answer", **tied, **more)  # type: ignore[arg-type]
    return question, _spelled("Winner", options, tied | more), command


def _ranking(kind: str, content: Mapping[str, Any], more: dict[str, str]) -> Any:
    options = _options(content.get("options"))
    first = content.get("first", 2)
    if type(first) is not int or not 1 <= first < max(len(options), 2):
        raise Wrong("first", f"name 1 to {len(options) - 1} of {len(options)} options")
    command = ["--column", "answer", "--among", ",".join(options), "--first", str(first)]
    question = Ranking(options, "answer", first=first, **more)  # type: ignore[arg-type]
    return question, _spelled("Ranking", options, {"first": first, **more}), command


def _quantile(kind: str, content: Mapping[str, Any], more: dict[str, str]) -> Any:
    ends = content.get("bins")
    if not isinstance(ends, list) or not 3 <= len(ends) <= MOST_OPTIONS + 2:
        raise Wrong("bins", f"bins must have 3 to {MOST_OPTIONS + 2} ends, such as 0, 20, 50, 100")
    written = [_number(end, "bins") for end in ends]
    try:
        bins = [int(end) if end.lstrip("-").isdigit() else float(end) for end in written]
    except ValueError:
        raise Wrong(
            "bins", "the ends of brackets must be numbers, such as 0, 20, 50, 100"
        ) from None
    q = _number(content.get("q", "1/2"), "q")
    question = Quantile(q, bins, "answer", **more)  # type: ignore[arg-type]
    command = ["--column", "answer", "--q", q, "--bins", ",".join(written)]
    rest = "".join(f", {name}={value!r}" for name, value in more.items())
    return question, f'rb.Quantile({q!r}, {bins!r}, "answer"{rest})', command


def _matching(kind: str, content: Mapping[str, Any], more: dict[str, str]) -> Any:
    written = _number(content.get("at_least"), "at_least")
    least_of: str | int = int(written) if written.isascii() and written.isdigit() else written
    value = _text(content.get("equals", "yes"), "equals")
    maker = Share if kind == "share" else Threshold
    question = maker(least_of, "answer", equals=value, **more)  # type: ignore[arg-type]
    given = {"equals": value, **more}
    rest = "".join(f", {name}={each!r}" for name, each in given.items())
    command = ["--column", "answer", "--equals", value, "--at-least", written]
    return question, f'rb.{maker.__name__}({least_of!r}, "answer"{rest})', command


def _relation(content: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    relation = _one_of(Neighbors, content.get("relation", "substituted"), "relation")
    if relation == Neighbors.SUBSTITUTED:
        return {}, []
    return {"neighbors": str(relation)}, ["--neighbors", str(relation)]


def _promise(content: Mapping[str, Any], question: Question) -> tuple[DP | None, Target | None]:
    if content.get("by", "epsilon") == "epsilon":
        return _guarantee(content.get("epsilon"), content.get("delta", "0"), "epsilon"), None
    sure, margin = _number(content.get("sure"), "sure"), content.get("margin")
    if type(margin) is not int or not 1 <= margin <= MOST_PEOPLE:
        raise Wrong("margin", f"a margin must be from 1 to {MOST_PEOPLE:,}, got {shown(margin)}")
    try:
        return None, Target(question, sure=sure, margin=margin)
    except InvalidQuestion as error:
        raise Wrong("sure", str(error)) from None


def _guarantee(epsilon: Any, delta: Any, field: str) -> DP:
    try:
        return DP(_number(epsilon, field), _number(delta, "delta"))
    except RainbowError as error:
        if isinstance(error, Wrong):
            raise
        raise Wrong(field, str(error)) from None


def _counts(given: Any, question: Question) -> tuple[int, ...]:
    size = len(question.groups)
    fine = isinstance(given, list) and len(given) == size
    if not fine or not all(type(n) is int and 0 <= n <= MOST_PEOPLE for n in given):
        raise Wrong(
            "counts", f"there must be {size} counts, whole numbers from 0 to {MOST_PEOPLE:,}"
        )
    return tuple(given)


def _options(given: Any) -> list[str]:
    if not isinstance(given, list) or not 2 <= len(given) <= MOST_OPTIONS:
        raise Wrong("options", f"there must be 2 to {MOST_OPTIONS} options, one a line")
    options = [_text(option, "options") for option in given]
    if any("," in option for option in options):
        raise Wrong("options", "an option must have no comma in it")
    if len(set(options)) != len(options):
        raise Wrong("options", "the options must differ from each other")
    return options


def _text(given: Any, field: str) -> str:
    if not isinstance(given, str) or not given.strip() or len(given) > _LONGEST:
        raise Wrong(field, f"a name must have 1 to {_LONGEST} characters, got {shown(given)}")
    return given.strip()


def _number(given: Any, field: str) -> str:
    """A number as it was written: exact, and checked where it is used."""
    if not isinstance(given, str) or not given.strip() or len(given) > _LONGEST:
        raise Wrong(field, f"a number such as 1 or 0.5 is needed, got {shown(given)}")
    return given.strip()


def _one_of(kinds: Any, given: Any, field: str) -> Any:
    if given not in [str(kind) for kind in kinds]:
        raise Wrong(field, f"{field} must be {' or '.join(map(str, kinds))}, got {shown(given)}")
    return kinds(given)


def _spelled(maker: str, options: list[str], more: Mapping[str, Any]) -> str:
    rest = "".join(f", {name}={value!r}" for name, value in more.items())
    return f'rb.{maker}({options!r}, "answer"{rest})'


def _epsilon(guarantee: DP) -> str:
    from rainbowdp.studio.recipe import number

    delta = f" --delta {number(guarantee.exact_delta)}" if guarantee.exact_delta else ""
    assert guarantee.exact_epsilon is not None
    return f"{number(guarantee.exact_epsilon)}{delta}"


def _python(asked: Asked, guarantee: DP) -> str:
    from rainbowdp.studio.recipe import spell

    return "\n".join(
        [
            "import rainbowdp as rb",
            f"question = {asked.spelled}",
            f"mechanism = rb.best(question, {spell(guarantee)})",
            f"print(mechanism[{asked.table!r}])",
            "print(mechanism.proves().in_words())",
            f'# with data: rb.ask(mechanism, "{_TABLE}", ledger=rb.Ledger.open("budget.db"))',
        ]
    )
