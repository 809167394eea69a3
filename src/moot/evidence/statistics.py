"""Statistics of debates: how many, about what, which resolutions worked, which were unnecessary."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol


class DebateOutcome(Protocol):
    @property
    def type(self) -> str: ...
    @property
    def resolution(self) -> str: ...
    @property
    def category(self) -> str: ...
    @property
    def outcome(self) -> str | None: ...
    @property
    def helped(self) -> bool | None: ...
    @property
    def auto(self) -> bool: ...


CHANGED = ("MODIFY", "RETRY", "PIVOT")


def has_helped(resolution: str, outcome: str) -> bool | None:
    """Whether a debate was worth it, judged by resolution and outcome; None for an escalation."""
    if resolution == "ESCALATE":
        return None
    return resolution in CHANGED and outcome == "success"


@dataclass(frozen=True)
class Worked:
    resolution: str
    debates: int
    success: int
    failure: int
    unknown: int


@dataclass(frozen=True)
class Tally:
    debates: int
    by_type: dict[str, int]
    by_category: dict[str, int]
    worked: tuple[Worked, ...]
    needless: int
    """Debates that approved the action unchanged, which then succeeded."""
    needless_rate: float | None
    """Share of the debates with a known outcome; None if there are none."""
    helped: int
    escalations: int
    automatic: int
    """Escalations without a debate."""


def tally(debates: Sequence[DebateOutcome]) -> Tally:
    held = [d for d in debates if not d.auto]
    known = [d for d in held if d.outcome]
    needless = [d for d in known if d.resolution == "PROCEED" and d.outcome == "success" and not d.helped]
    return Tally(
        debates=len(held),
        by_type=_count_names(d.type or "unknown" for d in held),
        by_category=_count_names(d.category or "other" for d in held),
        worked=tuple(_count_worked(name, held) for name in ("PROCEED", *CHANGED, "ESCALATE")),
        needless=len(needless),
        needless_rate=round(len(needless) / len(known), 3) if known else None,
        helped=sum(1 for d in held if d.helped),
        escalations=sum(1 for d in debates if d.resolution == "ESCALATE"),
        automatic=sum(1 for d in debates if d.auto),
    )


def _count_worked(resolution: str, debates: Sequence[DebateOutcome]) -> Worked:
    own = [d for d in debates if d.resolution == resolution]
    success = sum(1 for d in own if d.outcome == "success")
    failure = sum(1 for d in own if d.outcome == "failure")
    return Worked(resolution, len(own), success, failure, len(own) - success - failure)


def _count_names(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
