"""Inside the sandbox: the signed report, each test's time and memory, and the seal on the runner's parts."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import builtins
import math
import operator
import os
import sys
import time
from types import BuiltinFunctionType, FunctionType, ModuleType

try:
    from _sha256 import sha256  # type: ignore[import-not-found]
except ImportError:  # since Python 3.12
    from _sha2 import sha256  # type: ignore[import-not-found]

try:
    from _json import encode_basestring_ascii as quoted
except ImportError:
    from json.encoder import py_encode_basestring_ascii as quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Result = tuple[str, str]
    """A status and its detail."""

REPORT = 3
TRACE = "@trace"
"""Attribute of a remote error that holds its traceback lines."""
DETAIL = 4000
FOREIGN_SKIP = ("failed", "the code under test skipped this test")
RUNNERS = ("_pytest", "pluggy", "unittest.case", "unittest.suite", "unittest.result", "doctest", "__main__")
REPLACED_BY_TESTS = frozenset({"open", "input", "print", "breakpoint", "exit", "quit", "help", "_", "__import__"})


class TooLong(BaseException):
    """A test's time is up. A BaseException, so that no `except Exception` of the code catches it."""


class Watch:
    """One test's time and memory. An alarm ends it, and rings again for code that swallows the first."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.late = False
        self._on = False
        self._began = 0.0

    def start(self) -> None:
        self.late, self._on = False, True
        _reset_peak()
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, 1.0)
        self._began = time.monotonic()

    def stop(self) -> tuple[float, int | None]:
        """Seconds and peak bytes since the start."""
        self._on = False
        spent = time.monotonic() - self._began
        signal.setitimer(signal.ITIMER_REAL, 0)
        return spent, read_peak()

    def apply_timeout(self, result: Result) -> Result:
        return ("timeout", f"took longer than the limit of {self._seconds:g} s for one test") if self.late else result

    def _ring(self, *_: object) -> None:
        if self._on:
            self.late = True
            raise TooLong


class SignedReport:
    """Append-only; each line is signed with a key read before the code was loaded."""

    def __init__(self, key: str, seconds: float) -> None:
        # A process started by a test gets neither the pipe nor, after a fork, the right to sign.
        report, owner, write = os.dup(REPORT), os.getpid(), os.write
        os.close(REPORT)
        inner, outer = (sha256(bytes(byte ^ pad for byte in key.encode().ljust(64, b"\0"))) for pad in (0x36, 0x5C))
        pid, written = os.getpid, as_json

        def sign(event: dict[str, object]) -> None:
            if pid() != owner:
                return
            body = written(event).encode()
            first, signed = inner.copy(), outer.copy()
            first.update(body)
            signed.update(first.digest())
            line = memoryview(signed.hexdigest().encode() + b" " + body + b"\n")
            while line:
                line = line[write(report, line) :]

        self._sign = sign
        self._watch = Watch(seconds)
        self._seal: Seal | None = None
        self.own: list[ModuleType] = []
        self.clean = True
        self.arm: Callable[[], None] = _nothing
        """Called before each test."""
        self.link: Any = None
        """The link to the code under test, if it runs elsewhere."""

    def seal(self) -> None:
        """From now on, the runner's parts may not change. Code that runs elsewhere cannot change them."""
        self._seal = Seal(self.own) if self.link is None else None

    def report_found(self, tests: list[str]) -> None:
        self.check()
        self._sign({"event": "found", "tests": tests})

    def report_started(self, test: str) -> None:
        self.check()
        self._sign({"event": "started", "test": test})
        self.arm()
        if self.link is not None:
            self.link.begin()
        self._watch.start()

    def report_ended(self, test: str, result: Result) -> None:
        seconds, memory = self._watch.stop()
        self.check()
        status, detail = self._watch.apply_timeout(result)
        if self.link is not None:
            memory = self.link.end() or memory
        self._settle(test, status, detail, {"seconds": round(seconds, 6), "memory": memory})

    def report_done(self, test: str, status: str, detail: str = "") -> None:
        """Report what could not even start."""
        self._settle(test, status, detail, {})

    def _settle(self, test: str, status: str, detail: str, spent: dict[str, object]) -> None:
        """The result, or that the test must run in one process with the code."""
        said = self.link.verdict(status) if self.link is not None else ""
        if isinstance(said, tuple):
            self.needs(test, *said)
            return
        if said:
            status, detail = "error" if status == "error" else "failed", f"{said}\n{detail}"
        self._report_done(test, status, detail, spent)

    def needs(self, test: str, why: str, code_decides: bool = False) -> None:
        """This test cannot be judged separately from the code."""
        self._sign({"event": "needs", "test": test, "why": why, "code_decides": code_decides})

    def _report_done(self, test: str, status: str, detail: str, spent: dict[str, object]) -> None:
        self.clean = self.clean and status in ("passed", "skipped")
        self._sign({"event": "done", "test": test, "status": status, "detail": shorten(detail), **spent})

    def problem(self, text: str) -> None:
        self._sign({"event": "problem", "text": text})

    def check(self) -> None:
        if self.link is None and (self._seal is None or self._seal.is_broken()):
            self.problem("the code under test changed the test runner")

    def report_coverage(self, files: list[dict[str, object]]) -> None:
        self._sign({"event": "covered", "files": files})

    def report_finished(self) -> None:
        self._sign({"event": "finished"})


