"""From private reports to a histogram of places, and what repeated reports cost."""
