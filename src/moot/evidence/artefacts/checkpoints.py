"""`.planning/config.json`: which reviews a project wants, and how many rounds."""

import json
from dataclasses import dataclass

from moot.evidence.artefacts.values import ArtefactType

MOST_ROUNDS = 3
"""Upper limit, whatever a configuration says."""
ALSO: dict[ArtefactType, tuple[str, ...]] = {
    "requirements": ("requirements", "requirement"),
    "roadmap": ("roadmap", "roadmaps"),
    "plan": ("plan", "plans"),
    "verification": ("verification", "verifications"),
}


@dataclass(frozen=True)
class Checkpoint:
    enabled: bool = True
    max_rounds: int | None = None
    why: str = ""
    problems: tuple[str, ...] = ()
    """What in the file was ignored."""


def checkpoint(text: str | None, kind: ArtefactType) -> Checkpoint:
    """The configuration for this type of artefact. A missing or broken file switches nothing off."""
    if text is None:
        return Checkpoint()
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        return Checkpoint(problems=("config.json is not valid JSON; it was not used",))
    if not isinstance(config, dict):
        return Checkpoint(problems=("config.json holds no object; it was not used",))
    problems: list[str] = []
    adversary = _table(config, "adversary", problems)
    workflow = _table(config, "workflow", problems)
    for table, name, key in ((workflow, "workflow", "adversary"), (adversary, "adversary", "enabled")):
        if table.get(key) is False:
            return Checkpoint(enabled=False, why=f"{name}.{key} is false in config.json")
        if table.get(key) not in (None, True):
            problems.append(f"{name}.{key} in config.json is neither true nor false; it was not used")
    on, own = _of_type(adversary.get("checkpoints"), kind, problems)
    if not on:
        return Checkpoint(enabled=False, why=f"adversary.checkpoints in config.json leaves {kind} out")
    rounds = _rounds(own, problems) or _rounds(adversary.get("max_rounds"), problems)
    return Checkpoint(max_rounds=rounds, problems=tuple(problems))


def _table(config: dict[str, object], key: str, problems: list[str]) -> dict[str, object]:
    value = config.get(key, {})
    if isinstance(value, dict):
        return value
    problems.append(f"{key} in config.json is no object; it was not used")
    return {}


def _of_type(said: object, kind: ArtefactType, problems: list[str]) -> tuple[bool, object]:
    """Whether this type is reviewed, and its own number of rounds if any."""
    if said is None:
        return True, None
    if isinstance(said, list):
        return any(str(entry).lower() in ALSO[kind] for entry in said), None
    if not isinstance(said, dict):
        problems.append("adversary.checkpoints in config.json is neither list nor object; it was not used")
        return True, None
    own = next((said[name] for name in ALSO[kind] if name in said), True)
    if isinstance(own, bool):
        return own, None
    if isinstance(own, dict):
        return own.get("enabled", True) is not False, own.get("max_rounds")
    problems.append(
        f"adversary.checkpoints.{kind} in config.json is neither true, false nor an object; it was not used"
    )
    return True, None


def _rounds(said: object, problems: list[str]) -> int | None:
    if said is None:
        return None
    if isinstance(said, int) and not isinstance(said, bool) and said >= 1:
        return min(said, MOST_ROUNDS)
    problems.append(f"max_rounds {said!r} in config.json is no number of rounds; it was not used")
    return None
