"""The syntax rules of Python, joined."""

from moot.scan.python.rules import flaws as flaw
from moot.scan.python.rules import patterns as known
from moot.scan.python.rules.settings import find_settings
from moot.scan.rules import threads
from moot.scan.rules.access import access_rule, find_unguarded_views
from moot.scan.rules.book import Book
from moot.scan.rules.secrets import find_hardcoded, secret_rule
from moot.scan.rules.threads import python_threads
from moot.scan.rules.timing import find_compared, make_timing_rule

BOOK = Book(
    known.CALL_RULES,
    (known.find_swallowed, python_threads, find_hardcoded, find_unguarded_views, find_compared, find_settings),
    (
        known.SWALLOWED,
        threads.PYTHON,
        secret_rule("python"),
        access_rule("python"),
        make_timing_rule("python"),
        flaw.CSRF,
        flaw.HOSTS,
    ),
)
