"""Repairs of what a function puts together step by step: queries, header lines, pages, paths of temporary files."""

import sqlite3
import xml.etree.ElementTree as ET
from contextlib import closing

import pytest
from samples import code, repaired, rules

from moot.core.types import Language
from moot.scan.team import StaticTeam

SEARCH = """import sqlite3

def search(conn: sqlite3.Connection, term, top):
    sql = "SELECT n FROM t WHERE 1=1"
    if term:
        sql += f" AND n LIKE '%{term}%'"
    if top is not None:
        sql += " AND a <= {}".format(top)
    sql += f" ORDER BY a LIMIT {int(9)}"
    return [row[0] for row in conn.execute(sql)]
"""
LISTED = """import sqlite3

def search(conn: sqlite3.Connection, term, top):
    where = []
    if term:
        where.append(f"n LIKE '%{term}%'")
    if top is not None:
        where.append("a <= {}".format(top))
    sql = "SELECT n FROM t"
    if where:
        sql += " WHERE " + " AND ".join(where)
    return [row[0] for row in conn.execute(sql)]
"""


@pytest.mark.parametrize("before", [SEARCH, LISTED])
def test_a_query_built_in_steps_finds_the_same_and_no_more(before: str) -> None:
    after, repair = repaired("python", before)
    assert repair.fixed and not repair.left
    with closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("CREATE TABLE t (n TEXT, a INTEGER)")
        conn.executemany("INSERT INTO t VALUES (?, ?)", [("ann", 1), ("bob", 2), ("anna", 3)])
        old, new = {}, {}  # type: ignore[var-annotated]
        exec(before, old)
        exec(after, new)
        for given in (("", None), ("an", None), ("an", 2), ("", 2)):
            assert new["search"](conn, *given) == old["search"](conn, *given) != []
        attack = "x%' OR '1%'='1"
        assert old["search"](conn, attack, None) != [] == new["search"](conn, attack, None)


STEPS_LEFT = [
    ("def f(n):\n    q = 'SELECT * FROM t'\n    q += f\" WHERE n = '{n}'\"\n    print(q)\n    c.execute(q)",
     "more places"),
    ("def f(n):\n    q = g()\n    q += f\" WHERE n = '{n}'\"\n    c.execute(q)", "several steps"),
    ("def f(n, o):\n    q = 'SELECT * FROM t'\n    q += f' ORDER BY {n}'\n    c.execute(q)", "not a parameter"),
    ("def f(n, params):\n    values, query_values = 1, 2\n    q = 'SELECT * FROM t'\n    q += f\" WHERE n = '{n}'\"\n"
     "    c.execute(q)", "names"),
    ("def f(n):\n    q = 'SELECT * FROM t'\n    if n: q += f\" WHERE n = '{n}'\"\n    c.execute(q)", "line"),
    ("def f(n, w):\n    w.append(f\"n = '{n}'\")\n    q = 'SELECT * FROM t WHERE '\n    q += ' AND '.join(w)\n"
     "    c.execute(q)", "several steps"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "why"), STEPS_LEFT)
def test_a_query_of_which_something_is_not_known_is_left(body: str, why: str) -> None:
    before = f"import sqlite3\n{body}"
    after, repair = repaired("python", before)
    assert after == before and not any("bound" in did for did in repair.fixed.values())


def test_a_percent_sign_that_is_text_is_not_given_to_a_driver_with_percent() -> None:
    body = "def f(c, n):\n    q = \"SELECT * FROM t WHERE a LIKE '5%'\"\n    q += f\" AND n = '{n}'\"\n    c.execute(q)"
    after, repair = repaired("python", f"import psycopg2\n{body}")
    assert after.endswith(body) and repair.left


GO_QUERY = """package p

import (
	"database/sql"
	"fmt"

	_ "{driver}"
)

func f(db *sql.DB, a, b string, n int) (*sql.Rows, error) {{
	q := "SELECT 1 FROM t WHERE a = '" + a + "'"
	if b != "" {{
		q += fmt.Sprintf(" AND b = '%s'", b)
	}}
	q += fmt.Sprintf(" LIMIT %d", n)
	return db.Query(q)
}}
"""


