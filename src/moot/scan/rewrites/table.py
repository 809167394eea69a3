"""Every rewrite, by rule."""

from moot.scan.change import Choices, Rewrite
from moot.scan.go import rewrites as go
from moot.scan.go.rewrites import settings as gosettings
from moot.scan.go.rewrites import shared as goshared
from moot.scan.go.rewrites import sinks as gosinks
from moot.scan.javascript import rewrites as javascript
from moot.scan.javascript.rewrites import guard as jsguard
from moot.scan.javascript.rewrites import settings as jssettings
from moot.scan.javascript.rewrites import state as jsstate
from moot.scan.python import rewrites as python
from moot.scan.python.rewrites import flow as pyflow
from moot.scan.python.rewrites import settings as pysettings
from moot.scan.python.rewrites import shell as pyshell
from moot.scan.python.rewrites import sql as pysql
from moot.scan.python.rewrites import state as pystate

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
