"""What tests of the panel share: a file with a question, and judges that answer from a script."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

PANEL = ("risk", "value", "effort")
SAID = {"risk": "The risk is small.", "value": "Users gain most.", "effort": "It is little work."}
SCOPE = """
debate_context:
  question_id: "SQ-1"
  question_text: "Do we need offline work in v1?"
  options:
    - {id: "A", label: "Full offline", description: "with sync"}
    - {id: "B", label: "Online only", description: "needs a signal"}
    - {id: "C", label: "Drafts", description: "sent later"}
  spec_context: "Lift inspectors work in basements."
"""
COLOUR = """
debate_context:
  question_id: "UX-1"
  question_text: "What colour has the button?"
  options: [{id: A, label: Red}, {id: B, label: Blue}]
"""


def ballot(seat: str, option: str, reasons: str = "") -> str:
    return json.dumps({"reasons": reasons or SAID[seat], "option": option, "confidence": "HIGH"})


def rebuttal(seat: str, option: str, convinced_by: str = "NONE") -> str:
    challenges = {other: f"{other} overlooks the basement" for other in PANEL if other != seat}
    said = {"challenges": challenges, "reasons": SAID[seat], "convinced_by": convinced_by, "option": option}
    return json.dumps(said)


def entry(seat: str, number: int, reply: str) -> dict[str, object]:
    return {"seat": seat, "round": number, "reply": reply}


def script(folder: Path, first: str, second: str = "", convinced: str = "sync takes months to get right") -> str:
    """A script in which the judges choose these letters; gives the model's name."""
    entries = [entry(seat, 1, ballot(seat, option)) for seat, option in zip(PANEL, first, strict=True)]
    for seat, before, after in zip(PANEL, first, second or "", strict=bool(second)):
        entries.append(entry(seat, 2, rebuttal(seat, after, convinced if before != after else "NONE")))
    return write_script(folder, entries)


def write_script(folder: Path, entries: Sequence[Mapping[str, object]], name: str = "replies.yaml") -> str:
    (folder / name).write_text(json.dumps(list(entries)))
    return f"script:{name}"


def data(out: str) -> dict[str, object]:
    """What a command printed as JSON."""
    return dict(json.loads(out))
