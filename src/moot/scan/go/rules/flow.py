"""Go dataflow rules: sinks, and calls that are wrong by themselves."""

import re
from collections.abc import Callable

from moot.core.secret_patterns import UNGUESSABLE
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.rulebook import ALONE, SHOWN, FlawedSetting, FlowBook, NamedStore, Sink, Site, by_name
from moot.scan.engine.rules import checks
from moot.scan.engine.values import ALL, BUILT, HEADERS, MAIL, Val
from moot.scan.go.rules import answers as answers
from moot.scan.go.rules import code as code
from moot.scan.go.rules import cookies as cookies
from moot.scan.go.rules import flaws as flaw
from moot.scan.go.rules import libraries as libraries
from moot.scan.go.rules import names as names
from moot.scan.go.rules import patterns as known
from moot.scan.go.rules.digests import (
    FAST_HASHES,
    HASHES,
    KEY_DERIVATIONS,
    has_fixed_salt,
    is_about_login,
    is_block_by_block,
    is_password_digest,
    is_plain_digest,
    is_weak_code,
    rounds_below,
)
from moot.scan.go.rules.nonces import CIPHER_MODES, has_fixed_iv
from moot.scan.go.rules.programs import (
    CONTEXT_EXECS,
    EXECS,
    is_line_built,
    is_shell_script,
    names_shell,
    takes_option,
)
from moot.scan.go.rules.queries import comes_second, is_built, is_orm
from moot.scan.go.rules.transport import allows_old_versions, allows_weak_suites, is_computed_off, skips_resumed
from moot.scan.go.rules.when import CALLER, MEDIUM, SURE, is_const, is_of_packages, number, only_opens, sink
from moot.scan.rules.when import finds

SECRET_NAME = UNGUESSABLE["go"]
PAGE_TAG = re.compile(
    r"(?i)</?(?:html|body|head|title|h[1-6]|p|div|span|a|ul|li|table|td|script|b|i|img|form)\b[^<>]*>"
)


def _sends_page(site: Site) -> bool:
    return finds(r"""Type\("html|text/html|MIMETextHTML""", site.around())


CLIENT_MODULES = (
    "github.com/go-resty/resty/v2", "resty.dev/v3", "github.com/imroc/req/v3", "github.com/levigross/grequests",
)  # fmt: skip


def _to_page(place: int) -> Callable[[Site], bool]:
    def check(site: Site) -> bool:
        writer = site.arg(place)
        return writer is not None and writer.name.endswith("http.ResponseWriter") and _is_html(site)

    return check


def _to_visitor(site: Site) -> bool:
    writer = site.arg(0)
    return writer is not None and writer.name.endswith("http.ResponseWriter")


def _has_constant_state(site: Site) -> bool:
    """A program on the user's own machine has no browser session to forge: it is given the code by hand, or on a local
    port."""
    own = site.contains("urn:ietf:wg:oauth:2.0:oob") or site.contains("localhost") or site.contains("127.0.0.1")
    return site.module("golang.org/x/oauth2") and is_text(site.arg(0)) and not own


def _is_html(site: Site) -> bool:
    """Unless the handler sets another content type."""
    return not finds(r"application/json|text/plain|application/octet-stream", site.around())


def _text_template(site: Site) -> bool:
    return site.receiver.name.startswith("text/template") and _to_page(0)(site)


def _is_page(site: Site) -> bool:
    """A template of a page with a place for a value in it, in a file that escapes nothing itself."""
    template = site.arg(0)
    text = template.const if template is not None else None
    escapes = site.contains("EscapeString") or site.contains("HTMLEscape")
    return isinstance(text, str) and not escapes and "{{" in text and PAGE_TAG.search(text) is not None


def _unknown_markup(site: Site) -> bool:
    value = site.arg(0)
    if value is None or value.const is not UNKNOWN or is_of_packages(site):
        return False
    if value.taints or not value.name:
        # A text that is put together here: what of it nobody escaped.
        return any(not taint.ended & {"xss", ALL} for taint in value.taints)
    return not re.search(
        r"(?i)sanitiz|escape|render|markdown|policy|safe|json|icon|static", f"{value.name} {site.text()}"
    )


def _all_interfaces(place: int) -> Callable[[Site], bool]:
    def check(site: Site) -> bool:
        address = site.arg(place)
        text = address.const if address is not None else None
        network = site.arg(0)
        unix = network is not None and isinstance(network.const, str) and network.const.startswith("unix")
        return isinstance(text, str) and bool(re.match(r"(?:0\.0\.0\.0|\[::\])?:\d", text)) and not unix

    return check


