"""Nothing is cut silently: turns, candidates, examples and failures are shown, or their absence is said."""

from debates import Answers, Debate, Quick, ballot, code, held, points, scores

from moot.core.types import ModelCall
from moot.protocols.debate.types import DebateRules, Phase

TASK = "Write largest(numbers): the largest number of a list, or None for an empty one. largest([7]) -> 7"
LAST = "def largest(numbers):\n    return numbers[-1] if numbers else None\n"
FIRST = "def largest(numbers):\n    return numbers[0] if numbers else None\n"
CRITICS = ["critic"] * 6
REVIEWERS = ["reviewer"] * 4
TALKERS = ["proposer", *CRITICS, *REVIEWERS, "moderator"]


def ranked(call: ModelCall) -> str:
    letters = call.prompt.rsplit("Only these letters exist: ", 1)[1].partition(".")[0].split(", ")
    return ballot(*letters, sure=0.2)


def talk(length: int = 1) -> Answers:
    """Two answers that nothing tells apart, and critics and reviewers who each say one thing."""
    texts = iter([LAST, FIRST] * 40)
    return {
        "code": lambda call: code(next(texts)),
        "merge": lambda call: code(LAST),
        "tests": "TESTS: NONE",
        "points": lambda call: points(("A", "disagree", f"POINT of {call.seat}. " * length)),
        "scores": lambda call: scores(A=0.5).replace("read", f"REVIEW of {call.seat}. " * length),
        "ballot": ranked,
        "reflect": "{}",
        "order": '{"order": [6, 5, 4, 3, 2, 1]}',
        "relay": '{"turns": {}}',
    }


def star(length: int = 1, tokens: int = 24_000) -> Debate:
    rules = DebateRules(lessons=0, topology="star", max_rounds=1, attempts=1, planning="off")
    return held(talk(length), roles=TALKERS, rules=rules, sandbox=Quick(), task=TASK, tokens=tokens)


def test_the_moderator_of_a_star_hears_every_turn() -> None:
    done = star()
    (told,) = done.prompts("convergence", "moderator")
    seats = [call.seat for call in done.asked if call.phase in ("critique", "review")]
    assert len(seats) == len(CRITICS) + len(REVIEWERS)
    missing = [seat for seat in seats if f"POINT of {seat}." not in told and f"REVIEW of {seat}." not in told]
    assert missing == []
    assert not [note for note in done.room.degraded if "did not see everything" in note]


def test_turns_that_do_not_fit_are_named_in_the_prompt_and_in_the_result() -> None:
    done = star(length=40, tokens=2400)
    (told,) = done.prompts("convergence", "moderator")
    notes = [note for note in done.room.degraded if note.startswith("moderator, round 1, did not see everything: ")]
    assert notes and "the turn of critic (critique): not shown" in notes[-1]
    assert "the turn of critic (critique): not shown" in told and "there was no room]" in told
    shown = [seat for seat in ("reviewer", "reviewer-4") if f"REVIEW of {seat}." in told]
    assert shown == ["reviewer", "reviewer-4"], "the newest turns come first"
    critics = [seat for seat in ("critic", "critic-6") if f"POINT of {seat}." in told]
    assert critics in ([], ["critic-6"]), "of one phase, those that its leader put last are left out first"


def test_every_candidate_is_on_the_ballot() -> None:
    roles = ["proposer"] * 9
    answers: Answers = {
        "position": lambda call: f'{{"position": "Position of {call.seat}."}}',
        "points": points(),
        "scores": scores(),
        "ballot": ranked,
    }
    phases: tuple[Phase, ...] = ("proposal", "convergence")
    rules = DebateRules(lessons=0, drafts=9, max_rounds=1, phases=phases, planning="off", topology="graph_mesh")
    done = held(answers, roles=roles, rules=rules, sandbox=Quick(), task="Tea or coffee?", kind="topic")
    (vote,) = done.result.votes
    assert (vote.candidates, vote.left_out) == (tuple("ABCDEFGHI"), {})
    assert all(done.prompts("convergence")[0].count(f"Candidate {letter}\n") == 1 for letter in "ABCDEFGHI")


def test_the_ballot_says_who_is_not_on_it_and_why() -> None:
    texts = iter([LAST, FIRST, "def largest(numbers):\n    return None\n"])
    answers = {**talk(), "code": lambda call: code(next(texts, LAST))}
    rules = DebateRules(lessons=0, max_rounds=1, attempts=1, refinements=0, planning="off", topology="graph_mesh")
    roles = ("proposer", "critic", "reviewer")
    done = held(answers, roles=roles, rules=rules, sandbox=Quick(), task=TASK)
    (vote,) = done.result.votes
    assert vote.left_out["C"] == "passes fewer tests"
    assert set(vote.candidates) | set(vote.left_out) == {candidate.id for candidate in done.result.candidates}
    assert "C (passes fewer tests)" in done.prompts("convergence")[0]


def test_a_repair_shows_every_failure_and_an_author_of_tests_every_example() -> None:
    calls = [f"largest([{n}, 100])" for n in range(12)]
    task = "Write largest(numbers): the largest number of a list.\n" + "\n".join(f"{call} -> 100" for call in calls)
    answers = {**talk(), "code": code("def largest(numbers):\n    return numbers[0]\n")}
    rules = DebateRules(lessons=0, max_rounds=1, attempts=1, refinements=1, anew=0, planning="off")
    done = held(answers, roles=("proposer", "critic", "reviewer"), rules=rules, sandbox=Quick(), task=task)
    repair = next(prompt for prompt in done.prompts("self_evolvement") if "Your solution so far" in prompt)
    failed = repair.partition("When it was run:")[2]
    assert [call for call in calls if call not in failed] == []
    tests = next(call.prompt for call in done.asked if call.prompt.startswith("Write tests for"))
    assert [call for call in calls if call not in tests.partition("Examples that are known:")[2]] == []
