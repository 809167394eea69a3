"""Python library names: sources, sanitisers, propagators."""

import sys

from moot.scan.syntax import words

REQUEST_PARTS = words(
    "args form values cookies headers files json data query_string path full_path url base_url host remote_user "
    "referrer user_agent authorization view_args GET POST COOKIES META FILES body query_params path_params "
    "match_info rel_url query forms params raw_body environ stream host_url url_root"
)
REQUEST_CALLS = words(
    "get_data get_json get_argument get_arguments get_query_argument get_body_argument get_cookie get_header "
    "get_full_path build_absolute_uri get_host"
)
SENT_PARTS = words("headers cookies files json data body path url host stream params query")
SERVERS = words(
    "wsgiref http http.server socketserver webob pyramid falcon cherrypy rest_framework webapp2 webtest web"
)
REQUESTS = (
    "flask.request",
    "request",
    "quart.request",
    "bottle.request",
    "self.request",
    "?.request",
    "django.http.request",
    "sanic.request",
)


HARMLESS = {
    f"{request}.{part}": frozenset({"header"})
    for request in REQUESTS
    for part in words("headers host referrer user_agent query_string get_header get_host")
}
"""What a server cut out of a line of the request as it stood there: it holds no line break."""
UNSENT = (
    (
        r"\.(?:META|environ)$",
        r"(?!HTTP_)(?!(?:PATH_INFO|QUERY_STRING|REQUEST_URI|RAW_URI|CONTENT_TYPE|REQUEST_METHOD|wsgi\.input)$)",
    ),
)
"""Entries that the server sets (RFC 3875, PEP 3333), such as REMOTE_USER once it has asked for the password."""


def _request_sources() -> dict[str, float]:
    names = {f"{request}.{part}": 1.0 for request in REQUESTS for part in (*REQUEST_PARTS, *REQUEST_CALLS)}
    # A visitor can choose these only within limits of the network.
    names |= {f"{request}.remote_addr": 0.3 for request in REQUESTS}
    return names


SOURCES: dict[str, float] = {
    **_request_sources(),
    **dict.fromkeys(
        words(
            "tornado.web.RequestHandler.get_argument tornado.web.RequestHandler.get_query_argument "
            "tornado.web.RequestHandler.get_body_argument tornado.web.RequestHandler.get_arguments "
            "tornado.web.RequestHandler.get_cookie http.server.BaseHTTPRequestHandler.path "
            "http.server.BaseHTTPRequestHandler.headers http.server.BaseHTTPRequestHandler.rfile "
            "http.server.SimpleHTTPRequestHandler.path http.server.SimpleHTTPRequestHandler.headers"
        ),
        1.0,
    ),
    "self.get_argument": 1.0, "self.get_query_argument": 1.0, "self.get_body_argument": 1.0, "self.get_cookie": 1.0,
    "self.request.get": 1.0, "webapp2.RequestHandler.request.get": 1.0,
    "self.rfile.read": 1.0, "self.path": 0.6, "self.headers": 0.8,
    "cgi.FieldStorage": 1.0,
    "input": 0.6, "raw_input": 0.6, "sys.argv": 0.6, "sys.stdin": 0.6, "sys.stdin.read": 0.6, "sys.stdin.readline": 0.6,
    "os.environ": 0.3, "os.getenv": 0.3,
    **dict.fromkeys(words("tarfile.open().getmembers tarfile.open().getnames tarfile.open()[] "
                          "zipfile.ZipFile().namelist zipfile.ZipFile().infolist"), 0.9),
    "argparse.ArgumentParser().parse_args": 0.6, "argparse.ArgumentParser.parse_args": 0.6,
}  # fmt: skip

TEXT_FIELDS = words(
    "StringField TextAreaField TextField PasswordField HiddenField SearchField TelField FileField MultipleFileField "
    "FieldList"
)
"""Fields of WTForms that hold the text of the request; other fields convert or choose."""
SOURCES |= {f"{module}.{field}().data": 1.0 for module in ("wtforms", "wtforms.fields") for field in TEXT_FIELDS}
SOURCES |= dict.fromkeys(
    words("django.forms.Form.cleaned_data django.forms.ModelForm.cleaned_data rest_framework.request.Request.data"), 0.8
)
NAMED_SOURCES = (
    (".get_filename", r"\.get_filename$", 0.8),
    (".filename", r"(?:^|\.)(?:part|field|upload\w*|\w*file|attachment|multipart\(\)\.next\(\))\.filename$", 0.8),
    (".data", r"(?:^|\.)\w*Form\(\)\.\w+\.data$", 0.8),
    (".cleaned_data", r"(?:^|\.)\w*Form\(\)\.cleaned_data$", 0.8),
)
"""The name that a sender gave an attachment, and a browser an uploaded file; a form class of a file that was not
given: a field's type is unknown, but most hold text."""

