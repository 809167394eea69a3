"""For each rule, code that it must report and code that it must not."""

from moot.scan.rule import RuleExample


def handler(body: str, *, before: str = "") -> str:
    return f"{before}\nmodule.exports = (req, res) => {{ {body} }};\n"


CHILD = "const {exec, spawn} = require('child_process');"
RUN = "const {execFile} = require('child_process');"
FS = "const fs = require('fs'), path = require('path');"
CRYPTO = "const crypto = require('crypto');"
LDAP = "const ldap = require('ldapjs');"
JWT = "const jwt = require('jsonwebtoken');"

FRAGMENTS = (
    RuleExample(
        "javascript-decompression-bomb",
        "const zlib = require('zlib');\nmodule.exports = (body) => zlib.gunzipSync(body);",
        "const zlib = require('zlib');\nmodule.exports = (body) => zlib.gunzipSync(body, {maxOutputLength: 65536});",
    ),
    RuleExample(
        "javascript-client-role",
        handler("if (req.headers['x-role'] === 'admin') show(res);"),
        handler("if (req.session.role === 'admin') show(res);"),
    ),
    RuleExample(
        "javascript-argument",
        f"{RUN}\nmodule.exports = (url) => execFile('git', ['clone', url]);",
        f"{RUN}\nmodule.exports = (url) => execFile('git', ['clone', '--', url]);",
    ),
    RuleExample(
        "javascript-unbounded-body",
        handler("let body = ''; req.on('data', (part) => { body += part; });"),
        handler("let body = ''; req.on('data', (part) => { body += part; if (body.length > 1e6) req.destroy(); });"),
    ),
    RuleExample(
        "javascript-claim-race",
        f"{FS}\nmodule.exports = (f) => {{ if (fs.existsSync(f)) return false; fs.writeFileSync(f, 'x'); }};",
        f"{FS}\nmodule.exports = (f) => fs.writeFileSync(f, 'x', {{flag: 'wx'}});",
    ),
    RuleExample(
        "javascript-unsigned-token",
        "const roleOf = (token) => JSON.parse(atob(token.split('.')[1])).role;",
        "const roleOf = async (token) => (await jwtVerify(token, key)).payload.role;",
    ),
)
INJECTION = (
    RuleExample(
        "javascript-sql-string",
        handler("db.query(`select * from t where id = '${req.query.id}'`)"),
        handler("db.query('select * from t where id = ?', [req.query.id])"),
    ),
    RuleExample(
        "javascript-nosql",
        handler("User.findOne({name: req.body.name})"),
        handler("User.findOne({name: String(req.body.name)})"),
    ),
    RuleExample(
        "javascript-nosql",
        handler("users.collection('u').findOne({name: req.body.name})"),
        handler("if (typeof req.body.name !== 'string') return; users.collection('u').findOne({name: req.body.name})"),
    ),
    RuleExample(
        "javascript-exec",
        handler("exec('ls ' + req.query.dir)", before=CHILD),
        handler("spawn('ls', [req.query.dir])", before=CHILD),
    ),
    RuleExample(
        "javascript-program",
        handler("spawn('sort', [req.query.file], {shell: true})", before=CHILD),
        handler("spawn('sort', [req.query.file])", before=CHILD),
    ),
    RuleExample("javascript-eval", handler("eval(req.body.sum)"), handler("JSON.parse(req.body.sum)")),
    RuleExample(
        "javascript-require",
        handler("require(req.query.plugin)"),
        handler("const known = {a: './a', b: './b'}; require(known[req.query.plugin])"),
    ),
    RuleExample(
        "javascript-template",
        handler("res.send(ejs.render(req.body.page))", before="const ejs = require('ejs');"),
        handler("res.send(ejs.render('<%= name %>', {name: req.body.name}))", before="const ejs = require('ejs');"),
    ),
    RuleExample(
        "javascript-render-options",
        handler("res.render('index', req.query)"),
        handler("res.render('index', {name: req.query.name})"),
    ),
    RuleExample(
        "javascript-ldap",
        handler("client.search('dc=x', {filter: `(uid=${req.query.u})`})", before="const ldap = require('ldapjs');"),
        handler("client.search('dc=x', {filter: `(uid=${Number(req.query.u)})`})", before="require('ldapjs');"),
    ),
    RuleExample(
        "javascript-ldap",
        handler("client.search('dc=x', {filter: '(uid=' + req.query.u + ')'})", before=LDAP),
        handler("client.search('dc=x', {filter: new ldap.EqualityFilter({value: req.query.u})})", before=LDAP),
    ),
    RuleExample(
        "javascript-xpath",
        handler("xpath.select(`//u[@n='${req.query.n}']`, doc)", before="const xpath = require('xpath');"),
        handler("xpath.parse('//u[@n=$n]').select({node, variables: {n: req.query.n}})"),
    ),
    RuleExample(
        "javascript-deserialise",
        handler("s.unserialize(req.body.x)", before="const s = require('node-serialize');"),
        handler("JSON.parse(req.body.x)", before="const s = require('node-serialize');"),
    ),
    RuleExample(
        "javascript-regex-injection",
        handler("new RegExp(req.query.q).test(text)"),
        handler("new RegExp(_.escapeRegExp(req.query.q)).test(text)"),
    ),
    RuleExample(
        "javascript-regex-injection",
        handler("new RegExp(req.query.q, 'i').test(text)"),
        handler(r"const q = req.query.q.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'); new RegExp(q, 'i').test(text)"),
    ),
    RuleExample(
        "javascript-slow-regex",
        handler("/^(a+)+$/.test(req.query.q)"),
        handler("/^a+$/.test(req.query.q)"),
    ),
    RuleExample(
        "javascript-prototype",
        handler("_.merge({}, req.body)", before="const _ = require('lodash');"),
        handler("const x = {...defaults, name: req.body.name}"),
    ),
    RuleExample(
        "javascript-mass-assignment",
        handler("User.create(req.body)"),
        handler("User.create({name: req.body.name, mail: req.body.mail})"),
    ),
)
FILES = (
    RuleExample(
        "javascript-upload",
        "const multer = require('multer'); multer({dest: 'uploads/'});",
        "const multer = require('multer'); multer({dest: 'uploads/', fileFilter, limits: {fileSize: 9}});",
    ),
    RuleExample(
        "javascript-path",
        handler("req.files.doc.mv('./uploads/' + req.files.doc.name)"),
        handler("req.files.doc.mv('./uploads/' + crypto.randomUUID())", before=CRYPTO),
    ),
    RuleExample(
        "javascript-file-mode",
        FS + "fs.chmodSync('run.sh', 0o777);",
        FS + "fs.chmodSync('run.sh', 0o755);",
    ),
    RuleExample(
        "javascript-temp-file",
        FS + "fs.writeFileSync('/tmp/report.txt', text);",
        FS + "fs.writeFileSync(path.join(fs.mkdtempSync(base), 'report.txt'), text);",
    ),
    RuleExample(
        "javascript-path",
        handler("fs.readFile(path.join('/data', req.query.name), done)", before=FS),
        handler(
            "const p = path.resolve(ROOT, req.query.name); if (!p.startsWith(ROOT)) return; fs.readFile(p, done)",
            before=FS + "const ROOT = path.resolve('./data');",
        ),
    ),
)
PAGES = (
    RuleExample(
        "javascript-response-xss",
        handler("res.send('<b>' + req.query.name + '</b>')"),
        handler("res.send('<b>' + escapeHtml(req.query.name) + '</b>')"),
    ),
    RuleExample(
        "javascript-html",
        "document.getElementById('x').innerHTML = location.hash;",
        "document.getElementById('x').innerHTML = DOMPurify.sanitize(location.hash);",
    ),
    RuleExample(
        "javascript-escape-off",
        "Handlebars.compile(page, {noEscape: true});",
        "Handlebars.compile(page, {noEscape: false});",
    ),
    RuleExample(
        "javascript-header",
        handler("res.setHeader('X-Name', req.query.name)"),
        handler("res.setHeader('X-Name', encodeURIComponent(req.query.name))"),
    ),
    RuleExample(
        "javascript-cors",
        handler("res.setHeader('Access-Control-Allow-Origin', '*')"),
        handler("res.setHeader('Access-Control-Allow-Origin', 'https://example.com')"),
    ),
    RuleExample(
        "javascript-log",
        handler("console.log('user ' + req.query.name)"),
        handler("console.log('user ' + JSON.stringify(req.query.name))"),
    ),
    RuleExample(
        "javascript-open-redirect",
        handler("res.redirect(req.query.to)"),
        handler("res.redirect('/users/' + req.query.to)"),
    ),
    RuleExample(
        "javascript-error-disclosure",
        handler("try { f() } catch (error) { res.send(error.stack) }"),
        handler("try { f() } catch (error) { console.error(error.stack); res.send('failed') }"),
    ),
    RuleExample(
        "javascript-cookie",
        handler("res.cookie('session', id, {secure: false, httpOnly: true})"),
        handler("res.cookie('session', id, {secure: true, httpOnly: true})"),
    ),
    RuleExample(
        "javascript-cookie-script",
        handler("res.cookie('session', id, {secure: true, httpOnly: false})"),
        handler("res.cookie('session', id, {secure: true, httpOnly: true})"),
    ),
    RuleExample(
        "javascript-helmet-off",
        "app.use(helmet({frameguard: false}));",
        "app.use(helmet({frameguard: {action: 'deny'}}));",
    ),
)
NETWORK = (
    RuleExample("javascript-bind-all", "app.listen(80, '0.0.0.0');", "app.listen(80, '127.0.0.1');"),
    RuleExample(
        "javascript-ssrf",
        handler("axios.get(req.query.url)", before="const axios = require('axios');"),
        handler("axios.get('https://api.example.com/' + req.query.id)", before="const axios = require('axios');"),
    ),
    RuleExample(
        "javascript-browser-ssrf",
        handler("page.goto(req.query.url)", before="const puppeteer = require('puppeteer');"),
        handler("page.goto('https://example.com')", before="const puppeteer = require('puppeteer');"),
    ),
    RuleExample(
        "javascript-xxe",
        handler("libxmljs.parseXml(req.body, {noent: true})", before="const libxmljs = require('libxmljs');"),
        handler("libxmljs.parseXml(req.body)", before="const libxmljs = require('libxmljs');"),
    ),
    RuleExample(
        "javascript-tls-verify",
        "new https.Agent({rejectUnauthorized: false});",
        "new https.Agent({rejectUnauthorized: true});",
    ),
    RuleExample(
        "javascript-tls-version",
        "tls.createServer({minVersion: 'TLSv1.1'});",
        "tls.createServer({minVersion: 'TLSv1.2'});",
    ),
    RuleExample(
        "javascript-clear-text",
        "const grpc = require('@grpc/grpc-js'); new Client(host, grpc.credentials.createInsecure());",
        "const grpc = require('@grpc/grpc-js'); new Client(host, grpc.credentials.createSsl());",
    ),
)
SECRETS = (
    RuleExample(
        "javascript-trust-boundary",
        handler("req.session.role = req.body.role"),
        handler("if (!['user', 'guest'].includes(req.body.role)) return; req.session.role = req.body.role"),
    ),
    RuleExample(
        "javascript-jwt",
        JWT + "module.exports = (req) => jwt.decode(req.headers.token);",
        JWT + "module.exports = (req) => jwt.verify(req.headers.token, process.env.KEY, {algorithms: ['HS256']});",
    ),
    RuleExample(
        "javascript-password-hash",
        CRYPTO + "const passwordHash = crypto.createHash('md5').update(x).digest('hex');",
        CRYPTO + "const passwordHash = crypto.scryptSync(x, crypto.randomBytes(16), 64);",
    ),
    RuleExample(
        "javascript-weak-hash",
        CRYPTO + "crypto.createHash('sha1').update(x);",
        CRYPTO + "crypto.createHash('sha256').update(x);",
    ),
    RuleExample(
        "javascript-weak-cipher",
        CRYPTO + "crypto.createCipheriv('aes-128-ecb', key, null);",
        CRYPTO + "crypto.createCipheriv('aes-256-gcm', key, crypto.randomBytes(12));",
    ),
    RuleExample(
        "javascript-static-iv",
        CRYPTO + "crypto.createCipheriv('aes-256-cbc', key, '1234567890123456');",
        CRYPTO + "crypto.createCipheriv('aes-256-cbc', key, crypto.randomBytes(16));",
    ),
    RuleExample(
        "javascript-static-salt",
        CRYPTO + "crypto.scryptSync(password, 'salt', 64);",
        CRYPTO + "crypto.scryptSync(password, crypto.randomBytes(16), 64);",
    ),
    RuleExample(
        "javascript-few-rounds",
        CRYPTO + "crypto.pbkdf2Sync(password, salt, 1000, 64, 'sha512');",
        CRYPTO + "crypto.pbkdf2Sync(password, salt, 600000, 64, 'sha512');",
    ),
    RuleExample(
        "javascript-key-size",
        CRYPTO + "crypto.generateKeyPairSync('rsa', {modulusLength: 1024});",
        CRYPTO + "crypto.generateKeyPairSync('rsa', {modulusLength: 4096});",
    ),
    RuleExample(
        "javascript-weak-random",
        "const resetToken = Math.random().toString(36);",
        "const delay = Math.random() * 1000;",
    ),
    RuleExample(
        "javascript-written-key",
        JWT + "jwt.sign({id}, 'not so secret');",
        JWT + "jwt.sign({id}, process.env.JWT_SECRET);",
    ),
    RuleExample(
        "javascript-jwt",
        JWT + "jwt.verify(token, key, {algorithms: ['none']});",
        JWT + "jwt.verify(token, key, {algorithms: ['RS256']});",
    ),
    RuleExample(
        "javascript-jwt-content",
        JWT + "jwt.sign({id, password}, key);",
        JWT + "jwt.sign({id}, key);",
    ),
    RuleExample(
        "javascript-timing",
        handler("if (req.headers['x-key'] === API_KEY) next()"),
        handler("if (crypto.timingSafeEqual(Buffer.from(req.headers['x-key']), API_KEY)) next()"),
    ),
    RuleExample(
        "javascript-electron",
        "new BrowserWindow({webPreferences: {nodeIntegration: true}});",
        "new BrowserWindow({webPreferences: {nodeIntegration: false}});",
    ),
    RuleExample(
        "javascript-unsafe-buffer",
        handler("res.end(Buffer.allocUnsafe(req.body.size))"),
        handler("res.end(Buffer.alloc(req.body.size))"),
    ),
)
EXAMPLES: tuple[RuleExample, ...] = (*INJECTION, *FRAGMENTS, *FILES, *PAGES, *NETWORK, *SECRETS)
