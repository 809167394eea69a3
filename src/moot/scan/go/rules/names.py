"""Go library names: sources, sanitisers, propagators."""

from moot.scan.go.library import FIXED_ORIGIN, ORIGIN_KINDS
from moot.scan.syntax import words

REQUEST_PARTS = words(
    "FormValue PostFormValue URL.Query URL.Path URL.RawQuery URL.RawPath URL.EscapedPath URL.Fragment URL.String "
    "RequestURI Form PostForm MultipartForm Header Body Cookie Cookies Referer UserAgent PathValue FormFile "
    "MultipartReader BasicAuth"
)
GIN = "github.com/gin-gonic/gin.Context"
ECHOS = ("github.com/labstack/echo.Context", "github.com/labstack/echo/v4.Context")
FIBERS = ("github.com/gofiber/fiber.Ctx", "github.com/gofiber/fiber/v2.Ctx", "github.com/gofiber/fiber/v3.Ctx")
GIN_PARTS = words(
    "Query DefaultQuery QueryArray QueryMap GetQuery Param PostForm DefaultPostForm PostFormArray GetPostForm "
    "GetHeader Cookie GetRawData FormFile Bind BindJSON BindQuery BindUri ShouldBind ShouldBindJSON ShouldBindQuery "
    "ShouldBindUri"
)
ECHO_PARTS = words(
    "QueryParam QueryParams QueryString Param ParamValues FormValue FormParams FormFile Cookie Cookies Bind"
)
FIBER_PARTS = words(
    "Query Queries Params FormValue Body BodyRaw Get Cookies BodyParser QueryParser ParamsParser OriginalURL Path "
    "FormFile"
)
LDAPS = ("github.com/go-ldap/ldap", "github.com/go-ldap/ldap/v3", "gopkg.in/ldap.v2", "gopkg.in/ldap.v3")
ARCHIVES = (
    "archive/zip.File", "archive/zip.OpenReader()[].File[]", "archive/zip.NewReader()[].File[]", "archive/tar.Header",
    "archive/tar.NewReader().Next()[]", "archive/tar.Reader.Next()[]", "archive/zip.Reader.File[]",
    "archive/zip.ReadCloser.File[]",
)  # fmt: skip
PGX = ("github.com/jackc/pgx", "github.com/jackc/pgx/v4", "github.com/jackc/pgx/v5")
FLAGS = words("String StringVar Arg Args")


def _sources() -> dict[str, float]:
    requests = ("net/http.Request", f"{GIN}.Request", *(f"{echo}.Request()" for echo in ECHOS))
    names = {f"{request}.{part}": 1.0 for request in requests for part in REQUEST_PARTS}
    names |= {f"{request}.Host": 0.7 for request in requests}
    names |= {f"{GIN}.{part}": 1.0 for part in GIN_PARTS}
    names |= {f"{echo}.{part}": 1.0 for echo in ECHOS for part in ECHO_PARTS}
    names |= {f"{fiber}.{part}": 1.0 for fiber in FIBERS for part in FIBER_PARTS}
    names |= {f"{archive}.Name": 0.9 for archive in ARCHIVES}
    names |= {f"flag.{name}": 0.55 for name in FLAGS}
    names |= {f"fmt.{name}": 0.6 for name in words("Scan Scanln Scanf Fscan Fscanln Fscanf")}
    return names | {
        "github.com/go-chi/chi.URLParam": 1.0, "github.com/go-chi/chi/v5.URLParam": 1.0,
        "github.com/gorilla/mux.Vars": 1.0, "github.com/julienschmidt/httprouter.Params.ByName": 1.0,
        "mime/multipart.FileHeader.Filename": 1.0, "runtime/debug.Stack": 1.0,
        "os.Args": 0.6, "os.Getenv": 0.5, "os.LookupEnv": 0.5, "os.Environ": 0.5, "os.Stdin": 0.6,
    }  # fmt: skip


