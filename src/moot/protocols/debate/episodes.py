"""Episodes of a debate's agents: first answers that failed, kept, and shown to the same model in the same role."""

from moot.core.experience import Episode, Played
from moot.evidence.trials.episodes import find_episodes
from moot.protocols.debate.context import DebateContext
from moot.text.excerpts import TextPart, fit_parts, show
from moot.text.render import fence_text

FIRST_ANSWERS = ("self_evolvement", "proposal")


async def keep_episodes(context: DebateContext) -> None:
    """Each seat's first answer that fails tests, with what became of it."""
    state, room = context.state, context.room
    firsts = [c for c in state.candidates if not c.parent and c.phase in FIRST_ANSWERS and c.id in context.turns]
    failed = {c.seat: c for c in reversed(firsts) if c.checked.failures}
    for seat, candidate in reversed(failed.items()):
        mended = next((c for c in state.candidates if c.parent == candidate.id and not c.dropped), None)
        episode = Episode(
            task=state.task.text,
            attempt=1,
            code=candidate.code,
            test_results=f"{candidate.checked.passed} of {candidate.checked.of} tests passed",
            failure_analysis=candidate.checked.failures,
            reflection=candidate.text,
            improvement=mended.text if mended else "",
            turn=context.turns[candidate.id],
        )
        await room.remember(seat, episode)


async def read_agents_episodes(context: DebateContext) -> None:
    """What each seat's model got wrong before in the same role, if its task was like this one."""
    state = context.state
    if state.rules.edition < 2 or not state.rules.episodes:
        return
    seated = [member for member in state.given.team if context.room.has_model(member.seat)]
    agents = tuple(dict.fromkeys(Played(model=member.model, role=member.role) for member in seated))
    found = dict(zip(agents, await context.room.read_episodes(agents, state.rules.episodes), strict=True))
    own = {m.seat: found[Played(model=m.model, role=m.role)] for m in seated}
    context.update(episodes={seat: find_episodes(kept, task=state.task.text) for seat, kept in own.items()})


def render_episodes(seat: str, context: DebateContext) -> str:
    episodes = context.state.episodes.get(seat, ())
    if not episodes:
        return ""
    parts = [TextPart(f"episode {number}", describe_episode(each)) for number, each in enumerate(episodes, 1)]
    shown = show(fit_parts(parts, context.room.allowance() // 8), seat, context.room).join()
    return f"What you got wrong before, in tasks like this one:\n\n{fence_text(shown, 'text')}\n\n"


def describe_episode(episode: Episode) -> str:
    lines = [f"Task: {episode.task}", f"What failed: {episode.failure_analysis}"]
    return "\n".join([*lines, *([f"Mended by: {episode.improvement}"] if episode.improvement else [])])
