"""The report: one file that fetches nothing, reads well in light, dark, print and on a phone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, sync_playwright

import rainbowdp as rb
from officers import EVIL, eventful, paid
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Ledger
from rainbowdp.ledger.report import page
from rainbowdp.ledger.report import summary as summaries
from rainbowdp.ledger.report.pdf import BROWSERS, printed
from rainbowdp.ledger.report.picture import Point, picture

ALONE = {"meta", "br", "path"}
KNOWN = {
    *("html", "head", "title", "style", "body", "header", "main", "section", "h1", "h2", "p"),
    *("dl", "dt", "dd", "div", "span", "strong", "figure", "figcaption", "svg", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td", "pre", "details", "summary"),
}


class Reader(HTMLParser):
    """Reads HTML strictly: every tag known, closed in order, and nothing that runs or fetches."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in KNOWN | ALONE, tag
        for name, _ in attrs:
            assert not name.startswith("on")
            assert name not in {"href", "src", "srcset", "data", "action", "background"}
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        assert tag in ALONE

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
        if self.open and self.open[-1] != "style":
            self.words.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def words_of(text: str) -> str:
    return " ".join(" ".join(read(text).words).split())


def test_a_report_says_what_an_officer_answers_for(tmp_path: Path) -> None:
    ledger = eventful(tmp_path)
    text = page(ledger)
    words = words_of(text)
    for part in (
        "Town poll",
        "privacy@town.example",
        "Neighboring tables differ in one row, which is replaced by another.",
        "Closed on ",
        "a fifty-fifty guess about one record is right at most",
        "Which of red and green is most frequent in column choice, where age > 65?",
        "The second wave of the survey",
        "Limited ben to",
        "Published in May.",
        "Audited, no findings.",
        "town-2025",
        EVIL,
        f"rainbow ledger verify {ledger.where} --head {ledger.head()}",
        "red in 2 groups, green in 1 group",
    ):
        assert " ".join(part.split()) in words, part
    assert read(text).headings == [
        *("Budget", "What was spent when", "On what", "By whom", "Decisions", "Questions"),
        "How to verify this report",
    ]
    assert "<script" not in text
    style = re.search("<style>(.*)</style>", text, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    assert "default-src 'none'" in text


@pytest.mark.parametrize("budget", [{"rho": 2}, {"mu": 2}, {"epsilon": 9}], ids=str)
def test_a_report_in_every_currency(tmp_path: Path, budget: dict[str, Any]) -> None:
    words = words_of(page(eventful(tmp_path, **budget)))
    symbol = {"rho": "ρ", "mu": "μ", "epsilon": "ε"}[next(iter(budget))]
    assert f"{symbol} 1.25 left" in words


def test_a_report_of_a_ledger_that_nobody_asked(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "budget.db", dataset="<b>", epsilon=1, rows_per_person=3)
    words = words_of(page(ledger))
    assert "Nothing has been asked yet." in words
    assert "Nobody has asked yet, and nobody has a limit." in words


def test_a_budget_beyond_all_promises_is_reported_as_such(tmp_path: Path) -> None:
    for number, budget in enumerate(({"epsilon": 20_000}, {"rho": 10**6}, {"mu": 10**6})):
        amounts: Any = budget
        ledger = Ledger.create(tmp_path / f"{number}.db", dataset="d", **amounts)
        assert "promises" in words_of(page(ledger))


def test_a_long_report_lists_the_latest_and_counts_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summaries, "MOST_ENTRIES", 3)
    ledger = Ledger.create(tmp_path / "budget.db", dataset="d", epsilon=9)
    for number in range(12):
        question = {"kind": "mean", "column": f"c{number}"}
        paid(tmp_path / "budget.db", "ann", "0.1", question, "0")
    words = words_of(page(ledger))
    assert "The latest 3 are listed. 9 earlier ones are in the sums" in words
    assert "2 other questions" in words
    assert "ann 12 ε 1.2 none" in words


@given(
    st.lists(
        st.builds(
            Point,
            st.floats(0, 4e9),
            st.floats(0, 1e6),
            st.floats(1e-30, 1e6),
            st.booleans(),
        ),
        max_size=30,
    )
)
def test_any_past_can_be_drawn(points: list[Point]) -> None:
    drawn = picture(points, "ε", 'spent <1> "in words"')
    read(drawn)
    assert len(drawn) < 20_000
    assert "nan" not in drawn
    assert "inf" not in drawn


