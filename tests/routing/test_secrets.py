"""Secrets are seen by whatever name they are read: a path, a pattern, a folder, a search."""
# ruff: noqa: E501 - tables: one row a line

import pytest

from moot.routing.command import command_route
from moot.routing.secrets import is_secret


@pytest.mark.parametrize(
    "path",
    [".env", ".env.local", ".en*", ".en[v]", ".e??", "~/.ssh/id_rsa", "~/.ssh/*", "~/.ssh/id_*", "~/.local/share/moot/server-token", "~/.ssh", "~/.aws/", "/home/me/.aws/*",
     "*.pem", "deploy/key.pem", "/etc/shad*", "id_*", "--include=*.pem", "~/Library/Keychains/login.keychain-db"],
)  # fmt: skip
def test_names_and_patterns_of_secrets(path: str) -> None:
    assert is_secret(path)


@pytest.mark.parametrize(
    "path", [".env.example", "*", "*.md", "src/*", "~/.ssh/config", "~/.ssh/known_hosts", ".eslintrc*", "[a-z]*.py", ".git", "env*", "id*.txt", "*.json", "config/*.json", "?.txt"]
)  # fmt: skip
def test_other_names_and_patterns(path: str) -> None:
    assert not is_secret(path)


@pytest.mark.parametrize(
    "command",
    ["grep -r . ~/.aws", "cat .en*", "rg -uu SECRET ~/.ssh", "grep -rn KEY --include='*.pem' /", "tar czf - ~/.ssh", "find . -name '*.env' -exec cat {} +",
     "find ~ -name id_rsa | xargs cat", "rg KEY -g '*.pem'", "f=$HOME/.ssh/id_rsa; cat $f"],
)  # fmt: skip
def test_reading_secrets_is_high(command: str) -> None:
    seen = command_route(command)
    assert seen.stakes == "high" and seen.security, seen


@pytest.mark.parametrize(
    "command",
    ["ls -la ~/.ssh", "find . -name '*.env'", "find . -name '*.md' | xargs cat", "grep -r x --exclude='.env' .", "mkdir -p ~/.ssh", "rg x -g '*.ts'"],
)  # fmt: skip
def test_looking_for_them_is_not(command: str) -> None:
    assert command_route(command).stakes == "low"
