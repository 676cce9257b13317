"""Fixtures that several modules share."""

from __future__ import annotations

from postgres import postgres_url

__all__ = ["postgres_url"]
