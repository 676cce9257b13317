"""Mechanism files for graphs that are larger than memory.

The mechanism itself is small: a row for each region and depth, or a rule for margins. What is large
stays in DuckDB: the edges, on every one of which the depths or margins are checked, what each node
counts and is worth, and the key of each node, which goes from there to its file.
"""
