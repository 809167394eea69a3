"""Go source in the engine's form: a table of small pieces, and that no text at all breaks the front end."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.scan.engine.ir import Assign, Class, Define, Function, Import, Module
from moot.scan.go.checks import structure
from moot.scan.go.frontend import lower
from moot.scan.syntax import parse


def module_of(text: str) -> Module:
    return lower(parse("app/main.go", "go", text))


def body_of(code: str, imports: str = "") -> tuple[Any, ...]:
    head = "".join(f'import "{path}"\n' for path in imports.split())
    module = module_of(f"package app\n{head}\nfunc run() {{\n{code}\n}}\n")
    assert module.gaps == ()
    return function_of(module).body


def function_of(module: Module) -> Function:
    return next(stmt.function for stmt in module.body if isinstance(stmt, Define))


def told(node: Any) -> str:
    """A node without its places, short enough for a table."""
    if isinstance(node, tuple) and hasattr(node, "_fields"):
        parts = [told(getattr(node, name)) for name, default in _filled(node)]
        return f"{type(node).__name__}({', '.join(parts)})"
    if isinstance(node, tuple):
        return f"[{', '.join(told(part) for part in node)}]"
    return repr(node)


def _filled(node: Any) -> list[tuple[str, Any]]:
    defaults = node._field_defaults
    return [
        (name, getattr(node, name))
        for name in node._fields
        if name not in ("at", "local") and not (name in defaults and getattr(node, name) == defaults[name])
    ]


TABLE = {
    "a := 1": "[Assign([Name('a')], Const(1))]",
    "a, b := b, a": "[Assign([Many('tuple', [Name('a'), Name('b')])], Many('tuple', [Name('b'), Name('a')]))]",
    "a += 2": "[Augment(Name('a'), '+', Const(2))]",
    "a++": "[Augment(Name('a'), '+', Const(1))]",
    'var s string = "x\\n"': "[Assign([Name('s')], Const('x\\n'), Name('string'))]",
    "var p *int": "[Assign([Name('p')], Const(None), Unary('*', Name('int')))]",
    "s := `a\\n`": "[Assign([Name('s')], Const('a\\\\n'))]",
    "c := 'a'": "[Assign([Name('c')], Const(97))]",
    "m := 0x1F | 0o7 | 0b1": "[Assign([Name('m')], Const(31))]",
    "const k = 2 * 3": "[Assign([Name('k')], Const(6))]",
    'q := "a" + b + "c"': "[Assign([Name('q')], Concat([Const('a'), Name('b'), Const('c')], 'plus'))]",
    'q := fmt.Sprintf("x%s%d", a, 3)': (
        "[Assign([Name('q')], Concat([Const('x'), Hole(Name('a'), '%s'), Hole(Const(3), '%d', True)], 'format'))]"
    ),
    "t := &T{A: 1}": "[Assign([Name('t')], Hole(Call(Name('T'), [Keyword('A', Const(1))], True), '&'))]",
    "xs := []int{1, 2}": "[Assign([Name('xs')], Many('list', [Const(1), Const(2)]))]",
    'm := map[string]int{"a": 1}': (
        "[Assign([Name('m')], Table([Entry(Const('a'), Const(1))], "
        "Opaque([Name('string'), Name('int')], 'map_type')))]"
    ),
    "v, ok := m[k]": (
        "[Assign([Name('v')], Item(Name('m'), Name('k'))), Assign([Name('ok')], Compare('in', Name('k'), Name('m')))]"
    ),
    "s := xs[1:n]": "[Assign([Name('s')], Cut(Name('xs'), Const(1), Name('n')))]",
    "b := []byte(s)": "[Assign([Name('b')], Call(Name('[]byte'), [Name('s')]))]",
    "*p = 3": "[Assign([Name('p')], Const(3))]",
    "ch <- v": "[Augment(Name('ch'), '<-', Name('v'))]",
    "v := <-ch": "[Assign([Name('v')], Wait(Name('ch')))]",
    "go f(x)": "[Later('go', Call(Name('f'), [Name('x')]))]",
    "defer f.Close()": "[Later('defer', Call(Attr(Name('f'), 'Close')))]",
    "if a > 1 { f() } else if b { g() }": (
        "[If(Compare('>', Name('a'), Const(1)), [Do(Call(Name('f')))], [If(Name('b'), [Do(Call(Name('g')))])])]"
    ),
    "if allowed[x] { f() }": "[If(Compare('in', Name('x'), Name('allowed')), [Do(Call(Name('f')))])]",
    "for i := 0; i < 3; i++ { f() }": (
        "[Assign([Name('i')], Const(0)), While(Compare('<', Name('i'), Const(3)), [Do(Call(Name('f')))], "
        "[Augment(Name('i'), '+', Const(1))])]"
    ),
    "for _, v := range xs { f(v) }": (
        "[Each(Name('_'), Name('xs'), [Assign([Name('v')], Item(Name('xs'), Opaque([Name('xs')], 'key'))), "
        "Do(Call(Name('f'), [Name('v')]))], True)]"
    ),
    "switch x { case 1, 2: f(); default: g() }": (
        "[Switch(Name('x'), [Case([Const(1), Const(2)], [Do(Call(Name('f')))]), Case([], [Do(Call(Name('g')))])])]"
    ),
    "switch v := x.(type) { case string: f(v) }": (
        "[Assign([Name('v')], Name('x')), Switch(Opaque([Name('x')], 'type'), "
        "[Case([Opaque([Name('string')], 'type')], [Do(Call(Name('f'), [Name('v')]))])])]"
    ),
    "select { case v := <-ch: f(v) }": (
        "[Switch(None, [Case([Opaque('select')], [Assign([Name('v')], Wait(Name('ch'))), "
        "Do(Call(Name('f'), [Name('v')]))])])]"
    ),
    'fmt.Scanln(&name)': (
        "[Do(Call(Attr(Name('fmt'), 'Scanln'), [Hole(Name('name'), '&')])), "
        "Assign([Name('name')], Call(Attr(Name('fmt'), 'Scanln')))]"
    ),
    'var b strings.Builder; b.WriteString(x); s := b.String()': (
        "[Assign([Name('b')], Const(''), Attr(Name('strings'), 'Builder')), Augment(Name('b'), '+', Name('x')), "
        "Assign([Name('s')], Name('b'))]"
    ),
    'ok := strings.HasPrefix(p, base)': (
        "[Assign([Name('ok')], Call(Attr(Name('p'), 'startswith'), [Name('base')]))]"
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", TABLE)
def test_statements_are_told_in_the_form(code: str) -> None:
    assert told(body_of(code, "fmt strings")) == TABLE[code]


def test_constants_count_with_iota() -> None:
    module = module_of("package a\nconst (\n\tA = 1 << iota\n\tB\n\tC\n)\n")
    assert [told(stmt) for stmt in module.body] == [
        "Assign([Name('A')], Const(1))",
        "Assign([Name('B')], Const(2))",
        "Assign([Name('C')], Const(4))",
    ]


def test_imports_have_a_local_name_and_an_origin() -> None:
    module = module_of('package a\nimport (\n\tf "fmt"\n\t"math/rand/v2"\n\t_ "embed"\n\t"gopkg.in/yaml.v3"\n)\n')
    found = [(stmt.local, stmt.origin) for stmt in module.body if isinstance(stmt, Import)]
    assert found == [("f", "fmt"), ("rand", "math/rand/v2"), ("", "embed"), ("yaml", "gopkg.in/yaml.v3")]


def test_methods_stand_in_the_type_of_their_receiver() -> None:
    module = module_of("package a\nfunc (s *S) Do(n int) error { return nil }\ntype S struct{ n int }\n")
    (kind,) = module.body
    assert told(kind).startswith("Class('S', [], [Assign([Name('n')], Opaque('field'), Name('int')), Define(")
    assert isinstance(kind, Class)
    method = kind.body[1]
    assert isinstance(method, Define)
    assert [param.name for param in method.function.params] == ["s", "n"]


def test_places_are_exact() -> None:
    text = 'package a\n\nfunc f() {\n\tx := g("é", 2)\n}\n'
    module = module_of(text)
    stmt = function_of(module).body[0]
    assert isinstance(stmt, Assign)
    call = stmt.value
    assert module.text(call.at) == 'g("é", 2)'
    assert (module.line(call.at[0]), module.column(call.at[0])) == (4, 7)


def test_what_is_not_read_is_said() -> None:
    assert [gap.why for gap in module_of("package a\nfunc f() {\n\tgoto end\nend:\n}\n").gaps] == [
        "goto is not followed"
    ]
    assert [gap.why for gap in module_of("package a\nfunc f( {{{\n").gaps] == ["syntax error"]


@pytest.mark.parametrize("piece", ["(", "[]", "f(", "{", "!", "a+", "func(){", "if a {", "&T{A: ", "a.", "<-", "*"])
def test_deep_nesting_is_a_gap_and_no_crash(piece: str) -> None:
    text = "package a\nfunc f() {\n x = " + piece * 3000 + "\n}"
    source = parse("a.go", "go", text)
    assert lower(source).gaps
    list(structure(source))


PIECES = (
    "func go defer select case range := = <- { } ( ) [ ] . , ; x y f T `b` 'c' 1 0x & * + == if for switch type struct "
    "interface map chan make len append return import package const var // iota nil &x x.y() x[1:] mu.Lock() int8(x) "
    "fmt.Sprintf(x,y) ... func(){}() context.WithCancel(x)"
)
WORDS = st.sampled_from([*PIECES.split(), '"a"', "\n"])


@settings(max_examples=150)
@given(st.lists(WORDS, max_size=60).map(" ".join) | st.text(max_size=200))
def test_any_text_is_lowered_and_checked(text: str) -> None:
    source = parse("a.go", "go", f"package a\n{text}")
    assert lower(source).path == "a.go"
    for match in structure(source):
        assert match.node.end_byte <= len(source.data)
