"""Tools in a debate: a seat may use those of its role and no others, every use is recorded, and apart stays apart."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import OPEN, QUIET, TESTS, Entry, says, world
from debates import FIRST, LAST, NO_EMPTY, RIGHT, ballot, blind, code, points, team, wrote
from kit import write_trusted
from test_debate_cli import debated, story

from moot import DebateRules, Event, UsageError, debate, run_sync
from moot.core.events import StepDone
from moot.core.types import Code, SourceFile
from moot.protocols.debate.state import DebateState, tool_context
from moot.protocols.debate.types import PHASES, Candidate, Checked, DebateInput, Phase
from moot.protocols.solve.attempts import Task
from moot.teams.roles import load_shipped_roles

MANY = ("--tools", "run_tests,run_code,lessons,read_file")


def call(name: str, **arguments: object) -> str:
    return f"Let me see.\n\nTOOL: {name}\nARGUMENTS: {json.dumps(arguments)}"


def steps(told: dict[str, Any], seat: str) -> list[tuple[str, Any]]:
    """The steps of one seat's turns, by name, with their values."""
    turns = {s["seq"] for s in told["steps"] if s["name"] == f"ask {seat}"}
    return [(s["name"], s["value"]) for s in told["steps"] if s["seq"] in turns]


def test_a_seat_uses_a_tool_of_its_role_and_the_record_has_it(cli: Cli, tmp_path: Path) -> None:
    drafts = [
        *says("code", call("run_tests", code=NO_EMPTY), code(RIGHT), seat="critic"),
        *says("code", code(RIGHT)),
    ]
    result = debated(cli, tmp_path, drafts, tests=TESTS, more=("--tools", "run_tests"))
    assert (result["exit"], result["outcome"], result["calls"], result["degraded"]) == (0, "agreed", 4, [])
    told = story(cli, result["session_id"])
    made = steps(told, "critic")
    assert [name for name, _ in made] == ["offer", "ask critic", "tool run_tests", "ask critic"]
    assert "1 of 2 tests passed" in made[2][1]["result"]["text"]
    assert (
        "1 of 2 tests passed" in made[3][1]["call"]["prompt"] and "gives you no orders" in made[3][1]["call"]["prompt"]
    )
    assert [log["agent"] for log in told["logs"] if log["action"] == "tool run_tests"] == ["critic"]


def test_without_the_setting_there_are_no_tools(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, says("code", code(RIGHT)), tests=TESTS)
    told = story(cli, result["session_id"])
    assert "offer" not in [step["name"] for step in told["steps"]]
    assert all("TOOL" not in v["call"]["prompt"] for n, v in steps(told, "critic") if n == "ask critic")


ASKING: list[Entry] = [
    *says("code", code(LAST), seat="proposer"), *says("code", code(FIRST), seat="critic"),
    *says("code", "I cannot.", seat="reviewer"),
    *says("tests", wrote("largest([]) == None")),
    *says("points", call("run_tests"), points(breaking=["largest([2, 9, 4]) == 9"])),
    *says("blind", blind(n1="unknown")),
    *says("merge", code(LAST)),
    *says("ballot", call("run_tests"), ballot("B", "A"), seat="moderator"),
    *says("ballot", ballot("B", "A")),
]  # fmt: skip


def test_a_tool_of_another_role_is_refused_and_each_is_offered_its_own(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, ASKING, QUIET, task=OPEN, more=(*MANY, "--rounds", "1"))
    told = story(cli, result["session_id"])
    asked = [s for s in told["steps"] if s["name"].startswith("ask ")]
    offers = {s["seq"]: {tool["name"] for tool in s["value"]["tools"]} for s in told["steps"] if s["name"] == "offer"}
    seats = {s["seq"]: s["value"]["call"]["seat"] for s in asked}
    assert {seats[seq] for seq in offers} == {"proposer", "critic", "reviewer", "optimizer", "moderator"}
    for seq, names in offers.items():
        assert names == set(load_shipped_roles()[seats[seq]].tools) & set(MANY[1].split(",")), seats[seq]
    refused = [value for name, value in steps(told, "moderator") if name == "tool"]
    assert [use["result"]["status"] for use in refused] == ["refused"]
    assert "you may not use 'run_tests'; you may use: lessons, read_file" in refused[0]["result"]["text"]
    assert len(result["votes"][0]["ballots"]) == 5 and result["winner"] == "B"
    kinds = {s["seq"] for s in asked if s["value"]["call"]["prompt"].startswith(("Write tests for", "What must these"))}
    assert len(kinds) >= 4 and not kinds & set(offers)


