"""Moot over HTTP: start, follow, decide and read sessions."""
