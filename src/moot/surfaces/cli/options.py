"""Flags shared by commands; imports no store."""

from typing import Annotated

import typer

from moot.core.errors import UsageError

ModelFlag = Annotated[
    list[str] | None,
    typer.Option("--model", "-m", help="Model of every seat, provider:model. Repeat for fallbacks."),
]
TeamModelFlag = Annotated[
    list[str] | None,
    typer.Option("--model", "-m", help="Model of the team, provider:model. Repeat: models are dealt to the seats."),
]
SeatFlag = Annotated[
    list[str] | None,
    typer.Option("--seat", help="Model of one seat, e.g. red=openai:gpt-5. Repeat for more seats or fallbacks."),
]
StoreFlag = Annotated[str | None, typer.Option("--store", help="Where sessions are kept: a file or a database URL.")]
CallsFlag = Annotated[int | None, typer.Option("--max-calls", help="Stop after this many model calls.")]
TokensFlag = Annotated[int | None, typer.Option("--max-tokens", help="Stop before using more tokens than this.")]
UsdFlag = Annotated[float | None, typer.Option("--max-usd", help="Stop once this many dollars are spent.")]
TimeoutFlag = Annotated[float | None, typer.Option("--timeout", help="Time limit of the session in seconds.")]
CallTimeoutFlag = Annotated[
    float | None, typer.Option("--call-timeout", help="Time limit of one model call in seconds.")
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
UnsafeFlag = Annotated[
    bool, typer.Option("--unsafe-local", help="Run tests without a sandbox. Only for code you trust.")
]
SecretsFlag = Annotated[
    bool,
    typer.Option("--run-with-secrets", help="Run code with real secrets instead of masks; models see only verdicts."),
]
PythonFlag = Annotated[
    str | None,
    typer.Option("--python", help="Interpreter or environment for the tests; default: the project's."),
]

ForceFlag = Annotated[bool, typer.Option("--force", help="Overwrite the output file if it exists.")]
RepoFlag = Annotated[
    str | None, typer.Option("--repo", help="Any folder of the repository for --branch; default: the current one.")
]
BranchFlag = Annotated[
    bool, typer.Option("--branch", help="Commit each version to the branch debate/SESSION; your checkout is untouched.")
]
GateFlag = Annotated[
    list[str] | None,
    typer.Option("--gate", help="Wait for approval after this phase; `all`: after every one. Repeatable."),
]


def gate_points(gates: list[str]) -> tuple[str, ...]:
    return () if "all" in gates else tuple(gates)


def seat_settings(seats: list[str] | None) -> dict[str, tuple[str, ...]]:
    """Turns `red=A`, `red=B` into `seats.red = (A, B)`."""
    chains: dict[str, tuple[str, ...]] = {}
    for entry in seats or []:
        seat, equals, model = entry.partition("=")
        if not equals or not seat.strip() or not model.strip():
            raise UsageError(f"--seat {entry!r} is not of the form SEAT=PROVIDER:MODEL, e.g. red=openai:gpt-5")
        key = f"seats.{seat.strip()}"
        chains[key] = (*chains.get(key, ()), model.strip())
    return chains
