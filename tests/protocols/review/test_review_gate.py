"""`moot review` as a gate and for a project: exit codes, configuration, profiles, folders, what is refused."""

import json
from pathlib import Path

import pytest
from conftest import Cli
from kit import write_trusted
from review_kit import (
    FILE,
    LOGIC,
    MINOR,
    NONE,
    REQUIREMENTS,
    REVISED,
    STATE,
    answers,
    challenge,
    project,
    raised,
    rebuttal,
    reviewed,
    revision,
    script,
)

import moot
from moot.protocols.review.script import ReviewResult
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions.review import exit_code


@pytest.mark.parametrize(
    ("adversary", "defender", "flags", "code"),
    [
        ([raised(challenge())], [], ["--defend", "off"], 0),
        ([raised(challenge())], [], ["--defend", "off", "--fail-on", "critical"], 1),
        ([raised(LOGIC)], [], ["--defend", "off", "--fail-on", "critical"], 0),
        ([raised(LOGIC)], [], ["--defend", "off", "--fail-on", "significant"], 1),
        ([raised(MINOR)], [], ["--defend", "off", "--fail-on", "minor"], 1),
        ([NONE], [], ["--fail-on", "minor"], 0),
        ([raised(MINOR)], [answers(C1="rejected")], ["--fail-on", "minor"], 1),
        ([raised(challenge()), rebuttal({"C1": "rejected"})], [answers(C1="rejected")], ["--fail-on", "minor"], 0),
        (
            [raised(challenge()), rebuttal({"C1": "addressed"})], [answers(C1="addressed"), revision()],
            ["--fail-on", "minor"], 1,
        ),
        (
            [raised(challenge()), rebuttal({"C1": "addressed"})], [answers(C1="addressed"), revision()],
            ["--fail-on", "minor", "--write"], 0,
        ),
        ([{"error": "refused"}], [], [], 2),
        ([{"error": "refused"}], [], ["--fail-on", "critical"], 2),
        (["hm", "hm"], [], ["--fail-on", "critical"], 2),
    ],
)  # fmt: skip
def test_exit_codes(
    cli: Cli, tmp_path: Path, adversary: list[object], defender: list[object], flags: list[str], code: int
) -> None:
    """Advice is no failure. A review that did not take place is one, and so is an unsaved revision under --fail-on."""
    project(tmp_path)
    assert cli("review", FILE, *script(tmp_path, adversary, defender), "--quiet", *flags).code == code


@pytest.mark.parametrize(
    ("text", "flags", "code"),
    [
        (REQUIREMENTS, ["--no-llm"], 0),
        (REQUIREMENTS, ["--no-llm", "--fail-on", "minor"], 0),
        (REQUIREMENTS, ["--fail-on", "minor"], 2),
        (REQUIREMENTS + "- [ ] **AB-01**: x\n", ["--no-llm"], 0),
        (REQUIREMENTS + "- [ ] **AB-01**: x\n", ["--no-llm", "--fail-on", "critical"], 1),
        (REQUIREMENTS + "- [ ] **AB-03**: It is easy\n", ["--no-llm", "--fail-on", "critical"], 0),
        (REQUIREMENTS + "- [ ] **AB-03**: It is easy\n", ["--no-llm", "--fail-on", "significant"], 1),
    ],
)
def test_without_a_model_the_checks_alone_speak(
    cli: Cli, tmp_path: Path, text: str, flags: list[str], code: int
) -> None:
    project(tmp_path, text)
    ran = cli("review", FILE, *flags, "--json")
    one = reviewed(ran)
    assert (ran.code, one["outcome"], one["calls"]) == (code, "structural_only", 0)
    assert any("structural checks only" in note for note in one["degraded"])


@pytest.mark.parametrize(
    ("config", "outcome", "rounds", "said"),
    [
        ({"workflow": {"adversary": False}}, "switched_off", 0, "workflow.adversary is false"),
        ({"adversary": {"checkpoints": ["plans"]}}, "switched_off", 0, "leaves requirements out"),
        ({"adversary": {"max_rounds": 1}}, "unresolved", 1, ""),
        ({"adversary": {"checkpoints": {"requirements": {"max_rounds": 2}}}}, "unresolved", 2, ""),
        ({"adversary": {"max_rounds": 9}}, "unresolved", 3, ""),
        ({"adversary": 1}, "unresolved", 3, "adversary in config.json is no object"),
    ],
)
def test_the_projects_configuration_is_respected(
    cli: Cli, tmp_path: Path, config: object, outcome: str, rounds: int, said: str
) -> None:
    home = project(tmp_path)
    (home / "config.json").write_text(json.dumps(config))
    again = [
        {"reply": rebuttal({"C1": "unaddressed"}, LOGIC)},
        {"reply": rebuttal({"C1": "unaddressed", "C2": "unaddressed"}, MINOR)},
    ]
    seats = script(tmp_path, [raised(challenge()), *again], [{"reply": answers(all="rejected"), "always": True}])
    one = reviewed(cli("review", FILE, *seats, "--json"))
    assert (one["outcome"], len(one["rounds"])) == (outcome, rounds)
    assert said in " ".join(one["degraded"])
    ran = cli("review", FILE, *seats, "--json", "--max-rounds", "2")
    assert len(reviewed(ran)["rounds"]) == (2 if rounds else 0), "a flag says more than the file"


