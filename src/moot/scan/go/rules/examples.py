"""For each rule of Go, code that it must report and code that it must not."""

from moot.scan.rule import RuleExample

HANDLER = "func handler(w http.ResponseWriter, r *http.Request) {"


def _file(imports: str, code: str) -> str:
    lines = "".join(f'\t"{path}"\n' for path in imports.split())
    return f"package app\n\nimport (\n{lines})\n\n{code}\n"


def _case(rule: str, imports: str, fires: str, silent: str) -> RuleExample:
    return RuleExample(rule, _file(imports, fires), _file(imports, silent))


def _wrap_in_handler(rule: str, imports: str, fires: str, silent: str) -> RuleExample:
    """Both as the body of a web handler."""
    return _case(rule, imports, f"{HANDLER}\n{fires}\n}}", f"{HANDLER}\n{silent}\n}}")


def _inside(rule: str, imports: str, fires: str, silent: str) -> RuleExample:
    return _case(rule, imports, f"func run() {{\n{fires}\n}}", f"func run() {{\n{silent}\n}}")


FLOWS = (
    _case("go-sql-string", "database/sql net/http",
          'func find(db *sql.DB, r *http.Request) { db.Query("SELECT a FROM t WHERE n=\'" + r.FormValue("n") + "\'") }',
          'func find(db *sql.DB, r *http.Request) { db.Query("SELECT a FROM t WHERE n=?", r.FormValue("n")) }'),
    _wrap_in_handler("go-exec", "net/http os/exec",
             'exec.Command("sh", "-c", "ping "+r.FormValue("host")).Run()', 'exec.Command("ping", "localhost").Run()'),
    _wrap_in_handler("go-argument", "net/http os/exec strconv",
             'exec.Command("git", "clone", r.FormValue("url")).Run()',
             'n, _ := strconv.Atoi(r.FormValue("n"))\nexec.Command("head", "-n", strconv.Itoa(n)).Run()'),
    _wrap_in_handler("go-path", "net/http os path/filepath", 'os.Open(filepath.Join("/srv", r.FormValue("f")))',
             'os.Open(filepath.Join("/srv", filepath.Base(r.FormValue("f"))))'),
    _wrap_in_handler("go-path", "net/http os path/filepath strings", 'os.ReadFile(r.URL.Query().Get("f"))',
             'p := filepath.Join("/srv", r.FormValue("f"))\nif !strings.HasPrefix(p, "/srv/") {\nreturn\n}\n'
             'os.ReadFile(p)'),
    _wrap_in_handler("go-error-shown", "net/http runtime/debug", "http.Error(w, string(debug.Stack()), 500)",
             'log.Print(string(debug.Stack()))\nhttp.Error(w, "internal error", 500)'),
    _wrap_in_handler("go-oauth-state", "net/http golang.org/x/oauth2",
             'http.Redirect(w, r, conf.AuthCodeURL("state"), 302)',
             "http.Redirect(w, r, conf.AuthCodeURL(newState(w)), 302)"),
    _case("go-zip-slip", "archive/zip os path/filepath",
          'func unpack(f *zip.File) { os.Create(filepath.Join("/srv", f.Name)) }',
          'func unpack(f *zip.File) { os.Create(filepath.Join("/srv", filepath.Base(f.Name))) }'),
    _wrap_in_handler("go-ssrf", "net/http", 'http.Get(r.FormValue("url"))',
             'http.Get("https://api.local/" + r.FormValue("id"))'),
    _wrap_in_handler("go-open-redirect", "net/http", 'http.Redirect(w, r, r.FormValue("to"), 302)',
             'http.Redirect(w, r, "/users/"+r.FormValue("id"), 302)'),
    _wrap_in_handler("go-response-xss", "fmt html net/http", 'fmt.Fprintf(w, "<b>%s</b>", r.FormValue("n"))',
             'fmt.Fprintf(w, "<b>%s</b>", html.EscapeString(r.FormValue("n")))'),
    _wrap_in_handler("go-template-html", "html/template net/http", '_ = template.HTML(r.FormValue("b"))',
             '_ = template.HTML("<b>hello</b>")'),
    _wrap_in_handler("go-text-template", "net/http text/template",
             'template.Must(template.New("p").Parse("{{.}}")).Execute(w, r.FormValue("n"))',
             'template.Must(template.New("p").Parse("{{.}}")).Execute(w, "hello")'),
    _wrap_in_handler("go-template-code", "html/template net/http", 'template.New("p").Parse(r.FormValue("t"))',
             'template.New("p").Parse("{{.}}")'),
    _wrap_in_handler("go-deserialise", "encoding/gob net/http", "var v int\ngob.NewDecoder(r.Body).Decode(&v)",
             "var v int\ngob.NewDecoder(http.NoBody).Decode(&v)"),
    _wrap_in_handler("go-mail-header", "net/http net/smtp",
             'smtp.SendMail("h:25", nil, r.FormValue("from"), []string{"a@b.c"}, nil)',
             'smtp.SendMail("h:25", nil, "me@b.c", []string{"a@b.c"}, nil)'),
    _wrap_in_handler("go-log", "log net/http", 'log.Printf("user %s", r.FormValue("u"))',
             'log.Printf("user %q", r.FormValue("u"))'),
)  # fmt: skip
LIBRARIES = (
    _wrap_in_handler("go-ldap", "fmt github.com/go-ldap/ldap/v3 net/http",
             'ldap.NewSearchRequest("dc=x", 2, 0, 0, 0, false, fmt.Sprintf("(uid=%s)", r.FormValue("u")), nil, nil)',
             'ldap.NewSearchRequest("dc=x", 2, 0, 0, 0, false, fmt.Sprintf("(uid=%s)", '
             'ldap.EscapeFilter(r.FormValue("u"))), nil, nil)'),
    _wrap_in_handler("go-xpath", "github.com/antchfx/xmlquery net/http",
             'xmlquery.Find(doc, "//user[@id=\'" + r.FormValue("id") + "\']")', 'xmlquery.Find(doc, "//user")'),
    _wrap_in_handler("go-nosql", "go.mongodb.org/mongo-driver/bson net/http",
             'users.Find(ctx, bson.M{"$where": "this.name == \'" + r.FormValue("n") + "\'"})',
             'users.Find(ctx, bson.M{"name": r.FormValue("n")})'),
    _wrap_in_handler("go-regex-panic", "net/http regexp", 'regexp.MustCompile(r.FormValue("q")).MatchString("text")',
             'regexp.MustCompile(regexp.QuoteMeta(r.FormValue("q"))).MatchString("text")'),
    _case("go-jwt", "github.com/golang-jwt/jwt/v5",
          "func f(s string) { new(jwt.Parser).ParseUnverified(s, jwt.MapClaims{}) }",
          'func f(s string) { jwt.Parse(s, key, jwt.WithValidMethods([]string{"HS256"})) }'),
    _case("go-jwt-method", "github.com/golang-jwt/jwt/v5",
          "func f(s string) { jwt.Parse(s, func(t *jwt.Token) (any, error) { return key, nil }) }",
          "func f(s string) {\njwt.Parse(s, func(t *jwt.Token) (any, error) {\n"
          "if _, ok := t.Method.(*jwt.SigningMethodHMAC); !ok {\nreturn nil, wrong\n}\nreturn key, nil\n})\n}"),
    _case("go-written-key", "github.com/golang-jwt/jwt/v5 os",
          'func f(t *jwt.Token) (string, error) { return t.SignedString([]byte("not-so-secret")) }',
          'func f(t *jwt.Token) (string, error) { return t.SignedString([]byte(os.Getenv("JWT_KEY"))) }'),
    _wrap_in_handler("go-trust-boundary", "github.com/gorilla/sessions net/http",
             's, _ := store.Get(r, "s")\ns.Values["role"] = r.FormValue("role")',
             'session, _ := store.Get(r, "s")\nsession.Values["role"] = "guest"'),
    _case("go-cookie", "github.com/gin-gonic/gin",
          'func f(c *gin.Context) { c.SetCookie("s", "v", 60, "/", "", false, true) }',
          'func f(c *gin.Context) { c.SetCookie("s", "v", 60, "/", "", true, true) }'),
    _inside("go-temp-file", "os", 'os.Create("/tmp/report.txt")', 'os.CreateTemp("", "report")'),
)  # fmt: skip
CALLS = (
    _inside("go-weak-random", "math/rand", "token := rand.Int()\n_ = token", "side := rand.Intn(6)\n_ = side"),
    _inside("go-weak-hash", "crypto/md5 crypto/sha256", "_ = md5.New()", "_ = sha256.New()"),
    _case("go-password-hash", "crypto/md5 crypto/sha256",
          "func store(password string) { _ = md5.Sum([]byte(password)) }",
          "func mark(data string) { _ = md5.Sum([]byte(data)) }"),
    _inside("go-weak-cipher", "crypto/des crypto/aes", "des.NewCipher(nil)", "aes.NewCipher(nil)"),
    _case("go-header", "strings", 'func page(name string) string { return "HTTP/1.1 200 OK\\r\\nX-Name: " + name }',
          'func page(name string) string {\nname = strings.ReplaceAll(name, "\\n", "")\n'
          'return "HTTP/1.1 200 OK\\r\\nX-Name: " + name\n}'),
    _case("go-static-salt", "crypto/sha256 golang.org/x/crypto/pbkdf2",
          'func f(p []byte) []byte { return pbkdf2.Key(p, []byte("salt"), 600000, 32, sha256.New) }',
          "func f(p, salt []byte) []byte { return pbkdf2.Key(p, salt, 600000, 32, sha256.New) }"),
    _case("go-few-rounds", "golang.org/x/crypto/bcrypt",
          "func f(p []byte) ([]byte, error) { return bcrypt.GenerateFromPassword(p, bcrypt.MinCost) }",
          "func f(p []byte) ([]byte, error) { return bcrypt.GenerateFromPassword(p, bcrypt.DefaultCost) }"),
    _case("go-unbounded-size", "strconv",
          "func f(s string) []byte {\nn, err := strconv.Atoi(s)\nif err != nil {\nreturn nil\n}\n"
          "return make([]byte, n)\n}",
          "func f(s string) []byte {\nn, err := strconv.Atoi(s)\nif err != nil || n < 0 || n > 64 {\nreturn nil\n}\n"
          "return make([]byte, n)\n}"),
    _inside("go-rsa-bits", "crypto/rand crypto/rsa", "rsa.GenerateKey(rand.Reader, 1024)",
            "rsa.GenerateKey(rand.Reader, 2048)"),
    _inside("go-tls-verify", "crypto/tls", "_ = &tls.Config{InsecureSkipVerify: true}",
            "_ = &tls.Config{InsecureSkipVerify: false}"),
    _inside("go-tls-verify-computed", "crypto/tls", "_ = &tls.Config{InsecureSkipVerify: !false}",
            "_ = &tls.Config{InsecureSkipVerify: !true}"),
    _inside("go-tls-version", "crypto/tls", "_ = &tls.Config{MinVersion: tls.VersionTLS10}",
            "_ = &tls.Config{MinVersion: tls.VersionTLS12}"),
    _inside("go-tls-suites", "crypto/tls", "_ = &tls.Config{CipherSuites: []uint16{tls.TLS_RSA_WITH_RC4_128_SHA}}",
            "_ = &tls.Config{CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}}"),
    _inside("go-ssh-host-key", "golang.org/x/crypto/ssh", "_ = ssh.InsecureIgnoreHostKey()",
            "_ = ssh.FixedHostKey(nil)"),
    _inside("go-bind-all", "net", 'net.Listen("tcp", ":80")', 'net.Listen("tcp", "127.0.0.1:80")'),
    _inside("go-file-mode", "os", 'os.Chmod("f", 0777)', 'os.Chmod("f", 0600)'),
    _inside("go-serve-no-timeout", "net/http", 'http.ListenAndServe("127.0.0.1:80", nil)', "http.NewServeMux()"),
    _inside("go-read-header-timeout", "net/http time", '_ = &http.Server{Addr: ":80"}',
            '_ = &http.Server{Addr: ":80", ReadHeaderTimeout: time.Second}'),
    _inside("go-cookie", "net/http", '_ = &http.Cookie{Name: "s", Value: "v"}',
            '_ = &http.Cookie{Name: "s", Value: "v", Secure: true, HttpOnly: true}'),
    _inside("go-cors", "github.com/rs/cors",
            '_ = cors.Options{AllowedOrigins: []string{"*"}, AllowCredentials: true}',
            '_ = cors.Options{AllowedOrigins: []string{"https://a.example"}, AllowCredentials: true}'),
    _inside("go-cookie-script", "net/http", '_ = &http.Cookie{Name: "s", Value: "v", Secure: true}',
            '_ = &http.Cookie{Name: "s", Value: "v", Secure: true, HttpOnly: true}'),
    _inside("go-decompression-bomb", "compress/gzip io os", "z, _ := gzip.NewReader(os.Stdin)\nio.Copy(os.Stdout, z)",
            "z, _ := gzip.NewReader(os.Stdin)\nio.CopyN(os.Stdout, z, 1024)"),
    _inside("go-serve-root", "net/http", '_ = http.Dir("/")', '_ = http.Dir("/srv/public")'),
    _wrap_in_handler("go-form-size", "net/http", "r.ParseMultipartForm(1 << 20)",
             "r.Body = http.MaxBytesReader(w, r.Body, 1<<20)\nr.ParseMultipartForm(1 << 20)"),
    _inside("go-cross-origin-bypass", "net/http", 'var c http.CrossOriginProtection\nc.AddInsecureBypassPattern("/")',
            'var c http.CrossOriginProtection\nc.AddInsecureBypassPattern("/status")'),
    _wrap_in_handler("go-transfer-encoding", "net/http",
             'w.Header().Set("Transfer-Encoding", "chunked")\nw.Header().Set("Content-Length", "5")',
             'w.Header().Set("Content-Length", "5")'),
    _inside("go-unsafe", "unsafe", "x := 1\n_ = unsafe.Pointer(&x)", "x := 1\n_ = &x"),
)  # fmt: skip
STRUCTURE = (
    _case("go-integer-overflow", "strconv",
          "func port(s string) int16 {\nn, _ := strconv.Atoi(s)\nreturn int16(n)\n}",
          "func port(s string) int16 {\nn, _ := strconv.Atoi(s)\nif n < 0 || n > 9999 {\nreturn 0\n}\n"
          "return int16(n)\n}"),
    _case("go-integer-conversion", "fmt", "func low(n int) uint8 { return uint8(n) }",
          "func low(n int) uint8 {\nif n < 0 || n > 255 {\nreturn 0\n}\nreturn uint8(n)\n}"),
    _inside("go-out-of-range", "fmt", "s := make([]int, 3)\nfmt.Println(s[3])",
            "s := make([]int, 3)\nfmt.Println(s[2])"),
    _case("go-loop-alias", "fmt", "func all(xs []int) (r []*int) {\nfor _, x := range xs {\nr = append(r, &x)\n"
          "}\nreturn\n}",
          "func all(xs []int) (r []*int) {\nfor i := range xs {\nr = append(r, &xs[i])\n}\nreturn\n}"),
    _case("go-context-leak", "context", "func f(ctx context.Context) {\nc, _ := context.WithCancel(ctx)\n_ = c\n}",
          "func f(ctx context.Context) {\nc, cancel := context.WithCancel(ctx)\ndefer cancel()\n_ = c\n}"),
    _case("go-loop-ignores-context", "context time", "func f(ctx context.Context) {\nfor {\ntime.Sleep(1)\n}\n}",
          "func f(ctx context.Context) {\nfor ctx.Err() == nil {\ntime.Sleep(1)\n}\n}"),
    _case("go-detached-context", "context",
          "func f(ctx context.Context) {\ngo func() {\nwork(context.Background())\n}()\n}",
          "func f(ctx context.Context) {\ngo func() {\nwork(context.WithoutCancel(ctx))\n}()\n}"),
    _inside("go-bidi", "fmt", 'fmt.Println("user\u202e")', 'fmt.Println("user")'),
    _case("go-marshal-secret", "encoding/json", "type T struct{ Password string }\n\nfunc f(t T) { json.Marshal(t) }",
          'type T struct {\n\tPassword string `json:"-"`\n}\n\nfunc f(t T) { json.Marshal(t) }'),
    _case("go-static-iv", "crypto/cipher crypto/rand",
          'func f(b cipher.Block) { cipher.NewCTR(b, []byte("0123456789abcdef")) }',
          "func f(b cipher.Block) {\niv := make([]byte, 16)\nrand.Read(iv)\ncipher.NewCTR(b, iv)\n}"),
    _inside("go-hardcoded-secret", "os", 'apiKey := "f62e5bcda4fae4f82370da0c6f20697b"\n_ = apiKey',
            'apiKey := os.Getenv("API_KEY")\n_ = apiKey'),
    _case("go-walk-race", "os path/filepath",
          "func f() { filepath.Walk(\"d\", func(p string, i os.FileInfo, e error) error { return os.Remove(p) }) }",
          "func f() { filepath.Walk(\"d\", func(p string, i os.FileInfo, e error) error { return e }) }"),
    _case("go-ssh-callback-state", "golang.org/x/crypto/ssh",
          "var last ssh.PublicKey\n\nfunc f(c *ssh.ServerConfig) {\n"
          "c.PublicKeyCallback = func(m ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {\n"
          "last = k\nreturn nil, nil\n}\n}",
          "func f(c *ssh.ServerConfig) {\n"
          "c.PublicKeyCallback = func(m ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {\n"
          "return nil, nil\n}\n}"),
    _case("go-redirect-headers", "net/http",
          "var c = &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {\n"
          "r.Header = via[0].Header\nreturn nil\n}}",
          "var c = &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {\n"
          "return http.ErrUseLastResponse\n}}"),
    RuleExample("go-pprof", 'package app\n\nimport _ "net/http/pprof"\n', 'package app\n\nimport _ "embed"\n'),
    RuleExample("go-cgi", 'package app\n\nimport "net/http/cgi"\n\nfunc f() { cgi.Serve(nil) }\n',
            'package app\n\nimport "net/http/fcgi"\n\nfunc f() { fcgi.Serve(nil, nil) }\n'),
)  # fmt: skip
CONCURRENCY = (
    _case("go-goroutine-race", "sync",
          "func f() int {\nn := 0\nfor i := 0; i < 9; i++ {\ngo func() { n++ }()\n}\nreturn n\n}",
          "func f() int {\nvar mu sync.Mutex\nn := 0\nfor i := 0; i < 9; i++ {\ngo func() {\nmu.Lock()\nn++\n"
          "mu.Unlock()\n"
          "}()\n}\nmu.Lock()\ndefer mu.Unlock()\nreturn n\n}"),
    _case("go-unguarded-read", "sync",
          "type C struct {\n\tmu sync.Mutex\n\tn int\n}\n\nfunc (c *C) Add() {\nc.mu.Lock()\nc.n = 1\n"
          "c.mu.Unlock()\n}\n\n"
          "func (c *C) Get() int { return c.n }",
          "type C struct {\n\tmu sync.Mutex\n\tn int\n}\n\nfunc (c *C) Add() {\nc.mu.Lock()\nc.n = 1\n"
          "c.mu.Unlock()\n}\n\n"
          "func (c *C) Get() int {\nc.mu.Lock()\ndefer c.mu.Unlock()\nreturn c.n\n}"),
    _case("go-unguarded-write", "sync",
          "type C struct {\n\tmu sync.Mutex\n\tn int\n}\n\nfunc (c *C) Add() {\nc.mu.Lock()\nc.n = 1\n"
          "c.mu.Unlock()\n}\n\n"
          "func (c *C) Set() { c.n = 2 }",
          "type C struct {\n\tmu sync.Mutex\n\tn int\n}\n\nfunc (c *C) Add() {\nc.mu.Lock()\nc.n = 1\n"
          "c.mu.Unlock()\n}\n\n"
          "func (c *C) Set() {\nc.mu.Lock()\nc.n = 2\nc.mu.Unlock()\n}"),
    _case("go-loop-capture", "fmt", "func f(xs []int) {\nfor _, x := range xs {\ngo func() { fmt.Println(x) }()\n}\n}",
          "func f(xs []int) {\nfor _, x := range xs {\ngo func(x int) { fmt.Println(x) }(x)\n}\n}"),
    _case("go-waitgroup-add", "sync", "func f(wg *sync.WaitGroup) {\ngo func() {\nwg.Add(1)\ndefer wg.Done()\n}()\n}",
          "func f(wg *sync.WaitGroup) {\nwg.Add(1)\ngo func() {\ndefer wg.Done()\n}()\n}"),
    _case("go-lock-kept", "sync",
          "func f(mu *sync.Mutex, bad bool) {\nmu.Lock()\nif bad {\nreturn\n}\nmu.Unlock()\n}",
          "func f(mu *sync.Mutex, bad bool) {\nmu.Lock()\ndefer mu.Unlock()\nif bad {\nreturn\n}\n}"),
    _case("go-lock-twice", "sync",
          "type S struct{ mu sync.Mutex }\n\nfunc (s *S) A() {\ns.mu.Lock()\ndefer s.mu.Unlock()\ns.B()\n}\n\n"
          "func (s *S) B() {\ns.mu.Lock()\ndefer s.mu.Unlock()\n}",
          "type S struct{ mu sync.Mutex }\n\nfunc (s *S) A() {\ns.mu.Lock()\ns.mu.Unlock()\ns.B()\n}\n\n"
          "func (s *S) B() {\ns.mu.Lock()\ndefer s.mu.Unlock()\n}"),
    _case("go-lock-order", "sync",
          "var a, b sync.Mutex\n\nfunc f() {\na.Lock()\nb.Lock()\nb.Unlock()\na.Unlock()\n}\n\n"
          "func g() {\nb.Lock()\na.Lock()\na.Unlock()\nb.Unlock()\n}",
          "var a, b sync.Mutex\n\nfunc f() {\na.Lock()\nb.Lock()\nb.Unlock()\na.Unlock()\n}\n\n"
          "func g() {\na.Lock()\nb.Lock()\nb.Unlock()\na.Unlock()\n}"),
    _case("go-lock-copied", "sync", "type S struct{ mu sync.Mutex }\n\nfunc f(s S) { _ = s }",
          "type S struct{ mu sync.Mutex }\n\nfunc f(s *S) { _ = s }"),
    _case("go-stuck-goroutine", "time",
          "func f() {\nc := make(chan int)\ngo func() { c <- 1 }()\nselect {\ncase <-c:\ncase <-time.After(1):\n}\n}",
          "func f() {\nc := make(chan int, 1)\ngo func() { c <- 1 }()\nselect {\ncase <-c:\n"
          "case <-time.After(1):\n}\n}"),
)  # fmt: skip
FRAGMENTS = (
    _wrap_in_handler("go-client-role", "net/http", 'if r.Header.Get("X-Role") == "admin" {\nshow(w)\n}',
                     'if session(r).Role == "admin" {\nshow(w)\n}'),
    _case("go-eval", "github.com/dop251/goja",
          'func price(vm *goja.Runtime, rule string) (goja.Value, error) { return vm.RunString("total * " + rule) }',
          'func price(vm *goja.Runtime, rule string) (goja.Value, error) { return vm.RunString("total * 2") }'),
    _case("go-argument", "os/exec", 'func show(rev string) { exec.Command("git", "show", rev).Run() }',
          'func show(rev string) { exec.Command("git", "show", "--end-of-options", rev).Run() }'),
    _case("go-unsigned-token", "encoding/base64 encoding/json strings",
          "func role(token string) (claims map[string]any, err error) {\n"
          'raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])\nif err != nil {\nreturn\n}\n'
          "err = json.Unmarshal(raw, &claims)\nreturn\n}",
          "func role(token string) (map[string]any, error) { return verify(token) }"),
    _case("go-private-mode", "os", "func save(path string, privateKey []byte) error {\n"
          "return os.WriteFile(path, privateKey, 0o644)\n}",
          "func save(path string, privateKey []byte) error {\nreturn os.WriteFile(path, privateKey, 0o600)\n}"),
    _wrap_in_handler("go-unbounded-body", "io net/http", "body, err := io.ReadAll(r.Body)\nuse(body, err)",
                     "body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))\nuse(body, err)"),
    _case("go-claim-race", "os",
          "func claim(path string) error {\nif _, err := os.Stat(path); err == nil {\nreturn taken\n}\n"
          "return os.WriteFile(path, nil, 0o600)\n}",
          "func claim(path string) error {\nf, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)\n"
          "if err != nil {\nreturn err\n}\nreturn f.Close()\n}"),
    _case("go-handler-race", "net/http sync",
          "type C struct{ hits map[string]int }\n\nfunc (c *C) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n"
          "c.hits[r.URL.Path]++\n}",
          "type C struct {\nmu sync.Mutex\nhits map[string]int\n}\n\n"
          "func (c *C) ServeHTTP(w http.ResponseWriter, r *http.Request) {\nc.mu.Lock()\ndefer c.mu.Unlock()\n"
          "c.hits[r.URL.Path]++\n}"),
    _case("go-websocket-origin", "net/http github.com/gorilla/websocket",
          "var up = websocket.Upgrader{CheckOrigin: func(r *http.Request) bool { return true }}",
          "var up = websocket.Upgrader{CheckOrigin: func(r *http.Request) bool {\n"
          'return r.Header.Get("Origin") == home\n}}'),
    _inside("go-rsa-padding", "crypto/rand crypto/rsa crypto/sha256",
            "out, err := rsa.EncryptPKCS1v15(rand.Reader, public, key)\nuse(out, err)",
            "out, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, public, key, nil)\nuse(out, err)"),
)  # fmt: skip
EXAMPLES: tuple[RuleExample, ...] = (*FLOWS, *LIBRARIES, *CALLS, *STRUCTURE, *CONCURRENCY, *FRAGMENTS)
