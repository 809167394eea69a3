"""Conditions of the Go rules."""

import re

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.rulebook import Sink, Site
from moot.scan.engine.values import Val
from moot.scan.rule import Rule

REVIEWED = re.compile(r"(?://|/\*)\s*(?:#nosec\b|gosec:disable\b)|#nosec\b")
"""A gosec suppression: somebody reviewed this line."""
CALLER, MEDIUM, SURE = 0.3, 0.5, 0.9


def sink(rule: Rule, kind: str, names: str, *args: int | str, **more: object) -> Sink:
    return Sink(rule, kind, tuple(names.split()), args, **more)  # type: ignore[arg-type]


def is_const(value: Val | None, *wanted: object) -> bool:
    return (
        value is not None and value.const is not UNKNOWN and any(value.const is w or value.const == w for w in wanted)
    )


def number(value: Val | None) -> int | None:
    return value.const if value is not None and type(value.const) is int else None


ONLY_OPENS = re.compile(r"\.OpenFile\([^()]+,\s*(?:os\.O_(?!CREATE)[A-Z]+[\s|]*)+,[^,]*\)$")
"""Without O_CREATE no file is made, and the mode is not looked at."""
LITERAL = re.compile(r'`[^`]*`|"(?:\\.|[^"\\\n])*"')
ROOT = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def only_opens(site: Site) -> bool:
    return ONLY_OPENS.search(site.text()) is not None


def is_of_packages(site: Site) -> bool:
    """`template.HTML(fmt.Sprintf("… %s", version.Current.String()))`: nothing but constants and imported names."""
    return site.package_names().issuperset(ROOT.findall(LITERAL.sub("", site.text())))
