"""What judges' answers must have to count: how many agree, who keeps its stance, who says what convinced it."""

from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import write_trusted
from panels import PANEL, SCOPE, ballot, data, entry, rebuttal, script, write_script


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    (tmp_path / "q.yaml").write_text(SCOPE)
    return tmp_path


def decided(cli: Cli, model: str, *flags: str) -> dict[str, Any]:
    ran = cli("decide", "q.yaml", "-m", model, "--json", *flags)
    assert ran.out, ran.err
    return data(ran.out)


@pytest.mark.parametrize(
    ("needed", "outcome", "rounds"),
    [("majority", "RECOMMENDED", 1), ("two_thirds", "RECOMMENDED", 1), ("unanimous", "CONTESTED", 2)],
)
def test_two_of_three_are_enough_or_not(cli: Cli, asked: Path, needed: str, outcome: str, rounds: int) -> None:
    found = decided(cli, script(asked, "AAB", "AAB"), "--require-agreement", needed)
    assert (found["outcome"], found["rounds"]) == (outcome, rounds)
    if outcome == "CONTESTED":
        assert found["distribution"] == {"A": ["risk", "value"], "B": ["effort"]}


def test_half_is_no_majority(cli: Cli, asked: Path) -> None:
    write_trusted(asked, '[decide]\nrequire_agreement = "majority"\njudges = ["risk", "value"]\n')
    said = [entry(seat, 1, ballot(seat, option)) for seat, option in (("risk", "A"), ("value", "B"))]
    said += [entry(seat, 2, rebuttal(seat, option)) for seat, option in (("risk", "A"), ("value", "B"))]
    assert decided(cli, write_script(asked, said))["outcome"] == "CONTESTED"


def test_a_judge_that_leaves_its_stance_is_noted_or_not_counted(
    cli: Cli, asked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strayed = ballot("effort", "A", "As the value judge I see only gains.")
    said = [entry("risk", 1, ballot("risk", "A")), entry("value", 1, ballot("value", "A")), entry("effort", 1, strayed)]
    model = write_script(asked, said)
    noted = decided(cli, model)
    assert noted["distribution"] == {"A": ["risk", "value", "effort"]} and noted["confidence"] == "HIGH"
    assert any("stance drift" in note for note in noted["degraded"])
    monkeypatch.setenv("MOOT_DECIDE_REQUIRE_STANCE_MAINTENANCE", "true")
    counted = decided(cli, model)
    assert counted["distribution"] == {"A": ["risk", "value"]} and counted["confidence"] == "MEDIUM"
    assert any("left its stance: option A is not counted" in note for note in counted["degraded"])


def test_in_round_two_the_first_recommendation_of_a_strayed_judge_stands(cli: Cli, asked: Path) -> None:
    write_trusted(asked, "[decide]\nrequire_stance_maintenance = true\n")
    said = [entry(seat, 1, ballot(seat, option)) for seat, option in zip(PANEL, "ABC", strict=True)]
    lost = rebuttal("effort", "A", "sync takes months").replace("It is little work.", "As the value judge I agree.")
    said += [
        entry("risk", 2, rebuttal("risk", "A")),
        entry("value", 2, rebuttal("value", "B")),
        entry("effort", 2, lost),
    ]
    found = decided(cli, write_script(asked, said))
    assert found["outcome"] == "CONTESTED" and found["distribution"]["C"] == ["effort"]
    assert any("left its stance in round 2: its recommendation of round 1 stands" in n for n in found["degraded"])


def test_a_change_of_mind_without_a_reason_counts_only_if_you_say_so(cli: Cli, asked: Path) -> None:
    model = script(asked, "ABC", "AAC", convinced="NONE")
    assert decided(cli, model)["outcome"] == "CONTESTED"
    write_trusted(asked, "[decide]\nrequire_change_documentation = false\n")
    found = decided(cli, model)
    assert (found["outcome"], found["recommended_option"], found["agreement"]) == ("RECOMMENDED", "A", "MAJORITY")