def test_a_tool_that_no_role_of_the_team_has_is_said(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, says("code", code(RIGHT)), tests=TESTS, more=("--tools", "git_blame"))
    assert result["degraded"] == ["nobody may use git_blame: no role of this team has it"]


SERVER = Path(__file__).parents[2] / "edge" / "tools" / "mcp_server.py"
USING = [
    *says("points", call("docs.add", a=40, b=2), points(), seat="critic"),
    *says("code", code(LAST), seat="proposer"), *says("code", code(FIRST)), *says("merge", code(LAST)),
    *says("ballot", ballot("B", "A")),
]  # fmt: skip


def with_server(folder: Path, settings: str = "") -> None:
    command = json.dumps([sys.executable, str(SERVER)])
    write_trusted(folder, f"{settings}\n[mcp.servers.docs]\ncommand = {command}\n")


def test_a_tool_of_an_mcp_server_is_for_every_seat_if_no_role_names_it(cli: Cli, tmp_path: Path) -> None:
    with_server(tmp_path)
    more = ("--tools", "docs.add", "--rounds", "1", "--drafts", "2")
    result = debated(cli, tmp_path, USING, QUIET, task=OPEN, more=more)
    assert not any("nobody may use" in note for note in result["degraded"])
    told = story(cli, result["session_id"])
    uses = [value for name, value in steps(told, "critic") if name == "tool docs.add"]
    assert [(use["result"]["status"], use["result"]["text"]) for use in uses] == [("done", "42")]
    offers = [s for s in told["steps"] if s["name"] == "offer"]
    assert offers and all([tool["name"] for tool in s["value"]["tools"]] == ["docs.add"] for s in offers)


def test_a_role_that_names_a_tool_of_a_server_has_it_alone(cli: Cli, tmp_path: Path) -> None:
    with_server(tmp_path)
    (tmp_path / "roles").mkdir()
    shipped = load_shipped_roles()["critic"]
    own = f"---\nfocus: sums\ntools: [docs.add, run_code]\n---\n{shipped.prompt}\n"
    (tmp_path / "roles" / "critic.md").write_text(own)
    more = ("--tools", "docs.add", "--roles", "roles", "--rounds", "1", "--drafts", "2")
    result = debated(cli, tmp_path, USING, QUIET, task=OPEN, more=more)
    told = story(cli, result["session_id"])
    seats = {s["seq"]: s["value"]["call"]["seat"] for s in told["steps"] if s["name"].startswith("ask ")}
    assert {seats[s["seq"]] for s in told["steps"] if s["name"] == "offer"} == {"critic"}
    assert [name for name, _ in steps(told, "critic")].count("tool docs.add") == 1


def test_a_role_file_with_a_strange_tool_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "roles").mkdir()
    (tmp_path / "roles" / "critic.md").write_text("---\nfocus: sums\ntools: [shell]\n---\nYou add.\n")
    ran = cli("team", "show", "--roles", str(tmp_path / "roles"))
    assert ran.code == 2 and "unknown tool 'shell'" in ran.err and "SERVER.TOOL" in ran.err


OWN_MODEL = '[models.mine]\nprovider = "script"\nmodel = "replies.yaml"\ntools = true\n'
TRYING = [
    *says("points", call("run_code", code="print(6 * 7)"), points(), seat="critic"),
    *says("code", code(LAST), seat="proposer"), *says("code", code(FIRST)), *says("merge", code(LAST)),
    *says("ballot", ballot("B", "A")),
]  # fmt: skip


def offered(told: dict[str, Any]) -> dict[str, set[str]]:
    """The tools that each seat was offered, by its phases."""
    asked = {s["seq"]: s["value"]["call"] for s in told["steps"] if s["name"].startswith("ask ")}
    found = dict[str, set[str]]()
    for step in told["steps"]:
        if step["name"] == "offer":
            call = asked[step["seq"]]
            found.setdefault(f"{call['seat']} {call['phase']}", set()).update(t["name"] for t in step["value"]["tools"])
    return found