SOURCES = _sources()
RAW_PARTS = words(
    "URL.RawQuery URL.RawPath URL.EscapedPath URL.String RequestURI Header Cookie Cookies Referer UserAgent Host"
)


def _harmless() -> dict[str, frozenset[str]]:
    """What a server cut out of a line of the request as it stood there holds no line break; the path that somebody
    gives to a command on their own machine is theirs to choose."""
    raw = [name for name in SOURCES if any(name.endswith(f"equest.{part}") for part in RAW_PARTS)]
    raw += [f"{GIN}.GetHeader"]
    return dict.fromkeys(raw, frozenset({"header"})) | {f"flag.{name}": frozenset({"path"}) for name in FLAGS}


HARMLESS = _harmless()
RANDOM = words(
    " ".join(
        f"math/rand{version}.{owner}{name}"
        for version in ("", "/v2")
        for owner in ("", "Rand.", "New().")
        for name in words(
            "Int Intn IntN Int31 Int31n Int32 Int32N Int63 Int63n Int64 Int64N Uint Uint32 Uint32N Uint64 Uint64N N "
            "Float32 Float64 ExpFloat64 NormFloat64 Perm Read Shuffle"
        )
    )
)
TEXT_KINDS = frozenset({"sql", "shell", "xss", "log", "header", "path", "ldap", "mail"})


def _sanitisers() -> dict[str, frozenset[str]]:
    everything = words(
        "strconv.Atoi strconv.ParseInt strconv.ParseUint strconv.ParseFloat strconv.ParseBool strconv.Itoa "
        "strconv.FormatInt len cap int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 bool "
        "time.Parse time.ParseDuration net.ParseIP net.ParseCIDR net.ParseMAC net/netip.ParseAddr "
        "github.com/google/uuid.Parse "
        "crypto/sha256.Sum256 crypto/sha512.Sum512 crypto/md5.Sum crypto/sha1.Sum encoding/hex.EncodeToString "
        "golang.org/x/crypto/bcrypt.GenerateFromPassword utf8.RuneCountInString"
    )
    found = dict.fromkeys(everything, frozenset({"*"}))
    found |= dict.fromkeys(
        words("html.EscapeString html/template.HTMLEscapeString html/template.HTMLEscaper html/template.JSEscapeString "
              "text/template.HTMLEscapeString"),
        frozenset({"xss"}),
    )  # fmt: skip
    found |= dict.fromkeys(words("path/filepath.Base path.Base"), frozenset({"path"}))
    for line, kinds in (
        ("net/url.QueryEscape net/url.PathEscape", "xss path header log redirect ssrf shell"),
        ("strconv.Quote strconv.QuoteToASCII", "log header"),
        ("encoding/json.Marshal encoding/json.MarshalIndent", "log xss header"),
        ("mime.QEncoding.Encode mime.BEncoding.Encode", "mail header log"),
        ("net/mail.ParseAddress net/mail.ParseAddressList", "mail header log"),
        (" ".join(f"{owner}.Identifier().Sanitize" for owner in PGX), "sql"),
        ("github.com/lib/pq.QuoteIdentifier github.com/lib/pq.QuoteLiteral", "sql"),
    ):
        found |= dict.fromkeys(words(line), words(kinds))
    found |= dict.fromkeys(words(".EncodeToString"), TEXT_KINDS - {"path"})
    found |= dict.fromkeys(words(".replace"), frozenset({"log", "header", "mail", "xss", "sql", "ldap"}))
    found |= dict.fromkeys(words(".Redacted"), frozenset({"log", "header"}))
    found |= dict.fromkeys(words(".Sanitize .SanitizeBytes"), frozenset({"xss"}))
    found |= dict.fromkeys(words("github.com/cyphar/filepath-securejoin.SecureJoin"), frozenset({"path"}))
    escapes = [f"{owner}.{name}" for owner in LDAPS for name in ("EscapeFilter", "EscapeDN")]
    found |= dict.fromkeys(escapes, frozenset({"ldap"}))
    found |= dict.fromkeys(words("regexp.QuoteMeta"), frozenset({"regex"}))
    found |= dict.fromkeys(words("github.com/alessio/shellescape.Quote"), frozenset({"shell"}))
    return found | {FIXED_ORIGIN: ORIGIN_KINDS}


