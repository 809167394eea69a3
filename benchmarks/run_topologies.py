"""What a topology saves against the mesh: the same team and the same replies, with the tokens and calls of each.

The replies are scripted, so the result is the same by construction: what is measured is what is put into prompts. A
critic makes six points, and whoever condenses a turn keeps a third of it. All phases of a topic, two rounds.
"""

import asyncio
import json
import re
import sys
from dataclasses import dataclass

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep
from moot.core.types import ModelCall
from moot.edge.models.usage import estimate_tokens
from moot.protocols.debate.script import debate
from moot.protocols.debate.types import DebateInput, DebateResult, DebateRules, Member
from moot.runtime.ports import SessionPorts
from moot.scan import StaticTeam
from moot.teams.topology import TOPOLOGIES, Topology
from moot.testing import ActingModel, FrozenClock, room

SIZES = (5, 10, 20)
ROLES = (
    "proposer", "critic", "reviewer", "optimizer", "moderator", "security", "red_team", "test_agent", "architect",
    "judge", "generator", "validator", "performance_analyzer", "implementer", "designer", "refactorer", "blue_team",
    "teacher", "compiler", "executor",
)  # fmt: skip
TOPIC = "Should the billing service be split from the shop before the summer sale?"
POINT = (
    "the two teams would still wait for one another, because the release stays one and the tables are shared, "
    "and the last split of this kind took four months longer than its plan said"
)
KEPT = 1 / 3
"""Of a turn, by whoever condenses it."""
NUMBERED = re.compile(r"^(\d+)\. .*:\n((?:  .*\n?)+)", re.MULTILINE)


def say(call: ModelCall) -> str:
    head = call.prompt.split("\n", 1)[0]
    if head.startswith("Take a position"):
        return json.dumps({"position": f"{call.seat} would wait until the autumn.", "arguments": [POINT]})
    if head.startswith("Make one better"):
        return json.dumps({"position": "Wait until the autumn, and measure first.", "arguments": [POINT]})
    if head.startswith("Critics"):
        spots = [{"point": f"{call.seat}: {POINT}", "candidate": letter, "stance": "disagree"} for letter in "ABABAB"]
        return json.dumps({"points": spots, "tests": []})
    if head.startswith("Score"):
        marks = {"correctness": 0.5, "coverage": 0.5, "maintainability": 0.5}
        return json.dumps({"scores": [{"why": POINT, "candidate": letter, **marks} for letter in "AB"]})
    if head.startswith("Rank"):
        letters = re.findall(r"Only these letters exist: (.*?)\.", call.prompt)[0].split(", ")
        return json.dumps({"reasons": POINT, "ranking": sorted(letters), "confidence": 0.2})
    if head.startswith("Condense"):
        turns = {number: condense(text) for number, text in NUMBERED.findall(call.prompt)}
        return json.dumps({"turns": turns})
    if head.startswith("You lead a part"):
        seats = re.findall(r"(\S+) \(", call.prompt.rpartition("Below you: ")[2].partition(".")[0])
        return json.dumps({"parts": dict.fromkeys(seats, "Look at the shared tables first.")})
    return json.dumps({"order": [1]})


def condense(text: str) -> str:
    letters = ", ".join(dict.fromkeys(re.findall(r"^  ([A-Z]\d*): ", text, re.MULTILINE)))
    return f"{letters}: {' '.join(text.split())[: int(len(text) * KEPT)]}"


@dataclass(frozen=True)
class TopologyRun:
    calls: int
    aside: int
    """Relays and delegations."""
    prompt_tokens: int
    reply_tokens: int
    result: DebateResult

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.reply_tokens


async def hold(size: int, topology: Topology) -> TopologyRun:
    team = tuple(Member(seat=role, role=role, model="script:same", system=f"You are {role}.") for role in ROLES[:size])
    model = ActingModel(say)
    ports = SessionPorts(scanner=StaticTeam(), clock=FrozenClock())
    live = room({member.seat: model for member in team}, ports, timeout=3000.0)
    rules = DebateRules(max_rounds=2, drafts=3, lessons=0, planning="off", topology=topology, adjust=False)
    result = await debate(DebateInput(task=TOPIC, kind="topic", path="", team=team), rules, live)
    asked = sum(estimate_tokens(call.system + call.prompt) for call in model.asked)
    said = sum(estimate_tokens(say(call)) for call in model.asked)
    aside = sum(call.phase in ("relay", "delegation") for call in model.asked)
    return TopologyRun(len(model.asked), aside, asked, said, result)


def main() -> int:
    lines = [
        "| seats | topology | calls | relays, delegations | prompt tokens | all tokens | against the mesh "
        "| others' turns | winner |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    figures, equal = list[BenchFigure](), True
    for size in SIZES:
        runs = {topology: asyncio.run(hold(size, topology)) for topology in TOPOLOGIES}
        mesh = runs["graph_mesh"]
        equal &= len({run.result.winner for run in runs.values()}) == 1
        for topology, run in runs.items():
            share = run.tokens / mesh.tokens - 1
            heard = run.result.heard_tokens.shown
            lines.append(
                f"| {size} | {topology} | {run.calls} | {run.aside} | {run.prompt_tokens:,} | {run.tokens:,} | "
                f"{share:+.1%} | {heard:,} | {run.result.winner} |"
            )
            figures.append(BenchFigure(f"{topology}, {size} seats", run.tokens, "tokens"))
    lines.append("")
    lines.append("the winner is the same in all of a size" if equal else "the winners differ: the savings say nothing")
    keep("topologies", "\n".join(lines))
    report_figures("topologies", figures)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
