"""A protocol of an installed package: every surface has it, and nothing in `src` knows it."""

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROTOCOL = '''
"""Poll: each voter says yes or no; most of them decide."""
from typing import Annotated, Literal

from pydantic import Field

from moot.core.errors import SessionStopped
from moot.core.protocol import INTERRUPTED, Option, Protocol
from moot.core.report import Bullets, Headline, Report
from moot.core.room import Ask, Room
from moot.core.types import Absent, Code, Result, Rules, Value


class PollRules(Rules):
    rounds: Annotated[int, Option(short="-r")] = Field(default=2, ge=1, le=9, description="times everybody is asked")


class PollInput(Value):
    question: str = Field(description="what is asked")
    about: Code | None = Field(default=None, description="the code it is about")
    tone: Literal["plain", "warm"] = Field(default="plain", description="how it is asked")


class Opinion(Value):
    vote: Literal["yes", "no"]
    why: str = ""


class PollResult(Result):
    outcome: str
    rounds: int
    votes: tuple[str, ...]
    reasons: tuple[str, ...]


async def poll(given: PollInput, rules: PollRules, room: Room) -> PollResult:
    said, outcome = list[Opinion](), ""
    try:
        if given.about:
            await room.snapshot(given.about, "as given")
        for number in range(1, rules.rounds + 1):
            prompt = f"{given.tone}: {given.question}"
            answer = await room.ask(Ask("voter", "poll", number, "You vote.", prompt, Opinion))
            if not isinstance(answer, Absent):
                said.append(answer)
    except SessionStopped as cut:
        outcome = cut.kind
    votes = tuple(each.vote for each in said)
    outcome = outcome or ("yes" if votes.count("yes") * 2 > len(votes) else "no")
    return PollResult(outcome=outcome, rounds=len(said), votes=votes, reasons=tuple(each.why for each in said))


def report(result: PollResult) -> Report:
    text = f"{result.outcome}: {result.votes.count('yes')} of {len(result.votes)} votes"
    said = Bullets(title="Reasons", entries=result.reasons)
    return Report(blocks=(Headline(verdict=result.outcome, text=text), said))


PROTOCOL = Protocol(
    name="poll", summary="Ask voters a question.", input=PollInput, rules=PollRules, result=PollResult, run=poll,
    report=report, seats=("voter",), examples=('moot poll "Ship it?" -m openai:gpt-5',),
    exit_code=lambda result: {"yes": 0, "no": 1, "cancelled": INTERRUPTED}.get(result.outcome, 2),
)
'''
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "moot-poll"
version = "1.0"

[project.entry-points."moot.protocols"]
poll = "moot_poll:PROTOCOL"
"""
YES = json.dumps({"vote": "yes", "why": "it is ready"})
LIBRARY = """
import json, sys
from pathlib import Path
from moot import run, run_sync
result = run_sync(run("poll", question="Ship it?", about=Path("app.py"), model="script:replies.yaml", store="lib.db"))
print(json.dumps(result.model_dump(mode="json")))
"""
SERVER = """
import asyncio, json, sys
sys.path[:0] = sys.argv[1].split(":")
from mcp_kit import connect, data_of
from serving_kit import serving
from moot.testing import ActingModel

async def main():
    async with serving("http.db", ActingModel(lambda call: sys.argv[2])) as client:
        schema = (await client.get("/openapi.json")).json()["components"]["schemas"]
        body = {"protocol": "poll", "input": {"question": "Ship it?", "about": {"app.py": "x = 1"}, "tone": "warm"},
                "rules": {"rounds": 3}, "models": "openai:fake"}
        session = await client.begin(body)
        await client.until(session, "completed")
        result = (await client.get(f"/v1/debates/{session}/results")).json()
        listed = (await client.get("/v1/debates", params={"protocol": "poll"})).json()["sessions"]
        wrong = await client.post("/v1/debates", {**body, "input": {"question": "Ship it?", "tone": "cold"}})
        fork = await client.post(f"/v1/debates/{session}/fork", {"at": 4, "changes": {"rounds": 4}})
        await client.until(fork.json()["id"], "completed")
        forked = (await client.get(f"/v1/debates/{fork.json()['id']}/results")).json()
        async with connect(client, "2026-07-28") as agent:
            tools = {tool.name: tool.input_schema for tool in (await agent.list_tools()).tools}
            voted = data_of(await agent.call_tool("poll", {"question": "Ship it?", "rules": {"rounds": 1}}))
        print(json.dumps({"body": schema["BeginPoll"], "tool": tools["poll"], "voted": voted,
                          "input": schema["PollBody"], "result": result,
                          "listed": len(listed), "wrong": wrong.status_code, "forked": forked}))

