"""Tools of Red and Blue: those that were allowed are offered, used and recorded; no others."""

import json
from pathlib import Path
from typing import Any

from conftest import Cli
from kit import BAD, GOOD, blue

TESTS = "from app import find\n\n\ndef test_it_is_there():\n    assert callable(find)\n"


def use(name: str, **arguments: object) -> str:
    return f"TOOL: {name}\nARGUMENTS: {json.dumps(arguments)}"


def harden(cli: Cli, folder: Path, *more: str) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """The result, and the steps of the seats with their values."""
    replies = [
        {"seat": "red", "reply": use("run_code", code="print(6 * 7)"), "times": 1},
        {"seat": "red", "reply": '{"vulnerabilities": []}', "always": True},
        {"seat": "blue", "reply": use("run_tests", code=GOOD), "times": 1},
        {"seat": "blue", "reply": blue(GOOD), "always": True},
    ]
    (folder / "replies.yaml").write_text(json.dumps(replies))
    (folder / "app.py").write_text(BAD)
    (folder / "test_app.py").write_text(TESTS)
    ran = cli("harden", "app.py", "--tests", "test_app.py", "-m", "script:replies.yaml", "--json", *more)
    result: dict[str, Any] = json.loads(ran.out)
    told = json.loads(cli("export", result["session_id"], "--format", "json").out)
    return result, [(step["name"], step["value"]) for step in told["steps"]]


def test_red_and_blue_use_what_each_flag_allows(cli: Cli, tmp_path: Path) -> None:
    result, steps = harden(cli, tmp_path, "--tools", "run_tests", "--tools", "run_code")
    assert result["outcome"] == "hardened" and result["degraded"] == []
    used = {name: value["result"] for name, value in steps if name.startswith("tool ")}
    assert set(used) == {"tool run_code", "tool run_tests"}
    assert "42" in used["tool run_code"]["text"] and "1 of 1 tests passed" in used["tool run_tests"]["text"]


def test_a_tool_that_was_not_allowed_is_refused_and_the_turn_goes_on(cli: Cli, tmp_path: Path) -> None:
    result, steps = harden(cli, tmp_path, "--tools", "run_tests")
    assert result["outcome"] == "hardened"
    refused = next(value["result"] for name, value in steps if name == "tool")
    assert refused["status"] == "refused" and "you may use: run_tests" in refused["text"]
