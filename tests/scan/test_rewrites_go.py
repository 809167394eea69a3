"""Rewrites of Go, compared to the letter."""

import pytest
from samples import repaired, rules

LOCAL = "func save(n int) error { return nil }\n"


def program(body: str, *imports: str, signature: str = "f(db *sql.DB, name string) (int, error)") -> str:
    lines = "".join(f'\t"{name}"\n' for name in imports)
    block = f"import (\n{lines})\n\n" if imports else ""
    return f"package main\n\n{block}func {signature} {{\n{body}\n}}\n\n{LOCAL}"


MAIN = "main()"
SQLITE = "modernc.org/sqlite"

CASES = [
    (
        program(
            "\tdb.Query(fmt.Sprintf(\"SELECT * FROM t WHERE n = '%s' AND a = %v\", name, age))",
            "database/sql",
            "fmt",
            SQLITE,
        ),
        program('\tdb.Query("SELECT * FROM t WHERE n = ? AND a = ?", name, age)', "database/sql", SQLITE),
    ),
    (
        program("\tfmt.Println()\n\tdb.Exec(fmt.Sprintf(\"DELETE FROM t WHERE n = '%s'\", name))", "fmt", SQLITE),
        program('\tfmt.Println()\n\tdb.Exec("DELETE FROM t WHERE n = ?", name)', "fmt", SQLITE),
    ),
    (
        program('\tq := "SELECT * FROM t WHERE n = \'" + name + "\'"\n\tdb.QueryRow(q)', "github.com/lib/pq"),
        program('\tq := "SELECT * FROM t WHERE n = $1"\n\tdb.QueryRow(q, name)', "github.com/lib/pq"),
    ),
    (
        program("\tdb.QueryContext(ctx, `SELECT * FROM t WHERE n LIKE '%` + name + `%'`)", SQLITE),
        program('\tdb.QueryContext(ctx, `SELECT * FROM t WHERE n LIKE ?`, "%" + name + "%")', SQLITE),
    ),
    (
        program("\tdb.Exec(fmt.Sprintf(\"UPDATE t SET a = a - %d WHERE n = '%s'\", age, name))", "fmt", SQLITE),
        program('\tdb.Exec("UPDATE t SET a = a - ? WHERE n = ?", age, name)', SQLITE),
    ),
    (
        program('\texec.Command("sh", "-c", "ls -l "+name)', "os/exec"),
        program('\texec.Command("ls", "-l", name)', "os/exec"),
    ),
    (
        program("\tc := &tls.Config{InsecureSkipVerify: true}", "crypto/tls"),
        program("\tc := &tls.Config{InsecureSkipVerify: false}", "crypto/tls"),
    ),
]

REFUSED = [
    (program('\tdb.Query(fmt.Sprintf("SELECT * FROM %s", name))', "fmt", SQLITE), "FROM"),
    (program('\texec.Command("sh", "-c", "ls $(echo "+name+")")', "os/exec"), "needs a shell"),
    (program("\tp := unsafe.Pointer(&name)", "unsafe"), "no safe rewrite"),
]


COMMANDS = [
    ('"tail -n %d %s | sort", 5, path', '`tail -n "$1" -- "$2" | sort`, "sh", fmt.Sprint(5), path'),
    ('"git clone --depth 1 %s", url', '"git", "clone", "--depth", "1", "--", url'),
    ("\"cd '%s' && ls\", path", '`cd "$1" && ls`, "sh", path'),
]
LEFT = [
    "sed -i 's/%s/x/' file", "%s --version | sort", "ssh host ls %s | sort", "bash -c '%s'; ls", "awk '/%s/' f | sort",
    "ls `echo %s`", "cat <<E\n%s\nE\n", "curl -o %s file | sort", "ls %s | sort # it's",
]  # fmt: skip


@pytest.mark.parametrize(("given", "wanted"), COMMANDS)
def test_values_of_a_script_are_its_parameters_or_arguments(given: str, wanted: str) -> None:
    use = "func f(path, url string) { fmt.Println(exec.Command("
    text = f'package a\n\nimport (\n\t"fmt"\n\t"os/exec"\n)\n\n{use}"sh", "-c", fmt.Sprintf({given})).Run()) }}\n'
    after, _ = repaired("go", text)
    assert wanted in after and "go-exec" not in rules("go", after)


