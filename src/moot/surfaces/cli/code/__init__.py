"""Commands of the panel Code: scan, run, quality, ci."""
