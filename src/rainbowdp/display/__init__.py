"""How values are shown to people: colors, notebook cards, progress."""
