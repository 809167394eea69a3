"""Surfaces: thin ways in. Each builds rules and input, starts a session and shows its events."""
