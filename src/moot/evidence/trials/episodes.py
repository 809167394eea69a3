"""Finds earlier failed attempts by agent, session and task."""

from collections.abc import Iterable, Sequence

from moot.core.experience import Episode
from moot.evidence.lessons.lesson import likeness
from moot.evidence.lessons.words import gist


def find_episodes(episodes: Iterable[Episode], agent: str = "", session: str = "", task: str = "") -> list[Episode]:
    """Episodes of this agent (its seat, or seat@model) and session, most similar task first."""
    own: Sequence[Episode] = [
        episode
        for episode in episodes
        if (not agent or agent in (episode.agent, episode.agent.partition("@")[0]))
        and (not session or episode.session.startswith(session))
    ]
    if not task:
        return list(own)
    wanted = gist(task)
    alike = {episode.id: likeness(wanted, gist(episode.task)) for episode in own}
    return sorted((e for e in own if alike[e.id] > 0), key=lambda episode: -alike[episode.id])
