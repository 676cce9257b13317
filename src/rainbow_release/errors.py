"""The one error of this package."""

from __future__ import annotations


class Refused(ValueError):
    """A file that is damaged, forged or not understood, or a dataset that has no place in it."""
