"""The project's own environment: found, shown to its tests read-only, and nothing of the user beside it."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from kit import run_moot
from sandbox_runs import statuses

from moot import ci_checks, harden, quality, solve, use_tool
from moot.core.errors import UsageError
from moot.core.ports import Sandbox
from moot.core.types import Code, SourceFile, SuiteRun, Tests
from moot.edge.sandbox import find_sandbox
from moot.edge.sandbox.python.poetry import poetry_folders
from moot.edge.sandbox.python.project import ProjectEnvironment, Python, find_project, read_python
from moot.surfaces.library.run import run_tests
from moot.testing import one_file

PACKAGE = "def answer():\n    return 42\n"
APP = "import greeting\n\ndef ask():\n    return greeting.answer()\n"
TEST = "from app import ask\n\ndef test_ask():\n    assert ask() == 42\n"


def environment(folder: Path, **packages: str) -> Path:
    """A virtual environment with packages that exist nowhere else."""
    venv.create(folder, symlinks=True, with_pip=False)
    library = next(folder.glob("lib/python*/site-packages"))
    for name, text in packages.items():
        (library / name).mkdir()
        (library / name / "__init__.py").write_text(text)
    return folder


def run(app: str, test: str, sandbox: Sandbox) -> SuiteRun:
    return asyncio.run(sandbox.run(one_file(app), Tests(files=(("test_app.py", test),))))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    place = home / "work" / "shop"
    place.mkdir(parents=True)
    (place / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    (place / "app.py").write_text(APP)
    (place / "test_app.py").write_text(TEST)
    (home / "secret.txt").write_text("a secret of the user")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.chdir(place)
    return place


def python_of(*paths: Path, python: str | None = None, **env: str) -> tuple[str, str]:
    found = find_project([str(path) for path in paths], python, env)
    return (found.python.program if found.python else "", found.how)


def test_moot_s_own_interpreter_does_not_have_the_project_s_packages(project: Path) -> None:
    environment(project / ".venv", greeting=PACKAGE)
    ran = run(APP, TEST, find_sandbox())
    assert not ran.passed and "No module named 'greeting'" in ran.outcomes[0].detail


@pytest.mark.parametrize("unsafe", [False, True])
def test_tests_see_the_packages_of_the_project(project: Path, unsafe: bool) -> None:
    environment(project / ".venv", greeting=PACKAGE)
    sandbox = find_sandbox(unsafe, project=find_project([str(project / "test_app.py")], None, {}))
    assert statuses(run(APP, TEST, sandbox)) == ["passed"]
    assert asyncio.run(sandbox.probe(one_file(APP), ["ask()"])).answers[0].text == "42"


def test_the_order_in_which_an_environment_is_chosen(project: Path) -> None:
    beside, active = environment(project / ".venv"), environment(project.parent / "active")
    test = project / "test_app.py"
    assert python_of(test) == (str(beside / "bin/python"), ".venv of the project")
    assert python_of(test, VIRTUAL_ENV=str(active)) == (str(active / "bin/python"), "VIRTUAL_ENV")
    assert python_of(test, python=str(beside), VIRTUAL_ENV=str(active)) == (str(beside / "bin/python"), "--python")
    assert python_of(test, VIRTUAL_ENV=sys.prefix) == (str(beside / "bin/python"), ".venv of the project")
    assert python_of(test, UV_PROJECT_ENVIRONMENT="../active")[1] == "UV_PROJECT_ENVIRONMENT"


def test_poetry_s_environment_is_found_without_poetry(project: Path) -> None:
    shelf = project.parent.parent / "virtualenvs"
    (project / "pyproject.toml").write_text('[tool.poetry]\nname = "My Shop"\n')
    # The name that poetry 1.8 and 2 give it: the project's, and a digest of its path.
    program = "import base64, hashlib, os, sys; p = os.path.realpath(sys.argv[1]).encode();"
    program += "print(base64.urlsafe_b64encode(hashlib.sha256(p).digest()).decode()[:8])"
    key = subprocess.run([sys.executable, "-c", program, str(project)], capture_output=True, text=True).stdout.strip()
    older, newer = shelf / f"my_shop-{key}-py3.9", shelf / f"my_shop-{key}-py3.11"
    for folder in (older, newer, shelf / "other-12345678-py3.12"):
        folder.mkdir(parents=True)
    assert poetry_folders(project, {"POETRY_VIRTUALENVS_PATH": str(shelf)}) == [newer, older]


@pytest.mark.parametrize("given", ["nowhere", "app.py", "/etc/passwd"])
def test_a_python_that_is_none_is_refused(project: Path, given: str) -> None:
    with pytest.raises(UsageError, match="--python"):
        find_project([], given, {})


def test_an_interpreter_can_be_named_by_its_program(project: Path) -> None:
    found = find_project([], sys.executable, {}).python
    assert found is not None and found.chosen and found.version == sys.version_info[:2]
    assert statuses(
        run("x = 1\n", "def test(): import sys", find_sandbox(project=ProjectEnvironment(python=found)))
    ) == ["passed"]


WALLS = """
import app, os, sys, greeting
def refused(action, *args):
    try: action(*args)
    except OSError: return True
    return False
