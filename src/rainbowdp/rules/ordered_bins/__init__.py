"""Ordered bins: saying the true bin of a quantile."""
