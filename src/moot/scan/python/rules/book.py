"""The syntax rules of Python, joined."""

from moot.scan.python.rules import flaws as flaw
from moot.scan.python.rules import patterns as known
from moot.scan.python.rules.exposure import find_shown_errors
from moot.scan.python.rules.settings import find_settings
from moot.scan.rules import threads
from moot.scan.rules.book import Book
from moot.scan.rules.hosts import find_weak_host_checks, make_host_rule
from moot.scan.rules.secrets import find_hardcoded, secret_rule
from moot.scan.rules.threads import python_threads
from moot.scan.rules.timing import find_compared, make_timing_rule

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
    ),
    (
        known.SWALLOWED,
        threads.RACE,
        secret_rule("python"),
        make_timing_rule("python"),
        make_host_rule("python"),
        flaw.CSRF,
        flaw.EXPOSED,
        flaw.HOSTS,
    ),
)
