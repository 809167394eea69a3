"""What programs do, as tables: one line per way of calling them, the first that fits counts."""