@pytest.mark.parametrize("script", LEFT)
def test_a_script_that_reads_a_value_as_code_is_left(script: str) -> None:
    line = script.replace("\n", "\\n").replace('"', '\\"')
    text = 'package a\n\nimport (\n\t"fmt"\n\t"os/exec"\n)\n\nfunc f(path string) {\n'
    text += f'\tfmt.Println(exec.Command("sh", "-c", fmt.Sprintf("{line}", path)).Run())\n}}\n'
    assert "go-exec" in rules("go", text)
    assert repaired("go", text)[0] == text


LISTED = """package a

import (
	"database/sql"
	"fmt"
	"strings"

	_ "{driver}"
)

func Find(db *sql.DB, name string, age int) (*sql.Rows, error) {{
	{declare}
	if name != "" {{
		conditions = append(conditions, "name = '"+name+"'")
	}}
	conditions = append(conditions, fmt.Sprintf("age > %d", age))
	query := "SELECT a FROM t"
	if len(conditions) > 0 {{
		query += " WHERE " + strings.Join(conditions, " AND ")
	}}
	{more}
	return db.Query(query)
}}
"""
DECLARED = ("var conditions []string", "conditions := []string{}", "conditions := make([]string, 0, 2)")


@pytest.mark.parametrize("declare", DECLARED)
@pytest.mark.parametrize(
    ("driver", "added"),
    [(SQLITE, '"name = ?"'), ("github.com/lib/pq", 'fmt.Sprintf("name = $%d", len(params))')],
)
def test_conditions_that_are_listed_keep_their_values_beside_them(declare: str, driver: str, added: str) -> None:
    text, _ = repaired("go", LISTED.format(driver=driver, declare=declare, more=""))
    assert f"\tparams := []any{{}}\n\t{declare}\n" in text and "db.Query(query, params...)" in text
    assert f"\t\tparams = append(params, name)\n\t\tconditions = append(conditions, {added})\n" in text


@pytest.mark.parametrize(
    ("declare", "more"),
    [
        ("conditions := []string{name}", ""),
        (DECLARED[0], "log.Println(conditions)"),
        (DECLARED[0], "conditions[0] = name"),
    ],
)
def test_conditions_that_other_code_uses_are_left(declare: str, more: str) -> None:
    text = LISTED.format(driver=SQLITE, declare=declare, more=more)
    assert "params" not in repaired("go", text)[0]


def test_values_that_run_in_another_order_than_they_stand_are_left() -> None:
    text = LISTED.format(driver=SQLITE, declare=DECLARED[0], more="")
    later = text.replace('query := "SELECT a FROM t"', 'query := "SELECT a FROM t WHERE b = \'" + name + "\'"')
    assert "params" not in repaired("go", later)[0]
    assert "params" in repaired("go", later.replace(SQLITE, "github.com/lib/pq"))[0]


BODY = """package a

import (
	"encoding/json"
	"io"
	"net/http"
)
{limit}
func Add(w http.ResponseWriter, r *http.Request) {{
	var in struct{{ Name string }}
	if err := {read}; err != nil {{
		http.Error(w, "bad", http.StatusBadRequest)
		return
	}}
	w.WriteHeader(http.StatusNoContent)
}}
"""
DECODE = "json.NewDecoder({}).Decode(&in)"


@pytest.mark.parametrize(
    ("limit", "wanted"),
    [
        ("\nconst maxBody = 1 << 20\n", "maxBody"),
        ("\nvar maxBodySize = 1 << 20\n", "int64(maxBodySize)"),
        ("\nconst maxBodyLength int64 = 100\n", "maxBodyLength"),
    ],
)
def test_a_body_is_read_as_far_as_the_code_says(limit: str, wanted: str) -> None:
    text, _ = repaired("go", BODY.format(limit=limit, read=DECODE.format("r.Body")))
    assert DECODE.format(f"http.MaxBytesReader(w, r.Body, {wanted})") in text


@pytest.mark.parametrize("limit", ["", "\nconst maxBody, maxRequestSize = 1 << 20, 2 << 20\n"])
def test_a_body_without_one_limit_is_left(limit: str) -> None:
    text = BODY.format(limit=limit, read=DECODE.format("r.Body"))
    assert repaired("go", text)[0] == text


