"""The best of all mechanisms, by linear programs."""
