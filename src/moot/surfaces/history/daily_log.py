"""The daily log of debates: a few lines each."""

from moot.evidence.failures import moment
from moot.protocols.vet.positions import BlindSpot, Claim, Diagnosis, Objection
from moot.protocols.vet.script import VetInput, VetResult

LONGEST_SUMMARY = 120


def day_and_block(given: VetInput, result: VetResult, begun: str, attempt: str) -> tuple[str, str]:
    """The day (UTC) and the lines."""
    time = moment(begun)
    assert time is not None, begun
    lines = _failure(given, result, attempt) if given.kind == "failure" else _planning(given, result)
    return f"{time:%Y-%m-%d}", f"{time:%H:%M} " + "\n  ".join(lines)


def _planning(given: VetInput, result: VetResult) -> list[str]:
    claim, objection = result.advocate, result.critic
    return [
        f"DEBATE_PLANNING task:{quote_line(given.action, LONGEST_SUMMARY)}",
        f"Stakes: {result.stakes}",
        f"Advocate: CLAIM:{quote_line(claim.claim)} CONFIDENCE:{_number(claim.confidence)}"
        if isinstance(claim, Claim)
        else "Advocate: absent",
        f"Critic: OBJECTION:{quote_line(objection.objection)} SEVERITY:{objection.severity}"
        if isinstance(objection, Objection)
        else "Critic: absent",
        f"Resolution: {result.resolution}",
        f"Modifications: [{', '.join(quote_line(m) for m in result.modifications)}]"
        if result.modifications
        else "Modifications: none",
    ]


def _failure(given: VetInput, result: VetResult, attempt: str) -> list[str]:
    advocate, critic = result.advocate, result.critic
    return [
        f"DEBATE_FAILURE task:{quote_line(given.action, LONGEST_SUMMARY)} attempt:{attempt}",
        f"Errors: [{', '.join(quote_line(error, LONGEST_SUMMARY) for error in given.errors[-2:])}]",
        f"Advocate: FIX:{quote_line(advocate.fix)} DIFF:{quote_line(advocate.diff_from_previous)}"
        if isinstance(advocate, Diagnosis)
        else "Advocate: absent",
        f"Critic: PATTERN:{quote_line(critic.pattern)} SHOULD_ESCALATE:{str(critic.should_escalate).lower()}"
        if isinstance(critic, BlindSpot)
        else "Critic: absent",
        f"Resolution: {result.resolution}",
        f"Next approach: {quote_line(result.next_approach or 'human takeover')}",
    ]


def quote_line(text: str, longest: int = 300) -> str:
    """One line in quotes that the text cannot close."""
    line = "".join(c if c.isprintable() else "�" for c in " ".join(text.split())).replace('"', "'")
    return f'"{line if len(line) <= longest else line[: longest - 1] + "…"}"'


def _number(confidence: float | None) -> str:
    return "unknown" if confidence is None else f"{confidence:g}"
