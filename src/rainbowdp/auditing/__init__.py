"""What a mechanism really keeps: its curve over all neighbors, and the pair that proves it."""
