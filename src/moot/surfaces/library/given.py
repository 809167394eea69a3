"""The common arguments of all coroutines, as settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from moot.core.types import Limits

Names = str | Sequence[str]


def session_flags(
    model: Names | None, seats: Mapping[str, Names] | None, store: str | Path | None, limits: Limits | None
) -> dict[str, object]:
    """Models, store and timeouts; the latter also for the HTTP client."""
    patience = {} if limits is None else {"call_timeout": limits.call_timeout}
    named = {f"seats.{seat}": chain(names) for seat, names in (seats or {}).items()}
    return {"model": chain(model), "store": str(store) if store else None, **patience, **named}


def chain(names: Names | None) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)