@pytest.mark.parametrize(
    ("driver", "second"),
    [
        ("github.com/lib/pq", 'q += fmt.Sprintf(" AND b = $%d", len(params))'),
        ("github.com/mattn/go-sqlite3", 'q += " AND b = ?"'),
    ],
)
def test_a_query_of_go_keeps_its_values_in_a_slice(driver: str, second: str) -> None:
    after, repair = repaired("go", GO_QUERY.format(driver=driver))
    assert repair.fixed and not repair.left
    assert "\tparams := []any{a}\n" in after and "\t\tparams = append(params, b)\n" in after
    assert second in after and 'q += fmt.Sprintf(" LIMIT %d", n)' in after and "db.Query(q, params...)" in after


SCRIPT = """async function f(pool, name, n) {
  let q = 'SELECT * FROM t WHERE 1 = 1';
  if (name) {
    q += ` AND name = '${name}'`;
  }
  q += ` LIMIT ${Number(n)}`;
  HOW
}
"""
HOWS = [
    ("const [rows] = await pool.query(q);\n  return rows;", "AND name = ?", "params.push(String(name));"),
    ("const { rows } = await pool.query(q);\n  return rows;", "AND name = $${params.length}", "params.push(name);"),
    ("const r = await pool.query(q);\n  return r.rows;", "AND name = $${params.length}", "params.push(name);"),
]


@pytest.mark.parametrize(("how", "place", "added"), HOWS)
def test_the_way_a_result_is_taken_tells_the_driver(how: str, place: str, added: str) -> None:
    after, repair = repaired("javascript", SCRIPT.replace("HOW", how))
    assert repair.fixed and place in after and added in after and "pool.query(q, params)" in after


@pytest.mark.parametrize(
    "how", ["return pool.query(q);", "const [rows] = await sequelize.query(q);", "const all = await pool.query(q);"]
)
def test_a_result_that_any_driver_may_give_tells_nothing(how: str) -> None:
    before = SCRIPT.replace("HOW", how).replace("f(pool", "f(sequelize" if "sequel" in how else "f(pool")
    after, repair = repaired("javascript", before)
    assert after == before and repair.left


def test_the_callback_of_sqlite_stays_the_last_argument() -> None:
    text = "function f(db, id, cb) {\n  db.get(`SELECT * FROM t WHERE id = '${id}'`, cb);\n}\n"
    assert repaired("javascript", text)[0].splitlines()[1] == "  db.get(`SELECT * FROM t WHERE id = ?`, [id], cb);"


GO_LINES = [
    ('log.Printf("hello %s, %d", a, n)', 'log.Printf("hello %s, %d", oneLine(a), n)'),
    ('log.Println("hello "+a, v)', 'log.Println("hello "+oneLine(a), v)'),
    ('log.Print("hello " + a)', 'log.Print("hello " + oneLine(a))'),
    ('log.Printf("hello %s", b)', 'log.Printf("hello %s", oneLine(fmt.Sprintf("%s", b)))'),
    ('log.Printf("hello %v", b)', 'log.Printf("hello %v", oneLine(fmt.Sprint(b)))'),
]
GO_LINES_LEFT = [
    'log.Printf("hello %*s", n, a)',
    'log.Printf("hello %[1]s", a)',
    'log.Printf("%s", a+"\\n")',
    'log.Printf("hello %s", all...)',
    'var s bytes.Buffer\n\tfmt.Fprintf(&s, "\\n%s", a)\n\tlog.Printf("hello %s%s", s.String(), a)',
]
GO_LOG = 'package p\n\nimport "log"\n\nfunc f(a string, b []byte, n int, v any, all ...any) {\n\tLINE\n}\n'


@pytest.mark.parametrize(("before", "after"), GO_LINES)
def test_a_log_of_go_stays_on_one_line(before: str, after: str) -> None:
    mended, repair = repaired("go", GO_LOG.replace("LINE", before))
    assert repair.fixed and f"\t{after}\n" in mended and "func oneLine(text string) string {" in mended


@pytest.mark.parametrize("line", GO_LINES_LEFT)
def test_a_log_of_go_whose_values_are_not_known_is_left(line: str) -> None:
    text = GO_LOG.replace("LINE", line)
    assert repaired("go", text)[0] == text


