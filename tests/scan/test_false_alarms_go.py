"""What only looked like a flaw in Go packages that were read by eye is not reported, and its dangerous twin is."""

import pytest
from samples import rules

GO = "package a\n\nimport (\n{imports})\n\n"
OPENED = (
    GO.format(imports='\t"os"\n')
    + "func f(path string) (*os.File, error) {{\n\treturn os.OpenFile(path, {how}, 0666)\n}}\n"
)
BEGUN = """package a

import (
	"errors"
	"sync"
)

type DB struct {{
	lock   sync.Mutex
	opened bool
	items  map[string]*Tx
}}

type Tx struct {{
	db *DB
}}

func (db *DB) Begin(key string) (*Tx, error) {{
	db.lock.Lock()
	if !db.opened {{
		db.lock.Unlock()
		return nil, errors.New("closed")
	}}
	t := {made}
	return t, nil
}}
"""
CLEARED = """package a

import "sync"

type DB struct {{
	lock sync.Mutex
	meta *int
}}

func (db *DB) Load(meta *int) {{
	db.lock.Lock()
	defer db.lock.Unlock()
	{first}
	db.meta = meta
}}

func (db *DB) unmap() {{
	defer db.invalidate()
}}

func (db *DB) invalidate() {{
	db.meta = nil
}}
"""
COPIED = """package a

import "sync"

type Handler struct {{
	lock {kind}
	name string
}}

func (h Handler) Name() string {{
	return h.name
}}
"""
FILLED = """package a

import "fmt"

func f(read func(*string) bool) {{
	var field string
	if read({given}) {{
		fmt.Println(field[1:])
	}}
}}
"""
COOKIE = """package a

import "net/http"

func f(w http.ResponseWriter, r *http.Request, id string) {{
	cookie := &http.Cookie{{Name: "node", Value: id, HttpOnly: true, Secure: false}}
	if r.TLS != nil {{
		{later}
	}}
	http.SetCookie(w, cookie)
}}
"""
SENT_ON = """package a

import "net/http"

func f(w http.ResponseWriter, r *http.Request, home func() string) {{
	path := home()
	path += {joint} + r.URL.RawQuery
	http.Redirect(w, r, path, http.StatusFound)
}}
"""
MARKED = """package a

import (
	"fmt"
	"html/template"

	"example.com/site/version"
)

func f(note string) template.HTML {{
	return template.HTML(fmt.Sprintf(`<meta name="by" content="%s">`, {value}))
}}
"""
ENDED = """package a

import (
	"errors"
	"io"
)

var errClosed = errors.New("closed")

func f(r io.Reader, data []byte) (int, error) {{
	n, _ := io.ReadFull(r, data)
	return n, {error}
}}
"""
FAILED = """package a

import "os"

func f(path string) error {{
	if err := g(path); err != nil {{
		_ = os.Remove(path)
		{after}
	}}
	return nil
}}
"""
HANDED_ON = """package a

import "errors"

var ErrClosed = errors.New("closed")

func fail(err error) error {{
	return err
}}

func f() {{
	_ = fail({error})
}}
"""
WRITTEN = """package a

import "io"

func f(w io.Writer, data []byte) int {{
	{names} := w.Write(data)
	return {result}
}}
"""
SET = """package a

import "os"

const name = "VERIFY"

func f(word, value string) {{
	os.Setenv({name}, value)
}}
"""
LOGGED = """package a

import (
	"log"
	"os/exec"
)

func f(l *log.Logger, c *exec.Cmd) {{
	{step}
}}
"""
STARTED = """package a

import "context"

type Pool interface {{
	Start(ctx context.Context) (int, context.Context)
}}

func f(ctx context.Context, pool Pool, name string) int {{
	n, _ := pool.Start({given})
	return n
}}
"""
MADE_HERE = """package a

type DB struct{{}}

type Tx struct{{}}

func (db *DB) init() error {{
	return nil
}}

func f() {{
	t := &{kind}{{}}
	t.init()
}}
"""
ANSWERED = """package a

import "net/http"

type buffer struct {{
	data []byte
}}

func (b *buffer) Write(data []byte) (int, error) {{
	b.data = append(b.data, data...)
	return len(data), nil
}}

func f(w {kind}, data []byte) {{
	_, _ = w.Write(data)
}}
"""
COMMENTED = """package a

import "encoding/json"

func f(data map[string]any) []byte {{
	// {words}
	kept := []any{{data}}
	text, _ := json.Marshal(kept)
	return text
}}
"""
DOCUMENTED = """package a

import "strconv"

// number returns the number of a text.{words}
func number(text string) int {{
	n, _ := strconv.Atoi(text)
	return n
}}
"""
KINDS = """package a

import "errors"

type kind int

const (
	invalid kind = iota
	other
)

func kindOf(text string) (kind, error) {{
	if text == "" {{
		return {failed}, errors.New("no kind")
	}}
	return other, nil
}}

func same(a, b string) bool {{
	left, _ := kindOf(a)
	right, err := kindOf(b)
	return err == nil && left == right
}}
"""
ARRAY = """package a

func f(n int) int {{
	parts := [{size}]int{{0, n}}
	return parts[2]
}}
"""
TWINS = {
    "a file that is only opened, and one that is made": (
        "go-file-mode",
        OPENED.format(how="os.O_RDWR"),
        OPENED.format(how="os.O_RDWR|os.O_CREATE"),
    ),
    "a lock that what is returned releases, and one that is forgotten": (
        "go-lock-kept",
        BEGUN.format(made="&Tx{db: db}"),
        BEGUN.format(made="db.items[key]"),
    ),
    "a method that only runs below a lock, and one that anybody calls": (
        "go-unguarded-write",
        CLEARED.format(first="db.unmap()"),
        CLEARED.format(first="meta = nil"),
    ),
    "a pointer to a lock, and a lock": (
        "go-lock-copied",
        COPIED.format(kind="*sync.Mutex"),
        COPIED.format(kind="sync.Mutex"),
    ),
    "a text that a call fills, and one that stays empty": (
        "go-out-of-range",
        FILLED.format(given="&field"),
        FILLED.format(given="nil"),
    ),
    "a cookie that becomes secure below TLS, and one that does not": (
        "go-cookie",
        COOKIE.format(later="cookie.Secure = true"),
        COOKIE.format(later="cookie.MaxAge = 60"),
    ),
    "what stands behind the question mark, and what the address begins with": (
        "go-open-redirect",
        SENT_ON.format(joint='"?"'),
        SENT_ON.format(joint='""').replace("path +=", "path ="),
    ),
    "an imported name in a page, and a parameter": (
        "go-template-html",
        MARKED.format(value="version.Current.String()"),
        MARKED.format(value="note"),
    ),
    "an imported name in a page, and a parameter that a tag names": (
        "go-template-html",
        MARKED.format(value="version.Current.String()"),
        MARKED.format(value="note") + '\ntype Row struct {\n\tText string `json:"note"`\n}\n',
    ),
    "an error on the way to another, and the only one": (
        "go-discarded-error",
        ENDED.format(error="errClosed"),
        ENDED.format(error="nil"),
    ),
    "an error of clearing up before the first one is returned, and after which it goes on": (
        "go-discarded-error",
        FAILED.format(after="return err"),
        FAILED.format(after="path = err.Error()"),
    ),
    "a call that hands on the error it is given, and one that may fail by itself": (
        "go-discarded-error",
        HANDED_ON.format(error="ErrClosed"),
        HANDED_ON.format(error="nil"),
    ),
    "both results dropped on purpose, and the error alone": (
        "go-discarded-error",
        WRITTEN.format(names="_, _", result="0").replace(":=", "="),
        WRITTEN.format(names="n, _", result="n"),
    ),
    "a name that can be set, and any name": (
        "go-discarded-error",
        SET.format(name="name"),
        SET.format(name="word"),
    ),
    "a line of a log, and a command": (
        "go-discarded-error",
        LOGGED.format(step='_ = l.Output(2, "done")'),
        LOGGED.format(step="_, _ = c.Output()"),
    ),
    "a second result that is a context, and one that may be an error": (
        "go-discarded-error",
        STARTED.format(given="ctx"),
        STARTED.format(given="name"),
    ),
    "a method of another type, and the one that fails": (
        "go-discarded-error",
        MADE_HERE.format(kind="Tx"),
        MADE_HERE.format(kind="DB"),
    ),
    "a method of what is given, and one of the file": (
        "go-discarded-error",
        ANSWERED.format(kind="http.ResponseWriter"),
        ANSWERED.format(kind="*buffer").replace('import "net/http"\n', ""),
    ),
    "a reason above the step before, in the middle of a sentence, and none": (
        "go-discarded-error",
        COMMENTED.format(words="It is safe to ignore the error\n\t// here: it was written before."),
        COMMENTED.format(words="All of it is kept\n\t// here: it was written before."),
    ),
    "what a function says it gives instead, and nothing": (
        "go-discarded-error",
        DOCUMENTED.format(words="\n// If it is not a number, 0 is returned."),
        DOCUMENTED.format(words=""),
    ),
    "a value that tells the failure, and one that does not": (
        "go-discarded-error",
        KINDS.format(failed="invalid"),
        KINDS.format(failed="0"),
    ),
    "the last place of an array that is longer than what is written, and one behind it": (
        "go-out-of-range",
        ARRAY.format(size="3"),
        ARRAY.format(size="2"),
    ),
}


@pytest.mark.parametrize(("rule", "harmless", "flawed"), TWINS.values(), ids=list(TWINS))
def test_twins_are_told_apart(rule: str, harmless: str, flawed: str) -> None:
    assert rules("go", harmless) == []
    assert rules("go", flawed) == [rule]
