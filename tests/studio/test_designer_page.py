"""What the designer has beyond one picture: two settings, zoom, editing, links, the best first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

import rainbowdp as rb
from browsers import WAIT, accessible, browser, link, watched
from rainbowdp.paper.objects import figure_one

__all__ = ["browser"]

SLOWLY = 6 * WAIT  # what rb.best takes is computed when the controls rest


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        shown = context.new_page()
        shown.set_default_timeout(WAIT)
        yield shown


@pytest.fixture
def page(tab: Page, studio_address: str) -> Iterator[Page]:
    with watched(tab, studio_address):
        tab.goto("about:blank")
        tab.goto(link(studio_address, world="paper", mechanism="homogeneous"))
        expect(tab.locator("#badge")).to_have_attribute("data-state", "proved", timeout=SLOWLY)
        yield tab


@pytest.mark.slow
def test_two_settings_stand_side_by_side(page: Page) -> None:
    expect(page.locator("#mechanisms .cost[data-error]").first).to_be_visible(timeout=SLOWLY)
    page.click("#keep")
    page.fill("#epsilon-text", "2")
    page.press("#epsilon-text", "Enter")
    expect(page.locator("#pair-table thead th").last).to_have_text("Homogeneous, 2-DP")
    graph = figure_one()
    first = [next(iter(rb.optimal(graph, rb.DP(e))["d1"].values())) for e in (1, 2)]
    shown = page.locator("#pair-table tbody tr").first.locator("td").all_text_contents()
    assert shown == [f"{100 * p:.2f} %" for p in first]
    expect(page.locator("#graph-b")).to_be_visible()
    page.click("#let-go")
    expect(page.locator("#graph-b")).to_be_hidden()


@pytest.mark.slow
def test_best_is_first_and_its_mean_is_the_least(page: Page) -> None:
    best = page.locator('#mechanisms label[data-name="best"]')
    expect(best.locator(".cost[data-error]")).to_be_visible(timeout=SLOWLY)
    labels = page.locator("#mechanisms label").all()
    assert labels[0].get_attribute("data-name") == "best"
    own = float(best.locator(".cost").get_attribute("data-error") or "nan")
    assert own == pytest.approx(1 - rb.best(figure_one(), rb.DP(1)).value, abs=1e-9)
    for other in page.locator("#mechanisms .cost[data-error]").all():
        assert own <= float(other.get_attribute("data-error") or "nan") + 1e-9
    missing = page.locator('#mechanisms label[data-name="printed"] .about')
    expect(missing).to_contain_text("Not available: the printed operator is wrong only when")
    page.click('#mechanisms input[value="best"]')
    expect(page.locator("#recipe")).to_contain_text("rb.best(world", timeout=SLOWLY)


@pytest.mark.slow
def test_zoom_edit_link_and_everybody_can_use_it(page: Page) -> None:
    before = page.evaluate("window.studioGraph.zoom()")
    page.click("#nearer")
    assert page.evaluate("window.studioGraph.zoom()") == pytest.approx(1.4 * before)
    assert page.evaluate("window.studioGraph.userPanningEnabled()")
    page.click("#whole")
    assert page.evaluate("window.studioGraph.zoom()") < 1.2 * before
    assert not page.evaluate("window.studioGraph.userPanningEnabled()")
    expect(page.locator("#worst-pair")).to_contain_text("Worst pair", timeout=SLOWLY)
    page.click("#worst-pair button")
    page.fill("#epsilon-text", "1.5")
    page.press("#epsilon-text", "Enter")
    expect(page.locator("#recipe")).to_contain_text('rb.DP("1.5")')
    page.reload()
    expect(page.locator("#recipe")).to_contain_text('rb.DP("1.5")', timeout=SLOWLY)
    page.click("#dataset summary")
    accessible(page)
    page.click("#edit > summary")
    page.click("#edit details summary")
    text = page.input_value("#edit-text")
    assert "d1: blue > red > green" in text
    page.fill("#edit-text", text + "d1 nowhere\n")
    page.click("#apply")
    expect(page.locator("#edit-text-message")).to_contain_text("dataset 'nowhere' has no rainbow")
    page.fill("#edit-text", text + "new: red > green > blue\nd1 new\n")
    page.click("#apply")
    expect(page.locator("#graph-note")).to_have_text("19 datasets and 32 edges from a list.")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    accessible(page)
