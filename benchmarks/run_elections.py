"""Whether our count of real elections gives the winners, scores and margins that others have counted."""

import sys
from fractions import Fraction
from typing import Any

from benchmarks.elections import Known, Reason, compare_borda, compare_condorcet, compare_first_places, count
from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep, read_rows
from moot.teams.voting import RankedBallot

DATA = "elections.jsonl.gz"


def known_election(row: dict[str, Any]) -> Known:
    candidates = tuple(str(number) for number in range(1, row["m"] + 1))
    ballots = tuple(
        RankedBallot(ranking=tuple(tuple(str(number) for number in group) for group in order), count=voters)
        for voters, order in row["orders"]
    )
    margins = {_pair(names): margin for names, margin in (row["margins"] or {}).items()}
    return Known(
        name=str(row["file"]), candidates=candidates, ballots=ballots, margins=margins,
        condorcet=None if row["condorcet"] is None else str(row["condorcet"]), reason=_reason(row),
        borda=row.get("borda_scores", {}), borda_winners=tuple(map(str, row.get("borda", ()))),
        firsts=first_places(candidates, ballots), plurality_winners=tuple(map(str, row.get("plurality", ()))),
    )  # fmt: skip


def _pair(names: str) -> tuple[str, str]:
    one, other = names.split(",")
    return one, other


def _reason(row: dict[str, Any]) -> Reason | None:
    """Some rows do not say whether anybody is unbeaten."""
    if row["condorcet"] is not None or "weak_condorcet" not in row:
        return None
    return "tie" if row["weak_condorcet"] else "cycle"


def first_places(candidates: tuple[str, ...], ballots: tuple[RankedBallot, ...]) -> dict[str, Fraction]:
    """The data names the winners but not how many votes they have."""
    return {
        name: sum((Fraction(b.count, len(b.ranking[0])) for b in ballots if name in b.ranking[0]), Fraction(0))
        for name in candidates
    }


def table(elections: list[Known], wrong: dict[str, list[str]]) -> str:
    borda = [known for known in elections if known.borda_winners]
    plurality = [known for known in elections if known.plurality_winners]
    counted = {"condorcet": len(elections), "borda": len(borda), "first places": len(plurality)}
    reasons = [count(known, "condorcet").fallback_reason for known in elections]
    lines = ["| counted by | elections | differences |", "|---|---:|---:|"]
    lines += [f"| {method} | {counted[method]:,} | {len(found)} |" for method, found in wrong.items()]
    lines += [
        "",
        f"pairwise margins compared: {sum(len(known.margins) for known in elections):,}",
        f"no Condorcet winner: {reasons.count('cycle')} because of a cycle, {reasons.count('tie')} because of a tie",
        f"ties for the first place: {sum(len(known.borda_winners) > 1 for known in borda)} by Borda, "
        f"{sum(len(known.plurality_winners) > 1 for known in plurality)} by plurality",
        f"winners with a majority: {sum(known.has_majority for known in plurality)}",
        "first places: plurality, majority, unanimous, and weighted without weights",
    ]
    return "\n".join(lines)


def main() -> int:
    elections = [known_election(row) for row in read_rows(DATA)]
    wrong = {
        "condorcet": [line for known in elections for line in compare_condorcet(known)],
        "borda": [line for known in elections if known.borda_winners for line in compare_borda(known)],
        "first places": [
            line for known in elections if known.plurality_winners for line in compare_first_places(known)
        ],
    }
    keep("elections", table(elections, wrong), DATA)
    differences = [line for found in wrong.values() for line in found]
    report_figures("elections", [BenchFigure("counts that differ from PrefLib's", len(differences), "elections")])
    print(*differences, sep="\n", file=sys.stderr, end="\n" if differences else "")
    return 1 if differences or not elections else 0


if __name__ == "__main__":
    sys.exit(main())
