"""How well replies were read, from the record alone: `reading_figures.py STORE…` prints a table by protocol and seat.

A reply counts as read at the first attempt, after one clarification, or not at all. Calls that brought no reply (a
provider that was down, a timeout) are counted apart: there was nothing to read.
"""

import json
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import NamedTuple

WAYS = ("first attempt", "after clarification", "not at all", "no reply")
TURNS = """
SELECT s.protocol, t.phase, t.agent_role, t.metadata, t.content,
       EXISTS (SELECT 1 FROM journal j WHERE j.session_id = t.session_id AND j.seq = t.seq AND j.part = 2)
FROM debate_turns t JOIN debate_sessions s ON s.id = t.session_id ORDER BY s.created_at, t.seq
"""


class Turn(NamedTuple):
    protocol: str
    phase: str
    seat: str
    way: str


def turns(store: str) -> Iterator[Turn]:
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        for protocol, phase, seat, metadata, content, asked_again in db.execute(TURNS):
            absent = (json.loads(metadata) or {}).get("absent")
            yield Turn(protocol, phase, seat, way_of(absent, bool(content), bool(asked_again)))


def way_of(absent: dict[str, str] | None, replied: bool, asked_again: bool) -> str:
    if absent is None:
        return "after clarification" if asked_again else "first attempt"
    unread = absent["why"] in ("unreadable", "refused") or replied or asked_again
    return "not at all" if unread else "no reply"


def table(found: Iterable[Turn]) -> str:
    groups: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for turn in found:
        groups[turn.protocol, turn.phase, turn.seat][turn.way] += 1
        groups["all", "", ""][turn.way] += 1
    lines = [f"| protocol | phase | seat | replies | {' | '.join(WAYS)} |", "|---|---|---|---|" + "---|" * len(WAYS)]
    for key, counts in sorted(groups.items(), key=lambda group: (group[0][0] == "all", group[0])):
        replies = sum(counts[way] for way in WAYS[:3])
        shares = [f"{counts[way]} ({counts[way] / replies:.0%})" if replies else "0" for way in WAYS[:3]]
        lines.append(f"| {' | '.join(key)} | {replies} | {' | '.join(shares)} | {counts[WAYS[3]]} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.stdout.write(table(turn for store in sys.argv[1:] for turn in turns(store)) + "\n")