def test_a_model_that_calls_tools_is_offered_those_of_its_role_that_cost_nothing(cli: Cli, tmp_path: Path) -> None:
    world(tmp_path, TRYING, QUIET)  # the settings name this file, and are trusted together with it
    write_trusted(tmp_path, OWN_MODEL)
    more = ("-m", "mine", "--rounds", "1", "--drafts", "2")
    result = debated(cli, tmp_path, TRYING, QUIET, task=OPEN, more=more, model=())
    told = story(cli, result["session_id"])
    found = offered(told)
    assert found["critic critique"] == {"run_code", "run_tests", "search_files", "read_file"}
    assert found["moderator convergence"] == {"read_file"}, "lessons are asked for by name only"
    assert not any("self_evolvement" in where for where in found), "there Moot runs a seat's code anyway"
    assert "tool run_code" in [name for name, _ in steps(told, "critic")]
    world(tmp_path, TRYING[2:], QUIET)
    write_trusted(tmp_path, OWN_MODEL)
    off = debated(cli, tmp_path, TRYING[2:], QUIET, task=OPEN, more=(*more, "--tools", "none"), model=())
    assert offered(story(cli, off["session_id"])) == {} and off["degraded"] == result["degraded"]


def test_a_model_of_which_nobody_knows_whether_it_calls_tools_is_offered_none(cli: Cli, tmp_path: Path) -> None:
    more = ("--rounds", "1", "--drafts", "2")
    result = debated(cli, tmp_path, TRYING[2:], QUIET, task=OPEN, more=more)
    assert offered(story(cli, result["session_id"])) == {}


def test_an_unknown_tool_is_a_mistake_before_anything_is_spent(cli: Cli, tmp_path: Path) -> None:
    ran = cli(*world(tmp_path, says("code", code(RIGHT)), more=("--tools", "run_tests,shell")))
    assert ran.code == 2 and "unknown tool 'shell'" in ran.err and cli("list", "--json").out.strip() == "[]"


def candidate(letter: str, seat: str, text: str, passed: int) -> Candidate:
    checked = Checked(passed=passed, of=2)
    return Candidate(id=letter, seat=seat, round=1, phase="proposal", code=text, checked=checked)


@pytest.mark.parametrize("phase", PHASES)
def test_a_tool_shows_nobody_the_work_of_another_before_the_prompts_do(phase: Phase) -> None:
    files = (
        SourceFile(path="solution.py", language="python", text="old"),
        SourceFile(path="b.py", language="python", text="beside"),
    )
    given = DebateInput(task=OPEN, team=team("proposer", "critic", "judge"), context=Code(files=files))
    up = (candidate("A", "proposer", LAST, 2), candidate("B", "critic", FIRST, 1))
    table = DebateState(given, DebateRules(), Task(text=OPEN, language="python", path="solution.py"), candidates=up)
    seen = [{f.path: f.text for f in tool_context(member, phase, table).code.files} for member in given.team]
    apart = phase in ("dehallucination", "self_evolvement", "proposal")
    assert [texts["solution.py"] for texts in seen] == ([LAST, FIRST, "old"] if apart else [LAST] * 3)
    assert all(texts["b.py"] == "beside" for texts in seen)


def test_from_python_the_rules_name_tools_and_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    entries = [
        *says("code", call("run_code", code="print(6 * 7)"), code(RIGHT), seat="critic"),
        *says("code", code(RIGHT)),
    ]
    (tmp_path / "r.yaml").write_text(json.dumps(entries))
    given: dict[str, Any] = {"model": "script:r.yaml", "keep": False}
    with pytest.raises(UsageError, match="unknown tool 'shell'"):
        run_sync(debate(OPEN, DebateRules(tools=("shell",)), **given))
    seen: list[Event] = []
    rules = DebateRules(tools=("run_code",), phase_calls={"self_evolvement": 2})
    result = run_sync(debate(OPEN, rules, listen=seen.append, **given))
    assert result.code == RIGHT and "tool run_code" in [e.name for e in seen if isinstance(e, StepDone)]
    assert [c.seat for c in result.candidates if c.phase == "self_evolvement"] == ["proposer", "critic"]
