"""What excuses one piece of code does not excuse another that has a word of it by chance."""

import pytest
from samples import rules

from moot.core.types import Language

SHOWN = """package a

import (
	"html/template"
	"net/http"
)

const param = "comment"

func show(w http.ResponseWriter, r *http.Request) {
	comment := r.FormValue(param)
	use(template.HTML("<b>" + comment + "</b>"))
}
"""
UNCHECKED = """package a

import "crypto/tls"

func dial() *tls.Config {
	return &tls.Config{
		// TODO: our own verification function
		InsecureSkipVerify: true,
	}
}
"""
EMPTY_COOKIES = """package a

import "net/http"

func login(w http.ResponseWriter, token string) {
	c := new(http.Cookie)
	c.Name = "session"
	c.Value = token
	c.HttpOnly = true
	http.SetCookie(w, c)
}

func theme(w http.ResponseWriter, word string) {
	c := new(http.Cookie)
	c.Name = "theme"
	c.Value = word
	c.Secure = true
	c.HttpOnly = true
	http.SetCookie(w, c)
}
"""
TWO_COOKIES = """package a

import "net/http"

func login(w http.ResponseWriter, token string) {
	theme := &http.Cookie{Name: "theme", Value: "dark", HttpOnly: true}
	theme.Secure = true
	http.SetCookie(w, theme)
	session := &http.Cookie{Name: "session", Value: token, HttpOnly: true}
	http.SetCookie(w, session)
}
"""
COUNTED = """package a

import "net/http"

type counter struct{ hits map[string]int }

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("X-Seen", "1")
	c.hits[r.URL.Path]++
}
"""
UPLOADED = """package a

import (
	"io"
	"log"
	"net/http"
)

func upload(w http.ResponseWriter, r *http.Request) {
	log.Println(r.ContentLength)
	body, err := io.ReadAll(r.Body)
	use(body, err)
}
"""
UPLOADED_TO_GIN = """package a

import (
	"io"

	"github.com/gin-gonic/gin"
)

func upload(ctx *gin.Context) {
	body, err := io.ReadAll(ctx.Request.Body)
	use(body, err)
}
"""
TOKEN = """package a

import (
	"net/http"

	"github.com/golang-jwt/jwt/v5"
)

func keyOf(t *jwt.Token) (any, error) { return key, nil }

func check(w http.ResponseWriter, r *http.Request) {
	if r.Method != "POST" {
		return
	}
	token, err := jwt.Parse(r.Header.Get("Authorization"), KEY)
	use(token, err)
}
"""
STARTED = """package a

import "context"

type Server struct{}

func (s *Server) Start(ctx context.Context) error { return open(ctx) }

func run(ctx context.Context) {
	s := &Server{}
	_ = s.Start(ctx)
	serve()
}
"""
LEFT_OPEN = """package a

import "database/sql"

func save(tx *sql.Tx) {
	// TODO: handle the error
	_ = tx.Commit()
	tell()
}
"""
LOADED = """package a

import "os"

type internalPath string

type store struct {
	path internalPath
}

func (s *store) Load() ([]byte, error) {
	return nil, nil
}

func read(s *store) ([]byte, error) {
	return os.ReadFile("/data/" + string(s.path))
}
"""
HIDDEN: dict[str, tuple[str, str]] = {
    "a parameter is no import because a text of the file is its name": ("go-template-html", SHOWN),
    "a check that is still to be written is none": ("go-tls-verify", UNCHECKED),
    "another cookie is secure": ("go-cookie", EMPTY_COOKIES),
    "the cookie before is made secure": ("go-cookie", TWO_COOKIES),
    "a header is added without a lock too": ("go-handler-race", COUNTED),
    "a length that is only logged bounds nothing": ("go-unbounded-body", UPLOADED),
    "a handler of Gin may call its context as it likes": ("go-unbounded-body", UPLOADED_TO_GIN),
    "the method of the request is not that of the token": (
        "go-jwt-method",
        TOKEN.replace("KEY", "func(t *jwt.Token) (any, error) { return key, nil }"),
    ),
    "the method of the request is not that of the token, which a function of the file looks at": (
        "go-jwt-method",
        TOKEN.replace("KEY", "keyOf"),
    ),
    "a method of the file that starts something gives an error": ("go-discarded-error", STARTED),
    "a note to handle the error is no reason to drop it": ("go-discarded-error", LEFT_OPEN),
    "a type whose name begins like that of a number is none": ("go-path", LOADED),
}


@pytest.mark.parametrize(("rule", "flawed"), HIDDEN.values(), ids=list(HIDDEN))
def test_a_flaw_is_not_excused_by_chance(rule: str, flawed: str) -> None:
    language: Language = "go" if rule.startswith("go") else "python" if rule.startswith("python") else "javascript"
    assert rules(language, flawed) == [rule]
