"""Every rewrite, by the rule it mends."""

from moot.scan.change import Choices, Rewrite
from moot.scan.rewrites import go, gosettings, goshared, gosinks, javascript, jssettings, pyflow, python

REWRITES: dict[str, Rewrite] = {
    **python.REWRITES,
    **javascript.REWRITES,
    **jssettings.REWRITES,
    **go.REWRITES,
    **gosettings.REWRITES,
    **goshared.REWRITES,
    **gosinks.REWRITES,
}
CHOICES: dict[str, Choices] = {**python.CHOICES, **pyflow.CHOICES, **gosettings.CHOICES}
