"""Rules for Go libraries beyond the standard one: directories, documents, tokens, sessions."""

import re

from moot.scan.engine.rulebook import NamedStore, Site, When
from moot.scan.engine.values import BUILT, SHARED
from moot.scan.go.rules import flaws as flaw
from moot.scan.go.rules import names as names
from moot.scan.go.rules import patterns as known
from moot.scan.go.rules.when import CALLER, MEDIUM, SURE, is_const, sink
from moot.scan.rules.logins import asks_for_login
from moot.scan.rules.secrets import PLACEHOLDER
from moot.scan.rules.when import DRAWN, finds, is_guessable

JWTS = tuple(
    f"github.com/{owner}" for owner in ("golang-jwt/jwt", "golang-jwt/jwt/v4", "golang-jwt/jwt/v5", "dgrijalva/jwt-go")
)
JWXS = tuple(f"github.com/lestrrat-go/jwx{version}/{part}" for version in ("", "/v2", "/v3") for part in ("jwt", "jws"))
XPATHS = tuple(f"github.com/antchfx/{name}" for name in ("xmlquery", "htmlquery", "jsonquery"))
MONGO = ("go.mongodb.org/mongo-driver/bson", "go.mongodb.org/mongo-driver/v2/bson", "gopkg.in/mgo.v2/bson")
METHOD = re.compile(r"(?<!\br)(?<!\breq)(?<!equest)\.Method\b|ValidMethods|\.Alg\(\)|SigningMethod\w+\)?\s*;\s*!?ok")
"""`r.Method` is that of a request."""


def _every(owners: tuple[str, ...], *members: str) -> str:
    return " ".join(f"{owner}.{name}" for owner in owners for name in members)


def _method_unchecked(site: Site) -> bool:
    """A key function, here or elsewhere in the file, that never checks the signing method of the token."""
    if METHOD.search(site.text()) or finds(METHOD, site.around()):
        return False
    named = site.contains("*jwt.Token) (") and not any(site.contains(word) for word in CHECKS_METHOD)
    return "func(" in site.text() or named


CHECKS_METHOD = (
    ".Method.(", ".Method.Alg", "oken.Method", ".Method == jwt.", ".Method != jwt.", "ValidMethods", ".Alg()",
    '["alg"]',
)  # fmt: skip


def _is_filter_sent(site: Site) -> bool:
    """A whole filter that was decoded from a request."""
    query = site.arg(1)
    sent = query is not None and not query.refs and any(".Body" in taint.origin for taint in query.taints)
    return sent and any(site.module(name.rpartition("/")[0] + "/mongo") or site.module(name) for name in MONGO)


def _asks_for_login(site: Site) -> bool:
    """A password or a name that is compared by the database, of a type that may be an object of conditions."""
    loose = re.search(r"(?:interface\{\}|\bany\b)", site.around().partition("{\n")[0]) is not None
    return loose and site.module(*MONGO) and asks_for_login(site, site.arg(1))


def _is_json_built(site: Site) -> bool:
    text = site.arg(0)
    return text is not None and BUILT in text.marks


def _skips_check(site: Site) -> bool:
    return is_const(site.arg(0), False)


def _is_literal_key(site: Site) -> bool:
    key = site.arg(0)
    text = key.const if key is not None else None
    text = text.decode("latin-1") if isinstance(text, bytes) else text
    return isinstance(text, str) and bool(text) and not PLACEHOLDER.search(text)


def _signs_nothing(site: Site) -> bool:
    key = site.arg(0)
    return key is not None and key.name.endswith(".UnsafeAllowNoneSignatureType")


def _has_no_method(site: Site) -> bool:
    method = site.arg(0)
    return method is not None and method.name.endswith(".SigningMethodNone")


def _is_put_together(*places: int | str) -> When:
    """Certainly from outside, or put into a text here: a bare parameter may be a whole expression of ours."""

    def check(site: Site) -> bool:
        given = [value for place in places if (value := site.arg(place)) is not None and value.taints]
        return any(not value.name or any(taint.strength >= MEDIUM for taint in value.taints) for value in given)

    return check


def _is_script(site: Site) -> bool:
    codes = (site.setting(site.arg(place), "$where") for place in (0, 1))
    return site.module(*MONGO) and any(code is not None and bool(code.taints) for code in codes)


