"""Flaws of the Python dataflow rules that `patterns.py` does not define."""

from moot.scan.rule import Rule

NOSQL = Rule(
    "python-nosql", "injection", "high", 943,
    "NoSQL injection: user input becomes part of a query object or its code",
    "A value of {'$ne': null} matches every document.",
    "Turn the value into plain text or a number before it enters the query, and never use $where.", 0.7,
)  # fmt: skip
ARGUMENT = Rule(
    "python-argument", "injection", "medium", 88,
    "Argument injection: user input stands where a program reads its options",
    "A value of '--upload-pack=…' is read as an option of the program, which runs what it names.",
    "Check that the value does not begin with a hyphen, and put '--' before it.", 0.6,
)  # fmt: skip
PROGRAM = Rule(
    "python-program", "injection", "critical", 78,
    "Command injection: user input controls the program that is run, or its script",
    "A value that names another program, or text after 'sh -c', runs any command.",
    "Keep the program constant and pass outside data as separate arguments.", 0.8,
)  # fmt: skip
HEADER = Rule(
    "python-header", "injection", "medium", 113,
    "Header injection: user input is put into a response header unescaped",
    "A value of 'x\\r\\nSet-Cookie: session=1' adds a header, or a second answer.",
    "Remove line breaks, or choose the value from a list of your own.", 0.6,
)  # fmt: skip
LOG = Rule(
    "python-log", "injection", "low", 117,
    "Log injection: user input is written to the log unescaped",
    "A value of 'x\\nadmin logged in' writes a log line of the attacker's own.",
    "Replace line breaks, or log repr() of the value.", 0.6,
)  # fmt: skip
LDAP = Rule(
    "python-ldap", "injection", "high", 90,
    "LDAP injection: filter built from user input",
    "A value of '*)(uid=*' matches every entry.",
    "Escape the value with ldap3.utils.conv.escape_filter_chars.", 0.8,
)  # fmt: skip
XPATH = Rule(
    "python-xpath", "injection", "high", 643,
    "XPath injection: expression built from user input",
    "A value of \"' or '1'='1\" selects every node.",
    "Pass the value as a variable, as in lxml's tree.xpath('//user[@id=$id]', id=value), or refuse quotes in it.", 0.8,
)  # fmt: skip
XXE_FLOW = Rule(
    "python-xxe", "injection", "high", 611,
    "XXE: untrusted XML is parsed with external entities enabled",
    "A document with <!ENTITY x SYSTEM 'file:///etc/passwd'> reads the file.",
    "Use resolve_entities=False and no_network=True, leave external entities off, or use defusedxml.", 0.8,
)  # fmt: skip
DESERIALISE = Rule(
    "python-deserialise", "injection", "high", 502,
    "Unsafe deserialization: user input is deserialized by a format that can run code",
    "The data asks for os.system, and it is called while loading.",
    "Use json or another format that holds only data, or check a signature first.", 0.8,
)  # fmt: skip
COOKIE = Rule(
    "python-cookie", "auth", "medium", 614,
    "Insecure cookie: set without Secure",
    "Whoever listens on the network reads the cookie.",
    "Set secure=True (and httponly=True, samesite='Lax').", 0.7,
)  # fmt: skip
COOKIE_SCRIPT = Rule(
    "python-cookie-script", "auth", "low", 1004,
    "Insecure cookie: set without HttpOnly",
    "One flaw in the page's scripts is enough to take the session.",
    "Set httponly=True.", 0.6,
)  # fmt: skip
TRUST = Rule(
    "python-trust-boundary", "auth", "medium", 501,
    "Trust boundary violation: user input is stored in the session unchecked",
    "A value of 'admin' becomes a session entry that only the server should set.",
    "Check the value against what is allowed before it enters the session.", 0.7,
)  # fmt: skip
REDOS = Rule(
    "python-regex-injection", "injection", "medium", 730,
    "Regex injection: user input becomes a regular expression",
    "A pattern of '(a+)+$' keeps the server busy for hours.",
    "Use re.escape on the value.", 0.7,
)  # fmt: skip
SLOW_REGEX = Rule(
    "python-slow-regex", "other", "medium", 1333,
    "ReDoS: a regex with nested repetition is matched against user input",
    "A long, nearly matching text keeps the server busy for hours.",
    "Write the expression without nested repetition, and limit the length of the text.", 0.6,
)  # fmt: skip
JWT = Rule(
    "python-jwt", "auth", "high", 347,
    "JWT not verified: the token is decoded without checking its signature",
    "Anyone writes a token with any content.",
    "Verify the signature with a fixed list of algorithms.", 0.85,
)  # fmt: skip
UPLOAD = Rule(
    "python-upload", "injection", "high", 434,
    "Unrestricted upload: the user chooses the name or type of the stored file",
    "A file called 'shell.php' or 'page.html' is uploaded and then called.",
    "Check the extension against a list and choose the stored name yourself.", 0.6,
)  # fmt: skip
PERMISSION = Rule(
    "python-file-mode", "auth", "medium", 732,
    "Insecure permissions: a file is world-writable or world-readable",
    "Another user of the machine reads or changes it.",
    "Give rights to the owner only: 0o600 or 0o700.", 0.7,
)  # fmt: skip
KEY_SIZE = Rule(
    "python-key-size", "auth", "medium", 326,
    "Weak key: the key is short enough to be broken today",
    "The private key is computed from the public one.",
    "Use RSA and DSA keys of at least 2048 bits and curves of at least 224.", 0.8,
)  # fmt: skip
TLS_VERSION = Rule(
    "python-tls-version", "auth", "high", 327,
    "Outdated TLS: a broken version of TLS or SSL is chosen",
    "Somebody on the way decrypts the traffic.",
    "Use ssl.create_default_context() or ssl.PROTOCOL_TLS_CLIENT.", 0.8,
)  # fmt: skip
HOST_KEY = Rule(
    "python-ssh-host-key", "auth", "high", 295,
    "SSH host key not verified: any server is accepted",
    "Anyone on the way answers in the server's place.",
    "Load the known host keys and use RejectPolicy.", 0.8,
)  # fmt: skip
EXTRACT = Rule(
    "python-archive", "injection", "high", 22,
    "Zip slip: an untrusted archive is extracted without checking its paths",
    "An entry named '../../etc/cron.d/x' is written outside the folder.",
    "Use filter='data' (tarfile), or check each name before it is unpacked.", 0.6,
)  # fmt: skip
STATIC_IV = Rule(
    "python-static-iv", "auth", "medium", 329,
    "Static IV: the initialization vector or nonce is constant",
    "Equal beginnings of messages show, and with GCM the key stream is lost.",
    "Use a fresh random one for each message (secrets.token_bytes).", 0.7,
)  # fmt: skip
STATIC_SALT = Rule(
    "python-static-salt", "auth", "medium", 760,
    "Static salt: the salt of a password hash is constant",
    "One table of guesses serves for all passwords.",
    "Use a random salt for each password (secrets.token_bytes(16)).", 0.7,
)  # fmt: skip
CLEAR_TEXT = Rule(
    "python-clear-text", "auth", "medium", 319,
    "Cleartext transmission: credentials are sent over FTP, telnet, plain SMTP or LDAP",
    "Whoever listens on the network reads the password.",
    "Use the TLS form of the protocol.", 0.6,
)  # fmt: skip
XML_BOMB = Rule(
    "python-xml-bomb", "other", "medium", 776,
    "XML bomb: untrusted XML is parsed with unlimited entity expansion",
    "A document of nested entities fills the memory.",
    "Use defusedxml.", 0.6,
)  # fmt: skip
EMPTY_PASSWORD = Rule(
    "python-empty-password", "auth", "low", 521,
    "Empty password: a connection is made without a password",
    "Whoever reaches the server is let in.",
    "Set a password, and read it from the environment or a secret store.", 0.7,
)  # fmt: skip
BOMB = Rule(
    "python-decompression-bomb", "other", "medium", 409,
    "Decompression bomb: compressed data is expanded without a size limit",
    "A few kilobytes unpack to gigabytes and fill the memory.",
    "Use zlib.decompressobj().decompress(data, limit), or sum up file_size before an archive is unpacked.", 0.5,
)  # fmt: skip
EXPOSED = Rule(
    "python-error-shown", "other", "low", 209,
    "Information disclosure: the text of an error is sent to the user",
    "Paths, queries and versions in it help the next attack.",
    "Log the error and answer with a plain message.", 0.5,
)  # fmt: skip
BIND = Rule(
    "python-bind-all", "other", "low", 605,
    "Exposed service: listens on all network interfaces",
    "The service is reachable from networks it was not meant for.",
    "Bind to the address that is needed.", 0.5,
)  # fmt: skip
KEY = Rule(
    "python-written-key", "auth", "high", 798,
    "Hardcoded key: a signing or encryption key is in the source",
    "Whoever sees the source signs tokens and sessions of their own.",
    "Read it from the environment or a secret store, and change the one that was exposed.", 0.8,
)  # fmt: skip
MASS = Rule(
    "python-mass-assignment", "logic_error", "low", 915,
    "Mass assignment: all fields of the request become fields of a record",
    "An extra field such as 'is_admin' is stored with the rest.",
    "Name the fields that may be set.", 0.5,
)  # fmt: skip
TEMP_FILE = Rule(
    "python-temp-file", "race_condition", "low", 377,
    "Insecure temporary file: fixed name in a world-writable folder",
    "A link of that name, put there first, makes the program write to a file of the attacker's choice.",
    "Use tempfile.NamedTemporaryFile or tempfile.mkdtemp.", 0.6,
)  # fmt: skip
LOGIN = Rule(
    "python-easy-login", "auth", "medium", 798,
    "Hardcoded credentials: the user and password of a connection are in the source",
    "A password of 'password' or 'changeme' is the first that is tried.",
    "Read both from the environment or a secret store.", 0.6,
)  # fmt: skip
CSRF = Rule(
    "python-csrf", "auth", "medium", 352,
    "CSRF: the framework's protection against forged requests is off",
    "Another site sends a form in the visitor's name, and the browser adds the cookies.",
    "Leave the protection on; let an interface without cookies check a token of its own.", 0.5,
)  # fmt: skip
CORS = Rule(
    "python-cors", "auth", "medium", 942,
    "CORS misconfiguration: every site may send requests with the visitor's cookies",
    "A page of the attacker reads what only the visitor may see.",
    "Name the sites that may ask, or do not allow credentials.", 0.7,
)  # fmt: skip
LOGGED_SECRET = Rule(
    "python-logged-secret", "auth", "medium", 532,
    "Secret in the log: a password or key is written to the log",
    "Whoever reads the log, or a copy of it, can log in.",
    "Leave the secret out of the message.", 0.5,
)  # fmt: skip
FEW_ROUNDS = Rule(
    "python-few-rounds", "auth", "medium", 916,
    "Weak password hash: too few rounds",
    "A leaked table of hashes is reversed with a word list.",
    "Use at least 600,000 rounds of PBKDF2, a cost of 12 for bcrypt, or n=2**14 for scrypt.", 0.7,
)  # fmt: skip
COOKIE_SITE = Rule(
    "python-cookie-site", "auth", "low", 1275,
    "Insecure cookie: sent with requests from other sites (SameSite=None)",
    "A form on another site is sent with the visitor's session.",
    "Set samesite='Lax' or 'Strict'.", 0.5,
)  # fmt: skip
HOSTS = Rule(
    "python-allowed-hosts", "other", "low", 644,
    "Host header accepted: the site answers for every host name",
    "A request with another Host header gets links to the attacker's site, as in a mail to reset a password.",
    "Name the hosts of the site.", 0.5,
)  # fmt: skip
CLAIM = Rule(
    "python-claim-race", "race_condition", "low", 367,
    "TOCTOU race: a file is looked for, and made or opened afterwards",
    "Between the two somebody else makes the file, or puts a link in its place.",
    "Open it at once, with mode 'x' if it must be new, and handle the error.", 0.5,
)  # fmt: skip
PADDING = Rule(
    "python-rsa-padding", "auth", "medium", 780,
    "Weak padding: RSA encryption with PKCS #1 v1.5",
    "Who can tell whether a padding was right decrypts a message step by step.",
    "Use OAEP.", 0.7,
)  # fmt: skip
PREFIX = Rule(
    "python-path-prefix", "injection", "medium", 22,
    "Path traversal: a path is compared with the beginning of its folder, without the separator behind it",
    "'/data/files-of-others/a' begins with '/data/files' too.",
    "Compare with os.path.join(folder, ''), or use os.path.commonpath or Path.is_relative_to.", 0.7,
)  # fmt: skip
READABLE = Rule(
    "python-private-mode", "auth", "medium", 732,
    "Insecure permissions: a key or a secret is stored where others may read it",
    "Every user of the machine reads the key.",
    "Use 0o600: rights for the owner only.", 0.6,
)  # fmt: skip
UNLIMITED = Rule(
    "python-unbounded-body", "other", "low", 770,
    "Denial of service: what a client sends is collected without a limit",
    "A client that never stops sending fills the memory.",
    "Count what came, and end the connection above a limit.", 0.5,
)  # fmt: skip
ASSERTED = Rule(
    "python-assert-check", "auth", "medium", 617,
    "Check left out: whether somebody may do this is asked in an assert statement",
    "Python started with -O leaves assert statements out: everybody may do it.",
    "Raise an exception, such as PermissionError.", 0.6,
)  # fmt: skip
