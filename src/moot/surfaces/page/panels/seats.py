"""The team: a drawing of its links, who leads which phase, and whose turns reach whom."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import cos, pi, sin
from typing import get_args

from moot.protocols.debate.types import DebateInput, DebateResult
from moot.record.seen import read_heard
from moot.record.transcript import as_table
from moot.surfaces.page.panels.recorded import RecordedSession
from moot.teams.topology import Arrangement, Topology, arrange

WIDTH, ROUND_HEIGHT, RADIUS = 480, 300, 100
ROW, INDENT = 44, 40
LONGEST = 16
"""Longer names are shortened in the drawing."""
ABOUT: dict[Topology, str] = {
    "graph_mesh": "a mesh: every seat sees every turn",
    "star": "a star: every seat sees the others' turns through the seat in the middle",
    "chain": "a chain: each seat sees the nearest earlier seat that spoke; the first sees the last",
    "tree": "a tree: turns go up and down its branches",
}


@dataclass(frozen=True)
class SeatNode:
    seat: str
    label: str
    role: str
    model: str
    x: float
    y: float
    label_x: float
    label_y: float
    anchor: str
    leads: tuple[str, ...]
    centre: bool
    """Whether it is the hub of a star or the root of a tree."""


@dataclass(frozen=True)
class SeatLink:
    points: str


@dataclass(frozen=True)
class SeatDrawing:
    topology: str
    about: str
    width: int
    height: int
    nodes: tuple[SeatNode, ...]
    links: tuple[SeatLink, ...]
    directed: bool
    heard: tuple[tuple[str, tuple[str | None, ...]], ...]
    """Reader -> per speaker: "" directly, the relaying seat, or None."""
    relayed: bool
    """Whether some messages are relayed."""
    lost: tuple[str, ...]


def draw_seats(session: RecordedSession) -> SeatDrawing | None:
    result, given = session.result, session.given
    if not isinstance(result, DebateResult) or not isinstance(given, DebateInput):
        return None
    topology = next((known for known in get_args(Topology) if known == result.topology), None)
    if topology is None or len(given.team) < 2:
        return None
    team = arrange({member.seat: member.role for member in given.team}, topology)
    leads: dict[str, tuple[str, ...]] = {}
    for phase, leader in {each.phase: each.leader for each in result.phases if each.status == "held"}.items():
        leader = leader or team.leader(phase)  # not recorded by earlier versions
        leads[leader] = (*leads.get(leader, ()), phase.replace("_", " "))
    models = {turn.seat: f"{turn.provider}:{turn.model}" for turn in session.snapshot.turns}
    places = _stack(team) if topology in ("chain", "tree") else _surround(team)
    nodes = tuple(_build_node(seat, place, team, leads, models.get(seat, "")) for seat, place in places.items())
    seen = _list_heard(session)
    heard = tuple(
        (reader, tuple(seen.get((reader, s)) if seen else _find_relay(team, s, reader) for s in places))
        for reader in places
    )
    stacked = topology in ("chain", "tree")
    return SeatDrawing(
        topology=topology.removeprefix("graph_"),
        about=ABOUT[topology],
        width=WIDTH,
        height=ROW * len(places) if stacked else ROUND_HEIGHT,
        nodes=nodes,
        links=tuple(SeatLink(points) for points in _link(team, places)),
        directed=topology == "chain",
        heard=heard,
        relayed=topology != "graph_mesh",
        lost=_list_lost(session),
    )


def _list_heard(session: RecordedSession) -> dict[tuple[str, str], str]:
    """Reader and speaker -> through whom, as recorded with the turns."""
    return {
        (turn.seat, heard.seat): heard.through for turn in session.snapshot.turns for heard in read_heard(turn.metadata)
    }


def _find_relay(team: Arrangement, sender: str, reader: str) -> str | None:
    """By the rules, for sessions of earlier versions, which did not record it."""
    return None if reader == sender else team.relay(sender, reader)


Places = dict[str, tuple[float, float]]


def _surround(team: Arrangement) -> Places:
    """On a circle, with the hub of a star in the centre."""
    middle = (WIDTH / 2, ROUND_HEIGHT / 2)
    around = [seat for seat in team.seats if seat != team.hub]
    places: Places = {team.hub: middle} if team.hub else {}
    for at, seat in enumerate(around):
        angle = 2 * pi * at / len(around) - pi / 2
        places[seat] = (middle[0] + RADIUS * cos(angle), middle[1] + RADIUS * sin(angle))
    return places


def _stack(team: Arrangement) -> Places:
    """In a column; in a tree, indented by depth."""
    order = list(_walk(team, team.hub)) if team.hub else list(team.seats)
    return {seat: (20.0 + INDENT * team.level(seat), ROW / 2 + ROW * row) for row, seat in enumerate(order)}


def _walk(team: Arrangement, seat: str) -> Iterator[str]:
    yield seat
    for child in team.children(seat):
        yield from _walk(team, child)


def _link(team: Arrangement, places: Places) -> Iterator[str]:
    names = list(places)
    if team.topology == "graph_mesh":
        yield from (_join(places[a], places[b]) for at, a in enumerate(names) for b in names[at + 1 :])
    elif team.topology == "star":
        yield from (_join(places[team.hub], places[seat]) for seat in names if seat != team.hub)
    elif team.topology == "chain":
        yield from (_join(places[a], places[b]) for a, b in pairwise(names))
    else:
        for seat, above in team.parents.items():
            (x, y), (top_x, top_y) = places[seat], places[above]
            yield f"{top_x:.0f},{top_y:.0f} {top_x:.0f},{y:.0f} {x:.0f},{y:.0f}"


def _join(one: tuple[float, float], two: tuple[float, float]) -> str:
    return f"{one[0]:.0f},{one[1]:.0f} {two[0]:.0f},{two[1]:.0f}"


def _build_node(
    seat: str, place: tuple[float, float], team: Arrangement, leads: Mapping[str, tuple[str, ...]], model: str
) -> SeatNode:
    """Places the label outside the circle, so that no link crosses it."""
    (x, y), aside = place, place[0] - WIDTH / 2
    stacked = team.topology in ("chain", "tree")
    upright = not stacked and abs(aside) < RADIUS / 2
    left = not stacked and aside < 0 and not upright
    below = y >= ROUND_HEIGHT / 2
    label_x = x if upright else x - 18 if left else x + 18
    label_y = (y + 32 if below else y - 20) if upright else y + 5
    label = seat if len(seat) <= LONGEST else f"{seat[: LONGEST - 1]}…"
    anchor = "middle" if upright else "end" if left else "start"
    centre = seat == team.hub
    return SeatNode(
        seat, label, team.seats[seat], model, round(x, 1), round(y, 1), round(label_x, 1), round(label_y, 1), anchor,
        leads.get(seat, ()), centre,
    )  # fmt: skip


def _list_lost(session: RecordedSession) -> tuple[str, ...]:
    absent = {turn.seat: as_table(as_table(turn.metadata).get("absent")) for turn in session.snapshot.turns}
    return tuple(seat for seat, why in absent.items() if why.get("why") in ("unreachable", "timeout"))
