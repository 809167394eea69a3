import asyncio
import os
import shlex
import sys
from pathlib import Path

import pytest
from asking import a_call, ask
from patience import PATIENCE, wait_until

from moot.core.errors import ModelError
from moot.edge.models import command, open_model


def py(code: str) -> str:
    return f"cmd:{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


def failure(name: str, timeout: float = 20.0) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(name, dict(os.environ), timeout=timeout)
    return caught.value


def test_the_prompt_goes_in_and_the_answer_comes_out() -> None:
    name = py("import sys; print(repr(sys.stdin.read()))")
    [reply] = ask(name, dict(os.environ), a_call("Hi", system="Sys"))
    assert reply.text == repr("Sys\n\nHi")
    assert (reply.model, reply.usage.usd, reply.finish) == (name, 0.0, "stop")
    assert reply.usage.input_tokens == 2 and reply.usage.output_tokens == 3


def test_the_environment_given_is_the_one_it_has() -> None:
    env = {"PATH": os.environ["PATH"], "MARK": "here"}
    [reply] = ask(py("import os; print(os.environ['MARK'], 'HOME' in os.environ)"), env)
    assert reply.text == "here False"


def test_a_large_question_and_a_large_answer() -> None:
    [reply] = ask(py("import sys; print(sys.stdin.read() * 3)"), dict(os.environ), a_call("x" * 2_000_000))
    assert len(reply.text) > 6_000_000


def test_a_command_that_reads_nothing_is_fine() -> None:
    [reply] = ask(py("print('ok')"), dict(os.environ), a_call("x" * 5_000_000))
    assert reply.text == "ok"


def test_an_empty_answer_is_an_empty_reply_and_odd_bytes_are_kept_readable() -> None:
    assert ask(py(""), dict(os.environ))[0].text == ""
    assert ask(py(r"import sys; sys.stdout.buffer.write(b'a\xff')"), dict(os.environ))[0].text == "a\ufffd"


def test_a_failing_command_is_told_by_its_last_words() -> None:
    error = failure(py("import sys; print('first', 'x' * 90000, file=sys.stderr); sys.exit('log in first')"))
    assert error.kind == "failed" and "status 1" in str(error) and "(log in first)" in str(error)
    assert len(str(error)) <= 300
    assert "bad [key]" in str(failure(py("import sys; sys.exit('bad sk-test-' + 'x' * 12)")))
    assert "signal 9" in str(failure(py("import os; os.kill(os.getpid(), 9)")))


def test_a_command_that_cannot_start_is_said_to(tmp_path: Path) -> None:
    script = tmp_path / "broken"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    assert failure(f"cmd:{script}").kind == "failed"


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def wait_for(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"), f"{path} is written")
    return int(path.read_text())


def wait_for_end(pid: int) -> None:
    wait_until(lambda: not alive(pid), f"process {pid} is gone")


def test_too_slow_is_a_timeout_and_ends_its_children_too(tmp_path: Path) -> None:
    error = failure(f"cmd:sh -c 'sleep 100 & echo $! > {tmp_path}/pid; wait'", timeout=0.5)
    assert error.kind == "timeout" and "0.5 s" in str(error)
    wait_for_end(wait_for(tmp_path / "pid"))


def test_cancelled_ends_its_children_too(tmp_path: Path) -> None:
    async def run() -> int:
        model = open_model(f"cmd:sh -c 'sleep 100 & echo $! > {tmp_path}/pid; wait'", env=os.environ, timeout=PATIENCE)
        task = asyncio.create_task(model.reply(a_call()))
        pid = await asyncio.to_thread(wait_for, tmp_path / "pid")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid

    wait_for_end(asyncio.run(run()))


def test_a_child_left_behind_does_not_hold_the_answer_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "LINGER_SECONDS", 0.1)
    [reply] = ask(f"cmd:sh -c 'sleep 100 & echo $! > {tmp_path}/pid; echo done'", dict(os.environ))
    assert reply.text == "done"
    os.kill(wait_for(tmp_path / "pid"), 9)


def test_endless_output_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MAX_OUTPUT", 100_000)
    error = failure("cmd:yes")
    assert error.kind == "failed" and "too large" in str(error)
