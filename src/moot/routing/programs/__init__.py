"""Tables of what programs do: one line per way of calling them, the first match counts."""
