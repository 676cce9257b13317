"""What people see of values: colors, cards, progress."""
