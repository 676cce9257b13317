"""Mechanisms on graphs."""
