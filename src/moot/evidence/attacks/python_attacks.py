"""Attacks on a Python function, written as pytest tests."""

import ast
from collections.abc import Iterator, Sequence

from moot.core.types import SourceFile, Vulnerability
from moot.evidence.attacks.payloads import OUTSIDE, OWNED, SECRET, AttackClass, find_class, name_stand_in

TEXTS = frozenset({"", "str", "str | None", "Optional[str]", "Any", "object"})
HARMLESS: dict[str, object] = {
    "int": 1, "float": 1.0, "bool": False, "bytes": b"moot", "list[str]": ["moot"], "dict": {},
}  # fmt: skip
HEAD = f'''import importlib
import inspect
import logging
import os
import signal
import sys

LEVELS = ("debug", "info", "warning", "error", "critical", "exception")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


class Recorder:
    """Stands for a database or a logger: it keeps what it is told."""

    def __init__(self, said):
        self.said = said

    def __getattr__(self, name):
        def call(*given, **named):
            text = str(given[0]) if given else ""
            try:
                text = text % given[1:] if name in LEVELS else text
            except TypeError:
                pass
            self.said.append(text)
            return self

        return call

    def __iter__(self):
        return iter(())


class Ear(logging.Handler):
    def __init__(self, said):
        super().__init__()
        self.said = said

    def emit(self, record):
        self.said.append(record.getMessage())


def fill(value, base, said):
    if value == "<base>":
        return str(base)
    if value == "<recorder>":
        return Recorder(said)
    if isinstance(value, str):
        return value.replace("{{base}}", str(base)).replace("{{made}}", str(base.parent))
    return value


def stop(*_):
    raise TimeoutError


def attack(tmp_path, monkeypatch, capsys, module, function, given, wanted):
    """What can be seen after the call: the answer, what was told, the files, and whether it took long."""
    base = tmp_path / "base"
    (base / "sub").mkdir(parents=True)
    (tmp_path / "{OUTSIDE}").write_text("{SECRET}")
    monkeypatch.chdir(base)
    said, slow, answer = [], False, None
    ear = Ear(said)
    logging.getLogger().addHandler(ear)
    logging.getLogger().setLevel(logging.DEBUG)
    given = [fill(value, base, said) for value in given]
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(2)
    try:
        answer = getattr(importlib.import_module(module), function)(*given)
        if inspect.iscoroutine(answer):
            answer.close()
    except TimeoutError:
        slow = True
    except Exception:
        pass
    finally:
        signal.alarm(0)
        logging.getLogger().removeHandler(ear)
    shown = capsys.readouterr().out
    body = getattr(answer, "body", getattr(answer, "data", answer))
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body)
    outside = tmp_path / "{OUTSIDE}"
    harmed = not outside.exists() or outside.read_text() != "{SECRET}"
    return {{
        "leak": "{SECRET}" in text or harmed,
        "made": (tmp_path / "{OWNED}").exists(),
        "shown": any(mark in text for mark in wanted),
        "query": any(mark in entry for entry in said for mark in wanted),
        "line": any(mark in entry for entry in (*said, text, shown) for mark in wanted),
        "slow": slow,
    }}
'''
TEST = """

def test_attack_{id}_{number}(tmp_path, monkeypatch, capsys):
    seen = attack(tmp_path, monkeypatch, capsys, {module!r}, {function!r}, {given!r}, {wanted!r})
    assert not seen[{effect!r}]
"""


def write_attacks(file: SourceFile, findings: Sequence[Vulnerability]) -> tuple[str, tuple[str, ...]]:
    try:
        tree = ast.parse(file.text)
    except (SyntaxError, ValueError):
        return "", ()
    module = file.path.rpartition("/")[2].removesuffix(".py")
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    tests: list[str] = []
    attacked: list[str] = []
    for finding in findings:
        kind = find_class(finding.cwe, "python")
        around = [f for f in functions if f.lineno <= finding.line <= (f.end_lineno or f.lineno)]
        if kind is None or not around or not module.isidentifier():
            continue
        made = list(_write_tests(finding.id, module, around[0], kind))
        tests += made
        attacked += [finding.id] if made else []
    return (HEAD + "".join(tests) if tests else ""), tuple(attacked)


def _write_tests(finding: str, module: str, function: ast.FunctionDef, kind: AttackClass) -> Iterator[str]:
    """The payload goes to each text of the function in turn; the others get harmless values."""
    parameters = list_parameters(function)
    number = 0
    for place, (name, annotation) in enumerate(parameters):
        if not _takes_text(name, annotation, kind):
            continue
        for payload in kind.payloads:
            harmless = [_harmless(*each, kind) for each in parameters]
            given = [payload if index == place else value for index, value in enumerate(harmless)]
            number += 1
            yield TEST.format(
                id=finding.lower().replace("-", "_"),
                number=number,
                module=module,
                function=function.name,
                given=given,
                wanted=kind.marks or (payload,),
                effect=kind.effect,
            )


def list_parameters(function: ast.FunctionDef) -> list[tuple[str, str]]:
    """The arguments that must be given, with their annotations."""
    given = function.args
    needed = [*given.posonlyargs, *given.args]
    needed = needed[: len(needed) - len(given.defaults)]
    return [(each.arg, ast.unparse(each.annotation) if each.annotation else "") for each in needed]


def _takes_text(name: str, annotation: str, kind: AttackClass) -> bool:
    return not name_stand_in(name, kind) and name not in ("self", "cls") and annotation in TEXTS


def _harmless(name: str, annotation: str, kind: AttackClass) -> object:
    return name_stand_in(name, kind) or HARMLESS.get(annotation, "moot")
