"""The structural checks: what each finds, and where it must stay silent."""

import time
from pathlib import Path

import pytest

from moot.evidence.artefacts.checks import check, must_haves
from moot.evidence.artefacts.requirement_ids import ids_in
from moot.evidence.artefacts.tasks import tasks_in
from moot.evidence.artefacts.values import Artefact, ArtefactType, Neighbour
from moot.text.markdown import page

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "planning"
GOOD_REQUIREMENTS = """# Requirements

## v1 Requirements

- [ ] **AUTH-01**: User can log in with email and password
- [ ] **AUTH-02**: User can reset a forgotten password
- [ ] **PERF-01**: The page is fast: 95 % of loads take under 2 s
- [ ] **DATA-01**: Export uses UTF-8 and SHA-256

## v2 Requirements

- **SYNC-01**: Sync is easy to set up

## Out of Scope

- **PAY-01**: Online payment

## Traceability

| Requirement | Phase | Status |
|---|---|---|
| AUTH-01 | Phase 1 | Pending |
| AUTH-02 | Phase 1 | Pending |
| PERF-01 | Phase 2 | Pending |
| DATA-01 | Phase 2 | Pending |
"""
GOOD_ROADMAP = """# Roadmap

## Phases

- [ ] **Phase 1: Accounts** - people can log in
- [ ] **Phase 2: Export** - data comes out

## Phase Details

### Phase 1: Accounts
**Goal**: People can log in
**Depends on**: Nothing (first phase)
**Requirements**: AUTH-01, AUTH-02
**Success Criteria** (what must be TRUE):
  1. A user logs in

### Phase 2: Export
**Goal:** Data comes out
**Depends on:** Phase 1
**Requirements:** [PERF-01, DATA-01]
**Success Criteria:**
1. A file is there
"""
TASK = """<task type="auto">
  <name>Task {n}: {name}</name>
  <files>app/{name}.py</files>
  <action>Write {name}.</action>
  <verify>pytest tests/test_{name}.py</verify>
  <done>{name} works</done>
</task>
"""
GOOD_PLAN = (
    "---\nphase: 01-accounts\nplan: 01\ndepends_on: []\nrequirements: [AUTH-01, AUTH-02]\n"
    "must_haves:\n  truths:\n    - A user logs in\n---\n\n# Plan\n\n## Tasks\n\n"
    + TASK.format(n=1, name="login")
    + TASK.format(n=2, name="reset")
)
MARKDOWN_PLAN = """# Plan

### Task 1: Login

**Files:** app/login.py
**Action:** Write the login form.
**Verify:** `pytest tests/test_login.py`
**Done:** A user logs in

### Task 2: Reset

- Files: app/reset.py
- Action:
  1. Write the form
  2. Send the mail
- Verify: a mail arrives
- Done: the password is new
- Depends on: Task 1

### Task 3: Page

#### Files
app/page.html
#### Steps
Put both on a page.
#### Verification
Open it.
#### Acceptance Criteria
Both are there.
"""
GOOD_VERIFICATION = """---
status: passed
score: 2/2 must-haves verified
---

# Phase 1 Verification

| # | Truth | Status | Evidence |
|---|---|---|---|
| 1 | A user logs in | ✓ VERIFIED | test_login.py |
| 2 | The password is reset by mail | ✓ VERIFIED | seen in the test mailbox |

### Human Verification Required

None.
"""


def around(**texts: str) -> list[Neighbour]:
    names: dict[str, ArtefactType] = {"requirements": "requirements", "roadmap": "roadmap"}
    return [Neighbour(path=f"{name.upper()}.md", type=names[name], text=text) for name, text in texts.items()]


def faults(kind: ArtefactType, text: str, neighbours: list[Neighbour] | None = None, path: str = "x.md") -> list[str]:
    found = check(Artefact(path=path, type=kind, text=text), neighbours or [])
    assert all(f.what and f.recommendation and f.line >= 1 for f in found)
    return [f"{f.rule}@{f.line}" if f.line > 1 else f.rule for f in found]


