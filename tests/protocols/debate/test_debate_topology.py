"""Who hears whom, and who speaks at once: read from the prompts and the times of calls in debates of random teams."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from debates import FIRST, LAST, Answers, Cast, Debate, Quick, ballot, code, held, points, scores, team
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moot.core.types import ModelCall, Reply
from moot.protocols.debate.types import PARALLEL, DebateRules
from moot.teams.roles import load_shipped_roles
from moot.teams.topology import TOPOLOGIES, Arrangement, Topology, arrange
from moot.testing import ActingModel

TASK = (
    "Write largest(numbers): the largest number of a list, or None for an empty one. "
    "largest([7]) -> 7, largest([4]) -> 4, largest([9]) -> 9"
)
SUM = "def largest(numbers):\n    return sum(numbers) if numbers else None\n"
ROUNDS = 2
MARKER = re.compile(r"(POINT|REVIEW|BALLOT|IDEA) of (\S+) in round (\d+)\.")
HEARD = re.compile(r"^(\S+) \((critique|review|convergence)(?:, condensed by (\S+))?\):$")
ASIDE = frozenset({"relay", "delegation", "order"})
"""Questions that serve the others; who is asked them hears what it is to condense, to order or to divide."""

# No more than may speak at once in a phase: what is over is told by nothing being under way.
# The designer and the validator are asked by themselves, outside of the order in which seats speak.
SPEAKERS = sorted(set(load_shipped_roles()) - {"designer", "validator"})
teams = st.lists(st.sampled_from(SPEAKERS), min_size=2, max_size=6)
kinds = st.sampled_from(TOPOLOGIES)
TALK = ("critique", "review", "convergence")


def marked(kind: str, call: ModelCall) -> str:
    return f"{kind} of {call.seat} in round {call.round}."


def talkative() -> Answers:
    """Three answers nobody can tell apart, and seats that mark every word of theirs."""
    texts = iter([LAST, FIRST, SUM] * 20)

    def ranked(call: ModelCall) -> str:
        letters = call.prompt.rsplit("Only these letters exist: ", 1)[1].partition(".")[0].split(", ")
        return ballot(*letters[::-1], why=marked("BALLOT", call), sure=0.2)

    return {
        "code": lambda call: code(next(texts), marked("IDEA", call)),
        "merge": lambda call: code(LAST, marked("IDEA", call)),
        "tests": "TESTS: NONE",
        "points": lambda call: points(("A", "disagree", marked("POINT", call)), ("B", "agree", "fine")),
        "attack": lambda call: points(("A", "disagree", marked("POINT", call)), ("B", "agree", "fine")),
        "shape": '{"parts": ["one loop"]}',
        "quotes": '{"quotes": {"1": "NONE"}}',
        "rewrite": code(LAST),
        "scores": lambda call: scores(A=0.5).replace("read", marked("REVIEW", call)),
        "ballot": ranked,
        "reflect": "{}",
        "relay": condensed,
        "delegation": lambda call: json.dumps({"parts": {seat: "look closely" for seat in below(call)}}),
        "order": '{"order": [1]}',
    }


def condensed(call: ModelCall) -> str:
    """Every turn by its candidates' letters alone: shorter, and none is silenced."""
    numbers = re.findall(r"^(\d+)\. \S+ \(", call.prompt, re.MULTILINE)
    return json.dumps({"turns": dict.fromkeys(numbers, "A, B: short")})


def below(call: ModelCall) -> list[str]:
    return re.findall(r"(\S+) \(", call.prompt.rpartition("Below you: ")[2].partition(".")[0])


def arranged(roles: Sequence[str], kind: Topology, answers: Answers | None = None, **more: Any) -> Debate:
    rules = DebateRules(lessons=0, topology=kind, max_rounds=ROUNDS, attempts=1, planning="off", adjust=False)
    return held(answers or talkative(), roles=roles, rules=rules, sandbox=Quick(), task=TASK, **more)


def places(roles: Sequence[str], kind: Topology) -> Arrangement:
    return arrange({member.seat: member.role for member in team(*roles)}, kind)


def through(placed: Arrangement, sender: str, reader: str, spoke: Sequence[str]) -> str | None:
    """The rule of each topology in its own words: "" straight, a seat that condenses it, or None: not at all."""
    match placed.topology:
        case "graph_mesh":
            return ""
        case "star":
            return "" if placed.hub in (sender, reader) else placed.hub
        case "chain":
            ring = [*placed.seats] * 2
            place = ring.index(reader) + len(placed.seats)
            before = [seat for seat in ring[place - len(placed.seats) + 1 : place] if seat in spoke]
            return "" if before and before[-1] == sender else None
        case "tree":
            if placed.parents.get(sender) == reader or placed.parents.get(reader) == sender:
                return ""
            down = [seat for seat in placed.children(sender) if seat in placed.line(reader)]
            return down[0] if down else placed.parents[sender]


def heard_rightly(done: Debate, placed: Arrangement) -> None:
    """No prompt holds the words of a seat that it hears only through another, or not at all."""
    for call in done.asked:
        if Cast.kind(call) in ASIDE:
            continue
        for what, sender, number in MARKER.findall(call.prompt):
            if what == "IDEA":  # the approach is part of a candidate, and candidates are shown to everybody
                assert call.phase != "self_evolvement", "drafts are made apart"
                continue
            if placed.topology != "chain":
                assert sender == call.seat or through(placed, sender, call.seat, ()) == "", (call.phase, call.seat)
            opens = placed.topology == "chain" and int(number) == call.round - 1
            assert int(number) == call.round or (what, call.phase) == ("POINT", "proposal") or opens


