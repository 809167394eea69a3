"""JavaScript library names: sources, sanitisers, propagators."""

from moot.scan.engine.values import Label
from moot.scan.javascript.words import CLEANS, IS_TEXT, NUMBER, PROVES
from moot.scan.syntax import words

REQUEST_PARTS = words(
    "query body params headers cookies url originalUrl path file files rawBody nextUrl rawHeaders "
    "param get header json text formData queryStringParameters payload"
)
CONTEXT_PARTS = words(
    "query params headers url path querystring originalUrl href request.body request.query request.headers request.url "
    "request.path request.files req.url req.headers req.query req.param req.json req.header req.text cookies "
    "cookies.get "
    "get request.get"
)
EVENT_PARTS = words(
    "body queryStringParameters pathParameters headers rawQueryString rawPath multiValueQueryStringParameters "
    "multiValueHeaders path cookies"
)
PAGE_PARTS = words("search hash href")
LOCATIONS = ("location", "window.location", "document.location", "self.location", "globalThis.location")


def _sources() -> dict[str, float]:
    found = {f"req.{part}": 1.0 for part in REQUEST_PARTS}
    found |= {f"ctx.{part}": 1.0 for part in CONTEXT_PARTS}
    found |= {f"event.{part}": 1.0 for part in EVENT_PARTS}
    found |= {f"{place}.{part}": 1.0 for place in LOCATIONS for part in PAGE_PARTS}
    found |= {f"self.$route.{part}": 1.0 for part in ("query", "params", "hash")}
    found |= {f"archive.entry.{part}": 0.9 for part in ("path", "fileName", "name", "filename")}
    return found


