"""The one table of secret patterns: forms, names, places, files, and placeholders.

Patterns are text; users compile those they need, so a hook pays for no others. Whether a match is masked, classified or
reported is up to the user of the table; none has patterns of its own. Where two users need different answers, both
patterns are here, side by side, with the reason.
"""
# ruff: noqa: E501 - tables: one row a line

from typing import NamedTuple


class Form(NamedTuple):
    signs: tuple[str, ...]
    """Every such secret contains one of these words; searching for words first is a hundred times faster."""
    pattern: str


# Forms.

PRIVATE_KEY_BEGIN = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
FORMS: dict[str, Form] = {
    "PRIVATE_KEY": Form(
        ("PRIVATE KEY",),
        rf"{PRIVATE_KEY_BEGIN}"
        r"(?:[\s\S]{10,}?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:\s|\\[nr])+[A-Za-z0-9+/=\s\\:,-]{20,})",
    ),
    "ANTHROPIC_KEY": Form(("sk-ant-",), r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    "OPENAI_KEY": Form(("sk-",), r"\bsk-(?:proj-)?[A-Za-z0-9_-]{20,}"),
    "AWS_KEY": Form(("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "GITHUB_TOKEN": Form(
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\bgh[pousr]_[A-Za-z0-9]{30,}\b|\bgithub_pat_[A-Za-z0-9_]{40,}\b",
    ),
    "GITLAB_TOKEN": Form(("glpat-",), r"\bglpat-[A-Za-z0-9_-]{20,}"),
    "SLACK_TOKEN": Form(("xox",), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    "SLACK_WEBHOOK": Form(("hooks.slack.com/",), r"\bhooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}"),
    "GOOGLE_KEY": Form(("AIza",), r"\bAIza[0-9A-Za-z_-]{35}"),
    "GOOGLE_TOKEN": Form(("ya29.",), r"\bya29\.[0-9A-Za-z_-]{20,}"),
    "STRIPE_KEY": Form(("k_live_", "k_test_"), r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    "HUGGINGFACE_TOKEN": Form(("hf_",), r"\bhf_[A-Za-z0-9]{30,}\b"),
    "NPM_TOKEN": Form(("npm_",), r"\bnpm_[A-Za-z0-9]{30,}\b"),
    "PYPI_TOKEN": Form(("pypi-",), r"\bpypi-[A-Za-z0-9_-]{40,}"),
    "SENDGRID_KEY": Form(("SG.",), r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    "DIGITALOCEAN_TOKEN": Form(("_v1_",), r"\bdo[opr]_v1_[a-f0-9]{40,}\b"),
    "VAULT_TOKEN": Form(("hvs.",), r"\bhvs\.[A-Za-z0-9_-]{24,}"),
    "SHOPIFY_TOKEN": Form(("shpat_", "shpss_", "shpca_"), r"\bshp(?:at|ss|ca)_[a-fA-F0-9]{32,}\b"),
    "TELEGRAM_TOKEN": Form((":AA",), r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}"),
    "GROQ_KEY": Form(("gsk_",), r"\bgsk_[A-Za-z0-9]{40,}\b"),
    "DATABRICKS_TOKEN": Form(("dapi",), r"\bdapi[a-f0-9]{32}\b"),
    "AGE_KEY": Form(("AGE-SECRET-KEY-1",), r"\bAGE-SECRET-KEY-1[A-Z0-9]{40,}\b"),
    "JWT": Form(("eyJ",), r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
}
MASK = r"REDACTED_[A-Z0-9_]+_[0-9a-f]{6}"
FORM_MASK = "REDACTED_(?:" + "|".join(FORMS) + "|URL_PASSWORD)_[0-9a-f]{6}"
"""The mask of a secret recognised by its form, whatever its name."""
ECHOED_KEY = r"(?i)\b(?:sk|pk|rk|gsk|xai|hf|ghp|AIza)[-_][\w\-*.]{6,}|\bBearer\s+\S+"
"""The remainder of a key in an error message, shortened or starred out, but still private."""
PLAIN_WORDS = r"[A-Za-z]+(?:[-_. :][A-Za-z]+)*"
PLAIN_WORDS_OR_PATH = r"[A-Za-z]+(?:[-_. :/@][A-Za-z]+)*\d{0,2}"
"""When masking, paths and addresses made of words are not secrets."""

# Names.

NAMED_PASSWORD = (
    r"(?:(?:[a-z0-9]*?_)*(?:db|user|root|admin|my|pg|mysql|redis|smtp|ftp|mail|imap|ldap|proxy|sudo|ssh|app|key|store|trust)?"
    r"(?:pass(?:code)?|pwd|pw)|[a-z0-9_]*(?:password|passwd|passphrase))"
)
NAMED_KEY = (
    r"[a-z0-9_]*(?:secret|token|credentials?|api_?key|access_?key|secret_?key|private_?key|signing_?key|encryption_?key|"
    r"account_?key|shared_?key|master_?key|license_?key|service_?key|auth_?key|jwt_?key|deploy_?key|aes_?key|hmac_?key|"
    r"session_?key|fernet_?key|priv_?key|bearer|jwt|dsn)|(?:[a-z0-9]+_)*creds?|(?:[a-z0-9]+_)+pat"
)
NAME_ENDING = r"(?:_?(?:value|string|str|b64|base64|hex|enc|text|\d{1,3}))?"
NAME = rf"(?i)(?:(?P<password>{NAMED_PASSWORD})|(?P<key>{NAMED_KEY})|(?P<plain>(?:[a-z0-9_]*_)?key)){NAME_ENDING}"
"""A name that says its value is a secret."""
NAME_WITHIN = (
    r"(?i)(?:[a-z0-9]+_)*?(?:(?P<password>password|passwd|passphrase|pwd|pw|(?:db|user|root|admin|mysql|redis|smtp)_?pass)|"
    r"(?P<key>secret(?:_?key)?|token|credentials?|creds?|(?:api|access|private|priv|signing|encryption|master|fernet)_?key))"
    r"(?P<rest>(?:_[a-z0-9]+)+)"
)
"""A name that continues with where the value is used: `PASSWORD_PROD`, `SECRET_KEY_BASE`."""
NAME_ABOUT = (
    r"(?i)_(?:hash(?:e[rsd])?|hashing|sha\d*|md5|digest|salt|fields?|column|col|url|uri|endpoint|host|path|file|filename|dir|"
    r"names?|ids?|arn|ref|type|kind|class|format|label|title|text|prompt|hint|help|message|msg|errors?|warning|placeholder|"
    r"template|view|page|form|inputs?|element|selector|button|btn|icon|style|param|params|arg|header|prefix|suffix|"
    r"separator|env|var|variable|key|keys|alg|algo|algorithm|method|mode|scheme|policy|rules?|regex|re|pattern|validators?|"
    r"checker|encoder|provider|factory|service|manager|store|storage|backend|handler|source|reset|change|changed|"
    r"rotation|expir\w*|ttl|age|lifetime|timeout|days|hours|minutes|seconds|at|min|max|len|length|size|count|limit|"
    r"strength|status|state|scopes?|issuer|audience|required|enabled|valid)(?=_|$)"
)
"""A name of something about a secret that is not itself secret."""
NAME_CORE = r"(?i)pass|pwd|secret|token|cred|key|bearer|jwt|dsn|(?<![a-z])p(?:w|at)(?![a-z])|(?-i:(?<=[a-z0-9])P(?:w|at)(?![a-z]))"
"""Every secret's name contains one of these."""
SETTER = r"(?i)(?:set_?|with_?|user_?)?(?:password|passwd|secret|token)"
VARIABLE = (
    r"(?i)(?:^|_)(?:KEY|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PW|PAT|CREDENTIALS?|CREDS?)(?:_|$)"
)
"""An environment variable to mask; its value is checked as well."""
RETURNED = r"(?i)(?:session_?id|token|password|secret|api_?key|nonce|salt|otp|invite_?code|reset_?code)$"
"""The name of a function that makes a secret."""
READ_VARIABLE = (
    r"(?:\bos\.(?:Getenv|getenv|environ\.get)\(|\bos\.environ\[)\s*['\"]\w*(?:TOKEN|SECRET|PASSWORD|API_?KEY)['\"]"
)
"""Code of Python or Go that reads a secret from the environment."""
SHOWN_VARIABLE = (
    r"(?i).*(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|CREDENTIAL|DATABASE_URL|"
    r"_(?:PWD|PAT|PASS|PW|CREDS?)\b).*"
)
"""A variable that a command must not print. Its value is unknown, so a bare `$KEY` of a loop or `$PASS` of a count does
not match."""
NOT_SECRET = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"})
CODE_PASSWORD = r"(?i)(?:^|_|\b|[a-z])(?:password|passwd|passphrase|pwd|pass)$"
CODE_KEY = (
    r"(?i)(?:secret|secret_?key|api_?key|auth_?token|access_?token|refresh_?token|private_?key|token|bearer|"
    r"access_?key|secret_?access_?key|encryption_?key|signing_?key|jwt_?key|credentials?|client_?secret)$"
)
NAMES_A_SECRET = r"(?i:^(?:[a-z]+[-_.])*(?:token|secret|password|passwd|key)(?:[-_.][a-z]+)*$)"
"""Words that name a secret and are none."""
PRINTED = r"(?i)\b(?:\w+_)?(?:password|passwd|passphrase|secret|secret_?key|api_?key|private_?key|ssn)\b(?!\s*[\[(.])"
"""A variable that does not belong into a log."""
PRIVATE_CONTENT = (
    r"(?i)secret|priv|(?:api|ssh|pem)_?key|token|passw|pwd|cred|sensitive|confidential|user|account|owner|personal"
    r"|session|backup|config|cert|vault|wallet|auth"
)
"""Words beside a file that only its owner should read."""
SECRET_AROUND = r"(?i)private_?key|secret|passw|credential|id_rsa|api_?key"
"""Words in the head of a function that sets the rights of a file of secrets."""
SECRET_BESIDE = r"(?i)priv(?:ate)?_?(?:key|pem)|secret|passw|credential|id_rsa|token|key_?file|keypem|pemkey"
"""The same in the call alone, where more words mean a secret."""
CODE_PLAIN_KEY = r"(?i)^(?:\w+_)?key$"
"""In a program, where the value is a literal. Most keys are not secrets: only values that can hardly be a word
count."""
CODE_WORD = (
    r"(?i)passw(?:or)?d|passphrase|passwd|(?:^|_|\b)pwd?(?:$|_|\b)|secret|token|bearer|api_?key|private_?key|access_?key|"
    r"credential|auth_?key|signing_?key|encryption_?key|(?<![a-z])cred(?![a-z])"
)
"""Anywhere in a name, for a value that is certainly random."""
MASKED_NAME = r"(?i)pass|pwd|secret|token|key|credential|dsn|url|uri|auth|conn"
"""A name before a mask, which is known to be a secret."""
EXPOSED_FIELD = (
    r"(?i)^(?:\w*_)?(?:passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|"
    r"access[_-]?tokens?|refresh[_-]?tokens?|bearer|token|client[_-]?secret|credentials?)s?$|_secret$|[a-z]Secret$"
)
"""A field that must not be written out with the rest of its record."""
_GUESSED = r"(?i)passw|secret|token|nonce|salt|csrf|api_?key|credential|reset_?code|activation"
_SHORT_NAMES = r"(?<![a-z])key(?![a-z])|(?<![a-z])pin(?![a-z])|(?<![a-z])iv(?![a-z])"
UNGUESSABLE = {
    "python": rf"{_GUESSED}|{_SHORT_NAMES}|session|cookie|otp|auth|remember|captcha|verification|voucher|invite|signature|uuid|"
    r"guid|(?<![a-z])code(?![a-z])|private",
    "go": rf"{_GUESSED}|{_SHORT_NAMES}|session|otp|voucher|invite|private",
    "javascript": rf"{_GUESSED}|session_?id|sess(?:ion)?_?key|(?<![a-z])otp|captcha|verif\w*_?code|auth_?code|private_?key|"
    r"invite_?code|encryption_?key",
}
"""Names of values that must be unguessable, so `random` must not create them. JavaScript pages have other kinds of
sessions, cookies and keys."""
COMPARED = (
    r"(?i)^(?!verify_|check_|has_|is_).*(?:hmac|signature|api_?key|(?:csrf|auth|access|reset|session|bearer|admin|refresh|api|invite|remember|verification|one_?time)_?token|(?:password|token)_?hash|"
    r"hashed_?(?:password|token)|secret(?:_?key)?|_mac)$"
)
COMPARED_WHERE_MADE = r"(?i)^(?:mac|sig|digest|hash|(?:expected|computed|calculated)\w*)$"
COMPARED_JAVASCRIPT = (
    r"(?:^|_)(?:API_?KEY|SECRET|TOKEN|PASSWORD)$|(?:secret|apiKey|api_key|[tT]oken|signature|Signature|hmac|digest)$|"
    r"^(?:expected|stored|computed|valid)\w*(?:[hH]ash|[pP]assword|[kK]ey|[cC]ode)$"
)
"""Values to compare in constant time."""
LOGGED = (
    r"(?:^|[^\w.(]|\.|\()(?:\w*[pP]ass(?:word|wd|phrase)|PASSWORD|(?:\w*_)?passwd|api_?[kK]ey|\w*ApiKey|client_?[sS]ecret|"
    r"\w*ClientSecret|(?:access|refresh|auth|bearer)_?[tT]oken|\w*(?:Access|Refresh|Auth)Token|private_?[kK]ey|\w*PrivateKey|"
    r"secret_?[kK]ey|\w*SecretKey|credit_?[cC]ard(?:_?[nN]umber)?|cvv|ssn)\b(?!\s*[(=!<>?]|\.)"
)
"""Values that must not be logged, as code names them."""
PASSWORD_PARTS = ("passw", "passphrase", "credential")
PASSWORD_SHORT = r"pw(?:d$|(?<=\bpw)[d_]|(?<=_pw)$|(?<=^pw)$)"
"""On a line that handles passwords."""
SPOKEN = r"passwords?|secrets?|credentials?|api[- _]?keys?|private keys?|ssh keys?|tokens?|id_rsa"
"""What people call secrets in prose."""

# Places.

ADDRESS = r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://(?:[^\s/@:'\"`<>,]{0,80}):(?P<value>[^\s/'\"`<>,]{1,200})@(?=[\w.\[%$-])"
ADDRESS_ALONE = r"^\w+://[^/\s:@]+:[^/\s:@$%{]{8,}@"
"""A literal that is nothing but an address."""
ADDRESS_TOKEN = r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://(?P<value>[A-Za-z0-9_-]{16,200})@(?=[\w.\[-])"
QUERY = (
    r"(?i)[?&;](?P<name>(?:[\w-]{0,30}[_-])?(?:token|sig|signature|key|secret|password|passwd|pass|pwd|auth|apikey|code|"
    r"credential))=(?P<value>[^\s&#'\"`<>]{4,400})"
)


class Place(NamedTuple):
    sign: str
    """Text that must be present."""
    kind: str
    judged: str
    """How its value is checked."""
    pattern: str


PLACES = (
    Place("://", "URL_PASSWORD", "password", ADDRESS),
    Place("://", "URL_TOKEN", "key", ADDRESS_TOKEN),
    Place("earer ", "BEARER", "token", r"\b[Bb]earer[ ]+(?P<value>[A-Za-z0-9._~+/=-]{8,400})"),
    Place(
        "uthorization", "AUTHORIZATION", "token",
        r"(?i)\bauthorization\b[\"']?[\]),]{0,2}[ \t]*[:=,]?[ \t]*[\"'`f]{0,2}"
        r"(?:(?:basic|bearer|token|digest|apikey)[ ]+)?"
        r"(?P<value>[A-Za-z0-9._~+/=-]{8,400})(?![A-Za-z0-9._~+/=(-])",
    ),
    Place(
        "=", "PASSWORD", "password",
        r"(?i)(?<![\w.])(?:password|passwd|pwd|accountkey|sharedaccesskey)=(?P<value>[^\s;'\"`,)&]{3,200})"
        r"(?=;|[ ](?:\w+=)|['\"`][ \t]*[,;)\n]|$)",
    ),
    Place("'", "PASSWORD", "password", r"(?i)\b(?:identified by|with password|password)[ \t]+'(?P<value>[^'\n]{3,200})'"),
    Place("-u", "PASSWORD", "password", r"(?<!\S)(?:-u|--user)[ =][\"']?[\w.@+-]{1,60}:(?P<value>[^\s\"'`]{3,200})"),
    Place("mysql", "PASSWORD", "password", r"\bmysql(?:dump|admin)?\b[^\n|;]{0,200}?[ ]-p(?P<value>[^\s\"'`-][^\s\"'`]{2,200})"),
    Place("ENV", "PASSWORD", "password", r"(?m)^[ \t]*ENV[ \t]+\w*(?:PASS|PWD|PASSWORD|SECRET|TOKEN)[ \t]+(?P<value>[^\s\"'`]{3,200})"),
    Place("sshpass", "PASSWORD", "password", r"\bsshpass[ ]-p[ ]?[\"']?(?P<value>[^\s\"'`]{3,200})"),
    Place("login ", "PASSWORD", "password", r"\blogin[ ]\S{1,80}[ ]+password[ ]+(?P<value>\S{3,200})"),
    Place(":", "PASSWORD", "password", r"(?m)^[\w.*-]+:(?:\d{2,5}|\*):[\w*-]+:[\w*-]+:(?P<value>[^\s:]{3,200})$"),
    Place(
        "--", "PASSWORD", "password",
        r"--[\w-]{0,30}(?:password|passwd|passphrase|token|secret|api-key|access-key)[ =]"
        r"(?P<value>[^\s\"'`$<{(\[A-Z-][^\s\"'`]{3,200})",
    ),
)  # fmt: skip

# Placeholders.

_STAND_IN = r"(?i)change[-_ ]?me|example|your[-_ ]|x{3}|todo|fixme|dummy|placeholder|redacted|%s|insert|environ|getenv|process\.env"
STAND_IN = (
    rf"{_STAND_IN}|<[^>]*>|\{{[^}}]*\}}|%\(|\$|"
    r"^[*.#-]+$|\bself\.|\bos\.|"
    r"^(?:new|old|current|confirm|user|db|the|my|hashed|repeat|retype|enter)?[-_ ]?pass(?:word|wd|phrase|code)?s?[-_ ]?"
    r"(?:field|"
    r"hash|input|label|param|key|confirm\w*|again|reset|file|required|\d{0,4})?$|"
    r"^(?:api|access|auth|refresh|csrf|secret|id|session|x|bearer)?[-_]?(?:api)?[-_]?(?:token|secret|key|credential)s?(?:[-_][a-z]+)?$"
)
"""For masking: text with a variable in it, or `pass1234`, is not worth masking in a prompt."""
NO_VALUES = (
    "none null nil undefined true false test testing string str text hidden default value env prompt empty optional "
    "required pass bearer basic"
)
"""Words that are not values."""
CODE_STAND_IN = (
    rf"{_STAND_IN}|<.*>|\{{.*\}}|\$\{{|^\*+$|^\.+$|replace|"
    rf"^(?:{'|'.join(NO_VALUES.split())})$|"
    r"^password\d?$|^(?:new|old|current|confirm|user|db)?[-_]?pass(?:word|"
    r"wd)?[-_]?(?:field|hash|input|label|param|key|confirm\w*|again|reset)?$|"
    r"^(?:api|access|auth|refresh|csrf|secret|id|session|x)?[-_]?(?:api)?[-_]?(?:token|secret|key)s?(?:[-_]\w+)?$"
)
"""For reports: `password = "pass1234"` is a flaw, and a weak password too."""
NOT_RANDOM = (
    r"(?i)^[a-z][a-z_.\-/ ]*$|example|placeholder|changeme|<.*>|\$\{|\{\{|%[sv]|^https?://[^@]*$|^urn:|^/|^\.|\s"
)
"""A literal that is a word, a path, an address or a template."""
COMMON = frozenset(
    f"""
    {NO_VALUES} tests values bytes int integer bool boolean float number object unknown any varchar char
    byte input output off on yes no admin root user guest postgres postgresql mysql redis rabbitmq mongo mongodb minio
    docker vagrant oracle sa secret secrets token password passwd qwerty letmein welcome hello world foobar wrong
    invalid bad incorrect correct right good valid abcd abc123 123456 12345678 password1 password123 pass123 pass1234
    admin123 test123 test1234 new-password current-password username login development production localhost nothing
    key name id hash digest header cookie query body form param params argument basic-auth oauth oauth2 apikey http
    https file path url uri json yaml toml xml html plain ascii utf8 base64 md5 sha1 sha256 sha512 hmac rsa ecdsa
    ed25519 weak strong short long same other first second third fourth
""".split()
)
"""Words commonly used in place of a secret, or that are not values."""

# Files.

FILE = (
    r"(?:^|.*[/@=:])(?:"
    r"\.env(?:\.(?!example|sample|template|dist|test$|schema)[\w.-]+)?|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.pgpass|\.npmrc|\.pypirc|\.git-credentials|\.htpasswd|\.vault-token|server-token|"
    r"\.aws/credentials|\.docker/config\.json|\.kube/config|\.config/gcloud/.*|\.config/gh/hosts\.yml|\.gnupg/.*|\.password-store/.*|\.my\.cnf|kubeconfig|"
    r"\.ssh/(?!config$|known_hosts|.*\.pub$)[^/]+|etc/(?:shadow|gshadow|sudoers)(?:\.d/.*)?|proc/(?:self|\d+)/environ|"
    r"(?:secrets?|credentials?|service[-_]?account[\w-]*)\.(?:json|ya?ml|toml|txt|ini|env|properties|enc)|"
    r"(?!.*(?:cert|chain|public|\bca\b|pub\.))[\w.-]+\.(?:pem|key|p12|pfx|jks|keystore|ppk|kdbx)|run/secrets/.*|\.terraformrc|terraform\.tfstate|wp-config\.php|master\.key|"
    r"library/keychains/.*|login data|cookies\.sqlite|key4\.db|logins\.json|default/cookies"
    r")"
)
FOLDER = r"(?:.*/)?\.(?:aws|ssh|gnupg|password-store)/?"
"""Reading the whole folder reads the secrets in it."""
FILE_SAMPLES = (
    ".env", ".env.local", ".env.production", "id_rsa", "id_ed25519", ".netrc", ".pgpass", ".npmrc", ".git-credentials", "credentials.json",
    ".aws/credentials", ".ssh/id_rsa", ".ssh/id_ed25519", ".kube/config", ".docker/config.json", "etc/shadow",
)  # fmt: skip
"""Files that a pattern such as `.en*` may match."""
ENV_FILE = r"(?:.*/)?\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?"
"""A file that must not be overwritten; tests write their own."""