@pytest.mark.parametrize(
    ("kind", "text", "neighbours"),
    [
        ("requirements", GOOD_REQUIREMENTS, []),
        ("roadmap", GOOD_ROADMAP, around(requirements=GOOD_REQUIREMENTS)),
        ("plan", GOOD_PLAN, around(requirements=GOOD_REQUIREMENTS, roadmap=GOOD_ROADMAP)),
        ("plan", MARKDOWN_PLAN, []),
        ("verification", GOOD_VERIFICATION, []),
    ],
    ids=["requirements", "roadmap", "plan", "markdown plan", "verification"],
)
def test_a_good_artefact_gives_no_finding(kind: ArtefactType, text: str, neighbours: list[Neighbour]) -> None:
    assert faults(kind, text, neighbours, "01-01-PLAN.md" if kind == "plan" else "x.md") == []


def requirements(*lines: str) -> str:
    return "# Requirements\n\n## v1\n\n" + "\n".join(f"- [ ] {line}" for line in lines) + "\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["**A1-01**: x is shown", "**A1-01**: y is kept"], ["duplicate-id@6"]),
        (["**A1-01**: User can log in with email", "**A1-02**: user can log in with **email**"], ["duplicate-text@6"]),
        (["**A1-01**: The page is fast"], ["untestable@5"]),
        (["**A1-01**: The page is fast, under 200 ms"], []),
        (["**A1-01**: The setup is user-friendly and robust"], ["untestable@5"]),
        (["**A1-01**: Breakfast is shown; the fasting mode is kept"], []),
        (["**A1-01**: Greasy text, easygoing people, robustness report"], []),
        (['**A1-01**: The button is labelled "Easy mode"'], []),
        (["**A1-01**: Users are imported, exported, etc."], ["untestable@5"]),
        (["**A1-01**:"], ["empty@5"]),
        (["**A1-01**: Limit is TBD"], ["unsettled@5"]),
        (["**A1-01**: x is shown", "y is kept"], ["no-id@6"]),
        (["x is shown"], ["no-requirements"]),
    ],
)  # fmt: skip
def test_requirements(lines: list[str], expected: list[str]) -> None:
    assert faults("requirements", requirements(*lines)) == expected


def test_requirements_in_a_table_and_under_headings_are_seen() -> None:
    table = "# R\n\n| ID | Requirement |\n|---|---|\n| FR-1 | It is simple |\n| FR-1 | It prints |\n"
    assert faults("requirements", table) == ["untestable@5", "duplicate-id@6"]
    headed = "# R\n\n### FR-001: Login\n\nText.\n\n### FR-002\n\nIt must be intuitive.\n"
    assert faults("requirements", headed) == ["untestable@7"]


def test_the_traceability_table_maps_every_requirement_and_no_other() -> None:
    text = GOOD_REQUIREMENTS.replace("| AUTH-02 | Phase 1 | Pending |\n", "| AUTH-09 | Phase 1 | Pending |\n")
    assert faults("requirements", text) == ["unmapped@6", "unknown-id@23"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("**Goal**: People can log in\n", "", ["no-goal@10"]),
        ("**Goal**: People can log in\n", "**Goal**: TBD\n", ["no-goal@10"]),
        ("**Requirements**: AUTH-01, AUTH-02", "**Requirements**: AUTH-01", ["uncovered@10"]),
        ("PERF-01, DATA-01", "PERF-01, DATA-01, AUTH-01", ["mapped-twice@17"]),
        ("PERF-01, DATA-01", "PERF-01, DATA-01, NOPE-01", ["unknown-id@17"]),
        ("Nothing (first phase)", "Phase 2", ["cycle@10"]),
        ("Nothing (first phase)", "Phase 7", ["unknown-phase@10"]),
        ("### Phase 2:", "### Phase 1:", ["duplicate-phase@17", "cycle@17"]),
        ("**Success Criteria** (what must be TRUE):\n  1. A user logs in\n", "", ["no-criteria@10"]),
    ],
)  # fmt: skip
def test_roadmap(old: str, new: str, expected: list[str]) -> None:
    assert old in GOOD_ROADMAP
    text = GOOD_ROADMAP.replace(old, new)
    assert sorted(faults("roadmap", text, around(requirements=GOOD_REQUIREMENTS))) == sorted(expected)