SOURCES: dict[str, float] = {
    **_sources(),
    "req.other": 0.7, "req.headers.host": 0.5, "req.hostname": 0.5, "ctx.headers.host": 0.5,
    "document.URL": 1.0, "document.documentURI": 1.0, "document.referrer": 1.0, "document.cookie": 0.6,
    "window.name": 0.9, "message_event.data": 1.0, "socket.data": 0.9, "graphql.args": 0.9,
    "dom.textContent": 0.6, "dom.innerText": 0.6, "dom.value": 0.6, "dom.getAttribute": 0.6,
    "document.getElementById().value": 0.6, "document.querySelector().value": 0.6, "prompt": 0.6, "window.prompt": 0.6,
    "process.argv": 0.6, "process.env": 0.2, "localStorage.getItem": 0.4, "sessionStorage.getItem": 0.4,
    "react-router-dom.useParams": 0.9, "react-router-dom.useSearchParams": 0.9, "next/router.useRouter().query": 1.0,
    "next/navigation.useSearchParams": 1.0, "next/navigation.useParams": 1.0, "vue-router.useRoute().query": 1.0,
    "vue-router.useRoute().params": 1.0, "adm-zip().getEntries()[].entryName": 0.9, "Math.random": 1.0,
}  # fmt: skip
USUAL = {
    **{
        name: f"child_process.{name}"
        for name in words("exec execSync spawn spawnSync execFile execFileSync")
    },
    **dict.fromkeys(words("childProcess child_process cp"), "child_process"),
    **{name: f"fs.{name}" for name in words(
        "readFile readFileSync writeFile writeFileSync createReadStream createWriteStream unlink unlinkSync appendFile"
    )},
    "fsp": "fs.promises", "fse": "fs-extra", "jwt": "jsonwebtoken", "yaml": "js-yaml", "escapeHtml": "escape-html",
    "serialize": "node-serialize", "shellQuote": "shell-quote", "AdmZip": "adm-zip",
    **{name: name for name in words("qs mysql ejs pug nunjucks mustache got superagent vm vm2 xpath unzipper")},
}  # fmt: skip
"""Names in fragments of code, whose imports were not given."""
RAW = words(
    "req.url req.originalUrl req.path req.headers req.headers.host req.hostname req.get req.header req.rawHeaders "
    "ctx.headers ctx.url ctx.path ctx.querystring ctx.originalUrl ctx.href ctx.get ctx.request.headers ctx.request.url "
    "ctx.request.path ctx.request.get ctx.req.url ctx.req.headers ctx.req.header ctx.headers.host event.headers "
    "event.rawPath event.rawQueryString"
)
"""What a server cut out of a line of the request as it stood there: it holds no line break until it is decoded."""
HARMLESS = dict.fromkeys(RAW, frozenset({"header"}))
RESTORES = dict.fromkeys(
    words(
        "decodeURIComponent decodeURI unescape querystring.unescape querystring.parse querystring.decode qs.parse "
        "url.parse URL URLSearchParams"
    ),
    frozenset({"header"}),
)
LABELS: dict[str, Label] = {"Math.random": "random"}
EVERYWHERE = frozenset({"*"})
NUMBERS = words(
    f"parseInt parseFloat Number Number.parseInt Number.parseFloat Boolean BigInt len typeof {NUMBER} {PROVES} "
    f"{CLEANS} {IS_TEXT} "
    "Date.parse mongoose.Types.ObjectId ObjectId ObjectID mongodb.ObjectId mongodb.ObjectID .digest .getTime .toFixed "
    "bcrypt.hash bcrypt.hashSync bcrypt.compare bcrypt.compareSync bcryptjs.hash bcryptjs.hashSync bcryptjs.compare "
    "crypto.timingSafeEqual crypto.scryptSync crypto.pbkdf2Sync argon2.hash argon2.verify jsonwebtoken.sign "
    "jsonwebtoken.verify .indexOf .lastIndexOf .localeCompare .charCodeAt .codePointAt .startswith .endswith .search "
    "fs.existsSync fs.statSync .existsSync mime.lookup mime-types.lookup path.extname validator.toInt "
    "validator.toFloat "
    "res.json res.status res.sendStatus multer .is .accepts"
)
SANITISED_BY = {
    "xss": "escape-html he.encode he.escape lodash.escape _.escape validator.escape DOMPurify.sanitize "
    "dompurify.sanitize isomorphic-dompurify.sanitize sanitize-html sanitizeHtml xss html-entities.encode "
    "entities.encodeHTML entities.escape Handlebars.escapeExpression handlebars.escapeExpression escapeHtml escapeHTML "
    "JSON.stringify xss-filters.inHTMLData marked-safe",
    "sql": "mysql.escape mysql2.escape sqlstring.escape SqlString.escape pg-escape pg-escape.literal pg-escape.ident "
    "pg-format mysql.format mysql2.format sqlstring.format pg.Client().escapeLiteral pg.Client().escapeIdentifier "
    "mysql.escapeId mysql2.escapeId .escapeId .escapeLiteral .escapeIdentifier .escape",
    "path": "path.basename sanitize-filename path.posix.basename path.win32.basename",
    "shell": "shell-quote.quote shell-escape shellescape shescape.quote shescape.escape",
    "regex": "lodash.escapeRegExp _.escapeRegExp escape-string-regexp escapeRegExp escapeStringRegexp regexp.escape",
    "ldap": "ldap-escape.filter ldap-escape.dn ldapescape.filter "
    + " ".join(
        f"{module}.{kind}Filter"
        for module in ("ldapjs", "ldapts", "@ldapjs/filter")
        for kind in ("Equality", "Substring", "And", "Or", "Not", "Presence")
    ),
    "nosql": "String .toString mongo-sanitize .strip .lower",
    "log": "JSON.stringify util.inspect",
    "header": "JSON.stringify",
}
ENCODERS = {
    "encodeURIComponent": "xss header log ssrf redirect path ldap",
    "encodeURI": "xss header log",
    "escape": "xss header log",
    "querystring.stringify": "xss header log ssrf redirect",
    "querystring.escape": "xss header log ssrf redirect path",
    "btoa": "xss shell sql path ldap xpath header log code template",
    "js.path_part": "ssrf redirect",
    ".escape": "sql xss",
}


def _sanitisers() -> dict[str, frozenset[str]]:
    found = dict.fromkeys(NUMBERS, EVERYWHERE)
    for kind, names in SANITISED_BY.items():
        for name in names.split():
            found[name] = found.get(name, frozenset()) | {kind}
    for name, kinds in ENCODERS.items():
        found[name] = frozenset(kinds.split())
    found[".replace"] = frozenset({"xpath"})
    return found


