"""Go statements with effects beyond their targets: builders, output arguments, map lookups."""

from collections.abc import Iterator, Mapping, Sequence

from moot.scan.engine.ir import (
    Assign,
    Attr,
    Augment,
    Block,
    Call,
    Class,
    Compare,
    Concat,
    Expr,
    Function,
    Hole,
    Import,
    Item,
    Many,
    Name,
    Opaque,
    Param,
    Span,
    Stmt,
)
from moot.scan.go.exprs import GoReader
from moot.scan.go.program import inside
from moot.scan.go.text import lower_format
from moot.scan.syntax import words

WRITES = frozenset({"WriteString", "WriteByte", "WriteRune", "Write"})
FILLERS = words(
    "Scan Scanln Scanf Fscan Fscanln Fscanf Sscan Sscanln Sscanf Unmarshal Decode Bind BindJSON BindQuery BindUri "
    "ShouldBind ShouldBindJSON ShouldBindQuery ShouldBindUri BodyParser QueryParser ParamsParser ReadJSON ReadFull "
    "Read copy"
)
"""Calls that write what they read into their arguments."""
PREDECLARED = words(
    "append cap clear close complex copy delete imag len make max min new panic print println real recover iota nil "
    "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint "
    "uint8 uint16 uint32 uint64 uintptr"
)
ASSUMED = {"http": "net/http", "sql": "database/sql"}
"""Packages that an excerpt may use without showing its imports."""
LIBRARY = words(
    "bufio bytes context errors fmt html io log net os path regexp sort strconv strings sync syscall time "
    "encoding/json "
    "encoding/xml encoding/gob encoding/base64 encoding/hex encoding/csv encoding/binary log/slog net/url net/mail "
    "net/smtp os/exec os/user path/filepath crypto/tls crypto/x509 crypto/md5 crypto/sha1 crypto/sha256 crypto/sha512 "
    "crypto/aes crypto/cipher crypto/des crypto/rc4 crypto/hmac crypto/subtle crypto/rsa archive/tar archive/zip "
    "compress/gzip io/ioutil io/fs sync/atomic runtime/debug github.com/gin-gonic/gin github.com/gorilla/mux "
    "github.com/julienschmidt/httprouter gorm.io/gorm github.com/jmoiron/sqlx go.mongodb.org/mongo-driver/bson "
    "golang.org/x/crypto/bcrypt github.com/sirupsen/logrus github.com/antchfx/xmlquery github.com/antchfx/htmlquery "
    "golang.org/x/oauth2 golang.org/x/crypto/ssh"
)
OF_EXCERPTS = {path.rpartition("/")[2]: path for path in sorted(LIBRARY)} | {
    "echo": "github.com/labstack/echo/v4", "fiber": "github.com/gofiber/fiber/v2", "chi": "github.com/go-chi/chi/v5",
    "jwt": "github.com/golang-jwt/jwt/v5", "ldap": "github.com/go-ldap/ldap/v3", "pgx": "github.com/jackc/pgx/v5",
    "pgxpool": "github.com/jackc/pgx/v5/pgxpool", "yaml": "gopkg.in/yaml.v3", "uuid": "github.com/google/uuid",
    "template": "html/template", "securejoin": "github.com/cyphar/filepath-securejoin",
}  # fmt: skip
"""What a name means where no import is shown at all. `rand` may be either of two packages, and pages are
not made by `text/template`."""
FILLED_BUFFERS = frozenset({"Read", "ReadFull", "copy"})


def builder_write(reader: GoReader, value: Expr) -> Block:
    """`b.WriteString(x)` and `fmt.Fprintf(&b, "…", x)` append to `b`."""
    if not isinstance(value, Call) or not value.args:
        return ()
    func, origin = value.func, reader.origin(value.func)
    if isinstance(func, Attr) and isinstance(func.base, Name) and func.base.id in reader.builders:
        return (Augment(value.at, func.base, "+", value.args[0]),) if func.name in WRITES else ()
    target = value.args[0].value if isinstance(value.args[0], Hole) else value.args[0]
    known = isinstance(target, Name) and target.id in reader.builders
    if not known or origin not in ("fmt.Fprintf", "fmt.Fprint", "fmt.Fprintln", "io.WriteString"):
        return ()
    same = origin.replace("io.WriteString", "fmt.Sprint").replace(".Fp", ".Sp")
    if len(value.args) == 2 and isinstance(value.args[1], Concat):
        return (Augment(value.at, target, "+", value.args[1]),)
    text = lower_format(value.at, same, value.args[1:], reader.consts) if len(value.args) > 1 else None
    return (Augment(value.at, target, "+", text or Opaque(value.at, value.args[1:], "format")),)


def lower_filled(value: Expr) -> Block:
    """`Scan(&x)`, `Unmarshal(data, &x)`, `copy(dst, src)`: the output argument holds the result afterwards."""
    if not isinstance(value, Call) or not isinstance(value.func, Name | Attr):
        return ()
    word = value.func.id if isinstance(value.func, Name) else value.func.name
    if word not in FILLERS:
        return ()
    places = [arg for arg in value.args if isinstance(arg, Hole) and arg.spec == "&"]
    if not places and word in FILLED_BUFFERS:
        places = [Hole(arg.at, arg) for arg in value.args[word == "ReadFull" :][:1]]
    rest = tuple(arg for arg in value.args if all(arg.at != place.at for place in places))
    return tuple(
        Assign(value.at, (place.value,), Call(value.at, value.func, rest))
        for place in places
        if isinstance(place.value, Name | Attr | Item)
    )


def lower_lookup(targets: Expr, value: Expr, at: Span, local: bool) -> Block:
    """`v, ok := m[k]`: ok proves that k is one of our keys."""
    if not isinstance(targets, Many) or len(targets.items) != 2 or not isinstance(value, Item):
        return ()
    found, ok = targets.items
    member = Compare(value.at, "in", value.key, value.base)
    return (Assign(at, (found,), value, local=local), Assign(at, (ok,), member, local=local))


def elsewhere(body: Sequence[Stmt], assumed: Mapping[str, str]) -> Iterator[Stmt]:
    """Constants and variables of the package's other files are trusted. Functions keep their name, which may say what
    they do."""
    own: set[str] = {"_"}
    used: dict[str, Name] = {}
    called: set[Span] = set()
    for node in inside(tuple(body)):
        match node:
            case Call(func=Name(at=at)):
                called.add(at)
            case Name(id=name):
                used.setdefault(name, node) if node.at not in called else None
            case Import(local=name) | Param(name=name) | Class(name=name) | Function(name=name):
                own.add(name)
            case Assign(targets=targets, local=True):
                own.update(part.id for target in targets for part in _names(target))
            case _:
                pass
    for name, place in used.items():
        if name in own or name in PREDECLARED:
            continue
        if name in assumed:
            yield Import(place.at, name, assumed[name], assumed[name])
        else:
            yield Assign(place.at, (place,), Opaque(place.at, (), "package"), local=True)


def _names(target: Expr) -> list[Name]:
    parts = target.items if isinstance(target, Many) else (target,)
    return [part for part in parts if isinstance(part, Name)]
