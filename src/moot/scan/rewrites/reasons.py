"""Why some flaws are left to people: the code does not say enough, or a fix would break legitimate use."""


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


KEY = "data or tokens made with the old one could no longer be read, so it has to be changed together with them"
ALLOWED = "what is allowed is nowhere in the code"
FORMAT = "the format itself runs code; who writes the data has to change to another one as well"
SECRET = "the program needs the secret: it has to be set up elsewhere first, and what was published must be replaced"
ERROR = "whether the rest may go on after this error is for you to decide"
REASONS: dict[str, str] = {
    "program": "which programs may be run is nowhere in the code",
    "argument": "which arguments may be given is nowhere in the code",
    "require": "which modules may be loaded is nowhere in the code",
    "ssrf": "which hosts may be asked is nowhere in the code",
    "browser-ssrf": "which pages may be opened is nowhere in the code",
    "trust-boundary": f"{ALLOWED}; a value that is checked here would be trusted everywhere else",
    "mass-assignment": "which fields a visitor may set is nowhere in the code",
    "render-options": "which variables the template takes is nowhere in the code",
    "upload": "which kinds and sizes of files are wanted is nowhere in the code",
    "cors": "which other sites may ask is nowhere in the code",
    "bind-all": "whether others must reach the server is decided where it runs, as in a container",
    "clear-text": "the other side has to speak the encrypted protocol too",
    "helmet-off": "pages may count on the header that is missing",
    "electron": "the window's scripts may count on it",
    "template": "the template itself comes from outside",
    "pickle": FORMAT,
    "deserialise": FORMAT,
    "slow-regex": "a pattern that matches the same texts in less time has to be thought out",
    "regex-panic": "what shall happen with a broken pattern is nowhere in the code",
    "weak-cipher": KEY,
    "static-iv": KEY,
    "static-salt": KEY,
    "few-rounds": KEY,
    "password-hash": "stored passwords would no longer match; they have to be reset or hashed again at the next login",
    "hardcoded-secret": SECRET,
    "written-key": SECRET,
    "easy-login": SECRET,
    "empty-password": SECRET,
    "jwt-content": "whoever reads the token may count on the field",
    "swallowed-error": ERROR,
    "discarded-error": ERROR,
    "temp-file": "another program may look for the file under this name",
    "file-mode": "who must read or write the file is decided where the program runs",
    "error-shown": "what a visitor may be told of the error is nowhere in the code",
    "oauth-state": "where the session of a visitor is kept is nowhere in the code",
    "type-confusion": "whether an array or an object is wanted there is nowhere in the code",
    "decompression-bomb": "how large the data may become is nowhere in the code",
    "escape-off": "escaping was switched off on purpose: the templates may be no pages",
    "raw-memory": "the size of the memory behind the pointer is unknown",
    "xml-bomb": "Python's own parser has no switch against it; it takes another package",
}
"""By rule name without its language."""
IMPLEMENTERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "markup": (_words("jinja2 markupsafe django flask werkzeug"), _words("Markup mark_safe conditional_escape")),
    "autoescape": (_words("jinja2"), _words("Environment select_autoescape")),
    "template-string": (_words("jinja2 mako django flask"), _words("Environment render_template_string")),
    "header": (_words("httpx requests urllib3 werkzeug starlette django bottle tornado aiohttp"), frozenset()),
    "cookie": (_words("werkzeug starlette django flask bottle tornado aiohttp webob quart"), _words("set_cookie")),
    "cookie-script": (
        _words("werkzeug starlette django flask bottle tornado aiohttp webob quart"),
        _words("set_cookie"),
    ),
    "tls-verify": (_words("requests httpx httpcore urllib3 aiohttp pip"), _words("create_default_context")),
    "tls-version": (_words("requests httpx httpcore urllib3 aiohttp pip"), _words("create_default_context")),
    "yaml-load": (_words("yaml ruamel"), _words("SafeLoader safe_load")),
    "sql-string": (_words("sqlalchemy django peewee sqlite_utils dataset records"), frozenset()),
    "response-xss": (_words("werkzeug starlette django flask bottle tornado aiohttp"), frozenset()),
    "open-redirect": (_words("werkzeug starlette django flask bottle tornado aiohttp"), frozenset()),
}
"""Packages and names that implement the mechanism itself, and so are not its users."""
IMPLEMENTED = "the project implements this itself, and what its users want of it is not known here"
