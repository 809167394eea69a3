"""Conditions of the JavaScript rules about what is sent to a visitor: pages, headers, cookies."""

import re

from moot.scan.engine.rulebook import Site, When
from moot.scan.engine.values import ALL
from moot.scan.javascript.rules.when import is_const, text_of
from moot.scan.rules.when import finds
from moot.scan.syntax import words

TEXT_RESULTS = re.compile(
    r"\.(?:toString|strip|join|lower|upper|replace|replace_first|get|concat|substr)\(\)$|^String\(\)$"
)

SESSION_COOKIE = re.compile(r"(?i)token|sess|auth|jwt|sid$|login|remember")

RESPONSE = re.compile(r"(?:res|reply|ctx)(?:\.(?:response|raw|res|headers))?(?:\.\w+\(\))*\.\w+")


def on_response(site: Site) -> bool:
    """A method of the response itself: `ctx.issues.append` is not one."""
    return RESPONSE.fullmatch(site.name) is not None


PLAIN_TYPE = re.compile(
    r"""(?:type|contentType|set|header|writeHead)\([^()]*['"](?:text/plain|text/csv|text|txt|json|csv|application/\w+)['"]"""
)
"""`res.type("text/plain")`"""

OTHER_TYPE = re.compile(
    r"""(?i)\b(?!headers)\w{1,40}\.(?:set|header|setHeader|append|type|contentType|writeHead)\([^()]{0,200}?"""
    r"""content-type['"]?\s*[:,]\s*['"](?:text/(?:plain|csv)|application/\w+|image/)"""
)
"""Of the answer: what is asked of another server may be of any type."""


def page(site: Site) -> bool:
    """Text sent as HTML. An object becomes JSON; the result of an unknown function may be anything."""
    if not site.name.startswith("res."):
        return False
    first = site.arg(0)
    if first is None or first.refs or not first.taints or first.name in ("req.body", "req.query", "req.params"):
        return False
    if PLAIN_TYPE.search(re.split(r"\b(?:send|end)\(", site.text())[0]) or _is_of_other_type(site.around()):
        return False
    return not first.name.endswith("()") or bool(TEXT_RESULTS.search(first.name))


def _is_of_other_type(around: str) -> bool:
    return finds(OTHER_TYPE, around) and not finds("html", around)


def options_from_outside(site: Site) -> bool:
    value = site.arg(1)
    return site.name.startswith("res.") and value is not None and bool(value.taints) and not value.refs


def without_root(site: Site) -> bool:
    return site.name.startswith("res.") and site.setting(site.arg(1), "root") is None


PERSONAL = re.compile(
    r"(?i)\|(?:\w*website|homepage|home_?page|(?:user|author|profile|personal|social|blog|company)_?(?:url|link|page)|portfolio)$"
)


def is_personal_address(site: Site) -> bool:
    """The address that somebody gave as their own: `javascript:…` is one too, until its beginning is looked at."""
    value = site.arg(0)
    return value is not None and any(
        PERSONAL.search(taint.origin) and not taint.ended & {"option", ALL} for taint in value.taints
    )


def cookie_flag(flag: str) -> When:
    def check(site: Site) -> bool:
        if not site.name.startswith(("res.", "reply.")):
            return False
        options = site.arg(2)
        value = site.setting(options, flag)
        if value is not None:
            return is_const(value, False)
        name = text_of(site.arg(0))
        plain = options is None or bool(options.refs)
        return plain and name is not None and bool(SESSION_COOKIE.search(name))

    return check


CHECKED_SITE = frozenset({ALL, "ssrf"})
"""What is proved of an origin that is one of ours."""


def any_site(site: Site) -> bool:
    """`Access-Control-Allow-Origin: *`, or the origin of the request."""
    name, value = text_of(site.arg(0)), site.arg(1)
    if name is not None and name.lower() == "access-control-allow-origin":
        return is_const(value, "*") or (value is not None and any(not t.ended & CHECKED_SITE for t in value.taints))
    for table in (site.arg(0), value):
        for key in ("Access-Control-Allow-Origin", "access-control-allow-origin"):
            if is_const(site.setting(table, key), "*"):
                return True
    return False


def open_cors(site: Site) -> bool:
    origin = site.setting(site.arg(0), "origin")
    every = is_const(origin, True) or ALWAYS_YES.search(site.text()) is not None
    return is_const(origin, "*") or (every and is_const(site.setting(site.arg(0), "credentials"), True))


ALWAYS_YES = re.compile(
    r"origin\s*(?::\s*(?:async\s+)?(?:function\s*\w*\s*)?)?\([^()]*\)\s*(?:=>)?\s*\{?\s*(?:return\s+)?"
    r"(?:\w+\(\s*null\s*,\s*true\s*\)|true\b)"
)
"""A function that says yes to every origin."""

HELMET_PARTS = words(
    "frameguard xssFilter hsts noSniff contentSecurityPolicy hidePoweredBy ieNoOpen referrerPolicy dnsPrefetchControl "
    "xFrameOptions strictTransportSecurity xContentTypeOptions"
)


def helmet_off(site: Site) -> bool:
    return any(is_const(site.setting(site.arg(0), part), False) for part in HELMET_PARTS)


def session_without(flag: str) -> When:
    """A session whose cookie options lack this one."""

    def check(site: Site) -> bool:
        cookie = site.setting(site.arg(0), "cookie")
        return cookie is not None and bool(cookie.refs) and site.setting(cookie, flag) is None

    return check


def names_location(site: Site) -> bool:
    name = text_of(site.arg(0))
    return name is not None and name.lower() == "location"


def sends_elsewhere(site: Site) -> bool:
    """`res.writeHead(302, { Location: url })`"""
    options = (site.arg(1), site.arg(2))
    targets = [site.setting(value, key) for value in options for key in ("Location", "location")]
    return any(not taint.ended & {ALL, "redirect"} for value in targets if value is not None for taint in value.taints)