def _wide(place: int) -> Callable[[Site], bool]:
    def check(site: Site) -> bool:
        mode = number(site.arg(place))
        return mode is not None and bool(mode & 0o022) and not only_opens(site)

    return check


def _few_bits(site: Site) -> bool:
    bits = number(site.arg(1))
    return bits is not None and 0 < bits < 2048


def _no_timeout(site: Site) -> bool:
    return site.arg("ReadHeaderTimeout", "ReadTimeout") is None and site.count > 0


COMPRESSED = re.compile(
    r"compress/\w+\.New\w*Reader\w*\(\)|archive/zip\.\w+\(\)\[\]\.File\[\]\.Open|zip\.File\.Open"
    r"|klauspost/compress/\w+\.NewReader\(\)"
)


def _is_compressed(place: int) -> Callable[[Site], bool]:
    def check(site: Site) -> bool:
        source = site.arg(place)
        return source is not None and COMPRESSED.search(source.name) is not None

    return check


def _secret_use(site: Site) -> bool:
    return bool(re.search(SECRET_NAME, site.words()))


def _is_unlimited(site: Site) -> bool:
    return "MaxBytesReader" not in site.around() and "net/http.Request" in site.receiver.name


def _both_headers(site: Site) -> bool:
    text = site.around()
    return (
        is_const(site.arg(0), "Transfer-Encoding") and is_const(site.arg(1), "chunked") and '"Content-Length"' in text
    )


def _is_log_file(site: Site) -> bool:
    return bool(re.search(r"(?i)audit|journal|log(?:ger|file|s)?(?![a-z])", f"{site.words()} {site.text()[:40]}"))


def _writes_headers(site: Site) -> bool:
    return any(HEADERS in value.marks for value in (site.arg(0), site.arg(1)) if value is not None)


def _writes_mail(site: Site) -> bool:
    text = site.arg(4)
    return text is not None and MAIL in text.marks


def _dials_freely(site: Site) -> bool:
    """Unless each connection of the client is looked at: whatever name leads there, the address is public."""
    dials = site.contains("DialContext") or site.contains("Control:") or site.contains("ControlContext:")
    return not (dials and any(site.contains(test) for test in ("IsPrivate()", "IsLoopback()", "IsGlobalUnicast()")))


