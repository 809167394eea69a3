"""What must not happen in Python: which values must not arrive where, which calls are wrong by themselves."""

import re
from collections.abc import Callable

from moot.scan.flow.fold import UNKNOWN
from moot.scan.flow.rulebook import Book, Setting, Sink, Site, Store, by_name
from moot.scan.flow.rules import python_flaws as flaw
from moot.scan.flow.rules import python_names as names
from moot.scan.flow.values import Val
from moot.scan.rule import Rule
from moot.scan.rules import python as known

HARMLESS_LOADERS = ("SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader", "safe_load")
WEAK_HASH = re.compile(r"(?i)md2|md4|md5|sha-?1$|ripemd")
SECRET_NAME = (
    r"(?i)passw|secret|token|session|cookie|nonce|salt|otp|csrf|api_?key|(?<![a-z])key(?![a-z])|credential|auth|"
    r"remember|captcha|verification|reset_?code|(?<![a-z])pin(?![a-z])|(?<![a-z])iv(?![a-z])|voucher|invite|"
    r"activation|signature|uuid|guid|session_?id|(?<![a-z])code(?![a-z])|private"
)
MEDIUM, SURE = 0.5, 0.7
ANY_CALLER = 0.3
"""Where a value that any caller may choose is bad enough."""


def sink(rule: Rule, kind: str, names: str, *args: int | str, **more: object) -> Sink:
    return Sink(rule, kind, tuple(names.split()), args, **more)  # type: ignore[arg-type]


def is_const(value: Val | None, *wanted: object) -> bool:
    return (
        value is not None and value.const is not UNKNOWN and any(value.const is w or value.const == w for w in wanted)
    )


def said(keyword: str, *wanted: object) -> Callable[[Site], bool]:
    return lambda site: is_const(site.arg(keyword), *wanted)


def _is_statement(site: Site) -> bool:
    """Text of our own around the value is SQL, or the value surely comes from a stranger."""
    value = site.arg(0, "query", "sql", "statement", "operation")
    return value is not None and ("sql" in value.marks or any(taint.strength >= SURE for taint in value.taints))


def _through_shell(site: Site) -> bool:
    shell = site.arg("shell")
    return shell is not None and shell.const is not UNKNOWN and bool(shell.const)


def _program_is_ours(site: Site) -> bool:
    """A list whose program is constant and no shell is fine, whatever its arguments are."""
    first = site.arg(0, "args")
    if _through_shell(site) or first is None:
        return False
    parts = site.items(first)
    if parts is None:
        return bool(first.refs)
    if not parts or parts[0].taints:
        return not parts
    words = [part.const for part in parts[:3]]
    scripted = any(w in ("-c", "/c", "/C", "-e") for w in words if isinstance(w, str))
    last = [part for part in parts[1:] if part.taints]
    shells = isinstance(words[0], str) and re.search(
        r"(?:^|/)(?:ba|z|da|k)?sh$|cmd(?:\.exe)?$|powershell|python|perl|ruby|node", words[0]
    )
    return not (scripted and shells and last)


def _not_ours(site: Site) -> bool:
    return not _through_shell(site) and not _program_is_ours(site)


def _unsafe_loader(site: Site) -> bool:
    loader = site.arg(1, "Loader")
    return loader is None or not loader.name.endswith(HARMLESS_LOADERS)


def _reads_a_file(site: Site) -> bool:
    """Whoever can write the file chooses what is built from it."""
    stream = site.arg(0, "stream")
    unsafe = site.name.startswith("yaml.unsafe") or _unsafe_loader(site)
    return unsafe and stream is not None and not stream.taints and "open" in stream.name


def _weak_digest(site: Site) -> bool:
    if is_const(site.arg("usedforsecurity"), False):
        return False
    if site.name.endswith(".new") and site.name.startswith("hashlib"):
        algorithm = site.arg(0, "name")
        return algorithm is not None and isinstance(algorithm.const, str) and bool(WEAK_HASH.search(algorithm.const))
    return True


def _about_password(site: Site) -> bool:
    return bool(re.search(r"(?i)passw|pwd|passphrase", f"{site.text()} {site.words()}"))


