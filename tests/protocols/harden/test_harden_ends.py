"""How a session of `harden` ends: one name for a flaw, what is patched and what is left, and what the tests said."""

import asyncio
from pathlib import Path

import pytest
from conftest import Cli
from kit import BAD, GOOD, NOTHING, SQLI, blue, run_harden

from moot.core.findings import add_fingerprints, match_moved_findings
from moot.core.report import Bullets, Headline, Paragraph
from moot.core.types import Code, SuiteRun, TestOutcome, Tests, Vulnerability
from moot.protocols.harden.exit_code import exit_code
from moot.protocols.harden.report import report_harden, track_findings
from moot.protocols.harden.script import HardenInput, HardenResult, HardenRules, harden
from moot.runtime.ports import SessionPorts
from moot.scan import StaticTeam
from moot.testing import FakeSandbox, FrozenClock, one_file, room

GO = """package main

import (
	"database/sql"
	"net/http"

	_ "github.com/mattn/go-sqlite3"
)

var db *sql.DB

func handler(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	rows, _ := db.Query("SELECT * FROM t WHERE id = '" + id + "'")
	defer rows.Close()
}
"""
PYTHON = """import pickle, yaml, requests
from flask import request

def fetch():
    url = request.args["url"]
    requests.get(url, verify=False)
    pickle.loads(request.data)
    yaml.load(request.data)
"""
TESTS = Tests(files=(("test_app.py", "def test(): ..."),))


def hardened(text: str, path: str) -> HardenResult:
    """With the real scanner and rewriter, and no model."""
    live = room({}, SessionPorts(scanner=StaticTeam(), clock=FrozenClock()))
    code = one_file(text, path, "go" if path.endswith(".go") else "python")
    return asyncio.run(harden(HardenInput(code=code), HardenRules(), live))


def summary(result: HardenResult) -> str:
    second = report_harden(result).blocks[1]
    assert isinstance(second, Paragraph)
    return second.text


def state_of(result: HardenResult, rule: str) -> list[str]:
    return [entry.state for entry in track_findings(result) if entry.finding.rule == rule]


def test_a_finding_whose_line_was_rewritten_for_another_keeps_its_name_and_stays_open() -> None:
    result = hardened(GO, "h.go")
    assert state_of(result, "go-sql-string") == ["patched"]
    assert state_of(result, "go-discarded-error") == ["open"]
    claimed = [i for defense in result.defense_reports for i in defense.patched_vulnerabilities]
    assert {f.id for f in result.attack_reports[-1].vulnerabilities}.isdisjoint(claimed)


def test_what_the_closing_scan_still_has_at_another_line_is_not_patched() -> None:
    result = hardened(PYTHON, "a.py")
    assert state_of(result, "python-tls-verify") == ["patched"]
    assert state_of(result, "python-ssrf") == ["open"]


def test_the_list_of_risks_says_that_its_lines_are_those_after_the_patch() -> None:
    result = hardened(PYTHON, "a.py")
    patched, unpatched = (
        [block.title for block in report_harden(each).blocks if isinstance(block, Bullets)]
        for each in (result, result.model_copy(update={"diff": ""}))
    )
    assert "Remaining risks, at their lines after the patch" in patched and "Remaining risks" in unpatched


def test_the_advice_is_that_of_the_rule() -> None:
    risks = "\n".join(hardened(PYTHON, "a.py").remaining_risks)
    assert "arameter" not in risks and "Check the host against a list" in risks and "holds only data" in risks


def test_blue_is_given_the_advice_of_the_rule() -> None:
    scanned = StaticTeam().scan(one_file(PYTHON, "a.py"))
    fixes = {f.rule: f.fix for f in scanned.findings}
    assert fixes["python-yaml-load"] == "Use yaml.safe_load."
    assert not any("arameter" in fix for fix in fixes.values())


def flaw(evidence: str, line: int = 1, **more: object) -> Vulnerability:
    given = {"id": "", "category": "injection", "severity": "high", "description": "", "evidence": evidence}
    return Vulnerability.model_validate({**given, "line": line, "file": "a.py", "rule": "r", **more})


@pytest.mark.parametrize(
    ("old", "new", "followed"),
    [
        ([flaw("get(url, 1)")], [flaw("get(url)")], {0: 0}),
        ([flaw("get(url, 1)")], [flaw("get(url)", rule="other")], {}),
        ([flaw("get(url, 1)")], [flaw("get(url)", file="b.py")], {}),
        ([flaw("get(url, 1)"), flaw("post(body)", 2)], [flaw("post(form)", 5)], {0: 1}),
        ([flaw("a(x)"), flaw("b(x)", 2)], [flaw("a(y)"), flaw("b(y)", 2)], {0: 0, 1: 1}),
        ([flaw("same(x)")], [flaw("same(x)", 9), flaw("late(x)", 10)], {}),
        ([flaw("run(x)", rule="", source="model")], [flaw("run(x, 1)", rule="", source="model")], {0: 0}),
        ([flaw("run(x)", rule="", source="model")], [flaw("other = 1", rule="", source="model")], {}),
    ],
)
def test_a_finding_is_followed_to_its_new_line(
    old: list[Vulnerability], new: list[Vulnerability], followed: dict[int, int]
) -> None:
    before, after = add_fingerprints(old), add_fingerprints(new)
    expected = {after[n].fingerprint: before[o].fingerprint for n, o in followed.items()}
    assert match_moved_findings(before, after) == expected


def test_two_findings_of_one_line_and_rule_are_one() -> None:
    twice = 'import os\nfrom flask import request\ndef f():\n    a = request.args["a"]\n'
    twice += '    os.system(a); os.system(a + "x")\n'
    result = hardened(twice, "a.py")
    first = [f for f in result.attack_reports[0].vulnerabilities if f.rule == "python-os-system"]
    assert len(first) == 1


