"""Merges the plans of several seats into one, and decides who keeps overlapping work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from moot.evidence.artefacts.cycles import cycles
from moot.evidence.lessons.words import stems
from moot.teams.planning.plans import Subtask, TaskPlan

ALIKE = 0.6
"""Share of common words from which two subtasks are the same work."""
DOING = frozenset({"writ", "implement", "creat", "mak", "build", "add", "do", "defin", "develop", "provid"})
"""Stems that say something is done, but not what."""
Stance = Literal["keep", "yield"]
Key = tuple[str, str]
"""Seat and subtask id."""
Stances = Mapping[tuple[Key, str], Stance]


@dataclass(frozen=True)
class SubtaskOverlap:
    claims: tuple[Key, ...]

    @property
    def seats(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(seat for seat, _ in self.claims))


@dataclass(frozen=True)
class NegotiatedPlan:
    plan: TaskPlan
    overlaps: tuple[SubtaskOverlap, ...]
    notes: tuple[str, ...]
    """Who got what and why, and what was dropped."""


@dataclass(frozen=True)
class _Piece:
    claims: tuple[Key, ...]
    owner: str = ""
    name: str = ""


def overlaps(plans: Mapping[str, TaskPlan]) -> tuple[SubtaskOverlap, ...]:
    """Subtasks claimed by more than one seat; similarity is transitive."""
    keys = [(seat, each.id) for seat, plan in plans.items() for each in plan.subtasks]
    words = {(seat, each.id): _about(each.title) for seat, plan in plans.items() for each in plan.subtasks}
    group = {key: {key} for key in keys}
    for one, other in combinations(keys, 2):
        if one[0] != other[0] and _alike(words[one], words[other]) and group[one] is not group[other]:
            merged = group[one] | group[other]
            for key in merged:
                group[key] = merged
    found = dict.fromkeys(tuple(key for key in keys if key in group[first]) for first in keys)
    return tuple(SubtaskOverlap(claims) for claims in found if len({seat for seat, _ in claims}) > 1)


def _about(title: str) -> set[str]:
    """The topic of a subtask; `parser` and `parse` are the same."""
    return {word.rstrip("e") for word in stems(title.lower())} - DOING


def _alike(one: set[str], other: set[str]) -> bool:
    return bool(one & other) and len(one & other) >= ALIKE * len(one | other)


def negotiate(plans: Mapping[str, TaskPlan], stances: Stances | None = None) -> NegotiatedPlan:
    """Merge all plans. An overlap goes to the one seat that keeps it while the others yield; otherwise, among those
    that did not yield, to the one with least work, then to the first in the team. `stances` maps the overlap's first
    claim and a seat to what that seat said."""
    found = overlaps(plans)
    shared = {claim: overlap for overlap in found for claim in overlap.claims}
    keys = [(seat, each.id) for seat, plan in plans.items() for each in plan.subtasks]
    claims = dict.fromkeys(shared[key].claims if key in shared else (key,) for key in keys)
    load = {seat: sum(len(claim) == 1 and claim[0][0] == seat for claim in claims) for seat in plans}
    pieces, notes = list[_Piece](), list[str]()
    for claim in claims:
        owner, why = _owner(claim, load, stances or {})
        if why:
            load[owner] += 1
            notes.append(f"{' = '.join(f'{seat} {name}' for seat, name in claim)}: {owner} has it, {why}")
        pieces.append(_Piece(claim, owner))
    named = [replace(piece, name=_name(piece, keys)) for piece in pieces]
    subtasks, dropped = _subtasks(named, plans)
    return NegotiatedPlan(TaskPlan(subtasks=subtasks, style="dpde"), found, (*notes, *dropped))


def _owner(
    claims: Sequence[Key], load: Mapping[str, int], stances: Mapping[tuple[Key, str], Stance]
) -> tuple[str, str]:
    seats = list(dict.fromkeys(seat for seat, _ in claims))
    if len(seats) == 1:
        return seats[0], ""
    stays = [seat for seat in seats if stances.get((claims[0], seat)) != "yield"]
    if len(stays) == 1:
        return stays[0], "the others yield"
    chosen = min(stays or seats, key=lambda seat: load[seat])
    return chosen, "it has the least to do" if stays else "all yield, and it has the least to do"


def _name(piece: _Piece, keys: Sequence[Key]) -> str:
    own = next(name for seat, name in piece.claims if seat == piece.owner)
    return own if [name for _, name in keys].count(own) == 1 else f"{piece.owner}/{own}"


def _subtasks(pieces: Sequence[_Piece], plans: Mapping[str, TaskPlan]) -> tuple[tuple[Subtask, ...], list[str]]:
    name_of = {claim: piece.name for piece in pieces for claim in piece.claims}
    needs: dict[str, list[str]] = {piece.name: [] for piece in pieces}
    notes = []
    for piece in pieces:
        for seat, own in piece.claims:
            for wanted in plans[seat].subtask(own).depends_on:
                other = _resolve_subtask(seat, wanted, name_of)
                if other is None:
                    notes.append(f"{piece.name} does not wait for {wanted!r}: no such subtask")
                elif other != piece.name and other not in needs[piece.name]:
                    needs[piece.name].append(other)
                    if cycles(needs):
                        needs[piece.name].remove(other)
                        notes.append(f"{piece.name} does not wait for {other}: they would wait for each other")
    return tuple(_subtask(piece, plans, needs[piece.name]) for piece in pieces), notes


def _resolve_subtask(seat: str, wanted: str, name_of: Mapping[Key, str]) -> str | None:
    """The seat's own subtask first, then `seat/id`, then an id that only one other seat has."""
    if (seat, wanted) in name_of:
        return name_of[seat, wanted]
    other, slash, name = wanted.partition("/")
    if slash and (other, name) in name_of:
        return name_of[other, name]
    foreign = {found for (_, own), found in name_of.items() if own == wanted}
    return foreign.pop() if len(foreign) == 1 else None


def _subtask(piece: _Piece, plans: Mapping[str, TaskPlan], needs: Sequence[str]) -> Subtask:
    claimed = sorted(piece.claims, key=lambda claim: claim[0] != piece.owner)
    given = [plans[seat].subtask(name) for seat, name in claimed]
    criteria = dict.fromkeys(each.done_when.strip() for each in given if each.done_when.strip())
    return Subtask(
        id=piece.name, title=given[0].title, owner=piece.owner, depends_on=tuple(needs), done_when="; ".join(criteria)
    )
