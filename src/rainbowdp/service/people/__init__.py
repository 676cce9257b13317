"""Who asks: people, what they may do, and how a request shows who sent it."""
