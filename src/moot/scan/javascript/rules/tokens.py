"""JavaScript rules for tokens that nobody verifies, and for ciphers and hashes of libraries."""

import re

from moot.scan.engine.rulebook import Sink, Site
from moot.scan.javascript.rules import flaws as flaw
from moot.scan.javascript.rules import patterns as known
from moot.scan.javascript.rules.strength import ANY_CALLER, sink
from moot.scan.rules.when import PRESCRIBED, finds, is_about_password

VERIFIES = (
    "verify(", "jwt.verify", "jwtVerify", "JWKS", "JWKSet", "createVerify", "verifier", "Verifier", "verifyToken",
    "verifyIdToken", "verifyAccess", "verifyAuth", "verifyJwt", "verifyJWT", "VerifyToken", "verifySignature",
)  # fmt: skip
"""Words of what verifies a token; others verify the address of a mail."""
VERIFIED = re.compile(r"(?i)verif|jwtVerify|jwtDecrypt|createRemoteJWKSet")
SERVED = re.compile(r"(?i)headers|cookies|authorization|\bctx\b|getRequest|middleware|canActivate")
JWT_OBJECT = re.compile(r"(?i)jwt|token")
DIGESTS = " ".join(
    f"{owner}.{name}" for owner in ("crypto-js", "CryptoJS") for name in ("MD5", "SHA1", "HmacMD5", "RIPEMD160")
)
PLAIN_DIGESTS = (
    f"{DIGESTS} crypto-js/md5 crypto-js/sha1 blueimp-md5 md5 js-md5 js-sha1 sha1 ts-md5.Md5.hashStr "
    "node-forge.md.md5.create"
)
FAST_DIGESTS = f"{PLAIN_DIGESTS} crypto-js.SHA256 crypto-js.SHA512 CryptoJS.SHA256 CryptoJS.SHA512"
OLD_CIPHERS = " ".join(
    f"{owner}.{name}.{verb}"
    for owner in ("crypto-js", "CryptoJS")
    for name in ("DES", "TripleDES", "RC4", "RC4Drop", "Rabbit")
    for verb in ("encrypt", "decrypt")
)


def _never_verified(site: Site) -> bool:
    """Nothing in the file verifies a signature."""
    return not any(site.contains(word) for word in VERIFIES)


def _is_jwt_service(site: Site) -> bool:
    """`this.jwt.decode(token)` of Nest"""
    named = JWT_OBJECT.search(site.name.rpartition(".")[0]) is not None
    return site.module("@nestjs/jwt") and named and not finds(VERIFIED, site.around())


def _is_trusted_here(site: Site) -> bool:
    """A page may look into its own token; a server decides by it."""
    return finds(SERVED, site.around()) and _never_verified(site)


def _is_ecb(site: Site) -> bool:
    mode = site.setting(site.arg(2), "mode")
    return mode is not None and mode.name.endswith("mode.ECB")


def _hashes_password(site: Site) -> bool:
    return is_about_password(f"{site.words()} {site.line()}")


def _is_plain_digest(site: Site) -> bool:
    return not _hashes_password(site) and not finds(PRESCRIBED, site.around() or site.line())


def _makes_functions(site: Site) -> bool:
    """`yaml.DEFAULT_FULL_SCHEMA` has a type for functions, whose text runs."""
    schema = site.setting(site.arg(1), "schema")
    return schema is not None and schema.name.endswith(("DEFAULT_FULL_SCHEMA", "js-yaml-js-types.all"))


SINKS: tuple[Sink, ...] = (
    sink(flaw.JWT, "jwt", "jsonwebtoken.decode jose.decodeJwt jose.JWT.decode jose.UnsecuredJWT.decode",
         when=_never_verified),
    sink(flaw.JWT, "jwt", "jwt-decode jwt-decode.jwtDecode jwt-decode.default", when=_is_trusted_here),
    sink(flaw.JWT, "jwt", ".decode", when=_is_jwt_service),
    sink(known.PASSWORD_HASH, "hash", FAST_DIGESTS, when=_hashes_password),
    sink(known.HASH, "hash", PLAIN_DIGESTS, when=_is_plain_digest),
    sink(known.CIPHER, "cipher", OLD_CIPHERS),
    sink(known.CIPHER, "cipher", "crypto-js.AES.encrypt CryptoJS.AES.encrypt", when=_is_ecb),
    sink(known.DESERIALISE, "deserialise", "js-yaml.load js-yaml.loadAll", 0, when=_makes_functions, floor=ANY_CALLER),
)  # fmt: skip
