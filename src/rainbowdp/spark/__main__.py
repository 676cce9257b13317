"""``python -m rainbowdp.spark`` prints a Java home for Spark."""

from __future__ import annotations

import sys

from rainbowdp.spark.java import _NONE, java_home

if __name__ == "__main__":
    found = java_home()
    if found is None:
        sys.exit(f"rainbow: {_NONE}")
    sys.stdout.write(f"{found}\n")
