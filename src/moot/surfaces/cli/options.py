"""Flags that several commands share: words only, so that a command that begins no session loads no store."""

from typing import Annotated

import typer

from moot.core.errors import UsageError

ModelFlag = Annotated[
    list[str] | None,
    typer.Option("--model", "-m", help="Model of every seat, provider:model. Repeat it for a fallback chain."),
]
TeamModelFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--model", "-m", help="Model of the team, provider:model. Repeat it: the models are dealt to the seats."
    ),
]
SeatFlag = Annotated[
    list[str] | None,
    typer.Option("--seat", help="Model of one seat, e.g. red=openai:gpt-5. Repeat it for more seats or a chain."),
]
StoreFlag = Annotated[str | None, typer.Option("--store", help="Where sessions are kept: a file or a database URL.")]
CallsFlag = Annotated[int | None, typer.Option("--max-calls", help="Stop after this many model calls.")]
TokensFlag = Annotated[int | None, typer.Option("--max-tokens", help="Stop before more tokens than this are used.")]
UsdFlag = Annotated[float | None, typer.Option("--max-usd", help="Stop once this much is spent.")]
TimeoutFlag = Annotated[float | None, typer.Option("--timeout", help="Seconds the whole session may take.")]
CallTimeoutFlag = Annotated[float | None, typer.Option("--call-timeout", help="Seconds one call may take.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
UnsafeFlag = Annotated[
    bool, typer.Option("--unsafe-local", help="Run tests without a sandbox. Only for code you would run anyway.")
]
SecretsFlag = Annotated[
    bool,
    typer.Option(
        "--run-with-secrets", help="Run code with the real secrets, not masks; models are told verdicts only."
    ),
]
PythonFlag = Annotated[
    str | None,
    typer.Option("--python", help="Interpreter or environment for the tests; default is the project's own."),
]

ForceFlag = Annotated[bool, typer.Option("--force", help="Overwrite the file to write, if it is there already.")]
RepoFlag = Annotated[
    str | None, typer.Option("--repo", help="A folder of the repository for --branch; default is this one.")
]
BranchFlag = Annotated[
    bool, typer.Option("--branch", help="Commit each version to the branch debate/SESSION; your checkout stays.")
]
GateFlag = Annotated[
    list[str] | None,
    typer.Option("--gate", help="Wait for a person's approval after this phase; `all`: after each. Repeat it."),
]


def gate_points(gates: list[str]) -> tuple[str, ...]:
    return () if "all" in gates else tuple(gates)


def seat_settings(seats: list[str] | None) -> dict[str, tuple[str, ...]]:
    """`red=A`, `red=B` as `seats.red = (A, B)`."""
    chains: dict[str, tuple[str, ...]] = {}
    for entry in seats or []:
        seat, equals, model = entry.partition("=")
        if not equals or not seat.strip() or not model.strip():
            raise UsageError(f"--seat {entry!r} is not of the form SEAT=PROVIDER:MODEL, e.g. red=openai:gpt-5")
        key = f"seats.{seat.strip()}"
        chains[key] = (*chains.get(key, ()), model.strip())
    return chains
