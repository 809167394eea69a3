"""Topologies: who sees whose turns, and who speaks in parallel: mesh, star, chain and tree. Pure functions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

Topology = Literal["graph_mesh", "star", "chain", "tree"]
TOPOLOGIES: tuple[Topology, ...] = get_args(Topology)
Phase = str
Group = tuple[str, ...]

ORDER = (
    "proposer", "generator", "implementer", "architect", "designer", "critic", "red_team", "reviewer", "judge",
    "blue_team", "optimizer", "refactorer", "performance_analyzer", "test_agent", "compiler", "executor", "security",
    "validator", "teacher", "moderator",
)  # fmt: skip
"""The order of a chain: answer, attack, weigh, repair, check, conclude. Custom roles come before the last."""
LEADERS: Mapping[Phase, tuple[str, ...]] = {
    "dehallucination": ("moderator", "teacher", "architect"),
    "self_evolvement": ("proposer", "generator", "implementer"),
    "proposal": ("proposer", "architect", "moderator"),
    "critique": ("critic", "reviewer", "red_team"),
    "review": ("reviewer", "moderator", "architect"),
    "optimization": ("optimizer", "refactorer", "blue_team", "designer"),
    "adversarial": ("red_team", "security", "blue_team"),
    "convergence": ("moderator", "validator", "teacher"),
}
HUBS = ("moderator", "judge", "reviewer", "architect", "validator", "teacher")
ROOTS = ("architect", "designer", "moderator", "judge")
CONCERNS: Mapping[str, tuple[str, ...]] = {
    "building": ("proposer", "generator", "implementer", "refactorer", "designer", "architect"),
    "quality": ("reviewer", "critic", "judge", "moderator", "teacher"),
    "security": ("security", "red_team", "blue_team"),
    "performance": ("optimizer", "performance_analyzer"),
    "verification": ("test_agent", "validator", "executor", "compiler"),
}
"""The branches of a tree; the first present role of each leads it."""
IN_CHARGE: Mapping[Phase, str] = {"critique": "security", "adversarial": "security", "optimization": "performance"}
"""Phases that belong to one branch, whose lead leads them; the root leads all others."""
DOWNWARDS = frozenset({"dehallucination", "self_evolvement", "proposal", "optimization"})
"""Phases delegated from the root; in the others results go up to it."""
IN_ORDER = re.compile(
    r"\b(?:step by step|one after (?:the other|another)|pipeline|sequential(?:ly)?|in (?:this )?order)\b"
)
IN_THE_MIDDLE = re.compile(r"\b(?:central(?:i[sz]ed|ly)?|coordinat(?:e|ed|or)|through (?:a|the|one) moderator)\b")
IN_LEVELS = re.compile(r"\b(?:hierarch(?:y|ical)|sub-?teams?|departments?|work ?streams?)\b")


@dataclass(frozen=True)
class Arrangement:
    """A team arranged in a topology. Seats have a fixed order, so the same team is always arranged alike."""

    topology: Topology
    seats: Mapping[str, str]
    """Seat -> role, in the order of the chain."""
    hub: str = ""
    parents: Mapping[str, str] = field(default_factory=dict)
    """In a tree: seat -> the seat above it."""

    def children(self, seat: str) -> Group:
        return tuple(each for each in self.seats if self.parents.get(each) == seat)

    def level(self, seat: str) -> int:
        return len(self.line(seat)) - 1

    def line(self, seat: str) -> Group:
        """From a seat up to the root."""
        found = [seat]
        while above := self.parents.get(found[-1]):
            found.append(above)
        return tuple(found)

    def route(self, sender: str, receiver: str) -> Group:
        """The seats on a message's path, both ends included."""
        if sender == receiver:
            return (sender,)
        if self.topology == "star" and self.hub not in (sender, receiver):
            return (sender, self.hub, receiver)
        if self.topology == "chain":
            ring = list(self.seats)
            start = ring.index(sender)
            turned = ring[start:] + ring[:start]
            return tuple(turned[: turned.index(receiver) + 1])
        if self.topology == "tree":
            up, down = self.line(sender), self.line(receiver)
            meet = next(seat for seat in up if seat in down)
            return (*up[: up.index(meet)], *reversed(down[: down.index(meet) + 1]))
        return (sender, receiver)

    def relay(self, sender: str, receiver: str) -> str | None:
        """Who hands a turn on to its reader: nobody (""), the last of those between them, or None: it stays unheard."""
        if sender not in self.seats or receiver not in self.seats:
            return None
        path = self.route(sender, receiver)
        if len(path) <= 2:
            return ""
        return path[-2] if self.topology in ("star", "tree") else None

    def heard_by(self, reader: str, spoke: Sequence[str]) -> dict[str, str]:
        """Of those who spoke, whom this seat hears: directly (""), or through the first seat on the way, which
        condenses the turn for all who are further away. In a chain: only the nearest before it who spoke."""
        others = [seat for seat in dict.fromkeys(spoke) if seat in self.seats and seat != reader]
        if reader not in self.seats:
            return {}
        if self.topology == "chain":
            return dict.fromkeys(sorted(others, key=lambda seat: len(self.route(seat, reader)))[:1], "")
        paths = {seat: self.route(seat, reader) for seat in others}
        return {seat: path[1] if len(path) > 2 else "" for seat, path in paths.items()}

    def groups(self, phase: Phase, speakers: Sequence[str]) -> tuple[Group, ...]:
        """Who speaks in parallel, group by group; each speaker once."""
        asked = [seat for seat in self.seats if seat in set(speakers)]
        if self.topology == "chain":
            return tuple((seat,) for seat in asked)
        if self.topology == "star":
            around = tuple(seat for seat in asked if seat != self.hub)
            return tuple(group for group in (around, (self.hub,) if self.hub in asked else ()) if group)
        if self.topology == "tree":
            levels = sorted({self.level(seat) for seat in asked}, reverse=phase not in DOWNWARDS)
            return tuple(tuple(seat for seat in asked if self.level(seat) == level) for level in levels)
        return (tuple(asked),) if asked else ()

    def leader(self, phase: Phase) -> str:
        if self.topology == "star":
            return self.hub
        if self.topology == "tree":
            concern = CONCERNS.get(IN_CHARGE.get(phase, ""), ())
            leads = [seat for seat in self.children(self.hub) if self.seats[seat] in concern]
            return leads[0] if leads else self.hub
        return _find_preferred(self.seats, LEADERS.get(phase, ()))

    def without(self, seat: str) -> "Arrangement":
        """The arrangement after a seat failed: its children move to its siblings."""
        left = {name: role for name, role in self.seats.items() if name != seat}
        if len(left) == len(self.seats):
            return self
        if not left:
            raise ValueError(f"{seat!r} is the last of the team")
        if self.topology == "star" and seat == self.hub:
            return replace(self, seats=left, hub=_find_preferred(left, HUBS))
        if self.topology != "tree":
            return replace(self, seats=left)
        parents = _rebalance(self, seat)
        return replace(self, seats=left, hub=next(name for name in left if name not in parents), parents=parents)


