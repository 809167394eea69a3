"""The ports of one session: all its access to the outside world."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from moot.core.events import Event
from moot.core.ports import Branches, Checker, Clock, Gates, Linter, Memory, Sandbox, Scanner, Searcher, Toolbox
from moot.text.secrets import Vault

Person = Callable[[Sequence[str]], Awaitable[Sequence[str]]]


@dataclass(frozen=True, kw_only=True)
class SessionPorts:
    scanner: Scanner
    clock: Clock
    sandbox: Sandbox | None = None
    vault: Vault = field(default_factory=lambda: Vault({}))
    listen: Callable[[Event], None] | None = None
    searcher: Searcher | None = None
    memory: Memory | None = None
    """None if no record is kept."""
    linter: Linter | None = None
    checks: Checker | None = None
    """None if nothing is configured."""
    branches: Branches | None = None
    """None without a repository."""
    toolbox: Toolbox | None = None
    person: Person | None = None
    """Answers questions while the session runs; None if nobody is there."""
    gates: Gates | None = None
    """None if no record is kept."""
