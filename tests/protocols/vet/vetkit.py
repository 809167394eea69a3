"""What the tests of vet share: positions in a few words, and a debate on a live room with a script."""

import asyncio
import json
from collections.abc import Mapping, Sequence

from kit import make_ports

from moot.core.types import Limits
from moot.protocols.vet.script import VetInput, VetResult, VetRules, vet
from moot.runtime.room import LiveRoom
from moot.testing import FrozenClock, Line, ScriptedModel, room

ACTION = "drop the table sessions in production"
TASK = "import the price list"
REMEDY = "Take a backup and restore it as a test first"
VAGUE = "be careful"
UNCLEAR = "Daylight hours only"


def claim(confidence: float | None = 0.9, text: str = "Sessions are cheap to rebuild") -> str:
    return json.dumps({"supports": ["Users only log in again"], "claim": text, "confidence": confidence})


def objection(severity: str = "high", counter: str = REMEDY, text: str = "Carts are stored in that table") -> str:
    return json.dumps({"objection": text, "risks": ["lost carts"], "counter": counter, "severity": severity})


def rejoinder(decision: str, severity: str, reason: str = "The answer speaks of carts") -> str:
    return json.dumps({"reason": reason, "decision": decision, "severity": severity})


def diagnosis(diff: str = "A different parser is used instead of the old one", fix: str = "Read it as latin-1") -> str:
    said = {"diagnosis": "The file is not UTF-8", "fix": fix, "diff_from_previous": diff, "confidence": 0.7}
    return json.dumps(said)


def blind_spot(
    pattern: str = "Both attempts changed the parser",
    overlooked: str = "NONE",
    *alternatives: str,
    escalate: bool = False,
) -> str:
    return json.dumps(
        {"pattern": pattern, "blind_spot": overlooked, "alternatives": list(alternatives), "escalate_reason": "NONE",
         "should_escalate": escalate}
    )  # fmt: skip


def opinion(answer: bool) -> str:
    return json.dumps({"reason": "so it seems", "answer": answer})


def run_vet(
    script: Mapping[str, Sequence[Line]],
    stakes: str = "high",
    rounds: int = 1,
    limits: Limits | None = None,
    **given: object,
) -> tuple[VetResult, ScriptedModel, LiveRoom]:
    rules, model = VetRules(rounds=rounds), ScriptedModel(script)
    live = room(dict.fromkeys(script, model), make_ports(FrozenClock()), limits, rules.timeout)
    asked = VetInput.model_validate({"action": ACTION, "stakes": stakes, **given})
    result = asyncio.run(vet(asked, rules, live))
    model.assert_finished()
    return result, model, live


def run_failure(
    script: Mapping[str, Sequence[Line]], limits: Limits | None = None, **given: object
) -> tuple[VetResult, ScriptedModel, LiveRoom]:
    tried = {
        "kind": "failure",
        "action": TASK,
        "attempts": ("changed the delimiter", "raised the timeout"),
        "errors": ("UnicodeDecodeError: bad byte in position 3", "UnicodeDecodeError: bad byte in position 9"),
    }
    return run_vet(script, "medium", 1, limits, **{**tried, **given})