def arrange(team: Mapping[str, str], topology: Topology) -> Arrangement:
    if not team:
        raise ValueError("there is nobody to arrange")
    seats = dict(sorted(team.items(), key=lambda entry: (_rank(entry[1]), entry[1], _natural(entry[0]))))
    match topology:
        case "star":
            return Arrangement(topology, seats, hub=_find_preferred(seats, HUBS))
        case "tree":
            root = _find_preferred(seats, ROOTS)
            return Arrangement(topology, seats, hub=root, parents=_branches(seats, root))
        case _:
            return Arrangement(topology, seats)


def select(size: int, task: str = "", parallel: int = 8) -> Topology:
    """Choose a topology by what the task asks for, then by the size; mesh by default."""
    words = " ".join(task.lower().split())
    if IN_ORDER.search(words):
        return "chain"
    if IN_THE_MIDDLE.search(words):
        return "star"
    if IN_LEVELS.search(words) and size > 3:
        return "tree"
    if size <= 3:
        return "chain"
    return "star" if size <= 6 and parallel <= 2 else "graph_mesh"


def _rank(role: str) -> int:
    return 2 * ORDER.index(role) if role in ORDER else 2 * len(ORDER) - 3


def _natural(seat: str) -> tuple[object, ...]:
    """`critic-2` before `critic-10`."""
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"([0-9]+)", seat))


def _find_preferred(seats: Mapping[str, str], roles: Sequence[str]) -> str:
    """The first seat with the first available of these roles; else the first seat."""
    for wanted in roles:
        for seat, role in seats.items():
            if role == wanted:
                return seat
    return next(iter(seats))


def _branches(seats: Mapping[str, str], root: str) -> dict[str, str]:
    """Under the root a lead for each concern, under each lead its specialists; seats without a concern are under the
    root."""
    parents: dict[str, str] = {}
    for roles in CONCERNS.values():
        branch = {seat: role for seat, role in seats.items() if role in roles and seat != root}
        if branch:
            lead = _find_preferred(branch, roles)
            parents |= {seat: root if seat == lead else lead for seat in branch}
    return parents | {seat: root for seat in seats if seat != root and seat not in parents}


def _rebalance(tree: Arrangement, failed: str) -> dict[str, str]:
    """Parents without the failed seat. Its children go to its siblings, each to the one with fewest; without siblings
    the first child takes its place."""
    parents = {seat: above for seat, above in tree.parents.items() if seat != failed}
    orphans, above = tree.children(failed), tree.parents.get(failed)
    siblings = [seat for seat in tree.children(above) if seat != failed] if above else []
    if not siblings and orphans:
        heir = orphans[0]
        parents |= {seat: heir for seat in orphans if seat != heir}
        return parents | {heir: above} if above else {s: p for s, p in parents.items() if s != heir}
    load = {seat: len(tree.children(seat)) for seat in siblings}
    for orphan in orphans:
        takes = min(siblings, key=lambda seat: load[seat])
        load[takes] += 1
        parents[orphan] = takes
    return parents