SQL_NAMES = ".Query .QueryRow .Exec .Prepare .Queryx .QueryRowx .NamedExec .MustExec .NamedQuery .Preparex .Rebind"
CONTEXT_NAMES = (
    ".QueryContext .QueryRowContext .ExecContext .PrepareContext .QueryxContext .QueryRowxContext .NamedExecContext "
    ".MustExecContext .GetContext .SelectContext"
)
FILES = (
    "os.Open os.OpenFile os.Create os.ReadFile os.WriteFile os.Remove os.RemoveAll os.Mkdir os.MkdirAll os.ReadDir "
    "os.Rename os.Chmod os.Truncate os.Symlink io/ioutil.ReadFile io/ioutil.WriteFile io/ioutil.ReadDir os.Stat "
    "os.Lstat"
)
CLIENTS = ("net/http", "net/http.DefaultClient", "net/http.Client()", "net/http.Client", "new()")
LOG_OWNERS = (
    "log", "log.Logger", "log.New()", "log.Default()", "github.com/sirupsen/logrus",
    "github.com/sirupsen/logrus.Logger",
    "github.com/sirupsen/logrus.Entry", "github.com/sirupsen/logrus.New()", "go.uber.org/zap.SugaredLogger",
    "github.com/golang/glog", "k8s.io/klog", "k8s.io/klog/v2",
)  # fmt: skip
LOG_CALLS = [
    "Print",
    "Printf",
    "Println",
    "Fatal",
    "Fatalf",
    "Fatalln",
    "Panic",
    "Panicf",
    "Output",
    "Info",
    "Infof",
    "Infoln",
    "Warn",
    "Warnf",
    "Warning",
    "Warningf",
    "Error",
    "Errorf",
    "Debug",
    "Debugf",
    "Trace",
    "Tracef",
]
LOGGERS = " ".join(f"{owner}.{name}" for owner in LOG_OWNERS for name in LOG_CALLS)
ECHO_CONTEXTS = " ".join(f"{echo}.HTML" for echo in names.ECHOS)
SINKS: tuple[Sink, ...] = (
    sink(known.SQL, "sql", SQL_NAMES, 0, when=is_built(0), floor=CALLER),
    sink(known.SQL, "sql", ".Query .QueryRow .Exec .Prepare .Get .Select", 1,
         when=lambda site: comes_second(site) and is_built(1)(site) and not is_text(site.arg(0)),
         floor=CALLER),
    sink(known.SQL, "sql", CONTEXT_NAMES, 1, when=is_built(1), floor=CALLER),
    sink(known.SQL, "sql", ".GetContext .SelectContext", 2, when=is_built(2), floor=CALLER),
    sink(known.SQL, "sql", ".Raw .NewRaw .ColumnExpr .TableExpr .WhereOr .Exec .Where .Having .Joins .Group .Table "
         ".Not .Or .Select .Distinct .Pluck .Expr", 0,
         when=lambda site: is_orm(site) and is_built(0)(site), floor=CALLER),
    sink(known.SQL, "sql", "gorm.io/gorm.Expr github.com/jinzhu/gorm.Expr", 0, when=is_built(0), floor=CALLER),
    sink(known.SQL, "sql", ".Order .OrderBy", 0, when=is_orm, floor=CALLER),
    sink(known.SQL, "sql", ".Where .Having .Suffix .Prefix .OrderBy", 0,
         when=lambda site: site.module("github.com/Masterminds/squirrel") and is_built(0)(site), floor=CALLER),
    sink(known.EXEC, "shell", EXECS, 1, 2, 3, when=is_shell_script(0), floor=CALLER),
    sink(known.EXEC, "shell", CONTEXT_EXECS, 2, 3, 4, when=is_shell_script(1), floor=CALLER),
    sink(known.EXEC, "program", EXECS, 0, floor=MEDIUM),
    sink(known.EXEC, "program", CONTEXT_EXECS, 1, floor=MEDIUM),
    sink(known.EXEC, "shell", "syscall.Exec syscall.ForkExec os.StartProcess syscall.StartProcess", 0, 1, floor=MEDIUM),
    sink(known.EXEC, "shell", "syscall.Exec syscall.ForkExec os.StartProcess syscall.StartProcess", 1,
         when=is_shell_script(0), floor=CALLER),
    sink(known.EXEC, "shell", "os/exec.Cmd", "Args", when=names_shell, floor=CALLER),
    sink(flaw.ARGUMENT, "option", EXECS, 1, 2, 3, 4, 5, 6, when=takes_option(0), floor=SURE),
    sink(flaw.ARGUMENT, "option", CONTEXT_EXECS, 2, 3, 4, 5, 6, 7, when=takes_option(1), floor=SURE),
    sink(known.PATH, "path", FILES, 0, floor=MEDIUM, when=lambda site: not from_archive(site)),
    sink(flaw.EXTRACT, "path", FILES, 0, floor=MEDIUM, when=lambda site: from_archive(site)),
    sink(known.PATH, "path", "net/http.ServeFile", 2, floor=SURE),
    sink(known.PATH, "path", "net/http.ServeFileFS", 3, floor=SURE),
    sink(known.PATH, "path", f"{names.GIN}.File {names.GIN}.FileAttachment", 0, floor=SURE),
    sink(known.PATH, "path", " ".join(f"{c}.{n}" for c in names.ECHOS for n in ("File", "Attachment", "Inline")), 0,
         floor=SURE),
    sink(known.PATH, "path", " ".join(f"{c}.{n}" for c in names.FIBERS for n in ("SendFile", "Download")), 0,
         floor=SURE),
    sink(known.PATH, "path", " ".join(f"{c}.{n}" for c in names.FIBERS for n in ("SaveFile", "SaveFileToStorage")), 1,
         floor=SURE),
    sink(known.SSRF, "ssrf", " ".join(f"{c}.{n}" for c in CLIENTS for n in ("Get", "Post", "Head", "PostForm")), 0,
         floor=MEDIUM, when=_dials_freely),
    sink(known.SSRF, "ssrf", "net/http.NewRequest", 1, floor=MEDIUM, when=_dials_freely),
    sink(known.SSRF, "ssrf", "net/http.NewRequestWithContext", 2, floor=MEDIUM, when=_dials_freely),
    sink(known.SSRF, "ssrf", "net.Dial net.DialTimeout", 1, floor=SURE),
    sink(known.REDIRECT, "redirect", "net/http.Redirect", 2, floor=SURE),
    sink(known.REDIRECT, "redirect", " ".join(f"{c}.Redirect" for c in (names.GIN, *names.ECHOS)), 1, floor=SURE),
    sink(known.REDIRECT, "redirect", " ".join(f"{c}.Redirect" for c in names.FIBERS), 0, floor=SURE),
    sink(known.RESPONSE, "xss", "fmt.Fprintf fmt.Fprint fmt.Fprintln io.WriteString", 1, 2, 3, 4, 5,
         when=_to_page(0), floor=SURE),
    sink(known.RESPONSE, "xss", "net/http.ResponseWriter.Write", 0, floor=SURE, when=_is_html),
    sink(known.RESPONSE, "xss", ECHO_CONTEXTS, 1, floor=SURE),
    sink(known.RESPONSE, "xss", " ".join(f"{c}.{n}" for c in names.FIBERS for n in ("SendString", "Send")), 0,
         when=_sends_page, floor=SURE),
    sink(known.HTML, "xss", "html/template.HTML html/template.JS html/template.URL html/template.CSS "
         "html/template.HTMLAttr html/template.JSStr html/template.Srcset", when=_unknown_markup),
    sink(flaw.TEXT_TEMPLATE, "xss", "text/template.New().Parse text/template.New().Funcs().Parse", when=_is_page),
    sink(flaw.TEXT_TEMPLATE, "xss", ".Execute", 1, when=_text_template, floor=MEDIUM),
    sink(flaw.TEXT_TEMPLATE, "xss", ".ExecuteTemplate", 2, when=_text_template, floor=MEDIUM),
    sink(flaw.TEMPLATE, "template", ".Parse", 0, floor=SURE,
         when=lambda site: site.receiver.name.startswith(("text/template", "html/template"))),
    sink(flaw.DESERIALISE, "deserialise", ".Decode", "self", floor=SURE,
         when=lambda site: site.receiver.name.startswith("encoding/gob")),
    sink(flaw.HEADER, "mail", "net/smtp.SendMail", 2, 3, floor=SURE),
    sink(flaw.HEADER, "mail", "net/smtp.SendMail", 4, floor=SURE, when=_writes_mail),
    sink(flaw.LOG, "log", LOGGERS, 0, 1, 2, 3, 4, floor=SURE),
    sink(flaw.LOG, "log", "fmt.Fprintf fmt.Fprintln fmt.Fprint", 1, 2, 3, 4, floor=SURE, when=_is_log_file),
    sink(flaw.HEADERS, "header", ".WriteString .Write fmt.Fprintf io.WriteString", 0, 1, floor=SURE,
         when=_writes_headers),
    sink(known.RANDOM, "random", " ".join(names.RANDOM), when=_secret_use),
    sink(known.PASSWORD_HASH, "hash", HASHES, when=is_about_login),
    sink(known.HASH, "hash", HASHES, when=is_plain_digest),
    sink(known.HASH, "hash", "crypto/hmac.New", when=is_weak_code),
    sink(known.PASSWORD_HASH, "hash", FAST_HASHES, when=is_password_digest),
    sink(flaw.STATIC_SALT, "salt", KEY_DERIVATIONS, when=has_fixed_salt),
    sink(flaw.FEW_ROUNDS, "rounds", "golang.org/x/crypto/pbkdf2.Key", when=rounds_below(2, 10_000)),
    sink(flaw.FEW_ROUNDS, "rounds", "crypto/pbkdf2.Key", when=rounds_below(3, 10_000)),
    sink(flaw.FEW_ROUNDS, "rounds", "golang.org/x/crypto/bcrypt.GenerateFromPassword", when=rounds_below(1, 10)),
    sink(flaw.STATIC_IV, "iv", CIPHER_MODES, when=has_fixed_iv),
    sink(flaw.STATIC_IV, "iv", ".Seal",
         when=lambda site: site.receiver.name.startswith("crypto/cipher.") and has_fixed_iv(site)),
    sink(known.CIPHER, "cipher", "crypto/aes.NewCipher()[].Encrypt", when=is_block_by_block),
    sink(known.CIPHER, "cipher", "crypto/des.NewCipher crypto/des.NewTripleDESCipher crypto/rc4.NewCipher "
         "golang.org/x/crypto/blowfish.NewCipher golang.org/x/crypto/cast5.NewCipher"),
    sink(flaw.KEY_SIZE, "key", "crypto/elliptic.P224"),
    sink(flaw.KEY_SIZE, "key", "crypto/rsa.GenerateKey crypto/rsa.GenerateMultiPrimeKey", when=_few_bits),
    sink(flaw.TLS_COMPUTED, "tls", "crypto/tls.Config", when=is_computed_off),
    sink(flaw.TLS_VERSION, "tls", "crypto/tls.Config", when=allows_old_versions),
    sink(flaw.TLS_SUITES, "tls", "crypto/tls.Config", when=allows_weak_suites),
    sink(flaw.TLS_VERSION, "tls", "crypto/tls.Config", when=skips_resumed),
    sink(flaw.HOST_KEY, "tls", "golang.org/x/crypto/ssh.InsecureIgnoreHostKey"),
    sink(flaw.BIND, "bind", "net.Listen crypto/tls.Listen net.ListenPacket", when=_all_interfaces(1)),
    sink(flaw.PERMISSION, "mode", "os.Chmod os.Mkdir os.MkdirAll", when=_wide(1)),
    sink(flaw.PERMISSION, "mode", "os.OpenFile os.WriteFile io/ioutil.WriteFile", when=_wide(2)),
    sink(flaw.NO_TIMEOUT, "timeout", "net/http.ListenAndServe net/http.ListenAndServeTLS net/http.Serve "
         "net/http.ServeTLS"),
    sink(flaw.SLOW_HEADERS, "timeout", "net/http.Server", when=_no_timeout),
    sink(flaw.EXPOSED, "error", "net/http.Error", 1, label="error"),
    sink(flaw.EXPOSED, "error", "fmt.Fprintf fmt.Fprint fmt.Fprintln io.WriteString", 1, 2, 3, 4, label="error",
         when=_to_visitor),
    sink(flaw.EXPOSED, "error", "net/http.ResponseWriter.Write", 0, label="error"),
    sink(flaw.EXPOSED, "error", " ".join(f"{c}.{n}" for c in (names.GIN, *names.ECHOS) for n in
         ("String", "JSON", "HTML", "AbortWithStatusJSON")), "*", label="error"),
    sink(flaw.PADDING, "cipher", "crypto/rsa.EncryptPKCS1v15 crypto/rsa.DecryptPKCS1v15"),
    sink(known.EXEC, "shell", " ".join(f"golang.org/x/crypto/ssh.Session.{name}" for name in
         ("Run", "Output", "CombinedOutput", "Start")), 0, when=is_line_built, floor=CALLER),
    sink(known.SSRF, "ssrf", ".Get .Post .Put .Patch .Delete .Head", 0, floor=MEDIUM,
         when=lambda site: site.module(*CLIENT_MODULES)),
    sink(flaw.OAUTH_STATE, "state", ".AuthCodeURL", when=_has_constant_state),
    sink(flaw.BOMB, "bomb", "io.Copy io.CopyBuffer", when=_is_compressed(1)),
    sink(flaw.BOMB, "bomb", "io.ReadAll io/ioutil.ReadAll", when=_is_compressed(0)),
    sink(flaw.SERVE_ROOT, "path", "net/http.Dir", when=lambda site: is_const(site.arg(0), "/")),
    sink(flaw.MULTIPART, "size", ".ParseMultipartForm", when=_is_unlimited),
    sink(flaw.BYPASS, "bypass", ".AddInsecureBypassPattern",
         when=lambda site: is_const(site.arg(0), "/", "/{path...}")),
    sink(flaw.SMUGGLE, "header", ".Set .Add", when=_both_headers),
)  # fmt: skip


