"""A graph is drawn by clicking, and by keyboard; what it shows is what the library says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import rainbowdp as rb
from browsers import WAIT, accessible, browser, link, watched
from rainbowdp.studio.examples import sketch_graph
from rainbowdp.studio.loading import read_world

__all__ = ["browser"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1280, "height": 1500}) as context:
        shown = context.new_page()
        shown.set_default_timeout(WAIT)
        yield shown


@pytest.fixture
def page(tab: Page, studio_address: str) -> Iterator[Page]:
    with watched(tab, studio_address):
        tab.goto("about:blank")
        tab.goto(link(studio_address, world="sketch", mechanism="homogeneous"))
        drawn(tab, 5, 4)
        tab.click("#edit > summary")
        yield tab


def drawn(page: Page, datasets: int, edges: int) -> None:
    """Wait until the picture has so many discs and lines, and the numbers for them."""
    page.wait_for_function(
        """([nodes, lines]) => window.studioGraph.nodes().length === nodes
            && window.studioGraph.edges().length === lines
            && !document.querySelector("#badge").textContent.includes("Loading")""",
        arg=[datasets, edges],
    )


def mode(page: Page, name: str) -> None:
    page.locator(f'label:has([name="click"][value="{name}"])').click()


def click(page: Page, where: int | tuple[float, float]) -> None:
    """Click a disc, or a part of the way across and down the picture."""
    box = page.locator("#graph").bounding_box()
    assert box is not None
    if isinstance(where, int):
        x, y = page.evaluate(
            "(at) => { const p = window.studioGraph.$id(String(at)).renderedPosition(); "
            "return [p.x, p.y]; }",
            where,
        )
    else:
        x, y = where[0] * box["width"], where[1] * box["height"]
    page.mouse.click(box["x"] + x, box["y"] + y)


def text(page: Page) -> Any:
    """The world in the page's text."""
    return read_world(page.evaluate("document.querySelector('#edit-text').value").encode(), "x.txt")


def test_a_graph_is_drawn_by_clicking(page: Page) -> None:
    mode(page, "add")
    click(page, (0.93, 0.12))
    drawn(page, 6, 5)
    expect(page.locator("#edit-title")).to_have_text("Dataset middle6")
    mode(page, "join")
    click(page, 0)
    click(page, 5)
    drawn(page, 6, 6)
    click(page, 5)
    click(page, 0)
    drawn(page, 6, 5)
    mode(page, "remove")
    click(page, 3)
    drawn(page, 5, 4)
    for datasets, edges in ((6, 5), (6, 6), (6, 5), (5, 4)):
        page.click("#undo")
        drawn(page, datasets, edges)
    assert text(page).graph.edge_positions().tolist() == sketch_graph().edge_positions().tolist()
    expect(page.locator("#undo")).to_be_disabled()
    page.click("#redo")
    drawn(page, 6, 5)


def test_the_keyboard_is_enough_and_messages_are_under_their_fields(page: Page) -> None:
    page.focus("#edit-add")
    page.keyboard.press("Enter")
    drawn(page, 6, 5)
    page.fill("#edit-name", "two words")
    page.press("#edit-name", "Enter")
    expect(page.locator("#edit-name-message")).to_contain_text("a name must be one word")
    expect(page.locator("#edit-name")).to_have_value("two words")
    page.fill("#edit-name", "harbor")
    page.press("#edit-name", "Enter")
    expect(page.locator("#edit-title")).to_have_text("Dataset harbor")
    expect(page.locator("#edit-name-message")).to_have_text("")
    page.locator("#edit-rainbow button").nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#edit-rainbow li").first).to_contain_text("no")
    assert text(page).graph.rainbow("harbor") == ("no", "yes", "maybe")
    page.select_option("#edit-other", label="south")
    page.press("#edit-join", "Enter")
    drawn(page, 6, 6)
    expect(page.locator("#edit-join")).to_have_text("Part")
    page.focus("#graph")
    page.keyboard.press("Delete")
    drawn(page, 5, 4)
    page.keyboard.press("Control+z")
    drawn(page, 6, 6)


def test_weights_are_the_librarys_and_a_link_keeps_the_graph(page: Page) -> None:
    page.fill("#edit-weight", "-1")
    page.press("#edit-weight", "Enter")
    expect(page.locator("#edit-weight-message")).to_contain_text("from 0 to 1e+12, got '-1'")
    page.fill("#edit-weight", "500")
    page.press("#edit-weight", "Enter")
    expect(page.locator("#edit-alike")).to_be_enabled()
    world = text(page)
    graph, weights = world.weighted
    wanted = rb.compare(graph, rb.DP(1), {"homogeneous": rb.optimal}, weights=weights)
    shown = page.locator('#mechanisms label[data-name="homogeneous"] .cost')
    error = f"{100 * wanted['homogeneous'].mean_error:.2f} %"
    expect(shown).to_have_text(error)
    accessible(page)
    page.reload()
    drawn(page, 5, 4)
    expect(shown).to_have_text(error)
    page.click("#edit > summary")
    page.click("#edit details summary")
    assert text(page).weights.tolist() == weights.tolist()
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    accessible(page)
