"""Flaws of the Go dataflow rules that `patterns.py` does not define."""

from moot.scan.rule import Rule

ARGUMENT = Rule(
    "go-argument", "injection", "medium", 88,
    "Argument injection: user input is passed to a program as an argument",
    "A value of '--upload-pack=…' is read as an option of the program.",
    "Check the value, and put '--' before it.", 0.6,
)  # fmt: skip
LOG = Rule(
    "go-log", "injection", "low", 117,
    "Log injection: user input is written to the log unescaped",
    "A value of 'x\\nadmin logged in' writes a log line of the attacker's own.",
    "Use %q, strconv.Quote or structured logging.", 0.6,
)  # fmt: skip
HEADER = Rule(
    "go-mail-header", "injection", "medium", 93,
    "Mail header injection: user input becomes an address or header of a mail",
    "A line break in the value adds recipients and headers.",
    "Parse addresses with net/mail.ParseAddress and refuse line breaks.", 0.7,
)  # fmt: skip
HEADERS = Rule(
    "go-header", "injection", "medium", 113,
    "Header injection: user input is put into the lines of an HTTP header unescaped",
    "A value with a line break in it adds headers, or a whole answer, of the attacker's own.",
    "Remove line breaks from the value, or let net/http write the header.", 0.6,
)  # fmt: skip
STATIC_IV = Rule(
    "go-static-iv", "auth", "high", 1204,
    "Static IV: data is encrypted with a constant nonce or initialization vector",
    "Equal texts give equal ciphertexts; with GCM and CTR the key stream is laid open.",
    "Fill it with crypto/rand for every message.", 0.8,
)  # fmt: skip
STATIC_SALT = Rule(
    "go-static-salt", "auth", "medium", 760,
    "Static salt: the salt is the same for every password",
    "One table computed in advance breaks all of them.",
    "Read 16 random bytes from crypto/rand for each password and keep them beside the hash.", 0.8,
)  # fmt: skip
FEW_ROUNDS = Rule(
    "go-few-rounds", "auth", "medium", 916,
    "Weak password hash: too few rounds",
    "A leaked table of hashes is tried out billions of times a second.",
    "Use bcrypt with a cost of 10 or more, or PBKDF2 with 600,000 rounds.", 0.8,
)  # fmt: skip
TEXT_TEMPLATE = Rule(
    "go-text-template", "xss", "high", 79,
    "XSS: user input is rendered with text/template, which escapes nothing",
    "A value of '<script>…</script>' runs in the visitor's browser.",
    "Use html/template.", 0.8,
)  # fmt: skip
TEMPLATE = Rule(
    "go-template-code", "injection", "high", 1336,
    "Template injection: user input becomes the source of a template",
    "A value with '{{…}}' calls what the template's data offers.",
    "Keep templates constant and pass the value as data.", 0.8,
)  # fmt: skip
DESERIALISE = Rule(
    "go-deserialise", "injection", "medium", 502,
    "Unsafe deserialization: user input is decoded by a format that chooses the types",
    "A crafted document fills fields nobody expected, or takes all memory.",
    "Decode JSON into a small struct, limit its size, and check the result.", 0.5,
)  # fmt: skip
EXTRACT = Rule(
    "go-zip-slip", "injection", "high", 22,
    "Zip slip: the name of an archive entry controls which file is written",
    "An entry called '../../etc/cron.d/x' is written outside the folder.",
    "Check the name with filepath.IsLocal, or the joined path with filepath.Rel.", 0.8,
)  # fmt: skip
TLS_COMPUTED = Rule(
    "go-tls-verify-computed", "auth", "high", 295,
    "TLS verification disabled: InsecureSkipVerify always evaluates to true",
    "Anyone on the way reads and changes the traffic with a certificate of their own.",
    "Leave certificate checks on; trust a private authority with RootCAs.", 0.9,
)  # fmt: skip
KEY_SIZE = Rule(
    "go-rsa-bits", "auth", "medium", 326,
    "Weak key: RSA key of fewer than 2048 bits, or a curve of 224",
    "Short keys are factored.",
    "Use 2048 bits or more, or P-256.", 0.9,
)  # fmt: skip
TLS_VERSION = Rule(
    "go-tls-version", "auth", "medium", 295,
    "Outdated TLS: versions before TLS 1.2 are allowed",
    "Who is in between picks the weak version and reads along.",
    "Use MinVersion: tls.VersionTLS12 or later.", 0.8,
)  # fmt: skip
TLS_SUITES = Rule(
    "go-tls-suites", "auth", "medium", 327,
    "Weak cipher suite: a TLS cipher suite with broken parts is allowed",
    "RC4, 3DES and static RSA key exchange let recorded traffic be read later.",
    "Leave CipherSuites unset, or list only ECDHE suites with GCM or ChaCha20.", 0.8,
)  # fmt: skip
HOST_KEY = Rule(
    "go-ssh-host-key", "auth", "high", 322,
    "SSH host key not verified: any server is accepted",
    "Anyone on the way answers as the host and gets the login.",
    "Use golang.org/x/crypto/ssh/knownhosts.", 0.9,
)  # fmt: skip
BIND = Rule(
    "go-bind-all", "other", "low", 200,
    "Exposed service: listens on all network interfaces",
    "A service meant for this machine answers to the whole network.",
    "Bind to 127.0.0.1 or to the address that is meant.", 0.6,
)  # fmt: skip
PERMISSION = Rule(
    "go-file-mode", "auth", "medium", 276,
    "Insecure permissions: a file or folder is writable by others",
    "Another user of the machine changes what the program reads later.",
    "Use 0600 for files and 0750 for folders.", 0.8,
)  # fmt: skip
NO_TIMEOUT = Rule(
    "go-serve-no-timeout", "other", "low", 676,
    "Denial of service: HTTP server without timeouts",
    "Clients that send a byte a minute hold all connections.",
    "Use an http.Server with ReadHeaderTimeout.", 0.6,
)  # fmt: skip
SLOW_HEADERS = Rule(
    "go-read-header-timeout", "other", "low", 400,
    "Slowloris: http.Server without ReadHeaderTimeout",
    "Clients that send a byte a minute hold all connections.",
    "Set ReadHeaderTimeout.", 0.7,
)  # fmt: skip
COOKIE = Rule(
    "go-cookie", "auth", "medium", 614,
    "Insecure cookie: set without Secure",
    "Whoever listens on the network reads the cookie.",
    "Set Secure: true (and HttpOnly, SameSite).", 0.7,
)  # fmt: skip
COOKIE_SCRIPT = Rule(
    "go-cookie-script", "auth", "low", 1004,
    "Insecure cookie: set without HttpOnly",
    "An injected script sends the session away.",
    "Set HttpOnly: true.", 0.7,
)  # fmt: skip
EXPOSED = Rule(
    "go-error-shown", "other", "low", 209,
    "Information disclosure: the stack of the program is sent to the user",
    "Paths, functions and versions in it help the next attack.",
    "Log the stack and answer with a plain message.", 0.5,
)  # fmt: skip
OAUTH_STATE = Rule(
    "go-oauth-state", "auth", "medium", 352,
    "CSRF: the state of an OAuth2 login is constant",
    "A link of the attacker's ends a login of the attacker's in the victim's browser.",
    "Make a random state for each login, keep it in the session and compare it in the callback.", 0.7,
)  # fmt: skip
BOMB = Rule(
    "go-decompression-bomb", "other", "medium", 409,
    "Decompression bomb: compressed data is expanded without a size limit",
    "A few kilobytes unpack to gigabytes and fill disk or memory.",
    "Use io.CopyN or io.LimitReader.", 0.6,
)  # fmt: skip
SERVE_ROOT = Rule(
    "go-serve-root", "auth", "high", 22,
    "Path exposure: the whole file system is served over HTTP",
    "/etc/passwd is one request away.",
    "Serve a folder that holds only public files.", 0.9,
)  # fmt: skip
MULTIPART = Rule(
    "go-form-size", "other", "low", 400,
    "Denial of service: a form is parsed without a limit on the request body",
    "A request of many gigabytes fills memory and disk.",
    "Wrap r.Body in http.MaxBytesReader first.", 0.6,
)  # fmt: skip
BYPASS = Rule(
    "go-cross-origin-bypass", "auth", "medium", 346,
    "CSRF: cross-origin protection is disabled for every path",
    "Any page makes a visitor's browser send requests that count as theirs.",
    "Name only the paths that need it.", 0.8,
)  # fmt: skip
SMUGGLE = Rule(
    "go-transfer-encoding", "other", "medium", 444,
    "Request smuggling: a response sets both Transfer-Encoding and Content-Length",
    "Two servers disagree where the answer ends, and the rest becomes another answer.",
    "Leave both headers to net/http.", 0.7,
)  # fmt: skip
LDAP = Rule(
    "go-ldap", "injection", "high", 90,
    "LDAP injection: filter built from user input",
    "A value of '*)(uid=*' matches every entry.",
    "Escape the value with ldap.EscapeFilter.", 0.8,
)  # fmt: skip
XPATH = Rule(
    "go-xpath", "injection", "high", 643,
    "XPath injection: expression built from user input",
    "A value of \"' or '1'='1\" selects every node.",
    "Select with a constant expression and compare the values in Go.", 0.8,
)  # fmt: skip
NOSQL = Rule(
    "go-nosql", "injection", "high", 943,
    "NoSQL injection: user input becomes code of a query",
    "A value of \"'; return true; '\" matches every document.",
    "Leave $where away and compare fields with values.", 0.8,
)  # fmt: skip
REGEX = Rule(
    "go-regex-panic", "other", "low", 248,
    "Denial of service: user input is compiled by regexp.MustCompile, which panics",
    "A value of '(' ends the program.",
    "Use regexp.Compile and look at the error, or regexp.QuoteMeta.", 0.6,
)  # fmt: skip
JWT = Rule(
    "go-jwt", "auth", "high", 347,
    "JWT not verified: the token is parsed without checking its signature",
    "Anyone writes a token with any content.",
    "Use Parse with a key and WithValidMethods.", 0.8,
)  # fmt: skip
JWT_METHOD = Rule(
    "go-jwt-method", "auth", "medium", 347,
    "JWT algorithm confusion: the token chooses how it is verified",
    "A token that names another method is checked against the wrong kind of key.",
    "Check token.Method in the key function, or pass jwt.WithValidMethods.", 0.5,
)  # fmt: skip
KEY = Rule(
    "go-written-key", "auth", "high", 798,
    "Hardcoded key: the key that signs or encrypts is in the source",
    "Whoever sees the source signs tokens of their own, and reads what is encrypted.",
    "Read it from the environment or a secret store, and change the one that was exposed.", 0.8,
)  # fmt: skip
TRUST = Rule(
    "go-trust-boundary", "auth", "medium", 501,
    "Trust boundary violation: user input is stored in the session unchecked",
    "A value of 'admin' becomes a session entry that only the server should set.",
    "Check the value against what is allowed before it enters the session.", 0.6,
)  # fmt: skip
CORS = Rule(
    "go-cors", "auth", "medium", 942,
    "CORS misconfiguration: every site may send requests with the visitor's cookies",
    "A page of the attacker reads what only the visitor may see.",
    "Name the sites that may ask, or do not allow credentials.", 0.7,
)  # fmt: skip
TEMP_FILE = Rule(
    "go-temp-file", "race_condition", "low", 377,
    "Insecure temporary file: fixed name in a world-writable folder",
    "A link of that name, put there first, makes the program write to a file of the attacker's choice.",
    "Use os.CreateTemp or os.MkdirTemp.", 0.6,
)  # fmt: skip
READABLE = Rule(
    "go-private-mode", "auth", "medium", 732,
    "Insecure permissions: a key or a secret is stored where others may read it",
    "Every user of the machine reads the key.",
    "Use 0600: rights for the owner only.", 0.6,
)  # fmt: skip
UNLIMITED = Rule(
    "go-unbounded-body", "other", "low", 770,
    "Denial of service: the body of a request is read whole, however long it is",
    "A client that never stops sending fills the memory.",
    "Read it through http.MaxBytesReader.", 0.5,
)  # fmt: skip
CLAIM = Rule(
    "go-claim-race", "race_condition", "low", 367,
    "TOCTOU race: a file is looked for, and made afterwards",
    "Two callers find no file, and both make it: each believes that it is the only one.",
    "Open it with os.O_CREATE|os.O_EXCL, which fails where the file exists.", 0.5,
)  # fmt: skip
HANDLER_RACE = Rule(
    "go-handler-race", "race_condition", "medium", 362,
    "Data race: a handler changes a field of the server without a lock",
    "Each request runs in a goroutine of its own: updates are lost, a map write ends the program.",
    "Hold a sync.Mutex, or use sync/atomic.", 0.6,
)  # fmt: skip
ORIGIN = Rule(
    "go-websocket-origin", "auth", "medium", 346,
    "Cross-site WebSocket: connections of every site are accepted",
    "A page of the attacker opens a connection with the visitor's cookies.",
    "Compare the Origin header with the sites that may connect.", 0.7,
)  # fmt: skip
PADDING = Rule(
    "go-rsa-padding", "auth", "medium", 780,
    "Weak padding: RSA encryption with PKCS #1 v1.5",
    "Who can tell whether a padding was right decrypts a message step by step.",
    "Use rsa.EncryptOAEP.", 0.7,
)  # fmt: skip
CODE = Rule(
    "go-eval", "injection", "critical", 94,
    "Code injection: a text that is put together, or user input, is run as code",
    "Text in the value is run by the engine: it calls what the program gave to scripts, or never ends.",
    "Keep the script constant and hand the value over as data.", 0.8,
)  # fmt: skip
