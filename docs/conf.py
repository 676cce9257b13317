"""How Sphinx builds the documentation; ``make docs`` runs it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util import logging

import rainbowdp

project = "rainbowdp"
release = version = rainbowdp.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
napoleon_google_docstring = False
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3  # links to headings work here as they do on GitHub

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "rainbowdp"
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["math.css"]
html_math_renderer = "mathml"  # made while building, so that a page loads nothing from elsewhere
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"

_HERE = Path(__file__).parent
_LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]+)\)")
_BARS = re.compile(r"(?<!`)\|(\w+)\|")
_NAMED = re.compile(r"rb\.(\w+)")
_ROW = re.compile(r"^\| (?P<place>[^|]+?) \|(?P<rest>.*)$", re.MULTILINE)
_PRIMES = re.compile("'+")
_LOG = logging.getLogger(__name__)


def paper_places() -> dict[str, list[str]]:
    """Where each public name stands in the paper, by the tables of ``researcher.md``."""
    page = (_HERE / "researcher.md").read_text(encoding="utf-8")
    places: dict[str, list[str]] = {}
    for row in _ROW.finditer(page):
        for name in dict.fromkeys(_NAMED.findall(row["rest"])):
            places.setdefault(name, []).append(row["place"])
    return places


def keep_links_inside(app: Sphinx, docname: str, source: list[str]) -> None:
    """A link to a file of the repository that is no page here becomes its words."""

    def shown(link: re.Match[str]) -> str:
        target = (_HERE / docname).parent.joinpath(link[2]).resolve()
        return link[0] if target.is_relative_to(_HERE) else link[1]

    source[0] = _LINK.sub(shown, source[0])


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Let every `rb.name` of a page lead to the reference, so that Markdown stays plain."""
    for literal in list(doctree.findall(nodes.literal)):
        found = _NAMED.match(literal.astext())
        linked = isinstance(literal.parent, nodes.reference | pending_xref)
        if found and found[1] in rainbowdp.__all__ and not linked:
            link = pending_xref(
                refdomain="py", reftype="obj", reftarget=f"rainbowdp.{found[1]}", refexplicit=True
            )
            literal.replace_self(link)
            link += literal


def keep_colons(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """A property is described in words: napoleon would take those before a colon for its type."""
    if what in ("property", "attribute") and lines:
        lines[0] = lines[0].replace(": ", " – ", 1)


def adapt_docstring(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Let |S| be a size, and lead back to the paper's definitions and theorems."""
    lines[:] = [_BARS.sub(r"\|\1\|", line) for line in lines]
    places = paper_places().get(name.removeprefix("rainbowdp."))
    if places:
        lines += ["", f":doc:`In the paper: {', '.join(places)} </researcher>`"]


def write_math(writer: Any, node: nodes.math | nodes.math_block) -> None:
    """Put a formula into the page as MathML; one that cannot be read is a warning, so an error."""
    primed = _PRIMES.sub(lambda found: "^{" + r"\prime" * len(found[0]) + "}", node.astext())
    try:
        writer.body.append(tex2mathml(primed, as_block=isinstance(node, nodes.math_block)))
    except MathError as error:
        _LOG.warning("cannot typeset %r: %s", node.astext(), error, location=node)
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register what is done to pages and docstrings."""
    app.add_html_math_renderer("mathml", (write_math, None), (write_math, None))
    app.connect("source-read", keep_links_inside)
    app.connect("doctree-read", link_names)
    app.connect("autodoc-process-docstring", keep_colons, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", adapt_docstring)
