"""Rules for Python libraries beyond the standard one, by what they are for."""

import re

from moot.scan.engine.rulebook import Sink, Site
from moot.scan.engine.values import BUILT, JOINED
from moot.scan.python.rules import digests as digests
from moot.scan.python.rules import flaws as flaw
from moot.scan.python.rules import patterns as known
from moot.scan.python.rules import when
from moot.scan.python.rules.programs import list_commands, through_shell
from moot.scan.python.rules.when import ANY_CALLER, MEDIUM, SURE, is_const, sink
from moot.scan.rules.operands import finds_option
from moot.scan.rules.when import finds

CYPHER = re.compile(r"(?i)\b(?:match|merge|create|detach delete|optional match)\s*\(")
NETWORK = re.compile(
    r"(?:^|\.)(?:recv|recvfrom|recv_bytes|recv_pyobj|get_data|urlopen\(\)\.read|content|body|payload)(?:\(\)|\[\])*$"
)
RESPONSE_WRITE = re.compile(r"(?:^|\.)(?:self|resp(?:onse)?|req(?:uest)?|out|wfile|page)(?:\.\w+)*\.write$")
EXTERNAL_ENTITIES = "http://xml.org/sax/features/external-general-entities"
LITTLE_CURVES = re.compile(
    r"(?i)^(?:.*\.)?(?:SECP(?:112|128|160|192)[RK]\d|SECT(?:113|131|163|193)\w+|BrainpoolP(?:160|192)\w*|NIST192p"
    r"|NIST P-192|prime192v\d|p-?192)$"
)


def _is_built(site: Site) -> bool:
    """The text of the first argument was put together here."""
    text = site.arg(0, "command", "cmd", "path")
    return text is not None and BUILT in text.marks


CONDITION = re.compile(r"\[@?[\w.:-]+\s*=\s*\\?['\"{]")
"""A condition of an expression for elements of XML, which a value ends: `[@id='…']`."""
FRAME = re.compile(r"(?:^|\.|_)(?:df|frame|dataframe)(?:\[\])?$|DataFrame")


def _is_frame(site: Site) -> bool:
    """A condition for the rows of a table in memory: it may call functions."""
    text = site.arg(0, "expr")
    return text is not None and "sql" not in text.marks and FRAME.search(site.receiver.name) is not None


def _keyword(site: Site, name: str, *wanted: object) -> bool:
    return is_const(site.arg(name), *wanted)


def _is_page_mail(site: Site) -> bool:
    """`MIMEText(text, "html")`"""
    return is_const(site.arg(1, "subtype", "_subtype", "mimetype"), "html", "text/html")


def _reads_network(site: Site) -> bool:
    data = site.arg(0)
    return data is not None and not data.taints and NETWORK.search(data.name) is not None


def _is_path(site: Site) -> bool:
    behind = any(JOINED in taint.ended for taint in site.receiver.taints)
    return behind or "Path" in site.receiver.name or not site.receiver.name


def _stays_open(site: Site) -> bool:
    """`old = os.umask(0)` only reads the mask: it is set again."""
    return is_const(site.arg(0), 0) and site.words().startswith(" ")


def _all_origins(site: Site) -> bool:
    """Every site may ask with the visitor's cookies."""
    origins = site.arg("origins", "allow_origins")
    if origins is None and site.name.startswith("flask_cors"):
        resources = site.arg("resources")
        every = resources is None
    else:
        every = is_const(origins, "*") or any(is_const(item, "*") for item in site.items(origins) or ())
    return every and (_keyword(site, "supports_credentials", True) or _keyword(site, "allow_credentials", True))


def _few_rounds(site: Site) -> bool:
    place, least = {"bcrypt.gensalt": (0, 10), "hashlib.scrypt": (-1, 2**13)}.get(site.name, (3, 10_000))
    rounds = site.arg(*([place] if place >= 0 else []), "iterations", "rounds", "n")
    count = rounds.const if rounds is not None else None
    return isinstance(count, int) and not isinstance(count, bool) and 0 < count < least


def _reads_option(site: Site) -> bool:
    return any(finds_option(words) for words in list_commands(site)) and not through_shell(site)


