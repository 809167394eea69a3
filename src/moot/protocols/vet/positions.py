"""Positions of the advocate and the critic: reasons first, then the choice."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from moot.core.types import Unit, Value
from moot.text.replies import Aliases, Synonyms
from moot.text.replies.shape import require_all_fields

Grade = Literal["low", "medium", "high"]
GRADES = Synonyms(
    (
        ("critical", "high"), ("severe", "high"), ("major", "high"), ("grave", "high"), ("serious", "high"),
        ("extreme", "high"), ("moderate", "medium"), ("minor", "low"), ("none", "low"), ("negligible", "low"),
        ("minimal", "low"),
    )
)  # fmt: skip


class Position(Value):
    model_config = ConfigDict(json_schema_extra=require_all_fields)


class Claim(Position):
    """The advocate of a plan."""

    supports: Annotated[tuple[str, ...], Aliases("support", "reasons", "arguments", "evidence")] = Field(
        default=(), description="a reason why the action is right, one sentence", json_schema_extra={"maxItems": 4}
    )
    claim: Annotated[str, Aliases("position", "statement", "answer")] = Field(
        min_length=1, description="why the action should go ahead, one sentence"
    )
    confidence: Annotated[Unit | None, Aliases("certainty")] = Field(
        default=None, description="from 0.0 to 1.0, how sure you are"
    )


class Objection(Position):
    """The critic of a plan."""

    objection: Annotated[str, Aliases("claim", "criticism", "concern", "challenge")] = Field(
        min_length=1, description="what is wrong with the action, one sentence"
    )
    risks: Annotated[tuple[str, ...], Aliases("dangers", "threats")] = Field(
        default=(), description="a thing that can go wrong", json_schema_extra={"maxItems": 4}
    )
    counter: Annotated[
        str, Aliases("counter_proposal", "alternative", "mitigation", "suggestion", "recommendation")
    ] = Field(default="", description="what exactly to change or to do first, as an instruction")
    severity: Annotated[Grade, GRADES, Aliases("level", "risk_level", "rating")]


class Rejoinder(Position):
    """The critic after the advocate's answer."""

    reason: Annotated[str, Aliases("objection", "explanation", "rationale", "why")] = Field(
        min_length=1, description="what the answer settles or leaves open, one sentence"
    )
    decision: Annotated[
        Literal["withdraw", "hold"],
        Synonyms(
            (("withdr", "withdraw"), ("drop", "withdraw"), ("maintain", "hold"), ("keep", "hold"), ("stand", "hold"))
        ),
        Aliases("stance", "position", "verdict"),
    ]
    severity: Annotated[Grade, GRADES, Aliases("level", "risk_level", "rating")]


class Diagnosis(Position):
    """The advocate of one more attempt."""

    diagnosis: Annotated[str, Aliases("cause", "root_cause", "analysis")] = Field(
        min_length=1, description="why the attempts failed, one sentence"
    )
    fix: Annotated[str, Aliases("solution", "proposal", "next_step")] = Field(
        min_length=1, description="what to do now, as an instruction"
    )
    diff_from_previous: Annotated[
        str, Aliases("diff", "difference", "what_is_different", "difference_from_previous")
    ] = Field(min_length=1, description="how this differs from the attempts so far, one sentence")
    confidence: Annotated[Unit | None, Aliases("certainty")] = Field(
        default=None, description="from 0.0 to 1.0, how sure you are"
    )


class BlindSpot(Position):
    """The critic of one more attempt."""

    pattern: Annotated[str, Aliases("pattern_identified", "common_pattern")] = Field(
        min_length=1, description="what the failures have in common, one sentence"
    )
    blind_spot: Annotated[str, Aliases("blindspot", "overlooked", "missed")] = Field(
        default="", description="what the advocate overlooks; NONE if nothing"
    )
    alternatives: Annotated[tuple[str, ...], Aliases("alternative", "other_approaches", "options")] = Field(
        default=(), description="a different approach, as an instruction", json_schema_extra={"maxItems": 3}
    )
    escalate_reason: Annotated[str, Aliases("escalation_reason")] = Field(
        default="", description="what only a person can give or decide; NONE if nothing"
    )
    should_escalate: Annotated[bool, Aliases("escalate", "escalation")] = Field(description="must a person take over")


class Opinion(Position):
    """An answer to one question that the rules could not settle."""

    reason: str = Field(default="", description="why, one short sentence")
    answer: Annotated[bool, Aliases("verdict", "decision")] = Field(description="your answer")