def is_text(value: Val | None) -> bool:
    return value is not None and isinstance(value.const, str)


def from_archive(site: Site) -> bool:
    value = site.arg(0)
    return value is not None and any("archive/" in taint.origin for taint in value.taints)


STORES = (NamedStore(known.RANDOM, "random", SECRET_NAME, "random"), *libraries.STORES)
SETTINGS = (FlawedSetting(flaw.TLS_VERSION, r"\.M(?:in|ax)Version$", lambda value: 0 < (number(value) or 0) < 0x0303),)
BOOK = FlowBook(
    sources=names.SOURCES,
    labels={"runtime/debug.Stack": "error"},
    sinks=by_name((*SINKS, *answers.SINKS, *code.SINKS, *cookies.SINKS, *libraries.SINKS)),
    stores=STORES,
    settings=SETTINGS,
    returns=(Sink(known.RESPONSE, "xss", (), floor=SURE), Sink(flaw.HEADERS, "header", (), floor=SURE)),
    statement=sink(known.SQL, "sql", "", 0, 1, 2, floor=SURE, unknown=True),
    fills=frozenset({"fmt.Sprintf"}),
    shown=SHOWN | {"ssrf": ALONE, "redirect": ALONE, "program": ALONE, "regex": ALONE, "option": ALONE, "nosql": BUILT},
    sanitisers=names.SANITISERS,
    restores=names.RESTORES,
    harmless=names.HARMLESS,
    addressed=("equest.RequestURI", "equest.URL.Path", "equest.URL.String", "equest.URL.EscapedPath"),
    passes=names.PASSES,
    roots=names.ROOTS,
    keeps=names.KEEPS,
    makes={},
    ends=names.ENDS,
    routes=frozenset(),
    proves=checks.GO_PROVES,
    addresses=checks.GO_ADDRESSES,
    constants=dict(names.CONSTANTS),
)
