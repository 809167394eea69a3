"""Types, evidence, revisions, STATE.md, config.json: every rule in a table."""

import json

import pytest

from moot.evidence.artefacts.checkpoints import Checkpoint, checkpoint
from moot.evidence.artefacts.cycles import cycles
from moot.evidence.artefacts.evidence import flaw_in_evidence
from moot.evidence.artefacts.kinds import CATEGORIES, WEIGHTY, guess
from moot.evidence.artefacts.revision import flaw_in_revision, keep_line_ends
from moot.evidence.artefacts.state import with_decision
from moot.evidence.artefacts.values import Artefact, ArtefactType

REQUIREMENTS = "# Requirements\n\n- **AB-01**: x is shown\n- **AB-02**: y is kept\n"
ROADMAP = "# Roadmap\n\n### Phase 1: A\n**Goal**: a\n\n### Phase 2: B\n**Goal**: b\n"
PLAN = "<task>\n<files>a</files><action>b</action><verify>c</verify><done>d</done>\n</task>\n"
VERIFIED = "**Status:** passed\n\n## Observable Truths\n"
VERIFICATION = "---\nstatus: passed\n---\n\n## Observable Truths\n\n| Truth | Status |\n|---|---|\n| x | VERIFIED |\n"


@pytest.mark.parametrize(
    ("name", "text", "kind", "how"),
    [
        ("REQUIREMENTS.md", "anything", "requirements", "name"),
        ("v1.0-requirements.md", "anything", "requirements", "name"),
        ("ROADMAP.md", "anything", "roadmap", "name"),
        ("01-02-PLAN.md", "anything", "plan", "name"),
        ("01-VERIFICATION.md", "anything", "verification", "name"),
        ("notes.md", REQUIREMENTS, "requirements", "content"),
        ("notes.md", ROADMAP, "roadmap", "content"),
        ("notes.md", PLAN, "plan", "content"),
        ("notes.md", VERIFICATION, "verification", "content"),
        ("notes.md", "# Roadmap\n\nSoon.\n", "roadmap", "title"),
        ("PLANNING.md", "hello", None, "neither"),
        ("notes.md", "hello", None, "neither"),
        ("notes.md", PLAN + VERIFIED, None, "reads like"),
    ],
)  # fmt: skip
def test_the_type_is_told_by_name_then_by_content(name: str, text: str, kind: str | None, how: str) -> None:
    told = guess(name, text)
    assert told.type == kind and how in told.how


def test_every_type_has_its_categories_and_its_weighty_ones() -> None:
    assert set(CATEGORIES) == set(WEIGHTY) == {"requirements", "roadmap", "plan", "verification"}
    assert all(WEIGHTY[kind] < set(CATEGORIES[kind]) for kind in CATEGORIES)


MATERIAL = """## Login
- **AB-01**: User can log in with email and **password**
- AB-02: The page is fast
### Phase 2: Later
"""


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        ("", "no evidence"),
        ("N/A", "no evidence"),
        ("none", "no evidence"),
        ("-", "no evidence"),
        ("see above", "no evidence"),
        ("It is  wrong!", "repeats the concern"),
        ('"User can log in with email"', ""),
        ("“the page is FAST”", ""),
        ("It says `log in with email and password`", ""),
        ('"User can log … password"', ""),
        ('"User can fly to the moon"', "not there"),
        ('AB-01 says "User can fly to the moon"', "not there"),
        ('"User can fly" and "The page is fast"', ""),
        ('No requirement mentions "password reset"', ""),
        ("There is no requirement for a password reset", ""),
        ("The document does not define what fast means", ""),
        ("A measure is missing", ""),
        ("AB-02 gives a wish", ""),
        ("AB-99 gives a wish", "AB-99"),
        ("Phase 2 comes too late", ""),
        ("Phase 9 comes too late", "nothing in the evidence can be checked"),
        ("User can log in with email, and that will annoy people", ""),
        ("This seems wrong to me", "nothing in the evidence can be checked"),
        ("Experts agree that this is bad", "nothing in the evidence can be checked"),
    ],
)  # fmt: skip
def test_evidence_must_be_checkable(evidence: str, why: str) -> None:
    flaw = flaw_in_evidence("It is wrong.", evidence, MATERIAL)
    assert why in flaw and bool(why) == bool(flaw)


WHOLE = """---
phase: 01
---
# Plan

Some words that explain what this plan is for and why it is needed now, REDACTED_AWS_KEY_123456.

## Phase 1: Begin

- AB-01: one
- AB-02: two

<task>
<files>a.py</files><action>write it</action><verify>pytest</verify><done>it works</done>
</task>
"""


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("AB-01: one", "AB-01: one, more exactly", ""),
        ("Phase 1: Begin", "Phase 1: A better beginning", ""),
        (WHOLE, "", "empty"),
        (WHOLE, "I'm sorry, but I cannot help with that.", "refusal"),
        ("---\nphase: 01\n---\n", "", "front matter"),
        ("phase: 01", "plan: 01", "the key 'phase'"),
        ("## Phase 1: Begin\n", "", "heading 'Phase 1: Begin'"),
        ("- AB-02: two\n", "", "AB-02"),
        (WHOLE[WHOLE.index("<task>") :], "", "1 of 1 tasks"),
        (", REDACTED_AWS_KEY_123456", "", "REDACTED_AWS_KEY_123456"),
        ("- AB-02: two\n", "- AB-02: two\n...\n", "leaves out a part"),
        ("- AB-02: two\n", "- AB-02: two\n[rest of the document unchanged]\n", "leaves out a part"),
        ("Some words that explain what this plan is for and why it is needed now, ", "", "cut short"),
        ("<verify>pytest</verify>", "", "more wrong with it"),
    ],
)  # fmt: skip
def test_a_revision_must_be_whole(old: str, new: str, why: str) -> None:
    assert old in WHOLE
    flaw = flaw_in_revision(Artefact(path="PLAN.md", type="plan", text=WHOLE), WHOLE.replace(old, new), [])
    assert why in flaw and bool(why) == bool(flaw)


