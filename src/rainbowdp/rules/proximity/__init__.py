"""Proximity: weights that fall with the margin."""
