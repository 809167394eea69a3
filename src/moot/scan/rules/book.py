"""The syntax rules of a language."""

from dataclasses import dataclass

from moot.scan.rule import CallRule, Check, Rule


@dataclass(frozen=True)
class Book:
    calls: tuple[CallRule, ...] = ()
    checks: tuple[Check, ...] = ()
    checked: tuple[Rule, ...] = ()
    """Rules that the checks report."""
