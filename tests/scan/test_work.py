"""The scanner's work grows with the file, not with its square. Work is counted; no clock is asked."""

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from itertools import count

import pytest

from moot.core.types import Code, Language, Scan, SourceFile
from moot.scan import StaticTeam, syntax
from moot.scan.engine import ir
from moot.scan.engine.frontends import lower
from moot.scan.engine.machine import Machine
from moot.scan.engine.queries import is_statement
from moot.scan.go import context as golang_context
from moot.scan.go import exprs as golang_exprs
from moot.scan.go import habits as golang_habits
from moot.scan.go import locks as golang_locks
from moot.scan.go import program as golang_program
from moot.scan.go import races as golang_races
from moot.scan.go import secrets as golang_secrets
from moot.scan.go.checks import CHECKS
from moot.scan.javascript import classes as javascript_classes
from moot.scan.javascript import exprs as javascript_exprs
from moot.scan.javascript import frontend as javascript
from moot.scan.javascript import reader as javascript_reader
from moot.scan.javascript.words import MAX_CHARACTERS, _characters
from moot.scan.python import reader as python_reader
from moot.scan.rules import access
from moot.scan.rules.when import is_about_password

PATHS: dict[Language, str] = {"javascript": "f.js", "go": "f.go", "python": "f.py", "typescript": "f.ts"}


def scan(language: Language, text: str) -> Scan:
    return StaticTeam().scan(Code(files=(SourceFile(path=PATHS[language], language=language, text=text),)))


class Pieces:
    """Stands for the parser: it reads to the end of what it is given, then from the start again."""

    root_node = None

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.again = b""

    def parse(self, piece):  # type: ignore[no-untyped-def]
        while part := piece(sum(map(len, self.pieces)), None):
            self.pieces.append(part)
        self.again = piece(0, None)
        return self


