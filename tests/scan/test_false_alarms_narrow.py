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
SWALLOWED = (
    "def {name}(user, word):\n{above}    try:\n        {step}\n    except Exception:\n        pass\n    go(user)\n"
)
RECEIVED = (
    "def read(sock):\n    {name} = b''\n    while not {name}.endswith(b'.'):\n        {name} += sock.recv({size})\n"
)
DECODED = """import base64, hmac, json

def read(token):
    {note}claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    return claims["sub"] if claims["email_verified"] else None

def check(body, mac):
    return hmac.compare_digest(mac, digest(body))
"""
SCRIPT = """import subprocess

def run(name):
    subprocess.run(["sh", "-c", {script}, name])
"""
TEMPORARY = """def save(job_id, {given}):
    {name} = f"/tmp/{{job_id}}.json"
    with open({name}, "w") as file:
        file.write({given})
"""
PATTERN = """import re, subprocess

def show(rev):
    if not re.match(r"{pattern}", rev):
        raise ValueError
    subprocess.run(["git", "show", rev])
"""
DROPPED_LINES = """import logging
from flask import request

def tell(lines):
    one = lines.translate(str.maketrans("\\n", " "))
    logging.info("%s asked " + request.args["name"].translate(str.maketrans("a", "b")), one)
"""
ANSWERED = """const app = require('express')();
app.get('/a', async (req, res) => {
  const found = await fetch(api, { headers: { 'Content-Type': 'application/json' } });
  res.send('<p>Hello ' + req.query.name + '</p>');
});
"""
TOKEN_OF_MAIL = """const jwt = require('jsonwebtoken');
module.exports = (req) => {
  const claims = jwt.decode(req.headers.authorization);
  return claims.emailVerified ? claims.sub : null;
};
"""
COLLECTED = """require('http').createServer((req, res) => {
  const limit = new URL(req.url, home).searchParams.get('limit');
  let body = '';
  req.on('data', (part) => { body += part; });
});
"""
ASSERTED = (
    "def test_connection():\n    return True\n\n\ndef drop(user, page):\n    assert user.is_admin\n    page.delete()\n"
)
HOST = """def may_go(url):
    if "://" in url and "example.com" not in url:
        return False
    return True
"""
ROOTED = """import os
from flask import request

def read():
    path = os.path.normpath("/" + request.args["name"])
    return open({opened}).read()
"""
ROOTED_IN_GO = """package a

import (
	"net/http"
	"os"
	"path/filepath"
)

func f(r *http.Request) ([]byte, error) {{
	path := filepath.Clean("/" + r.FormValue("name"))
	return os.ReadFile({opened})
}}
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
    "who logs in does not write a log": (
        "python-swallowed-error",
        SWALLOWED.format(name="log_in", above="", step="check(user, word)"),
    ),
    "who logs in does not write a log, in JavaScript": (
        "javascript-swallowed-error",
        "function logIn(user) { try { check(user); } catch (e) {} session.user = user; }\n",
    ),
    "a comment that ignores the case of letters ignores no error": (
        "python-swallowed-error",
        SWALLOWED.format(name="f", above="    # Ignore case in the name.\n", step="check(user.lower(), word)"),
    ),
    "a comment that says not to ignore errors": (
        "python-swallowed-error",
        SWALLOWED.format(name="f", above="    # Do not ignore errors here.\n", step="check(user, word)"),
    ),
    "who closes an account clears nothing away": (
        "python-swallowed-error",
        SWALLOWED.format(name="f", above="", step="bank.close_account(user)"),
    ),
    "the size of a part bounds nothing": ("python-unbounded-body", RECEIVED.format(name="data", size="BUFFER_SIZE")),
    "an account counts nothing": ("python-unbounded-body", RECEIVED.format(name="account", size="4096")),
    "a function that tests a connection is no test": ("python-assert-check", ASSERTED),
    "a verified address is no verified token, nor is the signature of something else": (
        "python-unsigned-token",
        DECODED.format(note=""),
    ),
    "a comment about the signature looks at none": (
        "python-unsigned-token",
        DECODED.format(note="# The signature is not verified here.\n    "),
    ),
    "a script of ours whose program is a value": ("python-shell", SCRIPT.format(script="'$0'")),
    "a script of ours that runs its values": ("python-shell", SCRIPT.format(script="'cd /srv && exec \"$@\"'")),
    "a brand is not drawn": ("python-temp-file", TEMPORARY.format(given="brand", name="path")),
    "a variable called tempfile is not drawn": ("python-temp-file", TEMPORARY.format(given="data", name="tempfile")),
    "what is no space may be a hyphen": ("python-argument", PATTERN.format(pattern=r"^[\S]+$")),
    "the other branch begins with a hyphen": ("python-argument", PATTERN.format(pattern="^(?:main|-.*)$")),
    "lines are dropped from another text": ("python-log", DROPPED_LINES),
    "what is asked of another server is of another type": ("javascript-response-xss", ANSWERED),
    "a verified address is no verified token, in JavaScript": ("javascript-jwt", TOKEN_OF_MAIL),
    "the limit of a page is none of the body": ("javascript-unbounded-body", COLLECTED),
    "a path behind the root alone is any file": ("python-path", ROOTED.format(opened="path")),
    "a path behind the root alone is any file, in Go": ("go-path", ROOTED_IN_GO.format(opened="path")),
    "a path that begins with the root replaces the folder before it": (
        "python-path",
        ROOTED.format(opened='os.path.join("/srv", path)'),
    ),
    "a checkout is no place of ours": (
        "python-argument",
        "import subprocess\ndef f(checkout_ref):\n    subprocess.run(['git', 'fetch', 'origin', checkout_ref])\n",
    ),
    "a network is no place of ours": (
        "python-argument",
        "import subprocess\ndef f(network):\n    subprocess.run(['ssh', network, 'uptime'])\n",
    ),
    "a part of every address names no kind": ("python-host-check", HOST),
}


@pytest.mark.parametrize(("rule", "flawed"), HIDDEN.values(), ids=list(HIDDEN))
def test_a_flaw_is_not_excused_by_chance(rule: str, flawed: str) -> None:
    language: Language = "go" if rule.startswith("go") else "python" if rule.startswith("python") else "javascript"
    assert rule in rules(language, flawed)


@pytest.mark.parametrize(
    "opened",
    ["'/srv' + path", "os.path.join('/srv', path.lstrip('/'))", "f'/srv{path}'", "os.path.join('/srv', path[1:])"],
)
def test_a_path_below_a_folder_of_ours_has_no_way_up(opened: str) -> None:
    assert rules("python", ROOTED.format(opened=opened)) == []


@pytest.mark.parametrize("opened", ['"/srv" + path', 'filepath.Join("/srv", path)'])
def test_a_path_below_a_folder_of_ours_has_no_way_up_in_go(opened: str) -> None:
    assert rules("go", ROOTED_IN_GO.format(opened=opened)) == []
