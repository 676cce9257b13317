"""The exponential mechanism in integers."""