DRAWS = (
    "random randint randrange choice choices sample getrandbits randbytes uniform triangular gauss normalvariate "
    "betavariate expovariate lognormvariate vonmisesvariate gammavariate paretovariate weibullvariate"
)
RANDOM = frozenset(f"random.{owner}{name}" for owner in ("", "Random().") for name in DRAWS.split()) | words(
    "numpy.random.rand numpy.random.randint numpy.random.random numpy.random.bytes numpy.random.choice"
)
EVERYWHERE = frozenset({"*"})
NUMBERS = words(
    "int float bool len ord hash id abs round complex isinstance issubclass hasattr callable uuid.UUID uuid.uuid4 "
    "datetime.datetime.strptime datetime.datetime.fromisoformat datetime.date.fromisoformat decimal.Decimal "
    "fractions.Fraction ipaddress.ip_address ipaddress.IPv4Address ipaddress.ip_network range enumerate_count "
    "os.path.exists os.path.isfile os.path.isdir os.path.getsize hmac.compare_digest secrets.compare_digest "
    "hashlib.sha256 hashlib.sha1 hashlib.md5 hashlib.sha512 hashlib.new hashlib.blake2b hashlib.pbkdf2_hmac "
    "binascii.hexlify binascii.crc32 zlib.crc32 hex oct bin .count .find .index .rfind .isalnum .isdigit "
    ".isalpha .hexdigest "
    "werkzeug.security.generate_password_hash werkzeug.security.check_password_hash bcrypt.hashpw bcrypt.checkpw "
    ".startswith .endswith .isdecimal .isnumeric .exists .is_file .is_dir ast.literal_eval_number .bit_length "
    ".read_text .read_bytes .stat any all type callable re.escape_count shlex.split_count slugify"
)
ANSWERS = words(
    "flask.jsonify jsonify flask.json.jsonify flask.render_template render_template django.shortcuts.render "
    "django.http.JsonResponse JsonResponse flask.url_for url_for flask.send_file flask.send_from_directory "
    "send_from_directory flask.redirect redirect flask.abort django.shortcuts.redirect fastapi.responses.JSONResponse "
    "django.urls.reverse reverse starlette.responses.JSONResponse"
)


def _sanitisers() -> dict[str, frozenset[str]]:
    found = dict.fromkeys((*NUMBERS, *ANSWERS), EVERYWHERE)
    by_kind = {
        "xss": "html.escape markupsafe.escape flask.escape cgi.escape xml.sax.saxutils.escape "
        "xml.sax.saxutils.quoteattr "
        "django.utils.html.escape django.utils.html.conditional_escape jinja2.escape werkzeug.utils.escape "
        "bleach.clean "
        "markupsafe.Markup.escape django.utils.html.format_html nh3.clean escape tornado.escape.xhtml_escape "
        "saxutils.escape django.utils.html.strip_tags bleach.linkify",
        "shell": "shlex.quote pipes.quote shlex.join",
        "path": "os.path.basename werkzeug.utils.secure_filename secure_filename ntpath.basename posixpath.basename "
        "werkzeug.security.safe_join werkzeug.utils.safe_join flask.safe_join "
        "django.utils._os.safe_join",
        "ldap": "ldap3.utils.conv.escape_filter_chars ldap.filter.escape_filter_chars ldap.dn.escape_dn_chars "
        "ldap3.utils.dn.escape_rdn ldap.filter.filter_format",
        "mail": "email.header.Header Header email.utils.parseaddr",
        "regex": "re.escape",
        "nosql": "str bson.ObjectId bson.objectid.ObjectId",
    }
    for kind, names in by_kind.items():
        for name in names.split():
            found[name] = found.get(name, frozenset()) | {kind}
    encoders = (
        "urllib.parse.quote urllib.parse.quote_plus urllib.parse.urlencode urllib.quote django.utils.http.urlquote"
    )
    for name in encoders.split():
        found[name] = frozenset({"xss", "header", "log", "sql", "shell", "ldap", "redirect", "ssrf"})
    for name in ("json.dumps", "simplejson.dumps"):
        found[name] = frozenset({"header", "log", "code"})
    for name in words("base64.b64encode base64.urlsafe_b64encode base64.b32encode binascii.b2a_base64 .hex"):
        found[name] = words("xss shell sql path ldap xpath header log code template")
    for name in ("repr", "ascii"):
        found[name] = frozenset({"header", "log"})
    found["re.escape"] = frozenset({"regex", "pattern"})
    found[".splitlines"] = frozenset({"log", "header", "mail"})
    found[".replace"] = frozenset({"xpath"})
    found["lxml.etree.XPath.quote"] = frozenset({"xpath"})
    found["psycopg2.sql.Identifier"] = found["psycopg2.sql.Literal"] = frozenset({"sql"})
    found[".escape_string"] = found[".mogrify"] = frozenset({"sql"})
    found["os.path.splitext"] = frozenset()
    for name in ("secure_filename",):
        found["werkzeug.utils." + name] = frozenset({"path", "shell", "header", "log", "upload"})
        found[name] = frozenset({"path", "shell", "header", "log", "upload"})
    return found


