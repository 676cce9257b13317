from __future__ import annotations

import dataclasses
import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import rainbowdp as rb
import reference
from rainbowdp.paper.reproduce import draw, reproduce


def test_every_number_of_the_paper_comes_out_as_due() -> None:
    claims = reproduce()
    assert [claim for claim in claims if not claim.holds] == []
    assert {claim.place for claim in claims} >= {"Fig. 1(A)", "Example 1", "Fig. 3", "Lemma 1"}
    assert sum(claim.erratum for claim in claims) == 7


def test_a_changed_number_is_noticed() -> None:
    claim = dataclasses.replace(reproduce()[0], ours="17, 31")
    assert not claim.holds


FIGURES = [f"figure-{name}.svg" for name in ("1a", "1b", "2", "3", "4", "5")]


class Words(HTMLParser):
    """The words of a page and its pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.pictures: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script"
        if tag == "img":
            self.pictures.append(dict(attrs)["src"])

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.slow
def test_every_figure_is_drawn_beside_its_numbers(tmp_path: Path) -> None:
    claims = reproduce()
    folder = tmp_path / "new" / "paper"
    written = draw(folder, claims)
    assert [path.name for path in written] == [*FIGURES, "claims.json", "index.html"]
    assert sorted(folder.iterdir()) == sorted(written)  # and no drafts
    for name in FIGURES:
        root = ElementTree.fromstring((folder / name).read_text(encoding="utf-8"))
        assert root.tag.endswith("svg")
    assert json.loads((folder / "claims.json").read_text(encoding="utf-8")) == [
        claim.as_dict() for claim in claims
    ]
    page = Words()
    page.feed((folder / "index.html").read_text(encoding="utf-8"))
    assert page.pictures == FIGURES
    for claim in claims:
        assert page.words.count(claim.statement) == sum(
            other.statement == claim.statement for other in claims
        )
    assert page.words.count("erratum") == 1 + sum(claim.erratum for claim in claims)


def test_figures_are_not_drawn_into_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(rb.RainbowError) as refused:
        draw(tmp_path / "taken", reproduce())
    reference.assert_one_sentence(refused.value, "taken")
    assert (tmp_path / "taken").read_text() == "mine"
