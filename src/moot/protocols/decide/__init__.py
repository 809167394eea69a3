"""Decide: judges with fixed stances answer an open question, and are counted."""
