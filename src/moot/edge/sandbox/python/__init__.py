"""Python tests and calls: laid out, run and read; `inside/` runs within the sandbox. Read suite.py first."""
