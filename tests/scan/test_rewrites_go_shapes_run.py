"""Go functions as programmers write them: repaired, compiled and run with honest and hostile input."""

from test_rewrites_go_run import Case, mended, run, statuses

DRAWN = 'b, _ := os.ReadFile("{name}.go")|{benign}|!strings.Contains(string(b), "math/rand")'
GENERATOR = """import (
	"fmt"
	"math/rand"
	"time"
)

const tokenChars = "abcdefghijklmnopqrstuvwxyz0123456789"

func Token() string {
	seed := time.Now().UnixNano()
	rng := rand.New(rand.NewSource(seed))
	out := make([]byte, 12)
	for i := range out {
		out[i] = tokenChars[rng.Intn(len(tokenChars))]
	}
	return string(out)
}

func OTP() string {
	rand.Seed(time.Now().UnixNano())
	return fmt.Sprintf("%06d", rand.Int31n(1000000))
}
"""
WHOLE = """import (
	"fmt"
	"math/rand"
)

func SessionID() string {
	order := []int{0, 1, 2}
	rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return fmt.Sprintf("%016x%08x%d", rand.Uint64(), rand.Int31(), order[0]+order[1]+order[2])
}
"""
PROFILE = """import (
	"fmt"
	"net/http"
	"strings"
)

type Row struct {
	Label string
	Count int
}

func Show(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name := q.Get("n")
	var page strings.Builder
	page.WriteString("<h1>" + name + "</h1>")
	items := ""
	for _, each := range q["n"] {
		items += "<li>" + each + "</li>"
	}
	fmt.Fprintf(&page, "<ul>%s</ul><input value=\\"%s\\">%d", items, q.Get("n"), 7)
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, page.String())
}

func Badge(row Row) string {
	html := "<b title=\\"" + row.Label + "\\">"
	html += fmt.Sprintf("%s (%d)", row.Label, row.Count)
	html += "</b>"
	return html
}
"""
AUDIT = """import (
	"fmt"
	"io"
	"strings"
	"time"
)

type AuditLog struct{ out io.Writer }

func (a *AuditLog) Login(user, from string, ok bool) error {
	result := "failed"
	if ok {
		result = "ok"
	}
	line := fmt.Sprintf("%s user=%s from=%s %s\\n", time.Unix(0, 0).UTC().Format(time.RFC3339), user, from, result)
	_, err := io.WriteString(a.out, line)
	return err
}

func (a *AuditLog) Event(name string, fields []string) error {
	var b strings.Builder
	b.WriteString("event=" + name)
	for _, field := range fields {
		b.WriteString(" " + field)
	}
	b.WriteString("\\n")
	_, err := a.out.Write([]byte(b.String()))
	return err
}
"""
COMMANDS = """import (
	"fmt"
	"os/exec"
	"strings"
)

func text(out []byte, err error) string {
	if err != nil {
		return "failed"
	}
	return string(out)
}

func Lines(dir, name string) string {
	script := fmt.Sprintf("cd '%s' && wc -l < '%s' | tr -d ' \\n'", dir, name)
	return text(exec.Command("sh", "-c", script).Output())
}

func Sorted(name string, count int) string {
	return text(exec.Command("bash", "-c", fmt.Sprintf(`sort "%s.txt" | head -n %d`, name, count)).Output())
}

func Show(path string) string {
	args := []string{"cat"}
	args = append(args, "-u", path)
	return text(exec.Command("sh", "-c", strings.Join(args, " ")).Output())
}

func Found(word, file string) string {
	line := fmt.Sprintf("grep -c %q %s", word, file)
	return text(exec.Command("/bin/sh", "-c", line).Output())
}
"""
UNPACK = """import (
	"bytes"
	"compress/gzip"
	"io"
)

// MaxText is the length of the longest text.
const MaxText = 1000

type Reader struct{ limit int64 }

func Text(data []byte) (string, error) {
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		return "", err
	}
	if len(data) > MaxText {
		return "", io.ErrShortBuffer
	}
	return string(text), nil
}

// Inflate unpacks at most maxSize bytes.
func Inflate(src io.Reader, maxSize int) ([]byte, error) {
	zr, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(zr)
}

func (r *Reader) Copy(dst io.Writer, src io.Reader) (int64, error) {
	zr, err := gzip.NewReader(src)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(dst, zr)
	if err != nil {
		return 0, err
	}
	return r.limit, nil
}

// Save unpacks texts of up to 1,000 bytes.
func Save(dst io.Writer, src io.Reader) error {
	zr, err := gzip.NewReader(src)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, zr); err != nil {
		return err
	}
	return nil
}
"""
UNPACKED = (
    r"""f := func(n int) int { var b, out bytes.Buffer; w := gzip.NewWriter(&b)
        w.Write(make([]byte, n)); w.Close(); var some []error
        _, err := Text(b.Bytes()); some = append(some, err)
        _, err = Inflate(bytes.NewReader(b.Bytes()), 1000); some = append(some, err)
        _, err = (&Reader{1000}).Copy(&out, bytes.NewReader(b.Bytes())); some = append(some, err)
        some = append(some, Save(&out, bytes.NewReader(b.Bytes())))
        refused := 0
        for _, err := range some { if err != nil { refused++ } }
        return refused }"""
    "|f(0) == 0 && f(1000) == 0|f(1001) == 4 && f(9000) == 4"
)
RUN = (
    r"""d := t.TempDir(); _ = os.WriteFile(d+"/a.txt", []byte("b\na\n"), 0o600);
    f := func(n string) string {
        text := Lines(d, n+".txt") + Sorted(d+"/"+n, 1) + Show(d+"/"+n+".txt") + Found(n, d+"/a.txt")
        if _, err := os.Stat(d + "/x"); err == nil { text = "run" }
        os.Remove(d+"/x")
        return text }"""
    r'''|f("a") == "2a\nb\na\n1\n"'''
    r'''|f("\"; touch "+d+"/x; echo \"") != "run" && f("a; touch "+d+"/x;") != "run"'''
    r''' && f("$(touch "+d+"/x)") != "run"'''
)
CASES = (
    Case("unpacks", "go-decompression-bomb", UNPACK, UNPACKED),
    Case("commands", "go-exec", COMMANDS, RUN),
    Case("audits", "go-log", AUDIT,
         "f := func(n string) string { var b strings.Builder; a := &AuditLog{&b}; _ = a.Login(n, n, true);"
         " _ = a.Event(n, []string{n}); return b.String() }"
         """|f("Ann 100%") == "1970-01-01T00:00:00Z user=Ann 100% from=Ann 100% ok\\nevent=Ann 100% Ann 100%\\n\""""
         """|strings.Count(f("x\\ny"), "\\n") == 2 && !strings.Contains(f("x\\ry"), "\\r")"""),
    Case("profiles", "go-response-xss", PROFILE,
         "f := func(n string) string { return shown(Show)(n) + Badge(Row{n, 2}) }"
         """|f("ann") == `<h1>ann</h1><ul><li>ann</li></ul><input value="ann">7<b title="ann">ann (2)</b>`"""
         """|!strings.Contains(f("<i>"), "<i>") && !strings.Contains(f(`" x="`), `" x="`)"""),
    Case("generators", "go-weak-random", GENERATOR, DRAWN.format(
        name="generators", benign='len(Token()) == 12 && strings.Trim(Token(), tokenChars) == "" && Token() != Token()'
        " && len(OTP()) == 6")),
    Case("numbers", "go-weak-random", WHOLE, DRAWN.format(
        name="numbers", benign='len(SessionID()) == 25 && strings.HasSuffix(SessionID(), "3")')),
)  # fmt: skip


def run_before_and_after(cases: tuple[Case, ...]) -> None:
    before = statuses(run(tuple(case.file(case.code) for case in cases), cases))
    expected = {f"{c.name}.TestBenign": "passed" for c in cases} | {f"{c.name}.TestAttack": "failed" for c in cases}
    assert before == expected
    after = run(tuple(mended(case) for case in cases), cases)
    assert statuses(after) == dict.fromkeys(before, "passed"), after


def test_benign_input_gives_what_it_gave_and_the_attack_fails() -> None:
    run_before_and_after(CASES)