SANITISERS = _sanitisers()
RESTORES = dict.fromkeys(words("net/url.QueryUnescape net/url.PathUnescape"), SANITISERS["net/url.QueryEscape"]) | {
    "html.UnescapeString": frozenset({"xss"}),
    "net/url.ParseQuery": frozenset({"header"}),
}
PASSES = words(
    "append copy string []byte []rune []string error any interface{} min max new fmt.Sprint fmt.Sprintf fmt.Sprintln "
    "fmt.Append fmt.Appendf strings.Trim strings.TrimLeft strings.TrimRight strings.Title strings.Fields "
    "strings.SplitN strings.Repeat strings.Map strings.NewReader strings.Cut strings.ToTitle strings.Clone "
    "bytes.NewReader "
    "bytes.NewBuffer bytes.NewBufferString bytes.TrimSpace bytes.Join path.Join path/filepath.Join path/filepath.Clean "
    "path/filepath.Abs path/filepath.Rel path/filepath.Dir path.Dir path.Clean path/filepath.EvalSymlinks "
    "path/filepath.FromSlash path/filepath.ToSlash path/filepath.Ext io.ReadAll io/ioutil.ReadAll io.LimitReader "
    "io.TeeReader io.NopCloser bufio.NewReader bufio.NewScanner bufio.NewReaderSize net/url.Parse "
    "net/url.ParseRequestURI "
    "net/url.QueryUnescape net/url.PathUnescape net/url.ParseQuery net/url.JoinPath encoding/json.Unmarshal "
    "encoding/json.NewDecoder encoding/xml.Unmarshal encoding/xml.NewDecoder encoding/gob.NewDecoder "
    "gopkg.in/yaml.v2.Unmarshal gopkg.in/yaml.v3.Unmarshal html.UnescapeString net/http.MaxBytesReader "
    "database/sql.Named net.JoinHostPort os.ExpandEnv os.Expand errors.New fmt.Errorf fmt.Sscan fmt.Sscanf fmt.Sscanln "
    ".lower .upper .strip .removeprefix .removesuffix .replace .split .join .resolve .Get .Values .String .Bytes .Text "
    ".Hostname .EscapedPath .Redacted .Read .ReadString .ReadBytes .ReadLine .Decode .DecodeString .search "
    ".Query .Error"
)
ROOTS = words(
    "os net/http net time log log/slog errors sync sync/atomic context crypto/rand crypto/tls crypto/x509 database/sql "
    "fmt io io/fs io/ioutil strings strconv sort math math/rand math/rand/v2 regexp runtime reflect testing unicode "
    "utf8 "
    "path path/filepath os/exec os/signal os/user syscall encoding/binary encoding/hex encoding/csv text/template "
    "html/template len cap make delete close panic print println recover archive/zip archive/tar compress/gzip"
)
KEEPS = words("regexp.MustCompile regexp.Compile")
ENDS = words("os.Exit log.Fatal log.Fatalf log.Fatalln log.Panic log.Panicf log.Panicln panic runtime.Goexit")
CONSTANTS: dict[str, int | str] = {
    "crypto/tls.VersionSSL30": 0x0300,
    "crypto/tls.VersionTLS10": 0x0301,
    "crypto/tls.VersionTLS11": 0x0302,
    "crypto/tls.VersionTLS12": 0x0303,
    "crypto/tls.VersionTLS13": 0x0304,
    "os.ModePerm": 0o777,
    "io/fs.ModePerm": 0o777,
    "net/http.StatusOK": 200,
    "os.TempDir()": "/tmp",
    "os.PathSeparator": "/",
    "path/filepath.Separator": "/",
    "golang.org/x/crypto/bcrypt.MinCost": 4,
    "golang.org/x/crypto/bcrypt.DefaultCost": 10,
}
