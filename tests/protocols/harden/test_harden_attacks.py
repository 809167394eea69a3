"""A model's patch counts only if the attacks that worked before it no longer do."""

import asyncio

import pytest
from kit import NOTHING

from moot.core.ports import Sandbox
from moot.core.types import SuiteRun, TestOutcome
from moot.edge.sandbox import find_sandbox
from moot.edge.sandbox.python.inside import in_plain
from moot.protocols.harden.script import HardenInput, HardenResult, HardenRules, harden
from moot.protocols.harden.turn_reports import DefenseReport
from moot.runtime.ports import SessionPorts
from moot.scan import StaticTeam
from moot.testing import FakeSandbox, FrozenClock, ScriptedModel, one_file, room

OPEN = """import os


def read(base_dir, name):
    path = os.path.normpath(os.path.join(base_dir, name))
    return open(path).read()
"""
FOOLED = OPEN.replace(
    "    return", "    if not path.startswith(base_dir[:4]):\n        raise ValueError(name)\n    return"
)
SAFE = FOOLED.replace("base_dir[:4]", "os.path.normpath(base_dir) + os.sep")
SQL = """def find(db, name):
    return db.execute("SELECT * FROM t WHERE name = '" + name + "'").fetchall()
"""
BOUND = """def find(db, name):
    return db.execute("SELECT * FROM t WHERE name = ?", (name,)).fetchall()
"""


Played = tuple[HardenResult, tuple[str, ...]]


def reply(code: str) -> str:
    return (
        "PATCHES:\nVULN-001: checked\n\nREMAINING_RISKS:\nNONE\n\nCONFIDENCE: 0.9\n\n"
        f"PATCHED_CODE:\n```python\n{code}```\n"
    )


def play(code: str, patch: str, sandbox: Sandbox | None = None, edition: int = 2) -> Played:
    model = ScriptedModel({"red": [NOTHING, NOTHING], "blue": [reply(patch)]})
    ports = SessionPorts(scanner=StaticTeam(), clock=FrozenClock(), sandbox=sandbox)
    live = room(dict.fromkeys(("red", "blue"), model), ports)
    given = HardenInput(code=one_file(code, language="python"))
    result = asyncio.run(harden(given, HardenRules(max_rounds=1, edition=2 if edition == 2 else 1), live))
    return result, live.degraded


def defense(played: Played) -> DefenseReport:
    return played[0].defense_reports[0]


def test_a_patch_that_only_fools_the_scan_is_rejected() -> None:
    said = defense(play(OPEN, FOOLED, find_sandbox()))
    assert not said.accepted and "an attack still works" in said.rejected_because
    assert said.attacks is not None and said.attacks.worked and said.attacks.still == said.attacks.worked


@pytest.mark.parametrize(("code", "patch"), [(OPEN, SAFE), (SQL, BOUND)])
def test_a_patch_that_holds_is_accepted_and_says_what_was_tried(code: str, patch: str) -> None:
    said = defense(play(code, patch, find_sandbox()))
    assert said.accepted, said
    assert said.attacks is not None and said.attacks.worked and not said.attacks.still


def test_without_a_sandbox_the_check_says_that_it_did_not_run() -> None:
    played = play(OPEN, SAFE)
    said = defense(played)
    assert said.accepted and said.attacks is not None
    assert said.attacks.problem and not said.attacks.worked
    assert any("could not be run" in note for note in played[1])


def test_a_patch_is_not_rejected_because_pytest_is_not_installed() -> None:
    case = in_plain._wrap_call(lambda tmp_path, monkeypatch, capsys: None)
    status, detail = in_plain._attempt(case, frozenset())
    assert status == "error"
    run = SuiteRun(outcomes=(TestOutcome(name="attack", status="error", detail=detail),))
    played = play(OPEN, SAFE, FakeSandbox(lambda code, tests: run))
    said = defense(played)
    assert said.accepted and said.attacks is not None and "pytest is not installed" in said.attacks.problem
    assert any("could not be run: pytest is not installed; install it" in note for note in played[1])


def test_attacks_that_can_no_longer_be_run_are_no_success() -> None:
    failed = SuiteRun(outcomes=(TestOutcome(name="attack", status="failed"),))
    runs = iter((failed, SuiteRun(problem="it took too long")))
    said = defense(play(OPEN, SAFE, FakeSandbox(lambda code, tests: next(runs))))
    assert not said.accepted and "no longer be run: it took too long" in said.rejected_because


def test_a_session_of_the_first_edition_runs_no_attacks() -> None:
    said = defense(play(OPEN, FOOLED, find_sandbox(), edition=1))
    assert said.accepted and said.attacks is None


def test_recorded_rules_without_an_edition_are_the_first() -> None:
    recorded = HardenRules().model_dump()
    del recorded["edition"]
    assert HardenRules.model_validate(recorded).edition == 1
    assert HardenRules.model_validate({"max_rounds": 2}).edition == 2


LOW = "import logging\n\n\ndef note(name):\n    logging.info('user ' + name)\n"


@pytest.mark.parametrize(("edition", "outcome"), [(1, "risk_accepted"), (2, "hardened")])
def test_a_risk_that_could_be_accepted_is_repaired_where_a_rewrite_does_it(edition: int, outcome: str) -> None:
    live = room({}, SessionPorts(scanner=StaticTeam(), clock=FrozenClock()))
    given = HardenInput(code=one_file(LOW, language="python"))
    result = asyncio.run(harden(given, HardenRules(edition=2 if edition == 2 else 1), live))
    assert result.outcome == outcome
    assert ("one_line" in result.final_code) == (edition == 2)
