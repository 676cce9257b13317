"""The rows of the paper's table, taken from the documentation's: one place for each number.

``python paper/numbers.py`` writes ``paper/numbers.tex``.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
COLUMNS = ("$q$, $n$, $\\varepsilon$", "exponential", "permute-and-flip", "homogeneous")
LAST = ("table (d)", "LP")


def found() -> list[list[str]]:
    """The cells of the paper's columns, row by row."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        lines = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            if line.startswith("|")
            else None
            for line in page.read_text(encoding="utf-8").splitlines()
        ]
        for number, head in enumerate(lines):
            if head is not None and all(name in head for name in (*COLUMNS, *LAST)):
                places = [head.index(name) for name in (*COLUMNS, *LAST)]
                rows = []
                for row in lines[number + 2 :]:
                    if row is None:
                        break
                    rows.append([row[place] for place in places])
                return rows
    sys.exit("No page of the documentation has the table that the paper quotes.")


def main() -> None:
    """Writes the rows in LaTeX."""
    text = "".join(" & ".join(row) + "\\\\\n" for row in found())
    (Path(__file__).parent / "numbers.tex").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
