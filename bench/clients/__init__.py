"""Real clients through a real gateway, offline."""