FOUND: list[tuple[Language, str, str]] = [
    ("go", 'package p\n\nimport (\n\t"log"\n\t"net/http"\n)\n\ntype S struct{ Log *log.Logger }\n\n'
     'func (s *S) F(w http.ResponseWriter, r *http.Request) {\n\ts.Log.Println("from", r.UserAgent())\n}\n',
     "go-log"),
    ("go", 'package p\n\nimport "strings"\n\nfunc f(n, v string) string {\n\tvar b strings.Builder\n'
     '\tb.WriteString("X-" + n + ": " + v + "\\r\\n")\n\treturn b.String()\n}\n', "go-header"),
    ("python", "def f(path, user):\n    line = f'user {user} did'\n    with open(path, 'a') as log_file:\n"
     "        log_file.write(line + '\\n')\n", "python-log"),
    ("python", "import json\nPAGE = '<h1>%s</h1>%d'\ndef f(text):\n    d = json.loads(text)\n"
     "    n = int(d.get('n', 2))\n    return PAGE % (d['name'].strip(), n)\n", "python-response-xss"),
    ("javascript", "function f(db, id, cb) {\n  const q = \"SELECT a FROM t WHERE id = '\" + id + \"'\";\n"
     "  db.get(q, cb);\n}\n",
     "javascript-sql-string"),
    ("javascript", "const fs = require('fs'), os = require('os'), path = require('path');\nfunction f(t) {\n"
     "  const p = path.join(os.tmpdir(), 'a-' + Date.now());\n  fs.writeFileSync(p, t);\n}\n", "javascript-temp-file"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "rule"), FOUND)
def test_a_flaw_in_a_fragment_is_found_and_repaired(language: Language, text: str, rule: str) -> None:
    assert rule in rules(language, text)
    after, repair = repaired(language, text)
    assert repair.fixed and rule not in rules(language, after)


def test_a_value_decoded_by_a_function_of_the_file_is_not_taken_for_cleaned() -> None:
    text = (
        "def app(environ, start_response):\n    name = unquote_name(environ['QUERY_STRING'])\n"
        "    start_response('200 OK', [('Content-Disposition', f'attachment; filename={name}')])\n    return []\n\n"
        "def unquote_name(text):\n    from urllib.parse import unquote_plus\n    return unquote_plus(text)\n"
    )
    assert rules("python", text) == ["python-header"]
    assert "filename={one_line(name)}" in repaired("python", text)[0]


HEAD = (
    "def f(a, b):\n    head = 'HTTP/1.1 302 Found\\r\\n'\n"
    "    head += 'Location: ' + a + '\\r\\n'\n    return head + '\\r\\n'\n"
)


def test_header_lines_built_in_steps_stay_lines() -> None:
    space: dict[str, object] = {}
    exec(repaired("python", HEAD)[0], space)
    assert space["f"]("/x", 1) == "HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n"  # type: ignore[operator]
    assert space["f"]("/x\r\nA: b", 1) == "HTTP/1.1 302 Found\r\nLocation: /x  A: b\r\n\r\n"  # type: ignore[operator]


def test_an_expression_refuses_the_quote_that_would_end_its_value() -> None:
    before = (
        "import xml.etree.ElementTree as ET\n\ndef f(root: ET.Element, name: str):\n"
        "    return root.find(f\"a[@n='{name}']\")\n"
    )
    space: dict[str, object] = {}
    exec(repaired("python", before)[0], space)
    root = ET.fromstring("<r><a n='x'/><a n='y \"z\"'/></r>")
    assert space["f"](root, "x") is root[0] and space["f"](root, 'y "z"') is root[1]  # type: ignore[operator]
    with pytest.raises(ValueError, match="quote"):
        space["f"](root, "x' or '1")  # type: ignore[operator]


