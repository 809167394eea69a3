"""The router's answer: class, stakes, and whether a debate may be skipped."""

from typing import Literal, NamedTuple

Kind = Literal["ANSWER", "ACTION"]
Stakes = Literal["low", "medium", "high"]
Level = Literal["read", "low", "medium", "high"]
"""How far something reaches; `read` changes nothing."""

ORDER: dict[str, int] = {"read": 0, "low": 1, "medium": 2, "high": 3}

GUARD = "guard"
"""The group of actions that would weaken Moot itself or a coding client's settings."""


class Route(NamedTuple):
    kind: Kind
    stakes: Stakes
    bypass: bool
    """No debate is needed: nothing changes, or a person waived it."""
    reason: str
    triggers: tuple[str, ...] = ()
    """What raised the stakes: `destructive: rm -rf`, `bulk: all`."""
    security: bool = False
    recognised: bool = True
    """False if the text neither asks a question nor names an action that is known."""

    @property
    def is_harmless(self) -> bool:
        """Words that are not recognised pass as conversation, but not as an action."""
        return self.bypass and self.recognised

    def waive(self, reason: str) -> "Route":
        """Skip the debate for a reason outside the text: a switch in the settings."""
        return self._replace(bypass=True, reason=reason)

    def waive_by_person(self, reason: str) -> "Route":
        """Skip the debate because the person said so; never at high stakes."""
        return self if self.stakes == "high" else self.waive(reason)


class Sight(NamedTuple):
    """One observation about a command or a phrase."""

    level: Level
    group: str = ""
    """destructive, deployment, security, guard, bulk, scope, unclear, process or change; empty if harmless."""
    what: str = ""
    why: str = ""

    @property
    def trigger(self) -> str:
        return f"{self.group}: {self.what}" if self.group and self.what else self.group


def highest_sight(sights: list[Sight]) -> Sight:
    return max(sights, key=lambda s: ORDER[s.level])


def action(sights: list[Sight]) -> Route:
    top = highest_sight(sights)
    stakes: Stakes = "low" if top.level == "read" else top.level
    telling = sorted(
        (s for s in sights if s.group and s.level != "read"), key=lambda s: (-ORDER[s.level], s.group != GUARD)
    )  # name the guard first, so that a long list cannot push it out
    triggers = tuple(dict.fromkeys(s.trigger for s in telling))[:12]
    reason = top.why or ("it only reads" if top.level == "read" else "nothing in it raises the stakes")
    return Route("ACTION", stakes, top.level == "read", reason, triggers, any(s.group == "security" for s in telling))


def guards(route: Route) -> bool:
    """Whether it would change Moot's or a coding client's settings, or decide its own gate."""
    return any(trigger == GUARD or trigger.startswith(f"{GUARD}: ") for trigger in route.triggers)
