"""What fires and what stays silent in Go."""

import pytest
from samples import rules


def program(body: str, *imports: str, after: str = "") -> str:
    lines = "".join(f'import "{name}"\n' for name in imports)
    head = "func f(db DB, r *http.Request, w http.ResponseWriter, name string)"
    return f"package main\n\n{lines}\n{head} {{\n{body}\n}}\n{after}"


FAILS = (
    "func g() error { return nil }\nfunc h() (int, error) { return 0, nil }\nfunc ok() (int, bool) { return 0, true }\n"
)

FIRES = [
    (program('db.Query("SELECT * FROM t WHERE n = \'" + name + "\'")'), "go-sql-string"),
    (program("db.Exec(fmt.Sprintf(\"DELETE FROM t WHERE n = '%s'\", name))", "fmt"), "go-sql-string"),
    (
        program('q := fmt.Sprintf("SELECT * FROM t WHERE n = %v", name)\ndb.QueryRowContext(ctx, q)', "fmt"),
        "go-sql-string",
    ),
    (program('exec.Command("sh", "-c", "ls " + name)', "os/exec"), "go-exec"),
    (program('exec.Command("bash", "-c", fmt.Sprintf("ls %s", name))', "os/exec", "fmt"), "go-exec"),
    (program("md5.Sum([]byte(name))", "crypto/md5"), "go-weak-hash"),
    (program("sha1.Sum([]byte(password))", "crypto/sha1"), "go-password-hash"),
    (program("des.NewCipher(key)", "crypto/des"), "go-weak-cipher"),
    (program("c := &tls.Config{InsecureSkipVerify: true}", "crypto/tls"), "go-tls-verify"),
    (program("c.InsecureSkipVerify = true", "crypto/tls"), "go-tls-verify"),
    (program("token := rand.Intn(10)", "math/rand"), "go-weak-random"),
    (program("x := template.HTML(name)", "html/template"), "go-template-html"),
    (program('fmt.Fprintf(w, "Hello %s", r.FormValue("n"))', "fmt", "net/http"), "go-response-xss"),
    (program('os.Open("/srv/" + r.URL.Query().Get("f"))', "os", "net/http"), "go-path"),
    (program('http.Get(r.FormValue("u"))', "net/http"), "go-ssrf"),
    (program('http.Redirect(w, r, r.FormValue("u"), 302)', "net/http"), "go-open-redirect"),
    (program("p := unsafe.Pointer(&name)", "unsafe"), "go-unsafe"),
    (program('password := "hunter2!"'), "go-hardcoded-secret"),
    (program('c := Config{Password: "hunter2!"}'), "go-hardcoded-secret"),
    (program("n, _ := strconv.Atoi(name)", "strconv"), "go-discarded-error"),
    (program("_ = g()", after=FAILS), "go-discarded-error"),
    (program("n, _ := h()", after=FAILS), "go-discarded-error"),
    (program("g()", after=FAILS), "go-discarded-error"),
    (program("os.Remove(name)", "os"), "go-discarded-error"),
    (program("n := 0\nfor i := 0; i < 9; i++ {\ngo func() { n++ }()\n}"), "go-goroutine-race"),
    (program("m := map[string]int{}\ngo func() { m[name] = 1 }()\nm[name] = 2"), "go-goroutine-race"),
    (
        program("var n int\ngo func() { n += 1; wg.Done() }()\ngo func() { n += 2; wg.Done() }()\nwg.Wait()"),
        "go-goroutine-race",
    ),
]

SILENT = [
    program('db.Query("SELECT 1")'),
    program('db.Query("SELECT * FROM t WHERE n = ?", name)'),
    program('const t = "users"\ndb.Query("SELECT * FROM " + t)'),
    program('db.Query(fmt.Sprintf("SELECT * FROM t LIMIT %d", 5))', "fmt"),
    program('q := "SELECT * FROM t"\nq = q + " LIMIT 1"\ndb.Query(q)'),
    program('exec.Command("ls", name)', "os/exec"),
    program('exec.Command("sh", "-c", "ls -l")', "os/exec"),
    program("sha256.Sum256([]byte(name))", "crypto/sha256"),
    program("c := &tls.Config{InsecureSkipVerify: false}", "crypto/tls"),
    program("colour := rand.Intn(10)", "math/rand"),
    program("token := rand.Int(rand.Reader, max)", "crypto/rand"),
    program('x := template.HTML("<b>")', "html/template"),
    program('fmt.Fprintf(w, "Hello")', "fmt"),
    program('fmt.Fprint(w, html.EscapeString(r.FormValue("n")))', "fmt", "html"),
    program("n := unsafe.Sizeof(name)", "unsafe"),
    program("v, _ := m[name]"),
    program("v, _ := x.(string)"),
    program("n, _ := ok()", after=FAILS),
    program("for _, v := range xs { use(v) }"),
    program('before, after, _ := strings.Cut(name, ",")', "strings"),
    program('v, _ := os.LookupEnv("X")', "os"),
    program("_, err := h()\nif err != nil { return }", after=FAILS),
    program("defer f.Close()"),
    program("_ = name"),
    program("n := 0\nfor i := 0; i < 9; i++ {\ngo func() { mu.Lock(); n++; mu.Unlock() }()\n}"),
    program("n := 0\nfor i := 0; i < 9; i++ {\ngo func() { atomic.AddInt32(&n, 1) }()\n}"),
    program("out := make([]int, 9)\nfor i := range out {\ngo func(i int) { out[i] = i; wg.Done() }(i)\n}\nwg.Wait()"),
    program("var n int\ngo func() { n = work(); close(done) }()\n<-done"),
    program("go func() { n := 0; n++ }()"),
    program('// db.Query("SELECT * FROM t WHERE n = " + name)'),
    program('s := "unsafe.Pointer(x); _ = g()"'),
]


@pytest.mark.parametrize(("text", "rule"), FIRES)
def test_a_flaw_is_found(text: str, rule: str) -> None:
    assert rule in rules("go", text)


@pytest.mark.parametrize("text", SILENT)
def test_sound_code_is_left_in_peace(text: str) -> None:
    assert rules("go", text) == []


def test_a_lock_in_a_comment_is_no_lock() -> None:
    text = program("n := 0\nfor i := 0; i < 9; i++ {\ngo func() {\n// mu.Lock()\nn++ }()\n}\n// wg.Wait()")
    assert rules("go", text) == ["go-goroutine-race"]