ROWS = (
    "function page(rows) {\n  const list = rows.map((row) => `<li>${row.name}</li>`);\n"
    "  return `<ul>${list.join('')}</ul>`;\n}\n"
)
PAGES_LEFT = [
    "function page(list) {\n  return `<ul>${list.join('')}</ul>`;\n}\n",
    "function page(list) {\n  const rows = list.map(toRow);\n  return `<ul>${rows.join('')}</ul>`;\n}\n",
    "function page(n) {\n  return `<ul>${icon(n)}</ul>`;\n}\n",
    "function page(n) {\n  const b = `<b>${n}</b>`;\n  return `<ul>${b}</ul>`;\n}\n",
]


def test_the_values_in_the_rows_of_a_page_are_escaped_and_the_rows_are_not() -> None:
    after, repair = repaired("javascript", ROWS)
    assert repair.fixed and "`<li>${escapeHtml(row.name)}</li>`" in after and "${list.join('')}" in after


@pytest.mark.parametrize("before", PAGES_LEFT)
def test_what_may_be_markup_is_not_escaped(before: str) -> None:
    assert "${escapeHtml(list" not in (after := repaired("javascript", before)[0])
    assert "escapeHtml(rows" not in after and "escapeHtml(icon" not in after and "escapeHtml(b)" not in after


TEMP_LEFT: list[tuple[Language, str]] = [
    ("javascript", "const fs = require('fs'), os = require('os'), path = require('path');\nfunction f(t) {\n"
     "  fs.writeFileSync(path.join(os.tmpdir(), 'a-' + process.pid), t);\n}\n"),
    ("go", 'package p\n\nimport (\n\t"os"\n\t"path/filepath"\n)\n\nfunc f(t []byte) error {\n'
     '\treturn os.WriteFile(filepath.Join(os.TempDir(), "a.txt"), t, 0o600)\n}\n'),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text"), TEMP_LEFT)
def test_a_temporary_file_that_others_may_look_for_keeps_its_name(language: Language, text: str) -> None:
    assert repaired(language, text)[0] == text


@pytest.mark.parametrize(
    ("curve", "after"), [("ec.SECP192R1()", "ec.SECP256R1()"), ("ec.SECP256R1()", "ec.SECP256R1()"), ("c", "c")]
)
def test_a_new_key_lies_on_a_sound_curve(curve: str, after: str) -> None:
    text = (
        "from cryptography.hazmat.primitives.asymmetric import ec\ndef f(c):\n    return ec.generate_private_key({})\n"
    )
    assert repaired("python", text.format(curve))[0] == text.format(after)


@pytest.mark.parametrize(("other", "suggested"), [("", True), ('import _ "github.com/microsoft/go-mssqldb"\n', False)])
def test_a_query_without_a_known_driver_gets_a_suggestion_and_no_rewrite(other: str, suggested: bool) -> None:
    text = (
        f'package p\n\nimport "database/sql"\n{other}\nfunc f(db *sql.DB, n string) (*sql.Rows, error) {{\n'
        '\treturn db.Query("SELECT a FROM t WHERE n = \'" + n + "\'")\n}\n'
    )
    after, repair = repaired("go", text)
    (left,) = repair.left.values()
    assert after == text
    assert ("Suggested, if the driver writes placeholders as ?" in left) == suggested
    assert ('`return db.Query("SELECT a FROM t WHERE n = ?", n)`' in left) == suggested


def test_a_server_with_limits_still_has_an_error_to_check() -> None:
    text = 'package main\n\nimport "net/http"\n\nfunc main() {\n\thttp.ListenAndServe(":8080", nil)\n}\n'
    after, repair = repaired("go", text)
    (told,) = repair.left.values()
    assert "(&http.Server{" in after and "`if err := (&http.Server{" in told and "`log.Fatal(err)`" in told


def test_a_part_of_a_parameter_and_a_callback_are_called_what_the_code_calls_them() -> None:
    text = (
        "function f(db, { name }) {\n  db.query(`SELECT a FROM t WHERE n = '${name}'`);\n}\n"
        "function g(res) {\n  load((out) => res.send('<p>' + out + '</p>'));\n}\n"
    )
    found = StaticTeam().scan(code("javascript", text)).findings
    said = " ".join(f"{each.description} {each.exploit} {' '.join(step.what for step in each.path)}" for each in found)
    assert "if `name` comes from outside" in said and "parameter name of f()" in said
    assert "a callback" in said and "callback " not in said.replace("a callback", "") and "parameter 1" not in said
