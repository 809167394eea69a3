"""The judges' questions and the shapes of their answers: the ballot of round 1, the rebuttal of round 2."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, ConfigDict, Field, create_model

from moot.core.room import Ask, Room, T
from moot.core.types import Value
from moot.protocols.decide.prompts import prompt
from moot.protocols.decide.questions.letters import option_named
from moot.protocols.decide.questions.values import Judge, Level, PanelQuestion, QuestionOption
from moot.text.excerpts import Fitted, fit_text, show
from moot.text.render import estimate_tokens, fence_text
from moot.text.replies import Aliases, ExampleKeys, instructions
from moot.text.replies.shape import require_all_fields

ADVISOR = "advisor"
REPLY_TOKENS = 700
CHOICE_LABELS = Aliases(
    "chosen_option", "recommended_option", "new_recommendation", "recommendation", "my_recommendation", "choice",
    "answer", "decision", "selected_option", "preferred_option", "option_id", "selection", "vote",
)  # fmt: skip
REASON_LABELS = Aliases(
    "reason", "reasoning", "rationale", "justification", "explanation", "argument", "why", "perspective", "summary"
)
NOTHING = re.compile(
    r"\W*(?:none|nothing|n/?a|null|no|not applicable|no change|unchanged|i (?:did not|didn't|have not) change.{0,60}|"
    r"i (?:keep|kept|maintain|stay).{0,80}|nothing convinced me.{0,40}|not convinced.{0,40})\W*",
    re.IGNORECASE | re.DOTALL,
)


class Ballot(Value):
    """A recommendation: the look at each option and the reasons come before the choice."""

    model_config = ConfigDict(json_schema_extra=require_all_fields)

    analysis: dict[str, str] = Field(default_factory=dict)
    reasons: str = ""
    option: str
    confidence: Level | None = None


class Stand(Protocol):
    @property
    def option(self) -> str: ...

    @property
    def reasons(self) -> str: ...


class JudgeRebuttal(Value):
    model_config = ConfigDict(title="Rebuttal", json_schema_extra=require_all_fields)  # recorded with each question

    challenges: dict[str, str]
    reasons: str = ""
    convinced_by: str = ""
    option: str
    confidence: Level | None = None


def ask_recommendation(question: PanelQuestion, judge: Judge, allowance: int) -> Ask[Ballot]:
    shape = ballot_for(question.options)
    text = prompt("recommend", title=judge.title, **_material(question, allowance), form=instructions(shape))
    return Ask(judge.name, "recommend", 1, system_of(judge), text, shape, REPLY_TOKENS)


def ask_advice(question: PanelQuestion, allowance: int) -> Ask[Ballot]:
    """One recommendation, for a question that needs no panel."""
    shape = ballot_for(question.options)
    text = prompt("recommend", title="adviser", **_material(question, allowance), form=instructions(shape))
    return Ask(ADVISOR, "advise", 1, prompt("advisor"), text, shape, REPLY_TOKENS)


def ask_rebuttal(
    question: PanelQuestion, judge: Judge, mine: Stand, others: Mapping[Judge, Stand], room: Room
) -> Ask[JudgeRebuttal]:
    """The judge's own recommendation and all others'. The question, its own reasons and those of each other judge share
    the space."""
    shape = rebuttal_for(question.options, tuple(other.name for other in others))
    share = max(int(room.allowance() / (len(others) + 2)), 1)
    reader = f"{judge.name}, round 2,"

    def reasons(name: str, stand: Stand) -> str:
        return fence_text(show(fit_text(name, stand.reasons, share), reader, room).join(), "text")

    positions = [
        f"{other.title} ({other.name}): option {stand.option}\n{reasons(f'the reasons of {other.name}', stand)}"
        for other, stand in others.items()
    ]
    show(fit_question(question, share).whole, reader, room)
    text = prompt(
        "counter",
        title=judge.title,
        **_material(question, share),
        mine=mine.option,
        own=reasons("its own reasons", mine),
        others="\n\n".join(positions),
        names=", ".join(other.name for other in others),
        form=instructions(shape),
    )
    return Ask(judge.name, "challenge", 2, system_of(judge), text, shape, REPLY_TOKENS)


def ask_about(ask: Ask[T], said: Stand, other: str) -> Ask[T]:
    """Ask again a judge whose reasons support another option than its choice."""
    reasons = fence_text(said.reasons, "text")
    return replace(ask, prompt=prompt("doubt", asked=ask.prompt, chosen=said.option, reasons=reasons, other=other))


def system_of(judge: Judge) -> str:
    return prompt(
        "judge", title=judge.title, stance=judge.stance, duty=judge.duty, looks_at=judge.looks_at, aim=judge.aim
    )


def _material(question: PanelQuestion, allowance: int) -> dict[str, str]:
    fits = fit_question(question, allowance)
    return {
        "id": question.id,
        "question": fits.text,
        "options": "\n".join(f"{o.id}. {text}" for o, text in zip(question.options, fits.options, strict=True)),
        "context": f"\nContext:\n{fence_text(fits.context, 'text')}\n" if fits.context else "",
    }


@dataclass(frozen=True)
class FittedQuestion:
    text: str
    options: tuple[str, ...]
    context: str
    whole: Fitted
    """All of it, and what is missing in words."""


def fit_question(question: PanelQuestion, allowance: int) -> FittedQuestion:
    """Half of a prompt for the question, a quarter for its options, the rest for the context."""
    text = fit_text("the question", question.text, allowance // 2)
    share = allowance // 4 // max(len(question.options), 1)
    options = [fit_text(f"option {option.id}", option.full_text, share) for option in question.options]
    used = sum(estimate_tokens(one.join()) for one in (text, *options))
    context = fit_text("the context", question.context, max(allowance - used, 1))
    every = (text, *options, context)
    whole = Fitted(
        tuple(part for one in every for part in one.parts), tuple(words for one in every for words in one.missing)
    )
    return FittedQuestion(text.join(), tuple(one.join() for one in options), context.join(), whole)


@lru_cache(maxsize=256)
def ballot_for(options: tuple[QuestionOption, ...]) -> type[Ballot]:
    """A ballot on these options; any other choice is rejected."""
    ids = [option.id for option in options]
    labels = Aliases("options", "option_analysis", "evaluation")
    fields: dict[str, Any] = {
        "analysis": (
            Annotated[dict[str, str], ExampleKeys(*ids), labels],
            Field(default={}, description="what you see in this option", json_schema_extra=_close_schema(ids)),
        ),
        "reasons": (
            Annotated[str, REASON_LABELS],
            Field(default="", description="why you recommend it, in one or two sentences"),
        ),
        "option": _choice(options),
        "confidence": (Level | None, Field(default=None)),
    }
    return create_model("BallotOn" + "".join(ids), __base__=Ballot, **fields)


@lru_cache(maxsize=256)
def rebuttal_for(options: tuple[QuestionOption, ...], others: tuple[str, ...]) -> type[JudgeRebuttal]:
    """A rebuttal that must challenge each of the others."""

    def complete(said: dict[str, str]) -> dict[str, str]:
        return match_challenges(said, others)

    labels = Aliases("challenge", "response_to_other_judges", "counter_arguments")
    fields: dict[str, Any] = {
        "challenges": (
            Annotated[dict[str, str], ExampleKeys(*others), labels, AfterValidator(complete)],
            Field(description="your counter-argument against this judge", json_schema_extra=_close_schema(others)),
        ),
        "reasons": (
            Annotated[str, REASON_LABELS],
            Field(default="", description="why you now recommend it, in one or two sentences"),
        ),
        "convinced_by": (
            Annotated[str, Aliases("what_convinced_me", "convinced", "what_convinced_you")],
            Field(default="", description="what exactly convinced you to change, or NONE"),
        ),
        "option": _choice(options),
        "confidence": (Level | None, Field(default=None)),
    }
    return create_model("RebuttalOn" + "".join(option.id for option in options), __base__=JudgeRebuttal, **fields)


def _choice(options: tuple[QuestionOption, ...]) -> tuple[object, object]:
    def resolve_option(said: str) -> str:
        return option_named(said, options)

    ids: list[Any] = [option.id for option in options]
    kind = Annotated[str, CHOICE_LABELS, AfterValidator(resolve_option)]
    return kind, Field(description=f"one of: {' | '.join(ids)}", json_schema_extra={"enum": ids})


def _close_schema(keys: Sequence[str]) -> dict[str, Any]:
    """A mapping with exactly these keys, for providers that enforce a schema."""
    properties = {key: {"type": "string"} for key in keys}
    return {"properties": properties, "required": list(keys), "additionalProperties": False}


def match_challenges(said: Mapping[str, str], others: Sequence[str]) -> dict[str, str]:
    """Challenges by judge; `ValueError` if one is missing."""
    known = {_plain(name): text for name, text in said.items()}
    found = {name: known.get(_plain(name), "").strip() for name in others}
    missing = [name for name, text in found.items() if not text or NOTHING.fullmatch(text)]
    if missing:
        raise ValueError(f"it does not challenge {' and '.join(missing)}; challenge each of {', '.join(others)}")
    return found


def _plain(name: str) -> str:
    """`Value Judge`, `the value judge`, `VALUE`: the same judge."""
    words = [word for word in re.findall(r"[a-z0-9]+", name.lower()) if word not in ("the", "judge", "s")]
    return "_".join(words)


def says_nothing(text: str) -> bool:
    return not text.strip() or bool(NOTHING.fullmatch(text.strip()))
