"""Guarantees: what a mechanism promises between neighboring datasets."""
