"""Who was right in a debate, as far as tests say so: for track records and for the calibration of confidence."""

from collections.abc import Mapping

from moot.core.experience import Judged
from moot.protocols.debate.episodes import FIRST_ANSWERS
from moot.protocols.debate.types import DebateResult, Member


def judge_members(result: DebateResult, team: Mapping[str, Member], domain: str) -> list[Judged]:
    """Answers and ballots of these seats. Empty for a debate that can still continue."""
    if result.resumable:
        return []
    answers = [
        Judged(agent=seat, role=team[seat].role, model=team[seat].model, domain=domain, right=right)
        for seat, right in judge_answers(result).items()
        if seat in team
    ]
    return answers + judge_ballots(result, team, domain)


def judge_answers(result: DebateResult) -> dict[str, bool]:
    """Whose first answer behaves like the winner's, by seat; empty unless the winner passes its tests."""
    winner = next((c for c in result.candidates if c.id == result.winner), None)
    if winner is None or not winner.checked.green:
        return {}
    firsts = {c.seat: c for c in reversed(result.candidates) if not c.parent and c.phase in FIRST_ANSWERS}
    return {seat: candidate.checked.marks == winner.checked.marks for seat, candidate in firsts.items()}


def judge_ballots(result: DebateResult, team: Mapping[str, Member], domain: str) -> list[Judged]:
    """Whether what a ballot put first is right. The last ballot of a seat counts, with the confidence it stated."""
    found: dict[str, Judged] = {}
    for vote in result.votes:
        stated = {weight.voter: weight.stated for weight in vote.weights}
        for ballot in vote.ballots:
            right = is_right(result, ballot.ranking[0][0])
            if right is None or ballot.voter not in team or ballot.voter not in stated:
                continue
            member, sure = team[ballot.voter], stated[ballot.voter]
            found[ballot.voter] = Judged(
                agent=ballot.voter, act="ballot", role=member.role, model=member.model, domain=domain, right=right,
                confidence=sure,
            )  # fmt: skip
    return list(found.values())


def is_right(result: DebateResult, name: str) -> bool | None:
    """By the hidden tests, else by given tests and examples, else by tests that seats agreed on, which can only show
    that it is wrong. None: nothing is known."""
    if name in result.hidden_passed:
        return result.hidden_passed[name]
    checked = next(candidate.checked for candidate in result.candidates if candidate.id == name)
    if checked.failed:
        return False
    return checked.green if checked.of else None
