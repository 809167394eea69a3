"""What tests of `solve` share: a task, right and wrong code for it, and the replies of a coder and a reflector."""

import json
from pathlib import Path

TASK = "Write largest(numbers): the largest number of a list, or None for an empty one. largest([1, 3]) -> 3"
RIGHT = "def largest(numbers):\n    return max(numbers, default=None)\n"
WRONG = "def largest(numbers):\n    return max(numbers)\n"
WORSE = "def largest(numbers):\n    return 0\n"
TESTS = """from solution import largest


def test_some():
    assert largest([1, 3, 2]) == 3


def test_one():
    assert largest([7]) == 7


def test_empty():
    assert largest([]) is None
"""
CHANGE = "Check whether the list is empty before taking the largest number of it in `largest`."
REFUSAL = "I'm sorry, but I can't help with that."


def code(text: str) -> str:
    return f"Here it is.\n\nCODE:\nFILE: solution.py\n```python\n{text}```\n"


def reflection(change: str = CHANGE, confidence: float = 0.8) -> str:
    said = {
        "what_went_wrong": "It fails on an empty list.",
        "root_cause": "max raises ValueError when there is nothing.",
        "what_to_change": change,
        "confidence": confidence,
    }
    return json.dumps(said)


def coder(*replies: object, **more: object) -> list[dict[str, object]]:
    return [_entry("coder", reply, more) for reply in replies]


def reflector(*replies: object, **more: object) -> list[dict[str, object]]:
    return [_entry("reflector", reply, more) for reply in replies]


def _entry(seat: str, reply: object, more: dict[str, object]) -> dict[str, object]:
    said = reply if isinstance(reply, dict) else {"reply": reply}
    return {"seat": seat, **said, **more}


def world(folder: Path, *entries: dict[str, object], tests: str | None = TESTS) -> list[str]:
    """The folder of a session, and its command."""
    (folder / "replies.yaml").write_text(json.dumps(list(entries)))
    given = []
    if tests is not None:
        (folder / "test_solution.py").write_text(tests)
        given = ["--tests", "test_solution.py"]
    return ["solve", TASK, *given, "-m", "script:replies.yaml", "--json", "--quiet"]
