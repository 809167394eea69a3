"""Planning: who does what, made by one for all (cpde) or by each for its part (dpde), and carried out in order."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask, T
from moot.core.types import Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.drafts import DraftReply, PositionReply, drafters
from moot.protocols.debate.phases.run_candidates import run_candidates
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import brief, context, list_seated, system
from moot.protocols.debate.types import Candidate, Member
from moot.protocols.solve.attempts import choose_block
from moot.teams.planning import (
    Stance,
    Subtask,
    TaskPlan,
    join_results,
    measure,
    negotiate,
    overlaps,
    problems,
    style_for,
    waves,
)
from moot.teams.planning import render_plan as shown_plan
from moot.text.render import fence_text
from moot.text.replies import Also, Keys, Title, instructions

MOST = 6
PLAN = "plan"
"""Whose the joined parts are: nobody's alone, so that every owner still has an answer of its own."""
REPLY_TOKENS = 900
ALL = "Plan the whole of it."
PART = "Plan only what you would do yourself of it; you are the owner of each."


class Piece(Value):
    id: str = Field(min_length=1, description="a short id, such as a1")
    title: Annotated[str, Title(), Also("subtask", "task", "what")] = Field(min_length=1, description="what is done")
    owner: Annotated[str, Also("agent", "seat", "who")] = Field(default="", description="who does it")
    depends_on: Annotated[tuple[str, ...], Also("after", "needs")] = Field(default=(), description="an id")
    done_when: Annotated[str, Also("done", "criterion")] = Field(default="", description="how one sees it is done")


class PlanReply(Value):
    subtasks: Annotated[tuple[Piece, ...], Also("plan", "steps")] = Field(json_schema_extra={"maxItems": MOST})


class SettleReply(Value):
    stances: Annotated[dict[str, str], Keys("1", "2"), Also("answers")] = Field(description="keep or yield")


async def make_plan(sitting: DebateContext) -> None:
    """A plan where the task is worth one; later prompts hold it, and its owners carry it out beside the drafts."""
    table = sitting.table
    wanted = table.rules.planning
    measured = measure(table.task.text)
    team = [member for member in table.given.team if sitting.room.has_model(member.seat)]
    if wanted == "off" or not team or (wanted == "auto" and not measured.complex):
        return
    choice = style_for(measured, len(team), wanted if wanted in ("cpde", "dpde") else "adaptive")
    plan = await (one_plans(sitting, team) if choice.style == "cpde" else each_plans(sitting, team))
    if plan is None:
        sitting.room.degrade("no plan: nobody gave one that could be carried out; the task is not divided")
        return
    sitting.update(plan=plan, planning=f"{choice.style}: {choice.why}")
    sitting.room.tell(f"plan by {choice.style} ({choice.why}): {len(plan.subtasks)} subtasks")
    if len(plan.subtasks) > 1:
        await carry_out_plan(sitting, plan)


async def one_plans(sitting: DebateContext, team: Sequence[Member]) -> TaskPlan | None:
    root = list_seated(sitting.table, sitting.room, "architect", "moderator", "designer")[:1]
    replies = await sitting.ask_independently("planning", root, lambda m: ask_plan(m, ALL, sitting))
    plan = TaskPlan(subtasks=tuple(as_subtask(piece, "") for piece in replies[0].subtasks)) if replies else TaskPlan()
    return plan if not faults(plan, team, sitting, MOST) else None


async def each_plans(sitting: DebateContext, team: Sequence[Member]) -> TaskPlan | None:
    """Each plans its own part; pieces that several claim are settled by who keeps and who yields them."""
    plans = dict[str, TaskPlan]()

    def take(member: Member, said: PlanReply) -> None:
        plans[member.seat] = TaskPlan(subtasks=tuple(as_subtask(piece, member.seat) for piece in said.subtasks))

    await sitting.ask_independently("planning", drafters(sitting), lambda m: ask_plan(m, PART, sitting), take)
    found = overlaps(plans)
    stances: dict[tuple[tuple[str, str], str], Stance] = {}
    if found:
        titles = [" / ".join(f"{s}: {plans[s].subtask(name).title}" for s, name in o.claims) for o in found]
        claimants = [m for m in team if any(m.seat in overlap.seats for overlap in found)]

        def settle(member: Member, said: SettleReply) -> None:
            for number, overlap in enumerate(found, 1):
                word = said.stances.get(str(number), "").strip().lower()
                if member.seat in overlap.seats and word in ("keep", "yield"):
                    stances[overlap.claims[0], member.seat] = "yield" if word == "yield" else "keep"

        await sitting.ask_independently("planning", claimants, lambda m: ask_settle(m, titles, sitting), settle)
    settled = negotiate(plans, stances)
    for note in settled.notes:
        sitting.room.tell(f"plan: {note}")
    return settled.plan if not faults(settled.plan, team, sitting, MOST * len(plans)) else None


