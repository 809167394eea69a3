"""What a language's rules about syntax are made of."""

from dataclasses import dataclass

from moot.scan.rule import CallRule, Check, Rule


@dataclass(frozen=True)
class Book:
    """The rules of one language."""

    calls: tuple[CallRule, ...] = ()
    checks: tuple[Check, ...] = ()
    checked: tuple[Rule, ...] = ()
    """What the checks may speak of."""
