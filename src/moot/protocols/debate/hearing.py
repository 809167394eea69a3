"""Who hears what of a round: turns as a seat reads them, condensed by the seats between. For editions from 2 on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import HeardTurn, Value
from moot.protocols.debate.coordination import Relay
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, SpokenTurn, system
from moot.protocols.debate.types import PHASES, Member
from moot.teams.topology import Arrangement, arrange
from moot.text.excerpts import Fitted, TextPart, fit_parts
from moot.text.render import estimate_tokens, fence_text
from moot.text.replies import Aliases, ExampleKeys, instructions

REPLY_TOKENS = 600
NAMED = re.compile(r"^([A-Z]\d*): ", re.MULTILINE)
LETTER = re.compile(r"\b[A-Z]\d*\b")


class RelayReply(Value):
    turns: Annotated[dict[str, str], ExampleKeys("1", "2"), Aliases("relay", "relays", "summaries", "condensed")] = (
        Field(description="the turn with this number, condensed")
    )


@dataclass(frozen=True)
class HeardText:
    """A turn as one seat reads it."""

    turn: SpokenTurn
    text: str
    through: str = ""
    condensed: bool = False

    @property
    def name(self) -> str:
        return f"the turn of {self.turn.seat} ({self.turn.phase})"

    def render(self) -> str:
        """Every line of a seat's own words is indented: none of them can pass for the head of another turn."""
        how = f", {'condensed' if self.condensed else 'passed on'} by {self.through}" if self.through else ""
        body = "\n".join(f"  {line}" for line in self.text.splitlines())
        return f"{self.turn.seat} ({self.turn.phase}{how}):\n{body}"

    def record(self) -> HeardTurn:
        turn = self.turn
        return HeardTurn(
            seat=turn.seat,
            phase=turn.phase,
            round=turn.round,
            through=self.through,
            condensed=self.condensed,
            tokens=estimate_tokens(self.text),
        )


def list_spoken(state: DebateState, round_number: int) -> list[SpokenTurn]:
    """Turns besides candidates, which everybody sees anyway."""
    return [turn for turn in state.spoken if turn.round == round_number and turn.text and not turn.candidate]


def list_heard(state: DebateState, placed: Arrangement, reader: str) -> list[HeardText]:
    """This round's turns as far as they reach a seat. Who opens a round of a chain hears the last of the one before."""
    heard = hear_turns(list_spoken(state, state.round), state, placed, reader)
    if heard or placed.topology != "chain":
        return heard
    return hear_turns(list_spoken(state, state.round - 1), state, placed, reader)


def hear_turns(turns: Sequence[SpokenTurn], state: DebateState, placed: Arrangement, reader: str) -> list[HeardText]:
    short = {(relay.by, relay.turn): relay.text for relay in state.relays}
    found = []
    for turn, through in find_ways(turns, placed, reader):
        text = short.get((through, turn.number), "")
        found.append(HeardText(turn, text or turn.text, through, bool(text)))
    return found


@dataclass(frozen=True)
class FittedTurns:
    heard: tuple[HeardText, ...]
    """Those that are shown, if only in part."""
    shown: Fitted


def fit_heard(heard: Sequence[HeardText], most: int) -> FittedTurns:
    """Within `most` tokens. The oldest turns are left out first, and of one phase those that its leader put last."""
    newest = sorted(range(len(heard)), key=lambda at: (-PHASES.index(heard[at].turn.phase), at))
    fitted = fit_parts([TextPart(heard[at].name, heard[at].render()) for at in newest], most)
    kept = sorted(zip(newest, fitted.parts, strict=False), key=lambda pair: pair[0])
    return FittedTurns(tuple(heard[at] for at, _ in kept), Fitted(tuple(part for _, part in kept), fitted.missing))


def find_ways(turns: Sequence[SpokenTurn], placed: Arrangement, reader: str) -> list[tuple[SpokenTurn, str]]:
    """The turns that reach a seat, and through whom. Reasons of ballots are not passed on: who is further away votes
    without them."""
    ways = placed.heard_by(reader, [turn.seat for turn in turns])
    reached = [(turn, ways[turn.seat]) for turn in turns if turn.seat in ways]
    return [(turn, through) for turn, through in reached if not through or turn.phase != "convergence"]


def hear_in_mesh(turns: Sequence[SpokenTurn], state: DebateState, reader: str) -> list[HeardText]:
    """In a mesh all of a phase speak at once, and hear only the phases before."""
    team = arrange({member.seat: member.role for member in state.given.team}, "graph_mesh")
    return hear_turns([turn for turn in turns if turn.phase != state.phase], state, team, reader)


def list_unrelayed(
    turns: Sequence[SpokenTurn], state: DebateState, placed: Arrangement, readers: Sequence[str]
) -> dict[str, list[SpokenTurn]]:
    """Turns that these readers hear through others, by the seat that still has to condense them."""
    done = {(relay.by, relay.turn) for relay in state.relays}
    wanted = dict[str, dict[int, SpokenTurn]]()
    for reader in readers:
        for turn, through in find_ways(turns, placed, reader):
            if through and (through, turn.number) not in done:
                wanted.setdefault(through, {})[turn.number] = turn
    return {by: [found[number] for number in sorted(found)] for by, found in wanted.items()}


def ask_relay(member: Member, turns: Sequence[SpokenTurn], state: DebateState) -> Ask[RelayReply]:
    heard = [HeardText(turn, turn.text) for turn in turns]
    lines = "\n".join(f"{number}. {each.render()}" for number, each in enumerate(heard, 1))
    text = prompt("relay", turns=fence_text(lines, "text"), form=instructions(RelayReply))
    return Ask(
        member.seat, "relay", state.round, system(member), text, RelayReply, REPLY_TOKENS, role=member.role,
        heard=tuple(each.record() for each in heard),
    )  # fmt: skip


def build_relays(by: str, turns: Sequence[SpokenTurn], reply: RelayReply | None) -> list[Relay]:
    """Each turn condensed, or passed on whole where the reply cannot stand for it: nobody is silenced by a relay."""
    said: Mapping[str, str] = reply.turns if reply else {}
    found = []
    for number, turn in enumerate(turns, 1):
        text = said.get(str(number), "").strip()
        why = reason_to_pass_whole(text, turn.text) if reply else "no usable reply"
        found.append(
            Relay(
                by=by,
                seat=turn.seat,
                phase=turn.phase,
                round=turn.round,
                turn=turn.number,
                text="" if why else text,
                whole=why,
            )
        )
    return found


def reason_to_pass_whole(text: str, turn: str) -> str:
    if not text:
        return "it is not in the reply"
    if len(text) >= len(turn):
        return "the condensed text is no shorter"
    lost = sorted(set(NAMED.findall(turn)) - set(LETTER.findall(text)))
    return f"candidate {', '.join(lost)} is missing in the condensed text" if lost else ""
