"""The scanner's work grows with the file, not with its square. Work is counted; no clock is asked."""

import inspect
import time
from collections.abc import Callable
from importlib import import_module
from itertools import count

import pytest

from moot.core.types import Code, Language, Scan, SourceFile
from moot.scan import StaticTeam, syntax, team
from moot.scan.engine import engine, ir
from moot.scan.engine.frontends import lower
from moot.scan.engine.machine import Machine
from moot.scan.engine.queries import is_statement
from moot.scan.go import context as golang_context
from moot.scan.go import exprs as golang_exprs
from moot.scan.go import habits as golang_habits
from moot.scan.go import locks as golang_locks
from moot.scan.go import program as golang_program
from moot.scan.go import races as golang_races
from moot.scan.go.checks import CHECKS
from moot.scan.javascript import classes as javascript_classes
from moot.scan.javascript import exprs as javascript_exprs
from moot.scan.javascript import frontend as javascript
from moot.scan.javascript import reader as javascript_reader
from moot.scan.javascript.words import MAX_CHARACTERS, _characters
from moot.scan.python import reader as python_reader
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


def test_a_constructor_runs_once_for_all_methods_that_start_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    made = counted(monkeypatch, "_construct", engine)
    methods = "".join(f"    def m{i}(self, x):\n        self.run(x)\n" for i in range(20))
    found = scan("python", f"import os\nclass A:\n    def __init__(self):\n        self.run = os.system\n{methods}")
    assert len(made) == 1
    assert len([f for f in found.findings if f.rule == "python-os-system"]) == 20


def test_a_second_scan_reads_only_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {f"f{i}.py": f"import os\ndef f{i}(x):\n    os.system(x)\n" for i in range(4)}
    code = Code(files=tuple(SourceFile(path=path, language="python", text=text) for path, text in texts.items()))
    scanner = StaticTeam()
    scanner.scan(code)
    read = counted(monkeypatch, "lower", team)
    changed = code.with_texts({"f2.py": "import os\ndef f2(x):\n    os.popen(x)\n"})
    found = scanner.scan(changed)
    assert [source.path for source in read] == ["f2.py"]  # type: ignore[attr-defined]
    assert found == StaticTeam().scan(changed)


def test_a_go_file_is_walked_once_for_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    module = read_go(go_methods(5))
    bodies = [node.body for node in golang_program.inside(module.body) if isinstance(node, ir.Function)]
    whole = counted(monkeypatch, "inside", golang_program, golang_habits, golang_context, golang_races)
    within = counted(monkeypatch, "within", golang_program, golang_context, golang_locks, golang_races)
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


def test_goroutines_of_a_function_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with each other, and each time over the whole function: 15 kB of Go took a minute."""
    compared = counted(monkeypatch, "_changes", golang_races)
    judged = counted(monkeypatch, "_makes_map", golang_races)
    writes = "".join(f"\tgo func() {{ v{i} = {i}; m[{i}] = {i}; w.Done() }}()\n" for i in range(30))
    made = "".join(f"\tv{i} := 0\n" for i in range(30))
    scan("go", f"package p\n\nfunc f() {{\n\tvar w sync.WaitGroup\n\tm := []int{{}}\n{made}{writes}\tw.Wait()\n}}\n")
    assert len(compared) == 30 and len(judged) < 40


@pytest.mark.parametrize("text", ["iv := make([]byte, {})", "iv := make([]byte, 16)\n\trand.Read(iv[{}:{}])",
                                  "iv := make([]byte, 16)\n\tiv[{}] = 1"])  # fmt: skip
def test_numbers_of_any_length_are_read(text: str) -> None:
    """Python refuses to make a number of more than 4,300 digits."""
    made = text.replace("{}", "9" * 5_000)
    scan("go", f'package p\n\nimport "crypto/cipher"\n\nfunc f() {{\n\t{made}\n\tcipher.NewCTR(b, iv)\n}}\n')


BLANK = " " * 60_000
CORS = "cors.Options{AllowCredentials: true, "


@pytest.mark.parametrize(
    "text",
    [
        f"cipher.NewCTR({BLANK}b(), iv)",
        f"iv := make([]byte,{BLANK}1,\n\t2)\n\tcipher.NewCTR(b, iv)",
        f"_ = {CORS}AllowOriginFunc: func(o string) bool{BLANK} {{ return x }}}}",
        f"_ = {CORS}X: `{'AllowOriginFunc: func(' * 20_000}`}}",
    ],
)
def test_blanks_and_open_brackets_are_read_once(text: str) -> None:
    began = time.process_time()
    scan("go", f'package p\n\nimport (\n"crypto/cipher"\n"github.com/rs/cors"\n)\n\nfunc f() {{\n\t{text}\n}}\n')
    assert time.process_time() - began < 2


def test_each_compared_value_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once for every code that the file computes."""
    looked = counted(monkeypatch, "scope", syntax.Source)
    made = "".join(f"\ta{i} := m.Sum(nil)\n" for i in range(50))
    compared = "".join(f"\tif x{i} == y{i} {{\n\t}}\n" for i in range(50))
    scan("go", f'package p\n\nimport "crypto/hmac"\n\nfunc f() {{\n\tm := hmac.New(nil, k)\n{made}{compared}}}\n')
    assert len(looked) < 1_000


def test_answers_within_answers_are_judged_without_a_climb() -> None:
    """`Node.parent` walks down from the root: from each of 800 nested calls to the top took the cube of that."""
    began = time.process_time()
    assert scan("javascript", f"{'res.json(err.stack, ' * 800}1{')' * 800};\n").findings
    assert time.process_time() - began < 3
