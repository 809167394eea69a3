"""What the tests of reviews share: a small artefact, and the replies of an adversary and a defender."""

import json
from pathlib import Path
from typing import Any

from conftest import Ran

REQUIREMENTS = """# Requirements

## v1

- [ ] **AB-01**: Visitor can book a free berth by email
- [ ] **AB-02**: Harbour master can delete any booking at any time
"""
REVISED = REQUIREMENTS + "- [ ] **AB-03**: Visitor can cancel a booking by a link\n"
PROJECT = "# Berthbook\n\nA service for one harbour.\n"
STATE = "# State\n\n## Accumulated Context\n\n### Decisions\n\n- [Phase 1]: old\n"
FILE = ".planning/REQUIREMENTS.md"
CONCERN = "Nobody can cancel a booking"


def challenge(
    concern: str = CONCERN,
    evidence: str = "No requirement mentions cancelling",
    category: str = "completeness",
    severity: str = "critical",
) -> dict[str, object]:
    advice = "Add a requirement for it"
    return {
        "concern": concern,
        "evidence": evidence,
        "recommendation": advice,
        "category": category,
        "severity": severity,
    }


def raised(*challenges: dict[str, object]) -> str:
    return json.dumps({"challenges": list(challenges)})


def rebuttal(
    states: dict[str, str], *challenges: dict[str, object], convergence: str = "continue", notes: str = "so"
) -> str:
    assessment = [{"previous_challenge": i, "notes": notes, "status": s} for i, s in states.items()]
    return json.dumps({"assessment": assessment, "challenges": list(challenges), "convergence": convergence})


def answers(**said: str) -> str:
    entries = [{"challenge": i, "reason": f"because of {i}", "change": "add it", "answer": a} for i, a in said.items()]
    return json.dumps({"answers": entries})


def revision(text: str = REVISED) -> str:
    return f"REVISED:\n```markdown\n{text}```\n"


def project(folder: Path, text: str = REQUIREMENTS) -> Path:
    """A planning folder with one artefact in it."""
    home = folder / ".planning"
    home.mkdir(parents=True, exist_ok=True)
    (home / "REQUIREMENTS.md").write_text(text)
    (home / "PROJECT.md").write_text(PROJECT)
    (home / "STATE.md").write_text(STATE)
    return home


def script(folder: Path, adversary: list[object], defender: list[object] | None = None) -> list[str]:
    """Flags that seat an adversary and a defender with these replies, in this order."""
    entries = [{"seat": "adversary", **_entry(reply)} for reply in adversary]
    entries += [{"seat": "defender", **_entry(reply)} for reply in defender or []]
    (folder / "replies.yaml").write_text(json.dumps(entries))
    return ["-m", "script:replies.yaml"]


def _entry(reply: object) -> dict[str, object]:
    return dict(reply) if isinstance(reply, dict) else {"reply": reply}


def reviewed(ran: Ran) -> dict[str, Any]:
    result = json.loads(ran.out)
    (one,) = result["artefacts"]
    return {**one, "degraded": result["degraded"], "calls": result["calls"], "session_id": result["session_id"]}


MINOR = challenge("The words differ", '"delete any booking"', "user focus", "minor")
WEIGHTLESS = challenge("It is a detail", '"by email"', "scope creep", "significant")
LOGIC = challenge("The two contradict", '"delete any booking at any time"', "conflicts", "significant")
NONE = raised()