def _password_digest(site: Site) -> bool:
    return _weak_digest(site) and _about_password(site)


def _other_digest(site: Site) -> bool:
    return _weak_digest(site) and not _about_password(site)


def _plain_cookie(site: Site) -> bool:
    secure = site.arg("secure", 6)
    return "**" not in str(site.arg("**")) and (secure is None or is_const(secure, False, None))


def _scripted_cookie(site: Site) -> bool:
    return not _plain_cookie(site) and (
        site.arg("httponly", 7) is None or is_const(site.arg("httponly", 7), False, None)
    )


def _follows_entities(site: Site) -> bool:
    """lxml resolves entities unless told otherwise; Python's own parsers only when the feature is switched on."""
    parser = site.arg(1, "parser")
    if parser is None:
        return False
    if "make_parser" in parser.name:
        feature = site.setting(parser, "xml.sax.handler.feature_external_ges")
        feature = feature or site.setting(parser, "http://xml.org/sax/features/external-general-entities")
        return feature is not None and not is_const(feature, False, 0, None)
    if "XMLParser" in parser.name and "lxml" in parser.name:
        return not is_const(site.setting(parser, "resolve_entities"), False)
    return False


def _lxml_follows(site: Site) -> bool:
    parser = site.arg(1, "parser")
    return parser is None or _follows_entities(site)


def _sax_parser(site: Site) -> bool:
    feature = site.setting(site.receiver, "xml.sax.handler.feature_external_ges")
    feature = feature or site.setting(site.receiver, "http://xml.org/sax/features/external-general-entities")
    return "make_parser" in site.receiver.name and feature is not None and not is_const(feature, False, 0)


def _parser_opened(site: Site) -> bool:
    return is_const(site.arg("resolve_entities"), True) or is_const(site.arg("no_network"), False)


def _feature_on(site: Site) -> bool:
    feature, value = site.arg(0), site.arg(1)
    named = feature is not None and (
        feature.name.endswith("feature_external_ges") or "external-general" in str(feature.const)
    )
    return named and is_const(value, True, 1)


def _html(site: Site) -> bool:
    kind = site.arg("mimetype", "content_type", "media_type", 3)
    if kind is None and site.name.endswith("Response"):
        kind = site.arg("content_type")
    return kind is None or not isinstance(kind.const, str) or "html" in kind.const


def _unverified(site: Site) -> bool:
    if is_const(site.arg("verify", 2), False):
        return True
    options = site.arg("options")
    return is_const(site.setting(options, "verify_signature"), False) or _no_algorithm(site)


def _no_algorithm(site: Site) -> bool:
    algorithms = site.items(site.arg("algorithms", 2))
    return algorithms is not None and any(isinstance(a.const, str) and a.const.lower() == "none" for a in algorithms)


def _short_key(site: Site) -> bool:
    bits = site.arg("key_size", "bits", 1 if "cryptography" in site.name else 0)
    return (
        bits is not None and isinstance(bits.const, int) and not isinstance(bits.const, bool) and 0 < bits.const < 2048
    )


def _open_mode(site: Site) -> bool:
    mode = site.arg(1, "mode")
    return mode is not None and isinstance(mode.const, int) and bool(mode.const & 0o022)


def _ecb(site: Site) -> bool:
    mode = site.arg(1, "mode")
    return mode is not None and (mode.name.endswith("MODE_ECB") or is_const(mode, 1))


def _constant_iv(site: Site) -> bool:
    value = site.arg("iv", "IV", "nonce", 2)
    mode = site.arg(1, "mode")
    return (
        not (mode is not None and mode.name.endswith("MODE_ECB"))
        and value is not None
        and isinstance(value.const, bytes | str)
    )


def _constant_first(site: Site) -> bool:
    value = site.arg(0, "initialization_vector", "nonce")
    return value is not None and isinstance(value.const, bytes | str)


def _constant_salt(site: Site) -> bool:
    value = site.arg("salt", 2 if site.name.startswith("hashlib") else 0)
    return value is not None and isinstance(value.const, bytes | str)


