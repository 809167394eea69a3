"""The team behind its port: what a scan says, and what a repair may claim."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import code, repaired, rules, scanned

from moot.core.findings import fingerprint, locate
from moot.core.ports import Scanner
from moot.core.types import Code, Language, SourceFile
from moot.scan import StaticTeam

LANGUAGES: tuple[Language, ...] = ("python", "javascript", "typescript", "go")
FLAWED: dict[Language, str] = {
    "python": "def f(x):\n    eval(x)\n",
    "javascript": "function f(x) {\n  eval(x);\n}\n",
    "typescript": "function f(x: string) {\n  eval(x);\n}\n",
    "go": 'package a\n\nimport "unsafe"\n\nfunc f() {\n\tp := unsafe.Pointer(nil)\n}\n',
}
FIXES = {"injection": ("Use ast.literal_eval", "Use JSON.parse"), "overflow": ("Use slices",)}


def test_the_team_fits_the_port() -> None:
    team: Scanner = StaticTeam()
    assert team.scan(Code(files=())).findings == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_finding_says_what_where_and_what_to_do(language: Language) -> None:
    given = code(language, FLAWED[language])
    (finding,) = StaticTeam().scan(given).findings
    line = FLAWED[language].splitlines()[finding.line - 1]
    assert (finding.evidence, finding.id, finding.source) == (line.strip(), "", "scan")
    assert line[finding.column - 1 :].startswith(("eval", "unsafe"))
    assert finding.fingerprint == fingerprint(finding.category, finding.file, finding.evidence)
    assert locate(given, finding.evidence) == (given.files[0], finding.line)
    assert finding.fix.startswith(FIXES[finding.category]) and finding.exploit and finding.cwe
    assert finding.confidence is not None and 0 < finding.confidence <= 1


def test_identical_lines_have_their_own_prints() -> None:
    marks = [f.fingerprint for f in scanned("python", "eval(x)\neval(x)\n").findings]
    assert len(set(marks)) == 2


@pytest.mark.parametrize("text", ["def f(:\n    pass\neval(x)\n", "eval(x)\nx = (1,\n"])
def test_a_file_that_does_not_parse_is_never_clean(text: str) -> None:
    scan = scanned("python", text)
    assert [gap.file for gap in scan.not_analysed] == ["a.py"]
    assert scan.not_analysed[0].line >= 1 and "syntax error" in scan.not_analysed[0].why


def test_what_did_parse_is_still_looked_at() -> None:
    assert rules("python", "eval(x)\n\n\ndef f(:\n    pass\n") == ["python-eval"]


def test_edge_cases_and_stress() -> None:
    languages: tuple[Language, ...] = ("go", "python", "go")
    files = tuple(SourceFile(path=f"a{n}", language=language, text="") for n, language in enumerate(languages))
    scan = StaticTeam().scan(Code(files=files))
    assert [case.id for case in scan.edge_cases] == [f"EDGE-{n:03}" for n in range(1, 6)]
    for case, word in zip(scan.edge_cases, ("nil", "None", "empty", "huge", "Unicode"), strict=True):
        assert word in case.description
    assert [(s.id, "1000 concurrent" in s.description) for s in scan.stress_scenarios] == [("STRESS-001", True)]
    assert "undefined" in scanned("typescript", "").edge_cases[0].description


def test_missing_validation_is_a_hint_and_no_finding() -> None:
    scan = scanned("python", "def f(request):\n    return request.args['x']\n")
    assert scan.findings == () and [hint.rule for hint in scan.hints] == ["no-validation"]
    checked = scanned("python", "def f(request):\n    return validate(request.args['x'])\n")
    assert checked.hints == ()
    # A word in a comment or a string is no validation.
    said = scanned("python", "def f(request):\n    # validate\n    'sanitize()'\n    return request.args['x']\n")
    assert len(said.hints) == 1


PUBLIC: list[tuple[Language, str, tuple[str, ...]]] = [
    (
        "python",
        "import os\nA = 1\n_b = 2\nc, d = 3, 4\ndef f(): pass\n@wraps\nasync def g(): pass\ndef _h(): pass\n"
        "class K:\n    x = 1\n    def m(self): pass\n    def _n(self): pass\n    @property\n    def p(self): pass\n",
        ("A", "c", "d", "f", "g", "K", "K.m", "K.p"),
    ),
    (
        "javascript",
        "const x = require('x');\nconst a = 1, b = 2;\nfunction f() {}\n"
        "export class K { constructor() {} m() {} #p() {} }\n"
        "export { a as z };\nmodule.exports = { f, y: a };\nexports.w = 1;\n",
        ("a", "b", "f", "K", "K.m", "z", "y", "w"),
    ),
    (
        "typescript",
        "export interface I { a: string }\nexport const f = () => 1;\nexport default function g() {}\n",
        ("I", "f", "g"),
    ),
    (
        "go",
        "package a\ntype T struct{}\ntype u struct{}\nvar V, w = 1, 2\nconst C = 1\nfunc F() {}\nfunc g() {}\n"
        "func (t *T) M() {}\nfunc (t *T) n() {}\n",
        ("T", "V", "C", "F", "g", "T.M"),
    ),
]


@pytest.mark.parametrize(("language", "text", "names"), PUBLIC)
def test_public_names(language: Language, text: str, names: tuple[str, ...]) -> None:
    (found,) = scanned(language, text).public_names.values()
    assert found == names


def test_exactly_the_given_prints_are_answered() -> None:
    team, given = StaticTeam(), code("python", "import yaml\nyaml.load(a)\neval(x)()\npassword = 'hunter2!'\n")
    marks = [f.fingerprint for f in team.scan(given).findings]
    repair = team.repair(given, [marks[0], marks[2], "unknown"])
    assert set(repair.fixed) == {marks[0]} and set(repair.left) == {marks[2], "unknown"}
    assert "eval(x)()" in repair.texts["a.py"]
    assert team.repair(given, []).texts == {}


MENDABLE = "def read_value(x):\n    return eval(x)\n\n\n"
NOT_MENDABLE = "def evaluate(x):\n    return eval(x)\n\n\n"


@pytest.mark.parametrize("text", [MENDABLE + NOT_MENDABLE, NOT_MENDABLE + MENDABLE])
def test_nothing_is_claimed_that_still_stands(text: str) -> None:
    """Of two identical lines one can be mended and one cannot: the print that stands is the one that is left."""
    after, repair = repaired("python", text)
    standing = {f.fingerprint for f in scanned("python", after).findings}
    assert after.count("literal_eval") == 1
    assert set(repair.left) == standing and not standing & set(repair.fixed) and len(repair.fixed) == 1


def test_one_of_two_identical_lines_cannot_be_asked_for_alone() -> None:
    team, given = StaticTeam(), code("python", "import yaml\nyaml.load(x)\nyaml.load(x)\n")
    first = team.scan(given).findings[0].fingerprint
    repair = team.repair(given, [first])
    assert set(repair.fixed) == {first}
    after = given.with_texts(repair.texts)
    assert first not in {f.fingerprint for f in team.scan(after).findings}


def test_only_changed_files_are_returned() -> None:
    given = Code(
        files=(
            SourceFile(path="a.py", language="python", text="import yaml\nyaml.load(x)\n"),
            SourceFile(path="b.py", language="python", text="print(1)\n"),
        )
    )
    team = StaticTeam()
    repair = team.repair(given, [f.fingerprint for f in team.scan(given).findings])
    assert list(repair.texts) == ["a.py"]


def test_two_flaws_on_one_line_are_both_mended() -> None:
    after, repair = repaired("python", "import yaml\nx = yaml.load(a), yaml.load(b)\n")
    assert (after, repair.left) == ("import yaml\nx = yaml.safe_load(a), yaml.safe_load(b)\n", {})
    assert len(repair.fixed) == 2


def seconds(work: Callable[[], object]) -> float:
    """Of the processor, so that a busy machine does not matter; only ever compared with another such figure."""
    start = time.process_time()
    work()
    return time.process_time() - start


def test_a_text_is_read_once() -> None:
    team, given = StaticTeam(), code("python", "x = 1\n" * 30_000)
    first = seconds(lambda: team.scan(given))
    assert seconds(lambda: [team.scan(given) for _ in range(50)]) < first


SNIPPETS = st.sampled_from(
    [
        *(
            "eval(",
            "x",
            ")",
            "(",
            "'",
            '"',
            '"""',
            "f'{",
            "}",
            "`${",
            "\n",
            "\r\n",
            "\t",
            "    ",
            "\\",
            "{{",
            "}}",
            "?",
            ", ",
        ),
        *(
            "cur.execute(",
            "SELECT * FROM t WHERE a = ",
            " + ",
            "%",
            " % ",
            ".format(",
            "q += ",
            "import os\n",
            "os.system(",
        ),
        *(
            "def f(a):",
            "func f() error {",
            "x, _ := g()",
            "_ = g()",
            "db.Query(",
            "fmt.Sprintf(",
            "import (",
            "go func() {",
        ),
        *("\0", "\ufeff", "é", "😀", "el.innerHTML = ", "=> {", "class A {", "password = ", "yaml.load(", "shell=True"),
        *("subprocess.run(", "exec(", "require('child_process')", "//", "#"),
    ]
)


