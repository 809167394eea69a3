"""Done-criteria of a plan: run where they say what a call must give; else judged by a seat that did not do the part."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Value
from moot.evidence.trials.examples import examples_in
from moot.evidence.trials.values import Example, is_satisfied
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.coordination import CheckedCriterion
from moot.protocols.debate.phases.run_candidates import render_answer
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import brief, list_seated, system
from moot.protocols.debate.types import Member
from moot.protocols.solve.attempts import code_of
from moot.teams.planning.plans import Subtask
from moot.text.excerpts import TextPart, fit_parts, show
from moot.text.render import fence_text
from moot.text.replies import Aliases, ExampleKeys, instructions

REPLY_TOKENS = 600
JUDGES = ("validator", "reviewer", "judge", "test_agent", "critic")
Part = tuple[Subtask, str]


class CriteriaReply(Value):
    verdicts: Annotated[dict[str, str], ExampleKeys("1", "2"), Aliases("criteria", "answers")] = Field(
        description="met or unmet, then why in one sentence"
    )


async def check_criteria(context: DebateContext, parts: Sequence[Part], whole: str) -> tuple[CheckedCriterion, ...]:
    """Every criterion, in the order of the parts. One that nobody could check is not met."""
    python = context.state.code and context.state.given.language == "python"
    calls = {part.id: examples_in(part.done_when) if python else () for part, _ in parts}
    found = {
        **await run_criteria(context, [part for part, _ in parts if calls[part.id]], calls, whole),
        **await judge_criteria(context, [(part, text) for part, text in parts if not calls[part.id]]),
    }
    return tuple(found[part.id] for part, _ in parts)


async def run_criteria(
    context: DebateContext, parts: Sequence[Subtask], calls: Mapping[str, Sequence[Example]], whole: str
) -> dict[str, CheckedCriterion]:
    wanted = tuple(dict.fromkeys(example.call for part in parts for example in calls[part.id]))
    if not wanted:
        return {}
    probe = await context.room.probe(code_of(context.state.task, whole), wanted)
    answers = dict(zip(wanted, probe.answers, strict=False))
    found = {}
    for part in parts:
        wrong = [
            f"{e.call} gave {render_answer(answers[e.call]) if e.call in answers else probe.problem or 'no answer'}"
            for e in calls[part.id]
            if e.call not in answers or not is_satisfied(e, answers[e.call])
        ]
        found[part.id] = CheckedCriterion(
            subtask=part.id,
            criterion=part.done_when,
            status="unmet" if wrong else "met",
            by="run",
            why="; ".join(wrong),
        )
    return found


async def judge_criteria(context: DebateContext, parts: Sequence[Part]) -> dict[str, CheckedCriterion]:
    """Asked of one seat, which owns none of these parts; without such a seat, nobody judges."""
    if not parts:
        return {}
    owners = {part.owner for part, _ in parts}
    able = [m for m in list_seated(context.state, context.room, *JUDGES) if m.seat not in context.lost | owners]
    judge = min(able, key=lambda m: JUDGES.index(m.role) if m.role in JUDGES else len(JUDGES), default=None)
    replies = await context.ask_aside([ask_criteria(judge, parts, context)]) if judge else [None]
    said = replies[0].verdicts if replies[0] else {}
    by = judge.seat if judge and replies[0] else ""
    return {part.id: read_verdict(part, said.get(str(number), ""), by) for number, (part, _) in enumerate(parts, 1)}


def read_verdict(part: Subtask, said: str, by: str) -> CheckedCriterion:
    word, _, why = said.strip().partition(" ")
    plain = word.strip(".,:;").lower()
    status = "met" if plain == "met" else "unmet" if plain == "unmet" else "unchecked"
    return CheckedCriterion.model_validate(
        {"subtask": part.id, "criterion": part.done_when, "status": status, "by": by, "why": why.strip()}
    )


def ask_criteria(member: Member, parts: Sequence[Part], context: DebateContext) -> Ask[CriteriaReply]:
    texts = [TextPart(f"part {part.id}", f"{part.id}: {part.title}\n{fence_text(text)}") for part, text in parts]
    shown = show(fit_parts(texts, context.room.allowance() // 2), member.seat, context.room)
    lines = "\n".join(f"{number}. {part.id}: {part.done_when}" for number, (part, _) in enumerate(parts, 1))
    text = prompt(
        "criteria",
        task=brief(context.state),
        parts=shown.join("\n\n"),
        criteria=f"Done when:\n\n{fence_text(lines, 'text')}",
        form=instructions(CriteriaReply),
    )
    return Ask(member.seat, "planning", 4, system(member), text, CriteriaReply, REPLY_TOKENS, role=member.role)