def faults(plan: TaskPlan, team: Sequence[Member], sitting: DebateContext, most: int) -> tuple[str, ...]:
    found = problems(plan, {member.seat for member in team})
    if len(plan.subtasks) > most:  # each is a question to a model, and nobody agreed to pay for more
        found = (*found, f"it has {len(plan.subtasks)} subtasks, more than {most}")
    for fault in found:
        sitting.room.tell(f"plan: {fault}")
    return found


def as_subtask(piece: Piece, owner: str) -> Subtask:
    return Subtask(
        id=piece.id.strip(),
        title=piece.title.strip(),
        owner=owner or piece.owner.strip(),
        depends_on=tuple(name.strip() for name in piece.depends_on if name.strip()),
        done_when=piece.done_when.strip() or "it is there and runs",
    )


async def carry_out_plan(sitting: DebateContext, plan: TaskPlan) -> None:
    """Wave after wave, each owner its part with what it rests on; the parts in their order are one more candidate."""
    results: dict[str, str] = {}
    for wave in waves(plan):
        left = list(wave)
        while left:
            mine = {subtask.owner: subtask for subtask in reversed(left)}
            left = [subtask for subtask in left if subtask not in mine.values()]
            await run_wave(sitting, plan, mine, results)
    done = join_results(plan, results)
    if done.missing:
        sitting.room.degrade(f"the plan was not carried out whole: {', '.join(done.missing)} missing")
        return
    whole = "\n\n".join(text.strip("\n") for _, text in done.parts) + "\n"
    words = f"the parts of the plan, {', '.join(part.id for part, _ in done.parts)}"
    code = sitting.table.code
    made = Candidate(
        id=sitting.table.next_id(),
        seat=PLAN,
        round=1,
        phase="proposal",
        code=whole if code else "",
        text=words if code else whole,
    )
    sitting.enter(made, "proposal", words)
    await run_candidates(sitting)


async def run_wave(
    sitting: DebateContext, plan: TaskPlan, mine: Mapping[str, Subtask], results: dict[str, str]
) -> None:
    """One subtask of each owner; what comes of it is kept by the subtask's id."""
    owners = [member for member in sitting.table.given.team if member.seat in mine]
    texts = {owner: part_text(owner, subtask, plan, dict(results), sitting) for owner, subtask in mine.items()}

    def keep_code(member: Member, said: DraftReply) -> None:
        results[mine[member.seat].id] = choose_block(said.code, sitting.table.task)

    def keep_position(member: Member, said: PositionReply) -> None:
        results[mine[member.seat].id] = said.position

    def ask(member: Member, shape: type[T]) -> Ask[T]:
        form = instructions(shape).replace("<path>", sitting.table.given.path)
        who = system(member, "solver" if sitting.table.code else "debater")
        return Ask(member.seat, "planning", 3, who, f"{texts[member.seat]}\n\n{form}", shape)

    if sitting.table.code:
        await sitting.ask_independently("planning", owners, lambda m: ask(m, DraftReply), keep_code)
    else:
        await sitting.ask_independently("planning", owners, lambda m: ask(m, PositionReply), keep_position)


def part_text(owner: str, subtask: Subtask, plan: TaskPlan, results: Mapping[str, str], sitting: DebateContext) -> str:
    table = sitting.table
    done = [f"{name}:\n{fence_text(results[name])}" for name in subtask.depends_on if name in results]
    code = f"Under CODE give only your part, in {table.given.language}, as it goes into {table.given.path}."
    return prompt(
        "part",
        task=brief(table),
        plan=fence_text(shown_plan(plan, owner), "text"),
        done="Done so far:\n\n" + "\n\n".join(done) + "\n\n" if done else "",
        mine=f"{subtask.id} ({subtask.title}); it is done when: {subtask.done_when}",
        how=code if table.code else "Answer your part only.",
    )


def ask_plan(member: Member, what: str, sitting: DebateContext) -> Ask[PlanReply]:
    table = sitting.table
    text = prompt(
        "plan",
        task=brief(table),
        context=context(table, sitting.room),
        team=", ".join(f"{each.seat} ({each.role})" for each in table.given.team),
        what=what,
        most=str(MOST),
        form=instructions(PlanReply),
    )
    return Ask(member.seat, "planning", 1, system(member), text, PlanReply, REPLY_TOKENS)


def ask_settle(member: Member, titles: Sequence[str], sitting: DebateContext) -> Ask[SettleReply]:
    lines = "\n".join(f"{number}. {title}" for number, title in enumerate(titles, 1))
    text = prompt(
        "settle", task=brief(sitting.table), overlaps=fence_text(lines, "text"), form=instructions(SettleReply)
    )
    return Ask(member.seat, "planning", 2, system(member), text, SettleReply, REPLY_TOKENS)