SANITISERS = _sanitisers()
PASSES = words(
    "String JSON.parse JSON.stringify Buffer Buffer.from Buffer.concat decodeURIComponent decodeURI unescape atob btoa "
    "path.resolve path.normalize path.dirname path.relative path.parse path.format url.parse url.resolve "
    "url.format URL "
    "URLSearchParams querystring.parse querystring.unescape qs.parse util.format util.inspect Promise.all "
    "Promise.resolve "
    "Object.fromEntries structuredClone Array lodash.cloneDeep _.cloneDeep lodash.get _.get lodash.pick _.pick "
    "TextDecoder().decode TextEncoder().encode console.log util.promisify encodeURI xml2js.parseStringPromise "
    "js-yaml.load js-yaml.safeLoad path.join vm.Script vm2.VMScript "
    ".get .toString .strip .lower .upper .join .split .slice .concat .replace .replace_first .substr .padStart .padEnd "
    ".repeat .items .keys .values .trim .normalize .decode .search .matchAll .toJSON .valueOf .pop .popleft .getAll "
    ".flat .reverse .sort .splice marked marked.parse marked.marked marked.marked.parse "
    "markdown-it().render snarkdown micromark.micromark showdown.Converter().makeHtml"
)
ROOTS = words(
    "fs crypto http https net os child_process cluster dns dgram zlib stream events timers readline tls vm "
    "worker_threads "
    "express koa fastify axios request got needle superagent node-fetch mysql mysql2 pg sqlite3 better-sqlite3 knex "
    "sequelize mongoose mongodb redis ioredis bcrypt bcryptjs argon2 jsonwebtoken jose passport multer "
    "nodemailer winston "
    "pino log4js morgan console Math Date assert Symbol WeakMap setTimeout setInterval clearTimeout res reply next "
    "document window fetch uuid moment dayjs typeorm prisma puppeteer playwright jest react react-dom performance "
    "localStorage sessionStorage navigator history isNaN RegExp helmet cors"
)
GLOBALS = ROOTS | words(
    "process __dirname __filename module exports require global globalThis self top parent this super arguments "
    "undefined NaN Infinity Object Array String Number Boolean BigInt JSON Map Set WeakSet Promise Error TypeError "
    "RangeError Proxy Reflect Intl Buffer URL URLSearchParams TextEncoder TextDecoder AbortController FormData Headers "
    "Request Response Blob File FileReader Image Audio Event CustomEvent EventTarget Node Element HTMLElement "
    "DOMParser XMLSerializer XMLHttpRequest WebSocket Worker MutationObserver IntersectionObserver location screen "
    "crypto chrome browser $ jQuery _ angular Vue React ReactDOM Handlebars Mustache DOMPurify marked showdown hljs "
    "queueMicrotask requestAnimationFrame cancelAnimationFrame clearInterval setImmediate structuredClone atob btoa "
    "parseInt parseFloat isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent escape unescape eval "
    "Function Int8Array Uint8Array Uint16Array Uint32Array Float32Array Float64Array ArrayBuffer DataView "
    "alert confirm prompt open i18n gettext define describe it test expect Deno Bun WebAssembly"
)
"""Globals of the language, its hosts and common libraries."""
KEEPS = words("RegExp zod.object zod.z.object joi.object Joi.object @hapi/joi.object yup.object")
MAKES = {"Set": "set", "Map": "map", "Array": "list"}
ENDS = words("process.exit process.abort ctx.throw next/navigation.notFound next/navigation.redirect")
UNPACKERS = words("gunzip gunzipSync inflate inflateSync inflateRaw inflateRawSync unzip unzipSync brotliDecompress "
                  "brotliDecompressSync")  # fmt: skip
FILE_MODULES = ("fs", "fs/promises", "fs.promises", "fs-extra", "graceful-fs", "fsPromises")
FILE_CALLS = words(
    "readFile writeFile appendFile createReadStream createWriteStream unlink readdir open stat lstat access rm "
    "rmdir mkdir "
    "rename copyFile truncate chmod readlink symlink link exists opendir watch outputFile remove readJson "
    "writeJson copy "
    "move ensureDir"
)

FILE_VERBS = words("read write create delete remove save open extract load move copy upload store")
"""Verbs of undefined functions that take a path: `extractFile(p)`."""


def file_calls() -> str:
    found = []
    for module in FILE_MODULES:
        for name in sorted(FILE_CALLS):
            found.extend([f"{module}.{name}", f"{module}.{name}Sync", f"{module}.{name}Async"])
    return " ".join(found)


VERBS = "get post put patch delete head request options"
CLIENTS = "axios got superagent request http https needle node-fetch urllib undici http2 phin ky follow-redirects.http"


WHOLE = (
    "axios got request fetch node-fetch isomorphic-fetch cross-fetch undici.fetch superagent phin ky bent() "
    "window.fetch globalThis.fetch axios.create() request-promise request-promise-native request-promise.get "
    "undici.stream http2.connect got.stream"
)


def list_request_calls() -> str:
    """Calls whose first argument is the URL, or options that contain it."""
    pairs = [(client, verb) for client in CLIENTS.split() for verb in VERBS.split()]
    return " ".join([*(f"{client}.{verb}" for client, verb in pairs if client != "needle" or verb != "request"), WHOLE])
