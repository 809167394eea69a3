"""The body of a function that may never be run."""

from collections.abc import Callable, Iterator

from moot.scan.engine.ir import Block, Stmt


class LazyBlock:
    """Statements that are lowered when they are first run; it stands for a tuple that is only gone through."""

    __slots__ = ("_lower", "_made", "start")

    def __init__(self, lower: Callable[[], Block], start: int | None) -> None:
        self._lower: Callable[[], Block] | None = lower
        self._made: Block = ()
        self.start = start
        """The offset of the first statement; None without one."""

    def __iter__(self) -> Iterator[Stmt]:
        if self._lower is not None:
            self._made, self._lower = self._lower(), None
        return iter(self._made)
