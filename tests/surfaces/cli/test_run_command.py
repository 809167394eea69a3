"""`moot run` as a user meets it: a result for each test, and an exit code that says it all."""

import json
from pathlib import Path

import pytest
from conftest import Cli

SERVICE = 'def double(n):\n    """Twice.\n\n    >>> double(2)\n    4\n    """\n    return 2 * n\n'
BAD = "from service import double\nassert double(2) == 4\nassert double(2) == 5\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    texts = {
        "service.py": SERVICE,
        "check_bad.py": BAD,
        "check_good.py": "assert double(2) == 4\n",
        "check_entry.py": "def check(candidate):\n    assert candidate(2) == 4\n",
        "two.py": "def one(n): return n\n" + SERVICE,
        "prose.py": 'def f(x):\n    """f(2) -> 4"""\n    return x * 2\n',
        "wrong.py": 'def f(x):\n    """f(2) -> 4"""\n    return x\n',
        "silent.py": "x = 1\n",
        "test_slow.py": "import time\ndef test_slow(): time.sleep(1000)\ndef test_quick(): pass\n",
        "ends.py": "import os\nos._exit(0)\n",
        "check_ends.py": "import ends\ndef test_a(): pass\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("service.py", "--tests", "check_bad.py"), 1, "1 of 2 tests passed"),
        (("service.py", "--tests", "check_good.py"), 0, "1 of 1 tests passed"),
        (("service.py",), 0, "service.py::double (doctest)"),
        (("two.py", "--tests", "check_entry.py"), 1, "which function is meant?"),
        (("two.py", "--tests", "check_entry.py", "--entry", "double"), 0, "1 of 1 tests passed"),
        (("prose.py",), 0, "f(2)"),
        (("wrong.py",), 1, "expected 4, got 2"),
        (("test_slow.py", "--test-timeout", "0.5"), 1, "1 of 2 tests passed"),
        (("ends.py", "--tests", "check_ends.py"), 1, "ended its process"),
    ],
)
def test_the_exit_code_says_what_happened(cli: Cli, arguments: tuple[str, ...], code: int, said: str) -> None:
    ran = cli("run", *arguments)
    assert said in ran.out, ran
    assert ran.code == code


def test_the_result_as_json(cli: Cli) -> None:
    ran = cli("run", "service.py", "--tests", "check_bad.py", "--json")
    told = json.loads(ran.out)
    assert (told["passed"], told["problem"]) == (False, "")
    assert [test["status"] for test in told["tests"]] == ["passed", "failed"]
    assert told["tests"][0]["memory"] > 0 and 0 < told["tests"][0]["seconds"] < 60
    assert "assert 4 == 5" in told["tests"][1]["detail"]


def test_nothing_to_run_is_said(cli: Cli) -> None:
    ran = cli("run", "silent.py")
    assert ran.code == 2 and "nothing to run" in ran.err


def test_limits_are_settings(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "moot.toml").write_text("[sandbox]\ntest = 0.5\n")
    ran = cli("run", "test_slow.py")
    assert "limit of 0.5 s for one test" in ran.out
    monkeypatch.setenv("MOOT_SANDBOX_TEST", "0.25")
    assert "limit of 0.25 s for one test" in cli("run", "test_slow.py").out
    monkeypatch.setenv("MOOT_SANDBOX_WALL", "-1")
    assert cli("run", "test_slow.py").code == 2
