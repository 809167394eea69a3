"""Inside the sandbox: the code under test in its own processes. It answers over a socket and knows no test.

The first process runs no code: it starts one that does, and another when that one is gone or does not answer.
The other side trusts nothing that is sent here: it is read as data.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import _socket
import _thread
import io
import os
import sys
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType, ModuleType

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from moot.edge.sandbox.python.inside.in_record import read_peak
from moot.edge.sandbox.python.inside.in_script import ScriptSetting
from moot.edge.sandbox.python.inside.in_values import LinkHeap, NoData, read, write_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LINK = "MOOT_LINK"
NEW = b"n"
WORDS = 2000
PLAIN_BASES = (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)
WAYS = (
    *("eq", "ne", "lt", "le", "gt", "ge", "bool", "len", "hash", "contains", "call", "iter", "next", "reversed"),
    *("getitem", "setitem", "delitem", "enter", "exit", "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod"),
    *("pow", "matmul", "and", "or", "xor", "lshift", "rshift", "neg", "pos", "abs", "invert", "round", "radd", "rsub"),
    *("rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rmatmul", "rand", "ror", "rxor", "iadd", "isub", "imul"),
    *("itruediv", "ior", "iand", "ixor", "int", "float", "index", "format", "bytes"),
)
FUNCTIONS = (FunctionType, BuiltinFunctionType, BuiltinMethodType, MethodType)


def main() -> int:
    import marshal

    spec_path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spec.bin")
    with open(spec_path, "rb") as file:
        spec = marshal.load(file)
    return run(spec)


def run(spec: dict[str, Any]) -> int:
    """Start a process with the code on request; end when no more requests can come."""
    own = [sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "moot"]
    control = _socket.socket(fileno=int(os.environ.pop(LINK)))
    os.set_inheritable(control.fileno(), False)
    # The first one is started in advance: it is ready when the tests are.
    child, here = _start(control, spec, own)
    status = 0
    while control.recv(1) == NEW:
        if here is None:
            status = _end(child)
            child, here = _start(control, spec, own)
        handles = here.fileno().to_bytes(4, sys.byteorder)
        control.sendmsg([status.to_bytes(4, "big", signed=True)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
        here.close()
        here = None
    _end(child)
    return 0


def _start(control: Any, spec: dict[str, Any], own: list[ModuleType]) -> tuple[int, Any]:
    """A process with the code, and the end of its socket to hand over."""
    here, there = _socket.socketpair()
    child = os.fork()
    if child == 0:
        control.close()
        here.close()
        os.setsid()
        os._exit(_answer(there, spec, own))
    there.close()
    return child, here


def _end(child: int) -> int:
    try:
        os.killpg(child, signal.SIGKILL)
    except OSError:
        status = 0
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except OSError:
        status = 0
    return status


def _answer(link: Any, spec: dict[str, Any], own: list[ModuleType]) -> int:
    root = os.getcwd()
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [place for place in sys.path if os.path.abspath(place or ".") != here]
    front = [os.path.normpath(os.path.join(root, folder)) for folder in spec["front"]]
    sys.path[:0] = front
    sys.path += [os.path.join(root, folder) for folder in spec["back"]]
    os.environ["PYTHONPATH"] = os.pathsep.join(front)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return WorkerAnswers(link, spec, own).serve()


class LinkEnded(Exception):
    """No more requests."""


class WorkerAnswers:
    def __init__(self, link: Any, spec: dict[str, Any], own: list[ModuleType]) -> None:
        self._link, self._own = link, own
        self._setting = ScriptSetting(spec["modules"], spec["entry"], None, None)
        self._code = frozenset(spec["names"])
        self._heap = LinkHeap(2, self._tell, self._meet)
        self._objects: dict[int, object] = {}
        self._numbers: dict[int, int] = {}
        self._next = 1
        self._classes: dict[int, tuple[type, int]] = {}
        self._news: list[Any] = []
        self._calls: dict[int, Any] = {}
        self._main, self._busy = _thread.get_ident(), False

    def serve(self) -> int:
        try:
            while True:
                asked = self._receive()
                self._busy = True
                told = self._answer_request(asked)
                self._busy = False
                self._send(told)
        except (LinkEnded, OSError):
            return 0

    def _receive(self) -> Any:
        data = _exactly(self._link, int.from_bytes(_exactly(self._link, 4), "big"))
        return read(data.decode())

    def _send(self, told: list[Any]) -> None:
        data = write_message(told).encode()
        self._link.sendall(len(data).to_bytes(4, "big") + data)

    def _answer_request(self, asked: Any) -> list[Any]:
        word, target, rest, changes, unused, freed = asked
        for number in freed:
            self._numbers.pop(id(self._objects.pop(number, None)), None)
        self._heap.let_go(unused)
        self._heap.apply(changes)
        usual, heard = (sys.stdout, sys.stderr), (io.StringIO(), io.StringIO())
        sys.stdout, sys.stderr = heard
        try:
            value = self._did(word, target, rest)
            said = ["ok", self._heap.tell(value)]
        except (LinkEnded, OSError) as problem:
            if isinstance(problem, LinkEnded) or self._link.fileno() < 0:
                raise
            said = ["raise", self._problem(problem)]
        except BaseException as problem:
            said = ["raise", self._problem(problem)]
        finally:
            sys.stdout, sys.stderr = usual
        changed = self._changes()
        news, self._news = self._news, []
        self._heap.settle()
        return [*said, changed, news, *(each.getvalue() for each in heard)]

    def _changes(self) -> list[Any]:
        try:
            return self._heap.changes()
        except BaseException:
            return []

    def _did(self, word: str, target: Any, rest: list[Any]) -> object:
        if word == "import":
            __import__(target)
            return None
        if word == "all":
            module = sys.modules[target]
            return list(getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]))
        if word == "names":
            return self._setting.names(frozenset(rest))
        if word == "candidate":
            return self._setting.candidate()
        if word == "pin":
            self._heap.pin()
            return None
        if word == "forget":
            self._heap.forget()
            return read_peak()
        on, given = self._heap.meet(target), [self._heap.meet(each) for each in rest]
        self._heap.settle()
        return _operate(word, on, given)

    def ask(self, number: int, args: Any, options: Any) -> object:
        """Call a function of the test, and answer its requests meanwhile."""
        if _thread.get_ident() != self._main or not self._busy:
            raise RuntimeError("a function of the test can be called only while the test waits for this thread")
        told = [self._heap.tell(args), self._heap.tell(tuple(options.items()))]
        changed, news, self._news = self._changes(), self._news, []
        self._heap.settle()
        self._send(["call", [number, *told], changed, news, "", ""])
        while True:
            asked = self._receive()
            if asked[0] not in ("return", "throw"):
                self._send(self._answer_request(asked))
                continue
            word, value, _, changes, unused, _ = asked
            self._heap.let_go(unused)
            self._heap.apply(changes)
            if word == "throw":
                raise _builtin_error(value[0])(*[self._heap.meet(each) for each in value[1]])
            return self._heap.meet(value)

    def _tell(self, value: Any, heap: LinkHeap) -> Any:
        """Encode what is not data: a class, an error, a named tuple, a part of the library; all else gets a number."""
        kind = type(value)
        if isinstance(value, ModuleType):
            return ["module", value.__name__] if value.__name__ in self._code else ["foreign", str(value.__name__)]
        if isinstance(value, type):
            return ["class", self._class(value)]
        if isinstance(value, BaseException):
            return self._problem(value)
        for base in PLAIN_BASES:
            if base in kind.__mro__:
                return self._as_base(value, kind, base, heap)
        return ["object", self._number(value), self._class(kind), isinstance(value, FUNCTIONS)]

    def _as_base(self, value: Any, kind: type, base: type, heap: LinkHeap) -> Any:
        fields = getattr(kind, "_fields", None)
        plain = _base_value(value, base)
        if base is tuple and type(fields) is tuple and all(type(name) is str for name in fields):
            return ["fields", self._class(kind), list(fields), [heap.tell(each) for each in plain]]
        told = heap.tell(plain)
        return ["sub", self._class(kind), self._number(value), told]

    def _number(self, value: object) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number, self._next = self._next, self._next + 1
            self._objects[number] = value
            self._numbers[id(value)] = number
        return number

    def _class(self, kind: type) -> int:
        known = self._classes.get(id(kind))
        if known is not None:
            return known[1]
        number = self._number(kind)
        self._classes[id(kind)] = (kind, number)
        bases = [self._class(base) for base in kind.__bases__ if base is not object]
        plain = any(base in kind.__mro__ for base in PLAIN_BASES)
        own = [name for name in WAYS if _is_own(kind, f"__{name}__")]
        self._news.append([number, str(kind.__module__), str(kind.__name__), bases, own, plain])
        return number

    def _problem(self, problem: BaseException) -> Any:
        """An error as data: its class, message and content."""
        kind = type(problem)
        try:
            said = str(problem)
        except BaseException:
            said = ""
        args = [self._data(each) for each in problem.args]
        held = {str(name): self._data(each) for name, each in vars(problem).items() if not name.startswith("__")}
        trace = _trace(problem)
        cause = self._problem(problem.__cause__) if problem.__cause__ is not None else None
        return ["error", self._class(kind), args, held, said[:20000], trace, cause]

    def _data(self, value: object) -> Any:
        try:
            return self._heap.tell(value)
        except Exception:
            return type(value).__name__

    def _meet(self, told: list[Any], heap: LinkHeap) -> object:
        if told[0] == "object":
            return self._objects[told[1]]
        if told[0] == "of":
            return getattr(_import(told[1]), told[2])
        if told[0] == "calls":
            number = told[1]
            if number not in self._calls:

                def call(*args: Any, **options: Any) -> object:
                    return self.ask(number, args, options)

                call.__name__ = call.__qualname__ = told[2]
                self._calls[number] = call
            return self._calls[number]
        if told[0] == "module":
            return _import(told[1])
        raise NoData(str(told[0]))


def _trace(problem: BaseException) -> str:
    import traceback

    own, frames = _trace.__code__.co_filename, problem.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == own:
        frames = frames.tb_next
    return "".join(traceback.format_list(traceback.extract_tb(frames)))[-WORDS:]


def _import(name: str) -> Any:
    __import__(name)
    return sys.modules[name]


def _builtin_error(name: Any) -> Any:
    import builtins

    kind = getattr(builtins, str(name), RuntimeError)
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else RuntimeError


def _operate(word: str, on: Any, given: list[Any]) -> object:
    import operator

    if word == "call":
        return on(*given[0], **dict(given[1]))
    if word == "get":
        return getattr(on, given[0])
    simple = {
        "set": setattr, "delete": delattr, "iter": iter, "next": next, "len": len, "repr": repr, "str": str, "dir": dir,
        "format": format, "abs": abs, "round": round, "int": int, "float": float, "bytes": bytes, "divmod": divmod,
        "reversed": reversed, "pow": pow,
    }  # fmt: skip
    if word in simple:
        return simple[word](on, *given)  # type: ignore[operator]
    if word == "enter":
        return type(on).__enter__(on)
    if word == "exit":
        return type(on).__exit__(on, *given)
    if word.startswith("r:"):
        return getattr(operator, word[2:])(given[0], on)
    return getattr(operator, word)(on, *given)


def _is_own(kind: type, name: str) -> bool:
    """Whether a class defines this method itself, beyond its builtin bases."""
    for base in kind.__mro__:
        if base is object or base in PLAIN_BASES:
            return False
        if name in vars(base):
            return True
    return False


def _base_value(value: Any, base: Any) -> Any:
    """The content of a value, read by the builtin class and not by its own methods."""
    if base in (int, float):
        return base.__int__(value) if base is int else base.__float__(value)
    if base is str:
        return str.__str__(value)
    if base is complex:
        return complex(complex.__getattribute__(value, "real"), complex.__getattribute__(value, "imag"))
    if base is dict:
        return dict(dict.items(value))
    if base is bytes:
        return bytes.__getitem__(value, slice(None))
    return base(base.__iter__(value))


def _exactly(link: Any, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = link.recv(min(count - len(parts), 1 << 20))
        if not part:
            raise LinkEnded
        parts += part
    return bytes(parts)


if __name__ == "__main__":
    os._exit(main())