UNPACK = """package a

import (
	"bytes"
	"compress/gzip"
	"io"
)

{above}
func Unpack(data []byte, {parameter}) ([]byte, error) {{
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {{
		return nil, err
	}}
	{inside}
	return io.ReadAll(zr)
}}
"""


@pytest.mark.parametrize(
    ("above", "parameter", "inside"),
    [
        ("// Unpack unpacks data.", "name string", ""),
        ("// Unpack unpacks at most 3 files.", "maxFiles int", ""),
        ("// Unpack takes no more than 1 KiB, in 2 MB steps.", "name string", ""),
        ("// Unpack unpacks data.", "maxSize int", "if maxSize <= 0 {\n\t\tprintln()\n\t}"),
        ("// Unpack unpacks data.", "maxSize, limit int", ""),
    ],
)
def test_a_limit_that_the_code_does_not_tell_is_not_made_up(above: str, parameter: str, inside: str) -> None:
    text = UNPACK.format(above=above, parameter=parameter, inside=inside)
    assert "go-decompression-bomb" in rules("go", text)
    assert repaired("go", text)[0] == text


MADE = [
    ("rows()", 'func rows() string { return "<li></li>" }', ""),
    ("t.rows()", "type table struct{}\n\nfunc (table) rows() string { return `<li></li>` }", "var t table\n\t"),
    ("list", 'func rows() string { return "<li></li>" }', "list := rows()\n\t"),
    (
        "b.String()",
        'func fill(b *strings.Builder) { b.WriteString("<li></li>") }',
        "var b strings.Builder\n\tfill(&b)\n\t",
    ),
]


@pytest.mark.parametrize(("value", "made", "before"), MADE)
def test_markup_that_the_program_makes_is_not_escaped(value: str, made: str, before: str) -> None:
    body = f'\t{before}fmt.Fprintf(w, "<h1>%s</h1><ul>%s</ul>", r.FormValue("n"), {value})'
    signature = "Show(w http.ResponseWriter, r *http.Request)"
    text = program(body, "fmt", "net/http", "strings", signature=signature) + f"\n{made}\n"
    after, _ = repaired("go", text)
    assert f'html.EscapeString(r.FormValue("n")), {value})' in after and "go-response-xss" not in rules("go", after)


def test_the_text_of_a_mail_keeps_its_lines() -> None:
    body = (
        '\tvar b strings.Builder\n\tfmt.Fprintf(&b, "To: %s\\r\\n", to)\n\tb.WriteString("\\r\\n")\n'
        "\tb.WriteString(body)\n\treturn b.String()"
    )
    text = program(body, "fmt", "strings", signature="Letter(to, body string) string")
    assert "go-header" in rules("go", text)
    assert repaired("go", text)[0] == text


@pytest.mark.parametrize(("before", "after"), CASES)
def test_a_flaw_is_rewritten(before: str, after: str) -> None:
    text, repair = repaired("go", before)
    assert (text, repair.left) == (after, {})
    assert rules("go", text) == []
    assert repaired("go", text)[0] == text


@pytest.mark.parametrize(("before", "why"), REFUSED)
def test_what_has_no_safe_rewrite_is_left_with_a_reason(before: str, why: str) -> None:
    text, repair = repaired("go", before)
    assert (text, repair.fixed) == (before, {})
    assert all(why in left for left in repair.left.values()) and repair.left


def shared(inside: str = "total += n", before: str = "", meanwhile: str = "", wait: str = "wg.Wait()") -> str:
    return (
        'package a\n\nimport "sync"\n\nfunc Sum(all []int, other func() int) int {\n\ttotal := 0\n'
        f"\tvar wg sync.WaitGroup\n{before}\tfor _, n := range all {{\n\t\twg.Add(1)\n\t\tgo func(n int) {{\n"
        f"\t\t\tdefer wg.Done()\n\t\t\t{inside}\n\t\t}}(n)\n{meanwhile}\t}}\n\t{wait}\n\treturn total\n}}\n"
    )


def test_a_shared_variable_gets_a_lock() -> None:
    text, repair = repaired("go", shared())
    assert "\tvar mu sync.Mutex\n\tfor _, n" in text and repair.fixed
    assert "\t\t\tmu.Lock()\n\t\t\ttotal += n\n\t\t\tmu.Unlock()\n" in text


