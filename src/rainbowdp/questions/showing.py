"""How a question shows itself in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rainbowdp.display import cards

_LEFT_OUT = ("kind", "answers", "among", "bins", "by", "weight")


class Shown:
    """A question that has a card in a notebook: whatever describes it."""

    __slots__ = ()

    def describe(self) -> dict[str, Any]:
        """Everything that makes the question, ready for JSON."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        said: Mapping[str, Any] = self.describe()
        named = {
            name.replace("_", " "): value
            for name, value in said.items()
            if name not in _LEFT_OUT and value not in (None, False)
        }
        answers = said.get("answers") or said.get("among")
        if answers:
            named = {"answers": ", ".join(map(str, answers)), **named}
        if said.get("by") is not None:
            named["groups"] = ", ".join(said["by"]["groups"])
        return cards.card(f"Question: {said.get('kind')}", cards.facts(named))