def test_a_roadmap_without_phases_and_one_that_depends_on_the_future() -> None:
    assert faults("roadmap", "# Roadmap\n\nLater.\n") == ["no-phases"]
    text = GOOD_ROADMAP.replace("**Depends on:** Phase 1", "**Depends on:** Nothing").replace(
        "Nothing (first phase)", "Phase 2"
    )
    assert faults("roadmap", text) == ["order@10"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("  <files>app/login.py</files>\n", "", ["no-files@15"]),
        ("  <action>Write login.</action>\n", "", ["no-action@15"]),
        ("<verify>pytest tests/test_login.py</verify>", "<verify></verify>", ["no-verify@15"]),
        ("<verify>pytest tests/test_login.py</verify>", "<verify>TBD</verify>", ["no-verify@15"]),
        ("  <done>login works</done>\n", "", ["no-done@15"]),
        ("  <done>login works</done>\n</task>\n", "  <done>login works</done>\n", ["broken-task@15"]),
        ('<task type="auto">\n  <name>Task 1', '<task type="auto" depends_on="2">\n  <name>Task 1', []),
        ("<name>Task 1: login</name>", "<name>Task 1</name><depends_on>Task 9</depends_on>", ["unknown-task@15"]),
        ("<name>Task 1: login</name>", "<name>Task 1</name><depends_on>1</depends_on>", ["cycle@15"]),
        ("requirements: [AUTH-01, AUTH-02]", "requirements: [AUTH-01]", ["uncovered"]),
        ("requirements: [AUTH-01, AUTH-02]", "requirements: [AUTH-01, AUTH-02, X1-99]", ["unknown-id"]),
        ("depends_on: []", "depends_on: [01-01]", ["cycle@4"]),
        ("depends_on: []", "depends_on: [[[", ["front-matter"]),
    ],
)  # fmt: skip
def test_plan(old: str, new: str, expected: list[str]) -> None:
    assert old in GOOD_PLAN
    project = around(requirements=GOOD_REQUIREMENTS, roadmap=GOOD_ROADMAP)
    assert faults("plan", GOOD_PLAN.replace(old, new), project, "01-01-PLAN.md") == expected


def test_a_checkpoint_for_a_person_has_other_fields() -> None:
    task = (
        '<task type="checkpoint:human-verify">\n<what-built>x</what-built>\n<how-to-verify>y</how-to-verify>\n</task>\n'
    )
    assert faults("plan", GOOD_PLAN + task) == []


def test_tasks_in_a_code_block_count_only_when_there_are_none_outside() -> None:
    fenced = f"# Plan\n\n```xml\n{TASK.format(n=1, name='login')}```\n"
    assert [t.line for t in tasks_in(page(fenced))] == [4]
    assert len(tasks_in(page(fenced + TASK.format(n=1, name="other")))) == 1


def test_plans_of_a_folder_that_wait_for_each_other() -> None:
    one = GOOD_PLAN.replace("depends_on: []", "depends_on: [01-02]")
    two = GOOD_PLAN.replace("depends_on: []", 'depends_on: ["01"]').replace("plan: 01", "plan: 02")
    beside = [
        Neighbour(path="p/01-01-PLAN.md", type="plan", text=one),
        Neighbour(path="p/01-02-PLAN.md", type="plan", text=two),
        Neighbour(path="other/01-02-PLAN.md", type="plan", text=GOOD_PLAN),
    ]
    assert faults("plan", one, beside, "p/01-01-PLAN.md") == ["cycle@4"]
    assert faults("plan", two, beside, "p/01-02-PLAN.md") == ["cycle@4"]
    lost = GOOD_PLAN.replace("depends_on: []", "depends_on: [01-07]")
    assert faults("plan", lost, beside, "p/01-01-PLAN.md") == ["unknown-plan@4"]
    earlier = GOOD_PLAN.replace("depends_on: []", "depends_on: [00-07]")
    assert faults("plan", earlier, beside, "p/01-01-PLAN.md") == [], "a plan of another phase is not in this folder"