@pytest.mark.parametrize(
    "text",
    [
        shared("total += other()"),
        shared("if total < 9 {\n\t\t\t\ttotal += n\n\t\t\t}"),
        shared(meanwhile="\t\tprintln(total)\n"),
        shared(before="\taddress := &total\n\t_ = address\n"),
        shared(before="\tshow := func() { println(total) }\n\tdefer show()\n"),
        shared(wait="println(len(all))"),
        shared("total += n; println(n)"),
    ],
)
def test_a_lock_that_is_not_surely_enough_is_not_put_in(text: str) -> None:
    assert "go-goroutine-race" in rules("go", text)
    after, repair = repaired("go", text)
    assert "mu.Lock" not in after and repair.left


def guards(reset: str, more: str = "") -> str:
    return (
        'package a\n\nimport "sync"\n\ntype C struct {\n\tmu sync.Mutex\n\tn  int\n}\n\n'
        "func (c *C) Add() {\n\tc.mu.Lock()\n"
        f"\tdefer c.mu.Unlock()\n\tc.n++\n}}\n\nfunc (c *C) Reset() {{\n{reset}\n}}\n{more}"
    )


def test_a_method_takes_the_lock_of_the_others_only_when_nothing_can_block() -> None:
    text, _ = repaired("go", guards("\tc.n = 0"))
    assert "Reset() {\n\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n\tc.n = 0\n" in text
    calls = guards("\tc.n = 0\n\tc.Add()")
    called = guards("\tc.n = 0", "\nfunc (c *C) Again() {\n\tc.Reset()\n}\n")
    for left in (calls, called):
        assert "go-unguarded-write" in rules("go", left) and repaired("go", left)[0] == left


def test_a_goroutine_is_counted_before_it_starts() -> None:
    before = (
        'package a\n\nimport "sync"\n\nfunc All(all []func()) {\n\tvar wg sync.WaitGroup\n\tfor _, f := range all {\n'
        "\t\tgo func(f func()) {\n\t\t\twg.Add(1)\n\t\t\tdefer wg.Done()\n\t\t\tf()\n\t\t}(f)\n\t}\n\twg.Wait()\n}\n"
    )
    text, _ = repaired("go", before)
    assert "\t\twg.Add(1)\n\t\tgo func(f func()) {\n\t\t\tdefer wg.Done()\n" in text
    later = before.replace("\t\t\twg.Add(1)\n\t\t\tdefer", "\t\t\tf()\n\t\t\twg.Add(1)\n\t\t\tdefer")
    assert repaired("go", later)[0] == later


def test_a_server_gets_a_limit_whatever_starts_it() -> None:
    text, _ = repaired("go", program('\thttp.ListenAndServe("127.0.0.1:80", nil)', "net/http", signature=MAIN))
    assert '(&http.Server{Addr: "127.0.0.1:80", ReadHeaderTimeout: 10 * time.Second}).ListenAndServe()' in text
    assert '\t"net/http"\n\t"time"\n' in text


@pytest.mark.parametrize(
    "body",
    [
        '\tvar sum [16]byte = md5.Sum([]byte("a"))\n\tfmt.Println(sum)',
        '\tfmt.Println(fmt.Sprintf("%x", md5.Sum(nil)) == "d41d8cd98f00b204e9800998ecf8427e")',
    ],
)
def test_a_hash_that_the_file_counts_on_stays(body: str) -> None:
    text = program(body, "crypto/md5", "fmt", signature=MAIN)
    assert "go-weak-hash" in rules("go", text)
    assert "sha256" not in repaired("go", text)[0]


@pytest.mark.parametrize("place", ["<script>var a = '%s'</script>", "<a href='%s'>", "<b %s>", "<b onclick='%s'>"])
def test_escaping_is_not_taken_for_enough_in_a_script_or_a_tag(place: str) -> None:
    text = (
        'package a\n\nimport (\n\t"fmt"\n\t"net/http"\n)\n\nfunc Show(w http.ResponseWriter, r *http.Request) {\n'
        f'\tfmt.Fprintf(w, "{place}", r.FormValue("n"))\n}}\n'
    )
    assert "go-response-xss" in rules("go", text)
    assert repaired("go", text)[0] == text
