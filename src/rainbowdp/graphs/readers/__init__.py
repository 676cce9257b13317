"""Read graphs from files."""
