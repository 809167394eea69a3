"""Write the table of docs/debate.md: what is different in the record of a debate when one of its parts is off.

Each row is one `DebatePart`. Its two sessions are run from scripted replies (examples/effects), and what `LOOKS` finds
in their records is compared. A part whose two records do not differ shows "no difference".

    python scripts/effect_table.py            print the table
    python scripts/effect_table.py --write    write it into docs/debate.md
"""

import contextlib
import io
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from moot.__main__ import run
from moot.protocols.debate.types import PHASES, Planning, Topology
from moot.teams.roles import load_shipped_roles
from moot.teams.voting import Method

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/debate.md"
BEGIN, END = "<!-- effects: scripts/effect_table.py -->", "<!-- end of effects -->"
CODE = (
    "Write largest(numbers): the largest number of a list, or None for an empty one. "
    "largest([7]) -> 7, largest([4]) -> 4, largest([9]) -> 9"
)
TOPIC = "Should the service be split in two?"
COMMON = ("-m", "script:replies.yaml", "--rounds", "1", "--json", "--quiet")
FIXED = ("debate", CODE, "--spend", "fixed", "--planning", "off", *COMMON)
TALK = ("debate", TOPIC, "--topic", "--planning", "off", *COMMON)
BASE_TEAM = ("proposer", "critic", "reviewer", "optimizer", "moderator")
BALLOT = ("calls", "outcome", "winner", "ballots", "elected", "consensus", "characters shown to seats")
"""What one more ballot changes."""
ACTS = (
    "SELECT group_concat(phase, ', ') FROM (SELECT DISTINCT phase FROM debate_turns"
    " WHERE (agent_role = '{role}' OR agent_id = '{seat}') AND phase != 'convergence')"
)
NEEDED = {"blue_team": ("--adversarial",), "moderator": ("--clarify-always",), "teacher": ("--learn",)}
"""What a session must have for this role to have work in it."""
COMPANY = {"blue_team": ("red_team",)}
"""Who must be there for it: nobody patches what nobody attacked."""
SAME = "no difference"
UNMEASURED = "not measured"

Look = str
"""`count PATH` and `value PATH` read the result, a query beginning with SELECT reads the store, `prompts` counts the
characters that seats were shown."""
LOOKS: Mapping[str, Look] = {
    "calls": "value calls",
    "outcome": "value outcome",
    "winner": "value winner",
    "candidates": "count candidates",
    "points": "count points",
    "tests agreed on": "SELECT count(*) FROM json_each((SELECT json_extract(outcome, '$.result.claims') FROM"
    " debate_sessions)) WHERE json_extract(value, '$.status') = 'agreed'",
    "scores": "count scores",
    "questions asked back": "count clarifications",
    "attacks": "count attacks",
    "ballots": "count votes.0.ballots",
    "counted by": "value votes.0.election.method",
    "elected": "value votes.0.election.winner",
    "consensus": "value votes.0.consensus.level",
    "parts of the plan": "count plan.subtasks",
    "code versions": "SELECT count(*) FROM code_versions",
    "runs noted on turns": "SELECT count(*) FROM debate_turns WHERE test_results IS NOT NULL",
    "tool calls": "SELECT count(*) FROM debate_turns WHERE tool_calls IS NOT NULL",
    "lessons": "SELECT count(*) FROM lessons",
    "characters shown to seats": "prompts",
}


@dataclass(frozen=True)
class DebatePart:
    kind: str
    name: str
    with_it: tuple[str, ...]
    without: tuple[str, ...]
    measured: str = ""
    more: Mapping[str, Look] = field(default_factory=dict)
    """Looks of its own."""
    aside: tuple[str, ...] = ()
    """Looks that differ whatever the part does, and prove nothing."""


@dataclass(frozen=True)
class RanSession:
    """What one session left behind."""

    result: Mapping[str, Any]
    store: Path

    def see(self, look: Look) -> object:
        if look.startswith("SELECT"):
            with contextlib.closing(sqlite3.connect(self.store)) as db:
                return db.execute(look).fetchone()[0]
        if look == "prompts":
            return self.shown
        word, _, path = look.partition(" ")
        found = follow_path(self.result, path)
        return found if word == "value" else len(found) if found else 0

    @cached_property
    def shown(self) -> int:
        with contextlib.closing(sqlite3.connect(self.store)) as db:
            steps = db.execute("SELECT value FROM journal WHERE name LIKE 'ask %'").fetchall()
        calls = [json.loads(value).get("call", {}) for (value,) in steps]
        return sum(len(call.get("prompt", "")) + len(call.get("system", "")) for call in calls)


