"""Lessons: what one session learnt, worded for others."""
