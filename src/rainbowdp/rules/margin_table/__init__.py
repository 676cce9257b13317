"""Margin tables: near-optimal rows for a vote, found by a linear program."""