def follow_path(found: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(found, list):
            found = found[int(part)] if len(found) > int(part) else None
        else:
            found = found.get(part) if isinstance(found, Mapping) else None
    return found


def list_parts() -> Iterator[DebatePart]:
    """One entry for each part that a user can switch off."""
    yield from list_phases()
    yield from list_roles()
    for name in get_args(Topology):
        if name != "auto":
            other = "graph_mesh" if name != "graph_mesh" else "star"
            measured = read_live(f"topology {name}", "against the mesh")
            yield DebatePart("topology", name, (*TALK, "--topology", name), (*TALK, "--topology", other), measured)
    for name in get_args(Planning):
        if name not in ("off", "auto"):
            words = ("debate", CODE, "--spend", "fixed", *COMMON)
            yield DebatePart("planning", name, (*words, "--planning", name), FIXED)
    for method in get_args(Method):
        other = "plurality" if method != "plurality" else "borda"
        words = (*TALK, "--voting", method), (*TALK, "--voting", other)
        measured = read_live(f"voting {method}", "against the weighted count")
        yield DebatePart("voting", method, *words, measured, aside=("counted by",))


def list_phases() -> Iterator[DebatePart]:
    for phase in PHASES:
        if phase == "adversarial":
            yield DebatePart("phase", phase, (*FIXED, "--adversarial"), FIXED, read_live("with the attack", "with it"))
            continue
        held = ",".join(name for name in PHASES if name not in ("adversarial", phase))
        measured = read_live(f"without {phase}", "without it")
        asks = ("--clarify-always",) if phase == "dehallucination" else ()
        yield DebatePart("phase", phase, (*FIXED, *asks), (*FIXED, *asks, "--phases", held), measured)


def list_roles() -> Iterator[DebatePart]:
    for role in sorted(load_shipped_roles()):
        without = [name for name in (*BASE_TEAM, *COMPANY.get(role, ())) if name != role]
        acts = {"acts in": ACTS.format(role=role, seat=role.removesuffix("_team"))}
        words = seat_team([*without, role], role), seat_team(without, role)
        yield DebatePart("role", role, *words, more=acts, aside=BALLOT)


def seat_team(roles: list[str], about: str) -> tuple[str, ...]:
    return (*FIXED, *NEEDED.get(about, ()), "--voting", "borda", "--team", "+".join(roles))


LIVE = "live.md"


def read_live(arm: str, said: str) -> str:
    """What `benchmarks.run_live` found for an arm with one part switched, with one model and with two."""
    path = ROOT / "benchmarks/results" / LIVE
    text = path.read_text("utf-8") if path.is_file() else ""
    row = re.compile(rf"^\| {re.escape(arm)} \| (\d+) \| ([^|]+?) \| (\d+) \| (\d+) \| ([\d.]+) ", re.MULTILINE)
    found = {name: row.search(text.partition(f"## {name}:")[2].partition("\n## ")[0]) for name in ("parts", "pair")}
    told = [
        f"{words} {each[2]} points, {each[3]} gained, {each[4]} lost of {each[1]}"
        for words, each in (("one model", found["parts"]), ("two models", found["pair"]))
        if each
    ]
    return f"{said}: {'; '.join(told)}" if told else ""


class Stage:
    """Runs each command once, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ran: dict[tuple[str, ...], RanSession] = {}

    def play(self, command: tuple[str, ...]) -> RanSession:
        if command not in self._ran:
            self._ran[command] = self._play(command, self._folder / str(len(self._ran)))
        return self._ran[command]

    def _play(self, command: tuple[str, ...], folder: Path) -> RanSession:
        shutil.copytree(ROOT / "examples/effects", folder)
        words, env = list(command), {"MOOT_STORE": str(folder / "s.db"), "MOOT_DEBATE_LESSONS": "0"}
        if "--clarify-always" in words:
            words.remove("--clarify-always")
            env["MOOT_DEBATE_CLARIFY"] = "always"
        if "--learn" in words:
            words.remove("--learn")
            env["MOOT_DEBATE_LESSONS"] = "3"
        if "--team" in words:
            place = words.index("--team") + 1
            roles = words[place].split("+")
            words[place] = "team.toml"
            agents = (f'[[agents]]\nrole = "{role}"\nmodel = "script:replies.yaml"\n' for role in roles)
            (folder / "team.toml").write_text("\n".join(agents))
        out = run_in(folder, words, env)
        return RanSession(json.loads(out), folder / "s.db")


def run_in(folder: Path, words: list[str], env: Mapping[str, str]) -> str:
    before, kept = Path.cwd(), {name: os.environ.get(name) for name in env}
    os.chdir(folder)
    os.environ.update(env)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as wrong:
            run(words, debug=False)
        if not said.getvalue().strip():
            raise RuntimeError(f"moot {' '.join(words)}: {wrong.getvalue()}")
        return said.getvalue()
    finally:
        os.chdir(before)
        for name, value in kept.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def describe_difference(part: DebatePart, stage: Stage) -> str:
    one, other = stage.play(part.with_it), stage.play(part.without)
    found = []
    for label, look in {**part.more, **LOOKS}.items():
        had, has = one.see(look), other.see(look)
        if had != has and label not in part.aside:
            found.append(f"{label} {format_seen(had)} → {format_seen(has)}")
    return "; ".join(found) or SAME


def format_seen(value: object) -> str:
    return "none" if value is None or value == "" else f"{value:.2f}" if isinstance(value, float) else str(value)


def render_table(show: Callable[[str], object] = lambda line: None) -> str:
    lines = ["| part | with it → without it | on a real model |", "|---|---|---|"]
    with tempfile.TemporaryDirectory(prefix="moot-effects-") as place:
        stage = Stage(Path(place))
        for part in list_parts():
            said = describe_difference(part, stage)
            lines.append(f"| {part.kind} `{part.name}` | {said} | {part.measured or UNMEASURED} |")
            show(lines[-1])
    return "\n".join(lines)


def read_table(page: str) -> str:
    return page.partition(BEGIN)[2].partition(END)[0].strip()


def main(words: list[str]) -> int:
    table = render_table(lambda line: sys.stdout.write(f"{line}\n"))
    if "--write" in words:
        page = PAGE.read_text("utf-8")
        head, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
