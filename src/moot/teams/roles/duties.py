"""What each shipped role does in a debate, and when it has nothing to do there."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

CODE = "there is no code to {verb}: this is a topic"


@dataclass(frozen=True)
class Duty:
    phases: tuple[str, ...]
    act: str
    by: Literal["model", "tools", "both"] = "model"
    """Whether a model is asked for it, or tools say it all."""
    verb: str = ""
    """What it does with code; empty: it has work in a topic too."""
    runs: bool = False
    """Whether it needs something that can be run: calls of Python code, or tests."""
    spare: bool = False
    """Whether the role is there for its own phases only. The others also draft where drafts are wanted."""


@dataclass(frozen=True)
class TaskTraits:
    """What is known of a task before anybody works on it."""

    code: bool = True
    language: str = "python"
    tested: bool = False
    files: bool = False
    phases: Collection[str] | None = None
    """The phases that are held; None: not known yet."""


DUTIES: Mapping[str, Duty] = {
    "architect": Duty(("dehallucination", "review"), "plans the work, answers what is unclear, scores candidates"),
    "blue_team": Duty(("adversarial",), "patches what the red team found", verb="patch", spare=True),
    "compiler": Duty(
        ("self_evolvement", "proposal"),
        "checks that every candidate parses and loads; one that does not parse is set aside if another does",
        by="tools", verb="compile", spare=True,
    ),
    "critic": Duty(("critique",), "makes points with evidence and brings breaking tests"),
    "designer": Duty(
        ("self_evolvement", "proposal"), "gives the shape that drafts follow: names, parts, edge cases", spare=True
    ),
    "executor": Duty(
        ("self_evolvement", "proposal"), "runs every candidate on the same calls and reports where they differ",
        by="tools", verb="run", runs=True, spare=True,
    ),
    "generator": Duty(("self_evolvement", "proposal"), "drafts"),
    "implementer": Duty(("self_evolvement", "proposal"), "drafts, by the designer's shape and the plan"),
    "judge": Duty(("review",), "scores candidates by the rubric", spare=True),
    "moderator": Duty(("dehallucination", "convergence"), "answers what is unclear, leads the vote"),
    "optimizer": Duty(("optimization",), "makes one better solution of the best parts"),
    "performance_analyzer": Duty(
        ("review",), "times every candidate on the same calls, and scores candidates", by="both", verb="time",
        runs=True, spare=True,
    ),
    "proposer": Duty(("dehallucination", "self_evolvement", "proposal"), "asks what is unclear, drafts"),
    "red_team": Duty(("critique", "adversarial"), "attacks candidates"),
    "refactorer": Duty(
        ("optimization",), "rewrites the leader; kept only if it behaves the same", verb="refactor", runs=True,
        spare=True,
    ),
    "reviewer": Duty(("review",), "scores candidates by the rubric"),
    "security": Duty(("critique",), "scans every candidate, and attacks it", by="both", verb="attack", spare=True),
    "teacher": Duty(("convergence",), "writes the lesson for later sessions", verb="learn from", spare=True),
    "test_agent": Duty(
        ("self_evolvement", "proposal"), "writes tests from the task's words, without seeing code", verb="test",
        spare=True,
    ),
    "validator": Duty(
        ("critique",), "checks claims against the task's words; a point that quotes none of them is set aside",
        spare=True,
    ),
}  # fmt: skip


def reason_not_to_seat(role: str, task: TaskTraits) -> str:
    """Why this role has nothing to do in this task; empty if it has. A role of your own always has: it drafts and
    votes."""
    duty = DUTIES.get(role)
    if duty is None:
        return ""
    if duty.verb and not task.code:
        return CODE.format(verb=duty.verb)
    if role == "validator" and not task.code and not task.files:
        return "a topic without files has no words that a claim could be checked against"
    if duty.runs and task.language != "python" and not task.tested:
        return f"it makes calls of Python only, and there are no {task.language} tests"
    if duty.spare and task.phases is not None and not set(duty.phases) & set(task.phases):
        return f"{' and '.join(duty.phases)} {'is' if len(duty.phases) == 1 else 'are'} not held"
    return ""