def heard_fully(placed: Arrangement, log: Sequence[tuple[str, ModelCall]]) -> None:
    """Every prompt holds the turns of its round by groups that were done before, as far as its seat may hear them, and
    says who condensed them."""
    over, now, under_way = list[tuple[str, str, int]](), list[tuple[str, str, int]](), 0
    for event, call in log:
        under_way += 1 if event == "begins" else -1
        if event == "begins" and call.phase in TALK:
            now.append((call.seat, call.phase, call.round))
            heard = [(m[1], m[2], m[3] or "") for line in call.prompt.splitlines() if (m := HEARD.match(line))]
            for number in (call.round, call.round - 1):
                before = [(seat, phase) for seat, phase, said in over if said == number and seat != call.seat]
                spoke = {seat for seat, _ in before}
                ways = [(seat, phase, through(placed, seat, call.seat, [*spoke])) for seat, phase in before]
                ballots = [way for way in ways if way[1] == "convergence" and way[2]]
                expected = [way for way in ways if way[2] is not None and way not in ballots]
                if expected or placed.topology != "chain":
                    break
            assert heard == expected, (call.phase, call.seat)
        if not under_way:
            over, now = [*over, *now], []


@dataclass
class Watched(ActingModel):
    """Notes when calls begin and end. Each takes long enough for all that may begin beside it to begin, and the later
    ones longer, so that who waits for a place begins before the last of them ends."""

    log: list[tuple[str, ModelCall]] = field(default_factory=list)
    under_way: int = 0

    async def reply(self, call: ModelCall) -> Reply:
        self.log.append(("begins", call))
        self.under_way += 1
        for _ in range(50 + 20 * self.under_way):
            await asyncio.sleep(0)
        self.under_way -= 1
        self.log.append(("ends", call))
        return await super().reply(call)


def watching(seen: list[Watched]) -> Callable[[Cast], Watched]:
    def make(cast: Cast) -> Watched:
        seen.append(Watched(cast))
        return seen[-1]

    return make


def bursts(log: Sequence[tuple[str, ModelCall]]) -> list[tuple[str, list[str], int]]:
    """Stretches in which something was always under way: what was asked, of whom, and the most at once."""
    found, under_way = list[tuple[str, list[str], int]](), 0
    for event, call in log:
        under_way += 1 if event == "begins" else -1
        if event == "begins" and under_way == 1:
            found.append((call.phase, [call.seat], 1))
        elif event == "begins":
            phase, seats, most = found[-1]
            found[-1] = (phase, [*seats, call.seat], max(most, under_way))
    return found


def grouped(placed: Arrangement, log: Sequence[tuple[str, ModelCall]], seats: int) -> None:
    """Groups speak one after the other, and everybody of a group at once, as far as the phase allows."""
    found, limits = bursts(log), {str(phase): most for phase, most in PARALLEL.items()}
    drafts = next(burst for burst in found if burst[0] == "self_evolvement")
    assert len(drafts[1]) == min(3, seats) == drafts[2], "everybody at once, whatever the topology"
    for phase in TALK:
        mine = [(seats, most) for name, seats, most in found if name == phase]
        voices = {seat for seats, _ in mine for seat in seats}
        assert [seats for seats, _ in mine] == [list(group) for group in placed.groups(phase, sorted(voices))] * ROUNDS
        assert all(most == min(len(seats), limits[phase]) for seats, most in mine)
        if placed.topology == "chain":
            assert all(most == 1 for _, most in mine)
        if placed.topology == "graph_mesh":
            assert len(mine) == ROUNDS


@settings(max_examples=30)
@given(teams, kinds)
@example(["architect"] * 7, "graph_mesh")
@example(["moderator", "critic", "critic", "reviewer", "reviewer"], "star")
def test_who_hears_whom_and_who_speaks_at_once(roles: list[str], kind: Topology) -> None:
    seen = list[Watched]()
    done, placed = arranged(roles, kind, acting=watching(seen)), places(roles, kind)
    assert done.result.rounds == ROUNDS and done.result.topology == kind
    heard_rightly(done, placed)
    log = [(event, call) for event, call in seen[0].log if Cast.kind(call) not in ASIDE]
    heard_fully(placed, log)
    grouped(placed, log, len(roles))


@settings(max_examples=20)
@given(teams.filter(lambda roles: len(roles) > 2), kinds, st.data())
def test_a_seat_that_cannot_be_reached_takes_nobody_with_it(
    roles: list[str], kind: Topology, data: st.DataObject
) -> None:
    lost = data.draw(st.sampled_from([member.seat for member in team(*roles)]))
    done = arranged(roles, kind, lost=lost)
    others = {member.seat for member in team(*roles)} - {lost}
    votes = [vote for vote in done.result.votes if len(vote.candidates) > 1]
    assert votes and done.result.winner is not None
    assert all({ballot.voter for ballot in vote.ballots} == others for vote in votes)
    assert any(lost in note and "unreachable" in note for note in done.room.degraded)
    late = [call.prompt for call in done.asked if call.round == ROUNDS]
    assert late and not any(f"by {lost})" in text for text in late), "another passes on what it did"
