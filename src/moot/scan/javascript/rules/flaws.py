"""Flaws of the JavaScript dataflow rules that `patterns.py` does not define."""

from moot.scan.rule import Rule

SECRET = Rule(
    "javascript-written-key", "auth", "high", 798,
    "Hardcoded key: a signing or encryption key is in the source",
    "Whoever sees the source signs tokens and sessions of their own.",
    "Read it from the environment or a secret store, and change the one that was exposed.", 0.8,
)  # fmt: skip
NOSQL = Rule(
    "javascript-nosql", "injection", "high", 943,
    "NoSQL injection: user input becomes part of a query object or its code",
    "A value of {\"$ne\": null} matches every document.",
    "Turn the value into plain text with String() before it enters the query, and never use $where.", 0.6,
)  # fmt: skip
ARGUMENT = Rule(
    "javascript-argument", "injection", "medium", 88,
    "Argument injection: user input stands where a program reads its options",
    "A value of '--upload-pack=…' is read as an option of the program, which runs what it names.",
    "Check that the value does not begin with a hyphen, and put '--' before it.", 0.6,
)  # fmt: skip
PROGRAM = Rule(
    "javascript-program", "injection", "critical", 78,
    "Command injection: user input controls the program that is run, or reaches a shell",
    "A value that names another program, or '; id' where a shell reads it, runs any command.",
    "Keep the program constant, leave `shell` off and pass outside data as separate arguments.", 0.8,
)  # fmt: skip
MODULE = Rule(
    "javascript-require", "injection", "high", 829,
    "Code injection: user input controls which module is loaded",
    "A value of '../uploads/x.js' runs an uploaded file as part of the program.",
    "Choose the module from a table of your own.", 0.8,
)  # fmt: skip
TEMPLATE = Rule(
    "javascript-template", "injection", "critical", 1336,
    "Template injection: user input becomes the source of a template",
    "A value of '<%= process.env %>' prints secrets; longer ones run code on the server.",
    "Keep the template constant and pass outside data as its variables.", 0.8,
)  # fmt: skip
TEMPLATE_OPTIONS = Rule(
    "javascript-render-options", "injection", "high", 73,
    "Template injection: an object from user input becomes the template's options",
    "An entry such as `layout` or `settings` makes the engine read other files, or run code.",
    "Pass an object of your own with the values the template needs.", 0.6,
)  # fmt: skip
ESCAPE_OFF = Rule(
    "javascript-escape-off", "xss", "medium", 116,
    "XSS: escaping of a template or serializer is disabled",
    "A value of '<img src=x onerror=alert(1)>' runs script.",
    "Leave escaping on, and mark single values that are known to be safe.", 0.7,
)  # fmt: skip
HEADER = Rule(
    "javascript-header", "injection", "medium", 113,
    "Header injection: user input is put into a response header unescaped",
    "A value chosen by a stranger changes how browsers and caches treat the answer.",
    "Choose the value from a list of your own, or remove line breaks and check it.", 0.5,
)  # fmt: skip
LOG = Rule(
    "javascript-log", "injection", "low", 117,
    "Log injection: user input is written to the log unescaped",
    "A value of 'x\\nadmin logged in' writes a log line of the attacker's own.",
    "Replace line breaks, or log JSON.stringify of the value.", 0.5,
)  # fmt: skip
LDAP = Rule(
    "javascript-ldap", "injection", "high", 90,
    "LDAP injection: filter built from user input",
    "A value of '*)(uid=*' matches every entry.",
    "Build the filter from objects (new EqualityFilter), or escape the value.", 0.8,
)  # fmt: skip
XPATH = Rule(
    "javascript-xpath", "injection", "high", 643,
    "XPath injection: expression built from user input",
    "A value of \"' or '1'='1\" selects every node.",
    "Parse a constant expression and pass the value as a variable.", 0.8,
)  # fmt: skip
XXE = Rule(
    "javascript-xxe", "injection", "high", 611,
    "XXE: untrusted XML is parsed with external entities enabled",
    "A document with <!ENTITY x SYSTEM 'file:///etc/passwd'> reads the file, or grows without end.",
    "Leave entities off (noent: false), or use a parser that knows none.", 0.7,
)  # fmt: skip
HARMFUL_PAGE = Rule(
    "javascript-browser-ssrf", "injection", "high", 918,
    "SSRF: user input controls what a browser or converter on the server opens",
    "A page of 'file:///etc/passwd' or 'http://169.254.169.254/' ends up in the picture.",
    "Check the address against a list of allowed ones, and open no HTML of others.", 0.7,
)  # fmt: skip
STATIC_IV = Rule(
    "javascript-static-iv", "auth", "medium", 329,
    "Static IV: the initialization vector is constant",
    "Equal beginnings stay visible, and with GCM or CTR two messages give each other away.",
    "Take crypto.randomBytes for each message, and send it along.", 0.7,
)  # fmt: skip
STATIC_SALT = Rule(
    "javascript-static-salt", "auth", "medium", 760,
    "Static salt: the salt is the same for every password",
    "One table computed in advance breaks all of them.",
    "Take crypto.randomBytes(16) for each password and keep it beside the hash.", 0.7,
)  # fmt: skip
FEW_ROUNDS = Rule(
    "javascript-few-rounds", "auth", "medium", 916,
    "Weak password hash: too few rounds",
    "A leaked table of hashes is tried out billions of times a second.",
    "Use scrypt, argon2, bcrypt with a cost of 10 or more, or PBKDF2 with 600,000 rounds.", 0.6,
)  # fmt: skip
KEY_SIZE = Rule(
    "javascript-key-size", "auth", "medium", 326,
    "Weak key: the key is too short",
    "RSA keys of 1024 bits can be factored.",
    "Use 2048 bits or more.", 0.8,
)  # fmt: skip
TLS_VERSION = Rule(
    "javascript-tls-version", "auth", "medium", 327,
    "Outdated TLS: a broken version of TLS is allowed",
    "Old versions let somebody on the way read parts of the traffic.",
    "Use TLSv1.2 or newer.", 0.8,
)  # fmt: skip
COOKIE = Rule(
    "javascript-cookie", "auth", "medium", 614,
    "Insecure cookie: set without Secure",
    "Whoever listens on the network reads the cookie.",
    "Set secure: true (and httpOnly: true, sameSite: \"lax\").", 0.6,
)  # fmt: skip
COOKIE_SCRIPT = Rule(
    "javascript-cookie-script", "auth", "medium", 1004,
    "Insecure cookie: set without HttpOnly",
    "One flaw in the page's scripts is enough to take the session.",
    "Set httpOnly: true.", 0.6,
)  # fmt: skip
CORS = Rule(
    "javascript-cors", "auth", "medium", 942,
    "Permissive CORS: every origin may read the responses",
    "A page of the attacker reads what the visitor may see.",
    "Name the sites that are allowed.", 0.6,
)  # fmt: skip
JWT = Rule(
    "javascript-jwt", "auth", "high", 347,
    "JWT not verified: the token is accepted without checking its signature",
    "A token written by hand, with any user in it, is accepted.",
    "Verify with a key and a list of real algorithms.", 0.8,
)  # fmt: skip
JWT_CONTENT = Rule(
    "javascript-jwt-content", "auth", "medium", 522,
    "Secret exposure: a password or a whole user record is put into a readable token",
    "Whoever sees the token reads the password or its hash.",
    "Put only an id and what the receiver needs into the token.", 0.6,
)  # fmt: skip
CLEAR_TEXT = Rule(
    "javascript-clear-text", "auth", "medium", 319,
    "Cleartext transmission: the connection is not encrypted",
    "Anyone on the way reads and changes the traffic.",
    "Use credentials with TLS.", 0.7,
)  # fmt: skip
TIMING = Rule(
    "javascript-timing", "auth", "low", 208,
    "Timing attack: a secret is compared with user input in non-constant time",
    "The time the answer takes tells how much of a guess was right.",
    "Use crypto.timingSafeEqual.", 0.5,
)  # fmt: skip
REDOS = Rule(
    "javascript-regex-injection", "injection", "medium", 1333,
    "Regex injection: user input becomes a regular expression",
    "A pattern of '(a+)+$' keeps the server busy for hours.",
    "Escape the value, or search for plain text.", 0.7,
)  # fmt: skip
SLOW_REGEX = Rule(
    "javascript-slow-regex", "logic_error", "medium", 1333,
    "ReDoS: a regex with nested repetition is matched against user input",
    "A text that almost matches keeps the server busy for hours.",
    "Write the repetition so that there is one way to match, or limit the length first.", 0.6,
)  # fmt: skip
HELMET = Rule(
    "javascript-helmet-off", "other", "low", 693,
    "Missing security header: a protection of the browser is disabled",
    "What the header would have stopped (framing, sniffing, plain HTTP) works.",
    "Leave it on, or set the header to what the page needs.", 0.6,
)  # fmt: skip
PROTOTYPE = Rule(
    "javascript-prototype", "injection", "medium", 1321,
    "Prototype pollution: an object from user input is merged deeply",
    "An entry called __proto__ changes every object of the program.",
    "Copy the entries you expect, one by one.", 0.5,
)  # fmt: skip
ELECTRON = Rule(
    "javascript-electron", "other", "high", 1188,
    "Insecure Electron window: opened without isolation of its page",
    "Script of any page that is shown reaches files and programs of the visitor.",
    "Leave contextIsolation and webSecurity on and nodeIntegration off.", 0.8,
)  # fmt: skip
DISCLOSURE = Rule(
    "javascript-error-disclosure", "other", "low", 209,
    "Information disclosure: internal errors are shown to the user",
    "Paths, versions and queries in a stack trace help with the next attack.",
    "Log the error and answer with a message of your own.", 0.6,
)  # fmt: skip
MASS = Rule(
    "javascript-mass-assignment", "logic_error", "low", 915,
    "Mass assignment: all fields of the request become fields of a record",
    "An extra field such as 'isAdmin' is stored with the rest.",
    "Name the fields that may be set.", 0.5,
)  # fmt: skip
CONFUSION = Rule(
    "javascript-type-confusion", "logic_error", "medium", 843,
    "Type confusion: a check of a text is asked of a value that may be an array or an object",
    "A query of 'file=../x&file=y' is an array: its includes('..') compares whole entries, and the check passes.",
    "Check that the value is a text first: typeof value === 'string'.", 0.5,
)  # fmt: skip
BOMB = Rule(
    "javascript-decompression-bomb", "other", "medium", 409,
    "Decompression bomb: compressed data is expanded without a size limit",
    "A few kilobytes unpack to gigabytes and fill the memory.",
    "Set maxOutputLength.", 0.5,
)  # fmt: skip
UPLOAD = Rule(
    "javascript-upload", "injection", "medium", 434,
    "Unrestricted upload: files of any type and size are stored",
    "A page or a script is uploaded and then called, or the disk is filled.",
    "Give multer a fileFilter with the kinds that are allowed, and limits.", 0.5,
)  # fmt: skip
TRUST = Rule(
    "javascript-trust-boundary", "auth", "medium", 501,
    "Trust boundary violation: user input is stored in the session unchecked",
    "A value of 'admin' becomes a session entry that only the server should set.",
    "Check the value against what is allowed before it enters the session.", 0.6,
)  # fmt: skip
PERMISSION = Rule(
    "javascript-file-mode", "auth", "medium", 732,
    "Insecure permissions: a file is world-writable",
    "Another user of the machine changes what the program reads later.",
    "Give rights to the owner only: 0o600 or 0o700.", 0.7,
)  # fmt: skip
TEMP_FILE = Rule(
    "javascript-temp-file", "race_condition", "low", 377,
    "Insecure temporary file: fixed name in a world-writable folder",
    "A link of that name, put there first, makes the program write to a file of the attacker's choice.",
    "Make a folder of your own with fs.mkdtemp.", 0.6,
)  # fmt: skip
BIND = Rule(
    "javascript-bind-all", "other", "low", 605,
    "Exposed service: listens on all network interfaces",
    "The service is reachable from networks it was not meant for.",
    "Bind to the address that is needed.", 0.5,
)  # fmt: skip
UNLIMITED = Rule(
    "javascript-unbounded-body", "other", "medium", 770,
    "Denial of service: what a client sends is collected without a limit",
    "A client that never stops sending fills the memory.",
    "Count what came, and end the connection above a limit.", 0.5,
)  # fmt: skip
CLAIM = Rule(
    "javascript-claim-race", "race_condition", "low", 367,
    "TOCTOU race: a file is looked for, and made afterwards",
    "Two callers find no file, and both make it: each believes that it is the only one.",
    "Open it with the flag 'wx', which fails where the file exists.", 0.5,
)  # fmt: skip
