"""Go rules for cookies, sessions and what other sites may ask."""

import re
from functools import lru_cache

from moot.scan.engine.rulebook import Site
from moot.scan.engine.values import ALL
from moot.scan.go.rules import flaws as flaw
from moot.scan.go.rules.when import is_const, number, sink
from moot.scan.rules.when import finds

SET_LATER = re.compile(r"(?<![\w.])(\w+)\.(Secure|HttpOnly)\s*=\s*(?!false\b)\w")
SENT = re.compile(r",\s*&?(\w+)\s*\)$")


def _plain_cookie(site: Site) -> bool:
    secure = site.arg("Secure")
    plain = _is_set(site) and (secure is None or is_const(secure, False))
    return plain and not _is_set_later(site, site.words().partition(" ")[0], "Secure")


def _is_set_later(site: Site, name: str, flag: str) -> bool:
    """`if r.TLS != nil { cookie.Secure = true }`"""
    return (name, flag) in _list_set_later(site.around())


@lru_cache(maxsize=4)
def _list_set_later(around: str) -> frozenset[tuple[str, str]]:
    return frozenset(SET_LATER.findall(around))


COOKIES = "net/http.Cookie " + " ".join(f"github.com/gofiber/fiber{version}.Cookie" for version in ("", "/v2", "/v3"))
SESSIONS = "github.com/gorilla/sessions.Options github.com/gin-contrib/sessions.Options"
CORS_OPTIONS = (
    "github.com/rs/cors.Options github.com/go-chi/cors.Options github.com/gin-contrib/cors.Config "
    "github.com/labstack/echo/middleware.CORSConfig github.com/labstack/echo/v4/middleware.CORSConfig "
    "github.com/gofiber/fiber/v2/middleware/cors.Config github.com/gofiber/fiber/v3/middleware/cors.Config"
)


def _is_on(site: Site, *names: str) -> bool:
    value = site.arg(*names)
    return value is not None and not is_const(value, False)


def _is_script_session(site: Site) -> bool:
    return _is_on(site, "Secure") and not _is_on(site, "HttpOnly")


def _allows_every_site(site: Site) -> bool:
    """With the visitor's cookies: a list with `*`, or a function that says yes to all."""
    if not is_const(site.arg("AllowCredentials"), True):
        return False
    origins = site.arg("AllowedOrigins", "AllowOrigins")
    listed = is_const(origins, "*") or any(is_const(each, "*") for each in site.items(origins) or ())
    every = is_const(site.arg("AllowAllOrigins"), True)
    return listed or every or ALWAYS_YES.search(site.text()) is not None


ALWAYS_YES = re.compile(
    r"Allow(?:ed)?Origins?(?:Request)?Func:\s*func\([^()]*\)\s*\(?bool[^{]*\{\s*return true(?:,\s*nil)?;?\s*\}"
)


def _echoes_origin(site: Site) -> bool:
    """The origin of the request, whatever it is, beside leave to send cookies."""
    value = site.arg(1)
    taints = value.taints if value is not None and is_const(site.arg(0), "Access-Control-Allow-Origin") else ()
    asked = any(not taint.ended & {ALL, "ssrf"} for taint in taints)
    return asked and "Access-Control-Allow-Credentials" in site.around()


def _is_script_cookie(site: Site) -> bool:
    return _is_set(site) and not _plain_cookie(site) and (
        site.arg("HttpOnly", "HTTPOnly") is None or is_const(site.arg("HttpOnly", "HTTPOnly"), False)
    )  # fmt: skip


def _is_set(site: Site) -> bool:
    """A cookie that is set, not deleted, and not sent by a client: a request has names and values of cookies only."""
    if re.search(r"\.AddCookie\(", site.around()) and "SetCookie(" not in site.around():
        return False
    age = number(site.arg("MaxAge"))
    return site.arg("Value") is not None and not (age is not None and age < 0) and not is_const(site.arg("Value"), "")


def _is_made_empty(site: Site) -> bool:
    """`c := new(http.Cookie)`, whose fields are set afterwards."""
    return finds(r"new\(http\.Cookie\)|var \w+ http\.Cookie\b|http\.Cookie\{\}", site.around())


def _lacks(site: Site, flag: str) -> bool:
    cookie, sent = site.arg(1), SENT.search(site.text())
    named = site.setting(cookie, "Value") is not None and _is_made_empty(site)
    value = site.setting(cookie, flag)
    plain = named and (value is None or is_const(value, False))
    return plain and not (sent is not None and _is_set_later(site, sent[1], flag))


SINKS = (
    sink(flaw.COOKIE, "cookie", "net/http.SetCookie", when=lambda site: _lacks(site, "Secure")),
    sink(flaw.COOKIE_SCRIPT, "cookie", "net/http.SetCookie", when=lambda site: _lacks(site, "HttpOnly")),
    sink(flaw.COOKIE, "cookie", COOKIES, when=_plain_cookie),
    sink(flaw.COOKIE_SCRIPT, "cookie", COOKIES, when=_is_script_cookie),
    sink(flaw.COOKIE, "cookie", SESSIONS, when=lambda site: not _is_on(site, "Secure", "CookieSecure")),
    sink(flaw.COOKIE_SCRIPT, "cookie", SESSIONS, when=_is_script_session),
    sink(flaw.CORS, "cors", CORS_OPTIONS, when=_allows_every_site),
    sink(flaw.CORS, "cors", ".Set .Add .Header", when=_echoes_origin),
)  # fmt: skip
