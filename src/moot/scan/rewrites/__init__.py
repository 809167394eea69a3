"""Every rewrite, by the rule it mends."""

from moot.scan.change import Rewrite
from moot.scan.rewrites import go, javascript, python

REWRITES: dict[str, Rewrite] = {**python.REWRITES, **javascript.REWRITES, **go.REWRITES}
