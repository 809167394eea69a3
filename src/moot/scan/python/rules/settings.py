"""Settings of web frameworks: assignments and decorators that switch a protection off."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from moot.scan.python.rules import flaws as flaw
from moot.scan.python.rules import patterns as known
from moot.scan.rule import Rule, RuleMatch
from moot.scan.syntax import Source


class FrameworkSetting(NamedTuple):
    rule: Rule
    name: str
    value: str
    """A pattern of the text that is assigned."""


SETTINGS = (
    FrameworkSetting(known.DEBUG, "DEBUG", r"True$"),
    FrameworkSetting(flaw.COOKIE, "SESSION_COOKIE_SECURE", r"False$"),
    FrameworkSetting(flaw.COOKIE, "CSRF_COOKIE_SECURE", r"False$"),
    FrameworkSetting(flaw.COOKIE_SCRIPT, "SESSION_COOKIE_HTTPONLY", r"False$"),
    FrameworkSetting(flaw.HOSTS, "ALLOWED_HOSTS", r"""[\[(]\s*['"]\*['"]"""),
    FrameworkSetting(flaw.CORS, "CORS_ALLOW_ALL_ORIGINS", r"True$"),
    FrameworkSetting(flaw.CORS, "CORS_ORIGIN_ALLOW_ALL", r"True$"),
    FrameworkSetting(flaw.CSRF, "WTF_CSRF_ENABLED", r"False$"),
    FrameworkSetting(flaw.CSRF, "WTF_CSRF_CHECK_DEFAULT", r"False$"),
)
BY_NAME = {setting.name: setting for setting in SETTINGS}
ABOUT_FRAMEWORK = re.compile(rb"INSTALLED_APPS|MIDDLEWARE|ROOT_URLCONF|SECRET_KEY|SQLALCHEMY_DATABASE_URI|WTF_CSRF")
EXEMPT = re.compile(r"@(?:\w+\.)*(?:csrf_exempt|csrf\.exempt)\b|csrf_exempt")


def find_settings(source: Source) -> Iterator[RuleMatch]:
    if ABOUT_FRAMEWORK.search(source.data):
        yield from _find_assigned(source)
    if b"csrf_exempt" in source.data or b"csrf.exempt" in source.data:
        for decorator in source.nodes("decorator"):
            if EXEMPT.search(source.text(decorator)):
                yield RuleMatch(flaw.CSRF, decorator)


def _find_assigned(source: Source) -> Iterator[RuleMatch]:
    for node in source.nodes("assignment"):
        name, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if name is None or value is None or value.end_byte - value.start_byte > 400:
            continue
        setting = BY_NAME.get(source.text(name)) if name.type == "identifier" else None
        if setting is not None and re.match(setting.value, source.text(value)):
            yield RuleMatch(setting.rule, node)
