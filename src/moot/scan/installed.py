"""Finds the packages that bring scan rules: entry points `moot.rules`."""

from functools import cache
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

from moot.core.plugins import list_plugins

if TYPE_CHECKING:
    from moot.scan.plugin_rules import RulePack

GROUP = "moot.rules"


@cache
def load_rule_packs() -> "tuple[tuple[EntryPoint, RulePack], ...]":
    """With the entry point of each. Entry points are read once per process; without any, nothing is loaded."""
    points = list_plugins(GROUP)
    if not points:
        return ()
    from moot.scan.plugin_rules import load_packs  # with the rules of all languages

    return load_packs(points)