def test_a_revision_keeps_the_line_ends_of_the_file() -> None:
    assert keep_line_ends("a\nb\n", "x\r\ny") == "a\r\nb"
    assert keep_line_ends("a\nb", "x\ny\n") == "a\nb\n"


STATE = "# State\n\n## Accumulated Context\n\n### Decisions\n\n- [Phase 1]: old\n\n### Todos\n\nNone.\n\n## Session\n"


NEW = "- new <!-- moot review s1 -->\n"
CONTEXT = "## Accumulated Context\n"
WINDOWS = f"# S\n\n{CONTEXT}### Decisions\n- a\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (STATE, STATE.replace("- [Phase 1]: old\n", f"- [Phase 1]: old\n{NEW}")),
        (STATE.replace("- [Phase 1]: old\n\n", ""), STATE.replace("- [Phase 1]: old\n", NEW)),
        (f"# S\n\n{CONTEXT}\nx\n", f"# S\n\n{CONTEXT}\n### Decisions\n\n{NEW}\nx\n"),
        ("# S\n", f"# S\n\n{CONTEXT}\n### Decisions\n\n{NEW}"),
        (f"# S\n\n```\n{CONTEXT}```\n", f"# S\n\n```\n{CONTEXT}```\n\n{CONTEXT}\n### Decisions\n\n{NEW}"),
        (WINDOWS.replace("\n", "\r\n"), f"{WINDOWS}{NEW}".replace("\n", "\r\n")),
    ],
    ids=["at the end of the list", "no entry yet", "no list yet", "no section yet", "in a code block", "windows"],
)
def test_a_decision_goes_under_accumulated_context(before: str, after: str) -> None:
    assert with_decision(before, "s1", "new") == after
    assert with_decision(after, "s1", "new") == after, "written twice, it stands there once"
    assert with_decision(after, "s1", "newer").count("moot review s1") == 1


def test_a_decision_cannot_close_its_own_mark() -> None:
    assert with_decision("# S\n", "s1", "a --> b\n## Evil").count("-->") == 1
    assert "\n## Evil" not in with_decision("# S\n", "s1", "a\n## Evil")


def config(**adversary: object) -> str:
    return json.dumps({"adversary": adversary})


@pytest.mark.parametrize(
    ("text", "kind", "enabled", "rounds", "problems"),
    [
        (None, "plan", True, None, 0),
        ("{}", "plan", True, None, 0),
        ("{broken", "plan", True, None, 1),
        ("[1]", "plan", True, None, 1),
        ('{"workflow": {"adversary": false}}', "plan", False, None, 0),
        ('{"workflow": {"adversary": true}}', "plan", True, None, 0),
        ('{"workflow": {"adversary": "no"}}', "plan", True, None, 1),
        ('{"workflow": 7}', "plan", True, None, 1),
        (config(enabled=False), "plan", False, None, 0),
        (config(max_rounds=2), "plan", True, 2, 0),
        (config(max_rounds=10), "plan", True, 3, 0),
        (config(max_rounds=0), "plan", True, None, 1),
        (config(max_rounds=True), "plan", True, None, 1),
        (config(checkpoints=["requirements", "plans"]), "plan", True, None, 0),
        (config(checkpoints=["requirements", "plans"]), "roadmap", False, None, 0),
        (config(checkpoints=[]), "plan", False, None, 0),
        (config(checkpoints={"plan": False}), "plan", False, None, 0),
        (config(checkpoints={"plan": False}), "roadmap", True, None, 0),
        (config(checkpoints={"plans": {"enabled": False, "max_rounds": 2}}), "plan", False, None, 0),
        (config(checkpoints={"plan": {"max_rounds": 1}}, max_rounds=2), "plan", True, 1, 0),
        (config(checkpoints={"plan": {"max_rounds": 1}}, max_rounds=2), "roadmap", True, 2, 0),
        (config(checkpoints={"plan": {"max_rounds": "many"}}, max_rounds=2), "plan", True, 2, 1),
        (config(checkpoints={"plan": "yes"}), "plan", True, None, 1),
        (config(checkpoints="all"), "plan", True, None, 1),
        ("[" * 100_000, "plan", True, None, 1),
    ],
)  # fmt: skip
def test_config_json(text: str | None, kind: ArtefactType, enabled: bool, rounds: int | None, problems: int) -> None:
    said = checkpoint(text, kind)
    assert (said.enabled, said.max_rounds, len(said.problems)) == (enabled, rounds, problems)
    assert bool(said.why) is not enabled
    assert text is not None or said == Checkpoint()


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ({"a": [], "b": ["a"]}, []),
        ({"a": ["a"]}, [("a",)]),
        ({"a": ["b"], "b": ["a"]}, [("a", "b")]),
        ({"a": ["b"], "b": ["c"], "c": ["b"]}, [("b", "c")]),
        ({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}, []),
        ({"a": ["b"], "b": ["a", "c"], "c": ["b"]}, [("a", "b"), ("b", "c")]),
        ({"a": ["x"]}, []),
    ],
)
def test_cycles(needs: dict[str, list[str]], expected: list[tuple[str, ...]]) -> None:
    assert cycles(needs) == expected


def test_a_long_chain_is_no_cycle_and_no_recursion() -> None:
    assert cycles({str(n): [str(n + 1)] for n in range(5000)}) == []
