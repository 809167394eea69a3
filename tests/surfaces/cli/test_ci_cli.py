"""`moot ci` and the hooks of `moot solve`, through the CLI and the library, with real tools in the real sandbox."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import run_moot, settled, write_trusted
from solve_kit import RIGHT, WRONG, code, coder, reflection, reflector, world

import moot
from moot.core.ci import OwnCommand
from moot.core.errors import UsageError

CLEAN = "def double(number: int) -> int:\n    return 2 * number\n"
UNUSED = "import os\n\n" + CLEAN
WRONG_TYPE = CLEAN + "\n\nLIMIT: int = 'many'\n"
HOLE = "import os\n\n\ndef show(request):\n    os.system('cat ' + request.args['name'])\n"
TEST = "from app import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
HOOKS = """[ci.post_optimization]
actions = ["unit_tests", "linter", "static_analysis", "security_scan", "benchmarks"]

[[ci.commands]]
name = "smoke"
point = "post_optimization"
command = ["python", "-c", "import app; assert app.double(1) == 2; print('warm')"]
"""


def ci(cli: Cli, folder: Path, text: str, hooks: str = HOOKS, test: str | None = TEST) -> tuple[int, dict[str, Any]]:
    write_trusted(folder, hooks)
    (folder / "app.py").write_text(text)
    given = []
    if test is not None:
        (folder / "test_app.py").write_text(test)
        given = ["--tests", "test_app.py"]
    ran = cli("ci", "post_optimization", "app.py", *given, "--json")
    assert ran.out, ran.err
    return ran.code, json.loads(ran.out)


def statuses(told: dict[str, Any]) -> dict[str, str]:
    return {each["action"]: each["status"] for each in told["feedback"]}


def test_all_checks_of_a_point_pass(cli: Cli, tmp_path: Path) -> None:
    code, told = ci(cli, tmp_path, CLEAN)
    assert (code, told["verdict"], told["point"]) == (0, "passed", "post_optimization")
    assert [each["tool"] for each in told["feedback"]] == ["", "ruff", "mypy", "moot scan", "", "python"]
    assert set(statuses(told).values()) == {"passed"} and len(told["feedback"]) == 6
    assert told["feedback"][-1]["output"] == "warm" and "3 runs" in told["feedback"][4]["summary"]


@pytest.mark.parametrize(
    ("text", "failed", "words"),
    [
        (CLEAN.replace("2 *", "3 *"), {"unit_tests", "benchmarks", "smoke"}, "test_double"),
        (UNUSED, {"linter"}, "imported but unused"),
        (WRONG_TYPE, {"static_analysis"}, "Incompatible types"),
        (HOLE + "\n\n" + CLEAN, {"security_scan"}, "shell"),
    ],
)
def test_each_check_sees_what_is_its_own_to_see(
    cli: Cli, tmp_path: Path, text: str, failed: set[str], words: str
) -> None:
    code, told = ci(cli, tmp_path, text)
    assert (code, told["verdict"]) == (1, "failed")
    assert {action for action, status in statuses(told).items() if status != "passed"} == failed
    assert words in json.dumps(told["feedback"])


def test_what_does_not_parse_passes_nowhere(cli: Cli, tmp_path: Path) -> None:
    code, told = ci(cli, tmp_path, "def double(:\n")
    assert code == 1 and "passed" not in statuses(told).values()


def test_what_cannot_be_checked_is_skipped_with_a_reason_and_is_no_pass(cli: Cli, tmp_path: Path) -> None:
    hooks = HOOKS.replace('"python", "-c"', '"no-such-tool", "-c"').replace(', "benchmarks"', "")
    code, told = ci(cli, tmp_path, CLEAN, hooks, test=None)
    assert (code, told["verdict"]) == (2, "unclear")
    skipped = {each["action"]: each["summary"] for each in told["feedback"] if each["status"] == "skipped"}
    assert skipped == {"unit_tests": "no tests were given", "smoke": "there is no such program in the sandbox"}


def test_an_own_command_is_held_to_the_limits_and_walls_of_the_sandbox(cli: Cli, tmp_path: Path) -> None:
    own = f"import os; print(os.listdir({str(tmp_path)!r}))"
    text = '[[ci.commands]]\nname = "{}"\npoint = "post_optimization"\ncommand = ["python", "-c", {}]\n'
    hooks = text.format("look", json.dumps(own)) + text.format("late", '"while True: pass"') + "[sandbox]\nwall = 2\n"
    code, told = ci(cli, tmp_path, CLEAN, hooks)
    assert code == 1 and statuses(told) == {"look": "failed", "late": "timeout"}
    assert "FileNotFoundError" in told["feedback"][0]["output"]


def test_a_person_sees_what_fails_and_where(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(UNUSED)
    ran = cli("ci", "optimization", "app.py", "--action", "linter", "--action", "unit_tests")
    assert ran.code == 1
    assert "failed  linter (ruff): 1 finding\n        app.py:1: [F401] `os` imported but unused" in ran.out
    assert "skipped unit_tests: no tests were given" in ran.out
    assert "post_optimization: failed, 0 of 2 checks passed" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("post_lunch", "app.py"), "unknown point 'post_lunch'"),
        (("post_proposal", "app.py"), "nothing is configured at post_proposal"),
        (("post_proposal", "app.py", "--action", "lint"), "unknown action 'lint'"),
        (("post_proposal", "none.py", "--action", "linter"), "none.py"),
    ],
)
def test_a_wrong_word_is_said(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    (tmp_path / "app.py").write_text(CLEAN)
    ran = cli("ci", *arguments)
    assert ran.code == 2 and words in ran.err and ran.out == ""


def test_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = OwnCommand(name="count", point="post_proposal", command=("grep", "-c", "TODO", "code.py"))
    source = moot.Code(files=(moot.SourceFile(path="code.py", language="python", text=CLEAN),))
    checks = moot.run_sync(moot.ci_checks("post_proposal", source, actions=["linter"], commands=[own]))
    assert [(each.action, each.status) for each in checks.feedback] == [("linter", "passed"), ("count", "failed")]
    with pytest.raises(UsageError):
        moot.run_sync(moot.ci_checks("post_proposal", source))


def solved(cli: Cli, folder: Path, hooks: str, reply: str) -> tuple[int, dict[str, Any]]:
    write_trusted(folder, hooks)
    ran = cli(*world(folder, *coder(code(reply))))
    assert ran.out, ran.err
    return ran.code, json.loads(ran.out)


LINT = '[ci.post_optimization]\nactions = ["linter"]\n'


def test_solve_checks_its_best_attempt_and_a_failed_check_is_no_success(cli: Cli, tmp_path: Path) -> None:
    code, result = solved(cli, tmp_path, LINT, RIGHT)
    assert (code, result["outcome"], statuses(result["checks"])) == (0, "solved", {"linter": "passed"})
    code, result = solved(cli, tmp_path, LINT, "import os\n" + RIGHT)
    assert (code, result["outcome"], statuses(result["checks"])) == (1, "solved", {"linter": "failed"})
    told = cli("show", result["session_id"]).out
    assert "CI hooks" in told and "imported but unused" in told
    shown = cli("resume", result["session_id"])
    assert shown.code == 1 and "checks of the project fail" in shown.out and "linter: failed" in shown.out


def test_solve_says_what_could_not_be_checked_and_checks_nothing_unasked(cli: Cli, tmp_path: Path) -> None:
    own = '[[ci.commands]]\nname = "own"\npoint = "post_optimization"\ncommand = ["no-such-tool"]\n'
    code, result = solved(cli, tmp_path, own, RIGHT)
    assert code == 0 and any("own says nothing" in note for note in result["degraded"])
    code, result = solved(cli, tmp_path, LINT.replace("optimization", "proposal"), RIGHT)
    assert code == 0 and result["checks"] is None


def test_killed_after_any_step_the_checks_are_made_once_as_they_were_configured_at_the_start(tmp_path: Path) -> None:
    entries = [*coder(code(WRONG), code("import os\n" + RIGHT)), *reflector(reflection())]

    def begun(name: str, kill_after: int = 0) -> tuple[Path, subprocess.CompletedProcess[str]]:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "moot.toml").write_text(LINT)
        return folder, run_moot(folder, *world(folder, *entries), kill_after=kill_after)

    _, whole = begun("whole")
    assert whole.returncode == 1, whole.stderr
    steps = 0
    for step in range(10, 40):
        folder, killed = begun(f"killed-{step}", step)
        if killed.returncode != -signal.SIGKILL:
            break
        steps = step
        (folder / "moot.toml").write_text("")  # resumed as it was begun
        (listed,) = json.loads(run_moot(folder, "list", "--json").stdout)
        resumed = run_moot(folder, "resume", listed["id"], "--json")
        assert resumed.returncode == 1, resumed.stderr
        assert settled(resumed.stdout) == settled(whole.stdout)
        story = json.loads(run_moot(folder, "show", listed["id"], "--json").stdout)
        assert [s["name"] for s in story["steps"]].count("check") == 1
    assert steps >= 12, "the check is the last step"
