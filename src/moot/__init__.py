"""Moot: a debate engine for AI agents and the people who answer for them."""

__version__ = "0.1.0"
