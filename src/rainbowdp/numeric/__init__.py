"""Numbers: exact values, balls, powers, linear programs."""
