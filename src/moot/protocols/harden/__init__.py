"""Harden: a red team attacks code, a blue team patches it, executed checks decide."""