@settings(max_examples=150)
@given(st.sampled_from(LANGUAGES), st.text(max_size=200) | st.lists(SNIPPETS, max_size=40).map("".join))
def test_any_text_is_scanned_and_repaired_without_a_crash(language: Language, text: str) -> None:
    after, repair = repaired(language, text)
    before = scanned(language, text)
    assert {f.fingerprint for f in before.findings} == {*repair.fixed, *repair.left}
    assert (after == text) == (not repair.fixed)
    assert not set(repair.fixed) & {f.fingerprint for f in scanned(language, after).findings}
    for finding in (*before.findings, *before.hints):
        assert finding.line >= 1 and finding.column >= 1
        finding.model_dump_json()


DEEP = [
    "(" * 12_500,
    "[" * 12_500,
    "{" * 12_500,
    "'" * 5_001,
    '"' * 5_001,
    "`" * 5_001,
    "eval(" * 5_000,
    "x" + ".a" * 12_500,
    "x = " + "a + " * 12_500 + "1",
    "x = " + "(" * 5_000 + "1" + ")" * 5_000,
    "x = f(" * 2_500 + ")" * 2_500,
    "cur.execute('SELECT ' + " * 1_250,
    "cur.execute('SELECT * FROM t WHERE a = ' + " + "b + " * 12_500 + "c)",
    "a = a + a\n" * 2_000 + "eval(a)\n",
    "It was (not) the best of 'times', we'd say.\n" * 1_250,
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", DEEP, ids=range(len(DEEP)))
def test_deep_and_odd_code_is_no_trouble(language: Language, text: str) -> None:
    quarter = text[: len(text) // 4]
    assert seconds(lambda: scanned(language, text)) < 4 * 6 * seconds(lambda: scanned(language, quarter)) + 0.5


BLOCKS: dict[Language, str] = {
    "python": "def f{n}(a):\n    c = a.get('k') + g(a)\n    cur.execute('SELECT ?', (c,))\n    return h(c)\n\n\n",
    "javascript": "function f{n}(a) {{\n  const c = a.k + g(a);\n  db.query('SELECT ?', [c]);\n  return c;\n}}\n\n",
    "typescript": "function f{n}(a: A): C {{\n  const c = a.get('k') + g(a);\n  return h(c);\n}}\n\n",
    "go": 'func f{n}(a A) C {{\n\tc := a.Get("k") + g(a)\n\tdb.Query("SELECT ?", c)\n\treturn h(c)\n}}\n\n',
}


def big(language: Language) -> str:
    block = BLOCKS[language]
    return "".join(block.format(n=n) for n in range(400_000 // len(block)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_time_grows_no_faster_than_the_file(language: Language) -> None:
    text = big(language)
    short = text[: text.index("\n", len(text) // 8) + 1]
    assert scanned(language, text).findings == ()
    assert seconds(lambda: scanned(language, text)) < 8 * 4 * seconds(lambda: scanned(language, short))


def test_a_file_full_of_flaws_says_that_not_all_are_listed() -> None:
    scan = scanned("python", "eval(x)\n" * 5_000)
    assert len(scan.findings) == 500 and "500" in scan.not_analysed[0].why
