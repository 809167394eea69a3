"""`moot review` from the command line: every way a review can go, compared as JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from review_kit import (
    CONCERN,
    FILE,
    LOGIC,
    MINOR,
    NONE,
    REQUIREMENTS,
    REVISED,
    STATE,
    WEIGHTLESS,
    answers,
    challenge,
    project,
    raised,
    rebuttal,
    reviewed,
    revision,
    script,
)


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
            [raised(challenge()), "## NO OBJECTIONS\n\n### Summary\n- Challenge 1: Addressed by AB-03\n"],
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
    assert any("1 challenge dropped" in note for note in one["degraded"])


def test_a_person_sees_the_challenges_what_became_of_them_and_the_diff(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path, REQUIREMENTS.replace("by email", "easily"))
    text = REVISED.replace("by email", "with email")
    said: list[object] = [
        raised(challenge(), challenge("x", "n/a"), MINOR),
        rebuttal({"C1": "addressed", "C2": "rejected"}),
    ]
    seats = script(tmp_path, said, [answers(C1="addressed", C2="rejected"), revision(text)])
    shown = cli("review", FILE, *seats).out
    pieces = [
        "no_objections: the adversary has no objections left (.planning/REQUIREMENTS.md)",
        "by its name", "AB-01 cannot be tested", "fixed",
        CONCERN, "addressed: because of C1", "rejected: because of C2", "1 challenge dropped", "+- [ ] **AB-03**",
    ]  # fmt: skip
    for piece in pieces:
        assert piece in " ".join(shown.split()), piece


def test_the_verdict_counts_the_structural_findings_that_are_open(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path, REQUIREMENTS.replace("by email", "easily"))
    seats = script(tmp_path, [NONE], [])
    first = cli("review", FILE, *seats).out.splitlines()[0]
    assert first.startswith("no_objections: ") and "REQUIREMENTS.md); 1 structural finding open" in first
    project(tmp_path)
    assert "structural" not in cli("review", FILE, *script(tmp_path, [NONE], [])).out.splitlines()[0]


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
    assert ran.code > 0 and "changed while the session ran; nothing was written" in ran.err
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
    "reply", [f"FILE: r.md\n```\n```markdown\n{REVISED}```\n```\n", f"```\n```markdown\n{REVISED}```\n"]
)
def test_a_revision_in_two_fences_is_a_revision(cli: Cli, tmp_path: Path, reply: str) -> None:
    """As a small model really sent it: the fence of the form, and one of its own."""
    project(tmp_path)
    one = reviewed(cli("review", FILE, *script(tmp_path, [raised(MINOR)], [answers(C1="addressed"), reply]), "--json"))
    assert one["revised"] == REVISED, one["rounds"][0]["revision_refused"]


def test_addressed_is_noted_only_where_the_artefact_changed(cli: Cli, tmp_path: Path) -> None:
    home = project(tmp_path)
    seats = script(tmp_path, [raised(MINOR)], [answers(C1="addressed"), revision()])
    one = reviewed(cli("review", FILE, *seats, "--json"))
    state = (home / "STATE.md").read_text()
    assert "addressed" not in state and "C1 (minor, user focus) open: settled only in a revision" in state
    cli("resume", one["session_id"], "--write")
    assert "C1 (minor, user focus) addressed: because of C1 (revised)" in (home / "STATE.md").read_text()


def test_what_the_adversary_lets_go_without_a_change_is_withdrawn(cli: Cli, tmp_path: Path) -> None:
    home = project(tmp_path)
    said: list[object] = [raised(challenge()), rebuttal({"C1": "addressed"})]
    seats = script(tmp_path, said, [answers(C1="addressed"), revision(REQUIREMENTS)])
    one = reviewed(cli("review", FILE, *seats, "--write", "--json"))
    (verdict,) = one["challenges"]
    assert (verdict["state"], verdict["confirmed"], one["revised"]) == ("withdrawn", True, None)
    state = (home / "STATE.md").read_text()
    assert "addressed" not in state and "C1 (critical, completeness) withdrawn: because of C1" in state


VAGUE = REQUIREMENTS + "- [ ] **AB-03**: The booking page loads quickly\n"
AGAIN = challenge("AB-03 cannot be tested, as 'quickly' has no measure", '"The booking page loads quickly"')


def test_a_structural_finding_said_again_is_no_new_challenge(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path, VAGUE)
    other = challenge("AB-03 says nothing about old phones", '"The booking page loads quickly" lacks a device')
    one = reviewed(cli("review", FILE, *script(tmp_path, [raised(AGAIN, other)]), "--defend", "off", "--json"))
    assert [v["challenge"]["concern"] for v in one["challenges"]] == [other["concern"]] and one["dropped"] == 0
    (again,) = one["rounds"][0]["repeated"]
    assert again["concern"] == AGAIN["concern"] and "AB-03 cannot be tested" in again["why"]


def test_an_adversary_that_only_repeats_findings_raises_nothing(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path, VAGUE)
    ran = cli("review", FILE, *script(tmp_path, [raised(AGAIN)]))
    assert "no_objections" in ran.out and "round 1: a challenge is not counted, the structural check of line" in ran.out


def test_several_files_are_one_review(cli: Cli, tmp_path: Path) -> None:
    home = project(tmp_path)
    (home / "ROADMAP.md").write_text("# Roadmap\n\n### Phase 1: Booking\n\n**Goal**: Berths are booked\n")
    ran = cli("review", FILE, ".planning/ROADMAP.md", FILE, "--no-llm", "--json")
    result = json.loads(ran.out)
    assert [r["path"] for r in result["artefacts"]] == [FILE, ".planning/ROADMAP.md"]
    assert len(json.loads(cli("list", "--json").out)) == 1


def test_files_of_several_projects_are_refused(cli: Cli, tmp_path: Path) -> None:
    project(tmp_path)
    project(tmp_path / "other")
    (tmp_path / "other" / ".planning" / "PROJECT.md").write_text("# Another\n")
    ran = cli("review", FILE, f"other/{FILE}", "--no-llm")
    assert (ran.code, ran.out) == (2, "") and "review one project at a time" in ran.err
