"""Every role has an act of its own: each session here has a team file, and the effect is read from its record."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import OPEN, QUIET, TESTS, Entry, says, world
from debates import FIRST, LAST, NO_EMPTY, RIGHT, TASK, ballot, blind, code, points, scores, wrote
from test_debate_cli import POSITIONS, TOPIC, calls, debated, story

SCRIPT = "script:replies.yaml"
BROKEN = "def largest(numbers)\n    return max(numbers)\n"
UNSAFE = """import subprocess


def largest(numbers, command=""):
    if command:
        subprocess.run(command, shell=True)
    return numbers[-1] if numbers else None
"""
TIDY = "def largest(numbers):\n    if not numbers:\n        return None\n    return numbers[-1]\n"
TWO = [*says("code", code(LAST), seat="proposer"), *says("code", code(FIRST))]
"""Two behaviours that the examples of OPEN do not tell apart."""
VOTE = says("ballot", ballot("B", "A"))
KEEP = says("merge", code(LAST))


def seated(folder: Path, *roles: str, **models: str) -> tuple[str, ...]:
    """The options for a team of these roles."""
    named = [f'[[agents]]\nrole = "{role}"\nmodel = "{models.get(role, SCRIPT)}"\n' for role in roles]
    (folder / "team.toml").write_text("\n".join(named))
    return ("--team", "team.toml")


def hold(cli: Cli, folder: Path, roles: tuple[str, ...], *answers: list[Entry], **kind: Any) -> dict[str, Any]:
    """A debate of one round by this team, with what everybody says where a test is about something else."""
    more = (*seated(folder, *roles, **kind.pop("models", {})), "--rounds", kind.pop("rounds", "1"), "--drafts", "2")
    more = (*more, *kind.pop("more", ()))
    return debated(cli, folder, *answers, TWO, QUIET, KEEP, VOTE, more=more, task=kind.pop("task", OPEN), **kind)


def acts(result: dict[str, Any], role: str) -> list[str]:
    return [act["effect"] for act in result["acts"] if act["role"] == role]


def turns(cli: Cli, result: dict[str, Any], role: str) -> list[dict[str, Any]]:
    return [turn for turn in story(cli, result["session_id"])["turns"] if turn["agent_role"] == role]


def asked(cli: Cli, result: dict[str, Any], head: str, seat: str = "") -> list[str]:
    made = [call for call in calls(cli, result) if seat in ("", call["seat"])]
    return [call["prompt"] for call in made if call["prompt"].startswith(head)]


def test_the_compiler_sets_aside_what_does_not_parse_and_tells_the_judges(cli: Cli, tmp_path: Path) -> None:
    drafts = [*says("code", code(BROKEN), seat="critic")]
    result = hold(cli, tmp_path, ("proposer", "critic", "reviewer", "compiler"), drafts)
    broken = result["candidates"][1]
    assert broken["dropped"].startswith("does not parse: solution.py:1: syntax error: expected ':'")
    (turn,) = [t for t in turns(cli, result, "compiler") if t["tool_calls"]]
    used = [(use["call"]["name"], use["result"]["status"]) for use in turn["tool_calls"]]
    assert used == [("check_syntax", "done"), ("run_code", "done")] * 2
    assert (turn["phase"], turn["provider"], turn["model"]) == ("self_evolvement", "", "")
    assert acts(result, "compiler") == ["set aside: B"]
    assert "ask compiler" not in [s["name"] for s in story(cli, result["session_id"])["steps"]], "tools say it all"


def test_without_a_compiler_code_that_does_not_parse_stays(cli: Cli, tmp_path: Path) -> None:
    drafts = [*says("code", code(BROKEN), seat="critic")]
    result = hold(cli, tmp_path, ("proposer", "critic", "reviewer"), drafts)
    assert result["candidates"][1]["dropped"] == "" and result["acts"] == []


def test_nobody_is_set_aside_if_nothing_parses(cli: Cli, tmp_path: Path) -> None:
    result = hold(cli, tmp_path, ("proposer", "critic", "compiler"), says("code", code(BROKEN)))
    assert acts(result, "compiler") == ["0 of 1 parse"]  # the same code is looked at once
    assert all(not candidate["dropped"].startswith("does not parse") for candidate in result["candidates"])


def test_the_executor_runs_candidates_and_judges_read_where_they_differ(cli: Cli, tmp_path: Path) -> None:
    result = hold(cli, tmp_path, ("proposer", "critic", "reviewer", "optimizer", "executor"))
    (turn,) = [t for t in turns(cli, result, "executor") if t["tool_calls"]]
    assert {use["call"]["name"] for use in turn["tool_calls"]} == {"run_code"}
    line = "A: largest([3, 1, 2]) gives 2 | B: largest([3, 1, 2]) gives 3"
    for head in ("Critics look", "Score each", "Rank the", "Make one better"):
        prompts = asked(cli, result, head)
        assert prompts and all("executor (executor) reports:" in text and line in text for text in prompts), head
    without = hold(cli, tmp_path, ("proposer", "critic", "reviewer", "optimizer"))
    assert not any("gives 2 |" in text for text in asked(cli, without, "Critics look"))
    assert "largest([3, 1, 2])" in result["candidates"][0]["checked"]["answers"]
    assert "largest([3, 1, 2])" not in without["candidates"][0]["checked"]["answers"], "its calls are put to all"


def test_the_performance_analyzer_measures_what_reviewers_only_guess(cli: Cli, tmp_path: Path) -> None:
    slow = "def largest(numbers):\n    sum(range(200000))\n    return numbers[-1] if numbers else None\n"
    drafts = says("code", code(slow), seat="proposer")
    result = hold(cli, tmp_path, ("proposer", "critic", "reviewer", "performance_analyzer"), drafts)
    marks = {score["candidate"]: score for score in result["scores"]}
    assert "performance" in marks["A"]["measured"] and marks["A"]["parts"]["performance"] < 0.5
    assert marks["B"]["parts"]["performance"] == 1.0
    (turn,) = [t for t in turns(cli, result, "performance_analyzer") if t["tool_calls"]]
    assert turn["phase"] == "review" and acts(result, "performance_analyzer") == ["2 of 2 candidates timed"]
    assert all("ms for" in text for text in asked(cli, result, "Score each"))
    without = hold(cli, tmp_path, ("proposer", "critic", "reviewer"), drafts)
    assert all("performance" not in score["measured"] for score in without["scores"])


def test_security_scans_attacks_and_what_it_finds_stays_with_the_candidate(cli: Cli, tmp_path: Path) -> None:
    drafts = says("code", code(UNSAFE), seat="proposer")
    hit = points(("A", "disagree", "input reaches a shell"))
    votes = says("ballot", ballot("A", "B"))
    roles = ("proposer", "critic", "reviewer", "security")
    result = hold(cli, tmp_path, roles, drafts, says("attack", hit, seat="security"), votes)
    assert {(a["candidate"], a["by"], bool(a["findings"])) for a in result["attacks"]} >= {
        ("A", "scan", True), ("B", "scan", False)
    }  # fmt: skip
    assert (result["winner"], result["outcome"], result["exit"]) == ("A", "unresolved", 1) and result["remaining_risks"]
    for head in ("Critics look", "How can the", "Score each", "Rank the"):
        prompts = asked(cli, result, head)
        assert prompts and all("Candidate A was scanned. What was found there" in text for text in prompts), head
    assert [p["point"] for p in result["points"] if p["seat"] == "security"] == ["input reaches a shell"]
    without = hold(cli, tmp_path, roles[:3], drafts, votes)
    assert (without["attacks"], without["remaining_risks"]) == ([], []) and without["outcome"] != "unresolved"


def test_security_scans_a_winner_that_nobody_argued_about(cli: Cli, tmp_path: Path) -> None:
    roles = ("proposer", "critic", "security")
    result = hold(cli, tmp_path, roles, says("code", code(UNSAFE)), spend="fixed")
    assert [(a["candidate"], a["by"]) for a in result["attacks"]] == [(result["winner"], "scan")]
    assert result["outcome"] == "unresolved" and acts(result, "security")[-1].startswith(f"{result['winner']} scanned")


def test_the_test_agent_writes_tests_without_seeing_code(cli: Cli, tmp_path: Path) -> None:
    wise = says("tests", wrote("largest([2, 9, 4]) == 9"), seat="test_agent")
    roles = ("proposer", "critic", "reviewer", "test_agent")
    (tmp_path / "moot.toml").write_text("[debate]\nvoices = 2\n")  # it comes before those who draft
    result = hold(cli, tmp_path, roles, wise, says("blind", blind(n1="9")))
    own = [call for call in calls(cli, result) if call["seat"] == "test_agent"]
    blind_ones = [call["prompt"] for call in own if call["prompt"].startswith("Write tests for")]
    assert blind_ones and not any("return numbers" in text or "Candidate" in text for text in blind_ones)
    assert not [call for call in own if call["phase"] == "critique" and not call["prompt"].startswith("What must")]
    assert [(c["call"], c["by"][0]) for c in result["claims"]] == [("largest([2, 9, 4])", "test_agent")]
    without = hold(cli, tmp_path, roles[:3], wise)
    assert without["claims"] == []


def test_the_test_agent_is_heard_also_where_nothing_else_is_open(cli: Cli, tmp_path: Path) -> None:
    wise = says("tests", wrote("largest([]) == None"), seat="test_agent")
    more = seated(tmp_path, "proposer", "critic", "test_agent")
    result = debated(cli, tmp_path, says("code", code(RIGHT)), wise, tests=TESTS, more=more, spend="adaptive")
    assert [(c["call"], c["by"]) for c in result["claims"]] == [("largest([])", ["test_agent"])]
    assert (result["outcome"], result["winner"]) == ("agreed", "A") and result["calls"] == 3


def test_the_validator_sets_aside_what_no_words_of_the_task_support(cli: Cli, tmp_path: Path) -> None:
    said = points(("A", "disagree", "None for an empty list is missing"), ("A", "disagree", "it should log"))
    quotes = {"quotes": {"1": "NONE", "2": "NONE", "3": "None for an empty one", "4": "it must write a log"}}
    answers = [says("points", said, seat="critic"), says("quotes", {"reply": quotes})]
    roles = ("proposer", "critic", "reviewer", "validator")
    unsure = says("ballot", ballot("B", "A", sure=0.1))
    mesh = ("--topology", "graph_mesh")
    result = hold(cli, tmp_path, roles, *answers, unsure, rounds="2", more=mesh)
    marked = {p["point"]: (p["quote"], p["unsupported"]) for p in result["points"] if p["round"] == 1}
    assert marked["None for an empty list is missing"] == ("None for an empty one", False)
    assert marked["it should log"] == ("", True), "words that the task does not have are no quotation"
    for head in ("Score each", "Rank the"):
        texts = asked(cli, result, head)
        assert all("objection 2 of critic, to A: rests on no words of the task" in text for text in texts), head
    repairs = [text for text in asked(cli, result, "Solve this task", "proposer") if "What others object to" in text]
    assert repairs and all("None for an empty list" in text and "should log" not in text for text in repairs)
    without = hold(cli, tmp_path, roles[:3], answers[0], unsure, rounds="2", more=mesh)
    repairs = [text for text in asked(cli, without, "Solve this task", "proposer") if "What others object to" in text]
    assert repairs and all("it should log" in text for text in repairs)


@pytest.mark.parametrize("spend", ["fixed", "adaptive"])
def test_drafts_are_told_the_shape_that_the_designer_gives(cli: Cli, tmp_path: Path, spend: str) -> None:
    shape = {"names": ["largest(numbers)"], "parts": ["one pass over the list"], "edge_cases": ["an empty list"]}
    more = seated(tmp_path, "proposer", "critic", "designer")
    answers = [says("shape", {"reply": shape}), says("code", code(RIGHT))]
    result = debated(cli, tmp_path, *answers, tests=TESTS, more=more, spend=spend)
    first = next(call for call in calls(cli, result) if call["phase"] == "self_evolvement")
    assert first["seat"] == "designer" and "largest" not in first["prompt"].partition("```")[0]
    drafts = asked(cli, result, "Solve this task")
    assert drafts and all("one pass over the list" in text and "an empty list" in text for text in drafts)
    assert acts(result, "designer") == ["drafts are told the shape"]


def rewritten(cli: Cli, folder: Path, text: str, **kind: Any) -> dict[str, Any]:
    more = seated(folder, "proposer", "critic", "refactorer")
    answers = [says("code", code(LAST)), says("rewrite", code(text, "no branch in an expression"))]
    return debated(cli, folder, *answers, task=TASK, more=more, **kind)


@pytest.mark.parametrize("spend", ["fixed", "adaptive"])
def test_a_rewrite_that_behaves_the_same_takes_the_leaders_place(cli: Cli, tmp_path: Path, spend: str) -> None:
    result = rewritten(cli, tmp_path, TIDY, spend=spend)
    made = result["candidates"][-1]
    assert (made["seat"], made["phase"], made["parent"], made["dropped"]) == ("refactorer", "optimization", "A", "")
    assert (result["winner"], result["code"], result["outcome"]) == (made["id"], TIDY, "agreed")
    assert acts(result, "refactorer") == [f"{made['id']} replaces A and behaves the same"]
    (phase,) = [p for p in result["phases"] if p["phase"] == "optimization"]
    assert phase["status"] == "held" and phase["calls"] == 1


def test_a_rewrite_that_behaves_otherwise_is_dropped_with_the_call_that_shows_it(cli: Cli, tmp_path: Path) -> None:
    result = rewritten(cli, tmp_path, FIRST)
    made = result["candidates"][-1]
    assert made["parent"] == "A" and " gives " in made["dropped"] and ", with A it gave " in made["dropped"]
    assert (result["winner"], result["code"]) == ("A", LAST)
    assert acts(result, "refactorer")[0].startswith(f"{made['id']} not used: largest(")


def test_the_teacher_writes_a_lesson_that_the_next_session_reads(cli: Cli, tmp_path: Path) -> None:
    said = "Check what an empty list gives before taking its last element."
    roles = ("proposer", "critic", "reviewer", "teacher")
    drafts = [*says("code", code(NO_EMPTY), seat="proposer"), *says("code", code(RIGHT))]
    answers = [drafts, says("lesson", {"reply": {"lesson": said}})]
    result = hold(cli, tmp_path, roles, *answers, tests=TESTS, task=TASK)
    (question,) = asked(cli, result, "A task was solved")
    assert "A failed when it was run" in question and "largest([])" in question and "the same code" not in question
    (effect,) = acts(result, "teacher")
    assert said in effect and said in cli("lessons", "list", "--json").out
    after = hold(cli, tmp_path, roles[:3], drafts, tests=TESTS, task=TASK)
    assert all(said in text for text in asked(cli, after, "Solve this task"))


def test_a_debate_in_which_nothing_failed_teaches_nothing(cli: Cli, tmp_path: Path) -> None:
    result = hold(cli, tmp_path, ("proposer", "critic", "teacher"), says("code", code(RIGHT)), tests=TESTS)
    assert acts(result, "teacher") == ["no lesson: nothing went wrong that was proven by a run"]
    assert asked(cli, result, "A task was solved") == []


def test_a_role_with_no_act_is_not_seated_and_the_team_report_says_why(cli: Cli, tmp_path: Path) -> None:
    idle = ("compiler", "executor", "security", "refactorer", "test_agent", "teacher", "validator", "blue_team")
    more = seated(tmp_path, "proposer", "critic", "moderator", *idle)
    answers = [POSITIONS, says("points", points()), says("scores", scores()), says("ballot", ballot("A", "B"))]
    result = debated(cli, tmp_path, *answers, task=TOPIC, more=(*more, "--rounds", "1"))
    assert {each["role"] for each in result["unseated"]} == set(idle)
    whys = {each["role"]: each["why"] for each in result["unseated"]}
    assert whys["compiler"] == "there is no code to compile: this is a topic"
    assert {ballot["voter"] for ballot in result["votes"][0]["ballots"]} == {"proposer", "critic", "moderator"}
    shown = cli("show", result["session_id"])
    assert "Not seated" in shown.out and "security: there is no code to attack: this is a topic" in shown.out


@pytest.mark.parametrize(
    ("role", "language", "more", "why"),
    [
        ("blue_team", "python", (), "adversarial is not held"),
        ("refactorer", "go", (), "it makes calls of Python only, and there are no go tests"),
        ("judge", "python", ("--phases", "self_evolvement,convergence"), "review is not held"),
    ],
)
def test_what_a_task_or_its_phases_leave_a_role_to_do_decides(
    cli: Cli, tmp_path: Path, role: str, language: str, more: tuple[str, ...], why: str
) -> None:
    given = (*seated(tmp_path, "proposer", "critic", role), "--language", language, *more)
    result = debated(cli, tmp_path, says("code", "I cannot."), more=given)
    assert [(each["role"], each["why"]) for each in result["unseated"]] == [(role, why)]


def test_a_team_that_has_nothing_to_do_is_refused_before_anything_is_spent(cli: Cli, tmp_path: Path) -> None:
    ran = cli(*world(tmp_path, POSITIONS, task=TOPIC, more=seated(tmp_path, "compiler", "teacher")))
    assert ran.code == 2 and "no role of this team has anything to do here: compiler: there is no code" in ran.err


def test_moot_team_says_what_each_role_does_and_who_is_not_seated(cli: Cli) -> None:
    shown = cli("team", "show")
    assert "writes tests from the task's words" in " ".join(shown.out.split()) and shown.code == 0
    built = cli("team", "build", "--task", TOPIC, "-m", SCRIPT, "--role", "proposer", "--role", "compiler")
    assert "not seated: compiler: there is no code to compile" in built.err and 'role = "compiler"' not in built.out
    large = json.loads(cli("team", "build", "--task", TOPIC, "-m", SCRIPT, "--size", "12", "--json").out)
    assert "compiler" not in {agent["role"] for agent in large["agents"]}


def test_the_acts_are_in_the_report_and_in_every_form_of_the_record(cli: Cli, tmp_path: Path) -> None:
    result = hold(cli, tmp_path, ("proposer", "critic", "reviewer", "compiler"))
    shown = cli("show", result["session_id"])
    assert "What single roles did" in shown.out and "compiler, self_evolvement, round 1: 2 of 2 parse" in shown.out
    text = cli("export", result["session_id"], "--format", "md").out
    assert "self_evolvement: compiler, by tools" in text and "the syntax is right" in text
    audit = cli("audit", result["session_id"])
    assert audit.code == 0 and "act compiler" in audit.out
    replayed = cli("replay", result["session_id"])
    assert replayed.code == 0, replayed.err


def test_an_objection_that_a_topology_keeps_from_the_validator_is_not_judged(cli: Cli, tmp_path: Path) -> None:
    said = points(("A", "disagree", "it should log"))
    quotes = {"quotes": {"1": "NONE"}}
    answers = [says("points", said, seat="critic"), says("quotes", {"reply": quotes})]
    roles = ("critic", "proposer", "reviewer", "validator")  # in a chain the proposer alone hears the critic
    result = hold(cli, tmp_path, roles, *answers, more=("--topology", "chain"))
    assert [point["unsupported"] for point in result["points"]] == [False]
    assert all("should log" not in text for text in asked(cli, result, "Which words of"))


ARGUED = {"argument": "It looks at the last element only.", "limits": ["unsorted lists"], "parts": ["one index"]}


def test_authors_of_different_models_argue_for_their_drafts_and_judges_read_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(
        json.dumps([*says("argue", {"reply": {"argument": "B it is."}}), *TWO, *QUIET, *VOTE])
    )
    roles = ("proposer", "critic", "reviewer", "optimizer")
    argues = says("argue", {"reply": ARGUED}, seat="proposer")
    result = hold(cli, tmp_path, roles, argues, models={"critic": "script:other.yaml"})
    (phase,) = [p for p in result["phases"] if p["phase"] == "proposal"]
    assert (phase["status"], phase["calls"], phase["said"]) == ("held", 2, "2 of 2 authors argue for their drafts")
    first = result["candidates"][0]
    assert first["argument"] == "It looks at the last element only.\nParts:\n- one index"
    assert first["limits"] == ["unsorted lists"]
    own = asked(cli, result, "Argue for your", "proposer")
    assert own and LAST in own[0] and FIRST not in own[0], "each argues for its own"
    for head in ("Critics look", "Score each", "Rank the"):
        texts = asked(cli, result, head)
        assert texts and all(
            "a loop" in t and "It looks at the last element only." in t and "unsorted lists" in t for t in texts
        ), head


def test_arguments_longer_than_their_share_are_cut_and_that_is_said(cli: Cli, tmp_path: Path) -> None:
    long = says("code", code(LAST, "word " * 4000), seat="proposer")
    (tmp_path / "moot.toml").write_text("prompt_tokens = 4000\n")
    result = hold(cli, tmp_path, ("proposer", "critic", "reviewer"), long)
    assert any("the approach of candidate A" in note for note in result["degraded"])
    assert all(len(text) < 30_000 for text in asked(cli, result, "Rank the"))


def test_one_model_does_not_argue_with_itself_and_the_phase_says_so(cli: Cli, tmp_path: Path) -> None:
    result = hold(cli, tmp_path, ("proposer", "critic", "reviewer"))
    (phase,) = [p for p in result["phases"] if p["phase"] == "proposal"]
    why = "the drafts are the proposals: all seats are one model, and its arguments add nothing"
    assert (phase["status"], phase["calls"], phase["said"]) == ("skipped", 0, why)
    versions = story(cli, result["session_id"])["versions"]
    assert versions[0]["metrics"]["note"] == "proposal, round 1: A", "what is proposed is kept and checked all the same"


def test_a_seat_whose_draft_could_not_be_used_is_asked_again_in_the_proposal(cli: Cli, tmp_path: Path) -> None:
    later = says("code", "I cannot.", "I cannot.", code(FIRST), seat="critic")
    result = hold(cli, tmp_path, ("proposer", "critic", "reviewer"), later)
    (phase,) = [p for p in result["phases"] if p["phase"] == "proposal"]
    assert (phase["status"], phase["calls"]) == ("held", 1) and result["candidates"][1]["phase"] == "proposal"


def test_the_compiler_looks_at_other_languages_too(cli: Cli, tmp_path: Path) -> None:
    def script(text: str) -> str:
        return f"APPROACH: a loop\n\nCODE:\nFILE: solution.js\n```javascript\n{text}```\n"

    good, bad = "export function last(xs) {\n  return xs.at(-1);\n}\n", "export function last(xs {\n  return xs;\n}\n"
    drafts = [*says("code", script(good), seat="proposer"), *says("code", script(bad))]
    more = (*seated(tmp_path, "proposer", "critic", "compiler"), "--language", "javascript", "--rounds", "1")
    result = debated(cli, tmp_path, drafts, QUIET, says("merge", script(good)), VOTE, task="Write last(xs).", more=more)
    assert result["winner"] == "A" and result["candidates"][1]["dropped"].startswith("does not parse: solution.")


def test_a_time_that_code_makes_up_is_no_measurement(cli: Cli, tmp_path: Path) -> None:
    liar = f"import time\n\ntime.perf_counter = lambda: 0\n\n\n{LAST}"
    roles = ("proposer", "critic", "reviewer", "performance_analyzer")
    result = hold(cli, tmp_path, roles, says("code", code(liar), seat="proposer"))
    measured = {score["candidate"]: score["measured"] for score in result["scores"]}
    assert "performance" not in measured["A"] and "performance" in measured["B"]
