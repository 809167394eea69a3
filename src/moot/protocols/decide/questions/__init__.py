"""Questions: formats, classes, judges, and which option an answer names."""