def _sessions(site: Site) -> bool:
    return site.module("github.com/gin-contrib/sessions")


def _is_shared_file(site: Site) -> bool:
    path = site.arg(0)
    if path is None:
        return False
    around = site.around()
    guessed = SHARED in path.marks and (is_guessable(around) or not finds(DRAWN, around))
    return guessed or re.match(r"/(?:var/)?tmp/", str(path.const)) is not None


def _page(site: Site) -> bool:
    kind = site.arg(1)
    return kind is not None and isinstance(kind.const, str) and "html" in kind.const


SINKS = (
    sink(flaw.LDAP, "ldap", _every(names.LDAPS, "SearchRequest"), "Filter", "BaseDN",
         when=_is_put_together("Filter", "BaseDN"), floor=CALLER),
    sink(flaw.NOSQL, "nosql", ".Find .FindOne .CountDocuments .UpdateMany .UpdateOne .DeleteMany .DeleteOne "
         ".FindOneAndUpdate .FindOneAndDelete", 1, when=_is_filter_sent, floor=SURE),
    sink(flaw.NOSQL, "nosql", _every(MONGO, "UnmarshalExtJSON", "UnmarshalJSON"), 0, when=_is_json_built, floor=SURE),
    sink(flaw.NOSQL, "nosql", ".FindOne .Find .CountDocuments", 1, when=_asks_for_login, floor=CALLER),
    sink(flaw.JWT, "jwt", _every(JWXS, "WithVerify"), when=_skips_check),
    sink(flaw.JWT, "jwt", _every(JWXS, "ParseInsecure", "WithInsecureNoSignature")),
    sink(flaw.JWT, "jwt", ".UnsafeClaimsWithoutVerification"),
    sink(flaw.LDAP, "ldap", _every(names.LDAPS, "NewSearchRequest"), 0, 6, when=_is_put_together(0, 6), floor=CALLER),
    sink(flaw.XPATH, "xpath", _every(XPATHS, "Find", "FindOne", "Query", "QueryAll", "FindEach"), 1,
         when=_is_put_together(1), floor=CALLER),
    sink(flaw.XPATH, "xpath", "github.com/antchfx/xpath.Compile github.com/antchfx/xpath.MustCompile", 0,
         when=_is_put_together(0), floor=CALLER),
    sink(flaw.NOSQL, "code", ".Find .FindOne .CountDocuments .UpdateMany .DeleteMany", 0, 1, when=_is_script,
         floor=CALLER),
    sink(flaw.JWT, "jwt", ".SignedString", when=_signs_nothing),
    sink(flaw.JWT, "jwt", _every(JWTS, "NewWithClaims", "New"), when=_has_no_method),
    sink(flaw.REGEX, "regex", "regexp.MustCompile regexp.MustCompilePOSIX", 0, floor=SURE),
    sink(flaw.JWT, "jwt", ".ParseUnverified", when=lambda site: site.module(*JWTS)),
    sink(flaw.JWT_METHOD, "jwt", _every(JWTS, "Parse", "ParseWithClaims"), when=_method_unchecked),
    sink(flaw.KEY, "secret", ".SignedString", when=_is_literal_key),
    sink(flaw.TRUST, "trust", ".Set", 0, 1, when=_sessions, floor=SURE),
    sink(known.RESPONSE, "xss", f"{names.GIN}.Data", 2, when=_page, floor=SURE),
    sink(known.PATH, "path", f"{names.GIN}.SaveUploadedFile", 1, floor=SURE),
    sink(flaw.COOKIE, "cookie", f"{names.GIN}.SetCookie", when=lambda site: is_const(site.arg(5), False)),
    sink(flaw.COOKIE_SCRIPT, "cookie", f"{names.GIN}.SetCookie",
         when=lambda site: is_const(site.arg(6), False) and is_const(site.arg(5), True)),
    sink(flaw.TEMP_FILE, "temp", "os.Create os.WriteFile io/ioutil.WriteFile",
         when=_is_shared_file),
)  # fmt: skip
STORES = (
    NamedStore(
        flaw.TRUST,
        "trust",
        r"\.Values\[",
        "outside",
        keys=True,
        imported=r"(?i)(?:sess|\.Get\(\)).*\.Values$",
        floor=SURE,
    ),
)
