"""Inside the sandbox: line and branch coverage of the code by its tests.

Our own instead of coverage.py: the project may not have it, and it takes longer to load than most tests to run.
"""

from __future__ import annotations

import _ast as ast
import os
import sys
import threading

from moot.edge.sandbox.python.inside.in_tree import parse, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    Arc = tuple[int, int]
    """From one line to another; 0 is the end of the function."""
    Way = tuple[int, range, range, bool]
    """A branch: its line, the lines of its condition, those of its body, and whether it goes to the body."""

NOWHERE = -1


class Cover:
    def __init__(self, files: list[str]) -> None:
        self._paths = {os.path.abspath(file): file for file in files}
        self._arcs: dict[str, set[Arc]] = {path: set() for path in self._paths}

    def start(self) -> None:
        """Also before each test: Python stops tracing when a test is interrupted while tracing."""
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def count_coverage(self) -> list[dict[str, object]]:
        """Coverage of each file; an unparsable one has nothing to reach."""
        found = []
        for path, file in self._paths.items():
            try:
                with open(path, encoding="utf-8", errors="surrogateescape") as opened:
                    text = opened.read()
                tree = parse(text, path)
                lines = sorted(_lines(compile(text, path, "exec", dont_inherit=True)))
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            arcs, ways = self._arcs[path], _ways(tree)
            reached = {line for _, line in arcs}
            missed = [line for line in lines if line not in reached]
            left = [way[0] for way in ways if not any(_goes(way, arc) for arc in arcs)]
            found.append({"file": file, "lines": len(lines), "missed": missed, "branches": len(ways), "open": left})
        return found

    def _enter(self, frame: FrameType, event: str, arg: object) -> Any:
        arcs = self._arcs.get(frame.f_code.co_filename)
        if arcs is None:
            return None
        last = NOWHERE

        def step(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal last
            if event == "line":
                arcs.add((last, frame.f_lineno))
                last = frame.f_lineno
            elif event == "return":
                arcs.add((last, 0))
            elif event == "exception" and not issubclass(arg[0], (StopIteration, StopAsyncIteration)):
                last = NOWHERE  # what follows is not a branch of a condition
            return step

        return step


def _lines(code: CodeType) -> set[int]:
    found = {line for _, _, line in code.co_lines() if line}
    for inner in code.co_consts:
        if hasattr(inner, "co_lines"):
            found |= _lines(inner)
    return found


def _ways(tree: ast.Module) -> list[Way]:
    """Both outcomes of each condition and loop with a body on separate lines; on one line they look the same."""
    found: list[Way] = []
    for node in walk(tree):
        if isinstance(node, (ast.If, ast.While)) and not isinstance(node.test, ast.Constant):
            found += _of(node.lineno, node.test, node.body)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            found += _of(node.lineno, node.iter, node.body)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                if case.guard is not None or not (
                    isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
                ):
                    found += _of(case.pattern.lineno, case.guard or case.pattern, case.body)
    return found


def _of(line: int, last: Any, body: list[ast.stmt]) -> list[Way]:
    head = range(line, (last.end_lineno or line) + 1)
    first = min([body[0].lineno, *(d.lineno for d in getattr(body[0], "decorator_list", []))])
    inside = range(first, (body[-1].end_lineno or first) + 1)
    return [] if first in head else [(line, head, inside, True), (line, head, inside, False)]


def _goes(way: Way, arc: Arc) -> bool:
    _, head, inside, into = way
    start, end = arc
    return start in head and end not in head and (end in inside) == into