@pytest.mark.parametrize("shift", range(4))
def test_the_parser_gets_whole_characters_until_it_is_stopped(shift: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks for the rest of half a character; where it was stopped right there, that ended the process."""
    ticks = count()
    monkeypatch.setattr(syntax, "thread_time", lambda: next(ticks) / 50)
    parser, data = Pieces(), ("x" * shift + "é漢𝕏" * 9000).encode()
    assert syntax._root(parser, data) is None  # type: ignore[arg-type]
    assert len(parser.pieces) > 3 and len(b"".join(parser.pieces)) < len(data)
    assert "".join(piece.decode() for piece in parser.pieces).encode() == data[: sum(map(len, parser.pieces))]
    assert parser.again == b""


def test_a_path_that_is_joined_of_nothing_is_read() -> None:
    text = 'package p\nimport "path"\nfunc f() { path.Join(); path.Join("a"); path.Clean() }\n'
    assert scan("go", text).not_analysed == ()


@pytest.mark.parametrize("blank", ["\n", " ", "\t\n", "(\n", "--\n", "-- \n\n", "\n("])
def test_blank_texts_of_any_length_are_no_statements(blank: str) -> None:
    assert not is_statement(blank * 30_000 + "x")
    assert not is_statement("-- " + blank * 30_000 + "x")


@pytest.mark.parametrize(
    "text",
    ["select 1", " \n SELECT a", "(select 1", "\n( \n with a as", "-- all\nselect 1", "-- a\n\n  (\n delete from t",
     " -- a\n\n\twhere x"],
)  # fmt: skip
def test_statements_begin_at_once_or_below_a_remark(text: str) -> None:
    assert is_statement(text)


@pytest.mark.parametrize("text", ["selected", "a\nselect 1", "-- select 1", "((select 1", "-- a\nx select 1", ""])
def test_other_texts_are_no_statements(text: str) -> None:
    assert not is_statement(text)


@pytest.mark.parametrize("text", ["PassWord", "a pwd = 1", "my_pwd", "user_pw", "pw", "x pw_hash", "Credentials"])
def test_words_for_passwords(text: str) -> None:
    assert is_about_password(text)


@pytest.mark.parametrize("text", ["bypass", "mypwdx", "xpw", "pwn", "a_pw b", "spw_"])
def test_words_for_other_things(text: str) -> None:
    assert not is_about_password(text)


class Body(str):
    """A text that counts how often it is searched."""

    searched = 0

    def __contains__(self, part: object) -> bool:
        type(self).searched += 1
        return str.__contains__(self, part)  # type: ignore[operator]


def test_of_a_long_pattern_only_the_first_characters_are_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Body, "searched", 0)
    assert _characters(Body("ab" * 5000)) == [] and Body.searched <= MAX_CHARACTERS
    assert _characters(r"[\n'<]") == ["\n", "'", "<"]
    assert _characters("'") == ["'"] and _characters(".") == []


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_what_is_written_to_is_known_without_a_search_from_the_top(language: Language) -> None:
    """`Node.parent` walks down from the root: over all statements before this one, each time."""
    text = "let a = [];\na[i] = 1; a[j]++; a[k] += 2; x = a[l];\n@d() export class B {}\nclass C {}\n"
    told = repr(lower(syntax.parse(PATHS[language], language, text)))
    assert told.count("Opaque(") == 3  # only places that are written to are blurred
    assert told.count("id='d'") == 1
    for module in (javascript, javascript_classes, javascript_exprs, javascript_reader):
        assert ".parent" not in inspect.getsource(module)


def go_methods(count: int) -> str:
    uses = "".join(f"func (c *C) M{n}() {{ c.n = {n}; c.M0() }}\n" for n in range(count))
    return f"package p\ntype C struct {{ n int }}\n{uses}"


def counted(monkeypatch: pytest.MonkeyPatch, name: str, *places: object) -> list[object]:
    """What a function of these modules is called with from now on; it goes on doing its work."""
    given: list[object] = []

    def seen(act: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            given.append(arguments[-1])
            return act(*arguments)

        return call

    for place in places:
        monkeypatch.setattr(place, name, seen(getattr(place, name)))
    return given


def read_go(text: str) -> ir.Module:
    module = lower(syntax.parse("f.go", "go", text))
    assert module is not None
    return module


def test_the_fields_of_a_type_are_read_once_however_many_methods_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = counted(monkeypatch, "_fields", golang_program)
    methods = counted(monkeypatch, "_methods", golang_program)
    scan("go", go_methods(60))
    assert len(fields) == 1 and len(methods) <= 1


def test_objects_made_without_values_do_not_read_their_class(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch, "fields", Machine)
    scan("go", go_methods(20))
    assert asked == []


def test_a_go_file_is_walked_once_for_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    module = read_go(go_methods(5))
    bodies = [node.body for node in golang_program.inside(module.body) if isinstance(node, ir.Function)]
    whole = counted(monkeypatch, "inside", golang_program, golang_habits, golang_context, golang_races)
    within = counted(monkeypatch, "within", golang_program, golang_context, golang_locks, golang_races, golang_secrets)
    program = golang_program.read(module)
    for check in CHECKS:
        list(check(program))
    assert sum(node is module.body for node in whole) == 1
    assert [sum(node is body for node in within) for body in bodies] == [1] * 5


def test_walks_skip_only_places() -> None:
    """They leave out the first part of every node but these two: it must be the place."""
    nodes = [kind for kind in vars(ir).values() if isinstance(kind, type) and issubclass(kind, tuple)]
    unplaced = {kind for kind in nodes if getattr(kind, "_fields", ("",))[0] != "at"}
    assert unplaced == golang_program.UNPLACED - {tuple} | {ir.Module}


@pytest.mark.parametrize(
    "text",
    [
        "func f() (" + "x, " * 900 + "x int) { return }\n",
        "func f(" + "x int, " * 900 + "y int) { return }\n",
        "func f() { g(" + "x, " * 900 + "x) }\n",
        "func f() " + "{" * 30 + "}" * 30 + "\n" + "func g() { {} }\n" * 900,
    ],
)
def test_what_a_go_file_has_beyond_its_share_is_said_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang_exprs.GoReader, "most_made", 300)
    monkeypatch.setattr(golang_exprs.GoReader, "most_statements", 300)
    module = read_go("package p\n" + text)
    made = sum(1 for _ in golang_program.inside(module.body))
    assert made < 3000
    assert [gap.why for gap in module.gaps if "the rest was not analysed" in gap.why] != []
    assert len(module.gaps) == 1


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "x\n" * 900),
        ("python", "f(" + "x, " * 900 + "x)\n"),
        ("python", "a = [" + "x, " * 900 + "]\n"),
        ("javascript", "f(" + "x, " * 900 + "x);\n"),
        ("javascript", "x;\n" * 900),
        ("typescript", "let a = [" + "x, " * 900 + "];\n"),
    ],
)
def test_other_files_have_their_share_too(language: Language, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for reader in (python_reader.PythonReader, javascript_reader.JavaScriptReader):
        monkeypatch.setattr(reader, "most_made", 300)
        monkeypatch.setattr(reader, "most_statements", 300)
    module = lower(syntax.parse(PATHS[language], language, text))
    assert module is not None
    assert repr(module.body).count("Name(") <= 301
    assert ["the rest was not analysed" in gap.why for gap in module.gaps] == [True]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (access.ROUTES, "@" + "a" * 100_000),
        (access.ROUTES, "@" + "a." * 50_000),
        (access.FOR_ALL_PYTHON, "FastAPI(" * 20_000),
        (access.FOR_ALL_SCRIPTS, ".use(" * 20_000),
    ],
)
def test_patterns_of_routes_go_over_any_text_once(pattern: re.Pattern[str], text: str) -> None:
    """With the square of the length, each of these takes minutes."""
    assert pattern.search(text) is None


@pytest.mark.parametrize(
    ("text", "word"),
    [("@app.route('/x')", "route"), ("@ a.b.post(path='/x')", "post"), ("@get(r'/x')", "get"), ("@.put('/')", "put")],
)
def test_routes_are_known_by_their_last_word(text: str, word: str) -> None:
    found = access.ROUTES.match(text)
    assert found is not None and found[1] == word


def test_a_hint_is_sought_in_so_many_chains_only(monkeypatch: pytest.MonkeyPatch) -> None:
    hints = import_module("moot.scan.rules.hints")  # the package has a function of that name
    asked = counted(monkeypatch, "qualify_name", hints)
    monkeypatch.setattr(hints, "MAX_CHAINS", 50)
    assert scan("python", "y = req" + ".a" * 200 + "\n").findings == ()
    assert len(asked) == 50


def test_a_method_that_calls_itself_on_another_of_its_kind_is_read() -> None:
    text = 'package p\n\nimport "sync"\n\ntype t struct {\n\ta sync.Mutex\n\tnext *t\n}\n\n'
    text += "func (x *t) f() {\n\tx.a.Lock()\n\tx.next.f()\n\tx.a.Unlock()\n}\n"
    assert scan("go", text).not_analysed == ()
