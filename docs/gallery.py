"""Draw the figures of the gallery: ``python docs/gallery.py`` runs the code of ``gallery.md``.

Every Python block of the page that ends by saving a figure is run, in the order of the page, and
what it saves goes to ``docs/_static/gallery/``. So the page shows what its code draws.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE / "_static" / "gallery"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Run the page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    examples = FOLDER / "examples"  # which the code of all pages finds beside it
    if not examples.exists():
        examples.symlink_to(HERE.parent / "examples")
    os.chdir(FOLDER)
    names: dict[str, object] = {}
    for number, code in enumerate(BLOCK.findall((HERE / "gallery.md").read_text("utf-8")), 1):
        exec(compile(code, f"gallery.md, block {number}", "exec"), names)  # noqa: S102  our own page
    examples.unlink()


if __name__ == "__main__":
    main()
