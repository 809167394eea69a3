"""Code that a model wrote runs with masks instead of secrets; what runs with the real ones tells no prompt a word."""

import asyncio
import base64
import json
from pathlib import Path

import pytest
from conftest import Cli
from kit import make_ports
from solve_kit import CHANGE, reflection

from moot.core.ci import Checks, Feedback, Point, Remark
from moot.core.events import Event, Told
from moot.core.types import Answer, Code, Limits, Probing, RaceRun, SuiteRun, TestOutcome, Tests
from moot.runtime.ports import SessionPorts
from moot.testing import FakeSandbox, FakeScanner, FrozenClock, one_file, room
from moot.text.secrets import MASK, Vault

PASSWORD = "tr0ub4dor-and-3-more"
CODED = base64.b64encode(PASSWORD.encode()).decode()
SOURCE = f'DB_PASS = "{PASSWORD}"\n\n\ndef size():\n    return len(DB_PASS)\n'
TEST = f"from app import size\n\n\ndef test_size():\n    assert size() == {len(PASSWORD) + 1}\n"


class Watcher:
    """A sandbox that tells all it was given, in a coat that nobody knows, and as it is."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def words(self, code: Code, *more: str) -> str:
        text = "".join([*(file.text for file in code.files), *more])
        self.seen.append(text)
        return " ".join(f"{ord(char) ^ 1}" for char in text) + text

    def judge(self, code: Code, tests: Tests) -> SuiteRun:
        said = self.words(code, *(text for _, text in tests.files))
        bad = TestOutcome(name=f"test_{said}", status="failed", detail=said, seconds=0.123, memory=77)
        return SuiteRun(outcomes=(bad, TestOutcome(name="test_ok", status="passed")), problem="", seconds=1.0)

    def put(self, code: Code, calls: object) -> Probing:
        return Probing(answers=(Answer(kind="value", text=self.words(code)),))

    def race(self, code: Code, tests: Tests) -> RaceRun:
        return RaceRun(reports=(self.words(code),))

    def box(self) -> FakeSandbox:
        return FakeSandbox(self.judge, self.race, self.put)


class Checker:
    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def at(self, point: Point) -> bool:
        return True

    async def check(self, point: Point, code: Code, tests: Tests) -> Checks:
        said = self.watcher.words(code)
        bad = Feedback(
            point=point,
            action="own",
            status="failed",
            summary=said,
            output=said,
            findings=(Remark(text=said, rule=said),),
        )
        return Checks(point=point, feedback=(bad,))


def masked() -> tuple[Vault, Code, Tests]:
    vault = Vault({})
    vault.learn(SOURCE)
    return vault, one_file(vault.hide(SOURCE)), Tests(files=(("test_app.py", vault.hide(f'x = "{PASSWORD}"\n')),))


def all_runs(limits: Limits) -> tuple[str, list[str], list[Event], tuple[str, ...]]:
    """All that a room has executed: what came back, what was run, the events and the notes."""
    vault, code, tests = masked()
    watcher, events = Watcher(), list[Event]()
    own = SessionPorts(
        scanner=FakeScanner(), clock=FrozenClock(), sandbox=watcher.box(), vault=vault, checks=Checker(watcher),
        listen=events.append,
    )  # fmt: skip
    live = room({}, own, limits)

    async def every() -> list[object]:
        return [
            await live.execute(code, tests), *(await live.execute_all([code, code], tests)),
            await live.cover(code, tests), await live.check("post_proposal", code, tests),
            await live.probe(code, ["size()"]), await live.race(code, tests),
        ]  # fmt: skip

    return repr(asyncio.run(every())), watcher.seen, events, live.degraded


def test_by_default_no_code_runs_with_a_secret() -> None:
    back, seen, _, notes = all_runs(Limits())
    assert seen and not any(PASSWORD in text for text in seen) and all(MASK.search(text) for text in seen)
    assert "REDACTED_DB_PASS_" in back, "what such runs say may be told"
    assert any("--run-with-secrets" in note for note in notes), "a test that failed may have needed the secret"


def test_with_secrets_only_verdicts_come_back() -> None:
    back, seen, events, notes = all_runs(Limits(run_with_secrets=True))
    with_values = [text for text in seen if PASSWORD in text]
    assert len(with_values) == 5, "tests and checks have them; calls and races, whose answers are words, do not"
    run, others = back.split("Probing(")[0], back
    assert PASSWORD not in others and str(ord(PASSWORD[0]) ^ 1) + " " not in run
    assert "REDACTED" not in run and "DB_PASS" not in run and "size" not in run and "0.123" not in run
    assert "status='failed'" in run and "status='passed'" in run and "'test 1'" in run
    told = [event.headline for event in events if isinstance(event, Told)]
    assert any("test 1" in line for line in told) and not any(PASSWORD in line for line in told), "a person is told"
    assert not any("--run-with-secrets" in note for note in notes)


def test_with_secrets_but_without_any_in_the_code_nothing_is_withheld() -> None:
    watcher = Watcher()
    live = room({}, make_ports(sandbox=watcher.box()), Limits(run_with_secrets=True))
    run = asyncio.run(live.execute(one_file("x = 1\n"), Tests(files=())))
    assert "x = 1" in run.outcomes[0].detail


THIEF = """import base64

