"""The kinds of mechanisms, one folder each."""
