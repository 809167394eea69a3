"""Words that try to become markup, to run, to steer a terminal, or to pass for a button or a verdict of Moot: one set
for the page, the terminal and comments in markdown."""

import json
from pathlib import Path

HOSTILE: list[str] = json.loads((Path(__file__).parent / "data" / "hostile_strings.json").read_text(encoding="utf-8"))
HOSTILE_LINES = [each for each in HOSTILE if not set(each) & set("\0\n\r")]
"""Those that fit into a line of code or a file name."""