def _debug(site: Site) -> bool:
    return is_const(site.arg("debug"), True, 1) and site.module("flask", "bottle", "quart", "dash", "werkzeug")


def _slow_pattern(site: Site) -> bool:
    pattern = site.arg(0) if site.name.startswith("re.") and "()" not in site.name else site.setting(site.receiver, 0)
    return pattern is not None and isinstance(pattern.const, str) and bool(NESTED.search(pattern.const))


WEB_MODULES = ("flask", "django", "fastapi", "bottle", "tornado", "aiohttp", "starlette", "sanic", "quart", "webob")
NESTED = re.compile(r"\((?:[^()\\]|\\.)*[+*](?:[^()\\]|\\.)*\)[+*]|\((?:[^()|]+)\|(?:[^()]+)\)[+*].*\$")
EMPTY_IN_URL = re.compile(r"^\w[\w+]*://[^/@:]+:@")
OLD_TLS = re.compile(r"PROTOCOL_(?:SSLv\d+|TLSv1(?:_1)?)$")


def _old_tls(site: Site) -> bool:
    chosen = site.arg("ssl_version", 0)
    if site.name == "ssl.wrap_socket" and site.arg("cert_reqs") is None:
        return True
    return any(v is not None and bool(OLD_TLS.search(v.name)) for v in (chosen, site.arg(5), site.arg("ssl_version")))


def _unfiltered(site: Site) -> bool:
    archive = site.setting(site.receiver, 0)
    ours = archive is not None and archive.const is not UNKNOWN
    return site.arg("filter") is None and not ours


def _unescaped(site: Site) -> bool:
    """Explicitly off, or left off where pages are made: the templates of a code generator are no pages."""
    choice = site.arg("autoescape")
    return is_const(choice, False) if choice is not None else site.module(*WEB_MODULES)


def _all_interfaces(site: Site) -> bool:
    pair = site.items(site.arg(0))
    return bool(pair) and pair is not None and is_const(pair[0], "0.0.0.0", "", "::")