SANITISERS = _sanitisers()
RESTORES = {
    **dict.fromkeys(
        words("base64.b64decode base64.urlsafe_b64decode base64.b32decode base64.decodebytes binascii.a2b_base64"),
        SANITISERS["base64.b64encode"],
    ),
    **dict.fromkeys(
        words("urllib.parse.unquote urllib.parse.unquote_plus urllib.unquote"), SANITISERS["urllib.parse.quote"]
    ),
    "html.unescape": frozenset({"xss"}),
    "xml.sax.saxutils.unescape": frozenset({"xss"}),
}
PASSES = words(
    "str bytes bytearray list tuple set dict sorted reversed iter next map filter zip enumerate min max sum repr ascii "
    "format memoryview getattr vars copy.copy copy.deepcopy os.path.join os.path.normpath os.path.abspath "
    "os.path.realpath os.path.expanduser os.path.expandvars os.path.dirname os.path.split os.path.splitext os.fspath "
    "pathlib.Path pathlib.PurePath pathlib.PosixPath pathlib.Path().joinpath .joinpath "
    "os.fsdecode os.fsencode urllib.parse.unquote "
    "urllib.parse.unquote_plus urllib.parse.urlparse urllib.parse.urlsplit urllib.parse.urljoin urllib.parse.parse_qs "
    "urllib.parse.parse_qsl urllib.parse.urlunparse urllib.unquote urllib.request.url2pathname urllib.request.Request "
    "urllib.parse.quote urllib.parse.quote_plus urllib.parse.urlencode base64.b64decode base64.urlsafe_b64decode "
    "base64.b32decode base64.decodebytes base64.b16decode codecs.decode codecs.encode binascii.unhexlify "
    "binascii.a2b_base64 json.loads json.dumps io.StringIO io.BytesIO textwrap.dedent string.Template "
    "string.Template().substitute string.Template().safe_substitute re.sub re.split re.findall re.match re.search "
    "re.fullmatch shlex.split shlex.join collections.OrderedDict collections.defaultdict itertools.chain "
    "functools.reduce "
    "operator.add html.unescape quopri.decodestring zlib.decompress gzip.decompress unicodedata.normalize "
    "xml.sax.saxutils.unescape sqlalchemy.text cgi.FieldStorage().getvalue "
    "os.path.relpath "
    "flask.request.get_data io.TextIOWrapper asyncio.run asyncio.gather os.path.commonpath os.path.commonprefix "
    "urllib.parse.unquote_to_bytes ast.literal_eval django.utils.encoding.force_str markupsafe.Markup flask.Markup "
    ".get .decode .encode .strip .lower .upper .format .join .split .rsplit "
    ".partition .rpartition .splitlines .resolve .joinpath .absolute .read .group .groups "
    ".replace .getvalue .items .keys .values .lstrip .rstrip .title .capitalize .swapcase .casefold .removeprefix "
    ".removesuffix .zfill .ljust .rjust .center .expandtabs .translate .as_posix .tobytes"
)
CODE_PARTS = ("co_code", "co_consts", "co_names", "co_varnames", "co_freevars", "co_cellvars")
CARRIES: dict[str, tuple[int | str, ...]] = {
    # Behind the counts, of which 3.8 brought one more: bytes of code, constants and names. The rest names a place.
    "types.CodeType": (5, 6, 7, 8),
    "compile().replace": CODE_PARTS,
    "types.CodeType().replace": CODE_PARTS,
}
KNOWN_LIBRARIES = words(
    "flask django requests httpx aiohttp sqlalchemy lxml ldap3 ldap yaml jwt Crypto Cryptodome cryptography jinja2 "
    "numpy pandas werkzeug pymongo psycopg2 MySQLdb mysql pymysql redis boto3 paramiko bcrypt passlib fastapi "
    "starlette "
    "open print elementpath defusedxml celery click bs4 PIL tornado bottle markupsafe pytest nltk scipy sklearn torch "
    "tensorflow matplotlib wtforms exception super property"
)
ROOTS = frozenset(sys.stdlib_module_names) | KNOWN_LIBRARIES
USUAL = {
    **{name: name for name in words(
        "os sys re json subprocess shlex hashlib base64 yaml pickle cPickle requests urllib urllib2 urlparse sqlite3 "
        "MySQLdb psycopg2 pymysql datetime time random math logging tempfile shutil tarfile zipfile socket ssl ldap "
        "jwt html cgi bleach jinja2 lxml"
    )},
    "feature_external_ges": "xml.sax.handler.feature_external_ges",
    "np": "numpy", "pd": "pandas", "ET": "xml.etree.ElementTree", "ElementTree": "xml.etree.ElementTree",
    "etree": "lxml.etree", "minidom": "xml.dom.minidom", "sp": "subprocess", "Popen": "subprocess.Popen",
    "call": "subprocess.call", "system": "os.system", "popen": "os.popen",
    "check_output": "subprocess.check_output", "check_call": "subprocess.check_call", "Path": "pathlib.Path",
    "mark_safe": "django.utils.safestring.mark_safe", "format_html": "django.utils.html.format_html",
    "conditional_escape": "django.utils.html.conditional_escape", "Markup": "markupsafe.Markup",
    "Environment": "jinja2.Environment", "urlopen": "urllib.request.urlopen", "urlencode": "urllib.parse.urlencode",
    "quote_plus": "urllib.parse.quote_plus", "literal_eval": "ast.literal_eval", "b64decode": "base64.b64decode",
    "HTMLResponse": "fastapi.responses.HTMLResponse", "RawSQL": "django.db.models.expressions.RawSQL",
    "escape_filter_chars": "ldap.filter.escape_filter_chars", "safe_join": "werkzeug.utils.safe_join",
    "FileResponse": "fastapi.responses.FileResponse", "RedirectResponse": "fastapi.responses.RedirectResponse",
    "BaseHTTPRequestHandler": "http.server.BaseHTTPRequestHandler",
    "SimpleHTTPRequestHandler": "http.server.SimpleHTTPRequestHandler",
    **{name: f"urllib.parse.{name}" for name in words(
        "urlparse urlsplit parse_qs parse_qsl unquote unquote_plus urljoin urlunparse urlunsplit"
    )},
    **{name: f"os.path.{name}" for name in words("abspath realpath normpath commonpath expanduser")},
    **{name: f"Crypto.Cipher.{name}" for name in words("AES DES DES3 ARC4 ARC2 Blowfish")},
    "web": "aiohttp.web", "md5": "hashlib.md5", "sha1": "hashlib.sha1",
    "basename": "os.path.basename", "xhtml_escape": "tornado.escape.xhtml_escape",
}  # fmt: skip
"""Names in fragments of code, whose imports were not given."""
READERS = words("requests httpx aiohttp urllib urllib2 urllib3 csv json simplejson bs4 feedparser xml lxml open")
KEEPS = words(
    "lxml.etree.XMLParser etree.XMLParser xml.sax.make_parser re.compile ssl.create_default_context ssl.SSLContext "
    "tarfile.open zipfile.ZipFile paramiko.SSHClient paramiko.client.SSHClient xml.sax.expatreader.create_parser"
)
MAKES = {
    "list": "list", "collections.deque": "list", "deque": "list", "queue.Queue": "list", "queue.SimpleQueue": "list",
    "multiprocessing.Queue": "list", "asyncio.Queue": "list", "queue.LifoQueue": "stack", "dict": "dict",
    "collections.OrderedDict": "dict", "collections.defaultdict": "dict", "set": "set", "frozenset": "set",
    "tuple": "list", "configparser.ConfigParser": "config", "configparser.RawConfigParser": "config",
    "configparser.SafeConfigParser": "config", "io.StringIO": "text", "io.BytesIO": "text",
}  # fmt: skip
ENDS = words("sys.exit exit quit os._exit flask.abort abort os.abort bottle.abort django.http.Http404_raise self.fail")
ROUTES = words("route get post put delete patch websocket api_route endpoint errorhandler")
