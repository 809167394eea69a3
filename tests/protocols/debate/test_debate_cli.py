"""`moot debate` through the CLI: how it can end, what it prints and writes, what it says when it is asked wrongly."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import OPEN, QUIET, TESTS, TWO, Entry, says, world
from debates import FIRST, LAST, NO_EMPTY, RIGHT, ballot, code, points, wrote
from patience import PATIENCE, wait_until

TOPIC = "Should the service be split in two?"
UNSURE = says("ballot", ballot("B", "A", why="cheaper", sure=0.1))


def debated(cli: Cli, folder: Path, *answers: list[Entry], **kind: Any) -> dict[str, Any]:
    more = ("--json", *kind.pop("more", ()))
    ran = cli(*world(folder, *answers, more=more, **kind))
    assert ran.out, ran.err
    return {**json.loads(ran.out), "exit": ran.code, "err": ran.err}


def ended(result: dict[str, Any]) -> tuple[object, ...]:
    return result["exit"], result["outcome"], result["stop_reason"], result["winner"]


def story(cli: Cli, session: str) -> dict[str, Any]:
    return dict(json.loads(cli("show", session, "--json").out))


def calls(cli: Cli, result: dict[str, Any]) -> list[dict[str, Any]]:
    told = story(cli, result["session_id"])
    return [step["value"]["call"] for step in told["steps"] if step["name"].startswith("ask ")]


def prompts(told: dict[str, Any], phase: str) -> list[str]:
    asked = [s["value"]["call"] for s in told["steps"] if s["name"].startswith("ask ")]
    return [call["prompt"] for call in asked if call["phase"] == phase]


def test_alike_and_green_ends_after_the_drafts(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, says("code", code(RIGHT)), tests=TESTS)
    assert ended(result) == (0, "agreed", "alike_and_green", "A")
    assert (result["calls"], result["code"], result["passed"], result["of"]) == (3, RIGHT, 5, 5)
    assert result["baseline"] == {"candidate": "A", "agreement": 1.0, "clusters": [["A", "B", "C"]], "calls": 3}
    assert result["degraded"] == [] and not result["resumable"] and result["calls_full_run"] > 20


def test_tests_decide_against_the_majority(cli: Cli, tmp_path: Path) -> None:
    answers = [says("code", code(RIGHT), seat="reviewer"), says("code", code(LAST)), QUIET]
    result = debated(cli, tmp_path, *answers, tests=TESTS)
    assert ended(result) == (0, "agreed", "tests", "C")
    assert result["code"] == RIGHT and result["votes"][0]["ballots"] == []
    assert result["baseline"]["candidate"] == "C" and result["baseline"]["clusters"][0] == ["A", "B"]
    skipped = {p["phase"]: p["said"] for p in result["phases"] if p["status"] == "skipped"}
    assert skipped["critique"] == skipped["optimization"] == "C alone passes everything"


def test_consensus_of_ballots_settles_what_no_test_tells_apart(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, TWO, QUIET, says("ballot", ballot("B", "A")), task=OPEN)
    assert ended(result) == (0, "agreed", "consensus", "B")
    (vote,) = result["votes"]
    assert len(vote["ballots"]) == 5 and vote["election"]["pairwise"]["B"]["A"] == 5
    assert vote["consensus"]["level"] == 0.96 and vote["conflict"] == "correctness"


def test_ballots_without_consensus_that_do_not_change_end_contested(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, TWO, QUIET, UNSURE, task=OPEN)
    assert ended(result) == (1, "contested", "unchanged", "B")
    assert result["rounds"] == 2 and len(result["votes"]) == 2


def test_the_last_round_ends_it(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, TWO, QUIET, UNSURE, task=OPEN, more=("--rounds", "1"))
    assert ended(result) == (1, "contested", "max_rounds", "B")


def test_a_better_solution_out_of_the_parts_wins_by_its_tests(cli: Cli, tmp_path: Path) -> None:
    drafts = [*says("code", code(NO_EMPTY), seat="proposer"), *says("code", code(LAST))]
    answers = [drafts, QUIET, says("merge", code(RIGHT)), says("ballot", ballot("A"))]
    result = debated(cli, tmp_path, *answers, tests=TESTS)
    assert ended(result) == (0, "agreed", "tests", result["candidates"][-1]["id"])
    assert result["candidates"][-1]["phase"] == "optimization" and result["flips"] == {
        "by": "tests", "baseline": False, "result": True, "helped": True, "harmed": False
    }  # fmt: skip


@pytest.mark.parametrize("bad", ["I'm sorry, but I can't help with that.", "", "```python\ndef largest(nu"])
def test_nothing_usable_is_inconclusive_and_nothing_is_written(cli: Cli, tmp_path: Path, bad: str) -> None:
    result = debated(cli, tmp_path, says("code", bad), more=("--out", "won.py"))
    assert ended(result) == (2, "inconclusive", "no_candidate", None)
    assert (result["code"], result["candidates"], result["votes"]) == ("", [], [])
    assert not (tmp_path / "won.py").exists() and "nothing was written: there is no result" in result["err"]


def test_what_was_not_tested_is_no_success_however_sure_they_are(cli: Cli, tmp_path: Path) -> None:
    sure = says("ballot", ballot("A", "B", sure=1.0))
    command = world(tmp_path, TWO, QUIET, sure, task="Write largest, which finds the largest number.")
    ran = cli(*command, "--json")
    result = json.loads(ran.out)
    assert (ran.code, result["tested"], result["stop_reason"]) == (2, False, "consensus")
    assert any(note.startswith("not tested:") for note in result["degraded"])
    shown = cli(*command)
    assert shown.code == 2 and ": not tested: opinion only;" in shown.out.splitlines()[0]


POSITIONS = [
    *says("position", {"reply": {"position": "Split it.", "arguments": ["two teams"]}}, seat="proposer"),
    *says("position", {"reply": {"position": "Keep it whole.", "arguments": ["one team"]}}),
    *says("merge", {"reply": {"position": "Split it later.", "arguments": ["both"]}}),
]


def test_a_topic_is_settled_by_ballots_and_says_that_nothing_was_run(cli: Cli, tmp_path: Path) -> None:
    answers = [POSITIONS, QUIET, says("ballot", ballot("B", "A", why="one team"))]
    result = debated(cli, tmp_path, *answers, task=TOPIC, more=("--out", "answer.txt"))
    assert ended(result) == (0, "agreed", "consensus", "B")
    assert (result["tested"], result["code"], result["path"]) == (False, "", "")
    assert "Keep it whole." in result["text"] and "Keep it whole." in (tmp_path / "answer.txt").read_text()
    assert any("nothing is run" in note for note in result["degraded"])
    assert result["votes"][0]["conflict"] == "design"
    shown = cli(*world(tmp_path, *answers, task=TOPIC))
    assert (
        ": by ballots, nothing was run;" in shown.out.splitlines()[0] and "nothing is run" in shown.out.splitlines()[0]
    )


def test_the_second_round_of_a_topic_shows_an_author_its_position_and_the_objection(cli: Cli, tmp_path: Path) -> None:
    spots = [*says("points", points(("A", "disagree", "who pays for it?"))), *QUIET]
    unsure = says("ballot", ballot("B", "A", sure=0.1))
    result = debated(cli, tmp_path, POSITIONS, spots, unsure, task=TOPIC, more=("--rounds", "2"))
    assert result["outcome"] == "chosen" and result["exit"] == 0
    again = prompts(story(cli, result["session_id"]), "proposal")[-1]
    assert "Your position so far:" in again and "Split it." in again and "who pays for it?" in again


def test_a_topic_nobody_votes_on_has_no_winner(cli: Cli, tmp_path: Path) -> None:
    refused = says("ballot", "I'd rather not choose.")
    result = debated(cli, tmp_path, POSITIONS, QUIET, refused, task=TOPIC, more=("--out", "answer.txt"))
    assert (result["exit"], result["outcome"], result["winner"]) == (2, "inconclusive", None)
    assert result["why"] == "nobody gave a usable ballot" and len(result["candidates"]) > 2
    assert not (tmp_path / "answer.txt").exists()


def test_one_ballot_of_five_is_no_consensus(cli: Cli, tmp_path: Path) -> None:
    answers = [TWO, QUIET, says("ballot", ballot("B", "A", sure=1.0), seat="critic"), says("ballot", "I abstain.")]
    result = debated(cli, tmp_path, *answers, task=OPEN)
    assert ended(result) == (1, "contested", "unchanged", "B")
    assert result["votes"][0]["consensus"]["level"] == 0.2


def test_a_spent_budget_gives_the_best_so_far_and_can_be_carried_on(cli: Cli, tmp_path: Path) -> None:
    answers = [TWO, QUIET, says("ballot", ballot("B", "A"))]
    more = ("--max-calls", "6", "--out", "won.py")
    result = debated(cli, tmp_path, *answers, task=OPEN, more=more)
    assert ended(result) == (2, "budget_exhausted", "budget_exhausted", "A")
    assert result["resumable"] and result["calls"] == 6 and not (tmp_path / "won.py").exists()
    assert "nothing was written: the session has not ended" in result["err"]
    ran = cli("resume", result["session_id"], "--max-calls", "99", "--json")
    resumed = json.loads(ran.out)
    assert (ran.code, resumed["outcome"], resumed["winner"]) == (0, "agreed", "B")
    assert (tmp_path / "won.py").read_text() == FIRST
    whole = debated(cli, tmp_path, *answers, task=OPEN)
    assert resumed["calls"] == whole["calls"] and resumed["phases"] == whole["phases"]


def test_a_finished_debate_resumed_is_shown_again_and_asks_nobody(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, says("code", code(RIGHT)))
    (tmp_path / "replies.yaml").write_text("[]")
    ran = cli("resume", result["session_id"], "--json")
    assert ran.code == 0 and json.loads(ran.out) == {k: v for k, v in result.items() if k not in ("exit", "err")}


def test_a_provider_that_fails_leaves_a_debate_that_can_be_tried_again(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, says("code", {"error": "auth"}))
    assert (result["exit"], result["outcome"], result["resumable"]) == (2, "inconclusive", True)
    world(tmp_path, says("code", code(RIGHT)))
    resumed = json.loads(cli("resume", result["session_id"], "--json").out)
    assert (resumed["outcome"], resumed["code"]) == ("agreed", RIGHT)


def test_ctrl_c_keeps_the_best_so_far_and_resumes(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import pathlib, sys, time\nsys.stdin.read()\nopen('asked', 'a').write('x')\n"
        f"while not pathlib.Path('go').exists(): time.sleep(0.01)\nprint({ballot('B', 'A')!r})\n"
    )
    slow = ("--seat", f"moderator=cmd:{sys.executable} slow.py", "--rounds", "1")
    command = world(tmp_path, TWO, QUIET, says("ballot", ballot("B", "A")), task=OPEN, more=slow)
    env = {**os.environ, "MOOT_STORE": str(tmp_path / "s.db")}
    moot = [sys.executable, "-m", "moot"]
    process = subprocess.Popen(
        [*moot, *command], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    asked = tmp_path / "asked"
    wait_until(
        lambda: (asked.exists() and asked.read_text() == "x") or process.poll() is not None, "the moderator is asked"
    )
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and out.startswith("cancelled") and "Traceback" not in err
    (tmp_path / "go").touch()
    session = err.rsplit("moot resume ", 1)[1].split()[0]
    done = subprocess.run([*moot, "resume", session, "--json"], cwd=tmp_path, env=env, capture_output=True, text=True)
    result = json.loads(done.stdout)
    assert (done.returncode, result["outcome"], result["winner"]) == (0, "agreed", "B")
    assert asked.read_text() == "xx", "only the seat that was answering is asked again"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("Write f.",), "MOOT_MODEL"),
        (("  ", "-m", "script:replies.yaml"), "no task given"),
        (("Write f.", "-m", "script:replies.yaml", "--tests", "no_such.py"), "no_such.py"),
        (("Write f.", "-m", "script:replies.yaml", "--file", "no_such.py"), "no_such.py"),
        (("Write f.", "-m", "script:replies.yaml", "--seat", "judge=script:replies.yaml"), "its seats are proposer"),
        (("Write f.", "-m", "script:replies.yaml", "--phases", "proposal,critiqe"), "did you mean 'critique'"),
        (("Write f.", "-m", "script:replies.yaml", "--topology", "stra"), "did you mean 'star'"),
        (("Write f.", "-m", "script:replies.yaml", "--voting", "bordo"), "did you mean 'borda'"),
        (("Write f.", "-m", "script:replies.yaml", "--rounds", "0"), "1"),
        (("Write f.", "-m", "script:replies.yaml", "--team", "none.toml"), "none.toml"),
        (("Write f.", "-m", "script:replies.yaml", "--roles", "none"), "none"),
        (("Write f.", "-m", "script:none.yaml"), "none.yaml"),
        (("Write f.", "-m", "script:replies.yaml", "--language", "cobol"), "cobol"),
    ],
)
def test_what_is_asked_wrongly_is_said_before_anything_starts(
    cli: Cli, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "replies.yaml").write_text("[]")
    ran = cli("debate", *words)
    assert ran.code == 2 and ran.out == "" and said in ran.err and "Traceback" not in ran.err
    assert cli("list", "--json").out.strip() == "[]"


SHELL = "import os\n\n\ndef largest(numbers, name='.'):\n    os.popen('ls ' + name).read()\n    return max(numbers)\n"


@pytest.mark.parametrize("how", [("--adversarial",), ("--phases", "proposal,adversarial,convergence")])
def test_hardening_is_held_where_it_is_asked_for_also_if_all_behave_alike(
    cli: Cli, tmp_path: Path, how: tuple[str, ...]
) -> None:
    seated: list[Entry] = [
        {"seat": "red", "always": True, "reply": {"vulnerabilities": []}},
        {"seat": "blue", "always": True, "reply": "I cannot."},
    ]
    drafts = [*says("code", code(NO_EMPTY), seat="critic"), *says("code", code(SHELL))]
    result = debated(cli, tmp_path, drafts, seated, task=OPEN, more=how)
    (report,) = [report for report in result["phases"] if report["phase"] == "adversarial"]
    assert report["status"] == "held" and "findings" in report["said"]
    assert (result["stop_reason"], result["winner"]) == ("alike_and_green", result["candidates"][-1]["id"])
    asked = {(call["seat"], call["round"]) for call in calls(cli, result) if call["seat"] in ("red", "blue")}
    assert "popen" not in result["code"] and {"red", "blue"} == {seat for seat, _ in asked}
    assert report["calls"] == len(asked)
    assert "popen" in debated(cli, tmp_path, drafts, task=OPEN)["code"]


TEAM = """
[[agents]]
role = "editor"
model = "script:replies.yaml"

