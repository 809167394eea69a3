"""Schema migrations, one file each; `tables.py` has the current schema."""
