"""Graphs out of files."""
