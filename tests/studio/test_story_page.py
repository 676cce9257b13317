"""The story in a real Chromium, served by the studio and from a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import rainbowdp as rb
from browsers import WAIT, accessible, browser, watched
from rainbowdp.studio import story

__all__ = ["browser"]

PHONE: Any = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1100, "height": 850}) as context:
        shown = context.new_page()
        shown.set_default_timeout(WAIT)
        yield shown


@pytest.fixture
def page(tab: Page, studio_address: str) -> Iterator[Page]:
    """The first page of the studio, loaded anew."""
    with watched(tab, studio_address):
        opened(tab, studio_address)
        yield tab
        tab.goto("about:blank")


def opened(tab: Page, address: str) -> None:
    tab.goto(address)
    expect(tab.locator("html")).to_have_attribute("data-ready", "story")


def walk_through(page: Page) -> None:
    """Every screen and control, with the library's numbers."""
    question = rb.Winner(story.DISHES)
    expect(page.locator("#title-1")).to_be_visible()
    expect(page.locator("#tally .answer")).to_have_attribute("data-answer", "pizza")
    page.click("#friends button >> nth=0")
    expect(page.locator("#tally .answer")).to_have_attribute("data-answer", "noodles")
    page.click("#next")
    expect(page.locator("#announced")).to_have_attribute("data-answer", "pizza")
    page.check('[name="zoe"][value="noodles"]')
    expect(page.locator("#announced")).to_have_attribute("data-answer", "noodles")
    expect(page.locator("#overheard")).to_contain_text("So Zoe voted noodles")
    page.click("#next")
    expect(page.locator("#verdict")).to_have_attribute("data-private", "false")
    for _ in range(21):  # to 74 %
        page.press("#share", "ArrowLeft")
    expect(page.locator("#verdict")).to_have_attribute("data-private", "false")
    page.press("#share", "ArrowLeft")
    expect(page.locator("#verdict")).to_have_attribute("data-private", "true")
    page.click("#next")
    made = rb.best(question, rb.DP(1))
    for pizza in (12, 6, 8):
        page.locator("#walk").fill(str(pizza))
        chance = float(page.get_attribute("#here", "data-chance") or "nan")
        row = made[{"pizza": pizza, "noodles": 12 - pizza}]
        assert chance == pytest.approx(next(iter(row.values())), rel=1e-12)
    page.click('#arc [data-table="0"]')
    expect(page.locator("#walk")).to_have_value("0")
    page.click("#next")
    expect(page.locator("#next")).not_to_be_visible()
    for epsilon, votes in (("1", 9), ("1.1", 12)):
        if epsilon != "1":
            page.press("#epsilon", "ArrowRight")
        page.check(f'[name="votes"][value="{votes}"]')
        row = rb.best(question, rb.DP(epsilon))[{"pizza": votes, "noodles": 12 - votes}]
        expect(page.locator("#epsilon-shown")).to_have_text(epsilon)
        sure = float(page.get_attribute("#sure", "data-chance") or "nan")
        assert sure == pytest.approx(row["pizza"], rel=1e-12)
        guessed = float(page.get_attribute("#guess", "data-chance") or "nan")
        ratio = rb.DP(epsilon).ratio
        assert guessed == pytest.approx(ratio / (1 + ratio), rel=1e-12)
    expect(page.locator("#triangle g")).to_have_count(91)


def test_a_first_visitor_walks_through_five_screens(page: Page) -> None:
    walk_through(page)
    assert page.url.endswith("#5")
    page.reload()
    expect(page.locator("#title-5")).to_be_visible()
    page.go_back()
    expect(page.locator("#title-4")).to_be_visible()


def test_the_keyboard_turns_the_screens_and_leaves_the_sliders_alone(page: Page) -> None:
    for number in (2, 3):
        page.keyboard.press("ArrowRight")
        expect(page.locator(f"#title-{number}")).to_be_focused()
    page.press("#share", "ArrowRight")
    expect(page.locator("#title-3")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#title-2")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "zoe"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, {"width": 1100, "height": 850}])
def test_everybody_can_use_every_screen(
    browser: Browser, studio_address: str, scheme: Any, size: Any
) -> None:
    with browser.new_context(
        viewport=size, color_scheme=scheme, reduced_motion="reduce"
    ) as context:
        shown = context.new_page()
        for number in range(1, 6):
            opened(shown, f"{studio_address}#{number}")
            shown.reload()
            expect(shown.locator(f"#title-{number}")).to_be_visible()
            assert shown.evaluate("document.documentElement.scrollWidth") <= size["width"]
            accessible(shown)
        moving = "getComputedStyle(document.querySelector('.dial .value')).transitionDuration"
        assert shown.evaluate(moving) in ("0s", "")


@pytest.mark.slow
def test_the_file_alone_tells_the_same_story(browser: Browser, tmp_path: Path) -> None:
    file = story.write_page(tmp_path)
    with browser.new_context(viewport=PHONE, offline=True, has_touch=True) as context:
        shown = context.new_page()
        with watched(shown, file.as_uri()):
            opened(shown, file.as_uri())
            walk_through(shown)
            assert shown.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
            accessible(shown)
