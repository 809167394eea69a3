"""Rewrites that several languages share; `table.py` lists all of them by the rule they mend."""
