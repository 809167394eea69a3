"""Topologies: the rules on random teams, and tables for leaders, trees and selection."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.teams.roles import load_shipped_roles
from moot.teams.topology import CONCERNS, LEADERS, ORDER, TOPOLOGIES, Arrangement, Topology, arrange, select

PHASES = tuple(LEADERS)
ROLES = (*sorted(load_shipped_roles()), "librarian")


teams = st.lists(st.sampled_from(ROLES), min_size=1, max_size=24).map(
    lambda roles: {f"{role}-{number}": role for number, role in enumerate(roles, start=1)}
)
kinds = st.sampled_from(TOPOLOGIES)
phases = st.sampled_from(PHASES)


def test_every_role_has_a_place_in_the_tables() -> None:
    assert (
        sorted(ORDER) == sorted(load_shipped_roles()) == sorted(role for roles in CONCERNS.values() for role in roles)
    )


@given(teams, kinds, phases, st.data())
def test_everyone_asked_speaks_once_and_the_order_of_the_team_does_not_matter(
    team: dict[str, str], kind: Topology, phase: str, data: st.DataObject
) -> None:
    speakers = data.draw(st.lists(st.sampled_from(sorted(team)), unique=True))
    shuffled = dict(data.draw(st.permutations(list(team.items()))))
    groups = arrange(team, kind).groups(phase, speakers)
    assert sorted(seat for group in groups for seat in group) == sorted(speakers)
    assert all(groups)
    assert arrange(shuffled, kind) == arrange(team, kind)
    assert list(arrange(shuffled, kind).seats) == list(arrange(team, kind).seats)
    assert arrange(shuffled, kind).groups(phase, speakers[::-1]) == groups


@given(teams)
def test_mesh_all_speak_at_once(team: dict[str, str]) -> None:
    placed = arrange(team, "graph_mesh")
    assert placed.groups("proposal", list(placed.seats)) == (tuple(placed.seats),)


@given(teams)
def test_star_everything_goes_through_the_moderator(team: dict[str, str]) -> None:
    placed = arrange(team, "star")
    hub = placed.hub
    groups = placed.groups("critique", list(placed.seats))
    assert groups[-1] == (hub,) and len(groups) == min(len(placed.seats), 2)
    if "moderator" in placed.seats.values():
        assert placed.seats[hub] == "moderator"


@given(teams)
def test_chain_one_speaks_after_the_other(team: dict[str, str]) -> None:
    placed = arrange(team, "chain")
    seats = list(placed.seats)
    assert placed.groups("review", seats) == tuple((seat,) for seat in seats)


def well_formed(tree: Arrangement) -> None:
    assert [seat for seat in tree.seats if seat not in tree.parents] == [tree.hub]
    assert set(tree.parents) | {tree.hub} == set(tree.seats) and set(tree.parents.values()) <= set(tree.seats)
    for seat in tree.seats:
        assert tree.line(seat)[-1] == tree.hub


@given(teams)
def test_tree_is_well_formed_and_at_most_three_levels_high(team: dict[str, str]) -> None:
    tree = arrange(team, "tree")
    well_formed(tree)
    assert max(tree.level(seat) for seat in tree.seats) <= 2


@given(teams, st.data())
def test_tree_messages_go_up_to_the_common_parent_and_down(team: dict[str, str], data: st.DataObject) -> None:
    tree = arrange(team, "tree")
    one, other = (data.draw(st.sampled_from(list(tree.seats))) for _ in range(2))
    way = tree.route(one, other)
    assert (way[0], way[-1]) == (one, other) and len(set(way)) == len(way)
    for a, b in pairwise(way):
        assert tree.parents.get(a) == b or tree.parents.get(b) == a
    if one != other and tree.parents.get(one) == tree.parents.get(other):
        assert way == (one, tree.parents[one], other)


@given(teams, phases)
def test_tree_levels_speak_in_turn_and_subtrees_at_once(team: dict[str, str], phase: str) -> None:
    tree = arrange(team, "tree")
    levels = [{tree.level(seat) for seat in group} for group in tree.groups(phase, list(team))]
    assert all(len(level) == 1 for level in levels)
    down = phase in ("dehallucination", "self_evolvement", "proposal", "optimization")
    assert [level.pop() for level in levels] == sorted(range(len(levels)), reverse=not down)


@given(teams, kinds, st.data())
def test_when_agents_fail_nobody_else_is_lost(team: dict[str, str], kind: Topology, data: st.DataObject) -> None:
    placed = arrange(team, kind)
    for seat in data.draw(st.permutations(sorted(team)))[: data.draw(st.integers(0, len(team) - 1))]:
        before, placed = placed, placed.without(seat)
        assert placed.seats.keys() == before.seats.keys() - {seat}
        assert sorted(s for g in placed.groups("review", list(team)) for s in g) == sorted(placed.seats)
        assert placed.leader("critique") in placed.seats
        if kind == "tree":
            well_formed(placed)
            for child in before.children(seat):
                siblings = set(before.children(before.parents.get(seat, ""))) - {seat}
                assert placed.parents.get(child) in siblings if siblings else True
            untouched = before.seats.keys() - {seat, *before.children(seat)}
            assert all(
                placed.parents.get(s) == before.parents.get(s) for s in untouched if before.parents.get(s) != seat
            )
    assert placed.without("nobody") is placed


@given(teams, kinds, st.data())
def test_a_turn_is_heard_directly_or_condensed_by_a_neighbour_of_its_speaker(
    team: dict[str, str], kind: Topology, data: st.DataObject
) -> None:
    placed = arrange(team, kind)
    spoke = data.draw(st.lists(st.sampled_from(sorted(team)), unique=True))
    reader = data.draw(st.sampled_from(sorted(team)))
    heard = placed.heard_by(reader, spoke)
    others = set(spoke) - {reader}
    if kind == "chain":
        ring = [*placed.seats] * 2
        before = ring[: len(team) + ring.index(reader)][::-1][: len(team) - 1]
        assert list(heard.items()) == [(seat, "") for seat in before if seat in others][:1]
        return
    assert heard.keys() == others, "a star and a tree leave nobody out"
    for speaker, through in heard.items():
        direct = kind == "graph_mesh" or len(placed.route(speaker, reader)) == 2
        assert (through == "") == direct
        if kind == "star" and through:
            assert through == placed.hub
        if kind == "tree" and through:
            assert through in (placed.parents.get(speaker), *placed.children(speaker))
    assert placed.heard_by("nobody", spoke) == {} and "nobody" not in placed.heard_by(reader, ["nobody"])


def team_of(*roles: str) -> dict[str, str]:
    return {role: role for role in roles}


FULL = team_of(*load_shipped_roles())


def test_the_tree_of_all_roles() -> None:
    tree = arrange(FULL, "tree")
    assert tree.hub == "architect"
    assert tree.children("architect") == ("proposer", "reviewer", "optimizer", "test_agent", "security")
    assert tree.children("security") == ("red_team", "blue_team")
    assert tree.route("red_team", "executor") == ("red_team", "security", "architect", "test_agent", "executor")


def test_a_failed_lead_leaves_its_specialists_to_the_leads_with_fewest() -> None:
    tree = arrange(
        team_of("architect", "security", "red_team", "blue_team", "optimizer", "proposer", "generator"), "tree"
    )
    left = tree.without("security")
    assert left.parents == {
        "proposer": "architect", "generator": "proposer", "optimizer": "architect", "red_team": "optimizer",
        "blue_team": "proposer",
    }  # fmt: skip


def test_a_failed_root_is_followed_by_its_first_lead() -> None:
    left = arrange(team_of("architect", "proposer", "generator", "critic"), "tree").without("architect")
    assert left.hub == "proposer" and left.children("proposer") == ("generator", "critic")
    only = arrange(team_of("architect", "security", "red_team", "blue_team"), "tree").without("security")
    assert only.parents == {"red_team": "architect", "blue_team": "red_team"}
    with pytest.raises(ValueError, match="the last of the team"):
        arrange(team_of("critic"), "tree").without("critic")
    with pytest.raises(ValueError, match="nobody to arrange"):
        arrange({}, "star")


def test_the_moderator_of_a_star_is_replaced() -> None:
    assert arrange(team_of("critic", "moderator", "proposer", "judge"), "star").without("moderator").hub == "judge"


@pytest.mark.parametrize(
    ("kind", "reader", "heard"),
    [
        ("graph_mesh", "critic", {"proposer": "", "red_team": "", "executor": ""}),
        ("star", "critic", {"proposer": "moderator", "red_team": "moderator", "executor": "moderator"}),
        ("star", "moderator", {"proposer": "", "red_team": "", "executor": ""}),
        ("tree", "architect", {"proposer": "", "red_team": "security", "executor": "test_agent"}),
        ("tree", "security", {"proposer": "architect", "red_team": "", "executor": "test_agent"}),
        ("tree", "generator", {"proposer": "", "red_team": "security", "executor": "test_agent"}),
        ("chain", "critic", {"proposer": ""}), ("chain", "reviewer", {"red_team": ""}),
        ("chain", "proposer", {"executor": ""}), ("chain", "moderator", {"executor": ""}),
    ],
)  # fmt: skip
def test_whom_a_seat_hears_and_who_condenses_it(kind: Topology, reader: str, heard: dict[str, str]) -> None:
    assert arrange(FULL, kind).heard_by(reader, ["proposer", "red_team", "executor"]) == heard


@pytest.mark.parametrize(
    ("kind", "phase", "leader"),
    [
        ("graph_mesh", "proposal", "proposer"), ("graph_mesh", "critique", "critic"),
        ("graph_mesh", "adversarial", "red_team"), ("graph_mesh", "convergence", "moderator"),
        ("graph_mesh", "optimization", "optimizer"), ("graph_mesh", "review", "reviewer"),
        ("graph_mesh", "dehallucination", "moderator"), ("graph_mesh", "self_evolvement", "proposer"),
        ("graph_mesh", "no phase", "proposer"), ("chain", "critique", "critic"), ("star", "proposal", "moderator"),
        ("tree", "proposal", "architect"), ("tree", "critique", "security"), ("tree", "adversarial", "security"),
        ("tree", "optimization", "optimizer"),
    ],
)  # fmt: skip
def test_each_phase_has_its_leader(kind: Topology, phase: str, leader: str) -> None:
    assert arrange(FULL, kind).leader(phase) == leader


def test_a_phase_whose_leaders_are_away_is_led_by_the_next() -> None:
    assert arrange(team_of("validator", "critic"), "graph_mesh").leader("convergence") == "validator"
    assert arrange(team_of("critic", "proposer"), "graph_mesh").leader("convergence") == "proposer"
    assert arrange(team_of("architect", "proposer"), "tree").leader("adversarial") == "architect"


def test_seats_are_ordered_as_people_count() -> None:
    placed = arrange({f"critic-{n}": "critic" for n in (10, 2, 1)} | {"critic": "critic"}, "chain")
    assert list(arrange(team_of("moderator", "zoologist", "teacher"), "chain").seats)[1:] == ["zoologist", "moderator"]
    assert list(placed.seats) == ["critic", "critic-1", "critic-2", "critic-10"]


@pytest.mark.parametrize(
    ("size", "task", "parallel", "expected"),
    [
        (5, "", 8, "graph_mesh"), (3, "", 8, "chain"), (1, "", 8, "chain"), (4, "", 8, "graph_mesh"),
        (6, "", 2, "star"), (7, "", 2, "graph_mesh"), (12, "", 8, "graph_mesh"),
        (9, "Do it step by  step", 8, "chain"), (9, "a pipeline of filters", 8, "chain"),
        (9, "Coordinate the release through one moderator", 8, "star"),
        (9, "Split it between sub-teams", 8, "tree"), (3, "Split it between sub-teams", 8, "chain"),
        (9, "Implement a function that returns the order", 8, "graph_mesh"),
    ],
)  # fmt: skip
def test_a_topology_is_selected_by_size_and_task(size: int, task: str, parallel: int, expected: Topology) -> None:
    assert select(size, task, parallel) == expected
