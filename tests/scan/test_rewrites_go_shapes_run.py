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
CASES = (
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


def test_benign_input_gives_what_it_gave_and_the_attack_fails() -> None:
    before = statuses(run(tuple(case.file(case.code) for case in CASES), CASES))
    expected = {f"{c.name}.TestBenign": "passed" for c in CASES} | {f"{c.name}.TestAttack": "failed" for c in CASES}
    assert before == expected
    after = run(tuple(mended(case) for case in CASES), CASES)
    assert statuses(after) == dict.fromkeys(before, "passed"), after
