"""Optimization: merges the best parts into one solution, retried with what its failures taught."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.evidence.trials.analysis import Analysis, FailedTest
from moot.evidence.trials.contrast import contrast
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.converge import winner_of
from moot.protocols.debate.phases.drafts import DraftReply, PositionReply, enter_draft, enter_position
from moot.protocols.debate.phases.repair import drop
from moot.protocols.debate.phases.review import by_score
from moot.protocols.debate.phases.run_candidates import list_leaders, may_replace, run_candidates
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import (
    DebateState,
    brief,
    list_seated,
    notes,
    open_findings,
    render_candidates,
    render_project_checks,
    render_reports,
    system,
)
from moot.protocols.debate.types import Candidate, Member
from moot.protocols.solve.attempts import Attempt, reflect_on_failure, render_reflections
from moot.teams.planning.cognition import count_extra
from moot.text.render import fence_text
from moot.text.replies import Aliases, code_form, instructions

MAKERS = ("optimizer", "refactorer", "blue_team", "designer")
"""In the first edition; refactorer and designer have acts of their own since."""
PARTS = 3
DIFFERENCES = 3
CODE = (
    "Answer in this form: what you take from which candidate, in one sentence; where the result may fail, or NONE; "
    "then the complete content of {path} in one fenced block. Write nothing after the block."
)
TEXT = "Keep what holds, mend what was rightly objected to, and say what speaks against the result."


class MergeReply(DraftReply):
    """A draft made out of several candidates."""

    approach: Annotated[str, Aliases("idea", "plan", "explanation")] = Field(
        default="", description="what you take from which candidate, in one sentence"
    )


async def optimization(context: DebateContext) -> str:
    roles = ("optimizer", "blue_team") if context.state.rules.edition > 1 else MAKERS
    makers = list_seated(context.state, context.room, *roles)[:1]
    if not makers or not context.state.latest():
        return "nobody to do it" if not makers else "nothing to improve"
    maker = makers[0]
    if not context.state.code:
        merged = await context.ask_with_stand_ins(
            "optimization",
            [maker],
            lambda m: ask_position_merge(m, context),
            lambda m, said: enter_position(m, said, "optimization", context),
        )
        return "one position out of the best parts" if merged else "the optimizer gave nothing that could be used"
    return await improve_leader(maker, context)


async def improve_leader(maker: Member, context: DebateContext) -> str:
    """Retry until everything passes; keep only what improves on the leader."""
    leader, attempts = best_first(context.state)[0], list[Attempt]()
    by = list[Member]()
    most = context.state.rules.attempts + count_extra(context.state.emphases, "optimization", context.state.round)
    for number in range(1, most + 1):
        said = await context.ask_with_stand_ins(
            "optimization", [maker], lambda m: ask_merge(m, attempts, context), lambda m, _: by.append(m)
        )
        if not said:
            return "the optimizer gave nothing that could be used"
        maker = by[-1]
        made = enter_draft(maker, said[0], "optimization", context)
        await run_candidates(context)
        now = context.state.candidate(made.id)
        same = now.code == leader.code
        if not same and (may_replace(now, leader) or not (now.checked.of or now.checked.agreed_of)):
            return f"{now.id} improves on {leader.id}"
        drop(context, now.id, f"the same code as {leader.id}" if same else f"gains nothing over {leader.id}")
        if (leader.checked.green and not leader.checked.failures) or number == most:
            break
        attempts.append(as_attempt(now, number))
        attempts[-1], _ = await reflect_on_failure(
            context.state.task.model_copy(update={"tests": None}), attempts, context.room, maker.seat
        )
        context.update(calls=context.state.calls + 1)
    return f"nothing improved on {leader.id}"


def best_first(state: DebateState) -> list[Candidate]:
    """The current winner, the leaders by score, then the rest: the first is what an improvement must beat."""
    winner = winner_of(state)
    lead = [*([winner] if winner else []), *by_score(list_leaders(state), state)]
    return list({c.id: c for c in (*lead, *by_score(list(state.latest()), state))}.values())


def as_attempt(candidate: Candidate, number: int) -> Attempt:
    checked = candidate.checked
    failures = (FailedTest(test="runs", kind="wrong_value", said=checked.failures),) if checked.failures else ()
    analysis = Analysis(passed=checked.passed, of=checked.of, failures=failures)
    return Attempt(number=number, code=candidate.code, analysis=analysis)


def ask_merge(member: Member, attempts: Sequence[Attempt], context: DebateContext) -> Ask[MergeReply]:
    state = context.state
    form = code_form(MergeReply, state.given.language, state.given.path)
    text = _merge(
        member, context, CODE.format(path=state.given.path), form, render_contrast(state), last_try(attempts, state)
    )
    return Ask(member.seat, "optimization", state.round, system(member, "solver"), text, MergeReply)


def ask_position_merge(member: Member, context: DebateContext) -> Ask[PositionReply]:
    text = _merge(member, context, TEXT, instructions(PositionReply), "", "")
    return Ask(member.seat, "optimization", context.state.round, system(member, "debater"), text, PositionReply)


def _merge(member: Member, context: DebateContext, how: str, form: str, differ: str, history: str) -> str:
    state = context.state
    ranked = best_first(state)
    parts, rest = ranked[:PARTS], [candidate.id for candidate in ranked[PARTS:]]
    lower = f"\n\nNot shown, for they rank lower: {', '.join(rest)}." if rest else ""
    return prompt(
        "optimize",
        task=brief(state),
        candidates=render_candidates(parts, state, context.room) + lower,
        contrast=differ,
        heard=context.render_heard(member),
        checks=render_project_checks(state) + open_findings(state) + render_reports(state),
        notes=notes(state, member.seat),
        history=history,
        how=how,
        form=form,
    )


def render_contrast(state: DebateState) -> str:
    """Where the two best behave differently, on the smallest inputs."""
    ranked = [c for c in best_first(state) if c.checked.answers]
    other = next((c for c in ranked[1:] if c.checked.marks != ranked[0].checked.marks), None)
    if other is None:
        return ""
    one, two = ranked[0].checked.answers, other.checked.answers
    calls = [call for call in one if call in two]
    every = contrast(calls, [one[call] for call in calls], [two[call] for call in calls]).differences
    found, more = every[:DIFFERENCES], len(every) - DIFFERENCES
    names = ranked[0].id, other.id
    lines = [f"{d.call}: {names[0]} gives {d.left}, {names[1]} gives {d.right}" for d in found]
    block = fence_text("\n".join([*lines, *([f"and {more} more calls"] if more > 0 else [])]), "text")
    return f"{names[0]} and {names[1]} differ; decide by the task which is right:\n\n{block}\n\n" if lines else ""


def last_try(attempts: Sequence[Attempt], state: DebateState) -> str:
    if not attempts:
        return ""
    code = fence_text(attempts[-1].code, state.given.language)
    failed = fence_text("\n".join(f.said for f in attempts[-1].analysis.failures), "text")
    head = f"Your last attempt gained nothing:\n\n{code}\n\n{failed}\n\n"
    return head + render_reflections(attempts)