SUBPROCESS = "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen"
SINKS: tuple[Sink, ...] = (
    sink(
        known.SQL, "sql",
        ".execute .executemany .executescript .raw .exec_driver_sql .read_sql .read_sql_query .RawSQL "
        "sqlalchemy.text sqlalchemy.sql.text django.db.models.expressions.RawSQL pandas.read_sql pandas.read_sql_query",
        0, "query", "sql", "statement", "operation", when=_is_statement, floor=ANY_CALLER,
    ),
    sink(flaw.NOSQL, "nosql", ".find .find_one .update_one .update_many .delete_one .delete_many .aggregate "
         ".find_one_and_update .count_documents", 0, "filter",
         when=lambda site: site.module("pymongo", "mongoengine", "flask_pymongo", "motor"), floor=MEDIUM),
    sink(known.SHELL, "shell", SUBPROCESS, 0, "args", when=_through_shell, floor=ANY_CALLER),
    sink(known.SHELL, "shell", "asyncio.create_subprocess_shell", 0, "cmd", floor=ANY_CALLER),
    sink(flaw.PROGRAM, "shell", SUBPROCESS, 0, "args", when=_not_ours, floor=MEDIUM),
    sink(flaw.PROGRAM, "shell", "os.execl os.execle os.execlp os.execv os.execve os.execvp os.spawnl os.spawnv "
         "os.spawnlp os.spawnvp os.startfile asyncio.create_subprocess_exec pty.spawn", 0, 1, floor=MEDIUM),
    sink(
        known.OS_SYSTEM, "shell",
        "os.system os.popen os.popen2 os.popen3 os.popen4 popen2.popen2 popen2.popen3 commands.getoutput "
        "commands.getstatusoutput subprocess.getoutput subprocess.getstatusoutput", 0, "command", "cmd",
        floor=ANY_CALLER,
    ),
    sink(flaw.PROGRAM, "shell", ".exec_command", 0, when=lambda site: site.module("paramiko"), floor=MEDIUM),
    sink(known.EVAL, "code", "eval exec builtins.eval builtins.exec compile code.interact execfile "
         "timeit.timeit pandas.eval", 0, floor=ANY_CALLER),
    sink(known.EVAL, "code", "__import__ importlib.import_module", 0, floor=SURE),
    sink(
        known.PATH, "path",
        "open io.open codecs.open os.open os.remove os.unlink os.rmdir os.listdir os.rename os.scandir os.walk "
        "shutil.rmtree shutil.copy shutil.copyfile shutil.copy2 shutil.move flask.send_file send_file os.makedirs "
        "tarfile.open zipfile.ZipFile os.mkdir os.path.exists os.path.isfile os.stat os.chmod os.removedirs "
        "aiofiles.open linecache.getlines django.http.FileResponse fastapi.responses.FileResponse os.path.getsize "
        "os.access xml.etree.ElementTree.parse_file bottle.static_file file os.symlink os.link",
        0, "file", "path", "filename_or_fp", "path_or_file", "filename", floor=SURE,
    ),
    sink(known.PATH, "path", "flask.send_from_directory send_from_directory", 0, "directory", floor=SURE),
    sink(
        known.PATH, "path",
        ".read_text .write_text .read_bytes .write_bytes .unlink .rmdir .touch .iterdir .rglob .is_file .exists "
        "pathlib.Path().open .mkdir", "self", floor=SURE,
        when=lambda site: "Path" in site.receiver.name or not site.receiver.name,
    ),
    sink(flaw.UPLOAD, "upload", ".save", 0, "dst", when=lambda site: "files" in site.receiver.name, floor=SURE),
    sink(known.TEMPLATE, "template", "flask.render_template_string render_template_string jinja2.Template "
         "mako.template.Template jinja2.Environment().from_string .from_string django.template.Template", 0, "source",
         floor=ANY_CALLER),
    sink(known.MARKUP, "xss", "markupsafe.Markup flask.Markup jinja2.Markup django.utils.safestring.mark_safe "
         "django.utils.safestring.SafeText django.utils.html.mark_safe", 0, floor=ANY_CALLER),
    sink(known.RESPONSE, "xss", "flask.make_response make_response flask.Response Response django.http.HttpResponse "
         "HttpResponse fastapi.responses.HTMLResponse starlette.responses.HTMLResponse werkzeug.wrappers.Response "
         "django.http.HttpResponseBadRequest django.http.HttpResponseNotFound aiohttp.web.Response "
         "webob.Response", 0, "response", "content", "text", "body", when=_html, floor=SURE),
    sink(known.RESPONSE, "xss", "self.write self.wfile.write tornado.web.RequestHandler.write "
         "http.server.BaseHTTPRequestHandler.wfile.write", 0, floor=SURE),
    sink(flaw.HEADER, "header", ".headers.add .headers.set .set_header .add_header .headers.update "
         "self.send_header", 1, 0, floor=SURE),
    sink(flaw.LOG, "log", "logging.info logging.warning logging.error logging.debug logging.critical logging.exception "
         "logging.log logging.warn logger.info logger.warning logger.error logger.debug logger.critical log.info "
         "log.error log.warning logger.exception logging.getLogger().info logging.getLogger().warning "
         "logging.getLogger().error logging.getLogger().debug logging.getLogger().critical "
         "logging.getLogger().exception logging.getLogger().warn flask.current_app.logger.info "
         "flask.current_app.logger.error flask.Flask().logger.info flask.Flask().logger.error "
         "flask.Flask().logger.warning flask.Flask().logger.debug", 0, 1, 2, floor=MEDIUM),
    sink(flaw.LDAP, "ldap", ".search .search_s .search_ext .search_st .search_ext_s .paged_search", 1, 2, 0,
         "search_filter", "search_base", "filterstr", "base",
         when=lambda site: site.module("ldap3", "ldap") or site.name.startswith("ldap"), floor=ANY_CALLER),
    sink(flaw.XPATH, "xpath", ".xpath lxml.etree.XPath lxml.etree.ETXPath", 0, "_path", "path", floor=ANY_CALLER),
    sink(flaw.XPATH, "xpath", "elementpath.select elementpath.iter_select elementpath.XPath2Parser().parse", 1, "path",
         floor=ANY_CALLER),
    sink(flaw.XPATH, "xpath", ".findall .find .iterfind .findtext", 0,
         when=lambda site: site.name.startswith(("xml.etree", "lxml")) , floor=MEDIUM),
    sink(flaw.XXE_FLOW, "xxe", "xml.dom.minidom.parseString xml.dom.minidom.parse xml.dom.pulldom.parseString "
         "xml.dom.pulldom.parse", 0, when=_follows_entities, floor=ANY_CALLER),
    sink(flaw.XXE_FLOW, "xxe", "lxml.etree.parse lxml.etree.fromstring lxml.etree.XML lxml.etree.iterparse "
         "lxml.objectify.fromstring lxml.objectify.parse", 0, when=_lxml_follows, floor=ANY_CALLER),
    sink(flaw.XXE_FLOW, "xxe", ".parse", 0, when=_sax_parser, floor=ANY_CALLER),
    sink(known.XML, "xxe", "lxml.etree.XMLParser", when=_parser_opened),
    sink(known.SSRF, "ssrf", "requests.get requests.post requests.put requests.delete requests.patch requests.head "
         "requests.options httpx.get httpx.post httpx.put httpx.delete httpx.head httpx.patch urllib.request.urlopen "
         "urllib.urlopen urllib2.urlopen urllib.request.urlretrieve http.client.HTTPConnection "
         "http.client.HTTPSConnection requests.Session().get requests.Session().post requests.session().get "
         "httpx.Client().get httpx.AsyncClient().get aiohttp.ClientSession().get aiohttp.ClientSession().post "
         "urllib3.PoolManager().request_url pycurl.Curl().setopt urllib.request.Request wget.download", 0, "url",
         floor=SURE),
    sink(known.SSRF, "ssrf", "requests.request httpx.request urllib3.PoolManager().request "
        "aiohttp.request", 1, "url", floor=SURE),
    sink(known.REDIRECT, "redirect", "flask.redirect redirect django.shortcuts.redirect "
        "django.http.HttpResponseRedirect "
         "HttpResponseRedirect fastapi.responses.RedirectResponse starlette.responses.RedirectResponse "
         "self.redirect tornado.web.RequestHandler.redirect "
         "bottle.redirect werkzeug.utils.redirect django.http.HttpResponsePermanentRedirect", 0, "location", "url",
         floor=SURE),
    sink(flaw.DESERIALISE, "deserialise", "marshal.loads marshal.load jsonpickle.decode jsonpickle.loads shelve.open "
         "dill.loads dill.load cloudpickle.loads joblib.load pandas.read_pickle torch.load", 0, floor=MEDIUM),
    sink(known.PICKLE, "deserialise", "pickle.load pickle.loads cPickle.load cPickle.loads _pickle.loads "
         "pickle.Unpickler cPickle.Unpickler", 0, floor=ANY_CALLER),
    sink(known.YAML, "deserialise", "yaml.load yaml.load_all", 0, "stream", when=_unsafe_loader, floor=ANY_CALLER),
    sink(known.YAML, "deserialise", "yaml.unsafe_load yaml.unsafe_load_all", 0, floor=ANY_CALLER),
    sink(known.YAML, "deserialise", "yaml.load yaml.load_all yaml.unsafe_load "
         "yaml.unsafe_load_all", when=_reads_a_file),
    sink(flaw.REDOS, "regex", "re.compile re.match re.search re.fullmatch re.sub re.findall re.split re.finditer", 0,
         "pattern", floor=SURE),
    sink(flaw.SLOW_REGEX, "regex", "re.match re.search re.fullmatch "
        "re.findall", 1, "string", when=_slow_pattern, floor=ANY_CALLER),
    sink(flaw.SLOW_REGEX, "regex", "re.compile().match re.compile().search re.compile().fullmatch "
         "re.compile().findall", 0, "string", when=_slow_pattern, floor=ANY_CALLER),
    sink(known.RANDOM, "random", ".set_cookie", 1, "value", label="random"),
    sink(known.PASSWORD_HASH, "hash", "hashlib.md5 hashlib.sha1 hashlib.new hashlib.md4 Crypto.Hash.MD5.new "
         "Crypto.Hash.SHA1.new Crypto.Hash.SHA.new", when=_password_digest),
    sink(known.HASH, "hash", "hashlib.md5 hashlib.sha1 hashlib.new hashlib.md4 Crypto.Hash.MD5.new "
        "Crypto.Hash.SHA1.new "
         "Crypto.Hash.SHA.new Crypto.Hash.MD4.new Crypto.Hash.MD2.new Cryptodome.Hash.MD5.new Cryptodome.Hash.SHA1.new "
         "cryptography.hazmat.primitives.hashes.MD5 cryptography.hazmat.primitives.hashes.SHA1", when=_other_digest),
    sink(known.CIPHER, "cipher", "Crypto.Cipher.DES.new Crypto.Cipher.DES3.new Crypto.Cipher.ARC4.new "
         "Crypto.Cipher.ARC2.new Crypto.Cipher.Blowfish.new Crypto.Cipher.XOR.new Cryptodome.Cipher.DES.new "
         "Cryptodome.Cipher.DES3.new Cryptodome.Cipher.ARC4.new Cryptodome.Cipher.ARC2.new "
         "Cryptodome.Cipher.Blowfish.new cryptography.hazmat.primitives.ciphers.algorithms.ARC4 "
         "cryptography.hazmat.primitives.ciphers.algorithms.Blowfish "
         "cryptography.hazmat.primitives.ciphers.algorithms.TripleDES "
         "cryptography.hazmat.primitives.ciphers.algorithms.IDEA "
         "cryptography.hazmat.primitives.ciphers.algorithms.CAST5 cryptography.hazmat.primitives.ciphers.modes.ECB"),
    sink(known.CIPHER, "cipher", "Crypto.Cipher.AES.new Cryptodome.Cipher.AES.new", when=_ecb),
    sink(flaw.STATIC_IV, "iv", "Crypto.Cipher.AES.new Cryptodome.Cipher.AES.new", when=_constant_iv),
    sink(flaw.STATIC_IV, "iv", "cryptography.hazmat.primitives.ciphers.modes.CBC "
        "cryptography.hazmat.primitives.ciphers.modes.GCM "
         "cryptography.hazmat.primitives.ciphers.modes.CTR", when=_constant_first),
    sink(flaw.STATIC_SALT, "salt", "hashlib.pbkdf2_hmac cryptography.hazmat.primitives.kdf.scrypt.Scrypt",
        when=_constant_salt),
    sink(flaw.KEY_SIZE, "key", "cryptography.hazmat.primitives.asymmetric.rsa.generate_private_key "
         "cryptography.hazmat.primitives.asymmetric.dsa.generate_private_key Crypto.PublicKey.RSA.generate "
         "Crypto.PublicKey.DSA.generate Cryptodome.PublicKey.RSA.generate", when=_short_key),
    sink(known.TLS, "tls", "requests.get requests.post requests.put requests.delete requests.patch requests.head "
         "requests.request requests.options httpx.get httpx.post httpx.Client httpx.AsyncClient requests.Session().get "
         "requests.Session().post requests.session().get httpx.request", when=said("verify", False)),
    sink(known.TLS, "tls", "ssl._create_unverified_context", ),
    sink(flaw.TLS_VERSION, "tls", "ssl.SSLContext ssl.wrap_socket OpenSSL.SSL.Context", when=_old_tls),
    sink(flaw.HOST_KEY, "tls", ".set_missing_host_key_policy",
         when=lambda site: any("AutoAdd" in v.name or "Warning" in v.name for v in [site.arg(0)] if v is not None)),
    sink(flaw.COOKIE, "cookie", ".set_cookie", when=_plain_cookie),
    sink(flaw.COOKIE_SCRIPT, "cookie", ".set_cookie", when=_scripted_cookie),
    sink(flaw.JWT, "jwt", "jwt.decode jose.jwt.decode", when=_unverified),
    sink(flaw.JWT, "jwt", "jwt.process_jwt python_jwt.process_jwt jwt.get_unverified_claims "
        "jose.jwt.get_unverified_claims"),
    sink(flaw.PERMISSION, "mode", "os.chmod os.fchmod", when=_open_mode),
    sink(flaw.EXTRACT, "archive", "tarfile.open().extractall tarfile.TarFile().extractall", when=_unfiltered),
    sink(flaw.EXTRACT, "archive", "tarfile.open().extract", when=_unfiltered),
    sink(flaw.CLEAR_TEXT, "clear", "ftplib.FTP telnetlib.Telnet"),
    sink(flaw.BIND, "bind", "socket.socket().bind", when=_all_interfaces),
    sink(known.MKTEMP, "temp", "tempfile.mktemp os.tempnam os.tmpnam"),
    sink(known.DEBUG, "debug", ".run", when=_debug),
    sink(known.AUTOESCAPE, "xss", "jinja2.Environment jinja2.sandbox.SandboxedEnvironment", when=_unescaped),
    sink(flaw.XML_BOMB, "xxe", "xml.etree.ElementTree.fromstring xml.etree.ElementTree.XML "
         "xml.etree.ElementTree.iterparse xml.etree.cElementTree.fromstring", 0, floor=SURE),
    sink(flaw.EMPTY_PASSWORD, "empty", ".connect", when=lambda site: is_const(site.arg("passwd", "password"), "")),
    sink(flaw.NOSQL, "nosql", ".scan .query", "FilterExpression", "KeyConditionExpression",
         when=lambda site: site.module("boto3"), floor=ANY_CALLER),
    sink(flaw.HEADER, "header", "werkzeug.datastructures.Headers().add werkzeug.datastructures.Headers().set", 1,
         floor=SURE),
)  # fmt: skip
STORES = (
    Store(known.RANDOM, "random", SECRET_NAME, "random"),
    Store(
        flaw.TRUST,
        "trust",
        r"session",
        "outside",
        keys=True,
        imported=r"(?:^|\.)(?:flask\.session|request\.session|session)$",
    ),
    Store(known.REDIRECT, "redirect", r"\[['\"]Location['\"]\]$", "outside"),
    Store(flaw.HEADER, "header", r"\.headers\[", "outside", imported=r"headers$"),
)
SETTINGS = (
    Setting(flaw.EMPTY_PASSWORD, r"(?i)database_ur[il]|dsn", lambda value: bool(EMPTY_IN_URL.search(str(value.const)))),
    Setting(known.TLS, r"\.verify_mode$", lambda value: value.name.endswith("CERT_NONE")),
    Setting(known.TLS, r"\.verify$", lambda value: is_const(value, False), ("requests",)),
    Setting(known.TLS, r"ssl\._create_default_https_context", lambda value: value.name.endswith("_unverified_context")),
    Setting(
        known.DEBUG,
        r"^(?:app|application)\.debug$|^app\.config\[['\"]DEBUG['\"]\]$",
        lambda value: is_const(value, True),
    ),
)
ERRORS = ("traceback.format_exc", "traceback.format_exception", "traceback.format_tb")
LABELS = dict.fromkeys(names.RANDOM, "random") | dict.fromkeys(ERRORS, "error")
BOOK = Book(
    sources=names.SOURCES | dict.fromkeys((*names.RANDOM, *ERRORS), 1.0),
    labels=LABELS,  # type: ignore[arg-type]
    sinks=by_name(SINKS),
    stores=STORES,
    settings=SETTINGS,
    returns=(
        Sink(known.RESPONSE, "xss", (), floor=SURE),
        Sink(flaw.EXPOSED, "error", (), label="error"),
    ),
    sanitisers=names.SANITISERS,
    restores=names.RESTORES,
    passes=names.PASSES,
    roots=names.ROOTS,
    keeps=names.KEEPS,
    makes=names.MAKES,
    ends=names.ENDS,
    routes=names.ROUTES,
    constants={"os.sep": "/", "Crypto.Cipher.AES.block_size": 16, "Cryptodome.Cipher.AES.block_size": 16},
)
