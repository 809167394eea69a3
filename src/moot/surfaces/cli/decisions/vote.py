"""`moot vote`: counts ballots from a file, by the same rules as debates."""

import sys
from typing import Annotated, Literal, TypeVar

import typer
from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.surfaces.cli.decisions.election_file import count_file
from moot.surfaces.cli.options import JsonFlag
from moot.surfaces.cli.screen import out, plain, print_json
from moot.teams.voting import METHODS, TIE_BREAKS, Election, Method, VoteRules

AUTO: tuple[Literal["auto"], ...] = ("auto",)
WON, NOBODY, NO_BALLOT = 0, 1, 2
EXAMPLES = """Examples:

  moot vote election.json                      method chosen by the number of voters

  moot vote election.json --method condorcet --tie-break most_votes --json
"""
W = TypeVar("W", bound=str)


def register(app: typer.Typer) -> None:
    app.command("vote", epilog=EXAMPLES)(vote_command)


def vote_command(
    file: Annotated[str, typer.Argument(help="An election as JSON; - is standard input.")],
    method: Annotated[str, typer.Option("--method", help=f"auto, {', '.join(METHODS)}.")] = "auto",
    tie_break: Annotated[str, typer.Option("--tie-break", help=f"{', '.join(TIE_BREAKS)}.")] = "highest_confidence",
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the random tie-break.")] = None,
    leader: Annotated[str, typer.Option("--leader", help="The voter whose ballot leader_vote follows.")] = "",
    json_output: JsonFlag = False,
) -> None:
    """Count ballots.

    Exit code 0: there is a winner; 1: there is none; 2: no valid ballot.
    """
    rules = VoteRules(
        method=parse_choice("method", method, (*AUTO, *METHODS)),
        tie_break=parse_choice("tie-break", tie_break, TIE_BREAKS),
        seed=seed or 0,
        leader=leader.strip(),
    )
    if seed is not None and rules.tie_break != "random":
        raise UsageError("--seed acts only with --tie-break random; add that, or leave --seed out")
    if rules.leader and rules.tie_break != "leader_vote":
        raise UsageError("--leader acts only with --tie-break leader_vote; add that, or leave --leader out")
    election = count_file(file, rules, sys.stdin.buffer.read)
    if json_output:
        print_json(as_json(election))
    else:
        show(election)
    raise typer.Exit(WON if election.winner else NOBODY if election.scores else NO_BALLOT)


def parse_choice(flag: str, said: str, words: tuple[W, ...]) -> W:
    for word in words:
        if word == said.lower().replace("-", "_"):
            return word
    raise UsageError(f"unknown --{flag} {said!r}; known are {', '.join(words)}")


def as_json(election: Election) -> JsonValue:
    return election.model_dump(mode="json")


def show(election: Election) -> None:
    from rich.table import Table  # see `screen.py`

    console = out()
    console.print(plain(headline(election)))
    table = Table(box=None, pad_edge=False, header_style="bold")
    names = [name for group in election.ranking for name in group]
    for column in ("candidate", "score", *(f"over {name}" for name in names if election.pairwise)):
        table.add_column(plain(column), justify="left" if column == "candidate" else "right", overflow="fold")
    for name in names:
        row = election.pairwise.get(name, {})
        duels = ["-" if other == name else str(row[other]) for other in names] if election.pairwise else []
        table.add_row(plain(name), _number(election.scores[name]), *duels)
    if len(names) > 1:
        console.print(table)
    for line in election.disagreements:
        console.print(plain(f"stands for {line}"))
    for note in election.notes:
        console.print(plain(note))


def headline(election: Election) -> str:
    """The winner, preceded by caveats."""
    how: Method | str = election.method
    if election.fallback_used:
        how = f"borda, after condorcet found a {election.fallback_reason}"
    if election.tied:
        how += f"; tied: {', '.join(election.tied)}"
        how += f", broken by {election.tie_break}" if election.tie_break else ""
    agreed = "consensus" if election.consensus_reached else "no consensus"
    return f"{election.winner or 'nobody'} wins ({how}; {agreed})"


def _number(score: float) -> str:
    return str(score) if isinstance(score, int) else f"{score:.4g}"
