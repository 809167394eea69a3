"""JavaScript dataflow rules: sinks, and calls that are wrong by themselves."""

from moot.core.secret_patterns import UNGUESSABLE
from moot.scan.engine.rulebook import ALONE, SHOWN, FlawedSetting, FlowBook, NamedStore, Sink, by_name
from moot.scan.engine.rules import checks
from moot.scan.engine.values import BUILT, HEADERS
from moot.scan.javascript.rules import answers as answers
from moot.scan.javascript.rules import digests as digests
from moot.scan.javascript.rules import documents as documents
from moot.scan.javascript.rules import flaws as flaw
from moot.scan.javascript.rules import names as names
from moot.scan.javascript.rules import patterns as known
from moot.scan.javascript.rules import tokens as tokens
from moot.scan.javascript.rules import when as when
from moot.scan.javascript.rules.strength import ANY_CALLER, MEDIUM, REFLECTED, SURE, sink
from moot.scan.javascript.rules.when import every, imports, of

SECRET_NAME = UNGUESSABLE["javascript"]

DATABASES = ("sqlite3", "sqlite", "better-sqlite3", "pg-promise", "postgres", "bun:sqlite")
SPAWN = (
    "child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync execa cross-spawn"
)
INJECTION = (
    sink(known.SQL, "sql", ".query .execute .raw .queryRaw", 0, when=when.sql_text, floor=ANY_CALLER),
    sink(known.SQL, "sql", ".$queryRawUnsafe .$executeRawUnsafe .whereRaw .havingRaw .orderByRaw .joinRaw .fromRaw "
         ".groupByRaw .andWhereRaw .orWhereRaw .selectRaw", 0, when=when.when_built(0), floor=ANY_CALLER),
    sink(known.SQL, "sql", ".where .andWhere .orWhere .having .andHaving .orHaving .orderBy .addOrderBy .addSelect "
         ".groupBy", 0, when=every(imports("typeorm", "@nestjs/typeorm", "@mikro-orm/core"), when.when_text_built(0)),
         floor=ANY_CALLER),
    sink(known.SQL, "sql", ".all .get .run .each .exec .prepare .any .none .one .manyOrNone .oneOrNone .many "
         ".unsafe", 0,
         when=every(imports(*DATABASES), when.sql_text), floor=ANY_CALLER),
    sink(known.SQL, "sql", ".all .get .run .each .exec .prepare .any .none .manyOrNone .oneOrNone .unsafe", 0,
         when=when.is_statement_built, floor=ANY_CALLER),
    sink(known.SQL, "sql", "sequelize.literal Sequelize.literal sequelize.Sequelize.literal .literal", 0,
         when=every(imports("sequelize", "sequelize-typescript"), when.when_text_built(0)), floor=ANY_CALLER),
    sink(flaw.NOSQL, "nosql", ".find .findOne .findOneAndUpdate .findOneAndDelete .findOneAndReplace .deleteOne "
         ".deleteMany .updateOne .updateMany .countDocuments .aggregate .replaceOne .findOneAndRemove", 0,
         when=documents.query_object, floor=SURE),
    sink(flaw.NOSQL, "nosql", ".findOne .findOneAndUpdate .findOneAndDelete .updateOne .deleteOne .countDocuments", 0,
         when=documents.login_query, floor=SURE),
    sink(flaw.NOSQL, "code", "js.option.$where .$where", 0, when=when.when_built(0), floor=ANY_CALLER),
    sink(known.EXEC, "shell", "child_process.exec child_process.execSync shelljs.exec execa.command execa.commandSync "
         "execa.execaCommand exec-sh node-cmd.run node-cmd.get", 0, floor=ANY_CALLER),
    sink(known.EXEC, "shell", ".exec", 0, when=imports("ssh2", "node-ssh"), floor=SURE),
    sink(flaw.PROGRAM, "shell", SPAWN, 0, floor=SURE),
    sink(flaw.PROGRAM, "shell", SPAWN, 0, 1, when=when.through_shell, floor=ANY_CALLER),
    sink(flaw.ARGUMENT, "option", SPAWN, 1, when=when.reads_option, floor=SURE),
    sink(known.EVAL, "code", "eval window.eval global.eval globalThis.eval vm.runInNewContext vm.runInThisContext "
         "vm.runInContext vm.compileFunction vm.Script vm2.VMScript VMScript", 0, floor=ANY_CALLER),
    sink(known.EVAL, "code", "Function", "*", floor=ANY_CALLER),
    sink(known.EVAL, "code", "vm2.VM().run vm2.NodeVM().run VM().run NodeVM().run sandbox().run sandbox.Sandbox().run "
         "isolated-vm.Isolate().compileScript static-eval safe-eval notevil", 0, floor=SURE),
    sink(known.EVAL, "code", "setTimeout setInterval setImmediate window.setTimeout window.setInterval", 0,
         when=when.not_a_function, floor=SURE),
    sink(flaw.MODULE, "code", "require import", 0, floor=SURE),
    sink(flaw.TEMPLATE, "template", "ejs.render ejs.compile pug.render pug.compile jade.render jade.compile "
         "handlebars.compile Handlebars.compile handlebars.precompile hbs.compile nunjucks.renderString "
         "nunjucks.compile "
         "mustache.render Mustache.render lodash/template lodash/template.js lodash-es.template "
         "lodash.template _.template underscore.template dot.template eta.renderString "
         "eta.render swig.render swig.compile velocityjs.render hogan.js.compile squirrelly.render", 0, floor=MEDIUM),
    sink(flaw.TEMPLATE_OPTIONS, "template", ".render", 1, when=answers.options_from_outside, floor=REFLECTED),
    sink(flaw.LDAP, "ldap", ".search .searchAsync", 0, 1, floor=ANY_CALLER,
         when=imports("ldapjs", "ldapts", "ldapjs-promise", "activedirectory", "activedirectory2")),
    sink(flaw.XPATH, "xpath", "xpath.parse xpath.select xpath.select1 xpath.evaluate xpath.useNamespaces() "
         "document.evaluate", 0, floor=ANY_CALLER),
    sink(flaw.XPATH, "xpath", ".find .get", 0, when=imports("libxmljs", "libxmljs2"), floor=SURE),
    sink(known.DESERIALISE, "deserialise", "node-serialize.unserialize serialize-to-js.deserialize "
         "funcster.deepDeserialize cryo.parse serialize-javascript.deserialize v8.deserialize", 0, floor=ANY_CALLER),
    sink(known.DESERIALISE, "deserialise", "js-yaml.load js-yaml.loadAll", 0, floor=REFLECTED),
    sink(flaw.REDOS, "regex", "RegExp", 0, floor=SURE),
    sink(flaw.SLOW_REGEX, "regex", ".search", 0, when=when.slow_pattern, floor=ANY_CALLER),
    sink(flaw.SLOW_REGEX, "regex", ".search", 0, when=when.slower_pattern, floor=SURE),
    sink(flaw.PROTOTYPE, "prototype", "lodash.merge lodash.mergeWith lodash.defaultsDeep _.merge _.defaultsDeep "
         "_.mergeWith lodash.merge.recursive merge.recursive deep-extend defaults-deep", 1, 2, floor=REFLECTED),
    sink(flaw.PROTOTYPE, "prototype", "lodash.set lodash.setWith _.set _.setWith dot-prop.set object-path.set "
         "set-value", 1, floor=REFLECTED),
    sink(flaw.MASS, "mass", ".create .build .bulkCreate .insertMany", 0, when=documents.whole_body(0), floor=REFLECTED),
    sink(flaw.MASS, "mass", ".findByIdAndUpdate .findOneAndUpdate .updateOne", 1, when=documents.whole_body(1),
         floor=REFLECTED),
)  # fmt: skip
FILES = (
    sink(known.PATH, "path", names.file_calls(), 0, floor=SURE),
    sink(known.PATH, "path", "fs.rename fs.renameSync fs.copyFile fs.copyFileSync fs.symlink fs.link "
         "fs.promises.rename fs/promises.rename", 1, floor=SURE),
    sink(known.PATH, "path", ".sendFile .sendfile", 0, when=answers.without_root, floor=SURE),
    sink(known.PATH, "path", ".download", 0, when=answers.without_root, floor=SURE),
    sink(known.PATH, "path", ".render", 0, when=of("res."), floor=SURE),
    sink(known.PATH, "path", "koa-send send", 1, floor=SURE,
         when=lambda site: site.setting(site.arg(2), "root") is None),
    sink(known.PATH, "path", ".mv", 0, when=lambda site: "files" in site.receiver.name, floor=REFLECTED),
    sink(flaw.UPLOAD, "upload", "multer", when=when.takes_anything),
    sink(flaw.PERMISSION, "mode", "fs.chmod fs.chmodSync fs.promises.chmod fs/promises.chmod", when=when.open_mode(1)),
    sink(flaw.PERMISSION, "mode", "fs.open fs.openSync fs.promises.open fs/promises.open", when=when.open_mode(2)),
    sink(flaw.PERMISSION, "mode", "process.umask", when=when.const(0, 0)),
    sink(flaw.PERMISSION, "mode", "fs.writeFile fs.writeFileSync fs.mkdir fs.mkdirSync fs.appendFile",
         when=when.open_option),
    sink(flaw.TEMP_FILE, "temp", "fs.writeFile fs.writeFileSync fs.createWriteStream fs.promises.writeFile "
         "fs.appendFile fs.appendFileSync fs/promises.writeFile fs/promises.appendFile fs.promises.appendFile",
         when=when.is_shared_folder),
    sink(known.PATH, "path", " ".join(f".{verb}File" for verb in names.FILE_VERBS), "*", when=when.when_path_built(0),
         floor=REFLECTED),
)  # fmt: skip
PAGES = (
    sink(known.RESPONSE, "xss", ".send .write .end", 0, when=answers.page, floor=REFLECTED),
    sink(known.HTML, "xss", "document.write document.writeln window.document.write window.document.writeln "
         ".createContextualFragment", 0, floor=ANY_CALLER),
    sink(known.HTML, "xss", "js.jsx_address", 0, when=answers.is_personal_address, floor=ANY_CALLER),
    sink(known.HTML, "xss", ".insertAdjacentHTML", 1, floor=ANY_CALLER),
    sink(known.HTML, "xss", "js.option.__html js.option.innerHTML .bypassSecurityTrustHtml "
         ".bypassSecurityTrustScript", 0, floor=ANY_CALLER),
    sink(known.HTML, "xss", ".html .append .prepend .after .before .replaceWith .appendTo", 0, floor=ANY_CALLER,
         when=every(of("$(", "jQuery(", "jquery("), when.when_built(0))),
    sink(known.HTML, "xss", "$ jQuery jquery", 0, when=when.is_page_built, floor=ANY_CALLER),
    sink(known.HTML, "xss", "handlebars.SafeString Handlebars.SafeString hbs.SafeString hbs.handlebars.SafeString", 0,
         floor=ANY_CALLER),
    sink(flaw.ESCAPE_OFF, "xss", "js.option.noEscape", when=when.first_is(True)),
    sink(flaw.ESCAPE_OFF, "xss", ".autoEscaping .autoescape", when=when.first_is(False)),
    sink(flaw.ESCAPE_OFF, "xss", "serialize-javascript", when=when.has(1, "unsafe", True)),
    sink(flaw.HEADER, "header", ".setHeader .set .header .append .writeHead .addHeader", 0, 1, floor=REFLECTED,
         when=every(answers.on_response, lambda site: not answers.any_site(site))),
    sink(flaw.HEADER, "header", ".write .end", 0, floor=REFLECTED,
         when=lambda site: HEADERS in getattr(site.arg(0), "marks", ())),
    sink(flaw.CORS, "cors", ".setHeader .set .header .append .writeHead", when=every(answers.on_response,
         answers.any_site)),
    sink(flaw.CORS, "cors", "cors @koa/cors", when=answers.open_cors),
    sink(flaw.LOG, "log", "fs.appendFile fs.appendFileSync fs.promises.appendFile fs/promises.appendFile", 1,
         when=when.is_log_line, floor=REFLECTED),
    sink(flaw.LOG, "log", ".write", 0, when=when.is_dated_entry(0), floor=REFLECTED),
    sink(flaw.LOG, "log", "fs.appendFile fs.appendFileSync fs/promises.appendFile fs.promises.appendFile", 1,
         when=when.is_dated_entry(1), floor=REFLECTED),
    sink(flaw.LOG, "log", "console.log console.info console.warn console.error console.debug logger.info logger.warn "
         "logger.error logger.debug log.info log.warn log.error winston.info winston.error winston.warn "
         "winston.createLogger().info winston.createLogger().error winston.createLogger().warn pino().info "
         "pino().error "
         "log4js.getLogger().info log4js.getLogger().error", 0, 1, floor=REFLECTED, when=when.is_kept),
    sink(flaw.LOG, "log", ".info .warn .error .debug", 0, 1, when=when.is_own_logger, floor=REFLECTED),
    sink(known.REDIRECT, "redirect", ".redirect .location", 0, 1, floor=REFLECTED,
         when=of("res.", "ctx.", "reply.", "next/")),
    sink(known.REDIRECT, "redirect", ".writeHead", 1, 2, floor=REFLECTED, when=answers.sends_elsewhere),
    sink(known.REDIRECT, "redirect", ".setHeader .set .header .append", 1, floor=REFLECTED,
         when=lambda site: answers.on_response(site) and answers.names_location(site)),
    sink(known.REDIRECT, "redirect", " ".join(f"{place}.{verb}" for place in names.LOCATIONS for verb in
         ("assign", "replace")), 0, floor=REFLECTED),
    sink(flaw.COOKIE, "cookie", ".cookie .setCookie", when=answers.cookie_flag("secure")),
    sink(flaw.COOKIE_SCRIPT, "cookie", ".cookie .setCookie", when=answers.cookie_flag("httpOnly")),
    sink(flaw.COOKIE, "cookie", "express-session cookie-session session", when=lambda site: when.is_const(
         when.setting(site, site.arg(0), "cookie", "secure"), False) or when.is_const(
         when.setting(site, site.arg(0), "secure"), False)),
    sink(flaw.COOKIE, "cookie", "express-session", when=answers.session_without("secure")),
    sink(flaw.COOKIE_SCRIPT, "cookie", "express-session cookie-session session", when=lambda site: when.is_const(
         when.setting(site, site.arg(0), "cookie", "httpOnly"), False) or when.is_const(
         when.setting(site, site.arg(0), "httpOnly"), False)),
    sink(flaw.HELMET, "helmet", "helmet", when=answers.helmet_off),
)  # fmt: skip
NETWORK = (
    sink(known.SSRF, "ssrf", names.list_request_calls(), 0, floor=SURE),
    sink(known.SSRF, "ssrf", "needle", 1, floor=SURE),
    sink(known.SSRF, "ssrf", "net.Socket().connect net.connect net.createConnection tls.connect", 0, 1, floor=SURE),
    sink(flaw.HARMFUL_PAGE, "ssrf", ".goto .setContent .openUrl .evaluate .evaluateOnNewDocument .addScriptTag", 0, 1,
         when=imports(*when.BROWSERS), floor=SURE),
    sink(flaw.HARMFUL_PAGE, "ssrf", ".property .open", 0, 1, when=imports("phantom"), floor=SURE),
    sink(flaw.HARMFUL_PAGE, "ssrf", "wkhtmltopdf wkhtmltoimage.generate html-pdf.create", 0, floor=SURE),
    sink(flaw.BIND, "bind", ".listen", when=when.const(1, "0.0.0.0", "::")),
    sink(flaw.XXE, "xxe", "js.option.noent js.option.noEnt", when=when.first_is(True)),
    sink(flaw.XXE, "xxe", "xml2json.toJson node-expat.Parser().parse node-expat.Parser().write expat.Parser().parse "
         "expat.Parser().write", 0, floor=SURE),
    sink(flaw.XXE, "xxe", "sax.createStream().on sax.parser().on", when=when.first_is("doctype")),
    sink(known.TLS, "tls", "js.option.rejectUnauthorized js.option.strictSSL js.option.SSL_VERIFYPEER "
         "js.option.checkServerIdentity",
         when=when.first_is(False, 0)),
    sink(flaw.TLS_VERSION, "tls", "js.option.minVersion js.option.secureProtocol", when=when.matches(0, when.OLD_TLS)),
)  # fmt: skip
SECRETS = (
    sink(known.PASSWORD_HASH, "hash", "crypto.createHash", when=digests.weak_digest(True)),
    sink(known.PASSWORD_HASH, "hash", "crypto.createHash().update", when=digests.is_fast_password_hash),
    sink(known.HASH, "hash", "crypto.createHash", when=digests.weak_digest(False)),
    sink(known.CIPHER, "cipher", "crypto.createCipher crypto.createDecipher"),
    sink(known.CIPHER, "cipher", "crypto.createCipheriv crypto.createDecipheriv",
         when=when.matches(0, when.WEAK_CIPHER)),
    sink(flaw.STATIC_IV, "iv", "crypto.createCipheriv", when=digests.has_fixed_iv),
    sink(flaw.SECRET, "secret", "crypto.createCipheriv crypto.createDecipheriv crypto.createHmac",
         when=when.key_written_out(1)),
    sink(flaw.STATIC_SALT, "salt", "crypto.pbkdf2 crypto.pbkdf2Sync crypto.scrypt crypto.scryptSync",
         when=digests.has_fixed_salt),
    sink(flaw.STATIC_SALT, "salt", "bcrypt.hash bcrypt.hashSync bcryptjs.hash bcryptjs.hashSync",
         when=digests.has_fixed_salt),
    sink(flaw.FEW_ROUNDS, "rounds", "bcrypt.hash bcrypt.hashSync bcryptjs.hash bcryptjs.hashSync",
         when=digests.cost_below(1)),
    sink(flaw.FEW_ROUNDS, "rounds", "bcrypt.genSalt bcrypt.genSaltSync bcryptjs.genSalt bcryptjs.genSaltSync",
         when=digests.cost_below(0)),
    sink(flaw.FEW_ROUNDS, "rounds", "crypto.pbkdf2 crypto.pbkdf2Sync", when=digests.few_rounds),
    sink(flaw.KEY_SIZE, "key", "crypto.generateKeyPair crypto.generateKeyPairSync", when=digests.short_key),
    sink(known.RANDOM, "random", "crypto.pseudoRandomBytes"),
    sink(known.RANDOM, "random", "Math.random", when=digests.makes_code),
    sink(flaw.SECRET, "secret", "jsonwebtoken.sign jsonwebtoken.verify jwt.sign jwt.verify jose.JWT.sign "
         "jose.JWT.verify "
         "jwt-simple.encode jwt-simple.decode", when=when.key_written_out(1)),
    sink(flaw.SECRET, "secret", "jose.JWK.asKey cookie-parser", when=when.key_written_out(0)),
    sink(flaw.SECRET, "secret", "express-session express-jwt session express-jwt.expressjwt koa-jwt",
         when=when.when_literal(0, "secret")),
    sink(flaw.SECRET, "secret", "cookie-session", when=when.when_literal(0, "keys", 0)),
    sink(flaw.SECRET, "secret", "passport-jwt.Strategy JwtStrategy", when=when.when_literal(0, "secretOrKey")),
    sink(flaw.JWT, "jwt", "jsonwebtoken.verify jwt.verify", when=when.no_algorithm(2)),
    sink(flaw.JWT, "jwt", "jsonwebtoken.sign jwt.sign", when=when.no_algorithm(2)),
    sink(flaw.JWT, "jwt", "jsonwebtoken.verify jwt.verify", when=when.no_key),
    sink(flaw.JWT, "jwt", "jwt-simple.decode", when=when.const(2, True)),
    sink(flaw.JWT, "jwt", "js.option.ignoreExpiration", when=when.first_is(True)),
    sink(flaw.JWT_CONTENT, "jwt", "jsonwebtoken.sign jwt.sign jose.JWT.sign jwt-simple.encode", when=when.tells_much),
    sink(flaw.CLEAR_TEXT, "clear", ".createInsecure", when=imports("grpc", "@grpc/grpc-js")),
    sink(flaw.TIMING, "timing", "js.compared", 0, when=digests.is_secret_compared, floor=SURE),
    sink(flaw.TIMING, "timing", "js.compared", when=digests.is_code_compared),
    sink(flaw.TIMING, "timing", ".equals buffer.Buffer.compare Buffer.compare", when=digests.is_code_equal),
    sink(flaw.BOMB, "bomb", " ".join(f"zlib.{name}" for name in names.UNPACKERS), 0, when=when.is_unlimited,
         floor=REFLECTED),
    sink(flaw.ELECTRON, "electron", "js.option.nodeIntegration js.option.nodeIntegrationInWorker "
         "js.option.allowRunningInsecureContent js.option.experimentalFeatures", when=when.first_is(True)),
    sink(flaw.ELECTRON, "electron", "js.option.webSecurity js.option.contextIsolation", when=when.first_is(False)),
    sink(flaw.ELECTRON, "electron", "js.option.enableBlinkFeatures", when=lambda site: bool(when.text_of(site.arg(0)))),
    sink(known.BUFFER, "memory", ".readUInt8 .readUInt16LE .readUInt16BE .readUInt32LE .readUInt32BE .readInt8 "
         ".readInt16LE .readInt16BE .readInt32LE .readInt32BE .readFloatLE .readFloatBE .readDoubleLE .readDoubleBE",
         when=when.const(1, True)),
    sink(known.BUFFER, "memory", ".writeUInt8 .writeUInt16LE .writeUInt16BE .writeUInt32LE .writeUInt32BE .writeInt8 "
         ".writeInt16LE .writeInt16BE .writeInt32LE .writeInt32BE .writeFloatLE .writeDoubleLE",
         when=when.const(2, True)),
    sink(known.BUFFER, "memory", "Buffer.allocUnsafe Buffer.allocUnsafeSlow", 0, when=when.never_filled,
         floor=ANY_CALLER),
    sink(known.BUFFER, "memory", "Buffer", 0, when=when.one_argument, floor=ANY_CALLER),
    sink(known.BUFFER, "memory", "Buffer", when=when.plain_size),
)  # fmt: skip
STORES = (
    NamedStore(known.RANDOM, "random", SECRET_NAME, "random"),
    NamedStore(known.HTML, "xss", r"\.(?:innerHTML|outerHTML|srcdoc)$", "outside", floor=ANY_CALLER),
    NamedStore(
        known.REDIRECT,
        "redirect",
        r"^(?:window\.|document\.|self\.|top\.|parent\.)?location(?:\.href)?$",
        "outside",
        unbound=True,
    ),
    NamedStore(
        flaw.TRUST,
        "trust",
        r"session",
        "outside",
        keys=True,
        imported=r"^(?:req|ctx)\.session(?:\.|$)",
        floor=REFLECTED,
    ),
    NamedStore(
        flaw.HEADER,
        "header",
        r"(?i)headers?(?:\[['\"`]|\.)(?:content-disposition|location|set-cookie|refresh|link|etag|vary)",
        "outside",
        floor=REFLECTED,
    ),
    NamedStore(known.RESPONSE, "xss", r"^ctx\.(?:response\.)?body$", "outside"),
)
SETTINGS = (
    FlawedSetting(known.TLS, r"NODE_TLS_REJECT_UNAUTHORIZED", lambda value: when.is_const(value, "0", 0, False)),
    FlawedSetting(flaw.ESCAPE_OFF, r"(?i)^mustache\.escape$", lambda value: True),
    FlawedSetting(flaw.XXE, r"\.ondoctype$", lambda value: True, ("sax",)),
)
SINKS = (*INJECTION, *FILES, *PAGES, *NETWORK, *SECRETS, *tokens.SINKS)
BOOK = FlowBook(
    sources=names.SOURCES,
    labels=names.LABELS,
    sinks=by_name(SINKS),
    stores=STORES,
    settings=SETTINGS,
    returns=(Sink(known.RESPONSE, "xss", (), floor=SURE), Sink(flaw.HEADER, "header", (), floor=SURE)),
    statement=sink(known.SQL, "sql", "", 0, 1, 2, floor=SURE, unknown=True),
    fills=frozenset({"util.format"}),
    shown=SHOWN | {"ssrf": ALONE, "redirect": ALONE, "bomb": ALONE, "regex": BUILT, "option": ALONE, "nosql": ALONE},
    constants={"os.tmpdir()": "/tmp", "path.sep": "/"},
    sanitisers=names.SANITISERS,
    restores=names.RESTORES,
    harmless=names.HARMLESS,
    addressed=("req.url", "req.originalUrl", "req.path", "ctx.url", "ctx.originalUrl", "ctx.path"),
    passes=names.PASSES,
    roots=names.ROOTS,
    usual=names.USUAL,
    keeps=names.KEEPS,
    makes=names.MAKES,
    ends=names.ENDS,
    routes=frozenset(),
    globals=names.GLOBALS,
    places=(NamedStore(flaw.PROTOTYPE, "prototype", "", "outside", keys=True),),
    addresses=checks.JAVASCRIPT_ADDRESSES,
)
