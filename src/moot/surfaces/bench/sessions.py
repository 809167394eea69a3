"""The session of a task in an arm: how it is planned, and what it answers."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from moot.core.ports import Sandbox
from moot.core.types import Limits, Result
from moot.protocols import PROTOCOLS
from moot.protocols.debate.types import Candidate, DebateResult, DebateRules
from moot.protocols.decide.questions.values import PanelQuestion, QuestionOption
from moot.protocols.decide.script import DecideResult
from moot.protocols.harden.script import HardenResult
from moot.runtime.runner import SessionPlan, cut_by
from moot.surfaces.bench.choosing import choose_code, choose_letter
from moot.surfaces.bench.judges import find_label, find_letter
from moot.surfaces.bench.rows import ArmPlan, RunPlan
from moot.surfaces.bench.tasks import LETTERS, BenchTask
from moot.surfaces.extensions import find_extension
from moot.surfaces.session.plans import Request
from moot.surfaces.session.settings import Settings
from moot.teams.roles import Agent
from moot.teams.roles.templates import number_role
from moot.text.secrets import Vault

WRITER = "generator"
WORKED_ON = frozenset({"max_rounds", "unchanged", "consensus", "no_candidate"})
"""Stop reasons of a debate that ran all its phases; any other means that it ended early."""


@dataclass(frozen=True)
class SessionWish:
    """One session: a task, the arms that take their answers from it, and how many answers are drawn."""

    task: BenchTask
    arms: tuple[ArmPlan, ...]
    answers: int = 1
    limits: Limits | None = None
    """Default: those of the run."""

    @property
    def arm(self) -> ArmPlan:
        return self.arms[0]

    def key(self, run: RunPlan) -> str:
        """By which the store finds the session again."""
        words = f"{self.arm.group}/{self.task.id}"
        return f"bench-{run.id}-{hashlib.sha256(words.encode()).hexdigest()[:40]}"


def plan_session(wish: SessionWish, run: RunPlan, settings: Settings) -> SessionPlan:
    """`settings` has the models of the arm."""
    arm, task = wish.arm, wish.task
    request = Request(
        protocol=PROTOCOLS[arm.protocol],
        given=_given(wish),
        settings=settings,
        vault=Vault(os.environ),
        notes={"bench": {"run": run.name, "arm": arm.group, "task": task.id}},
    )
    plan = find_extension(arm.protocol).plan(request)
    rules = {**arm.rules, **({"drafts": wish.answers} if arm.answers or arm.is_vote else {})}
    return plan.model_copy(
        update={"rules": rules, "limits": wish.limits or run.limits, "topic": f"{run.suite}: {task.id}"}
    )


def load_arm_settings(arm: ArmPlan, settings: Settings) -> Settings:
    """The same settings with the arm's models, as if they had been given by a flag."""
    model = replace(settings.resolved["model"], value=arm.models, source="flag")
    resolved = {key: value for key, value in settings.resolved.items() if not key.startswith("seats.")}
    return replace(settings, resolved={**resolved, "model": model})


def _given(wish: SessionWish) -> dict[str, Any]:
    arm, task = wish.arm, wish.task
    if arm.protocol == "decide":
        options = tuple(QuestionOption(id=LETTERS[n], label=text) for n, text in enumerate(task.options))
        words = task.prompt.partition("\n\nA) ")[0]
        return {"questions": (PanelQuestion(id="q1", text=words, options=options),), "force_panel": True}
    if arm.protocol == "harden":
        return {"code": task.context}
    given: dict[str, Any] = {"task": task.prompt, "topic": task.kind in ("choice", "text")}
    if task.kind in ("code", "repository"):
        given |= {"language": task.language, "context": task.context}
    if arm.answers or arm.is_vote:
        given["team"] = seat_answers(arm.models, wish.answers)
    return given


def seat_answers(models: Sequence[str], count: int) -> tuple[Agent, ...]:
    """Seats that differ in nothing but their model and chance."""
    return tuple(
        Agent(id=number_role(WRITER, place + 1), role=WRITER, model=models[place % len(models)])
        for place in range(count)
    )


# --- what a session answers


@dataclass(frozen=True)
class SessionAnswer:
    text: str
    baseline: str | None = None
    """What the vote of the session's own first answers would have given."""
    early: bool | None = None


async def answer_of(task: BenchTask, arm: ArmPlan, result: Result, sandbox: Sandbox | None) -> SessionAnswer:
    match result:
        case DebateResult():
            return await _answer_debate(task, arm, result, sandbox)
        case DecideResult():
            return SessionAnswer(result.questions[0].recommended_option or "")
        case HardenResult():
            first = result.attack_reports[0].vulnerabilities if result.attack_reports else ()
            return SessionAnswer(find_label(task, first))
        case _:
            raise TypeError(f"a benchmark does not know the result of {arm.protocol}")


async def _answer_debate(task: BenchTask, arm: ArmPlan, result: DebateResult, sandbox: Sandbox | None) -> SessionAnswer:
    drafts = [candidate for candidate in result.candidates if not candidate.parent]
    if arm.answers == 1 and not arm.is_vote:
        return SessionAnswer(_text_of(task, drafts[0]) if drafts else "")
    if arm.is_vote:
        return SessionAnswer(await _vote(task, arm, drafts, sandbox))
    first = next((c for c in result.candidates if c.id == result.baseline.candidate), None)
    text = find_letter(result.text, task.options) if task.kind == "choice" else result.code or result.text
    return SessionAnswer(text, _text_of(task, first) if first else None, is_early_end(result, arm.rules))


def is_early_end(result: DebateResult, rules: Mapping[str, Any]) -> bool:
    """By a gate. Every adaptive debate ends by weighing evidence: one that spent its whole effort was not early."""
    if cut_by(result) or result.stop_reason in WORKED_ON:
        return False
    return result.stop_reason != "evidence" or result.calls < DebateRules.model_validate(rules).effort


def _text_of(task: BenchTask, candidate: Candidate) -> str:
    return find_letter(candidate.text, task.options) if task.kind == "choice" else candidate.code or candidate.text


async def _vote(task: BenchTask, arm: ArmPlan, drafts: Sequence[Candidate], sandbox: Sandbox | None) -> str:
    if task.kind == "choice":
        return choose_letter([draft.text for draft in drafts], task.options)
    codes = [draft.code for draft in drafts if draft.code.strip()]
    if task.kind != "code" or sandbox is None:
        return codes[0] if codes else ""
    return await choose_code(task, codes, sandbox, examples=arm.choose == "vote+examples")


def spending_of(result: Result) -> Mapping[str, Any]:
    """Calls, tokens and dollars; a price that is not known makes the sum unknown."""
    spends = list(result.usage.values())
    prices = [spend.usd for spend in spends]
    return {
        "calls": result.calls,
        "calls_failed": result.calls_failed,
        "tokens_in": sum(spend.input_tokens for spend in spends),
        "tokens_out": sum(spend.output_tokens for spend in spends),
        "usd": None if any(price is None for price in prices) else sum(price or 0.0 for price in prices),
        "seconds": result.duration,
    }
