"""Every rewrite, by the rule it mends."""

from moot.scan.change import Choices, Rewrite
from moot.scan.rewrites import go, javascript, pyflow, python

REWRITES: dict[str, Rewrite] = {**python.REWRITES, **javascript.REWRITES, **go.REWRITES, **pyflow.REWRITES}
CHOICES: dict[str, Choices] = pyflow.CHOICES
