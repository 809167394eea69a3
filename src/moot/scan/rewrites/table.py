"""Every rewrite, by rule."""

from moot.scan.change import Choices, Rewrite
from moot.scan.go import rewrites as go
from moot.scan.go.rewrites import commands as gocommands
from moot.scan.go.rewrites import limits as golimits
from moot.scan.go.rewrites import lines as golines
from moot.scan.go.rewrites import pages as gopages
from moot.scan.go.rewrites import paths as gopaths
from moot.scan.go.rewrites import random as gorandom
from moot.scan.go.rewrites import settings as gosettings
from moot.scan.go.rewrites import shared as goshared
from moot.scan.go.rewrites import sinks as gosinks
from moot.scan.go.rewrites import stacks as gostacks
from moot.scan.go.rewrites import steps as gosteps
from moot.scan.go.rewrites import temp as gotemp
from moot.scan.go.rewrites import values as govalues
from moot.scan.javascript import rewrites as javascript
from moot.scan.javascript.rewrites import ciphers as jsciphers
from moot.scan.javascript.rewrites import commands as jscommands
from moot.scan.javascript.rewrites import files as jsfiles
from moot.scan.javascript.rewrites import guard as jsguard
from moot.scan.javascript.rewrites import pages as jspages
from moot.scan.javascript.rewrites import path as jspath
from moot.scan.javascript.rewrites import regex as jsregex
from moot.scan.javascript.rewrites import settings as jssettings
from moot.scan.javascript.rewrites import sql as jssql
from moot.scan.javascript.rewrites import state as jsstate
from moot.scan.javascript.rewrites import tokens as jstokens
from moot.scan.javascript.rewrites import xpath as jsxpath
from moot.scan.python import rewrites as python
from moot.scan.python.rewrites import ciphers as pyciphers
from moot.scan.python.rewrites import expressions as pyexpressions
from moot.scan.python.rewrites import files as pyfiles
from moot.scan.python.rewrites import flow as pyflow
from moot.scan.python.rewrites import path as pypath
from moot.scan.python.rewrites import quote as pyquote
from moot.scan.python.rewrites import regex as pyregex
from moot.scan.python.rewrites import settings as pysettings
from moot.scan.python.rewrites import shell as pyshell
from moot.scan.python.rewrites import sql as pysql
from moot.scan.python.rewrites import state as pystate
from moot.scan.rewrites import hosts

REWRITES: dict[str, Rewrite] = {
    **python.REWRITES,
    **pysettings.REWRITES,
    **pyshell.REWRITES,
    **pysql.REWRITES,
    **pystate.REWRITES,
    **pyciphers.REWRITES,
    **pyfiles.REWRITES,
    **pypath.REWRITES,
    **pyregex.REWRITES,
    **javascript.REWRITES,
    **jssettings.REWRITES,
    **jssql.REWRITES,
    **jsstate.REWRITES,
    **jstokens.REWRITES,
    **jsfiles.REWRITES,
    **jsregex.REWRITES,
    **go.REWRITES,
    **gorandom.REWRITES,
    **gosettings.REWRITES,
    **goshared.REWRITES,
    **gosinks.REWRITES,
    **gostacks.REWRITES,
    **gocommands.REWRITES,
    **golimits.REWRITES,
    **gopages.REWRITES,
    **gopaths.REWRITES,
    **gotemp.REWRITES,
    **govalues.REWRITES,
    **hosts.REWRITES,
}
CHOICES: dict[str, Choices] = {
    **pysql.CHOICES,
    **pyflow.CHOICES,
    **pyexpressions.CHOICES,
    **pyquote.CHOICES,
    **pysettings.CHOICES,
    **gocommands.CHOICES,
    **golines.CHOICES,
    **gosettings.CHOICES,
    **gosteps.CHOICES,
    **govalues.CHOICES,
    **jsciphers.CHOICES,
    **jscommands.CHOICES,
    **jsguard.CHOICES,
    **jspages.CHOICES,
    **jspath.CHOICES,
    **jssql.CHOICES,
    **jstokens.CHOICES,
    **jsxpath.CHOICES,
}
