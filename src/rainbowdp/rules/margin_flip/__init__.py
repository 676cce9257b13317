"""Permute-and-flip on signed margins, for every question."""
