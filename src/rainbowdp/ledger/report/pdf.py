"""A report as PDF, printed by a browser that is on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from rainbowdp.errors import LedgerError

BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    *("microsoft-edge", "chrome", "msedge"),
)
_PATIENCE = 120  # seconds


def printed(page: str) -> bytes:
    """The page as PDF.

    Raises
    ------
    LedgerError
        If there is no browser that prints, or it fails.

    """
    found = [path for name in BROWSERS if (path := shutil.which(name)) is not None]
    if not found:
        raise LedgerError(
            "A PDF is printed by Chromium, Chrome or Edge, and none of them is on the PATH of this "
            "machine. Write the report as HTML, and print it from any browser."
        )
    # The page has no script and may fetch nothing; a browser run by root needs to be told so.
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with TemporaryDirectory(prefix="rainbow-report-") as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, "utf-8")
        command = [
            *(found[0], "--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer"),
            *("--disable-background-networking", f"--user-data-dir={Path(folder, 'profile')}"),
            *(*root, f"--print-to-pdf={target}", source.as_uri()),
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE)  # noqa: S603  all ours
            content = target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise LedgerError(
                f"{found[0]} could not print the report ({type(error).__name__}). Write it as "
                "HTML, and print it from any browser."
            ) from None
    return content