@pytest.mark.slow
def test_a_picture_of_many_questions_stays_small() -> None:
    points = [Point(float(n), n / 1e5, 1.0, True) for n in range(100_000)]
    assert len(picture(points, "ε", "words")) < 30_000


def test_without_a_browser_a_pdf_is_refused_in_plain_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LedgerError, match="Write the report as HTML, and print it"):
        printed("<p>x</p>")


@pytest.mark.slow
def test_a_browser_prints_a_pdf(tmp_path: Path) -> None:
    assert printed(page(eventful(tmp_path))).startswith(b"%PDF-")


def test_a_browser_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LedgerError, match=f"{broken} could not print the report"):
        printed("<p>x</p>")


# in a real browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = [path for name in BROWSERS if (path := shutil.which(name))]
    if not found:
        pytest.fail("Chromium is missing: make programs installs it")
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    with (
        sync_playwright() as running,
        running.chromium.launch(executable_path=found[0], args=arguments) as chromium,
    ):
        yield chromium


SCREENS: list[tuple[int, Any]] = [(1100, "light"), (1100, "dark"), (360, "light"), (360, "dark")]


@pytest.mark.parametrize(
    ("width", "scheme"),
    [SCREENS[0], *(pytest.param(*screen, marks=pytest.mark.slow) for screen in SCREENS[1:])],
    ids=str,
)
def test_a_report_on_a_screen(browser: Browser, tmp_path: Path, width: int, scheme: Any) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(eventful(tmp_path)), encoding="utf-8")
    asked: list[str] = []
    complaints: list[str] = []
    view: Any = {"width": width, "height": 900}
    with browser.new_context(viewport=view, color_scheme=scheme) as context:
        tab = context.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.goto(file.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        drawn = tab.locator("svg[role=img]").bounding_box()
        assert drawn is not None
        assert drawn["width"] > width / 2
        assert drawn["height"] > 150
        tab.emulate_media(media="print", color_scheme="dark")
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)"
        )
        assert len(tab.screenshot()) > 10_000
    assert asked == [file.as_uri()]
    assert complaints == []


@pytest.mark.slow
def test_text_stands_out_from_its_ground(browser: Browser, tmp_path: Path) -> None:
    """The contrast of all text is at least 4.5, as the Web's guidelines ask for."""
    file = tmp_path / "report.html"
    file.write_text(page(eventful(tmp_path)), encoding="utf-8")
    for scheme in ("light", "dark"):
        chosen: Any = scheme
        with browser.new_context(color_scheme=chosen) as context:
            tab = context.new_page()
            tab.goto(file.as_uri())
            pairs = tab.evaluate(
                """() => [...document.querySelectorAll('body *')].filter(
                    e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())
                ).map(e => {
                    let ground = e;
                    const clear = 'rgba(0, 0, 0, 0)';
                    while (getComputedStyle(ground).backgroundColor === clear)
                        ground = ground.parentElement;
                    const style = getComputedStyle(ground);
                    return [getComputedStyle(e).color, style.backgroundColor];
                })"""
            )
        assert len(pairs) > 50
        for ink, ground in pairs:
            assert contrast(ink, ground) >= 4.5, (scheme, ink, ground)


def contrast(one: str, other: str) -> float:
    """The ratio of two colors' luminances, by the formula of WCAG 2."""

    def luminance(color: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_balance_and_an_entry_are_cards_in_a_notebook(tmp_path: Path) -> None:
    ledger = eventful(tmp_path)
    balance, entry = ledger.balance()._repr_html_(), ledger.history()[0]._repr_html_()
    assert "Balance: Town poll" in words_of(balance)
    assert "ε 1.25, δ 1e-7" in words_of(balance)
    assert "limit of ben" in words_of(balance)
    assert "Entry 1 of town-2026 Which of red and green" in words_of(entry)
    assert "by ann" in words_of(entry)
    evil = Ledger.create(tmp_path / "evil.db", dataset="<script>", epsilon=1, title="<b>x</b>")
    assert "<script" not in evil.balance()._repr_html_()
    released = rb.ask(rb.best(rb.Winner(["a", "b"]), rb.DP(1)), {"a": 9}, ledger=evil)
    assert released.entry is not None
    assert "&lt;script&gt;" in released.entry._repr_html_()