asyncio.run(main())
"""


@dataclass(frozen=True)
class Place:
    """A folder in which the package is installed."""

    folder: Path
    site: Path

    def python(self, *words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(self.site), "MOOT_STORE": "s.db", "MOOT_MODEL": "script:replies.yaml"}
        return subprocess.run(
            [sys.executable, *words], cwd=self.folder, env=env, capture_output=True, text=True, timeout=120, check=False
        )

    def moot(self, *words: str, code: int = 0) -> str:
        ran = self.python("-m", "moot", *words)
        assert ran.returncode == code, f"{ran.returncode}: {ran.stdout}{ran.stderr}"
        return ran.stdout

    def run_script(self, text: str, *words: str) -> Any:
        ran = self.python("-c", text, *words)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Built as a wheel and laid out as an installer does; no network is needed for it."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("place")
    (source / "moot_poll").mkdir()
    (source / "moot_poll" / "__init__.py").write_text(PROTOCOL)
    (source / "pyproject.toml").write_text(PROJECT)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=source, check=True, capture_output=True
    )
    [wheel] = (source / "dist").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    (folder / "replies.yaml").write_text(json.dumps([{"seat": "voter", "reply": YES, "always": True}]))
    (folder / "app.py").write_text("x = 1\n")
    return Place(folder, folder / "site")


def test_it_is_a_short_file() -> None:
    assert len([line for line in PROTOCOL.splitlines() if line.strip()]) <= 65


def test_the_command_line_has_it(place: Place) -> None:
    assert "Ask voters a question." in place.moot("--help")
    told = place.moot("poll", "--help")
    for word in ("QUESTION", "--about", "--tone", "--rounds", "-r", "--model", "--branch", "times everybody is asked"):
        assert word.lower() in told.lower(), word
    result = json.loads(place.moot("poll", "Ship it?", "--tone", "warm", "--about", "app.py", "-r", "3", "--json"))
    assert (result["outcome"], result["votes"], result["calls"]) == ("yes", ["yes"] * 3, 3)
    told = place.moot("poll", "Ship it?")
    assert "yes: 2 of 2 votes" in told and "it is ready" in told


def test_what_is_wrong_is_said_before_it_begins(place: Place) -> None:
    place.moot("poll", "Ship it?", "--tone", "cold", code=2)
    place.moot("poll", "Ship it?", "--rounds", "10", code=2)
    place.moot("poll", "Ship it?", "--gate", "verdict", code=2)
    place.moot("poll", "Ship it?", "--seat", "judge=script:replies.yaml", code=2)


def test_a_session_is_stopped_carried_on_replayed_exported_and_forked(place: Place) -> None:
    stopped = json.loads(place.moot("poll", "Stop it?", "--rounds", "3", "--max-calls", "1", "--json", code=2))
    session = stopped["session_id"]
    assert (stopped["outcome"], stopped["rounds"], stopped["resumable"]) == ("budget_exhausted", 1, True)
    ended = json.loads(place.moot("resume", session, "--max-calls", "9", "--json"))
    assert (ended["outcome"], ended["rounds"], ended["calls"]) == ("yes", 3, 3)
    assert json.loads(place.moot("replay", session, "--json"))["same"] is True
    assert "Stop it?" in place.moot("export", session, "--format", "md")
    assert "Stop it?" in place.moot("export", session, "--format", "html")
    fork = json.loads(place.moot("fork", session, "--at", "3", "--set", "rounds=4", "--json", "--quiet"))
    assert (fork["rounds"], fork["session_id"] != session) == (4, True)
    assert {each["protocol"] for each in json.loads(place.moot("list", "--json"))} == {"poll"}


def test_secrets_of_its_input_are_masked(place: Place) -> None:
    secret = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    result = json.loads(place.moot("poll", f"Is {secret} safe?", "--json"))
    record = place.moot("export", result["session_id"], "--format", "json")
    assert secret not in record and "REDACTED_" in record


def test_the_library_has_it(place: Place) -> None:
    result = place.run_script(LIBRARY)
    assert (result["outcome"], result["votes"]) == ("yes", ["yes", "yes"])


def test_the_server_has_it(place: Place) -> None:
    helpers = Path(__file__).parent
    found = place.run_script(
        f"import sys; sys.path.insert(0, {str(helpers.parent)!r})\n{SERVER}", f"{helpers}/server:{helpers}/mcp", YES
    )
    assert found["body"]["properties"]["protocol"]["const"] == "poll"
    assert {"question", "about", "tone", "language"} == set(found["input"]["properties"])
    assert found["result"]["result"]["votes"] == ["yes"] * 3 and found["listed"] == 1
    assert found["wrong"] == 422
    assert {"question", "about", "tone"} <= set(found["tool"]["properties"])
    assert "rounds" in found["tool"]["properties"]["rules"]["description"]
    assert found["voted"]["report"].startswith("**yes: 1 of 1 votes**")
    assert found["forked"]["result"]["rounds"] == 4
