"""The page for a question of one's own, in a real Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

import rainbowdp as rb
from browsers import WAIT, accessible, browser, watched

__all__ = ["browser"]


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1200, "height": 900}) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        shown = context.new_page()
        shown.set_default_timeout(WAIT)
        yield shown


@pytest.fixture
def page(tab: Page, studio_address: str) -> Iterator[Page]:
    with watched(tab, studio_address):
        tab.goto(f"{studio_address}question")
        answered(tab)
        yield tab
        tab.goto("about:blank")


def answered(page: Page, **wanted: Any) -> None:
    """Wait until the page shows the library's word on a question with these values."""
    page.wait_for_function(
        """(wanted) => {
            const asked = document.documentElement.dataset.answered;
            if (!asked || document.getElementById("result").ariaBusy === "true") return false;
            return Object.entries(wanted).every(([name, value]) =>
                JSON.stringify(JSON.parse(asked)[name]) === JSON.stringify(value));
        }""",
        arg=wanted,
        timeout=3 * WAIT,
    )


def shown_chances(page: Page) -> dict[str, float]:
    names = page.locator("#chances dt").all_text_contents()
    cells = page.locator("#chances dd").all()
    return {
        name: float(cell.get_attribute("data-probability") or "nan")
        for name, cell in zip(names, cells, strict=True)
    }


def change(page: Page, field: str, text: str) -> None:
    page.fill(f"#{field}", text)
    page.locator(f"#{field}").dispatch_event("change")


def test_a_question_is_asked_drawn_and_restored_by_its_link(page: Page) -> None:
    change(page, "options", "red\ngreen")
    answered(page, options=["red", "green"], counts=[9, 5])
    change(page, "count-1", "7")
    change(page, "epsilon", "0.5")
    answered(page, counts=[9, 7], epsilon="0.5")
    row = rb.best(rb.Winner(["red", "green"]), rb.DP("0.5"))[{"red": 9, "green": 7}]
    assert shown_chances(page) == pytest.approx(row, rel=1e-12)
    palette = page.locator("#chances .bar rect").first.get_attribute("fill")
    assert palette == "#d1560f"  # an answer named red is red, as in figures
    page.click("#draw-20")
    expect(page.locator("#drawn li")).to_have_count(20)
    page.click("#draw-1")
    expect(page.locator("#drawn li")).to_have_count(1)
    expect(page.locator("#drawn-note")).to_contain_text("confidence")
    page.click("#copy-link")
    expect(page.locator("#taken")).to_have_text("Copied")
    link = page.evaluate("navigator.clipboard.readText()")
    page.goto("about:blank")
    page.goto(link)
    answered(page, counts=[9, 7], epsilon="0.5", options=["red", "green"])
    assert shown_chances(page) == pytest.approx(row, rel=1e-12)
    assert page.input_value("#options") == "red\ngreen"
    page.click("#draw-1")
    expect(page.locator("#drawn li")).to_have_count(1)
    change(page, "epsilon", "0.6")  # what was drawn with another ε does not stay
    expect(page.locator("#drawn li")).to_have_count(0)


def test_a_message_stands_under_its_field(page: Page) -> None:
    change(page, "epsilon", "much")
    wrong = page.locator('[data-field="epsilon"] .wrong')
    expect(wrong).to_contain_text("epsilon must be a finite number")
    expect(page.locator("#epsilon")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#trouble")).to_be_hidden()
    change(page, "epsilon", "1")
    expect(wrong).to_be_empty()


@pytest.mark.slow
def test_every_kind_plan_and_export(page: Page, tmp_path: Path) -> None:
    for kind, counts in (
        ("share", [12, 8]),
        ("threshold", [12]),
        ("quantile", [4, 11, 5]),
        ("ranking", [9, 5, 4]),
        ("winner", [9, 5, 4]),
    ):
        page.select_option("#kind", kind)
        answered(page, kind=kind, counts=counts)
        found: dict[str, Any] = {}
        exec((page.locator("#recipe").text_content() or ""), found)
        names = [name for name, _ in found["question"].groups]
        row = found["mechanism"][dict(zip(names, counts, strict=True))]
        assert shown_chances(page) == pytest.approx(row, rel=1e-12)
        page.fill("#name", kind)
        page.click("#add")
    expect(page.locator("#planned li")).to_have_count(5)
    page.click('[aria-label="Remove ranking"]')
    page.click("#divide")
    expect(page.locator("#plan tbody tr")).to_have_count(4, timeout=6 * WAIT)
    expect(page.locator("#plan-note")).to_contain_text("Nothing was spent")
    page.check('[name="by"][value="target"]')
    answered(page, by="target")
    expect(page.locator("#facts")).to_contain_text("from a margin of 5")
    for button, ending in (("#save-file", "json"), ("#save-svg", "svg")):
        with page.expect_download() as download:
            page.click(button)
        place = tmp_path / f"saved.{ending}"
        download.value.save_as(place)
    assert rb.load(tmp_path / "saved.json").question is not None
    tree = ElementTree.parse(tmp_path / "saved.svg").getroot()
    words = " ".join(text.text or "" for text in tree.iter("{http://www.w3.org/2000/svg}text"))
    assert "made-up counts (noodles 9, pizza 5, salad 4)" in words
    shown = json.loads(page.evaluate("document.documentElement.dataset.answered"))
    assert shown["kind"] == "winner"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [360, 1200])
def test_everybody_can_use_it(
    browser: Browser, studio_address: str, scheme: Any, wide: int
) -> None:
    size: Any = {"width": wide, "height": 800}
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        shown = context.new_page()
        shown.goto(f"{studio_address}question")
        answered(shown)
        shown.click("#draw-20")
        shown.click("#add")
        expect(shown.locator("#drawn li")).to_have_count(20)
        assert shown.evaluate("document.documentElement.scrollWidth") <= wide
        accessible(shown)
