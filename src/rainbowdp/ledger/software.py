"""Who asks, and with which release: what a record says of its maker."""

from __future__ import annotations

import os
from importlib.metadata import version

SOFTWARE = f"rainbowdp {version('rainbowdp')}"


def user() -> str:
    """The user of the operating system whose process this is."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"
    except ImportError:  # no POSIX
        import getpass

        return getpass.getuser()
