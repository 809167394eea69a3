"""Planning: who does what, decided by one (cpde) or by each for its part (dpde), and carried out in order."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask, T
from moot.core.types import Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.coordination import CheckedCriterion
from moot.protocols.debate.phases.criteria import check_criteria
from moot.protocols.debate.phases.drafts import DraftReply, PositionReply, drafters
from moot.protocols.debate.phases.run_candidates import run_candidates
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import brief, list_seated, render_files, system
from moot.protocols.debate.types import Candidate, Member
from moot.protocols.solve.attempts import choose_block
from moot.teams.planning.complexity import measure, style_for
from moot.teams.planning.negotiation import Stance, negotiate, overlaps
from moot.teams.planning.plans import Subtask, TaskPlan, join_results, problems, render_plan, waves
from moot.text.render import fence_text
from moot.text.replies import Aliases, ExampleKeys, Title, instructions

MOST = 6
PLAN = "plan"
"""Author of the joined parts: nobody alone, so every owner still has its own answer."""
REPLY_TOKENS = 900
ALL = "Plan the whole of it."
PART = "Plan only what you would do yourself of it; you are the owner of each."


class Piece(Value):
    id: str = Field(min_length=1, description="a short id, such as a1")
    title: Annotated[str, Title(), Aliases("subtask", "task", "what")] = Field(min_length=1, description="what is done")
    owner: Annotated[str, Aliases("agent", "seat", "who")] = Field(default="", description="who does it")
    depends_on: Annotated[tuple[str, ...], Aliases("after", "needs")] = Field(default=(), description="an id")
    done_when: Annotated[str, Aliases("done", "criterion")] = Field(default="", description="how one sees it is done")


class PlanReply(Value):
    subtasks: Annotated[tuple[Piece, ...], Aliases("plan", "steps")] = Field(json_schema_extra={"maxItems": MOST})


class SettleReply(Value):
    stances: Annotated[dict[str, str], ExampleKeys("1", "2"), Aliases("answers")] = Field(description="keep or yield")


async def make_plan(context: DebateContext) -> None:
    """Plan if the task warrants it; later prompts contain the plan, and its owners carry it out beside the drafts."""
    state = context.state
    wanted = state.rules.planning
    measured = measure(state.task.text)
    team = [member for member in state.given.team if context.room.has_model(member.seat)]
    if wanted == "off" or not team or (wanted == "auto" and not measured.complex):
        return
    choice = style_for(measured, len(team), wanted if wanted in ("cpde", "dpde") else "adaptive")
    plan = await (one_plans(context, team) if choice.style == "cpde" else each_plans(context, team))
    if plan is None:
        context.room.degrade("no plan: nobody gave one that could be carried out; the task is not divided")
        return
    context.update(plan=plan, planning=f"{choice.style}: {choice.why}")
    context.room.tell(f"plan by {choice.style} ({choice.why}): {len(plan.subtasks)} subtasks")
    if len(plan.subtasks) > 1:
        await carry_out_plan(context, plan)


async def one_plans(context: DebateContext, team: Sequence[Member]) -> TaskPlan | None:
    root = list_seated(context.state, context.room, "architect", "moderator", "designer")[:1]
    replies = await context.ask_independently("planning", root, lambda m: ask_plan(m, ALL, context))
    plan = TaskPlan(subtasks=tuple(as_subtask(piece, "") for piece in replies[0].subtasks)) if replies else TaskPlan()
    return plan if not faults(plan, team, context, MOST) else None


async def each_plans(context: DebateContext, team: Sequence[Member]) -> TaskPlan | None:
    """Each seat plans its own part; negotiation settles overlaps."""
    plans = dict[str, TaskPlan]()

    def take(member: Member, said: PlanReply) -> None:
        plans[member.seat] = TaskPlan(subtasks=tuple(as_subtask(piece, member.seat) for piece in said.subtasks))

    await context.ask_independently("planning", drafters(context), lambda m: ask_plan(m, PART, context), take)
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

        await context.ask_independently("planning", claimants, lambda m: ask_settle(m, titles, context), settle)
    settled = negotiate(plans, stances)
    for note in settled.notes:
        context.room.tell(f"plan: {note}")
    return settled.plan if not faults(settled.plan, team, context, MOST * len(plans)) else None


def faults(plan: TaskPlan, team: Sequence[Member], context: DebateContext, most: int) -> tuple[str, ...]:
    found = problems(plan, {member.seat for member in team})
    if len(plan.subtasks) > most:  # each is a question to a model, and nobody agreed to pay for more
        found = (*found, f"it has {len(plan.subtasks)} subtasks, more than {most}")
    for fault in found:
        context.room.tell(f"plan: {fault}")
    return found


def as_subtask(piece: Piece, owner: str) -> Subtask:
    return Subtask(
        id=piece.id.strip(),
        title=piece.title.strip(),
        owner=owner or piece.owner.strip(),
        depends_on=tuple(name.strip() for name in piece.depends_on if name.strip()),
        done_when=piece.done_when.strip() or "it is there and runs",
    )


async def carry_out_plan(context: DebateContext, plan: TaskPlan) -> None:
    """Wave by wave, each owner does its part with the results it depends on; the joined parts are one more
    candidate."""
    results: dict[str, str] = {}
    for wave in waves(plan):
        left = list(wave)
        while left:
            mine = {subtask.owner: subtask for subtask in reversed(left)}
            left = [subtask for subtask in left if subtask not in mine.values()]
            await run_wave(context, plan, mine, results)
    done = join_results(plan, results)
    if done.missing:
        context.room.degrade(f"the plan was not carried out whole: {', '.join(done.missing)} missing")
        return
    whole = "\n\n".join(text.strip("\n") for _, text in done.parts) + "\n"
    words = f"the parts of the plan, {', '.join(part.id for part, _ in done.parts)}"
    code = context.state.code
    if context.state.rules.edition > 1:
        context.update(criteria=await check_criteria(context, done.parts, whole))
    unmet = list_unmet(context.state.criteria)
    for line in unmet:
        context.room.degrade(f"plan: {line}")
    made = Candidate(
        id=context.state.next_id(),
        seat=PLAN,
        round=1,
        phase="proposal",
        code=whole if code else "",
        text=words if code else whole,
        limits=unmet,
    )
    context.enter(made, "proposal", words)
    await run_candidates(context)


def list_unmet(criteria: Sequence[CheckedCriterion]) -> tuple[str, ...]:
    """For the result, and for all who judge the joined parts."""
    return tuple(
        f"{each.subtask} is not done ({each.criterion}): " + (each.why or f"{each.status} by {each.by or 'anybody'}")
        for each in criteria
        if each.status != "met"
    )


async def run_wave(
    context: DebateContext, plan: TaskPlan, mine: Mapping[str, Subtask], results: dict[str, str]
) -> None:
    """One subtask of each owner; results are kept by subtask id."""
    owners = [member for member in context.state.given.team if member.seat in mine]
    texts = {owner: part_text(owner, subtask, plan, dict(results), context) for owner, subtask in mine.items()}

    def keep_code(member: Member, said: DraftReply) -> None:
        results[mine[member.seat].id] = choose_block(said.code, context.state.task)

    def keep_position(member: Member, said: PositionReply) -> None:
        results[mine[member.seat].id] = said.position

    def ask(member: Member, shape: type[T]) -> Ask[T]:
        form = instructions(shape).replace("<path>", context.state.given.path)
        who = system(member, "solver" if context.state.code else "debater")
        return Ask(member.seat, "planning", 3, who, f"{texts[member.seat]}\n\n{form}", shape)

    if context.state.code:
        await context.ask_independently("planning", owners, lambda m: ask(m, DraftReply), keep_code)
    else:
        await context.ask_independently("planning", owners, lambda m: ask(m, PositionReply), keep_position)


def part_text(owner: str, subtask: Subtask, plan: TaskPlan, results: Mapping[str, str], context: DebateContext) -> str:
    state = context.state
    done = [f"{name}:\n{fence_text(results[name])}" for name in subtask.depends_on if name in results]
    code = f"Under CODE give only your part, in {state.given.language}, as it goes into {state.given.path}."
    return prompt(
        "part",
        task=brief(state),
        plan=fence_text(render_plan(plan, owner), "text"),
        done="Done so far:\n\n" + "\n\n".join(done) + "\n\n" if done else "",
        mine=f"{subtask.id} ({subtask.title}); it is done when: {subtask.done_when}",
        how=code if state.code else "Answer your part only.",
    )


def ask_plan(member: Member, what: str, context: DebateContext) -> Ask[PlanReply]:
    state = context.state
    text = prompt(
        "plan",
        task=brief(state),
        context=render_files(state, context.room),
        team=", ".join(f"{each.seat} ({each.role})" for each in state.given.team),
        what=what,
        most=str(MOST),
        form=instructions(PlanReply),
    )
    return Ask(member.seat, "planning", 1, system(member), text, PlanReply, REPLY_TOKENS)


def ask_settle(member: Member, titles: Sequence[str], context: DebateContext) -> Ask[SettleReply]:
    lines = "\n".join(f"{number}. {title}" for number, title in enumerate(titles, 1))
    text = prompt(
        "settle", task=brief(context.state), overlaps=fence_text(lines, "text"), form=instructions(SettleReply)
    )
    return Ask(member.seat, "planning", 2, system(member), text, SettleReply, REPLY_TOKENS)