class SelectedTests:
    """Which tests run here: those that need the code's objects run separately from the others."""

    def __init__(self, only: list[str] | None, forced: dict[str, str]) -> None:
        self._only = None if only is None else frozenset(only)
        self._files = frozenset(name.split("::")[0] for name in only or ())
        self._forced = forced
        self.whole: set[str] = set()
        """Tests that are parts of a file which runs as a whole."""
        self._left_out: frozenset[str] = frozenset()
        self._late: frozenset[str] = frozenset()

    def leave_out(self, known: Sequence[str], late: Sequence[str]) -> None:
        """Skip tests with a result from an interrupted run, and those that interrupted it."""
        self._late = frozenset(late)
        self._left_out = self._late.union(known)

    def wants(self, name: str) -> bool:
        return name not in self._left_out

    def leads_on(self, name: str) -> bool:
        """Whether later parts of its file depend on it: then it runs again without a report."""
        return name in self.whole and name not in self._late

    def needs(self, path: str, record: SignedReport) -> bool:
        """Whether no test of this file runs here; reported if necessary."""
        if path in self._forced:
            record.needs(path, self._forced[path])
            return True
        return self._only is not None and path not in self._files

    def runs(self, name: str, record: SignedReport) -> bool:
        plain, path = name.split("[")[0], name.split("::")[0]
        if plain in self._forced:
            record.report_found([name])
            record.needs(name, self._forced[plain])
            return False
        return self._only is None or name in self._only or path in self._only or name in self.whole


def _nothing() -> None: ...


def as_json(value: object) -> str:
    """Python's `json` takes longer to load than a test to run."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {as_json(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_json, value)) + "]"
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    return quoted(value) if isinstance(value, str) else repr(value)


class Seal:
    """Detects when the code under test replaces a part of the test runner, a builtin or a comparison."""

    def __init__(self, own: list[ModuleType]) -> None:
        self._parts = [
            (owner, name, value, getattr(value, "__code__", None))
            for owner in _owners(own)
            for name, value in owner.items()
            if isinstance(value, (FunctionType, type, property, classmethod, staticmethod))
        ]
        self._plain = [
            (owner, name, value)
            for owner in (vars(builtins), vars(operator), vars(math))
            for name, value in owner.items()
            if name not in REPLACED_BY_TESTS and isinstance(value, (BuiltinFunctionType, FunctionType, type))
        ]

    def is_broken(self) -> bool:
        return any(
            owner.get(name) is not value or getattr(value, "__code__", None) is not code
            for owner, name, value, code in self._parts
        ) or any(owner.get(name) is not value for owner, name, value in self._plain)


def _owners(own: list[ModuleType]) -> list[Mapping[str, object]]:
    found: list[Mapping[str, object]] = []
    others = [m for name, m in list(sys.modules.items()) if name in RUNNERS or name.split(".")[0] in RUNNERS]
    for module in (*own, *others):
        found.append(vars(module))
        kinds = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
        found += [vars(kind) for kind in kinds]
    return found


def is_foreign(path: str, given: frozenset[str]) -> bool:
    """Whether this comes from a file of the code, not of the tests."""
    full = os.path.abspath(path)
    return full.startswith(os.getcwd() + os.sep) and full not in given


def shorten(text: str) -> str:
    """Without the work folder's path, so that reports are comparable; beginning and end if long."""
    text = text.replace(os.getcwd() + "/", "").encode("utf-8", "replace").decode()
    if len(text) <= DETAIL:
        return text
    return f"{text[: DETAIL // 4]}\n… {len(text) - DETAIL} characters cut …\n{text[-DETAIL * 3 // 4 :]}"


def _reset_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def read_peak() -> int | None:
    """Peak bytes since the last reset; of the whole process if the system has no reset."""
    try:
        with open("/proc/self/status") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:")), None)
    except OSError:
        return None