DB_PASS = "{mask}"


def size():
    raise ValueError({expression})
"""
THEFTS = {
    "base64": "base64.b64encode(DB_PASS.encode()).decode()",
    "letter by letter": "str([f'{n}:{ord(c) * 7}' for n, c in enumerate(DB_PASS)])",
}


@pytest.fixture
def stolen(tmp_path: Path) -> list[str]:
    """What is known of the secret in each coat."""
    coats = [PASSWORD, CODED, "".join(chr(ord(c) + 1) for c in PASSWORD)]
    return [*coats, str([f"{n}:{ord(c) * 7}" for n, c in enumerate(PASSWORD)])]


@pytest.mark.parametrize(
    ("expression", "flag"),
    [(THEFTS["base64"], ()), (THEFTS["letter by letter"], ()), (THEFTS["letter by letter"], ("--run-with-secrets",))],
    ids=["base64", "masks", "values"],
)
def test_a_secret_that_model_written_code_raises_reaches_no_prompt(
    cli: Cli, tmp_path: Path, expression: str, flag: tuple[str, ...], stolen: list[str]
) -> None:
    (tmp_path / "app.py").write_text(SOURCE)
    (tmp_path / "test_app.py").write_text(TEST)
    vault = Vault({})
    mask = MASK.search(vault.hide(SOURCE))
    assert mask is not None
    thief = THIEF.format(mask=mask[0], expression=expression)
    reply = f"CODE:\nFILE: app.py\n```python\n{thief}```\n"
    entries = [
        {"seat": "coder", "reply": reply, "always": True},
        {"seat": "reflector", "reply": reflection(CHANGE), "always": True},
    ]
    (tmp_path / "replies.yaml").write_text(json.dumps(entries))
    words = ["solve", "Mend size().", "--file", "app.py", "--tests", "test_app.py", "--attempts", "2"]
    ran = cli(*words, "--model", "script:replies.yaml", "--store", "s.db", "--json", *flag)
    result = json.loads(ran.out)
    everything = cli("export", result["session_id"], "--store", "s.db").out + ran.out
    assert ("withheld" if flag else "ValueError") in everything
    assert not [coat for coat in stolen if coat in everything.replace("\\\\", "\\")]


def test_a_project_that_nobody_trusted_cannot_say_that_code_runs_with_secrets(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SOURCE)
    (tmp_path / "moot.toml").write_text("run_with_secrets = true\n")
    ran = cli("harden", "app.py", "--no-llm", "--store", "s.db", "--json")
    kept = cli("export", json.loads(ran.out)["session_id"], "--store", "s.db").out
    assert "run_with_secrets" in ran.err and '"run_with_secrets": false' in kept


def test_what_moot_run_shows_is_masked(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SOURCE)
    text = "import base64\nfrom app import DB_PASS\n\n\ndef test_it():\n    raise ValueError(DB_PASS)\n"
    (tmp_path / "test_app.py").write_text(text)
    ran = cli("run", "app.py", "--tests", "test_app.py")
    assert ran.code == 1 and "ValueError" in ran.out and PASSWORD not in ran.out + ran.err
