"""Fixtures that several modules share, and how Hypothesis runs."""

from __future__ import annotations

import os

from hypothesis import settings

from postgres import postgres_url
from spark_session import provide_java, spark
from studio_server import studio_address

__all__ = ["postgres_url", "spark", "studio_address"]

provide_java()

# A landing must not depend on luck: CI tries the same examples every time, people new ones.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("people", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "people")