[[agents]]
id = "second"
role = "proposer"
model = "script:replies.yaml"
"""
EDITOR = "---\nfocus: the words\naffinities: {code: 0.8}\n---\nYou are the editor, and read every word twice.\n"


def test_a_team_of_a_file_with_a_role_of_your_own(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "editor.md").write_text(EDITOR)
    (tmp_path / "team.toml").write_text(TEAM)
    more = ("--team", "team.toml", "--roles", "own")
    result = debated(cli, tmp_path, says("code", code(RIGHT), seat="editor"), says("code", code(RIGHT)), more=more)
    assert ended(result) == (0, "agreed", "alike_and_green", "A")
    assert [c["seat"] for c in result["candidates"]] == ["second", "editor"] and result["topology"] == "chain"
    told = story(cli, result["session_id"])
    systems = {s["value"]["call"]["seat"]: s["value"]["call"]["system"] for s in told["steps"] if "ask " in s["name"]}
    assert systems["editor"].startswith("You are the editor, and read every word twice.")


@pytest.mark.parametrize(
    ("call", "first", "last", "said"), [("[3, 1]", False, True, "helped"), ("[1, 3]", True, False, "harmed")]
)
def test_hidden_tests_tell_help_from_harm_and_decide_nothing(
    cli: Cli, tmp_path: Path, call: str, first: bool, last: bool, said: str
) -> None:
    hidden = f"from biggest import largest\n\n\ndef test_hidden():\n    assert largest({call}) == 3\n"
    (tmp_path / "hidden.py").write_text(hidden)
    answers = [TWO, QUIET, says("ballot", ballot("B", "A"))]
    command = world(tmp_path, *answers, task=OPEN, more=("--hidden-tests", "hidden.py"))
    ran = cli(*command, "--json")
    result = json.loads(ran.out)
    assert (ran.code, result["winner"], result["baseline"]["candidate"]) == (0, "B", "A")
    assert result["path"] == "biggest.py", "hidden tests, too, say which file the solution is"
    flips = {"by": "hidden", "baseline": first, "result": last, "helped": said == "helped", "harmed": said == "harmed"}
    assert result["flips"] == flips
    assert result["hidden"]["outcomes"][0]["status"] == ("passed" if last else "failed")
    told = story(cli, result["session_id"])
    assert not any("test_hidden" in p for phase in ("self_evolvement", "convergence") for p in prompts(told, phase))
    assert f"hidden tests, the result {'passes' if last else 'fails'} them: the debate {said}" in cli(*command).out


def test_what_is_unclear_is_asked_of_the_person_and_every_draft_reads_the_answer(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_DEBATE_CLARIFY", "always")
    monkeypatch.setattr(sys, "stdin", io.StringIO("None, please\n\n"))
    asked = {"questions": [{"question": "What of an empty list?"}, {"question": "May it be a tuple?"}]}
    guess = {"answers": [{"quote": "NONE", "answer": "Raise."}, {"quote": "NONE", "answer": "Yes."}]}
    questions = says("questions", {"reply": asked}, {"reply": {"questions": []}})
    answers = [questions, says("answers", {"reply": guess}), says("code", code(RIGHT))]
    result = debated(cli, tmp_path, *answers, more=("--ask-me",))
    assert [(c["answer"], c["source"]) for c in result["clarifications"]] == [
        ("None, please", "person"), ("Yes.", "assumption")
    ]  # fmt: skip
    assert result["assumptions"] == ["Yes."] and "? What of an empty list?" in result["err"]
    for draft in prompts(story(cli, result["session_id"]), "self_evolvement"):
        assert "None, please (from the person)" in draft and "Yes. (assumed)" in draft


def test_a_quarrel_over_a_value_is_the_persons_to_settle(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("3\n"))
    quarrel = [
        *says("tests", wrote("largest([3, 1]) == 3"), seat="proposer"),
        *says("tests", wrote("largest([3, 1]) == 1"), seat="critic"),
    ]
    answers = [TWO, quarrel, QUIET, says("ballot", ballot("A", "B"))]
    result = debated(cli, tmp_path, *answers, task=OPEN, more=("--ask-me", "--rounds", "1"))
    (claim,) = result["claims"]
    assert (claim["status"], claim["by"], claim["expected"]) == ("agreed", ["person"], "3")
    assert (result["code"], result["stop_reason"]) == (FIRST, "tests"), "what the person says beats the ballots"
    assert "? What must largest([3, 1]) return?" in result["err"]


def test_a_task_of_a_megabyte_is_debated_and_it_is_said_that_it_was_cut(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = f"{OPEN}\n{'Mind the gap. ' * 75_000}"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(task.encode())))
    result = debated(cli, tmp_path, says("code", code(RIGHT)), QUIET, task="-", more=("--phases", "self_evolvement"))
    assert result["winner"] == "A" and result["code"] == RIGHT
    told = prompts(story(cli, result["session_id"]), "self_evolvement")[0]
    assert told.count("Mind the gap.") > 1000 and "[cut here: " in told and len(told) < len(task)
    cut = f"the seats did not see everything: the task: 42000 of {len(task.strip())} characters shown"
    assert result["degraded"] == [cut, "no test touches these words of the task: None for an empty one"]


def test_no_llm_is_refused_and_nobody_is_asked(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "replies.yaml").write_text(json.dumps([{"reply": "no", "always": True}]))
    monkeypatch.setenv("MOOT_MODEL", "script:replies.yaml")
    ran = cli("debate", "Write f(x). f(1) -> 1", "--no-llm")
    assert (ran.code, ran.out) == (2, "") and "--no-llm leaves no model to debate. debate needs a model" in ran.err
    assert json.loads(cli("list", "--json").out) == []


@pytest.mark.parametrize(("rule", "winner"), [("leader_vote", "B"), ("highest_confidence", "A")])
def test_the_leader_breaks_a_tie_where_the_rules_say_so(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, winner: str
) -> None:
    monkeypatch.setenv("MOOT_DEBATE_TIE_BREAK", rule)
    for_a = [entry for seat in ("proposer", "critic") for entry in says("ballot", ballot("A", "B"), seat=seat)]
    for_b = [entry for seat in ("reviewer", "moderator") for entry in says("ballot", ballot("B", "A"), seat=seat)]
    answers = [TWO, QUIET, for_a, for_b, says("ballot", "I abstain.")]
    result = debated(cli, tmp_path, *answers, task=OPEN, more=("--rounds", "1", "--voting", "plurality"))
    (vote,) = result["votes"]
    assert (vote["election"]["tied"], vote["election"]["tie_break"]) == (["A", "B"], rule)
    assert vote["election"]["winner"] == winner


def test_models_given_twice_are_dealt_to_the_seats_as_the_help_says(cli: Cli, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(json.dumps(says("code", code(RIGHT))))
    ran = cli("debate", OPEN, "--planning", "off", "--json", "-q", "-m", "script:one.yaml", "-m", "script:two.yaml")
    assert json.loads(ran.out)["usage"].keys() == {"script:one.yaml", "script:two.yaml"}
    said = " ".join(cli("debate", "--help").out.replace("│", " ").split())
    assert "models are dealt to the seats" in said and "Repeat for fallbacks" not in said
    assert "Repeat for fallbacks" in " ".join(cli("solve", "--help").out.replace("│", " ").split())


def test_after_timeouts_it_says_what_happened_and_claims_no_saving(cli: Cli, tmp_path: Path) -> None:
    ran = cli(*world(tmp_path, [{"error": "timeout", "always": True}], task=OPEN))
    assert "no model was called" not in ran.out and "saved" not in ran.out.replace("nothing was saved", "")
    assert "(refused, failed or timed out); no model answered" in ran.out
    session = json.loads(cli("list", "--json").out)[0]["id"]
    kept = story(cli, session)["session"]["outcome"]["result"]
    assert (kept["calls"], kept["calls_failed"] > 0, kept["usage"]) == (0, True, {})


def test_an_end_of_its_own_says_what_was_saved(cli: Cli, tmp_path: Path) -> None:
    ran = cli(*world(tmp_path, says("code", code(RIGHT)), tests=TESTS))
    assert "calls: 3; " in ran.out and " saved" in ran.out and "nothing was saved" not in ran.out


@pytest.mark.parametrize("option", [["--branch"], ["--tests", "t.py"], ["--hidden-tests", "t.py"], ["-l", "go"]])
def test_options_of_code_are_refused_for_a_topic(cli: Cli, tmp_path: Path, option: list[str]) -> None:
    (tmp_path / "t.py").write_text("def test_it():\n    assert True\n")
    ran = cli(*world(tmp_path, task=TOPIC, more=("--topic", *option)))
    assert (ran.code, ran.out) == (2, "") and " is for code, and this is a topic" in ran.err
