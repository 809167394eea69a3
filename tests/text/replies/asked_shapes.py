"""Every question that Moot puts to a model: where it is put, the form its prompt shows, the shape of its answer."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

import moot
from moot.protocols.debate.delegation import DelegationReply
from moot.protocols.debate.hearing import RelayReply
from moot.protocols.debate.phases.claims import BlindReply, SpecReply
from moot.protocols.debate.phases.clarify import AnswersReply, QuestionsReply
from moot.protocols.debate.phases.converge import ballot_shape
from moot.protocols.debate.phases.criteria import CriteriaReply
from moot.protocols.debate.phases.critique import CritiqueReply
from moot.protocols.debate.phases.deepen import ArgumentReply
from moot.protocols.debate.phases.drafts import DraftReply, PositionReply
from moot.protocols.debate.phases.lesson import LessonReply
from moot.protocols.debate.phases.optimize import MergeReply
from moot.protocols.debate.phases.order import OrderReply
from moot.protocols.debate.phases.planning import PlanReply, SettleReply
from moot.protocols.debate.phases.redraft import AnewReply
from moot.protocols.debate.phases.refactor import RefactorReply
from moot.protocols.debate.phases.review import ReviewReply
from moot.protocols.debate.phases.shape import ShapeReply
from moot.protocols.debate.phases.validate import QuoteReply
from moot.protocols.decide.ballots import ballot_for, rebuttal_for
from moot.protocols.decide.questions.values import QuestionOption
from moot.protocols.harden.attack import RedReply
from moot.protocols.harden.defend import BlueReply
from moot.protocols.review.adversary import reply_shape
from moot.protocols.review.changes import PointAnswers, PointList
from moot.protocols.review.defender import Defence, Revision
from moot.protocols.solve.attempts import ReflectReply, SolveReply
from moot.protocols.vet import positions
from moot.text.replies import code_form, instructions

SOURCE = Path(moot.__file__).parent
OPTIONS = (QuestionOption(id="A", label="stay"), QuestionOption(id="B", label="move"))


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
    "protocols/solve/attempts.py ask_for_code": [with_code(SolveReply)],
    "protocols/solve/attempts.py reflect_on_failure": [Question(ReflectReply)],
    "protocols/decide/ballots.py ask_recommendation": [Question(ballot_for(OPTIONS), only={"option": "B"})],
    "protocols/decide/ballots.py ask_advice": [Question(ballot_for(OPTIONS), only={"option": "B"})],
    "protocols/decide/ballots.py ask_rebuttal": [
        Question(rebuttal_for(OPTIONS, ("risk", "value")), only={"option": "B"})
    ],
    "protocols/review/adversary.py challenge_artefact": CHALLENGES,
    "protocols/review/changes.py ask_reviewer": [Question(PointList)],
    "protocols/review/changes.py ask_author": [Question(PointAnswers)],
    "protocols/vet/failure_debate.py after_failure": [Question(positions.Diagnosis)],
    "protocols/vet/failure_debate.py ask_failure_critic": [Question(positions.BlindSpot)],
    "protocols/debate/phases/converge.py ask_ballot": [Question(ballot_shape(("A", "B")), only={"ranking": "B"})],
    "protocols/debate/phases/review.py ask_review": [Question(ReviewReply)],
    "protocols/debate/phases/optimize.py ask_merge": [with_code(MergeReply)],
    "protocols/debate/phases/optimize.py ask_position_merge": [Question(PositionReply)],
    "protocols/debate/phases/critique.py ask_critique": [Question(CritiqueReply)],
    "protocols/debate/phases/claims.py ask_tests": [Question(SpecReply)],
    "protocols/debate/phases/claims.py ask_values": [Question(BlindReply)],
    "protocols/debate/phases/redraft.py ask_anew": [with_code(AnewReply)],
    "protocols/debate/phases/planning.py ask": [Question(DraftReply), Question(PositionReply)],
    "protocols/debate/phases/planning.py ask_plan": [Question(PlanReply)],
    "protocols/debate/phases/planning.py ask_settle": [Question(SettleReply)],
    "protocols/debate/phases/drafts.py ask_draft": [with_code(DraftReply)],
    "protocols/debate/phases/drafts.py ask_position": [Question(PositionReply)],
    "protocols/debate/phases/clarify.py ask_questions": [Question(QuestionsReply)],
    "protocols/debate/phases/clarify.py ask_answers": [Question(AnswersReply)],
    "protocols/debate/delegation.py ask_delegation": [Question(DelegationReply)],
    "protocols/debate/hearing.py ask_relay": [Question(RelayReply)],
    "protocols/debate/phases/criteria.py ask_criteria": [Question(CriteriaReply)],
    "protocols/debate/phases/deepen.py ask_argument": [Question(ArgumentReply)],
    "protocols/debate/phases/lesson.py ask_lesson": [Question(LessonReply)],
    "protocols/debate/phases/order.py ask_order": [Question(OrderReply, only={"order": "2"})],
    "protocols/debate/phases/refactor.py ask_rewrite": [with_code(RefactorReply)],
    "protocols/debate/phases/shape.py ask_shape": [Question(ShapeReply)],
    "protocols/debate/phases/validate.py ask_quotes": [Question(QuoteReply)],
    "protocols/harden/defend.py ask_blue": [Question(BlueReply)],
    "protocols/vet/verdict.py is_settled": [Question(positions.Opinion)],
    "protocols/review/defender.py defend_artefact": [Question(Defence)],
    "protocols/review/defender.py revise_artefact": [Question(Revision)],
    "protocols/harden/attack.py ask_red": [Question(RedReply)],
    "protocols/vet/plan_debate.py opening": [Question(positions.Claim)],
    "protocols/vet/plan_debate.py ask_critic": [Question(positions.Objection)],
    "protocols/vet/plan_debate.py exchange": [Question(positions.Claim), Question(positions.Rejoinder)],
}


def places_that_ask() -> set[str]:
    """Every function in the source that builds an `Ask` for a model; a turn of tool calls asks none."""
    files = sorted(path for path in SOURCE.rglob("*.py") if path.name != "tool_calls.py")
    return {f"{path.relative_to(SOURCE)} {name}" for path in files for name in _asking(ast.parse(path.read_text()))}


def _asking(tree: ast.AST, within: str = "the module") -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        inner = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else within
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Ask":
            yield inner
        yield from _asking(node, inner)
