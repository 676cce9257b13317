"""Permute-and-flip in integers."""
