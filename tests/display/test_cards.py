from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp import paper
from rainbowdp.display import cards

VOID = {"path", "polyline"}


class Reader(HTMLParser):
    """Reads HTML strictly: every tag closed in order, nothing that could run."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words: list[str] = []
        self.titles: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {*VOID, "div", "span", "strong", "svg", "g"} | {
            "table",
            "thead",
            "tbody",
            "tr",
            "td",
            "th",
        }
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in {"href", "src"}
            if name == "title":
                self.titles.append(value or "")
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def values() -> list[Any]:
    graph = paper.figure_one()
    mechanism = rb.optimal(graph, rb.DP(1, "0.01"))
    broken = rb.printed_operator(graph, rb.DP(1, "0.1"))
    question = rb.Winner(["red", "green", "blue"])
    answer = rb.best(question, rb.DP(1))
    return [
        rb.DP(1),
        rb.GaussianDP(1),
        rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)]),
        graph,
        rb.RainbowGraph([], [("yes", "no")]),
        mechanism,
        rb.Mechanism(graph, mechanism.table, mechanism.index),
        mechanism.check(),
        broken.check(guarantee=broken.guarantee),
        mechanism.exact(),
        mechanism.exact().proof,
        answer,
        answer.exact(),
        rb.exponential(question, rb.DP(1)),
        rb.compare(question, rb.DP("0.5"), records=6),
    ]


def test_every_value_shows_itself_small_and_well_formed() -> None:
    for value in values():
        page = value._repr_html_()
        read(page)
        assert len(page) < 12_000, type(value)


def test_cards_say_what_matters() -> None:
    graph = paper.figure_one()
    mechanism = rb.optimal(graph, rb.DP(1))
    assert "31 edges" in graph._repr_html_()
    assert "and 10 more" in mechanism._repr_html_()
    assert "✓" in mechanism.check()._repr_html_()
    assert (
        "✗"
        in rb.Mechanism.from_table(graph, {d: {graph.rainbow(d)[0]: 1} for d in graph.datasets})
        .check(rb.DP(1))
        ._repr_html_()
    )
    compared = rb.compare(rb.Winner(["a", "b", "c"]), rb.DP("0.5"), records=6)
    words = " ".join(read(compared._repr_html_()).words)
    assert "left out: proximity" in words
    assert "permute-and-flip" in words


def test_the_depth_of_a_huge_graph_is_not_searched_for_to_show_it() -> None:
    size = 100_001
    nodes = np.arange(size - 1)
    graph = rb.RainbowGraph(
        np.stack([nodes, nodes + 1], axis=1), {0: ("yes", "no")}, labels=np.zeros(size, dtype=int)
    )
    assert "100,001 datasets" in graph._repr_html_()
    assert "depths" not in graph.__dict__


@given(st.text(st.characters(codec=None)))
def test_any_text_is_shown_as_text(words: str) -> None:
    reader = read(cards.card(words, words, cards.facts({words: words})))
    clean = words.encode("utf-8", "replace").decode()
    if len(words) <= cards.LONGEST and "\r" not in words and "\0" not in words:
        assert "".join(reader.words) == clean * 4


@given(st.lists(st.text(), min_size=2, max_size=4, unique=True), st.text())
def test_names_from_users_cannot_break_out(answers: list[str], dataset: str) -> None:
    graph = rb.RainbowGraph(
        [(dataset, dataset + "'")], {dataset: answers, dataset + "'": answers[::-1]}
    )
    mechanism = rb.optimal(graph, rb.DP(1))
    for value in (graph, mechanism, mechanism.check(), mechanism.exact()):
        read(value._repr_html_())
    assert len(read(mechanism._repr_html_()).titles) == 2 * len(answers)


def test_markup_in_a_name_is_only_a_name() -> None:
    evil = '"><script>alert(1)</script>'
    graph = rb.RainbowGraph([(evil, "b")], {evil: (evil, "no"), "b": ("no", evil)})
    for value in (graph, rb.optimal(graph, rb.DP(1)), rb.best(rb.Winner([evil, "no"]), rb.DP(1))):
        assert "<script" not in value._repr_html_()


def test_long_text_is_cut() -> None:
    assert cards.text("x" * 500) == "x" * 79 + "…"
