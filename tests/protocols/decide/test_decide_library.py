"""The panel from Python, and how well its replies were read."""

from pathlib import Path

import pytest
from panels import PANEL, SCOPE, ballot, entry, script, write_script
from reading_figures import table, turns, way_of

import moot
from moot.core.errors import UsageError
from moot.protocols.decide.questions.contexts import parse_spoken_question

OPTIONS = ["A: Full", "B: None", "C: Some"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_question_as_text_a_file_or_values(tmp_path: Path) -> None:
    result = moot.run_sync(moot.decide("Do we need it in v1?", OPTIONS, model=script(tmp_path, "BBA"), keep=False))
    assert (result.outcome, result.questions[0].recommended_option) == ("RECOMMENDED", "B")
    (tmp_path / "q.yaml").write_text(SCOPE)
    filed = moot.run_sync(
        moot.decide(tmp_path / "q.yaml", model=script(tmp_path, "CCC"), feature_dir="fd", store="s.db")
    )
    assert filed.questions[0].question_id == "SQ-1"
    assert len(list((tmp_path / "fd" / "sadd").iterdir())) == 3
    asked = parse_spoken_question("Do we need it in v1?", OPTIONS)
    rules = moot.DecideRules(judges=("risk", "effort"), max_rounds=1)
    entries = [entry(seat, 1, ballot(seat, option)) for seat, option in (("risk", "A"), ("effort", "B"))]
    model = write_script(tmp_path, entries)
    two = moot.run_sync(moot.decide([asked], rules=rules, model=model, limits=moot.Limits(max_calls=2), keep=False))
    assert (two.outcome, two.calls) == ("CONTESTED", 2)


def test_what_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no judge has a model"):
        moot.run_sync(moot.decide("Do we need it in v1?", OPTIONS))
    with pytest.raises(UsageError, match="cannot be read"):
        moot.run_sync(moot.decide(tmp_path / "nowhere.yaml"))
    with pytest.raises(UsageError, match="go with a question given as text"):
        moot.run_sync(moot.decide(tmp_path / "q.yaml", OPTIONS))


@pytest.mark.parametrize(
    ("absent", "replied", "again", "way"),
    [
        (None, True, False, "first attempt"),
        (None, True, True, "after clarification"),
        ({"why": "unreadable"}, True, True, "not at all"),
        ({"why": "refused"}, False, False, "not at all"),
        ({"why": "timeout"}, False, True, "not at all"),
        ({"why": "timeout"}, False, False, "no reply"),
        ({"why": "unreachable"}, False, False, "no reply"),
    ],
)
def test_how_a_reply_was_read(absent: dict[str, str] | None, replied: bool, again: bool, way: str) -> None:
    assert way_of(absent, replied, again) == way


def test_reading_figures_come_from_the_record(tmp_path: Path) -> None:
    entries = [
        entry("risk", 1, ballot("risk", "A")),
        entry("value", 1, "Option A or B"),
        entry("value", 1, ballot("value", "A")),
        entry("effort", 1, "no"),
        entry("effort", 1, "still no"),
    ]
    moot.run_sync(moot.decide("Do we need it in v1?", OPTIONS, model=write_script(tmp_path, entries), store="s.db"))
    found = {turn.seat: turn.way for turn in turns("s.db")}
    assert found == dict(zip(PANEL, ("first attempt", "after clarification", "not at all"), strict=True))
    assert table(turns("s.db")).endswith("| all |  |  | 3 | 1 (33%) | 1 (33%) | 1 (33%) | 0 |")