def test_the_environment_cannot_be_changed():
    assert refused(open, greeting.__file__, "a")
    assert refused(open, os.path.join(sys.prefix, "new"), "w")
    assert refused(os.remove, greeting.__file__)
def test_nothing_else_of_the_home_is_there():
    home = {home!r}
    seen = [os.path.join(folder, name) for folder, _, names in os.walk(home) for name in names]
    base = os.path.realpath(sys.base_prefix)
    assert [path for path in seen if not path.startswith((sys.prefix + "/", base + "/"))] == []
    assert not os.path.exists(home + "/secret.txt") and os.listdir({project!r}) == [".venv"]
    assert not os.path.exists("/etc/passwd")
def test_a_link_out_of_the_environment_leads_nowhere():
    assert os.path.islink(os.path.join(sys.prefix, "out")) and not os.path.exists(os.path.join(sys.prefix, "out"))
"""


def test_the_environment_is_read_only_and_nothing_else_becomes_visible(project: Path) -> None:
    environment(project / ".venv", greeting=PACKAGE)
    home = project.parent.parent
    (project / ".env").write_text("KEY=secret")
    (project / ".venv" / "out").symlink_to(home / "secret.txt")
    walls = WALLS.format(home=str(home), project=str(project))
    ran = run(APP, walls, find_sandbox(project=find_project([str(project)], None, {})))
    assert ran.passed and len(ran.outcomes) == 3, ran
    assert (project / ".venv" / "lib").is_dir()


def test_a_checkout_cannot_have_more_shown_than_an_environment(project: Path) -> None:
    home = project.parent.parent
    hostile = project / ".venv"
    (hostile / "bin").mkdir(parents=True)
    for name, target in (("python", home / "secret.txt"), ("python3", home)):
        (hostile / "bin" / name).symlink_to(target)
    for said in (str(home / "x"), str(home / "bin"), "/", "", "relative"):
        (hostile / "pyvenv.cfg").write_text(f"home = {said}\n")
        assert python_of(project) == ("", "")
    copied = hostile / "bin" / "python"
    copied.unlink()
    copied.write_text("#!/bin/sh\n")
    (hostile / "pyvenv.cfg").write_text(f"home = {home}/bin\n")
    assert python_of(project) == ("", "")


def test_an_environment_that_is_the_project_itself_is_not_shown(project: Path) -> None:
    environment(project)
    (project / ".venv").symlink_to(project)
    assert python_of(project) == ("", "")
    assert "more than an environment" in str(read_python(project / "bin" / "python", [project]))


def test_an_installation_reached_over_a_link_to_its_folder_runs(project: Path) -> None:
    """As uv lays out its interpreters."""
    found = environment(project / ".venv", greeting=PACKAGE)
    base = Path(os.path.realpath(found / "bin" / "python")).parent.parent
    linked = project.parent / "pythons" / "cpython"
    linked.parent.mkdir()
    linked.symlink_to(base)
    program = found / "bin" / "python"
    name = Path(os.path.realpath(program)).name
    program.unlink()
    program.symlink_to(linked / "bin" / name)
    settings = (found / "pyvenv.cfg").read_text().splitlines()
    lines = [line for line in settings if not line.startswith("home")]
    (found / "pyvenv.cfg").write_text("\n".join([f"home = {linked / 'bin'}", *lines]) + "\n")
    sandbox = find_sandbox(project=find_project([str(project)], None, {}))
    assert statuses(run(APP, TEST, sandbox)) == ["passed"]


PYTHONS = [p for p in sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3")) if p.exists()]


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.12", "3.13"])
def test_other_versions_of_python_run_the_tests(project: Path, version: str) -> None:
    program = next((p for p in PYTHONS if p.parent.parent.name.startswith(version + ".")), None)
    if program is None:
        pytest.skip(f"not run: there is no Python {version} here")
    found = find_project([], str(program), {})
    number = int(version.partition(".")[2])
    test = f"import sys, app\n\ndef test_version():\n    assert sys.version_info[:2] == (3, {number})\n"
    ran = run("x = 1\n", test, find_sandbox(project=found))
    assert statuses(ran) == ["passed"], ran


def test_a_session_records_the_environment_and_resumes_with_it(project: Path, tmp_path: Path) -> None:
    environment(project / ".venv", greeting=PACKAGE)
    ran = run_moot(project, "harden", "app.py", "--tests", "test_app.py", "--no-llm", HOME=str(project.parent.parent))
    assert "tests run with" in ran.stderr and ".venv of the project" in ran.stderr, ran.stderr
    assert "tests 1 of 1 before" in ran.stdout, ran.stdout
    for _ in range(2):
        run_moot(project, "harden", "app.py", "--tests", "test_app.py", "--no-llm", kill_after=2)
    listed = json.loads(run_moot(project, "list", "--json").stdout)
    first, second = [session["id"] for session in listed if session["status"] == "running"]
    other = str(environment(tmp_path / "other"))
    resumed = run_moot(project, "resume", first, VIRTUAL_ENV=other)
    assert ".venv of the project" in resumed.stderr and "tests 1 of 1 before" in resumed.stdout, resumed.stderr
    shutil.rmtree(project / ".venv")
    lost = run_moot(project, "resume", second, VIRTUAL_ENV=other)
    assert lost.returncode != 0 and "environment of this session no longer exists" in lost.stderr, lost.stderr


def test_without_the_environment_the_first_line_says_what_is_missing(project: Path) -> None:
    ran = run_moot(project, "harden", "app.py", "--tests", "test_app.py", "--no-llm")
    first = ran.stdout.splitlines()[0]
    assert first.startswith("not tested: ") and "No module named 'greeting'" in first, ran.stdout


def test_a_python_for_the_tests_can_be_named(project: Path) -> None:
    elsewhere = environment(project.parent / "elsewhere", greeting=PACKAGE)
    for verb in ("run", "quality", "ci post_proposal --action unit_tests"):
        ran = run_moot(project, *verb.split(), "app.py", "--tests", "test_app.py", "--python", str(elsewhere))
        assert "No module" not in ran.stdout and ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("named", [False, True])
def test_the_library_runs_tests_in_the_project_s_environment(project: Path, named: bool) -> None:
    place = environment(project.parent / "elsewhere" if named else project / ".venv", greeting=PACKAGE)
    python = place if named else None
    app, test = Path("app.py"), Path("test_app.py")

    async def story() -> None:
        assert (await run_tests(app, tests=test, python=python)).run.passed
        measured = await quality(app, tests=test, python=python)
        assert {part.name: part.value for part in measured.parts}["tests"] == 1.0, measured
        checks = await ci_checks("post_proposal", app, tests=test, python=python, actions=["unit_tests"])
        assert checks.verdict == "passed", checks
        hardened = await harden(app, tests=test, python=python, keep=False)
        assert hardened.tests and hardened.tests.passed
        solved = await solve("ask", file=app, tests=test, python=python, use_models=False, keep=False)
        assert solved.outcome == "solved", solved
        used = await use_tool("run_tests", files=[app], tests=test, python=python)
        assert used.status == "done" and "1 of 1" in used.text, used

    asyncio.run(story())


def test_a_python_is_a_value_that_can_be_recorded() -> None:
    told = ProjectEnvironment(
        python=Python(program="/p/bin/python", version=(3, 12), folders={"/p": "/p"}), how="--python"
    )
    assert ProjectEnvironment.model_validate(told.model_dump(mode="json")) == told
    assert told.notice == "tests run with /p/bin/python (Python 3.12, --python)"


def test_node_sees_the_modules_of_the_project(project: Path) -> None:
    modules = project / "node_modules"
    for name, kind, text in (("old", "commonjs", "module.exports = 1"), ("new", "module", "export default 2")):
        (modules / name).mkdir(parents=True)
        (modules / name / "package.json").write_text(f'{{"name": "{name}", "type": "{kind}", "main": "index.js"}}')
        (modules / name / "index.js").write_text(text)
    test = "import test from 'node:test'; import assert from 'node:assert'; import fs from 'node:fs';\n"
    test += "import one from 'old'; import two from 'new'; import { three } from './app.js';\n"
    test += "test('sees them', () => { assert.equal(one + two, three); });\n"
    test += "test('changes nothing', () => {\n"
    test += "  assert.throws(() => fs.writeFileSync('../node_modules/old/index.js', ''));\n});\n"
    found = find_project([str(project)], None, {})
    tests = Tests(files=(("app.test.js", test),), language="javascript")
    given = Code(files=(SourceFile(path="app.js", language="javascript", text="export const three = 3;\n"),))
    ran = asyncio.run(find_sandbox(project=found).run(given, tests))
    assert ran.passed and len(ran.outcomes) == 2, ran
    assert not asyncio.run(find_sandbox().run(given, tests)).passed


def test_node_modules_that_lead_out_of_the_project_are_not_shown(project: Path) -> None:
    (project.parent.parent / "node_modules").mkdir()
    (project / "node_modules").symlink_to(project.parent.parent / "node_modules")
    assert find_project([str(project)], None, {}).node_modules == ""
