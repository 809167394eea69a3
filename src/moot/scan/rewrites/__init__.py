"""Every rewrite, by the rule it mends."""

from moot.scan.change import Choices, Rewrite
from moot.scan.rewrites import go, javascript, pyflow, python

REWRITES: dict[str, Rewrite] = {**python.REWRITES, **javascript.REWRITES, **go.REWRITES}
CHOICES: dict[str, Choices] = {**python.CHOICES, **pyflow.CHOICES}
