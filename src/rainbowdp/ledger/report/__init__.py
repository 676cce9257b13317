"""The report of a ledger: one HTML file that asks nothing of any network.

It has no script, no font and no picture from elsewhere, and a policy in its head that would forbid
them. Everything that people wrote into the ledger is escaped.
"""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.resources import files

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.chain import Record
from rainbowdp.ledger.cost import Cost, DPCost, ZeroConcentratedCost
from rainbowdp.ledger.events import Event
from rainbowdp.ledger.export import SEALS
from rainbowdp.ledger.ledger import Ledger
from rainbowdp.ledger.limits import Limit, whose
from rainbowdp.ledger.report.picture import picture
from rainbowdp.ledger.report.summary import Summary
from rainbowdp.ledger.software import SOFTWARE
from rainbowdp.questions.words import change_in_words

_MOST_SUBJECTS = 10
_AMOUNT = re.compile("[εδμρ] [≈0-9][-0-9./e]*[0-9]|[εδμρ] [0-9]")
_LONG = 60  # characters of a cell that may be broken anywhere
_SYMBOLS = {"dp": "ε", "gaussian": "μ²", "zero-concentrated": "ρ"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(ledger: Ledger) -> str:
    """The report as one HTML document.

    Raises
    ------
    LedgerError
        If the ledger is not whole.

    """
    found = Summary.of(ledger)
    balance = found.balance
    name = balance.title or balance.dataset
    style = files("rainbowdp.ledger.report").joinpath("style.css").read_text("utf-8")
    sections = "".join(
        [
            _section("Budget", _budget(balance)),
            _section("What was spent when", _when(found)),
            _section("On what", _subjects(found)),
            _section("By whom", _askers(found)),
            _section("Decisions", _decisions(found)),
            _section("Questions", _questions(found)),
            _section("How to verify this report", _verifying(found)),
        ]
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="{_text(SOFTWARE)}">\n'
        f"<title>{_text(name)}: privacy ledger</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{_header(balance, name)}<main>\n{sections}</main>\n</body>\n</html>\n"
    )


def _header(balance: Balance, name: str) -> str:
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    state = "open" if balance.closed is None else f"closed on {_moment(balance.closed)}"
    change = change_in_words(balance.unit, balance.neighbors)
    facts = {
        "Dataset": balance.dataset,
        "Purpose": balance.purpose,
        "Contact": balance.contact,
        "Protects": f"{_capital(str(balance.unit))}. {change}",
        "State": f"{_capital(state)}, {balance.head.number:,} records, head {balance.head.short}",
        "Sources": "; ".join("not declared" if s is None else s for s in balance.sources) or None,
    }
    rows = "".join(
        f"<dt>{name}</dt><dd>{_text(value)}</dd>"
        for name, value in facts.items()
        if value is not None
    )
    return (
        f'<header><h1>{_text(name)}</h1><p class="quiet">Report of a privacy ledger, made on {now} '
        f'by {_text(SOFTWARE)}</p><dl class="facts">{rows}</dl></header>\n'
    )


def _budget(balance: Balance) -> str:
    parts = []
    shown = zip(
        balance.total.shown().items(),
        balance.spent.shown().values(),
        balance.left.shown().values(),
        balance.total.parts,
        balance.spent.parts,
        strict=True,
    )
    for (name, total), spent, left, whole, used in shown:
        if not whole:
            continue
        share = 100 * float(used / whole)
        symbol = {"epsilon": "ε", "delta": "δ", "mu": "μ", "rho": "ρ"}[name]
        square = " (of μ²)" if name == "mu" else ""
        parts.append(
            f"<div><strong>{symbol} {_text(left)} left</strong>{_bar(share)}"
            f"{_text(spent)} of {_text(total)} spent, {share:.3g} %{square}</div>"
        )
    return f'<div class="budget">{"".join(parts)}</div><p>{_promise(balance)}</p>'


def _promise(balance: Balance) -> str:
    """What it means if all of the budget is spent."""
    try:
        whole = _as_guarantee(balance.total)
    except InvalidGuarantee:
        return "The whole budget is so large that it promises nothing."
    words = whole.in_words(balance.unit.whom)
    if balance.total.parts[-1] and not isinstance(whole, DP):
        words += f"; besides, it may fail with a chance of {balance.total.shown()['delta']}"
    return f"What the whole budget promises, {_text(whole)}: {_text(words)}."


def _when(found: Summary) -> str:
    balance = found.balance
    words = (
        f"{balance.spent.in_symbols()} of {balance.total.in_symbols()} was spent by "
        f"{_many(balance.entries, 'question')} since {_moment(found.others[0].record.time)}."
    )
    return f"<p>{_kept(words)}</p>{picture(found.points, _SYMBOLS[balance.kind], words)}"


def _subjects(found: Summary) -> str:
    if not found.subjects:
        return "<p>Nothing has been asked yet.</p>"
    ordered = sorted(found.subjects.items(), key=lambda item: item[1].parts, reverse=True)
    shown, rest = ordered[:_MOST_SUBJECTS], ordered[_MOST_SUBJECTS:]
    rows = [_subject(words, cost, found.counts[words], found) for words, cost in shown]
    if rest:
        cost = rest[0][1]
        for _, more in rest[1:]:
            cost = cost + more
        times = sum(found.counts[words] for words, _ in rest)
        rows.append(_subject(f"{len(rest):,} other questions", cost, times, found))
    return f'<ul class="what">{"".join(rows)}</ul>'


def _subject(words: str, cost: Cost, times: int, found: Summary) -> str:
    share = 100 * float(cost.parts[0] / found.balance.spent.parts[0]) if cost.parts[0] else 0
    often = "" if times == 1 else f" (asked {times:,} times)"
    return (
        f'<li><span>{_text(words)}<span class="quiet">{often}</span></span>'
        f"<span>{_amount(cost)}</span>{_bar(share)}</li>"
    )


def _askers(found: Summary) -> str:
    limits: dict[str, list[Limit]] = {}
    for limit in found.balance.limits:
        limits.setdefault(whose(limit.analyst, None), []).append(limit)
    rows = []
    for name, asker in sorted(found.askers.items()):
        allowed = _allowed(limits.pop(name, []))
        rows.append([_text(name), f"{asker.entries:,}", _amount(asker.spent), allowed])
    for name, some in sorted(limits.items()):
        shared = all(limit.analyst is None for limit in some)
        asked = ["–", "–"] if shared else ["0", "nothing"]
        rows.append([_text(name), *asked, _allowed(some)])
    if not rows:
        return "<p>Nobody has asked yet, and nobody has a limit.</p>"
    return _table(("Analyst", "Questions", "Spent", "Limit"), rows)


def _allowed(limits: list[Limit]) -> str:
    """The limits of one analyst, or of all of them together, as they are now."""
    now = datetime.now(UTC)
    said = []
    for limit in limits:
        there = limit.at(now)
        source = "" if limit.source is None else f" on {_text(limit.source)}"
        per = "" if limit.per is None else f" per {_text(limit.per)}"
        until = "" if limit.per is None else f" until {there.until()}"
        said.append(f"{_amount(limit.total)}{per}{source}, left {_amount(there.left)}{until}")
    return "; ".join(said) or "none"


def _decisions(found: Summary) -> str:
    """What was created, added, limited, linked and closed, with reasons; and general notes."""
    rows = []
    for event in found.others:
        reason = "" if event.reason is None else f'<p class="note">{_text(event.reason)}</p>'
        day, clock = _moment(event.record.time).split(" ", 1)
        when = f'<span class="one">{day}</span> {clock}'
        rows.append([when, f"{_kept(event.in_words())}{reason}", _text(event.who)])
    return _table(("When", "What", "By"), rows)


def _questions(found: Summary) -> str:
    if not found.entries:
        return "<p>Nothing has been asked yet.</p>"
    left_out = found.balance.entries - len(found.entries)
    before = (
        f"<p>The latest {len(found.entries):,} are listed. {left_out:,} earlier ones are in the "
        "sums and in the picture; the export has all of them.</p>"
        if left_out
        else ""
    )
    several = len(found.balance.sources) > 1
    rows = "".join(_entry(event, several) for event in found.entries)
    return f'{before}<ol class="entries">{rows}</ol>'


def _entry(event: Event, several_sources: bool) -> str:
    entry = event.entry
    assert entry is not None
    quiet = [
        _moment(entry.time),
        f"by {_text(event.who)}",
        *([] if entry.name is None else [f"named {_text(entry.name)}"]),
        *([f"of {_text(entry.source or 'undeclared data')}"] if several_sources else []),
        *([] if entry.mechanism is None else [f"drawn by {_text(entry.mechanism.get('kind'))}"]),
        *([] if entry.software is None else [_text(entry.software)]),
    ]
    notes = "".join(map(_note, event.notes))
    return (
        f'<li><span class="number">{entry.number}</span><div><p>{_text(event.in_words())}</p>'
        f"<p><strong>{_text(event.answer_in_words)}</strong></p>"
        f"<p>Cost {_amount(entry.cost)}, then {_kept(event.left_in_symbols)} was left</p>"
        f'<p class="quiet small">{", ".join(quiet)}</p>{notes}</div></li>'
    )


def _note(note: Record) -> str:
    content = note.content
    by = f'<span class="quiet">({_text(content["by"])}, {note.time[:10]})</span>'
    return f'<p class="note">{_text(content["text"])} {by}</p>'


def _verifying(found: Summary) -> str:
    place, head = shlex.quote(found.where), str(found.balance.head)
    verifier = files("rainbowdp.ledger.report").joinpath("verify.txt").read_text("utf-8")
    return (
        "<p>Every record of a ledger is sealed together with the one before it, so that the last "
        "seal, the head, stands for all of the past. This report was made from the ledger at head"
        f"</p><pre>{_text(head)}</pre>"
        "<p>Keep this page, or that line. Whoever has the ledger can be asked to show that it "
        "still has this past:</p>"
        f"<pre>rainbow ledger verify {_text(place)} --head {_text(head)}</pre>"
        "<p>Without rainbowdp, ask for the whole chain and run the few lines below, which use "
        "Python's standard library alone:</p>"
        f"<pre>rainbow ledger export {_text(place)} --format json -o ledger.json</pre>"
        f'<p class="quiet">{_text(SEALS)}</p>'
        f"<details><summary>A verifier in {len(verifier.splitlines())} lines</summary>"
        f"<pre>{_text(verifier)}</pre></details>"
    )


def _as_guarantee(total: Cost) -> Guarantee:
    """What a budget promises in all; a δ that is kept apart from μ or ρ is said with it."""
    if isinstance(total, DPCost):
        return DP(total.epsilon, total.delta)
    if isinstance(total, ZeroConcentratedCost):
        return ZeroConcentrated(total.rho)
    return GaussianDP(float(total.parts[0]) ** 0.5)


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{content}</section>\n"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = "".join(f'<th scope="col">{name}</th>' for name in head)
    lines = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{names}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _cell(content: str) -> str:
    kind = ' class="long"' if len(content) > _LONG else ""
    return f"<td{kind}>{content}</td>"


def _bar(share: float) -> str:
    return f'<span class="bar" aria-hidden="true"><span style="width:{share:.2f}%"></span></span>'


def _amount(cost: Cost) -> str:
    return _kept(cost.in_symbols())


def _kept(words: str) -> str:
    """Escaped text in which no amount is broken between its symbol and its number."""
    return _AMOUNT.sub(r'<span class="one">\g<0></span>', _text(words))


def _moment(time: str) -> str:
    return datetime.fromisoformat(time).strftime("%Y-%m-%d %H:%M UTC")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _text(value: object) -> str:
    """Escaped text; what cannot be encoded is replaced."""
    return html.escape(str(value).encode("utf-8", "replace").decode("utf-8"))
