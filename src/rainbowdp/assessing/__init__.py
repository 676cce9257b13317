"""What a mechanism on a map loses, and what an attacker learns from its answers."""