def test_more_than_three_rounds_are_not_to_be_had(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    one = reviewed(cli("review", FILE, *script(tmp_path, [NONE]), "--json", "--max-rounds", "9"))
    assert "9 rounds were asked for; a review has at most 3" in one["degraded"]
    assert one["rounds"][0]["document"].startswith("## NO OBJECTIONS\n\n**Round:** 1/3")


def test_a_profile_chooses_the_adversary(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    script(tmp_path, [NONE])
    write_trusted(tmp_path, '[review.profiles]\nquality = "script:replies.yaml"\n')
    assert reviewed(cli("review", FILE, "--profile", "quality", "--json"))["outcome"] == "no_objections"
    ran = cli("review", FILE, "--profile", "budget")
    assert ran.code > 0 and "set review.profiles.budget to the adversary's model" in ran.err
    write_trusted(tmp_path, '[review]\nprofile = "quality"\n[review.profiles]\nquality = "script:replies.yaml"\n')
    assert reviewed(cli("review", FILE, "--json"))["outcome"] == "no_objections"


@pytest.mark.parametrize(
    ("name", "data", "flags", "said"),
    [
        ("REQUIREMENTS.md", None, [], "there is no file"),
        ("REQUIREMENTS.md", b"  \n", [], "is empty"),
        ("REQUIREMENTS.md", b"a\0b", [], "binary"),
        ("REQUIREMENTS.md", b"\xff\xfe", [], "not valid UTF-8"),
        ("notes.md", b"hello\n", [], "set it with --type"),
        ("REQUIREMENTS.md", b"x\n", ["--type", "novel"], "unknown type"),
        ("REQUIREMENTS.md", b"x\n", ["--fail-on", "high"], "known are critical, significant, minor"),
        ("REQUIREMENTS.md", b"x\n", ["--context", "nope.md"], "there is no file"),
        ("REQUIREMENTS.md", b"x" * 2_000_001, [], "the limit is 2 MB"),
    ],
)  # fmt: skip
def test_what_cannot_be_reviewed_is_refused(
    cli: Cli, tmp_path: Path, name: str, data: bytes | None, flags: list[str], said: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    ran = cli("review", name, *flags)
    assert ran.code >= 2 and said in ran.err and "Traceback" not in ran.err


def test_a_page_of_a_megabyte_is_shown_in_part_and_that_is_said(cli: Cli, tmp_path: Path) -> None:
    project(
        tmp_path,
        "# Requirements\n\n## v1\n\n"
        + "".join(f"- **AB-{n % 9999:04}**: part {n} is shown\n" for n in range(2000))
        + f"{'x' * 199}\n" * 4000,
    )
    one = reviewed(cli("review", FILE, *script(tmp_path, [NONE]), "--json"))
    assert one["outcome"] == "inconclusive" and any("did not see everything: " in note for note in one["degraded"])
    seats = script(
        tmp_path, [raised(challenge("No", '"part 3 is shown"', "user focus", "minor"))], [answers(C1="addressed")]
    )
    one = reviewed(cli("review", FILE, *seats, "--json"))
    assert one["revised"] is None and "saw only a part" in one["rounds"][0]["revision_refused"]
    prompt = json.loads(cli("export", one["session_id"]).out)
    assert "[cut here: " in json.dumps(prompt)


def test_the_prompts_hold_what_the_rules_say(cli: Cli, tmp_path: Path) -> None:
    """Artefact, type, project, round n of max; later the earlier challenges and the defence."""
    project(tmp_path)
    seats = script(
        tmp_path, [raised(challenge()), rebuttal({"C1": "addressed"})], [answers(C1="addressed"), revision()]
    )
    one = reviewed(cli("review", FILE, *seats, "--json"))
    steps = json.loads(cli("export", one["session_id"]).out)["steps"]
    steps = [step for step in steps if step["name"].startswith("ask ")]
    prompts = [step["value"]["call"]["prompt"] for step in steps]
    assert (
        "requirements document, .planning/REQUIREMENTS.md. Round 1 of 3" in prompts[0]
        and "A service for one harbour." in prompts[0]
    )
    assert "AB-02" in prompts[0] and "- scope creep:" in prompts[0] and "defender" not in prompts[0]
    assert "C1 (critical, completeness): Nobody can cancel" in prompts[1] and "add it" in prompts[2]
    limits = [step["value"]["call"]["max_tokens"] for step in steps]
    assert limits[0] == limits[1] == 1500 and limits[2] < 700, "a revision is not twice as long as the document"
    assert "Round 2 of 3" in prompts[3] and "AB-03" in prompts[3] and "defender: addressed. because of C1" in prompts[3]


def test_a_whole_folder_in_one_session(cli: Cli, tmp_path: Path) -> None:
    home = project(tmp_path)
    (home / "ROADMAP.md").write_text(
        "# Roadmap\n\n### Phase 1: A\n**Goal**: a\n**Requirements**: AB-01, AB-02\n**Success Criteria**: b\n"
    )
    (home / "phases").mkdir()
    task = "<task><files>a</files><action>b</action><verify>c</verify><done>d</done></task>\n"
    for number in (1, 2):
        (home / "phases" / f"01-0{number}-PLAN.md").write_text(
            f"---\nrequirements: [AB-0{number}]\n---\n# Plan\n\n{task}"
        )
    (home / "phases" / "01-VERIFICATION.md").write_bytes(b"\0")
    (home / "milestones").mkdir()
    (home / "milestones" / "old-ROADMAP.md").write_text("# Roadmap\n")
    replies = [
        {"reply": raised(MINOR), "contains": "requirements document"},
        {"error": "refused", "contains": "roadmap document"},
        {"reply": NONE, "contains": "plan document", "times": 2},
    ]
    seats = script(tmp_path, list(replies), [answers(C1="rejected")])
    ran = cli("review", ".planning", *seats, "--json", "--fail-on", "critical")
    result = json.loads(ran.out)
    assert [(a["path"].removeprefix(".planning/"), a["outcome"]) for a in result["artefacts"]] == [
        ("REQUIREMENTS.md", "converged"),
        ("ROADMAP.md", "inconclusive"),
        ("phases/01-01-PLAN.md", "no_objections"),
        ("phases/01-02-PLAN.md", "no_objections"),
    ]
    assert (ran.code, result["outcome"]) == (2, "inconclusive")
    assert [spot["file"] for spot in result["left_out"]] == [".planning/phases/01-VERIFICATION.md"]
    shown = cli("resume", result["session_id"]).out
    assert "document" in shown and "standing" in shown and "01-02-PLAN.md" in shown


def test_a_folder_without_artefacts_and_a_type_for_a_folder(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no artefact" in cli("review", "empty").err
    assert "--type is for a single file" in cli("review", "empty", "--type", "plan").err


@pytest.mark.parametrize(("calls", "code"), [("0", 2), ("1", 1), ("3", 1)])
def test_a_spent_budget_ends_a_review_in_order_and_it_can_be_carried_on(
    cli: Cli, tmp_path: Path, calls: str, code: int
) -> None:
    """A review that is not at its end writes neither the artefact nor a last word."""
    home = project(tmp_path)
    seats = script(
        tmp_path, [raised(challenge()), rebuttal({"C1": "addressed"})], [answers(C1="addressed"), revision()]
    )
    ran = cli("review", FILE, *seats, "--json", "--write", "--max-calls", calls, "--fail-on", "minor")
    one = reviewed(ran)
    assert (ran.code, one["outcome"]) == (code, "budget_exhausted") and f"moot resume {one['session_id']}" in ran.err
    assert (tmp_path / FILE).read_text() == REQUIREMENTS and (home / "STATE.md").read_text() == STATE
    again = reviewed(cli("resume", one["session_id"], "--max-calls", "9", "--json", "--write"))
    assert (again["outcome"], again["calls"], again["revised"]) == ("no_objections", 4, REVISED)
    assert (tmp_path / FILE).read_text() == REVISED and "moot review" in (home / "STATE.md").read_text()


def test_a_review_stopped_by_a_person_exits_with_130() -> None:
    plan = SessionPlan(protocol="review", topic="x", input={}, rules={}, notes={"fail_on": "critical"})
    assert exit_code(ReviewResult(outcome="cancelled", rounds=0, artefacts=()), plan) == 130


def test_the_context_can_be_another_file(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "about.md").write_text("".join(f"line {n}\n" for n in range(1, 80)))
    seats = script(
        tmp_path, [raised(challenge("It is late", '"line 50"')), rebuttal({"C1": "rejected"})], [answers(C1="rejected")]
    )
    one = reviewed(cli("review", FILE, *seats, "--context", "about.md", "--json"))
    prompt = json.loads(cli("export", one["session_id"]).out)["steps"][0]["value"]["call"]["prompt"]
    assert one["outcome"] == "no_objections", "the context is evidence too"
    assert "line 50\n" in prompt and "line 51" not in prompt and "A service for one harbour." not in prompt


def test_from_python(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    script(tmp_path, [raised(challenge())])
    rules = moot.ReviewRules(defend=False, max_rounds=1)
    result = moot.run_sync(moot.review(FILE, rules, model="script:replies.yaml", keep=False))
    assert (result.outcome, result.artefacts[0].challenges[0].id) == ("challenged", "C1")
    script(tmp_path, [raised(MINOR)], [answers(C1="addressed"), revision()])
    result = moot.run_sync(moot.review(tmp_path / FILE, model="script:replies.yaml", write=True, keep=False))
    assert (tmp_path / FILE).read_text() == REVISED and result.artefacts[0].revised == REVISED
    with pytest.raises(moot.UsageError, match="there is no file"):
        moot.run_sync(moot.review("nope.md"))
