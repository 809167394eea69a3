"""Docker and Podman: the command they are given, and the whole way through with an engine that is none."""

import asyncio
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_runs import SERVICE, code_of, statuses, suite_of

from moot.edge.sandbox import SandboxLimits
from moot.edge.sandbox.container import Container, build_container_command, container_trial
from moot.edge.sandbox.suite import Suite
from moot.edge.sandbox.suites import plan

STAND_IN = """#!/bin/sh
# Does what an engine does with a command, without any wall. It keeps what it was told.
echo "$@" >> {log}
case "$1" in
  run)
    for word in "$@"; do case $word in seccomp=*) cat "${{word#seccomp=}}" > {log}.json ;; esac; done
    while [ "$1" != {image} ]; do shift; done
    shift
    while [ "$1" != /bin/sh ]; do shift; done
    box=$(mktemp -d); script=$3; shift 4
    exec env -i PATH="$PATH" /bin/sh -c "$script" "$box" "$@" ;;
esac
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    log, program = tmp_path / "log", tmp_path / "bin" / "podman"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(log=log, image="python:3-slim"))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return log


def test_a_run_goes_through_the_engine_and_its_container_is_removed(engine: Path) -> None:
    test = "import service\ndef test_a(): assert service.double(2) == 4\ndef test_b(): assert service.double(2) == 5\n"
    sandbox = Container(SandboxLimits(), engine="podman")
    suite = asyncio.run(sandbox.run(code_of(service=SERVICE), suite_of(test)))
    assert (suite.problem, statuses(suite)) == ("", ["passed", "failed"])
    started, removed = engine.read_text().splitlines()
    assert json.loads(Path(f"{engine}.json").read_text())["defaultAction"] == "SCMP_ACT_ERRNO"
    assert not list(engine.parent.glob("moot-*.json")), "the file goes with the run"
    name = re.search(r"--name (moot-\w+)", started)
    assert name and removed == f"rm --force {name[1]}"
    answers = asyncio.run(sandbox.probe(code_of(service=SERVICE), ["double(2)"])).answers
    assert [answer.text for answer in answers] == ["4"]


def test_a_container_is_removed_when_the_time_is_over(engine: Path) -> None:
    sandbox = Container(SandboxLimits(wall=2), engine="podman")
    suite = asyncio.run(sandbox.run(code_of(), suite_of("def test_a():\n    while True: pass\n")))
    assert suite.passed is False and "limit of 2 s" in suite.problem
    assert engine.read_text().splitlines()[-1].startswith("rm --force moot-")


@pytest.mark.parametrize(
    "words",
    [
        "--network none", "--read-only", "--user 65534:65534", "--cap-drop ALL", "--security-opt no-new-privileges",
        "--pids-limit 128", "--memory 1073741824", "--memory-swap 1073741824", "--ulimit cpu=60:61", "--pull never",
        "--ulimit fsize=67108864", "--ipc private", "--tmpfs /tmp:rw,exec,size=134217728", "--ulimit core=0",
        "timeout -s KILL 80", "--security-opt seccomp=filter.json",
    ],
)  # fmt: skip
def test_every_limit_reaches_the_engine(words: str) -> None:
    suite = asyncio.run(plan(code_of(service=SERVICE), suite_of("def test_a(): pass\n"), 20))
    assert isinstance(suite, Suite)
    command = " ".join(
        build_container_command(("docker", "python:3-slim"), "box", suite, SandboxLimits(), "filter.json")
    )
    assert words in command
    assert "--privileged" not in command and "--volume" not in command and "-v " not in command


def test_where_no_engine_runs_that_is_said() -> None:
    container_trial.cache_clear()
    reason = container_trial("podman", "no-such-image-here:1")
    assert reason.startswith(("podman is missing", "no podman engine runs", "podman has no image no-such-image-here:1"))


def test_without_any_sandbox_every_reason_is_told() -> None:
    script = "from moot.edge.sandbox import find_sandbox; find_sandbox()"
    refused = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PATH": "/nowhere"}, capture_output=True, text=True
    )
    said = refused.stderr.splitlines()[-1]
    assert "docker is missing; podman is missing. Or accept the risk: --unsafe-local" in said
