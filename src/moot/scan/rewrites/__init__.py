"""Rewrites shared by several languages; `table.py` lists all of them by rule."""
