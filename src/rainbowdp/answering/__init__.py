"""Questions answered: their mechanisms, the choice of the best, and one release."""
