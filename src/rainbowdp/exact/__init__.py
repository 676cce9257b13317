"""Mechanisms in integers: rules, rows, proofs and files."""
