"""One table of what a secret looks like: whoever looks for secrets uses it, and nobody has a pattern of their own."""

import ast
import re
from pathlib import Path

import pytest

import moot
from moot.core.secret_patterns import FORMS, UNGUESSABLE
from moot.core.types import Language
from moot.edge.models.faults import quote_server
from moot.routing.secrets import secret_sights
from moot.scan import syntax
from moot.scan.rules.secrets import find_hardcoded
from moot.text.secrets import Vault

ROOT = Path(moot.__file__).parent
A36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HEX = "0123456789abcdef" * 3
SAMPLES = {
    "PRIVATE_KEY": f"-----BEGIN EC PRIVATE KEY-----\\n{A36}\\n-----END EC PRIVATE KEY-----",
    "ANTHROPIC_KEY": f"sk-ant-{A36}",
    "OPENAI_KEY": f"sk-proj-{A36}",
    "AWS_KEY": "ASIA" + "2ABCDEFGHIJKLMNO",
    "GITHUB_TOKEN": f"ghs_{A36}",
    "GITLAB_TOKEN": "glpat-" + A36[:20],
    "SLACK_TOKEN": "xoxb-" + A36,
    "SLACK_WEBHOOK": f"https://hooks.slack.com/services/{A36}",
    "GOOGLE_KEY": "AIza" + A36[:35],
    "GOOGLE_TOKEN": f"ya29.{A36}",
    "STRIPE_KEY": "rk_live_" + A36[:24],
    "HUGGINGFACE_TOKEN": f"hf_{A36}",
    "NPM_TOKEN": f"npm_{A36}",
    "PYPI_TOKEN": f"pypi-{A36}{A36}",
    "SENDGRID_KEY": f"SG.{A36[:22]}.{A36}",
    "DIGITALOCEAN_TOKEN": f"dop_v1_{HEX}",
    "VAULT_TOKEN": f"hvs.{A36}",
    "SHOPIFY_TOKEN": f"shpat_{HEX[:32]}",
    "TELEGRAM_TOKEN": f"123456789:AA{A36}",
    "GROQ_KEY": f"gsk_{A36}{A36}",
    "DATABRICKS_TOKEN": f"dapi{HEX[:32]}",
    "AGE_KEY": "AGE-SECRET-KEY-1" + "Q2W3E4R5" * 6,
    "JWT": f"eyJ{A36}.eyJ{A36}.{A36}",
}
SOURCES: dict[Language, str] = {
    "python": 'call("{}")\n',
    "javascript": 'call("{}");\n',
    "typescript": 'call("{}");\n',
    "go": 'package p\n\nfunc f() {{ call("{}") }}\n',
}
OWN_PATTERN = re.compile(
    r"AKIA|gh\[pous|xox\[|AIza|PRIVATE KEY-----|_\?key\|(?:secret|token|passw)|"
    r"(?i:(?:secret|token|passw\w*)\|\w*(?:token|secret|passw|api_?\??key))"
)


@pytest.mark.parametrize("kind", FORMS)
def test_a_form_is_known_to_all(kind: str) -> None:
    secret = SAMPLES[kind]
    assert re.search(rf"REDACTED_{kind}_[0-9a-f]{{6}}", Vault({}).hide(f"call {secret}"))
    for language, source in SOURCES.items():
        text = source.format(secret)
        assert list(find_hardcoded(syntax.parse("x", language, text))), language
        assert not list(find_hardcoded(syntax.parse("x", language, source.format("a plain text")))), language
    shown = quote_server(f"wrong key {secret}", "")
    assert "[key]" in shown and A36[:16] not in shown and HEX[:16] not in shown


def test_a_name_that_only_begins_like_a_key_is_not_reported() -> None:
    source = syntax.parse("x.js", "javascript", 'show("sk-fading-circle-of-dots-and-more");\n')
    assert not list(find_hardcoded(source))


def test_a_pattern_for_secrets_is_none() -> None:
    """Found by Moot in Moot."""
    pattern = r"(?:(?:[a-z0-9]*?_)*(?:db|user|root|admin)?(?:pass(?:code)?|pwd|pw)|[a-z0-9_]*(?:password|passphrase))"
    assert not list(find_hardcoded(syntax.parse("x.py", "python", f'NAMED_PASSWORD = r"{pattern}"\n')))


@pytest.mark.parametrize("name", ["DB_PASS", "SMTP_PW", "AWS_CREDS", "GITHUB_TOKEN", "API_KEY", "DEPLOY_PAT", "X_PWD"])
def test_a_variable_that_is_printed_is_grave(name: str) -> None:
    assert [sight.level for sight in secret_sights("echo", [], [name])] == ["high"]


@pytest.mark.parametrize("name", ["PASS", "KEY", "PWD", "OLDPWD", "TESTS_PASSED", "COMPASS", "PATH"])
def test_a_variable_of_another_kind_is_not(name: str) -> None:
    assert not secret_sights("echo", [], [name])


@pytest.mark.parametrize("language", UNGUESSABLE)
def test_each_language_knows_what_nobody_may_guess(language: str) -> None:
    pattern = re.compile(UNGUESSABLE[language])
    assert all(map(pattern.search, ("reset_token", "user_password", "nonce", "csrfValue", "apiKey")))
    assert not any(map(pattern.search, ("color", "delay", "monkey", "index")))


def test_nobody_has_a_pattern_of_their_own() -> None:
    """Those that are named here look for something else."""
    others = {
        "scan/python/rewrites/guard.py",  # parameters that are texts
        "scan/rules/timing.py",  # what a request brings
    }
    found = set()
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        if any(OWN_PATTERN.search(text) for text in texts if "\n" not in text):
            found.add(str(path.relative_to(ROOT)))
    assert found - others == {"core/secret_patterns.py"}
