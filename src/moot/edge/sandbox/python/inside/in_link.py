"""Inside the sandbox, on the tests' side: the link to the code under test, which runs elsewhere.

Modules, classes and objects of the code have stand-ins here. A call's result is data, rebuilt from what the other side
sends, so Python's own comparisons apply. The code decides about its own objects only if a test names their class; then
the test is not judged here.
"""

from __future__ import annotations

import _socket
import builtins
import os
import sys
import time
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from moot.edge.sandbox.python.inside.in_build import Builder
from moot.edge.sandbox.python.inside.in_stand import is_stand_in
from moot.edge.sandbox.python.inside.in_values import LinkHeap, NoData, Nonsense, read, write_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LINK = "MOOT_LINK"
STUB = "@moot_stub"
LONGEST = 64 << 20
STATUS_BYTES = 4
SHORT = 0.05
MANY, QUICK = 2000, 0.002
"""Number of calls and their average seconds from which the link itself is the bottleneck."""


class NeedsObject(BaseException):
    """A test needs the code's objects themselves. A BaseException, so that no `except Exception` catches it."""


class CodeGone(Exception):
    """The code ended its process, or sent something invalid."""


class NotData(Exception):
    """A test compares objects by the code's own methods."""


class Link:
    def __init__(self, packages: frozenset[str], modules: frozenset[str]) -> None:
        handle = int(os.environ.pop(LINK))
        os.set_inheritable(handle, False)
        self._control = _socket.socket(fileno=handle)
        self._data: Any = None
        self.epoch = 0
        self.packages = packages
        """Installed packages that the tests import themselves."""
        self._modules = modules
        self.stand = Builder(self)
        self.heap = LinkHeap(1, self._tell, self.stand.meet)
        self._calls: dict[int, Any] = {}
        self.freed: list[int] = []
        self.needs: tuple[str, bool] | None = None
        """Why the current test needs the code's objects, and whether the code's own comparison would decide."""
        self.refused = ""
        """Why the current test fails whatever it says itself."""
        self.decided = ""
        """Why the current test fails unless it needs the objects themselves: the code's own comparison decided."""
        self.objects = ""
        """What the test does that stand-ins may not do as well as the objects."""
        self._always = ""
        self._asked, self._waited, self._began = 0, 0.0, 0.0
        self._peak: int | None = None

    def begin(self) -> None:
        self.needs, self.refused, self.decided, self.objects = None, "", "", self._always
        self._asked, self._waited, self._began = 0, 0.0, time.monotonic()

    def finish_loading(self) -> None:
        """What test files do and get while loading is shared by all of their tests."""
        self._always = self.objects
        if self._data is not None:
            self.heap.pin()
            self.ask("pin")

    def module(self, name: object) -> ModuleType:
        """A module of the code; no other is imported on its word."""
        if type(name) is not str or name not in self._modules:
            raise Nonsense("a module that is not the code's")
        __import__(name)
        found = sys.modules[name]
        if not isinstance(found, StubModule):
            raise Nonsense("a module that is not the code's")
        return found

    def end(self) -> Any:
        """Peak memory of the code in bytes, if known."""
        self._calls.clear()
        # Peak memory is since process start: a short test that left nothing behind need not ask again.
        if self._peak is not None and self.heap.is_empty and time.monotonic() - self._began < SHORT:
            return self._peak
        self.heap.forget()
        try:
            peak = self.ask("forget") if self._data is not None else None
        except Exception:
            return None
        self._peak = peak if type(peak) is int else None
        return self._peak

    def need(self, why: str, *, code_decides: bool = False) -> NeedsObject:
        if self.needs is None:
            self.needs = (why, code_decides)
        return NeedsObject(why)

    def refuse(self, why: str) -> NotData:
        self.decided = self.decided or why
        return NotData(why)

    def verdict(self, status: str) -> tuple[str, bool] | str:
        """Why a test with this result needs the code's objects, or why it failed."""
        if status == "timeout":
            many = self._asked >= MANY and self._waited < self._asked * QUICK
            return ("the test calls the code too often to be judged apart from it in its time", True) if many else ""
        if self.needs:
            return self.needs
        if self.refused:
            return self.refused
        if self.objects and (self.decided or status in ("failed", "error")):
            # The code could fail here on purpose, to be judged where it can cheat.
            return self.objects, True
        return self.decided

    def ask(self, word: str, target: Any = None, *rest: object) -> Any:
        """The result: a value, or an error that is raised here."""
        __tracebackhide__ = True
        self._connect()
        data = self._data
        try:
            self._send(word, target, rest)
            while True:
                said, value, changes, news, *heard = self._receive()
                self.stand.learn(news)
                if said == "call":
                    self._call_back(value, changes)
                    continue
                _print(heard)
                met = self.heap.meet(value)
                self.heap.apply(changes)
                break
        except BaseException as problem:
            # The answer may still come; it must not be taken for that to another question.
            if data is self._data and not isinstance(problem, CodeGone):
                self._drop()
            if isinstance(problem, (Nonsense, ValueError, TypeError, OSError, RecursionError)):
                raise self._mark_lost(f"the code's process answered nonsense: {problem}") from None
            raise
        if said == "raise" and isinstance(met, BaseException):
            raise met
        if said != "ok":
            raise self._mark_lost("the code's process answered nonsense")
        return met

    def _mark_lost(self, why: str) -> CodeGone:
        """Whatever the test makes of it, it fails."""
        self.refused = self.refused or why
        return CodeGone(why)

    def _send(self, word: str, target: Any, rest: Any) -> None:
        __tracebackhide__ = True
        freed, self.freed = self.freed, []
        # In this order: the other side knows what is new in the request only after the changes.
        unused, changes = self.heap.list_unused(), self.heap.changes()
        try:
            told = [self.heap.tell(each) for each in rest]
        except NoData as problem:
            raise self.need(f"the test hands over what does not cross: {problem}") from None
        data = write_message([word, target, told, changes, unused, freed]).encode()
        self.heap.settle()
        try:
            self._data.sendall(len(data).to_bytes(4, "big") + data)
        except OSError:
            self._raise_gone()

    def _receive(self) -> Any:
        __tracebackhide__ = True
        began = time.monotonic()
        self._asked += 1
        length = int.from_bytes(self._exactly(4), "big")
        self._waited += time.monotonic() - began
        if length > LONGEST:
            raise Nonsense(f"an answer of {length >> 20} MiB")
        answer = read(self._exactly(length).decode("utf-8", "strict"))
        if type(answer) is not list or len(answer) != 6:
            raise Nonsense("an answer of another shape")
        return answer

    def _exactly(self, count: int) -> bytes:
        __tracebackhide__ = True
        parts = bytearray()
        while len(parts) < count:
            try:
                part = self._data.recv(min(count - len(parts), 1 << 20))
            except OSError:
                part = b""
            if not part:
                self._raise_gone()
            parts += part
        return bytes(parts)

    def _call_back(self, value: Any, changes: Any) -> None:
        number, args, options = value
        function = self._calls.get(number)
        if function is None:
            raise Nonsense("a function that nobody handed over")
        given, named = self.heap.meet(args), dict(self.heap.meet(options))
        self.heap.apply(changes)
        try:
            told: Any = function(*given, **named)
            word = "return"
        except Exception as problem:
            word, told = "throw", problem
        if word == "return":
            unused, changes = self.heap.list_unused(), self.heap.changes()
            self._reply([word, self.heap.tell(told), None, changes, unused, []])
            return
        plain = [each if type(each) in (int, str, float, bool) else str(each) for each in told.args]
        name = next((kind.__name__ for kind in type(told).__mro__ if kind.__module__ == "builtins"), "RuntimeError")
        self._reply([word, [name, plain], None, [], [], []])

    def _reply(self, message: list[Any]) -> None:
        data = write_message(message).encode()
        self.heap.settle()
        self._data.sendall(len(data).to_bytes(4, "big") + data)

    def _connect(self) -> int:
        """Start a process with the code; returns how the previous one ended."""
        if self._data is not None:
            return 0
        self.heap.forget(all_of_it=True)
        self._peak = None
        self.freed = []
        try:
            self._control.send(b"n")
            room = _socket.CMSG_SPACE(4)
            status, more, _, _ = self._control.recvmsg(STATUS_BYTES, room)
            handle = int.from_bytes(more[0][2][:4], sys.byteorder)
        except (OSError, IndexError):
            raise self._mark_lost("the code's process cannot be started any more") from None
        self._data = _socket.socket(fileno=handle)
        os.set_inheritable(handle, False)
        self.epoch += 1
        return int.from_bytes(status, "big", signed=True)

    def _drop(self) -> None:
        if self._data is not None:
            self._data.close()
            self._data = None

    def _raise_gone(self) -> None:
        __tracebackhide__ = True
        self._drop()
        status = self._connect()
        raise self._mark_lost(f"the code under test ended its process (status {status})")

    def _tell(self, value: Any, heap: LinkHeap) -> Any:
        """Encode what the test passes and is not data."""
        if is_stand_in(value):
            return self.stand.address(value)
        if isinstance(value, StubModule):
            return ["module", value.__name__]
        if isinstance(value, (FunctionType, MethodType, BuiltinFunctionType)):
            self.objects = self.objects or "the test hands over a function of its own"
            number = id(value)
            self._calls[number] = value
            return ["calls", number, str(getattr(value, "__name__", "call"))]
        # What came from the code may be built so that it does not cross back.
        from_code = self.stand.was_made_here(value) or isinstance(value, (BaseException, ModuleType))
        raise self.need(f"the test hands over an object of its own ({type(value).__name__})", code_decides=from_code)


class StubModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            # A star import means the code's own names: no builtin, and nothing the test has by now.
            taken = {*vars(builtins), *sys._getframe(1).f_globals}
            return [each for each in _link().ask("all", self.__name__) if type(each) is str and each not in taken]
        if name.startswith(("__", "_pytest")):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        link = _link()
        value = link.ask("get", ["module", self.__name__], name)
        link.stand.note_origin(value, self.__name__, name)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        # The import system sets what it has imported.
        imported = isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        if not name.startswith("__") and not imported:
            raise _link().need(f"the test changes {self.__name__}.{name}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise _link().need(f"the test changes {self.__name__}.{name}")


_links: list[Link] = []


def _link() -> Link:
    return _links[0]


def install(link: Link) -> None:
    """From now on, an imported stub becomes its module."""
    _links[:] = [link]

    def become(name: str) -> None:
        module = sys.modules[name]
        link.ask("import", name)
        module.__class__ = StubModule

    setattr(builtins, STUB, become)


class FarSetting:
    """`in_script.Setting` for code that runs elsewhere."""

    def __init__(self, link: Link, unittest: Any, doctest: Any) -> None:
        self._link, self.unittest, self.doctest = link, unittest, doctest

    def names(self, used: frozenset[str] = frozenset()) -> dict[str, object]:
        found: dict[str, Any] = self._link.ask("names", None, *sorted(used))
        for name in found:
            self._link.stand.note_name(found[name], name)
        return found

    def candidate(self) -> object:
        return self._link.ask("candidate")


def _print(heard: Any) -> None:
    """Print the code's output here, where a test may capture it."""
    for text, stream in zip(heard, (sys.stdout, sys.stderr)):  # noqa: B905
        if text and type(text) is str:
            stream.write(text)
