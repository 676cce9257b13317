"""Tables as text for other programs: CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_ESCAPED = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "μ": r"$\mu$",
    "λ": r"$\lambda$",
    "Σ": r"$\Sigma$",
    "−": "$-$",
    "·": r"$\cdot$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "<": r"$<$",
    ">": r"$>$",
    "–": "--",
}


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Lines of comma-separated values, nothing for None.

    >>> csv_text(["kind", "value"], [("a, b", None)])
    'kind,value\n"a, b",\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def latex_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A ``tabular`` whose first column is aligned left and the others right; needs no package.

    >>> print(latex_text(["kind", "ε"], [("50 %", 1)]))
    \begin{tabular}{lr}
    \hline
    kind & $\varepsilon$ \\
    \hline
    50 \% & 1 \\
    \hline
    \end{tabular}
    <BLANKLINE>
    """
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\hline", _line(head), r"\hline"]
    lines += [_line(row) for row in rows]
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def _line(cells: Sequence[object]) -> str:
    return " & ".join(_escaped("–" if cell is None else str(cell)) for cell in cells) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_ESCAPED.get(mark, mark) for mark in text)
