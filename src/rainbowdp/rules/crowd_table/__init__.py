"""Rows of a vote by how many rivals are how near."""
