"""The story: twelve friends vote, and five screens say what rainbow privacy is.

``numbers`` are the library's, for the page to show; ``write_page`` makes one file of page and
numbers that needs neither a server nor an installation.
"""

from __future__ import annotations

import base64
import itertools
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from rainbowdp.answering.best import best
from rainbowdp.display.colors import colors
from rainbowdp.display.pages import SHARED
from rainbowdp.errors import RainbowError
from rainbowdp.guarantees.dp import DP
from rainbowdp.questions import Winner
from rainbowdp.storage.whole_file import whole_file
from rainbowdp.studio.worlds import of_question

FRIENDS = ("Ada", "Ben", "Cem", "Dia", "Eli", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Zoe")
DISHES = ("noodles", "pizza")  # a tie goes to noodles, which is listed first
MORE_DISHES = (*DISHES, "salad")
EPSILONS = tuple(f"{tenth / 10:g}" for tenth in range(1, 41))
SHOWN = "1"  # the ε of all screens but the last
_STATIC = Path(__file__).parent / "static"
_HUNDREDTHS = range(50, 101)


@cache
def numbers() -> dict[str, Any]:
    """All that the story shows, ready for JSON.

    ``pizza`` has, for each ε, the chance of saying pizza at each of the thirteen tables; ``snoop``
    how often somebody who knows all other votes, and holds both votes of the last friend for
    equally likely, guesses hers from the answer, at the table where that is easiest.
    """
    question = Winner(DISHES, "dinner")
    people = len(FRIENDS)
    counts = [{"noodles": people - pizza, "pizza": pizza} for pizza in range(people + 1)]
    made = {epsilon: best(question, DP(epsilon)) for epsilon in EPSILONS}
    chances = [[made[epsilon][table]["pizza"] for table in counts] for epsilon in EPSILONS]
    margins = [question.margins(table) for table in counts]
    return {
        "friends": FRIENDS,
        "dishes": DISHES,
        "colors": list(colors(DISHES).values()),
        "epsilons": EPSILONS,
        "shown": EPSILONS.index(SHOWN),
        "most": [DP(epsilon).ratio for epsilon in EPSILONS],
        "answers": [min(margin, key=lambda v: margin[v]) for margin in margins],
        "margins": [max(margin.values()) for margin in margins],
        "pizza": chances,
        "snoop": [_guessed(row) for row in chances],
        "waver": _wavering(),
        "triangle": _triangle(),
    }


def _guessed(chances: list[float]) -> float:
    """The chance of a right guess between neighbors, at the pair that is told apart best."""
    return max((1 + abs(a - b)) / 2 for a, b in itertools.pairwise(chances))


def _wavering() -> list[dict[str, Any]]:
    """Two tables beside a tie that mirror each other: how often the truth may be said."""
    promise = DP(SHOWN)
    shown = []
    for hundredth in _HUNDREDTHS:
        share = hundredth / 100
        row, beside = (share, 1 - share), (1 - share, share)
        shown.append(
            {
                "share": share,
                "times": share / (1 - share) if hundredth < 100 else None,
                "private": not promise.excess(row, beside) > 0,
            }
        )
    return shown


def _triangle() -> dict[str, Any]:
    """All tables of twelve friends and three dishes."""
    question = Winner(MORE_DISHES, "dinner")
    world = of_question("story", "", "", question, len(FRIENDS), (), {})
    assert world.counts is not None
    made = best(question, DP(SHOWN))
    described = world.as_dict()
    rows = [list(made[world.key(place)].values()) for place in range(len(world.graph))]
    return {
        "answers": MORE_DISHES,
        "colors": list(colors(MORE_DISHES).values()),
        "orders": [region["rainbow"] for region in described["regions"]],
        "tables": [
            {"x": d["x"], "y": d["y"], "region": d["region"], "row": row}
            for d, row in zip(described["datasets"], rows, strict=True)
        ],
        "edges": described["edges"],
    }


def write_page(folder: Path) -> Path:
    """Write the story as one file, ``index.html`` in ``folder``, that loads nothing.

    It is the studio's own page with its style, its scripts and the numbers inside, so it can be
    read where there is no studio: in the documentation, or from a disk.
    """
    page = (_STATIC / "story.html").read_text("utf-8")
    page = re.sub(r"<!-- studio -->.*?<!-- end -->", "", page, flags=re.DOTALL)
    page = page.replace("<!-- elsewhere", "").replace("elsewhere -->", "")
    icon = base64.b64encode((SHARED / "icon.svg").read_bytes()).decode()
    page = page.replace("/shared/icon.svg", f"data:image/svg+xml;base64,{icon}")
    page = re.sub(
        r'<link rel="stylesheet" href="([^"]+)">',
        lambda found: f"<style>\n{_served(found[1]).read_text('utf-8')}</style>",
        page,
    )
    known = json.dumps(numbers(), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    script = _in_one(_STATIC / "story.js")
    page = page.replace(
        '<script type="module" src="/static/story.js"></script>',
        f'<script type="application/json" id="numbers">{known}</script>\n'
        f'<script type="module">\n{script}</script>',
    )
    left = re.findall(r'(?:src|href)="(/[^"]*)"', page)
    if left:
        raise RainbowError(f"the story must be one file, but its page loads {', '.join(left)}")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "index.html"
    with whole_file(target, "the story") as draft:
        draft.write_text(page, "utf-8")
    return target


def _served(address: str) -> Path:
    """The file that the studio serves at an address."""
    root = {"shared": SHARED, "static": _STATIC}[address.split("/")[1]]
    return root / address.split("/", 2)[2]


_IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)


def _in_one(module: Path, seen: set[Path] | None = None) -> str:
    """A module after all that it imports: ours have names of their own, and no other imports."""
    known = set() if seen is None else seen
    if module in known:
        return ""
    known.add(module)
    text = module.read_text("utf-8")
    parts = []
    for address in _IMPORT.findall(text):
        found = module.parent / address if address.startswith(".") else _served(address)
        parts.append(_in_one(found.resolve(), known))
    own = _IMPORT.sub("", text)
    if re.search(r"^import ", own, re.MULTILINE):
        raise RainbowError(f"{module.name} imports something that cannot be put into one file")
    return "".join(parts) + re.sub(r"^export ", "", own, flags=re.MULTILINE)
