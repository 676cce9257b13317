"""The analysts' page in a real Chromium: what it shows is what the service and its ledger say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from browsers import WAIT, accessible, browser, watched
from rainbowdp.display.pages import HEADERS, SHARED
from rainbowdp.ledger import Ledger
from rainbowdp.service.routes.page import STATIC
from service_server import listening
from services import TOKENS, make_app

__all__ = ["browser"]

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
    "dark phone": {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    app = make_app(folder, budget={"epsilon": "100", "delta": "1e-3"}, requests_per_minute=10**6)
    with listening(app) as found:
        yield f"{found}/"


@pytest.fixture
def ledger(folder: Path, address: str) -> Ledger:
    return Ledger.open(folder / "visits.db")


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    with browser.new_context(**LOOKS["light"], reduced_motion="reduce") as context:
        shown = context.new_page()
        shown.set_default_timeout(WAIT)
        yield shown


@pytest.fixture
def page(tab: Page, address: str) -> Iterator[Page]:
    with watched(tab, address):
        tab.goto(address)
        yield tab
        tab.unroute_all()
        tab.goto("about:blank")


def enter(page: Page, who: str = "ann") -> None:
    page.get_by_label("Your token").fill(TOKENS[who])
    page.get_by_role("button", name="Connect").click()
    expect(page.locator("#desk")).to_be_visible()


def priced(page: Page) -> None:
    expect(page.locator("#ask")).to_be_enabled()


def answered(page: Page) -> None:
    expect(page.locator("#asking")).to_have_text("Answered.")


def test_every_file_has_the_headers_and_is_ours(address: str) -> None:
    with httpx.Client(base_url=address) as client:
        paths = ["/", *(f"/static/{file.name}" for file in STATIC.iterdir())]
        paths += [f"/shared/{file.name}" for file in SHARED.iterdir()]
        for path in paths:
            reply = client.get(path)
            assert reply.status_code == 200, path
            for name, value in HEADERS.items():
                assert reply.headers[name] == value, (path, name)
            if path.endswith(".js"):
                assert "javascript" in reply.headers["content-type"]
            elif path.endswith(".html") or path == "/":
                assert "http://" not in reply.text
                assert "https://" not in reply.text
                assert "<style" not in reply.text
                assert " style=" not in reply.text
                assert " onclick" not in reply.text


def test_a_token_is_needed_and_stays_in_memory(page: Page, address: str) -> None:
    page.get_by_label("Your token").fill("rb_nobody_knows")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("alert")).to_contain_text("not known here")
    expect(page.locator("#desk")).to_be_hidden()
    enter(page)
    expect(page.locator("#trouble")).to_be_hidden()
    expect(page.locator("#who-name")).to_have_text("ann")
    assert page.locator("#token").input_value() == ""
    assert TOKENS["ann"] not in page.content()
    kept = page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
    assert kept == [0, 0, ""]
    assert TOKENS["ann"] not in page.url
    page.get_by_role("button", name="Forget the token").click()
    expect(page.locator("#desk")).to_be_hidden()
    expect(page.get_by_label("Your token")).to_be_focused()
    assert page.locator("#history").inner_text() == ""


def test_a_question_is_priced_asked_and_exported(page: Page, ledger: Ledger) -> None:
    enter(page)
    priced(page)
    before = ledger.balance()
    expect(page.locator("#before")).to_contain_text("ε 0.5")
    expect(page.locator("#before")).to_contain_text("Certainty")
    page.get_by_label("ε", exact=True).fill("0.25")
    expect(page.locator("#ask")).to_have_text("Ask for ε 0.25")
    page.get_by_role("button", name="Ask for ε 0.25").click()
    answered(page)
    (entry,) = ledger.history(last=1)
    assert ledger.balance().entries == before.entries + 1
    assert entry.by == "ann"
    assert entry.question["answers"] == ["flu", "cold", "fracture"]
    assert str(entry.guarantee.epsilon) == "0.25"  # type: ignore[union-attr]
    expect(page.locator(".spoken")).to_have_text(str(entry.answer))
    expect(page.locator("#answer")).to_contain_text(entry.head.short)
    expect(page.locator("#history tbody tr").first).to_contain_text(str(entry.answer))
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export with its certificate").click()
    told = json.loads(Path(saved.value.path()).read_text())
    assert saved.value.suggested_filename == f"visits-answer-{entry.number}.json"
    assert told["question"] == entry.question
    assert told["answer"] == entry.answer
    assert told["head"] == str(entry.head)
    assert told["guarantee"] == entry.as_dict()["guarantee"]
    assert told["mechanism"] == entry.mechanism
    assert told["entry"]["number"] == entry.number
    assert "source" not in told["entry"]
    ledger.verify(told["head"])
    with page.expect_download() as again:
        page.get_by_role("button", name=f"Export entry {entry.number} ").click()
    assert json.loads(Path(again.value.path()).read_text())["head"] == told["head"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "fill", "wanted"),
    [
        ("ranking", {"How many": "1"}, {"first": 1, "in_order": True}),
        ("share", {"At least, in percent": "12.5"}, {"at_least": "1/8", "equals": "flu"}),
        ("threshold", {"At least so many rows": "30"}, {"at_least": 30, "equals": "flu"}),
        ("count", {}, {"equals": "flu"}),
        (
            "quantile",
            {},
            {"q": "1/2", "bins": [[None, 0], [0, 10], [10, 20], [20, 40], [40, 60], [60, None]]},
        ),
        ("quantiles", {"Quantiles": "1/4, 3/4"}, {"qs": ["1/4", "3/4"]}),
        ("proportion-test", {"Rows in the sample": "200"}, {"records": 200, "above": "1/2"}),
    ],
)
def test_every_kind_of_question_can_be_built(
    page: Page, ledger: Ledger, kind: str, fill: dict[str, str], wanted: dict[str, Any]
) -> None:
    enter(page)
    page.get_by_label("What do you want to know?").select_option(kind)
    for label, text in fill.items():
        page.get_by_label(label, exact=True).fill(text)
    if kind in ("share", "threshold", "count", "proportion-test"):
        page.get_by_label("Rows match where it is").select_option("flu")
    priced(page)
    page.locator("#ask").click()
    answered(page)
    (entry,) = ledger.history(last=1)
    assert entry.question["kind"] == kind
    assert wanted.items() <= entry.question.items()


@pytest.mark.slow
def test_keys_groups_and_conditions(page: Page, ledger: Ledger) -> None:
    enter(page)
    page.get_by_label("What do you want to know?").select_option("keys")
    page.get_by_role("radio", name="ε and δ").check()
    priced(page)
    page.locator("#ask").click()
    answered(page)
    assert ledger.history(last=1)[0].question["kind"] == "keys"
    page.get_by_label("What do you want to know?").select_option("winner")
    page.get_by_text("Only some rows, weighed rows, or each group").click()
    page.get_by_label("Only rows where").fill("wait >= 10")
    page.get_by_label("In each group of").select_option("district")
    page.get_by_label("fracture").uncheck()
    page.get_by_text("All other values as one more answer").click()
    priced(page)
    page.locator("#ask").click()
    expect(page.locator("#answer tbody tr")).to_have_count(2)
    (entry,) = ledger.history(last=1)
    assert entry.question["by"]["groups"] == ["north", "south"]
    assert "wait" in entry.question["where"]
    assert entry.question["other"] == "other values"


@pytest.mark.slow
def test_rows_are_weighed_up_to_a_limit(page: Page, ledger: Ledger) -> None:
    enter(page)
    page.get_by_text("Only some rows, weighed rows, or each group").click()
    page.get_by_label("Weigh rows by").select_option("wait")
    expect(page.get_by_label("Largest weight")).to_have_value("10")
    page.get_by_label("Largest weight").fill("11")
    expect(page.locator("#before .refused")).to_contain_text("above 10")
    page.get_by_label("Largest weight").fill("2.5")
    priced(page)
    page.locator("#ask").click()
    answered(page)
    weight = ledger.history(last=1)[0].question["weight"]
    assert (weight["column"], weight["limit"]) == ("wait", "5/2")
    page.get_by_label("What do you want to know?").select_option("count")
    expect(page.get_by_label("Weigh rows by")).to_have_count(0)


@pytest.mark.slow
def test_a_plan_is_priced_against_what_is_left_and_paid_at_once(page: Page, ledger: Ledger) -> None:
    enter(page)
    priced(page)
    before = ledger.balance()
    page.get_by_role("button", name="Add to a plan").click()
    page.get_by_label("What do you want to know?").select_option("count")
    page.get_by_label("Rows match where it is").select_option("flu")
    priced(page)
    page.get_by_role("button", name="Add to a plan").click()
    expect(page.locator("#ask-plan")).to_contain_text("Ask all for")  # all of it
    page.get_by_label("Called").first.fill("mode")
    page.get_by_label("Importance").first.fill("3")
    page.get_by_label("All answers together, in ε").fill("200")
    expect(page.locator("#planned .refused")).to_contain_text("smaller total")
    expect(page.locator("#ask-plan")).to_be_disabled()
    page.get_by_label("Called").last.fill("mode")
    expect(page.locator("#planned")).to_contain_text("Two questions are called mode")
    page.get_by_label("Called").last.fill("flu")
    page.get_by_label("All answers together, in ε").fill("0.4")
    expect(page.locator("#ask-plan")).to_have_text("Ask all for ε 0.4")
    rows = page.locator("#planned tbody tr")
    expect(rows.nth(0)).to_contain_text("ε 0.3")
    expect(rows.nth(1)).to_contain_text("ε 0.1")
    assert ledger.balance().entries == before.entries
    fine(page)
    page.locator("#ask-plan").click()
    expect(page.locator("#asking-plan")).to_have_text("Answered.")
    (entry,) = ledger.history(last=1)
    assert ledger.balance().entries == before.entries + 1
    assert str(entry.guarantee.epsilon) == "0.4"  # type: ignore[union-attr]
    told = json.loads(str(entry.answer))
    expect(page.locator("#answer tbody tr").first).to_contain_text(told["mode"])
    expect(page.locator("#answer tbody tr").last).to_contain_text(f"{int(told['flu']):,}")
    page.get_by_role("button", name="Remove question 1 from the plan").click()
    expect(page.locator("#planned tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Clear the plan").click()
    expect(page.locator("#plan")).to_be_hidden()


@pytest.mark.slow
def test_what_is_wrong_is_said_where_it_is_asked(page: Page, ledger: Ledger) -> None:
    enter(page)
    before = ledger.balance().entries
    page.get_by_label("ε", exact=True).fill("lots")
    expect(page.locator("#before")).to_contain_text("must be a number")
    expect(page.locator("#ask")).to_be_disabled()
    page.get_by_label("ε", exact=True).fill("600")
    expect(page.locator("#before")).to_contain_text("more than is left")
    expect(page.locator("#ask")).to_be_disabled()
    page.get_by_label("ε", exact=True).fill("5")
    expect(page.locator("#before")).to_contain_text("protects little")
    page.get_by_text("Only some rows, weighed rows, or each group").click()
    page.get_by_label("Only rows where").fill("salary > 3")
    expect(page.locator("#before .refused")).to_contain_text("salary")
    expect(page.locator("#ask")).to_be_disabled()
    for box in page.locator("#fields fieldset input").all():
        box.uncheck()
    expect(page.locator("#before")).to_contain_text("choose at least 2")
    assert ledger.balance().entries == before


@pytest.mark.slow
def test_a_lost_reply_is_paid_once(page: Page, ledger: Ledger) -> None:
    enter(page)
    priced(page)
    before = ledger.balance().entries
    tries: list[str] = []

    def lose(route: Route) -> None:
        tries.append(route.request.headers["idempotency-key"])
        if len(tries) < 3:
            route.fetch()  # arrives, and is answered
            route.abort()
        else:
            route.continue_()

    page.route("**/ask", lose)
    page.locator("#ask").click()
    answered(page)
    assert len(tries) == 3
    assert len(set(tries)) == 1
    assert ledger.balance().entries == before + 1
    expect(page.locator(".spoken")).to_have_text(str(ledger.history(last=1)[0].answer))
    page.locator("#ask").click()  # asked anew, it is another question
    expect(page.locator("#history tbody tr")).to_have_count(len(own(ledger)))


def own(ledger: Ledger) -> list[Any]:
    return [entry for entry in ledger.history() if entry.by == "ann"]


@pytest.mark.slow
def test_it_works_by_keyboard_alone(page: Page, ledger: Ledger) -> None:
    before = ledger.balance().entries
    page.get_by_label("Your token").focus()
    page.keyboard.type(TOKENS["ann"])
    page.keyboard.press("Enter")
    expect(page.locator("#kind")).to_be_focused()
    priced(page)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "ask":
            break
    page.keyboard.press("Enter")
    answered(page)
    assert ledger.balance().entries == before + 1


@pytest.mark.slow
def test_an_auditor_sees_all_and_asks_nothing(page: Page, ledger: Ledger) -> None:
    enter(page, "dora")
    expect(page.locator("#history-title")).to_have_text("All answers")
    expect(page.locator("#ask")).to_be_disabled()


@pytest.mark.slow
def test_a_question_waits_for_a_curator_who_decides_on_the_page(tab: Page, tmp_path: Path) -> None:
    with listening(make_app(tmp_path, dataset={"approval": True})) as found:
        ledger, address = Ledger.open(tmp_path / "visits.db"), f"{found}/"
        with watched(tab, address):
            tab.goto(address)
            enter(tab)
            expect(tab.locator("#approval")).to_be_visible()
            for number in ("0.5", "0.25"):
                tab.get_by_label("ε", exact=True).fill(number)
                expect(tab.locator("#ask")).to_have_text(f"Request for ε {number}")
                tab.locator("#ask").click()
                expect(tab.locator("#asking")).to_have_text("Requested.")
            expect(tab.locator("#answer")).to_contain_text("A curator has to approve")
            expect(tab.locator("#waiting .badge")).to_have_count(2)
            fine(tab)
            assert ledger.balance().entries == 0
            tab.get_by_role("button", name="Forget the token").click()
            enter(tab, "carl")
            expect(tab.locator("#waiting .badge")).to_have_count(2)
            fine(tab)
            first, second = tab.locator("#waiting .badge").all()
            expect(first).to_contain_text("ann asks, for ε 0.5")
            second.get_by_role("textbox").fill("Not in May.")
            second.get_by_role("button", name="Refuse").click()
            expect(tab.locator("#waiting .badge")).to_have_count(1)
            tab.get_by_role("button", name="Approve").click()
            expect(tab.locator("#waiting .badge")).to_have_count(0)
            tab.get_by_role("button", name="Forget the token").click()
            enter(tab)
            expect(tab.locator("#waiting")).to_contain_text("Refused by carl")
            expect(tab.locator("#waiting")).to_contain_text("Not in May.")
            tab.get_by_role("button", name="Get the answer").click()
            expect(tab.locator(".spoken")).to_be_visible()
            (entry,) = ledger.history()
            expect(tab.locator(".spoken")).to_have_text(str(entry.answer))
            expect(tab.get_by_role("button", name="Get the answer")).to_have_count(0)
            tab.goto("about:blank")


@pytest.mark.slow
def test_what_was_asked_and_approved_is_fetched_after_the_page_was_reloaded(
    tab: Page, tmp_path: Path
) -> None:
    """A plan and a question: the service has the list, by who asks."""
    with listening(make_app(tmp_path, dataset={"approval": True})) as found:
        ledger, address = Ledger.open(tmp_path / "visits.db"), f"{found}/"
        with watched(tab, address):
            tab.goto(address)
            enter(tab)
            priced(tab)
            tab.locator("#ask").click()
            expect(tab.locator("#asking")).to_have_text("Requested.")
            tab.get_by_role("button", name="Add to a plan").click()
            tab.get_by_label("What do you want to know?").select_option("count")
            tab.get_by_label("Rows match where it is").select_option("flu")
            priced(tab)
            tab.get_by_role("button", name="Add to a plan").click()
            tab.get_by_label("Importance").first.fill("3")
            tab.get_by_label("All answers together, in ε").fill("0.4")
            expect(tab.locator("#ask-plan")).to_have_text("Request all for ε 0.4")
            tab.locator("#ask-plan").click()
            expect(tab.locator("#asking-plan")).to_have_text("Requested.")
            tab.reload()
            enter(tab, "carl")
            for left in (1, 0):
                tab.get_by_role("button", name="Approve").first.click()
                expect(tab.get_by_role("button", name="Approve")).to_have_count(left)
            tab.reload()
            enter(tab)
            expect(tab.get_by_role("heading", name="Your requests")).to_be_visible()
            expect(tab.locator("#waiting .badge")).to_have_count(2)
            fine(tab)
            assert ledger.balance().entries == 0
            tab.get_by_role("button", name="Get the answer").last.click()
            expect(tab.locator("#waiting .badge")).to_have_count(1)
            (entry,) = ledger.history()
            assert entry.question["kind"] == "plan"
            assert str(entry.guarantee.epsilon) == "0.4"  # type: ignore[union-attr]
            told = json.loads(str(entry.answer))
            expect(tab.locator("#answer tbody tr").first).to_contain_text(told["question 1"])
            tab.get_by_role("button", name="Get the answer").click()
            expect(tab.locator(".spoken")).to_be_visible()
            expect(tab.locator("#waiting .badge")).to_have_count(0)
            expect(tab.locator(".spoken")).to_have_text(str(ledger.history(last=1)[0].answer))
            tab.reload()
            enter(tab)
            expect(tab.locator("#history tbody tr")).to_have_count(2)
            expect(tab.locator("#waiting .badge")).to_have_count(0)
            tab.goto("about:blank")


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_it_is_accessible_in_every_look(
    browser: Browser, address: str, look: str, request: pytest.FixtureRequest
) -> None:
    with browser.new_context(**LOOKS[look], reduced_motion="reduce") as context:
        page = context.new_page()
        page.set_default_timeout(WAIT)
        with watched(page, address):
            page.goto(address)
            fine(page)
            enter(page)
            priced(page)
            page.get_by_text("Only some rows, weighed rows, or each group").click()
            page.get_by_label("Weigh rows by").select_option("wait")
            priced(page)
            page.get_by_role("button", name="Add to a plan").click()
            expect(page.locator("#ask-plan")).to_be_enabled()
            fine(page)
            page.locator("#ask").click()
            answered(page)
            page.get_by_label("ε", exact=True).fill("5")
            expect(page.locator(".warning")).to_be_visible()
            fine(page)
            page.get_by_label("ε", exact=True).fill("600")
            expect(page.locator(".refused")).to_be_visible()
            fine(page)


def fine(page: Page) -> None:
    """Nothing for axe to find, and nothing beyond the right edge."""
    accessible(page)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
