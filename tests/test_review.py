"""`moot review` from the command line: every way a review can go, compared as JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli, Ran
from review_kit import (
    CONCERN,
    REQUIREMENTS,
    REVISED,
    STATE,
    answers,
    challenge,
    project,
    raised,
    rebuttal,
    revision,
    script,
)

FILE = ".planning/REQUIREMENTS.md"
MINOR = challenge("The words differ", '"delete any booking"', "user focus", "minor")
WEIGHTLESS = challenge("It is a detail", '"by email"', "scope creep", "significant")
LOGIC = challenge("The two contradict", '"delete any booking at any time"', "conflicts", "significant")
NONE = raised()


def reviewed(ran: Ran) -> dict[str, Any]:
    result = json.loads(ran.out)
    (one,) = result["artefacts"]
    return {**one, "degraded": result["degraded"], "calls": result["calls"], "session_id": result["session_id"]}


def states(one: dict[str, Any]) -> list[tuple[str, str, bool]]:
    return [(v["id"], v["state"], v["confirmed"]) for v in one["challenges"]]


@pytest.mark.parametrize(
    ("adversary", "defender", "outcome", "rounds", "expected"),
    [
        ([NONE], [], "no_objections", 1, []),
        (
            [raised(challenge()), rebuttal({"C1": "addressed"})],
            [answers(C1="addressed"), revision()],
            "no_objections", 2, [("C1", "addressed", True)],
        ),
        (
            [raised(challenge()), rebuttal({"C1": "rejected"})],
            [answers(C1="rejected")],
            "no_objections", 2, [("C1", "rejected", True)],
        ),
        ([raised(MINOR)], [answers(C1="rejected")], "converged", 1, [("C1", "rejected", False)]),
        ([raised(MINOR)], [answers(C1="addressed"), revision()], "converged", 1, [("C1", "addressed", False)]),
        ([raised(WEIGHTLESS)], [answers(C1="rejected")], "converged", 1, [("C1", "rejected", False)]),
        (
            [raised(LOGIC), rebuttal({"C1": "addressed"}, MINOR)],
            [answers(C1="addressed"), revision(), answers(C2="rejected")],
            "converged", 2, [("C1", "addressed", True), ("C2", "rejected", False)],
        ),
        (
            [raised(challenge()), rebuttal({"C1": "unaddressed"}, convergence="deadlock")],
            [answers(C1="addressed"), revision(), answers(C1="rejected")],
            "deadlock", 2, [("C1", "rejected", False)],
        ),
        (
            [raised(challenge()), rebuttal({"C1": "unaddressed"})],
            [answers(C1="rejected"), answers(C1="rejected")],
            "deadlock", 2, [("C1", "rejected", False)],
        ),
        (
            [raised(challenge()), rebuttal({"C1": "unaddressed"}), rebuttal({"C1": "unaddressed"})],
            [answers(C1="addressed"), revision(), answers(C1="addressed"), revision(REVISED + "\nMore.\n"),
             answers(C1="addressed"), revision(REVISED + "\nMore, and more.\n")],
            "unresolved", 3, [("C1", "addressed", False)],
        ),
        (
            [raised(challenge()), rebuttal({"C1": "addressed"}, LOGIC), rebuttal({"C2": "addressed"})],
            [answers(C1="addressed"), revision(), answers(C2="addressed"), revision(REVISED + "\nMore.\n")],
            "no_objections", 3, [("C1", "addressed", True), ("C2", "addressed", True)],
        ),
        (
            [raised(challenge()), "## NO OBJECTIONS\n\n**Round:** 2/3\n\n### Summary\n- Challenge 1: Addressed by AB-03\n"],
            [answers(C1="addressed"), revision()],
            "no_objections", 2, [("C1", "addressed", True)],
        ),
    ],
    ids=["clean", "addressed", "rejected", "minor", "minor revised", "scope", "logic then minor", "deadlock said",
         "nobody moves", "three rounds", "a new one in round 2", "NO OBJECTIONS"],
)  # fmt: skip
def test_every_way_a_debate_can_go(
    cli: Cli,
    tmp_path: Path,
    adversary: list[object],
    defender: list[object],
    outcome: str,
    rounds: int,
    expected: list[Any],
) -> None:
    project(tmp_path)
    seats = script(tmp_path, adversary, defender)
    ran = cli("review", FILE, *seats, "--json", "--quiet")
    one = reviewed(ran)
    assert (ran.code, one["outcome"], len(one["rounds"]), states(one)) == (0, outcome, rounds, expected), ran.err
    assert one["calls"] == len(adversary) + len(defender), "every line of the script was used"
    assert (tmp_path / FILE).read_text() == REQUIREMENTS, "without --write the artefact is not touched"


def test_the_whole_result_of_a_review(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    seats = script(
        tmp_path,
        [
            raised(challenge(), challenge("It seems wrong", "n/a")),
            rebuttal({"C1": "addressed"}, convergence="converging"),
        ],
        [answers(C1="addressed"), revision()],
    )
    one = reviewed(cli("review", FILE, *seats, "--json", "--quiet"))
    assert (one["type"], one["guessed"]) == ("requirements", "by its name REQUIREMENTS.md")
    assert (one["dropped"], one["dropped_challenges"][0]["why"]) == (1, "no evidence was given")
    assert one["revised"] == REVISED and "+- [ ] **AB-03**" in one["diff"]
    assert one["decision"] == "C1 (critical, completeness) addressed: because of C1"
    assert one["rounds"][0]["document"].startswith("## CHALLENGES\n\n**Round:** 1/3\n\n### Challenge 1: completeness\n")
    assert one["rounds"][1]["document"].startswith("## NO OBJECTIONS\n\n**Round:** 2/3\n")
    assert one["rounds"][1]["convergence"] == "converging"
    assert any("1 challenges dropped" in note for note in one["degraded"])


def test_a_person_sees_the_challenges_what_became_of_them_and_the_diff(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path, REQUIREMENTS.replace("by email", "easily"))
    text = REVISED.replace("by email", "with email")
    seats = script(tmp_path, [raised(challenge(), challenge("x", "n/a"), MINOR)] + [rebuttal({"C1": "addressed", "C2": "rejected"})],
                   [answers(C1="addressed", C2="rejected"), revision(text)])  # fmt: skip
    shown = cli("review", FILE, *seats).out
    for piece in ("no_objections: the adversary has nothing", "type: requirements, by its name", "AB-01 cannot be tested", "mended",
                  CONCERN, "addressed: because of C1", "rejected: because of C2", "1 challenges dropped", "+- [ ] **AB-03**"):  # fmt: skip
        assert piece in " ".join(shown.split()), piece


def test_write_replaces_the_artefact_and_notes_the_decision_once(cli: Cli, tmp_path: Path) -> None:
    home = project(tmp_path)
    seats = script(tmp_path, [raised(MINOR)], [answers(C1="addressed"), revision()])
    ran = cli("review", FILE, *seats, "--write", "--json")
    one = reviewed(ran)
    assert (tmp_path / FILE).read_text() == REVISED and "written: .planning/REQUIREMENTS.md" in ran.err
    state = (home / "STATE.md").read_text()
    assert state.startswith(STATE) and state.count("moot review") == 1
    assert "C1 (minor, user focus) addressed: because of C1 (revised)" in state
    for _ in range(2):
        assert cli("resume", one["session_id"], "--write").code == 0
        assert (home / "STATE.md").read_text() == state and (tmp_path / FILE).read_text() == REVISED


def test_without_write_only_state_is_noted_and_says_so(cli: Cli, tmp_path: Path) -> None:
    home = project(tmp_path)
    seats = script(tmp_path, [raised(MINOR)], [answers(C1="addressed"), revision()])
    one = reviewed(cli("review", FILE, *seats, "--json"))
    assert "(revision not written)" in (home / "STATE.md").read_text()
    cli("resume", one["session_id"], "--write")
    assert "(revised)" in (home / "STATE.md").read_text() and (tmp_path / FILE).read_text() == REVISED


def test_nothing_is_noted_where_no_defender_spoke(cli: Cli, tmp_path: Path) -> None:
    home = project(tmp_path)
    cli("review", FILE, *script(tmp_path, [NONE]), "--write")
    assert (home / "STATE.md").read_text() == STATE


def test_a_file_that_changed_meanwhile_is_left_alone(cli: Cli, tmp_path: Path) -> None:
    home = project(tmp_path)
    seats = script(tmp_path, [raised(MINOR)], [answers(C1="addressed"), revision()])
    one = reviewed(cli("review", FILE, *seats, "--json"))
    (home / "REQUIREMENTS.md").write_text("# Somebody else was here\n")
    ran = cli("resume", one["session_id"], "--write")
    assert ran.code > 0 and "was changed while the session ran; nothing was written" in ran.err
    assert (home / "REQUIREMENTS.md").read_text() == "# Somebody else was here\n"


def test_a_secret_never_reaches_a_prompt_and_stays_in_the_file(cli: Cli, tmp_path: Path) -> None:
    secret = "AKIA" + "ABCDEFGH12345678"
    home = project(tmp_path, REQUIREMENTS + f"\nKey: {secret}\n")
    masked = reviewed(cli("review", FILE, *script(tmp_path, [NONE]), "--json"))
    name = next(w for w in cli("export", masked["session_id"]).out.replace('"', " ").split() if "REDACTED_AWS_KEY" in w)
    name = name[name.index("REDACTED") :][: len("REDACTED_AWS_KEY_123456")]
    seats = script(tmp_path, [raised(MINOR)], [answers(C1="addressed"), revision(REVISED + f"\nKey: {name}\n")])
    ran = cli("review", FILE, *seats, "--write", "--json")
    assert secret not in ran.out + cli("export", reviewed(ran)["session_id"]).out
    assert secret in (home / "REQUIREMENTS.md").read_text() and "AB-03" in (home / "REQUIREMENTS.md").read_text()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# Requirements\n\n## v1\n", "it loses AB-01, AB-02"),
        (REQUIREMENTS.replace("# Requirements\n", ""), "the heading 'Requirements'"),
        (REVISED + "...\n", "leaves out a part"),
        (REVISED + "- [ ] **AB-01**: twice\n", "more wrong with it"),
        (REQUIREMENTS, "changes nothing"),
    ],
)
def test_a_revision_that_is_not_whole_is_not_accepted(cli: Cli, tmp_path: Path, text: str, why: str) -> None:
    project(tmp_path)
    seats = script(tmp_path, [raised(MINOR)], [answers(C1="addressed"), revision(text)])
    one = reviewed(cli("review", FILE, *seats, "--write", "--json"))
    assert one["revised"] is None and states(one) == [("C1", "unresolved", False)]
    assert why in one["rounds"][0]["revision_refused"] and any("was not accepted" in n for n in one["degraded"])
    assert (tmp_path / FILE).read_text() == REQUIREMENTS


@pytest.mark.parametrize(
    ("adversary", "status", "notes"),
    [
        (rebuttal({"C1": "rejected"}, MINOR, notes="the refusal is invalid"), "unaddressed", "the refusal is invalid"),
        (rebuttal({"Challenge 1": "addressed"}, MINOR), "addressed", "so"),
        (rebuttal({"C1": "addressed", "1": "unaddressed"}, MINOR), "unaddressed", "so"),
    ],
    ids=["a refusal turned down", "by its number", "two words"],
)
def test_only_a_clear_word_of_the_adversary_settles_a_challenge(
    cli: Cli, tmp_path: Path, adversary: str, status: str, notes: str
) -> None:
    project(tmp_path)
    defender: list[object] = [answers(C1="rejected"), answers(C1="rejected", C2="rejected")]
    one = reviewed(
        cli(
            "review", FILE, *script(tmp_path, [raised(challenge()), adversary], defender), "--json", "--max-rounds", "2"
        )
    )
    (assessment,) = one["rounds"][1]["assessments"]
    assert (assessment["status"], assessment["notes"]) == (status, notes)


def test_what_the_adversary_calls_rejected_although_the_document_was_changed_still_stands(
    cli: Cli, tmp_path: Path
) -> None:
    project(tmp_path)
    seats = script(tmp_path, [raised(challenge()), rebuttal({"C1": "rejected"})],
                   [answers(C1="addressed"), revision(), answers(C1="rejected")])  # fmt: skip
    one = reviewed(cli("review", FILE, *seats, "--json", "--max-rounds", "2"))
    assert (one["outcome"], states(one)) == ("unresolved", [("C1", "rejected", False)])


def test_a_challenge_that_is_passed_over_or_raised_again_stands(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    two = [challenge(), LOGIC]
    seats = script(tmp_path, [raised(*two), rebuttal({"C1": "addressed"}, challenge())],
                   [answers(C1="rejected", C2="rejected"), answers(C1="rejected", C2="rejected")])  # fmt: skip
    one = reviewed(cli("review", FILE, *seats, "--json", "--max-rounds", "2"))
    assert states(one) == [("C1", "rejected", False), ("C2", "rejected", False)], "no third challenge, none settled"
    assert any("did not say what became of C2" in note for note in one["degraded"])


def test_all_challenges_dropped_is_not_no_objections(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    seats = script(tmp_path, [raised(challenge(evidence=""), challenge("b", '"an invented passage"'))])
    ran = cli("review", FILE, *seats, "--json", "--fail-on", "critical")
    one = reviewed(ran)
    assert (ran.code, one["outcome"], one["dropped"]) == (2, "inconclusive", 2)
    assert "it quotes what is not there" in one["dropped_challenges"][1]["why"]


def test_defend_off_lists_challenges_and_asks_nobody_else(cli: Cli, tmp_path: Path) -> None:
    home = project(tmp_path)
    one = reviewed(
        cli("review", FILE, *script(tmp_path, [raised(challenge())]), "--defend", "off", "--write", "--json")
    )
    assert (one["outcome"], one["calls"], states(one)) == ("challenged", 1, [("C1", "unresolved", False)])
    assert (home / "STATE.md").read_text() == STATE and one["revised"] is None


def test_a_defender_that_is_absent_or_silent_settles_nothing(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    seats = script(tmp_path, [raised(challenge())], [{"error": "refused"}])
    one = reviewed(cli("review", FILE, *seats, "--json"))
    assert (one["outcome"], states(one)) == ("challenged", [("C1", "unresolved", False)])
    assert any("no answer of the defender" in note for note in one["degraded"])
    seats = script(tmp_path, [raised(MINOR, LOGIC)], [answers(C1="rejected")])
    one = reviewed(cli("review", FILE, *seats, "--json", "--max-rounds", "1"))
    assert states(one) == [("C1", "rejected", False), ("C2", "unresolved", False)]
    assert any("did not answer C2" in note for note in one["degraded"])


def test_a_defender_of_its_own_and_nobody_in_its_seat(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    script(tmp_path, [raised(MINOR)])
    (tmp_path / "other.yaml").write_text(json.dumps([{"seat": "defender", "reply": answers(C1="rejected")}]))
    seat = ["--seat", "adversary=script:replies.yaml"]
    one = reviewed(cli("review", FILE, *seat, "--defend", "script:other.yaml", "--json"))
    assert (one["outcome"], one["calls"]) == ("converged", 2)
    script(tmp_path, [raised(MINOR)])
    one = reviewed(cli("review", FILE, *seat, "--json"))
    assert one["outcome"] == "challenged" and any("nobody sits as defender" in note for note in one["degraded"])


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
        ([raised(challenge()), rebuttal({"C1": "addressed"})], [answers(C1="addressed"), revision()], ["--fail-on", "minor"], 1),
        (
            [raised(challenge()), rebuttal({"C1": "addressed"})], [answers(C1="addressed"), revision()],
            ["--fail-on", "minor", "--write"], 0,
        ),
        ([{"error": "refused"}], [], [], 0),
        ([{"error": "refused"}], [], ["--fail-on", "critical"], 2),
        (["hm", "hm"], [], ["--fail-on", "critical"], 2),
    ],
)  # fmt: skip
def test_exit_codes(
    cli: Cli, tmp_path: Path, adversary: list[object], defender: list[object], flags: list[str], code: int
) -> None:
    """Advice is no failure. Under --fail-on, what only an unsaved revision mends is not mended."""
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
    (tmp_path / "moot.toml").write_text('[review.profiles]\nquality = "script:replies.yaml"\n')
    assert reviewed(cli("review", FILE, "--profile", "quality", "--json"))["outcome"] == "no_objections"
    ran = cli("review", FILE, "--profile", "budget")
    assert ran.code > 0 and "set review.profiles.budget to the adversary's model" in ran.err
    (tmp_path / "moot.toml").write_text(
        '[review]\nprofile = "quality"\n[review.profiles]\nquality = "script:replies.yaml"\n'
    )
    assert reviewed(cli("review", FILE, "--json"))["outcome"] == "no_objections"


@pytest.mark.parametrize(
    ("name", "data", "flags", "said"),
    [
        ("REQUIREMENTS.md", None, [], "there is no file"),
        ("REQUIREMENTS.md", b"  \n", [], "is empty"),
        ("REQUIREMENTS.md", b"a\0b", [], "binary"),
        ("REQUIREMENTS.md", b"\xff\xfe", [], "not valid UTF-8"),
        ("notes.md", b"hello\n", [], "say it with --type"),
        ("REQUIREMENTS.md", b"x\n", ["--type", "novel"], "unknown type"),
        ("REQUIREMENTS.md", b"x\n", ["--fail-on", "high"], "none of critical, significant, minor"),
        ("REQUIREMENTS.md", b"x\n", ["--context", "nope.md"], "there is no file"),
        ("REQUIREMENTS.md", b"x" * 2_000_001, [], "more than the 2 MB"),
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
        + "".join(f"- **AB-{n % 9999:04}**: part {n} is shown\n" for n in range(9999))
        + "x\n" * 400_000,
    )
    one = reviewed(cli("review", FILE, *script(tmp_path, [NONE]), "--json"))
    assert one["outcome"] == "inconclusive" and any("the rest did not fit" in note for note in one["degraded"])
    seats = script(
        tmp_path, [raised(challenge("No", '"part 3 is shown"', "user focus", "minor"))], [answers(C1="addressed")]
    )
    one = reviewed(cli("review", FILE, *seats, "--json"))
    assert one["revised"] is None and "saw only a part" in one["rounds"][0]["revision_refused"]
    prompt = json.loads(cli("export", one["session_id"]).out)
    assert "lines shown, the rest did not fit]" in json.dumps(prompt)


def test_the_prompts_hold_what_the_rules_say(cli: Cli, tmp_path: Path) -> None:
    """Artefact, type, project, round n of max; later the earlier challenges and the defence."""
    project(tmp_path)
    seats = script(
        tmp_path, [raised(challenge()), rebuttal({"C1": "addressed"})], [answers(C1="addressed"), revision()]
    )
    one = reviewed(cli("review", FILE, *seats, "--json"))
    steps = json.loads(cli("export", one["session_id"]).out)["steps"]
    prompts = [step["value"]["call"]["prompt"] for step in steps]
    assert "requirements document. Round 1 of 3" in prompts[0] and "A service for one harbour." in prompts[0]
    assert "AB-02" in prompts[0] and "- scope creep:" in prompts[0] and "defender" not in prompts[0]
    assert "C1 (critical, completeness): Nobody can cancel" in prompts[1] and "add it" in prompts[2]
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
    assert "artefact" in shown and "standing" in shown and "01-02-PLAN.md" in shown


def test_a_folder_without_artefacts_and_a_type_for_a_folder(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no artefact" in cli("review", "empty").err
    assert "--type is for one file" in cli("review", "empty", "--type", "plan").err


@pytest.mark.parametrize(
    ("flag", "outcome"), [(["--max-calls", "1"], "budget_exhausted"), (["--max-calls", "0"], "budget_exhausted")]
)
def test_a_spent_budget_ends_a_review_in_order_and_it_can_be_carried_on(
    cli: Cli, tmp_path: Path, flag: list[str], outcome: str
) -> None:
    project(tmp_path)
    seats = script(
        tmp_path, [raised(challenge()), rebuttal({"C1": "addressed"})], [answers(C1="addressed"), revision()]
    )
    ran = cli("review", FILE, *seats, "--json", *flag, "--fail-on", "minor")
    one = reviewed(ran)
    assert one["outcome"] == outcome and ran.code in (1, 2) and f"moot resume {one['session_id']}" in ran.err
    again = reviewed(cli("resume", one["session_id"], "--max-calls", "9", "--json"))
    assert (again["outcome"], again["calls"], again["revised"]) == ("no_objections", 4, REVISED)
