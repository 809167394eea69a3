"""Python dataflow rules: sinks, and calls that are wrong by themselves."""

import re
import stat

from moot.core.secret_patterns import UNGUESSABLE
from moot.scan.engine.rulebook import ALONE, SHOWN, FlawedSetting, FlowBook, NamedStore, Sink, by_name
from moot.scan.engine.rules import checks
from moot.scan.engine.values import BUILT, HOSTED
from moot.scan.python.rules import digests as digests
from moot.scan.python.rules import documents as documents
from moot.scan.python.rules import flaws as flaw
from moot.scan.python.rules import libraries as libraries
from moot.scan.python.rules import names as names
from moot.scan.python.rules import patterns as known
from moot.scan.python.rules import tokens as tokens
from moot.scan.python.rules import when as when
from moot.scan.python.rules.programs import not_ours, reads_commands, runs_shell, through_shell
from moot.scan.python.rules.when import ANY_CALLER, MEDIUM, SURE, sink
from moot.scan.rules.when import finds

SECRET_NAME = UNGUESSABLE["python"]
ANSWERS = (
    "flask.jsonify jsonify flask.make_response flask.Response flask.abort quart.jsonify django.http.JsonResponse "
    "django.http.HttpResponse django.http.HttpResponseServerError fastapi.HTTPException fastapi.responses.JSONResponse "
    "fastapi.responses.PlainTextResponse fastapi.responses.HTMLResponse starlette.exceptions.HTTPException "
    "starlette.responses.JSONResponse starlette.responses.PlainTextResponse starlette.responses.HTMLResponse "
    "aiohttp.web.json_response aiohttp.web.Response aiohttp.web.HTTPInternalServerError sanic.response.json "
    "sanic.response.text self.wfile.write rest_framework.response.Response"
)
"""Calls that make what is sent to a visitor."""
SUBPROCESS = "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen"
SINKS: tuple[Sink, ...] = (
    sink(
        known.SQL, "sql",
        ".execute .executemany .executescript .raw .exec_driver_sql .read_sql .read_sql_query .RawSQL "
        "sqlalchemy.text sqlalchemy.sql.text django.db.models.expressions.RawSQL pandas.read_sql pandas.read_sql_query",
        0, "query", "sql", "statement", "operation", when=when.is_statement, floor=ANY_CALLER,
    ),
    # Names that drivers, wrappers and projects give to "run this SQL"; the text itself must be a statement.
    sink(
        known.SQL, "sql",
        ".query .exec .sql .execute_query .run_query .exec_query .execute_sql .run_sql .exec_sql .raw_sql .raw_query "
        ".query_db .query_one .query_all .fetch_one .fetch_all .fetchrow .fetchval .fetch_val .executeQuery "
        ".execute_raw .query_raw .execute_async .select_one .get_results .execute_values .execute_batch "
        ".read_sql_table .multi_execute .execute_statement .start_query_execution .iterate .do_query "
        ".db_query .exec_immediate .prepare duckdb.sql duckdb.query duckdb.execute peewee.SQL peewee.RawQuery",
        0, 1, "query", "sql", "statement", "operation", "stmt", "QueryString", "Sql", when=when.has_sql_text,
        floor=ANY_CALLER,
    ),
    sink(known.SQL, "sql", ".copy_expert .copy psycopg.Cursor.copy .copy_from_query .copy_to_table", 0, "sql", "query",
         "statement", when=when.has_sql_text, floor=ANY_CALLER, binds=False),
    sink(flaw.NOSQL, "code", ".find .find_one .update_one .update_many .delete_one .delete_many .find_one_and_update "
         ".find_one_and_delete .find_one_and_replace .count_documents .replace_one", 0, "filter",
         when=documents.is_script_query, floor=ANY_CALLER),
    sink(flaw.NOSQL, "nosql", ".find .find_one .update_one .update_many .delete_one .delete_many .aggregate "
         ".find_one_and_update .count_documents .replace_one", 0, "filter",
         when=documents.query_object, floor=MEDIUM),
    sink(flaw.NOSQL, "nosql", ".find .find_one .aggregate .update_one .update_many .delete_one .delete_many "
         ".count_documents .find_one_and_update", 0, "filter", when=documents.is_open_query, floor=ANY_CALLER),
    sink(flaw.NOSQL, "code", ".map_reduce .inline_map_reduce", 0, 1, "map", "reduce", when=documents.is_code_built,
         floor=ANY_CALLER),
    sink(flaw.MASS, "mass", "setattr", 1, floor=SURE),
    sink(flaw.MASS, "mass", ".create .update_or_create .get_or_create", "**", floor=SURE),
    sink(known.SHELL, "shell", SUBPROCESS, 0, "args", when=through_shell, floor=ANY_CALLER),
    sink(known.SHELL, "shell", SUBPROCESS, "input", when=reads_commands, floor=ANY_CALLER),
    sink(known.SHELL, "shell", "asyncio.create_subprocess_shell", 0, "cmd", floor=ANY_CALLER),
    sink(flaw.PROGRAM, "shell", SUBPROCESS, 0, "args", when=not_ours, floor=SURE),
    sink(flaw.PROGRAM, "shell", SUBPROCESS, "executable", floor=SURE),
    sink(flaw.PROGRAM, "shell", "os.execl os.execle os.execlp os.execv os.execve os.execvp os.spawnl os.spawnv "
         "os.spawnlp os.spawnvp os.startfile asyncio.create_subprocess_exec pty.spawn", 0, 1, floor=SURE),
    sink(known.OS_SYSTEM, "shell", "os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe "
         "os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.posix_spawn "
         "os.posix_spawnp asyncio.create_subprocess_exec pty.spawn", "*", when=runs_shell, floor=ANY_CALLER),
    sink(known.OS_SYSTEM, "shell", "ctypes.CDLL().system ctypes.PyDLL().system ctypes.cdll.LoadLibrary().system "
         "ctypes.CDLL().popen ctypes.CDLL().execl ctypes.CDLL().execv", "*", floor=ANY_CALLER),
    sink(
        known.OS_SYSTEM, "shell",
        "os.system os.popen os.popen2 os.popen3 os.popen4 popen2.popen2 popen2.popen3 commands.getoutput "
        "commands.getstatusoutput subprocess.getoutput subprocess.getstatusoutput", 0, "command", "cmd",
        floor=ANY_CALLER,
    ),
    sink(flaw.PROGRAM, "shell", ".exec_command", 0, when=lambda site: site.module("paramiko"), floor=MEDIUM),
    sink(known.EVAL, "code", "eval exec builtins.eval builtins.exec code.interact execfile "
         "timeit.timeit pandas.eval", 0, floor=ANY_CALLER),
    sink(known.EVAL, "code", "compile", 0, when=lambda site: not when.parses_only(site), floor=ANY_CALLER),
    sink(known.EVAL, "code", "__import__ importlib.import_module", 0, floor=SURE),
    sink(
        known.PATH, "path",
        "open io.open codecs.open os.open os.remove os.unlink os.rmdir os.listdir os.rename os.scandir os.walk "
        "shutil.rmtree shutil.copy shutil.copyfile shutil.copy2 shutil.move flask.send_file send_file os.makedirs "
        "tarfile.open zipfile.ZipFile os.mkdir os.path.exists os.path.isfile os.stat os.chmod os.removedirs "
        "aiofiles.open linecache.getlines django.http.FileResponse fastapi.responses.FileResponse os.path.getsize "
        "os.access xml.etree.ElementTree.parse_file bottle.static_file file os.symlink os.link",
        0, "file", "path", "filename_or_fp", "path_or_file", "filename", floor=SURE, when=when.is_path,
    ),
    sink(known.PATH, "path", "os.rename os.replace os.link os.symlink shutil.copy shutil.copy2 shutil.copyfile "
         "shutil.move",
         1, "dst", floor=SURE, when=when.is_path),
    sink(known.PATH, "path", "flask.send_from_directory send_from_directory", 0, "directory", floor=SURE),
    sink(
        known.PATH, "path",
        ".unlink .rmdir .touch .is_file .exists "
        "pathlib.Path().open .mkdir", "self", floor=SURE,
        when=lambda site: "Path" in site.receiver.name or not site.receiver.name,
    ),
    sink(flaw.BOMB, "bomb", "gzip.decompress zlib.decompress bz2.decompress lzma.decompress", 0, floor=SURE,
         alone=when.PACKED),
    sink(flaw.BOMB, "bomb", "zipfile.ZipFile().read zipfile.ZipFile().extractall zipfile.ZipFile().extract", "self",
         floor=SURE, alone=when.PACKED, when=lambda site: "file_size" not in site.around()),
    sink(flaw.UPLOAD, "upload", ".save", 0, "dst", when=lambda site: "files" in site.receiver.name, floor=SURE),
    sink(known.TEMPLATE, "template", "flask.render_template_string render_template_string jinja2.Template "
         "mako.template.Template jinja2.Environment().from_string .from_string django.template.Template", 0, "source",
         when=when.is_template, floor=ANY_CALLER),
    sink(known.MARKUP, "xss", "markupsafe.Markup flask.Markup jinja2.Markup django.utils.safestring.mark_safe "
         "django.utils.safestring.SafeText django.utils.html.mark_safe", 0, when=when.stays_markup,
         floor=ANY_CALLER),
    sink(known.RESPONSE, "xss", "flask.make_response make_response flask.Response Response django.http.HttpResponse "
         "HttpResponse fastapi.responses.HTMLResponse starlette.responses.HTMLResponse werkzeug.wrappers.Response "
         "django.http.HttpResponseBadRequest django.http.HttpResponseNotFound aiohttp.web.Response "
         "webob.Response", 0, "response", "content", "text", "body", when=when.html, floor=SURE),
    sink(known.RESPONSE, "xss", "self.write self.wfile.write tornado.web.RequestHandler.write "
         "http.server.BaseHTTPRequestHandler.wfile.write", 0, floor=SURE),
    sink(flaw.HEADER, "header", ".headers.add .headers.set .set_header .add_header .headers.update", 1, 0, floor=SURE),
    sink(flaw.HEADER, "header", ".send_header", 1, 0, "value", "keyword", floor=SURE, alone=when.FREE_TEXT),
    sink(flaw.HEADER, "header", ".sendall .write socket.socket().send", 0, when=when.writes_headers, floor=SURE),
    sink(flaw.HEADER, "header", "start_response", 1, 0, "headers", "response_headers", floor=SURE,
         alone=when.FREE_TEXT),
    sink(flaw.CORS, "cors", ".headers.add .headers.set .set_header .add_header .send_header", 1, "value", floor=SURE,
         when=lambda site: when.is_const(site.arg(0, "key", "keyword"), "Access-Control-Allow-Origin")),
    sink(flaw.HEADER, "mail", "smtplib.SMTP().sendmail smtplib.SMTP_SSL().sendmail smtplib.LMTP().sendmail", 0, 1,
         floor=SURE),
    sink(flaw.HEADER, "mail", "smtplib.SMTP().sendmail smtplib.SMTP_SSL().sendmail smtplib.LMTP().sendmail", 2, "msg",
         when=lambda site: finds(r"(?i)subject:|from:|to:", site.around()), floor=SURE),
    sink(flaw.LOG, "log", when.LOGGERS, 0, 1, 2, when=when.is_raw_line, floor=MEDIUM, alone=when.PERSON),
    sink(flaw.EXPOSED, "error", ANSWERS, "*", label="error", when=when.is_for_visitors),
    sink(flaw.LOG, "log", ".write", 0, when=when.is_log_file, floor=SURE),
    sink(flaw.LOG, "log", ".info .warning .error .critical .exception .debug", 0, 1, 2,
         when=lambda site: when.is_own_logger(site) and when.is_raw_line(site), floor=MEDIUM, alone=when.PERSON),
    sink(flaw.LDAP, "ldap", ".search .search_s .search_ext .search_st .search_ext_s .paged_search", 1, 2, 0,
         "search_filter", "search_base", "filterstr", "base",
         when=when.is_directory_search, floor=ANY_CALLER),
    sink(flaw.LDAP, "ldap", ".simple_bind_s .bind_s .simple_bind .simple_bind_async", 0, "who", when=when.is_name_built,
         floor=ANY_CALLER),
    sink(flaw.LDAP, "ldap", "ldap3.Connection", "user", when=when.is_name_built, floor=ANY_CALLER),
    sink(flaw.XPATH, "xpath", ".xpath lxml.etree.XPath lxml.etree.ETXPath", 0, "_path", "path", floor=ANY_CALLER),
    sink(flaw.XPATH, "xpath", "elementpath.select elementpath.iter_select elementpath.XPath2Parser().parse", 1, "path",
         floor=ANY_CALLER),
    sink(flaw.XPATH, "xpath", ".findall .find .iterfind .findtext", 0,
         when=lambda site: site.name.startswith(("xml.etree", "lxml")) , floor=MEDIUM),
    sink(flaw.XXE_FLOW, "xxe", "xml.dom.minidom.parseString xml.dom.minidom.parse xml.dom.pulldom.parseString "
         "xml.dom.pulldom.parse", 0, when=when.follows_entities, floor=ANY_CALLER),
    sink(flaw.XXE_FLOW, "xxe", "lxml.etree.parse lxml.etree.fromstring lxml.etree.XML lxml.etree.iterparse "
         "lxml.objectify.fromstring lxml.objectify.parse", 0, when=when.lxml_follows, floor=ANY_CALLER),
    sink(flaw.XXE_FLOW, "xxe", ".parse", 0, when=when.sax_parser, floor=ANY_CALLER),
    sink(known.XML, "xxe", "lxml.etree.XMLParser", when=when.parser_opened),
    sink(known.SSRF, "ssrf", "requests.get requests.post requests.put requests.delete requests.patch requests.head "
         "requests.options httpx.get httpx.post httpx.put httpx.delete httpx.head httpx.patch urllib.request.urlopen "
         "urllib.urlopen urllib2.urlopen urllib.request.urlretrieve http.client.HTTPConnection "
         "http.client.HTTPSConnection requests.Session().get requests.Session().post requests.session().get "
         "httpx.Client().get httpx.AsyncClient().get aiohttp.ClientSession().get aiohttp.ClientSession().post "
         "urllib3.PoolManager().request_url pycurl.Curl().setopt urllib.request.Request wget.download", 0, "url",
         floor=SURE, alone=when.ADDRESS),
    sink(known.SSRF, "ssrf", "requests.request httpx.request urllib3.PoolManager().request "
        "aiohttp.request", 1, "url", floor=SURE, alone=when.ADDRESS),
    sink(known.REDIRECT, "redirect", "flask.redirect redirect django.shortcuts.redirect "
        "django.http.HttpResponseRedirect "
         "HttpResponseRedirect fastapi.responses.RedirectResponse starlette.responses.RedirectResponse "
         "self.redirect tornado.web.RequestHandler.redirect "
         "bottle.redirect werkzeug.utils.redirect django.http.HttpResponsePermanentRedirect", 0, "location", "url",
         floor=SURE, alone=when.TARGET),
    sink(known.REDIRECT, "redirect", ".send_header", 1, "value", floor=SURE, alone=when.TARGET,
         when=lambda site: when.is_const(site.arg(0), "Location", "location")),
    sink(flaw.DESERIALISE, "deserialise", "marshal.loads marshal.load jsonpickle.decode jsonpickle.loads "
         "dill.loads dill.load cloudpickle.loads cloudpickle.load", 0, floor=ANY_CALLER),
    sink(flaw.DESERIALISE, "deserialise", "joblib.load pandas.read_pickle shelve.open", 0, floor=MEDIUM,
         alone=when.PACKED),
    sink(known.PICKLE, "deserialise", "pickle.load pickle.loads cPickle.load cPickle.loads _pickle.loads "
         "pickle.Unpickler cPickle.Unpickler", 0, floor=ANY_CALLER),
    sink(known.YAML, "deserialise", "yaml.load yaml.load_all", 0, "stream", when=when.unsafe_loader, floor=ANY_CALLER),
    sink(known.YAML, "deserialise", "yaml.unsafe_load yaml.unsafe_load_all", 0, floor=ANY_CALLER),
    sink(known.YAML, "deserialise", "yaml.load yaml.load_all yaml.unsafe_load "
         "yaml.unsafe_load_all", when=when.reads_a_file),
    sink(flaw.REDOS, "regex", "re.compile re.match re.search re.fullmatch re.sub re.findall re.split re.finditer", 0,
         "pattern", floor=SURE),
    sink(flaw.REDOS, "pattern", "re.compile re.match re.search re.fullmatch re.sub re.findall re.split re.finditer", 0,
         "pattern", when=when.is_pattern_built, floor=SURE),
    *(
        sink(flaw.SLOW_REGEX, "regex", names, place, "string", when=slow, floor=floor)
        for slow, floor in ((when.slow_pattern, ANY_CALLER), (when.slower_pattern, SURE))
        for names, place in (
            ("re.match re.search re.fullmatch re.findall re.finditer re.split", 1),
            ("re.sub re.subn", 2),
            ("re.compile().match re.compile().search re.compile().fullmatch re.compile().findall "
             "re.compile().finditer re.compile().split", 0),
            ("re.compile().sub re.compile().subn", 1),
        )
    ),
    sink(known.RANDOM, "random", ".set_cookie", 1, "value", label="random"),
    sink(known.RANDOM, "random", " ".join(names.RANDOM), when=digests.is_code_made),
    sink(known.PASSWORD_HASH, "hash", "hashlib.md5 hashlib.sha1 hashlib.new hashlib.md4 Crypto.Hash.MD5.new "
         "Crypto.Hash.SHA1.new Crypto.Hash.SHA.new", when=digests.password_digest),
    sink(known.HASH, "hash", "hashlib.md5 hashlib.sha1 hashlib.new hashlib.md4 Crypto.Hash.MD5.new "
        "Crypto.Hash.SHA1.new "
         "Crypto.Hash.SHA.new Crypto.Hash.MD4.new Crypto.Hash.MD2.new Cryptodome.Hash.MD5.new Cryptodome.Hash.SHA1.new "
         "cryptography.hazmat.primitives.hashes.MD5 cryptography.hazmat.primitives.hashes.SHA1",
         when=digests.other_digest),
    sink(known.CIPHER, "cipher", "Crypto.Cipher.DES.new Crypto.Cipher.DES3.new Crypto.Cipher.ARC4.new "
         "Crypto.Cipher.ARC2.new Crypto.Cipher.Blowfish.new Crypto.Cipher.XOR.new Cryptodome.Cipher.DES.new "
         "Cryptodome.Cipher.DES3.new Cryptodome.Cipher.ARC4.new Cryptodome.Cipher.ARC2.new "
         "Cryptodome.Cipher.Blowfish.new cryptography.hazmat.primitives.ciphers.algorithms.ARC4 "
         "cryptography.hazmat.primitives.ciphers.algorithms.Blowfish "
         "cryptography.hazmat.primitives.ciphers.algorithms.TripleDES "
         "cryptography.hazmat.primitives.ciphers.algorithms.IDEA "
         "cryptography.hazmat.primitives.ciphers.algorithms.CAST5 cryptography.hazmat.primitives.ciphers.modes.ECB"),
    sink(known.CIPHER, "cipher", "Crypto.Cipher.AES.new Cryptodome.Cipher.AES.new", when=digests.ecb),
    sink(flaw.STATIC_IV, "iv", "Crypto.Cipher.AES.new Cryptodome.Cipher.AES.new", when=digests.constant_iv),
    sink(flaw.STATIC_IV, "iv", "cryptography.hazmat.primitives.ciphers.modes.CBC "
        "cryptography.hazmat.primitives.ciphers.modes.GCM "
         "cryptography.hazmat.primitives.ciphers.modes.CTR", when=digests.constant_first),
    sink(flaw.STATIC_SALT, "salt", "hashlib.pbkdf2_hmac hashlib.scrypt "
         "cryptography.hazmat.primitives.kdf.scrypt.Scrypt", when=digests.constant_salt),
    sink(flaw.KEY_SIZE, "key", "cryptography.hazmat.primitives.asymmetric.rsa.generate_private_key "
         "cryptography.hazmat.primitives.asymmetric.dsa.generate_private_key Crypto.PublicKey.RSA.generate "
         "Crypto.PublicKey.DSA.generate Cryptodome.PublicKey.RSA.generate", when=digests.short_key),
    sink(known.TLS, "tls", "requests.get requests.post requests.put requests.delete requests.patch requests.head "
         "requests.request requests.options httpx.get httpx.post httpx.Client httpx.AsyncClient requests.Session().get "
         "requests.Session().post requests.session().get httpx.request", when=when.when_keyword("verify", False)),
    sink(known.TLS, "tls", "ssl._create_unverified_context", ),
    sink(known.TLS, "tls", "aiohttp.TCPConnector aiohttp.ClientSession().get aiohttp.ClientSession().post",
         when=lambda site: when.is_const(site.arg("ssl", "verify_ssl"), False)),
    sink(known.TLS, "tls", "urllib3.PoolManager urllib3.HTTPSConnectionPool",
         when=lambda site: when.is_const(site.arg("cert_reqs"), "CERT_NONE", 0)
         or when.has_named_keyword(site, "cert_reqs", "CERT_NONE")),
    sink(flaw.TLS_VERSION, "tls", "ssl.SSLContext ssl.wrap_socket OpenSSL.SSL.Context", when=when.old_tls),
    sink(flaw.HOST_KEY, "tls", ".set_missing_host_key_policy",
         when=lambda site: any("AutoAdd" in v.name or "Warning" in v.name for v in [site.arg(0)] if v is not None)),
    sink(flaw.COOKIE, "cookie", ".set_cookie", when=when.plain_cookie),
    sink(flaw.COOKIE_SCRIPT, "cookie", ".set_cookie", when=when.is_script_cookie),
    sink(flaw.JWT, "jwt", "jwt.decode jose.jwt.decode", when=when.is_unverified),
    sink(flaw.JWT, "jwt", "jwt.process_jwt python_jwt.process_jwt jwt.get_unverified_claims "
        "jose.jwt.get_unverified_claims"),
    sink(flaw.KEY, "secret", "jwt.encode jwt.decode jose.jwt.encode jose.jwt.decode jose.jws.sign",
         when=when.when_literal(1)),
    sink(flaw.KEY, "secret", "itsdangerous.URLSafeTimedSerializer itsdangerous.URLSafeSerializer itsdangerous.Signer "
         "itsdangerous.TimestampSigner cryptography.fernet.Fernet hmac.new", when=when.when_literal(0)),
    sink(flaw.PERMISSION, "mode", "os.chmod os.fchmod os.makedirs os.mkdir", when=when.open_mode),
    sink(flaw.EXTRACT, "archive", "tarfile.open().extractall tarfile.TarFile().extractall", when=when.is_unfiltered),
    sink(flaw.EXTRACT, "archive", "tarfile.open().extract", when=when.is_unfiltered),
    sink(flaw.CLEAR_TEXT, "clear", "ftplib.FTP telnetlib.Telnet"),
    sink(flaw.BIND, "bind", "socket.socket().bind", when=when.all_interfaces),
    sink(flaw.BIND, "bind", ".run uvicorn.run waitress.serve",
         when=lambda site: site.module(*when.WEB_MODULES, "uvicorn", "waitress") and when.is_const(
             site.arg("host"), "0.0.0.0", "::")),
    sink(flaw.TEMP_FILE, "temp", "open io.open codecs.open", when=when.is_shared_folder),
    sink(flaw.TEMP_FILE, "temp", ".write_text .write_bytes", when=when.is_shared_path),
    sink(known.MKTEMP, "temp", "tempfile.mktemp os.tempnam os.tmpnam"),
    sink(known.DEBUG, "debug", ".run", when=when.debug),
    sink(known.AUTOESCAPE, "xss", "jinja2.Environment jinja2.sandbox.SandboxedEnvironment", when=when.is_unescaped),
    sink(flaw.XML_BOMB, "xxe", "xml.etree.ElementTree.fromstring xml.etree.ElementTree.XML "
         "xml.etree.ElementTree.iterparse xml.etree.cElementTree.fromstring", 0, floor=SURE),
    sink(flaw.LOGIN, "secret", ".connect", when=when.easy_login),
    sink(flaw.EMPTY_PASSWORD, "empty", ".connect", when=lambda site: when.is_const(site.arg("passwd", "password"), "")),
    sink(flaw.NOSQL, "nosql", ".scan .query", "FilterExpression", "KeyConditionExpression",
         when=lambda site: site.module("boto3"), floor=ANY_CALLER),
    sink(flaw.HEADER, "header", "werkzeug.datastructures.Headers().add werkzeug.datastructures.Headers().set", 1,
         floor=SURE),
)  # fmt: skip
STORES = (
    NamedStore(known.RANDOM, "random", SECRET_NAME, "random"),
    NamedStore(
        flaw.TRUST,
        "trust",
        r"session\w*\s*\[",
        "outside",
        keys=True,
        imported=r"(?:^|\.)(?:flask\.session|request\.session|session)$",
    ),
    NamedStore(flaw.CORS, "cors", r"\[['\"]Access-Control-Allow-Origin['\"]\]$", "outside", floor=SURE),
    NamedStore(known.REDIRECT, "redirect", r"\[['\"]Location['\"]\]$", "outside"),
    NamedStore(flaw.HEADER, "header", r"(?<!request)(?<!req)\.headers\[", "outside", imported=r"headers$"),
)
SETTINGS = (
    FlawedSetting(
        flaw.EMPTY_PASSWORD, r"(?i)database_ur[il]|dsn", lambda value: bool(when.EMPTY_IN_URL.search(str(value.const)))
    ),
    FlawedSetting(
        flaw.COOKIE, r"\[['\"](?:SESSION|REMEMBER)_COOKIE_SECURE['\"]\]$", lambda value: when.is_const(value, False)
    ),
    FlawedSetting(
        flaw.COOKIE_SCRIPT,
        r"\[['\"](?:SESSION|REMEMBER)_COOKIE_HTTPONLY['\"]\]$",
        lambda value: when.is_const(value, False),
    ),
    FlawedSetting(flaw.CSRF, r"\[['\"]WTF_CSRF_ENABLED['\"]\]$", lambda value: when.is_const(value, False)),
    FlawedSetting(
        flaw.TLS_VERSION,
        r"\.minimum_version$",
        lambda value: value.name.endswith(("TLSVersion.TLSv1", "TLSVersion.TLSv1_1", "TLSVersion.SSLv3")),
    ),
    FlawedSetting(known.TLS, r"\.verify_mode$", lambda value: value.name.endswith("CERT_NONE")),
    FlawedSetting(known.TLS, r"\.verify$", lambda value: when.is_const(value, False), ("requests",)),
    FlawedSetting(
        known.TLS, r"ssl\._create_default_https_context", lambda value: value.name.endswith("_unverified_context")
    ),
    FlawedSetting(
        known.DEBUG,
        r"^(?:app|application)\.debug$|^app\.config\[['\"]DEBUG['\"]\]$",
        lambda value: when.is_const(value, True),
    ),
)
ERRORS = ("traceback.format_exc", "traceback.format_exception", "traceback.format_tb")
LABELS = dict.fromkeys(names.RANDOM, "random") | dict.fromkeys(ERRORS, "error")
BOOK = FlowBook(
    named_sources=names.NAMED_SOURCES,
    sources=names.SOURCES | dict.fromkeys((*names.RANDOM, *ERRORS), 1.0),
    labels=LABELS,  # type: ignore[arg-type]
    sinks=by_name((*SINKS, *libraries.SINKS, *tokens.SINKS)),
    stores=STORES,
    settings=SETTINGS,
    unsent=names.UNSENT,
    shown=SHOWN | {"option": ALONE, "ssrf": HOSTED, "pattern": BUILT},
    returns=(
        Sink(known.RESPONSE, "xss", (), floor=SURE),
        Sink(flaw.HEADER, "header", (), floor=SURE),
        Sink(flaw.EXPOSED, "error", (), label="error"),
    ),
    statement=sink(known.SQL, "sql", "", 0, 1, 2, "query", "sql", "statement", "q", "cmd", floor=SURE, unknown=True),
    sent_parts=names.SENT_PARTS,
    servers=frozenset(when.WEB_MODULES) | names.SERVERS,
    usual=names.USUAL,
    readers=names.READERS,
    sanitisers=names.SANITISERS,
    restores=names.RESTORES,
    carries=names.CARRIES,
    harmless=names.HARMLESS,
    passes=names.PASSES | names.CARRIES.keys(),
    roots=names.ROOTS,
    keeps=names.KEEPS,
    makes=names.MAKES,
    ends=names.ENDS,
    routes=names.ROUTES,
    proves=checks.PYTHON_PROVES,
    addresses=checks.PYTHON_ADDRESSES,
    constants={
        **dict.fromkeys(("os.sep", "os.path.sep", "posixpath.sep"), "/"),
        **dict.fromkeys(("os.pardir", "os.path.pardir", "posixpath.pardir"), ".."),
        "Crypto.Cipher.AES.block_size": 16,
        "Cryptodome.Cipher.AES.block_size": 16,
        "tempfile.gettempdir()": "/tmp",
        "tempfile.tempdir": "/tmp",
        **{f"stat.{name}": value for name, value in vars(stat).items() if re.match("S_I[RWX]", name)},
    },
)
