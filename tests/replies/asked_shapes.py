"""Every question that Moot puts to a model: where it is put, the form its prompt shows, the shape of its answer."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

import moot
from moot.protocols import positions
from moot.protocols.adversary import reply_shape
from moot.protocols.attack import RedReply
from moot.protocols.attempts import ReflectReply, SolveReply
from moot.protocols.ballots import ballot_for, rebuttal_for
from moot.protocols.defend import BlueReply
from moot.protocols.defender import Defence, Revision
from moot.protocols.examining import TestsReply
from moot.protocols.phases.anew import AnewReply
from moot.protocols.phases.claims import BlindReply, SpecReply
from moot.protocols.phases.clarify import AnswersReply, QuestionsReply
from moot.protocols.phases.converge import ballot_shape
from moot.protocols.phases.critique import CritiqueReply
from moot.protocols.phases.drafts import DraftReply, PositionReply
from moot.protocols.phases.optimize import MergeReply
from moot.protocols.phases.planned import PlanReply, SettleReply
from moot.protocols.phases.review import ReviewReply
from moot.questions import Option
from moot.replies import code_form, instructions

SOURCE = Path(moot.__file__).parent
OPTIONS = (Option(id="A", label="stay"), Option(id="B", label="move"))


@dataclass(frozen=True)
class Question:
    shape: type[BaseModel]
    form: str = ""
    """Where the prompt does not show the form of `instructions`."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Fields that hold one of a few words, though their type is text."""

    @property
    def shown(self) -> str:
        """The form without the sentence above it."""
        return self.form or instructions(self.shape).split("\n\n", 1)[1]


def with_code(shape: type[BaseModel]) -> Question:
    return Question(shape, code_form(shape, "python", "solution.py"))


CHALLENGES = [
    Question(reply_shape(kind, number))
    for kind in ("plan", "requirements", "roadmap", "verification")
    for number in (1, 2)
]
QUESTIONS: Mapping[str, list[Question]] = {
    "protocols/attempts.py ask_for_code": [with_code(SolveReply)],
    "protocols/attempts.py reflected": [Question(ReflectReply)],
    "protocols/ballots.py ask_recommendation": [Question(ballot_for(OPTIONS), only={"option": "B"})],
    "protocols/ballots.py ask_advice": [Question(ballot_for(OPTIONS), only={"option": "B"})],
    "protocols/ballots.py ask_rebuttal": [Question(rebuttal_for(OPTIONS, ("risk", "value")), only={"option": "B"})],
    "protocols/adversary.py challenged": CHALLENGES,
    "protocols/failing.py after_failure": [Question(positions.Diagnosis)],
    "protocols/failing.py ask_failure_critic": [Question(positions.BlindSpot)],
    "protocols/phases/converge.py ask_ballot": [Question(ballot_shape(("A", "B")), only={"ranking": "B"})],
    "protocols/phases/review.py ask_review": [Question(ReviewReply)],
    "protocols/phases/optimize.py ask_merge": [with_code(MergeReply)],
    "protocols/phases/optimize.py ask_position_merge": [Question(PositionReply)],
    "protocols/phases/critique.py ask_critique": [Question(CritiqueReply)],
    "protocols/phases/claims.py ask_tests": [Question(SpecReply)],
    "protocols/phases/claims.py ask_values": [Question(BlindReply)],
    "protocols/phases/anew.py ask_anew": [with_code(AnewReply)],
    "protocols/phases/planned.py ask": [Question(DraftReply), Question(PositionReply)],
    "protocols/phases/planned.py ask_plan": [Question(PlanReply)],
    "protocols/phases/planned.py ask_settle": [Question(SettleReply)],
    "protocols/phases/drafts.py ask_draft": [with_code(DraftReply)],
    "protocols/phases/drafts.py ask_position": [Question(PositionReply)],
    "protocols/phases/clarify.py ask_questions": [Question(QuestionsReply)],
    "protocols/phases/clarify.py ask_answers": [Question(AnswersReply)],
    "protocols/defend.py ask_blue": [Question(BlueReply)],
    "protocols/verdict.py settled": [Question(positions.Opinion)],
    "protocols/defender.py defended": [Question(Defence)],
    "protocols/defender.py revised": [Question(Revision)],
    "protocols/attack.py ask_red": [Question(RedReply)],
    "protocols/examining.py ask_for_tests": [Question(TestsReply)],
    "protocols/planning.py opening": [Question(positions.Claim)],
    "protocols/planning.py ask_critic": [Question(positions.Objection)],
    "protocols/planning.py exchange": [Question(positions.Claim), Question(positions.Rejoinder)],
}


def places_that_ask() -> set[str]:
    """Every function in the source that builds an `Ask`."""
    files = sorted(SOURCE.rglob("*.py"))
    return {f"{path.relative_to(SOURCE)} {name}" for path in files for name in _asking(ast.parse(path.read_text()))}


def _asking(tree: ast.AST, within: str = "the module") -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        inner = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else within
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Ask":
            yield inner
        yield from _asking(node, inner)
