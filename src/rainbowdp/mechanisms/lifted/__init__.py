"""Lifted proximity and its fixed point."""
