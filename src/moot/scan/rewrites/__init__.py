"""Every rewrite, by the rule it mends."""

from moot.scan.change import Choices, Rewrite
from moot.scan.rewrites import (
    go,
    gosettings,
    goshared,
    gosinks,
    javascript,
    jsguard,
    jssettings,
    jsstate,
    pyflow,
    pysettings,
    pyshell,
    pysql,
    pystate,
    python,
)

REWRITES: dict[str, Rewrite] = {
    **python.REWRITES,
    **pysettings.REWRITES,
    **pyshell.REWRITES,
    **pysql.REWRITES,
    **pystate.REWRITES,
    **javascript.REWRITES,
    **jssettings.REWRITES,
    **jsstate.REWRITES,
    **go.REWRITES,
    **gosettings.REWRITES,
    **goshared.REWRITES,
    **gosinks.REWRITES,
}
CHOICES: dict[str, Choices] = {
    **pysql.CHOICES,
    **pyflow.CHOICES,
    **pysettings.CHOICES,
    **gosettings.CHOICES,
    **jsguard.CHOICES,
    **jssettings.CHOICES,
}
