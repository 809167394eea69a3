"""A debate as a user runs it: a script file that answers by what is asked for, and the command line for it."""

import json
from collections.abc import Mapping
from pathlib import Path

from debates import FIRST, LAST, TASK, Cast, code, points, scores

ASKED = {kind: head for head, kind in Cast.HEADS.items()}
Entry = Mapping[str, object]


def says(kind: str, *replies: object, seat: str | None = None, **more: object) -> list[Entry]:
    """Answers to one kind of question: one for all of them, or several, each for one question."""
    told = {"contains": ASKED[kind], **({"seat": seat} if seat else {}), **more}
    if len(replies) == 1 and "times" not in more:
        told["always"] = True
    return [{**told, **(reply if isinstance(reply, dict) else {"reply": reply})} for reply in replies]


def world(
    folder: Path,
    *answers: list[Entry],
    task: str = TASK,
    tests: str | None = None,
    more: tuple[str, ...] = (),
    spend: str = "fixed",
    model: tuple[str, ...] = ("-m", "script:replies.yaml"),
) -> list[str]:
    """The folder of a debate, and its command: every phase in turn, unless `spend` says otherwise. The plan of the work
    has tests of its own: here it is off."""
    (folder / "replies.yaml").write_text(json.dumps([entry for several in answers for entry in several]))
    given = ["--planning", "off", "--spend", spend, *model]
    if tests is not None:
        (folder / "test_solution.py").write_text(tests)
        given += ["--tests", "test_solution.py"]
    return ["debate", task, *given, "--quiet", *more]


OPEN = (
    "Write largest(numbers): the largest number of a list, or None for an empty one. "
    "largest([7]) -> 7, largest([4]) -> 4, largest([9]) -> 9"
)
"""Three examples, which the last, the first and the largest of a list all pass."""
QUIET = [*says("tests", "TESTS: NONE"), *says("points", points()), *says("scores", scores()), *says("reflect", "{}")]
TWO = [
    *says("code", code(LAST), seat="proposer"), *says("code", code(FIRST), seat="critic"),
    *says("code", "I cannot.", seat="reviewer"), *says("merge", code(LAST)),
]  # fmt: skip
"""Two answers that nothing tells apart."""
TESTS = """from solution import largest


def test_order():
    assert largest([3, 1, 2]) == 3


def test_empty():
    assert largest([]) is None
"""