@pytest.mark.parametrize("rule", ["---", "-----", "--- ", "***", "==="])
def test_a_line_that_a_model_draws_around_its_patch_stays_out_of_the_code(rule: str) -> None:
    result, _, _ = run_harden(BAD, {"red": [SQLI, NOTHING], "blue": [blue(f"{rule}\n{GOOD}{rule}\n")]})
    assert result.final_code == GOOD


def test_a_line_that_the_file_itself_begins_with_is_kept() -> None:
    text = "===\n" + BAD
    result, _, _ = run_harden(text, {"red": [SQLI, NOTHING], "blue": [blue("===\n" + GOOD)]})
    assert result.final_code == "===\n" + GOOD


def judge(*, failing: bool) -> FakeSandbox:
    def run(code: Code, tests: Tests) -> SuiteRun:
        names = ("one", "two")
        outcomes = [TestOutcome(name=n, status="failed" if failing and n == "two" else "passed") for n in names]
        return SuiteRun(outcomes=tuple(outcomes))

    return FakeSandbox(run)


def test_the_report_counts_what_is_patched_and_left_and_the_tests_before_and_after() -> None:
    result, _, _ = run_harden(BAD, tests=TESTS, sandbox=judge(failing=False))
    assert summary(result) == "1 patched, 0 left; tests 2 of 2 before, 2 of 2 after"
    result, _, _ = run_harden(BAD, tests=TESTS, sandbox=judge(failing=True))
    assert summary(result) == "1 patched, 0 left; tests 1 of 2 before, 1 of 2 after"
    result, _, _ = run_harden(BAD)
    assert summary(result) == "1 patched, 0 left; not tested: no tests were given"
    stuck, _, _ = run_harden(BAD.replace("name", "title"), tests=TESTS, sandbox=judge(failing=False))
    assert summary(stuck) == "0 patched, 1 left; tests 2 of 2 before; nothing was patched"


LOST = TestOutcome(name="test_app.py", status="error", detail="import flask\nE   No module named 'flask'")


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (SuiteRun(problem="no test was found"), "no test was found"),
        (SuiteRun(outcomes=(LOST,)), "No module named 'flask'"),
    ],
)
def test_where_tests_cannot_run_the_first_line_says_why_and_no_patch_is_called_tested(run: SuiteRun, why: str) -> None:
    result, _, _ = run_harden(BAD, tests=TESTS, sandbox=FakeSandbox(lambda code, tests: run))
    first = report_harden(result).headline.text
    assert first.startswith(f"not tested: the given tests cannot run ({why}")
    assert result.outcome == "inconclusive" and exit_code(result) == 2
    assert "not tested" in summary(result) and "after" not in summary(result)


def test_the_worst_findings_come_with_their_path_and_exploit() -> None:
    result = hardened(PYTHON, "a.py")
    blocks = report_harden(result).blocks
    (worst,) = [block for block in blocks if isinstance(block, Bullets) and block.title == "The worst findings"]
    text = worst.entries[0]
    assert "a.py:5" in text and "reaches" in text and "exploit:" in text
    assert text.index("open") < text.index("exploit:")


def test_a_session_without_an_attack_does_not_say_that_nothing_is_left(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text("[]")
    (tmp_path / "app.py").write_text(BAD)
    ran = cli("harden", "app.py", "-m", "script:replies.yaml", "--max-calls", "0")
    assert ran.code != 0 and "nothing is known of what is left" in ran.out and "0 left" not in ran.out, ran.out


def test_a_scan_that_finds_nothing_says_what_it_rests_on_and_never_hardened() -> None:
    result = hardened(
        "def add(left, right):\n    return left + right\n\n\ndef first(items):\n    return items[0]\n", "a.py"
    )
    assert (result.outcome, result.stop_reason, result.all_resolved) == ("no_findings", "no_findings", False)
    assert exit_code(result) == 0
    rules, headline = result.attack_reports[-1].rules, report_harden(result).blocks[0]
    reach = f"{rules} rules, 2 functions with unknown callers; no model was asked"
    assert isinstance(headline, Headline) and headline.tone == "" and rules > 50
    assert headline.text == f"no_findings: the scan found nothing ({reach})"
    said = result.model_dump_json() + report_harden(result).model_dump_json()
    assert "hardened" not in said and "secure" not in said


def test_functions_that_somebody_calls_have_known_callers() -> None:
    called = "def add(left, right):\n    return left + right\n\n\ndef main():\n    return add(1, 2)\n"
    assert hardened(called, "a.py").attack_reports[-1].unknown_callers == 0


def test_remaining_risks_are_those_of_the_code_and_their_advice_is_of_their_class() -> None:
    both = """import requests
from flask import request

def fetch(db):
    return requests.get(request.args["u"]), db.execute("SELECT * FROM t WHERE n = '" + request.args["n"] + "'")
"""
    result = hardened(both, "a.py")
    assert result.remaining_risks and not any("EDGE-" in risk for risk in result.remaining_risks)
    for risk in result.remaining_risks:
        assert ("SSRF" in risk) == ("allowed" in risk) and ("SQL injection" in risk) == ("execute()" in risk)


def test_edge_cases_in_recorded_risks_are_dropped() -> None:
    result = hardened(PYTHON, "a.py")
    older = result.model_dump(mode="json")
    older["remaining_risks"].append("edge case EDGE-001: None where a value is expected")
    older["defense_reports"][0]["remaining_risks"].append("edge case EDGE-001: None where a value is expected")
    assert HardenResult.model_validate(older) == result
