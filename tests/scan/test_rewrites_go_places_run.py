"""Paths, targets, modes, temporary files and stacks in Go: repaired, compiled and run with honest and hostile input."""

from test_rewrites_go_run import Case
from test_rewrites_go_shapes_run import run_before_and_after

PLACES = """import (
	"fmt"
	"os"
	"path/filepath"
)

type Store struct{ root string }

func (s *Store) path(name string) string { return filepath.Join(s.root, "d", name) }

func (s *Store) Read(name string) ([]byte, error) {
	return os.ReadFile(s.path(name))
}

func (s *Store) Size(key string) (int64, error) {
	info, err := os.Stat(fmt.Sprintf("%s/%s.txt", s.root, key))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
"""
CONTAINED = (
    r"""top := t.TempDir(); root := top + "/r"; _ = os.MkdirAll(root+"/d", 0o700); put := func(name, text string) {
        if err := os.WriteFile(top+name, []byte(text), 0o600); err != nil { t.Fatal(err) } }; s := &Store{root}"""
    r"""|func() bool { put("/r/d/a", "ok"); put("/r/b.txt", "four"); data, err := s.Read("a"); n, no := s.Size("b")
        return string(data) == "ok" && n == 4 && err == nil && no == nil }()"""
    r"""|func() bool { put("/x", "no"); put("/y.txt", "no"); _, err := s.Read("../../x"); _, no := s.Size("../y")
        return err != nil && no != nil }()"""
)
TARGETS = """import (
	"net/http"
	"strings"
)

func Back(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Location", r.FormValue("n"))
	w.WriteHeader(http.StatusFound)
}

func Partner(w http.ResponseWriter, r *http.Request) {
	to := r.FormValue("n")
	if !strings.HasPrefix(to, "https://our.example") {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	http.Redirect(w, r, to, http.StatusFound)
}
"""
SENT = (
    r"""f := func(h http.HandlerFunc, to string) string { w := httptest.NewRecorder()
        h(w, httptest.NewRequest("GET", "/?n="+url.QueryEscape(to), nil)); return w.Header().Get("Location") }"""
    r'''|f(Back, "/a?b=c") == "/a?b=c" && f(Partner, "https://our.example/x") == "https://our.example/x"'''
    r''' && f(Partner, "https://our.example") != ""'''
    r'''|f(Back, "//evil.example") == "/" && f(Partner, "https://our.example.evil.example/") == ""'''
)
MODES = """import (
	"os"
)

// SaveKey keeps the private key.
func SaveKey(path string, pem []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0666)
	if err != nil {
		return err
	}
	_, err = f.Write(pem)
	return err
}

func SaveToken(path, token string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.WriteString(token)
	return err
}

func SavePassword(path, password string) error {
	return os.WriteFile(path, []byte(password), 0o644)
}
"""
PRIVATE = r"""d := t.TempDir(); f := func(wanted os.FileMode) bool { all := true
        _, _, _ = SaveKey(d+"/a", []byte("k")), SaveToken(d+"/b", "k"), SavePassword(d+"/c", "k")
        for _, name := range []string{"/a", "/b", "/c"} { info, err := os.Stat(d + name)
            all = all && err == nil && info.Size() == 1 && info.Mode().Perm()&wanted == 0 }
        return all }|f(0)|f(0o077)"""
STACKS = """import (
	"fmt"
	"net/http"
	"runtime/debug"
)

func Recovering(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if rec := recover(); rec != nil {
			http.Error(w, fmt.Sprintf("panic: %v %s", rec, debug.Stack()), http.StatusInternalServerError)
		}
	}()
	if r.FormValue("n") == "x" {
		panic("secret detail")
	}
	w.WriteHeader(http.StatusNoContent)
}
"""
TEMPS = """import (
	"os"
)

func Stage(data []byte) (string, error) {
	f, err := os.Create("/tmp/moot-stage.dat")
	if err != nil {
		return "", err
	}
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	return f.Name(), nil
}
"""
STAGED = (
    r"""f := func() string { name, err := Stage([]byte("ok")); if err != nil { return "" }; return name }
        one, two := f(), f()
        ok := func() bool { data, err := os.ReadFile(two); return err == nil && string(data) == "ok" }"""
    r"""|ok() && one != ""|ok() && one != two"""
)
MAILS = """import (
	"fmt"
)

func Mail(to, subject, body string) []byte {
	msg := fmt.Sprintf("To: %s\\r\\nSubject: %s\\r\\n\\r\\n%s", to, subject, body)
	return []byte(msg)
}

func Plain(to, subject, body string) string {
	return "To: " + to + "\\r\\nSubject: " + subject + "\\r\\n\\r\\n" + body
}
"""
MAILED = (
    r"""f := func(s string) bool { want := "To: a\r\nSubject: " + s + "\r\n\r\none\r\ntwo\n"
        return string(Mail("a", s, "one\r\ntwo\n")) == want && Plain("a", s, "one\r\ntwo\n") == want }""".replace(
        "\n            ", " "
    )
    + r"""|f("b") && f("Zoë: 100%")|!f("x\r\nBcc: c")"""
    r""" && !strings.Contains(Plain("a", "x\r\nBcc: c", ""), "\nBcc")"""
)
CASES = (
    Case("mails", "go-header", MAILS, MAILED),
    Case("places", "go-path", PLACES, CONTAINED),
    Case("targets", "go-open-redirect", TARGETS, SENT),
    Case("modes", "go-private-mode", MODES, PRIVATE),
    Case(
        "stacks",
        "go-error-shown",
        STACKS,
        'f := shown(Recovering)|f("a") == "" && f("x") != ""|!strings.Contains(f("x"), "secret")',
    ),
    Case("staged", "go-temp-file", TEMPS, STAGED),
)


def test_benign_input_gives_what_it_gave_and_the_attack_fails() -> None:
    run_before_and_after(CASES)
