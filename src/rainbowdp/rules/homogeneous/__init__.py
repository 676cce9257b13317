"""Homogeneous: the optimum for one boundary distribution a region."""
