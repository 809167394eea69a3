"""A command in the sandbox: what it sees, what it cannot reach, how it ends, and what is believed of it."""

import asyncio
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sandbox_runs import SERVICE, boxed, code_of, docker, local, marker, podman, running, suite_of, until

from moot.core.ports import Sandbox
from moot.core.types import Code, CommandRun, SourceFile, Tests
from moot.edge.sandbox import UnsafeLocal

Box = Callable[..., Sandbox]
BOXES = [boxed, local, docker, podman]
PROJECT = Path(__file__).parents[3]


def command(box: Sandbox, *argv: str, tests: Tests | None = None, code: Code | None = None) -> CommandRun:
    return asyncio.run(box.command(code or code_of(service=SERVICE), tests or Tests(files=()), argv))


def python(box: Sandbox, text: str) -> CommandRun:
    return command(box, "python3", "-c", text)


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("box", BOXES)
def test_it_runs_beside_code_and_tests_and_tells_its_status_and_both_outputs(box: Box) -> None:
    run = command(
        box(), "sh", "-c", "cat service.py t/test_x.py; echo woe >&2; exit 3", tests=suite_of("x = 1\n", "t/test_x.py")
    )
    assert (run.status, run.out, run.err) == (3, SERVICE + "x = 1\n", "woe\n")
    assert (run.problem, run.missing, run.late) == ("", False, False) and run.seconds > 0


@pytest.mark.parametrize("box", BOXES)
def test_a_program_that_is_not_there_is_missing_and_has_no_status(box: Box) -> None:
    run = command(box(), "no-such-program-here", "service.py")
    assert run.missing and run.status is None and "no such program" in run.problem


def test_a_program_cannot_say_that_it_is_missing_or_started_by_itself() -> None:
    run = command(boxed(), "sh", "-c", "echo missing; exit 1")
    assert (run.missing, run.status, run.out) == (False, 1, "missing\n")
    run = command(boxed(), "sh", "-c", "echo missing >&3; echo started >&3; exit 4")
    assert (run.missing, run.status) == (False, 4) and "missing" not in run.out


def test_no_file_of_the_code_stands_in_for_a_program_or_a_module_of_it() -> None:
    trap = "raise SystemExit(0)\n"
    files = [SourceFile(path=name, language="python", text=trap) for name in ("mypy.py", "ruff", "ast.py", "app.py")]
    code = Code(files=(*files, SourceFile(path="bad.py", language="python", text="import os\nx: int = 'a'\n")))
    assert command(boxed(), "ruff", "check", "--isolated", "--no-cache", "./bad.py", code=code).status == 1
    run = command(boxed(), "mypy", "--config-file=", "--cache-dir=/dev/null", "./bad.py", code=code)
    assert run.status == 1 and "bad.py:2: error" in run.out


def test_the_network_is_out_of_reach(listener: int) -> None:
    text = f"import socket; socket.create_connection(('127.0.0.1', {listener}), timeout=5)"
    assert python(boxed(), text).status == 1
    assert python(local(), text).status == 0


def test_neither_home_nor_environment_nor_other_projects_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_TEST_SECRET", "hunter2")
    (tmp_path / "diary").write_text("dear diary")
    run = command(boxed(), "sh", "-c", f"env; cat {tmp_path}/diary; ls {PROJECT}; ls /root /home /etc/passwd; true")
    assert run.status == 0 and "PATH=" in run.out
    assert "hunter2" not in run.out and "dear diary" not in run.out and "pyproject" not in run.out
    assert "/etc/passwd\n" not in run.out
    assert "dear diary" in command(local(), "cat", str(tmp_path / "diary")).out


def test_nothing_can_be_written_outside(tmp_path: Path) -> None:
    target = tmp_path / "planted"
    places = [f"{target}", f"{sys.prefix}/planted", "/usr/planted"]
    run = command(boxed(), "sh", "-c", "; ".join(f"echo x > {place} && echo WROTE" for place in places))
    assert run.status != 0 and "WROTE" not in run.out and not target.exists()


@pytest.mark.parametrize("box", BOXES)
def test_time_is_limited_and_nothing_stays_behind(box: Box) -> None:
    mark = marker()
    run = command(box(wall=1), "sh", "-c", f"sleep {mark} & sleep {mark}")
    assert run.late and run.status is None and "limit of 1 s" in run.problem
    until(lambda: not running(mark))


def test_processor_time_and_memory_are_limited() -> None:
    run = python(boxed(cpu=1, wall=30), "while True: pass")
    assert run.status is None and "processor time" in run.problem
    hog = "import os\nx = [bytearray(os.urandom(1 << 20)) for _ in range(4000)]"
    for sandbox in (boxed(memory=200 << 20), local(memory=200 << 20)):
        assert python(sandbox, hog).status != 0


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_is_cut_to_size(stream: str) -> None:
    text = f"import sys\nfor _ in range(300): sys.{stream}.write('x' * 100000)\nsys.{stream}.write('THE END')"
    run = python(boxed(output=10_000), text)
    kept = run.out if stream == "stdout" else run.err
    assert run.status == 0 and len(kept) < 11_000
    assert len(run.out) + len(run.err) == len(kept)


@pytest.mark.parametrize("argv", [(), ("",), ("echo", "a\0b")])
def test_what_is_no_command_is_a_problem(argv: tuple[str, ...]) -> None:
    run = command(UnsafeLocal(), *argv)
    assert run.status is None and "no command" in run.problem


def test_two_files_at_one_place_are_a_problem() -> None:
    files = tuple(SourceFile(path=path, language="python", text="") for path in ("a.py", "./a.py"))
    run = command(boxed(), "true", code=Code(files=files))
    assert run.status is None and "two files" in run.problem


def test_go_and_node_work_on_what_is_laid_out() -> None:
    go = Code(
        files=(
            SourceFile(
                path="a.go", language="go", text='package a\n\nimport "fmt"\n\nfunc F() { fmt.Printf("%d", "x") }\n'
            ),
        )
    )
    run = command(boxed(), "go", "vet", "./...", code=go)
    assert run.status == 1 and "a.go:5" in run.err
    script = SourceFile(path="a.js", language="javascript", text='import fs from "fs";\nlet x = ;\n')
    run = command(boxed(), "node", "--check", "./a.js", code=Code(files=(script,)))
    assert run.status == 1 and "a.js:2" in run.err and "SyntaxError" in run.err
