"""Conditions of the Go rules about TLS."""

import re

from moot.scan.engine.rulebook import Site
from moot.scan.go.rules.when import is_const, number

WEAK_SUITE = re.compile(r"RC4|3DES|_NULL_|_EXPORT_|MD5|TLS_RSA_WITH|CBC_SHA256?$")


def allows_old_versions(site: Site) -> bool:
    versions = (number(site.arg("MinVersion")), number(site.arg("MaxVersion")))
    return any(version is not None and 0 < version < 0x0303 for version in versions) or is_const(
        site.arg("PreferServerCipherSuites"), False
    )


def allows_weak_suites(site: Site) -> bool:
    suites = site.items(site.arg("CipherSuites")) or []
    return any(WEAK_SUITE.search(suite.name) for suite in suites)


def skips_resumed(site: Site) -> bool:
    """A custom certificate check is skipped when a session is resumed."""
    own = site.arg("VerifyPeerCertificate") is not None and site.arg("VerifyConnection") is None
    return own and not is_const(site.arg("SessionTicketsDisabled"), True) and not _client_only(site)


def _client_only(site: Site) -> bool:
    return site.arg("RootCAs") is not None or site.arg("ServerName") is not None


def is_computed_off(site: Site) -> bool:
    """A literal `true` has its own rule and rewrite."""
    plain = re.search(r"InsecureSkipVerify:\s*true\b", site.text())
    return is_const(site.arg("InsecureSkipVerify"), True) and plain is None
