"""Counts of a vote with Gaussian noise, and the largest of them."""