def _is_cypher(site: Site) -> bool:
    query = site.arg(0, "query", "cypher")
    return query is not None and BUILT in query.marks and CYPHER.search(site.text() + site.around()) is not None


def _opens_entities(site: Site) -> bool:
    feature = site.arg(0)
    names = feature is not None and (
        feature.name.endswith("feature_external_ges") or is_const(feature, EXTERNAL_ENTITIES)
    )
    return names and is_const(site.arg(1), True, 1)


def _small_curve(site: Site) -> bool:
    curve = site.arg(0, "curve")
    if curve is None:
        return False
    name = curve.const if isinstance(curve.const, str) else curve.name.removesuffix("()")
    return LITTLE_CURVES.search(name) is not None


DATABASES: tuple[Sink, ...] = (
    sink(known.SQL, "sql", ".filter .filter_by .where .having .order_by .group_by .join .outerjoin .orderBy "
         "sqlalchemy.literal_column sqlalchemy.text text .text", 0, 1, when=when.is_clause, floor=SURE, unknown=True),
    sink(known.SQL, "sql", ".extra", 0, "where", "select", "tables", "order_by", floor=ANY_CALLER,
         when=lambda site: site.arg("where", "select", "tables", "order_by") is not None or site.module("django")),
    sink(known.SQL, "sql", "pony.orm.raw_sql tortoise.expressions.RawSQL sqlalchemy.DDL", 0, when=when.is_statement,
         floor=ANY_CALLER),
    sink(flaw.NOSQL, "nosql", ".run .run_query .execute_query .query .execute_read .execute_write", 0, "query",
         when=_is_cypher, floor=ANY_CALLER),
)  # fmt: skip
COMMANDS: tuple[Sink, ...] = (
    sink(flaw.ARGUMENT, "option", "subprocess.run subprocess.call subprocess.check_call subprocess.check_output "
         "subprocess.Popen", 0, "args", when=_reads_option, floor=SURE),
    sink(flaw.ARGUMENT, "option", "asyncio.create_subprocess_exec", "*", floor=SURE,
         when=lambda site: finds_option([value for place in range(site.count)
                                         if (value := site.arg(place)) is not None])),
    sink(known.SHELL, "shell", "fabric.api.run fabric.api.sudo fabric.api.local fabric.operations.run "
         "fabric.operations.sudo fabric.operations.local invoke.run fabric.Connection().run fabric.Connection().sudo "
         "invoke.Context().run pexpect.run pexpect.spawn pexpect.spawnu", 0, "command", floor=ANY_CALLER),
    sink(known.SHELL, "shell", "ctx.run ctx.sudo c.run c.sudo context.run context.sudo", 0, "command", when=_is_built,
         floor=ANY_CALLER),
    sink(known.SHELL, "shell", ".exec_command", 0, "command", when=_is_built, floor=ANY_CALLER),
    sink(known.SHELL, "shell", ".containers.run .containers.create", 1, "command", "entrypoint",
         when=lambda site: site.module("docker"), floor=MEDIUM),
    sink(known.EVAL, "code", ".query .eval", 0, "expr", floor=ANY_CALLER,
         when=lambda site: _is_built(site) and _is_frame(site)),
    sink(known.EVAL, "code", "js2py.eval_js dukpy.evaljs py_mini_racer.MiniRacer().eval quickjs.Context().eval "
         "lupa.LuaRuntime().execute lupa.LuaRuntime().eval asteval.Interpreter()", 0, floor=ANY_CALLER),
    sink(known.EVAL, "code", "numexpr.evaluate sympy.sympify sympy.parsing.sympy_parser.parse_expr runpy.run_path "
         "imp.load_source code.InteractiveInterpreter().runcode code.InteractiveConsole().push", 0, floor=MEDIUM),
)  # fmt: skip
FILES: tuple[Sink, ...] = (
    sink(known.PATH, "path", "aiohttp.web.FileResponse starlette.responses.FileResponse os.replace glob.glob "
         "shutil.unpack_archive tornado.template.Loader sanic.response.file quart.send_file", 0, "path", floor=SURE),
    sink(known.PATH, "path", ".open", "self", floor=SURE, when=lambda site: _is_path(site) and site.count < 3),
    sink(known.PATH, "path", ".read_text .write_text .read_bytes .write_bytes .iterdir .rglob", "self", floor=SURE,
         when=_is_path),
    sink(flaw.PERMISSION, "mode", "os.open", when=lambda site: is_const(site.arg(2, "mode"), 0o777)),
    sink(flaw.PERMISSION, "mode", ".chmod pathlib.Path().chmod",
         when=lambda site: site.count == 1 and when.is_open_mode(site.arg(0, "mode"))),
    sink(flaw.PERMISSION, "mode", "os.umask", when=_stays_open),
)  # fmt: skip
PAGES: tuple[Sink, ...] = (
    sink(known.MARKUP, "xss", "email.mime.text.MIMEText .set_content .add_alternative .attach_alternative", 0,
         floor=SURE, when=_is_page_mail),
    sink(known.MARKUP, "xss", "streamlit.markdown streamlit.write streamlit.sidebar.markdown", 0, floor=SURE,
         when=lambda site: _keyword(site, "unsafe_allow_html", True)),
    sink(known.MARKUP, "xss", "streamlit.html streamlit.components.v1.html IPython.display.HTML nicegui.ui.html "
         "gradio.HTML", 0, floor=SURE),
    sink(known.MARKUP, "xss", "django.utils.html.format_html", 0, floor=ANY_CALLER),
    sink(known.MARKUP, "xss", "django.utils.safestring.mark_safe markupsafe.Markup", 0, when=when.stays_markup,
         floor=SURE, unknown=True),
    sink(known.RESPONSE, "xss", ".write", 0, floor=SURE,
         when=lambda site: RESPONSE_WRITE.search(site.name) is not None),
    sink(known.RESPONSE, "xss", "print", 0, when=lambda site: site.module("cgi", "cgitb"), floor=SURE),
    sink(known.RESPONSE, "xss", "sanic.response.html pyramid.response.Response quart.Response quart.make_response "
         "cherrypy.response.body sanic.html", 0, "body", "text", when=when.html, floor=SURE),
    sink(known.TEMPLATE, "template", "Template", 0, "source", floor=ANY_CALLER,
         when=lambda site: site.member() == "render" or finds(r"\.render\(", site.around())),
    sink(known.TEMPLATE, "template", "bottle.template bottle.SimpleTemplate tornado.template.Template "
         "django.template.engines.from_string quart.render_template_string", 0, "source", floor=MEDIUM),
    sink(known.REDIRECT, "redirect", "aiohttp.web.HTTPFound aiohttp.web.HTTPSeeOther aiohttp.web.HTTPTemporaryRedirect "
         "aiohttp.web.HTTPMovedPermanently pyramid.httpexceptions.HTTPFound pyramid.httpexceptions.HTTPSeeOther "
         "sanic.response.redirect quart.redirect falcon.HTTPFound falcon.HTTPSeeOther", 0, "location", floor=SURE),
    sink(flaw.CORS, "cors", "flask_cors.CORS flask_cors.cross_origin starlette.middleware.cors.CORSMiddleware "
         "fastapi.middleware.cors.CORSMiddleware .add_middleware sanic_cors.CORS", when=_all_origins),
    sink(flaw.CSRF, "csrf", "tornado.web.Application", when=lambda site: _keyword(site, "xsrf_cookies", False)),
    sink(flaw.CSRF, "csrf", ".set_default_csrf_options", when=lambda site: _keyword(site, "require_csrf", False)),
    sink(flaw.COOKIE_SITE, "cookie", ".set_cookie", when=lambda site: _keyword(site, "samesite", "None", "none")),
)  # fmt: skip
NETWORKS: tuple[Sink, ...] = (
    sink(known.SSRF, "ssrf", "requests.Session().put requests.Session().delete requests.Session().head "
         "requests.Session().patch httpx.Client().post httpx.AsyncClient().post aiohttp.ClientSession().put "
         "aiohttp.ClientSession().delete tornado.httpclient.AsyncHTTPClient().fetch "
         "tornado.httpclient.HTTPClient().fetch urllib3.request urllib3.PoolManager().urlopen treq.get treq.post", 0,
         "url", floor=SURE, alone=when.ADDRESS),
    sink(known.TLS, "tls", ".get .post .put .delete .patch .head .options .request .send", 
         when=lambda site: _keyword(site, "verify", False)),
    sink(known.TLS, "tls", "boto3.client boto3.resource boto3.Session().client boto3.session.Session().client",
         when=lambda site: _keyword(site, "verify", False)),
    sink(known.TLS, "tls", "pymongo.MongoClient motor.motor_asyncio.AsyncIOMotorClient",
         when=lambda site: _keyword(site, "tlsAllowInvalidCertificates", True)
         or _keyword(site, "tlsInsecure", True)),
    sink(known.TLS, "tls", "elasticsearch.Elasticsearch opensearchpy.OpenSearch",
         when=lambda site: _keyword(site, "verify_certs", False)),
    sink(known.TLS, "tls", "redis.Redis redis.StrictRedis", when=lambda site: _keyword(site, "ssl_cert_reqs", "none")),
    sink(known.TLS, "tls", "ldap3.Tls", when=lambda site: when.has_named_keyword(site, "validate", "CERT_NONE")),
    sink(flaw.HOST_KEY, "tls", "asyncssh.connect", when=lambda site: _keyword(site, "known_hosts", None)),
    sink(flaw.CLEAR_TEXT, "clear", "requests.get requests.post requests.put requests.request httpx.get httpx.post",
         when=lambda site: site.arg("auth") is not None and when.is_plain_address(site.arg(0, "url"))),
)  # fmt: skip
SECRETS: tuple[Sink, ...] = (
    sink(known.PASSWORD_HASH, "hash", "hashlib.sha256 hashlib.sha512 hashlib.sha224 hashlib.sha384 hashlib.sha3_256 "
         "hashlib.sha3_512 hashlib.blake2b Crypto.Hash.SHA256.new Crypto.Hash.SHA512.new",
         when=digests.hashes_password),
    sink(flaw.FEW_ROUNDS, "rounds", "hashlib.pbkdf2_hmac hashlib.scrypt bcrypt.gensalt "
         "cryptography.hazmat.primitives.kdf.pbkdf2.PBKDF2HMAC", when=_few_rounds),
    sink(flaw.KEY_SIZE, "key", "cryptography.hazmat.primitives.asymmetric.ec.generate_private_key "
         "Crypto.PublicKey.ECC.generate Cryptodome.PublicKey.ECC.generate ecdsa.SigningKey.generate",
         when=_small_curve),
    sink(flaw.KEY, "secret", "Crypto.Cipher.AES.new Cryptodome.Cipher.AES.new "
         "cryptography.hazmat.primitives.ciphers.algorithms.AES cryptography.hazmat.primitives.ciphers.aead.AESGCM",
         when=when.when_literal(0)),
    sink(flaw.DESERIALISE, "deserialise", "numpy.load", when=lambda site: _keyword(site, "allow_pickle", True)),
    sink(flaw.DESERIALISE, "deserialise", "torch.load", 0, floor=ANY_CALLER,
         when=lambda site: not _keyword(site, "weights_only", True)),
    sink(known.YAML, "deserialise", "ruamel.yaml.YAML", when=lambda site: _keyword(site, "typ", "unsafe")),
    sink(known.PICKLE, "deserialise", "pickle.load pickle.loads cPickle.loads dill.loads", when=_reads_network),
    sink(flaw.LOGGED_SECRET, "secret", when.LOGGERS, when=when.logs_secret),
)  # fmt: skip
XML: tuple[Sink, ...] = (
    sink(known.XML, "xxe", ".setFeature", when=_opens_entities),
    sink(flaw.XPATH, "xpath", ".find .findall .findtext .iterfind", 0, "path", floor=ANY_CALLER,
         when=lambda site: _is_built(site) and CONDITION.search(f"{site.text()} {site.around()}") is not None
         and site.module("xml", "lxml", "xml.etree", "xml.etree.ElementTree")),
)  # fmt: skip
SINKS = (*DATABASES, *COMMANDS, *FILES, *PAGES, *NETWORKS, *SECRETS, *XML)