def test_only_the_last_plan_of_a_phase_is_told_what_none_covers() -> None:
    one = GOOD_PLAN.replace("[AUTH-01, AUTH-02]", "[AUTH-01]")
    project = around(requirements=GOOD_REQUIREMENTS, roadmap=GOOD_ROADMAP)
    beside = [*project, Neighbour(path="01-01-PLAN.md", type="plan", text=one)]
    beside.append(Neighbour(path="01-02-PLAN.md", type="plan", text=one))
    assert faults("plan", one, beside, "01-01-PLAN.md") == []
    assert faults("plan", one, beside, "01-02-PLAN.md") == ["uncovered"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("| 1 | A user logs in | ✓ VERIFIED |", "| 1 | A user logs in | ✗ FAILED |", ["contradiction@10"]),
        ("| 1 | A user logs in | ✓ VERIFIED |", "| 1 | A user logs in | ? UNCERTAIN |", ["contradiction@10"]),
        ("| 1 | A user logs in | ✓ VERIFIED |", "| 1 | A user logs in | |", ["no-verdict@10"]),
        ("| test_login.py |", "| - |", ["no-evidence@10"]),
        ("score: 2/2", "score: 1/2", ["contradiction@3"]),
        ("status: passed", "status: gaps_found", ["contradiction@2", "contradiction@3"]),
        ("status: passed\n", "", ["no-status"]),
        ("\nNone.\n", "\n1. Look at the mail on a phone\n", ["contradiction@13"]),
        ("### Human", "- [ ] Log out was checked\n\n### Human", ["contradiction@13"]),
    ],
)  # fmt: skip
def test_verification(old: str, new: str, expected: list[str]) -> None:
    assert old in GOOD_VERIFICATION
    assert faults("verification", GOOD_VERIFICATION.replace(old, new)) == expected


def test_must_haves_of_the_plans_that_nobody_checked() -> None:
    plan = GOOD_PLAN.replace(
        "    - A user logs in\n",
        "    - A user logs in\n    - Nobody sees the data of others\n  artifacts:\n    - path: app/login.py\n"
        "  key_links:\n    - from: app/login.py\n      to: app/mail.py\n",
    )
    assert must_haves([page(plan)]) == [
        "A user logs in", "Nobody sees the data of others", "app/login.py", "app/login.py app/mail.py",
    ]  # fmt: skip
    beside = [Neighbour(path="p/01-01-PLAN.md", type="plan", text=plan)]
    assert faults("verification", GOOD_VERIFICATION, beside, "p/01-VERIFICATION.md") == ["unchecked"] * 3
    assert faults("verification", "# V\n\nstatus: passed\n\nAll good.\n") == ["no-checks"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AUTH-01, REQ-1 and NFR-SEC-002", ["AUTH-01", "REQ-1", "NFR-SEC-002"]),
        ("UTF-8, SHA-256, ISO-8601, CVE-2021, TLS-1.3, PHASE-1, X-1", []),
        ("pre-AUTH-01 AUTH-01-2 AUTH-1.5 auth-01", []),
    ],
)
def test_what_is_an_id(text: str, expected: list[str]) -> None:
    assert ids_in(text) == expected


def test_the_example_project_has_the_three_flaws_it_was_given() -> None:
    names: dict[str, ArtefactType] = {
        "REQUIREMENTS.md": "requirements",
        "ROADMAP.md": "roadmap",
        "phases/01-booking/01-01-PLAN.md": "plan",
        "phases/01-booking/01-VERIFICATION.md": "verification",
    }
    beside = [Neighbour(path=n, type=kind, text=(EXAMPLES / n).read_text()) for n, kind in names.items()]
    found = {n.path: faults(n.type, n.text, beside, n.path) for n in beside}
    assert found == {
        "REQUIREMENTS.md": ["untestable@13"],
        "ROADMAP.md": ["uncovered@15"],
        "phases/01-booking/01-01-PLAN.md": ["uncovered"],
        "phases/01-booking/01-VERIFICATION.md": [],
    }


def test_hostile_pages_are_read_in_no_time() -> None:
    """A page of whatever may not hang the checks: what takes the square of a page's length takes minutes here."""
    pages = [
        "- [ ] **A1-01**: x\n" * 8_000,
        "| a | b |\n" * 20_000,
        "<task>" * 20_000,
        "**a" * 60_000,
        "#" * 200_000,
    ]
    pages += [
        "- " + "x " * 100_000,
        "---\n" + "[" * 10_000 + "\n---\n",
        "```\n" * 40_000,
        "(" * 100_000,
        "A1-1 " * 40_000,
    ]
    for text in pages:
        for kind in ("requirements", "roadmap", "plan", "verification"):
            began = time.process_time()
            check(Artefact(path="x.md", type=kind, text=text), [])
            assert time.process_time() - began < 30, (kind, text[:10])
