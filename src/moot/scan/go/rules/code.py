"""Go rules for text that is run as code, and for addresses and keys that a program is given."""

import re

from moot.scan.engine.rulebook import Sink, Site, When
from moot.scan.go.rules import flaws as flaw
from moot.scan.go.rules import patterns as known
from moot.scan.go.rules.when import CALLER, MEDIUM, SURE, sink
from moot.scan.rules.secrets import PLACEHOLDER
from moot.scan.rules.when import finds

ENGINES = (
    "github.com/robertkrimen/otto", "github.com/dop251/goja", "github.com/yuin/gopher-lua", "rogchap.com/v8go",
    "github.com/traefik/yaegi/interp", "github.com/d5/tengo/v2", "go.starlark.net/starlark", "github.com/mattn/anko/vm",
    "github.com/Shopify/go-lua",
)  # fmt: skip
EXPRESSIONS = (
    "github.com/expr-lang/expr.Eval github.com/expr-lang/expr.Compile github.com/antonmedv/expr.Eval "
    "github.com/antonmedv/expr.Compile github.com/Knetic/govaluate.NewEvaluableExpression "
    "github.com/Knetic/govaluate.NewEvaluableExpressionWithFunctions github.com/PaesslerAG/gval.Evaluate"
)
ASKS = re.compile(r"\.(?:Get|Head|Post|Do|PostForm)\(|NewRequest")


def _is_engine(site: Site) -> bool:
    return site.module(*ENGINES)


def _is_asked(site: Site) -> bool:
    """`url.URL{Host: host}` of a request that is sent; the host of the one that came in is that of this server."""
    host = site.arg("Host")
    given = host is not None and any(not taint.origin.endswith("equest.Host") for taint in host.taints)
    return given and finds(ASKS, site.around())


def _is_written_key(place: int) -> When:
    def check(site: Site) -> bool:
        key = site.arg(place)
        text = key.const if key is not None else None
        text = text.decode("latin-1") if isinstance(text, bytes) else text
        return isinstance(text, str) and len(text) >= 8 and not PLACEHOLDER.search(text)

    return check


SINKS: tuple[Sink, ...] = (
    sink(flaw.CODE, "code", ".RunString .RunScript .DoString .Run .Eval .ExecFile .Execute .EvalFile", 0, 1, 2,
         when=_is_engine, floor=CALLER),
    sink(flaw.CODE, "code", EXPRESSIONS, 0, 1, floor=MEDIUM),
    sink(flaw.CODE, "code", "plugin.Open", 0, floor=MEDIUM),
    sink(known.SSRF, "ssrf", "net/http/httputil.NewSingleHostReverseProxy", 0, floor=MEDIUM),
    sink(known.SSRF, "ssrf", "net/url.URL", "Host", when=_is_asked, floor=MEDIUM),
    sink(known.RESPONSE, "xss", ".WriteTo", "self", floor=SURE,
         when=lambda site: (writer := site.arg(0)) is not None and writer.name.endswith("http.ResponseWriter")),
    sink(flaw.KEY, "secret", "crypto/aes.NewCipher golang.org/x/crypto/chacha20poly1305.New "
         "golang.org/x/crypto/chacha20poly1305.NewX", when=_is_written_key(0)),
    sink(flaw.KEY, "secret", "crypto/hmac.New", when=_is_written_key(1)),
)  # fmt: skip
