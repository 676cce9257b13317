"""Take the pictures of the studio: ``python docs/screenshots.py`` writes to docs/_static/shots/.

They need Chromium or Chrome on this machine; where there is none, nothing is written and the pages
do without. With ``--readme`` the picture of the README is taken too, which Git keeps: fonts differ
from machine to machine, so it is not taken with every build.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from urllib.request import urlopen

HERE = Path(__file__).parent
FOLDER = HERE / "_static" / "shots"
README = HERE / "figures" / "studio.png"
PAGES = {"story.png": "#4", "question.png": "question", "designer.png": "designer"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDE, TALL = 1100, 760


@contextmanager
def studio() -> Iterator[str]:
    """The address of a studio of this machine, which ends with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from rainbowdp.cli import main; main()", "studio"]
    server = subprocess.Popen(  # noqa: S603  our own command
        [*command, "--no-browser", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}/"
        for _ in range(200):
            try:
                urlopen(address, timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


def take(browser: str, address: str, file: Path) -> None:
    """Save what a page shows in a window of one size."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(  # noqa: S603  a browser that was found here
            [
                browser,
                "--headless=new",
                "--no-sandbox",
                "--hide-scrollbars",
                "--disable-gpu",
                f"--user-data-dir={profile}",
                f"--window-size={WIDE},{TALL}",
                "--virtual-time-budget=8000",
                f"--screenshot={file}",
                address,
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )


def small(file: Path) -> None:
    """The same picture in 64 colors, a fraction of its size."""
    from PIL import Image

    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    few.save(file, optimize=True)


def main() -> None:
    """Take all pictures."""
    browser = next(filter(None, map(which, BROWSERS)), None)
    if browser is None:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    with studio() as address:
        for name, path in PAGES.items():
            try:
                urlopen(address + path.partition("#")[0], timeout=5).close()  # noqa: S310
            except OSError:  # no such page in this studio
                continue
            take(browser, address + path, FOLDER / name)
            small(FOLDER / name)
    if "--readme" in sys.argv:
        README.write_bytes((FOLDER / "story.png").read_bytes())


if __name__ == "__main__":
    main()
