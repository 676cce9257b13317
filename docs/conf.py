"""How Sphinx builds the documentation; ``make docs`` runs it."""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import rainbowdp

sys.path.insert(0, str(Path(__file__).parent))
import command_line

project = "rainbowdp"
release = version = rainbowdp.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
napoleon_google_docstring = False
exclude_patterns = ["_build"]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3  # links to headings work here as they do on GitHub

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "rainbowdp"
html_show_copyright = False
smartquotes = False  # --json is an option and 'X' a text, wherever they stand
html_static_path = ["_static"]
html_css_files = ["math.css", "pages.css"]
html_js_files = ["pages.js"]
html_math_renderer = "mathml"  # made while building, so that a page loads nothing from elsewhere
html_theme_options = {"navigation_with_keys": True}
pygments_style = "a11y-high-contrast-light"  # whose grays can be read: output is gray
pygments_dark_style = "a11y-high-contrast-dark"

_HERE = Path(__file__).parent
_LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]+)\)")
_BARS = re.compile(r"(?<!`)\|(\w+)\|")
_NAMED = re.compile(r"rb\.(\w+)")
_ROW = re.compile(r"^\| (?P<place>[^|]+?) \|(?P<rest>.*)$", re.MULTILINE)
_STORY = re.compile(r"^<!-- story: (?P<words>.+?): (?P<link>.+?) -->$", re.MULTILINE)
_SHOT = re.compile(r"^<!-- shot: (?P<file>\S+): (?P<words>.+?) -->$", re.MULTILINE)
_FIGURE = re.compile(r'^```python\n(?:(?!^```).)*?"(?P<file>[\w-]+\.svg)"\)\n```$', re.M | re.S)
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


def add_pictures(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put in what the build makes and Git does not keep: the story, screenshots, figures.

    In Markdown a comment stands for the story and for a screenshot, so that a reader on a site that
    shows plain Markdown sees no broken picture. What was not made, as there is no browser, is left
    out.
    """
    up = "../" * docname.count("/")

    def story(found: re.Match[str]) -> str:
        there = (_HERE / "_static" / "story" / "index.html").is_file()
        link = f'<a href="{up}_static/story/index.html"><b>{found["link"]}</b></a>'
        return f'<p class="story">{found["words"]}: {link}.</p>' if there else ""

    def shot(found: re.Match[str]) -> str:
        there = (_HERE / "_static" / "shots" / found["file"]).is_file()
        place = f"{up}_static/shots/{found['file']}"
        words = escape(found["words"])
        return f'<p class="shot"><img src="{place}" alt="{words}"></p>' if there else ""

    def drawn(found: re.Match[str]) -> str:
        return f"{found[0]}\n\n![{found['file']}](_static/gallery/{found['file']})"

    source[0] = _SHOT.sub(shot, _STORY.sub(story, source[0]))
    if docname == "gallery":
        source[0] = _FIGURE.sub(drawn, source[0])


class Commands(SphinxDirective):
    """All commands of ``rainbow``, with their options."""

    def run(self) -> list[nodes.Node]:
        """The sections, read as Markdown."""
        whole = nodes.section()
        whole.document = self.state.document
        lines = StringList(command_line.page().split("\n"), source="command_line.py")
        self.state.nested_parse(lines, self.content_offset, whole, match_titles=True)
        return list(whole.children)


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
    app.add_directive("rainbow-commands", Commands)
    app.connect("source-read", keep_links_inside)
    app.connect("source-read", add_pictures)
    app.connect("doctree-read", link_names)
    app.connect("autodoc-process-docstring", keep_colons, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", adapt_docstring)
