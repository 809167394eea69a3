"""Replies and requests of the demo's solve, topic, review and vet: sessions with something in every panel."""

from typing import Any


def always(reply: object, **where: object) -> dict[str, object]:
    return {**where, "reply": reply, "always": True}


def write_code(path: str, text: str) -> str:
    return f"CODE:\nFILE: {path}\n```python\n{text}```\n"


# --- solve

SOLVE_TASK = "Write largest(numbers): the largest number of a list, or None if it is empty."
SOLVE_TESTS = """from largest import largest

def test_largest():
    assert largest([3, 7, 5]) == 7

def test_negative():
    assert largest([-3, -1]) == -1

def test_nothing():
    assert largest([]) is None
"""
REFLECTION = {
    "what_went_wrong": "It fails on an empty list.",
    "root_cause": "max raises ValueError when there is nothing to compare.",
    "what_to_change": "Give max a default, so that an empty list has an answer.",
    "confidence": 0.9,
}
SOLVE = [
    always(write_code("largest.py", "def largest(numbers):\n    return max(numbers)\n"), seat="coder", round=1),
    always(REFLECTION, seat="reflector"),
    always(write_code("largest.py", "def largest(numbers):\n    return max(numbers, default=None)\n"), seat="coder"),
]

# --- a debate on a topic: two votes, and two minds that change between them

TOPIC = "Should the billing service be split in two?"
WHOLE = "Keep it whole. One team runs it, and a second service doubles the on-call work."
MEASURED = "Keep it whole for a quarter, and measure where requests wait. Split along the line that the figures show."
TOPIC_POINT = {
    "point": "Nobody has measured the waiting.",
    "evidence": "teams wait",
    "candidate": "A",
    "stance": "refutes",
}
TOPIC_SCORES = [
    {"why": "It names no figure.", "candidate": "A", "logic": 0.6, "evidence": 0.4, "completeness": 0.6},
    {"why": "It can be checked after a quarter.", "candidate": "D", "logic": 0.9, "evidence": 0.8, "completeness": 0.8},
]
FIRST_BALLOTS = {
    "proposer": (["A", "D"], 0.4, "The teams wait for each other today."),
    "critic": (["B", "A", "D"], 0.4, "A split without figures moves the waiting elsewhere."),
}


def answer_topic(reply: object, **where: object) -> dict[str, object]:
    return always(reply, contains=TOPIC, **where)


DEBATED = [
    answer_topic(
        {"position": "Split it now.", "arguments": ["The teams wait for each other."]},
        phase="self_evolvement",
        seat="proposer",
    ),
    answer_topic({"position": WHOLE, "arguments": ["One team runs it."]}, phase="self_evolvement"),
    answer_topic({"position": MEASURED, "arguments": ["The first figures are in."]}, phase="proposal"),
    answer_topic({"points": [TOPIC_POINT], "tests": []}, phase="critique"),
    answer_topic({"scores": TOPIC_SCORES}, phase="review"),
    answer_topic({"position": MEASURED, "arguments": ["Both sides can live with it."]}, phase="optimization"),
    *(
        answer_topic({"reasons": why, "ranking": order, "confidence": sure}, phase="convergence", round=1, seat=seat)
        for seat, (order, sure, why) in FIRST_BALLOTS.items()
    ),
    answer_topic(
        {"reasons": "Measure first: it can be undone.", "ranking": ["D", "B", "A"], "confidence": 0.9},
        phase="convergence",
    ),
]

# --- review

PLAN = """# Plan: guest list

**Goal:** a guest who has booked finds the table free.

## Tasks

1. Keep the bookings in memory until the evening.
2. Send a mail to the guest when a table is booked.

## Verification

- A booked table cannot be booked again.
"""
CHALLENGE = {
    "concern": "A restart of the server loses every booking of the day",
    "evidence": '"Keep the bookings in memory until the evening"',
    "recommendation": "Write each booking to a database at once",
    "category": "assumption exposure",
    "severity": "critical",
}
MAIL = {
    "concern": "A mail that bounces is not noticed",
    "evidence": '"Send a mail to the guest when a table is booked"',
    "recommendation": "Show the booking on the page as well",
    "category": "verification gaps",
    "severity": "minor",
}
REVIEW = [
    always({"challenges": [CHALLENGE, MAIL]}, seat="adversary", round=1),
    always(
        {
            "answers": [
                {
                    "challenge": "C1",
                    "reason": "A restart at noon would lose them.",
                    "change": "Write each booking to SQLite.",
                    "answer": "addressed",
                },
                {
                    "challenge": "C2",
                    "reason": "The page of the guest shows every booking already.",
                    "answer": "rejected",
                },
            ]
        },
        seat="defender",
        phase="answer",
    ),
    always(
        "REVISED:\n```markdown\n"
        + PLAN.replace("Keep the bookings in memory until the evening", "Write each booking to SQLite at once")
        + "```\n",
        seat="defender",
        phase="revise",
    ),
    always(
        {
            "assessment": [
                {"previous_challenge": "C1", "notes": "A restart loses nothing now.", "status": "addressed"},
                {"previous_challenge": "C2", "notes": "The plan does not say so.", "status": "unresolved"},
            ],
            "challenges": [],
            "convergence": "converging",
        },
        seat="adversary",
    ),
]

# --- vet: after the debates, whose critic has prompts of their own

VET = [
    always(
        {
            "supports": ["Sessions can be rebuilt by logging in again", "The disk is full in two hours"],
            "claim": "Dropping the table frees the space we need today.",
            "confidence": 0.9,
        },
        seat="advocate",
    ),
    always(
        {
            "objection": "The carts of all shoppers are stored in that table.",
            "risks": ["lost carts", "no copy to return to"],
            "counter": "Copy the carts to a table of their own first, then drop the sessions at night.",
            "severity": "high",
        },
        seat="critic",
    ),
]

SOLVE_BODY: dict[str, Any] = {
    "protocol": "solve",
    "input": {"task": SOLVE_TASK, "tests": {"test_largest.py": SOLVE_TESTS}},
}
TOPIC_BODY: dict[str, Any] = {
    "protocol": "debate",
    "input": {"task": TOPIC, "kind": "topic"},
    "rules": {"planning": "off", "voting": "condorcet", "topology": "graph_mesh", "max_rounds": 2},
}
REVIEW_BODY: dict[str, Any] = {"protocol": "review", "input": {"artefacts": {"PLAN.md": PLAN}}}
VET_BODY: dict[str, Any] = {"protocol": "vet", "input": {"action": "DROP TABLE sessions", "stakes": "high"}}
