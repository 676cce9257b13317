"""Boundary, depth and touching regions of a graph in compressed rows, one module an engine."""
