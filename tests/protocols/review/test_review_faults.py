"""An OpenAI-compatible server that misbehaves in a review: none of it passes for "no objections", all is said."""

import json
from pathlib import Path

import pytest
from conftest import Cli
from fake_provider import Answer, fake_provider, openai_answer
from review_kit import REQUIREMENTS, REVISED, answers, challenge, project, raised, rebuttal, revision

FILE = ".planning/REQUIREMENTS.md"
GOOD = raised(challenge())
REFUSAL = "I'm sorry, but I cannot criticise this document."
BOTH = "## NO OBJECTIONS\n\n### Challenge 1: Completeness\n**Concern:** x\n**Evidence:** AB-01\n**Severity:** minor\n"


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-0123456789")
    monkeypatch.setenv("MOOT_RETRIES", "0")
    return monkeypatch


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (openai_answer("The document is well written and complete."), "unreadable"),
        (openai_answer(REFUSAL), "unreadable"),
        (openai_answer(None, refusal="I cannot do that."), "absent"),
        (openai_answer(""), "empty"),
        (openai_answer(BOTH), "both lists challenges and says there are none"),
        (openai_answer(GOOD[: len(GOOD) // 2]), "unreadable"),
        (openai_answer(GOOD[: len(GOOD) // 2], finish="length"), "cut off"),
        (openai_answer(raised(challenge(evidence=""))), "dropped"),
        (openai_answer(raised(challenge(category="taste"))), "is not one of"),
        (Answer(status=500, body={"error": {"message": "boom"}}), "unreachable"),
        (Answer(status=401, body={"error": {"message": "no"}}), "unreachable"),
        (Answer(trouble="reset"), "unreachable"),
        (Answer(trouble="hang"), "timeout"),
    ],
    ids=["praise", "refusal", "refusal field", "empty", "both", "half", "cut off", "no evidence", "category", "500",
         "401", "reset", "silence"],
)  # fmt: skip
def test_no_bad_reply_ever_means_no_objections(
    cli: Cli, tmp_path: Path, openai: pytest.MonkeyPatch, answer: Answer, said: str
) -> None:
    project(tmp_path)
    with fake_provider(answer) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        flags = ("-m", "openai:any", "--json", "--call-timeout", "0.5", "--fail-on", "critical", "--write")
        ran = cli("review", FILE, *flags)
    result = json.loads(ran.out)
    assert (ran.code, result["outcome"]) == (2, "inconclusive")
    assert any(said in note for note in result["degraded"]), result["degraded"]
    assert (tmp_path / FILE).read_text() == REQUIREMENTS and "test-key-0123456789" not in ran.out + ran.err


def test_a_review_that_did_not_take_place_is_no_success_without_fail_on(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    ran = cli("review", FILE, "-m", "cmd:true", "--json")
    assert (ran.code, json.loads(ran.out)["outcome"]) == (2, "inconclusive")
    assert cli("review", FILE, "--no-llm").code == 0


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (openai_answer(REFUSAL), "none"),
        (openai_answer(""), "none"),
        (openai_answer("REVISED:\n```markdown\n# Requirements\n\n## v1\n"), "none"),
        (openai_answer("REVISED:\n```markdown\n# Requirements\n\n## v1\n\n- AB-01", finish="length"), "none"),
        (openai_answer(revision(f"{REFUSAL}\n")), "refusal"),
        (openai_answer(revision("# Requirements\n\n## v1\n\n- **AB-01**: x\n")), "loses AB-02"),
    ],
    ids=["refusal", "empty", "never closed", "cut off", "refusal in a fence", "shortened"],
)  # fmt: skip
def test_a_bad_revision_is_never_written(
    cli: Cli, tmp_path: Path, openai: pytest.MonkeyPatch, bad: Answer, said: str
) -> None:
    project(tmp_path)
    minor = raised(challenge("The words differ", '"delete any booking"', "user focus", "minor"))
    with fake_provider(openai_answer(minor), openai_answer(answers(C1="addressed")), bad) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        result = json.loads(cli("review", FILE, "-m", "openai:any", "--json", "--write").out)
    (one,) = result["artefacts"]
    assert one["revised"] is None and said in one["rounds"][0]["revision_refused"]
    assert [v["state"] for v in one["challenges"]] == ["unresolved"]
    assert (tmp_path / FILE).read_text() == REQUIREMENTS


def test_good_replies_between_bad_ones_go_on_and_every_weakness_is_said(
    cli: Cli, tmp_path: Path, openai: pytest.MonkeyPatch
) -> None:
    project(tmp_path)
    replies = [
        openai_answer("Let me think about it."),
        openai_answer(f"Here is what I found:\n\n```json\n{GOOD}\n```\n"),
        openai_answer(REFUSAL),
        openai_answer(answers(C1="addressed")),
        openai_answer(f"Sure! The revised document:\n\n{revision()}"),
        openai_answer(BOTH),
        openai_answer(rebuttal({"C1": "addressed"})),
    ]
    with fake_provider(*replies) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        result = json.loads(cli("review", FILE, "-m", "openai:any", "--json", "--write").out)
    assert (result["outcome"], result["calls"], len(provider.asked)) == ("no_objections", 7, 7)
    assert (tmp_path / FILE).read_text() == REVISED
    assert sum("asked again" in note for note in result["degraded"]) == 3


def test_a_provider_that_goes_down_in_the_middle_can_be_tried_again(
    cli: Cli, tmp_path: Path, openai: pytest.MonkeyPatch
) -> None:
    project(tmp_path)
    down = Answer(status=503, body={"error": {"message": "maintenance"}})
    with fake_provider(openai_answer(GOOD), down) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        ran = cli("review", FILE, "-m", "openai:any", "--json")
    broken = json.loads(ran.out)
    assert broken["outcome"] == "challenged" and f"moot resume {broken['session_id']}" in ran.err
    rest = (
        openai_answer(answers(C1="addressed")),
        openai_answer(revision()),
        openai_answer(rebuttal({"C1": "addressed"})),
    )
    with fake_provider(*rest) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        result = json.loads(cli("resume", broken["session_id"], "--json", "--write").out)
    assert (result["outcome"], result["calls"], len(provider.asked)) == ("no_objections", 4, 3)
    assert (tmp_path / FILE).read_text() == REVISED


def test_the_provider_gets_a_schema_in_which_evidence_is_not_optional(
    cli: Cli, tmp_path: Path, openai: pytest.MonkeyPatch
) -> None:
    project(tmp_path)
    with fake_provider(openai_answer(raised())) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        cli("review", FILE, "-m", "openai:any")
    schema = json.dumps(provider.asked[0].body["response_format"])
    assert '"required": ["concern", "evidence", "recommendation", "category", "severity"]' in schema
    assert "scope creep" in schema and "missing wiring" not in schema, "the categories of this type, and no other"
