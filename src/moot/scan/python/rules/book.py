"""The syntax rules of Python, joined."""

from moot.scan.python.rules import flaws as flaw
from moot.scan.python.rules import patterns as known
from moot.scan.python.rules.claims import find_accesses, find_claims
from moot.scan.python.rules.exposure import find_shown_errors
from moot.scan.python.rules.limits import find_asserted, find_unlimited
from moot.scan.python.rules.prefixes import find_loose_prefixes
from moot.scan.python.rules.settings import find_settings
from moot.scan.rules import threads
from moot.scan.rules.book import Book
from moot.scan.rules.hosts import find_weak_host_checks, make_host_rule
from moot.scan.rules.roles import find_client_roles, make_role_rule
from moot.scan.rules.secrets import find_hardcoded, secret_rule
from moot.scan.rules.threads import python_threads
from moot.scan.rules.timing import find_compared, make_timing_rule
from moot.scan.rules.unsigned import find_unsigned, make_unsigned_rule

BOOK = Book(
    known.CALL_RULES,
    (
        known.find_swallowed,
        python_threads,
        find_hardcoded,
        find_compared,
        find_settings,
        find_weak_host_checks,
        find_shown_errors,
        find_claims,
        find_accesses,
        find_loose_prefixes,
        find_unlimited,
        find_asserted,
        find_client_roles,
        find_unsigned,
    ),
    (
        known.SWALLOWED,
        threads.RACE,
        secret_rule("python"),
        make_timing_rule("python"),
        make_host_rule("python"),
        make_unsigned_rule("python"),
        flaw.CSRF,
        flaw.EXPOSED,
        flaw.HOSTS,
        flaw.CLAIM,
        flaw.PREFIX,
        flaw.UNLIMITED,
        flaw.ASSERTED,
        make_role_rule("python"),
    ),
)
