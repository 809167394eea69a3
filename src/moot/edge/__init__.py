"""The edge: the only code that touches the world, one port each."""
