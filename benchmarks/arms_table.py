"""The table of `run_arms`: how many are right, with 95 % intervals, what they cost, and what was gained and lost."""

from collections.abc import Sequence
from typing import Any

from moot.evidence.intervals import bootstrap, wilson

DRAWS = 10_000
ARMS = ("greedy", "vote", "vote + examples", "debate")
Row = dict[str, Any]


def table(rows: Sequence[Row], model: str, many: int, calls: int, skip: int = 0) -> str:
    human = [row for row in rows if row["task"].startswith("HumanEval")]
    mbpp = [row for row in rows if not row["task"].startswith("HumanEval")]
    lines = [
        f"{model}, at most {calls} calls a task; {len(human)} of {many} HumanEval and {len(mbpp)} of {many} MBPP tasks",
        f"by SHA-256 of their ids, from the {skip + 1}. on; right by hidden tests, with the 95 % interval (Wilson)",
        "",
        "arm               HumanEval   MBPP   both   per cent            tokens   calls",
    ]
    for arm in (*ARMS, "any of them"):
        right = [sum(row["right"][arm] for row in part) for part in (human, mbpp, rows)]
        line = f"{arm:17} {right[0]:9} {right[1]:6} {right[2]:6}   {share(right[2], len(rows))}"
        spent = [sum(row[what][arm] for row in rows) for what in ("tokens", "calls")] if arm in ARMS else []
        lines.append(line + "".join(f" {value:8}" for value in spent))
    lines += ["", *flips(rows), "", *early(rows)]
    return "\n".join(lines)


def share(right: int, of: int) -> str:
    found = wilson(right, of)
    return f"{100 * right / max(of, 1):5.1f} ({100 * found.low:4.1f}-{100 * found.high:4.1f})"


def flips(rows: Sequence[Row]) -> list[str]:
    lines = ["against              wrong to right   right to wrong   points (95 %, paired bootstrap)"]
    pairs = [(arm, "greedy") for arm in ARMS[1:]] + [("debate", "vote"), ("debate", "vote + examples")]
    for arm, base in pairs:
        gained = [row["task"] for row in rows if row["right"][arm] and not row["right"][base]]
        lost = [row["task"] for row in rows if row["right"][base] and not row["right"][arm]]
        by_task = [int(row["right"][arm]) - int(row["right"][base]) for row in rows] or [0]
        found = bootstrap(by_task, draws=DRAWS)
        low, high = 100 * found.low, 100 * found.high
        points = 100 * sum(by_task) / len(by_task)
        lines.append(
            f"{arm} / {base}: {len(gained)} {gained}, {len(lost)} {lost}, {points:+.1f} ({low:+.1f} to {high:+.1f})"
        )
    return lines


def early(rows: Sequence[Row]) -> list[str]:
    """Where the debate ended at its gate, where it went on, and what that took."""
    ended = [row for row in rows if row["stopped"] == "alike_and_green"]
    right = sum(row["right"]["debate"] for row in ended)
    seconds = sum(row["seconds"] for row in rows)
    return [
        f"the debate ended with all alike and green on {len(ended)} tasks, {right} of them right",
        f"a right candidate was on its table on {sum(row['debate any'] for row in rows)} tasks",
        f"all arms together: {seconds} s of model time; answers that arms share were drawn once",
    ]
