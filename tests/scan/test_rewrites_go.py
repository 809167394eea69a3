"""Rewrites of Go, compared to the letter."""

import pytest
from samples import repaired, rules

LOCAL = "func save(n int) error { return nil }\n"


def program(body: str, *imports: str, signature: str = "f(db *sql.DB, name string) (int, error)") -> str:
    lines = "".join(f'\t"{name}"\n' for name in imports)
    block = f"import (\n{lines})\n\n" if imports else ""
    return f"package main\n\n{block}func {signature} {{\n{body}\n}}\n\n{LOCAL}"


MAIN = "main()"

CASES = [
    (
        program(
            "\tdb.Query(fmt.Sprintf(\"SELECT * FROM t WHERE n = '%s' AND a = %v\", name, age))", "database/sql", "fmt"
        ),
        program('\tdb.Query("SELECT * FROM t WHERE n = ? AND a = ?", name, age)', "database/sql"),
    ),
    (
        program("\tfmt.Println()\n\tdb.Exec(fmt.Sprintf(\"DELETE FROM t WHERE n = '%s'\", name))", "fmt"),
        program('\tfmt.Println()\n\tdb.Exec("DELETE FROM t WHERE n = ?", name)', "fmt"),
    ),
    (
        program('\tq := "SELECT * FROM t WHERE n = \'" + name + "\'"\n\tdb.QueryRow(q)', "github.com/lib/pq"),
        program('\tq := "SELECT * FROM t WHERE n = $1"\n\tdb.QueryRow(q, name)', "github.com/lib/pq"),
    ),
    (
        program("\tdb.QueryContext(ctx, `SELECT * FROM t WHERE n LIKE '%` + name + `%'`)"),
        program('\tdb.QueryContext(ctx, `SELECT * FROM t WHERE n LIKE ?`, "%" + name + "%")'),
    ),
    (
        program('\texec.Command("sh", "-c", "ls -l "+name)', "os/exec"),
        program('\texec.Command("ls", "-l", name)', "os/exec"),
    ),
    (
        program("\tc := &tls.Config{InsecureSkipVerify: true}", "crypto/tls"),
        program("\tc := &tls.Config{InsecureSkipVerify: false}", "crypto/tls"),
    ),
    (
        program("\tn, _ := strconv.Atoi(name)\n\treturn n, nil", "strconv"),
        program(
            "\tn, err := strconv.Atoi(name)\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn n, nil", "strconv"
        ),
    ),
    (
        program("\tn, _ := strconv.Atoi(name)\n\terr := save(n)\n\treturn n, err", "strconv"),
        program(
            "\tn, nErr := strconv.Atoi(name)\n\tif nErr != nil {\n\t\treturn 0, nErr\n\t}\n"
            "\terr := save(n)\n\treturn n, err",
            "strconv",
        ),
    ),
    (
        program("\t_ = save(1)\n\treturn 0, nil"),
        program("\tif err := save(1); err != nil {\n\t\treturn 0, err\n\t}\n\treturn 0, nil"),
    ),
    (
        program("\tsave(1)\n\treturn nil", signature="f() error"),
        program("\tif err := save(1); err != nil {\n\t\treturn err\n\t}\n\treturn nil", signature="f() error"),
    ),
    (
        program("\t_ = save(1)\n\treturn x, nil", signature="f() (string, bool, []int, *T, time.Time, error)"),
        program(
            '\tif err := save(1); err != nil {\n\t\treturn "", false, nil, nil, *new(time.Time), err\n\t}\n'
            "\treturn x, nil",
            signature="f() (string, bool, []int, *T, time.Time, error)",
        ),
    ),
    (
        program("\tn, _ = strconv.Atoi(name)\n\treturn n, nil", "strconv"),
        program(
            "\tvar err error\n\tn, err = strconv.Atoi(name)\n\tif err != nil {\n\t\treturn 0, err\n\t}\n"
            "\treturn n, nil",
            "strconv",
        ),
    ),
    (
        program("\terr := save(1)\n\ts.n, _ = strconv.Atoi(name)\n\treturn 0, err", "strconv"),
        program(
            "\terr := save(1)\n\tvar snErr error\n\ts.n, snErr = strconv.Atoi(name)\n"
            "\tif snErr != nil {\n\t\treturn 0, snErr\n\t}\n\treturn 0, err",
            "strconv",
        ),
    ),
    (
        program(
            "\tn, _ = strconv.Atoi(name)\n\treturn n, err", "strconv", signature="f(name string) (n int, err error)"
        ),
        program(
            "\tvar nErr error\n\tn, nErr = strconv.Atoi(name)\n\tif nErr != nil {\n\t\treturn 0, nErr\n\t}\n"
            "\treturn n, err",
            "strconv",
            signature="f(name string) (n int, err error)",
        ),
    ),
    (
        program('\tf, _ := os.Open("x")\n\tuse(f)', "fmt", "os", signature=MAIN),
        program(
            '\tf, err := os.Open("x")\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tuse(f)',
            "fmt",
            "log",
            "os",
            signature=MAIN,
        ),
    ),
    (
        program("\t_ = save(1)", signature=MAIN),
        program("\tif err := save(1); err != nil {\n\t\tlog.Fatal(err)\n\t}", signature=MAIN).replace(
            "package main\n", 'package main\n\nimport "log"\n', 1
        ),
    ),
    (
        program("\t_ = save(1)", "log", signature="f()"),
        program('\tif err := save(1); err != nil {\n\t\tlog.Printf("save: %v", err)\n\t}', "log", signature="f()"),
    ),
]

REFUSED = [
    (program("\t_ = save(1)", signature="f()"), "no way to pass"),
    (program("\tif n, _ := strconv.Atoi(name); n > 0 {\n\t}", "strconv"), "part of another"),
    (program("\tv, _ := store.Fetch(name)"), "whether the dropped value is an error"),
    (program('\tdb.Query(fmt.Sprintf("SELECT * FROM %s", name))', "fmt"), "FROM"),
    (program('\texec.Command("sh", "-c", "ls "+name+" | wc")', "os/exec"), "needs a shell"),
    (program("\tp := unsafe.Pointer(&name)", "unsafe"), "no safe rewrite"),
]


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
