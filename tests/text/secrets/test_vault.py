"""What is hidden does not hang on how it is looked for."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.secret_patterns import FORMS
from moot.text.secrets import Vault

WHOLE = re.compile("|".join(f"(?P<{name}>{pattern})" for name, (_, pattern) in FORMS.items()))
SECRETS = st.one_of(*(st.from_regex(pattern) for _, pattern in FORMS.values()))
TEXT = st.text(alphabet="aZ09 _-.\nskghpeyJ", max_size=30)


def whole(found: list[re.Match[str]]) -> set[str]:
    """The secrets themselves: a part of one that stands elsewhere is masked too."""
    return {match[0] for match in found}


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=25)
@given(data=st.data())
def test_every_secret_has_one_of_its_signs(name: str, data: st.DataObject) -> None:
    signs, pattern = FORMS[name]
    secret = data.draw(st.from_regex(pattern))
    assert any(sign in secret for sign in signs)


@given(st.lists(TEXT | SECRETS, max_size=4).map("".join))
def test_all_kinds_are_looked_for_at_once_and_the_first_one_wins(text: str) -> None:
    vault = Vault({})
    hidden = vault.hide(text)
    found = list(WHOLE.finditer(text))
    masks = [m for m in re.finditer(r"REDACTED_([A-Z_]+)_[0-9a-f]{6}", hidden) if vault.reveal(m[0]) in whole(found)]
    assert {m.lastgroup for m in found} == {mask[1] for mask in masks}
    assert not found or hidden != text
    assert vault.reveal(hidden) == text


def test_secrets_of_the_environment_are_hidden_the_longest_first() -> None:
    vault = Vault({"MY_TOKEN": "abcdefgh12345678", "OTHER_SECRET": "abcdefgh12345678-and-more", "HOME": "abcdefgh"})
    hidden = vault.hide("abcdefgh12345678-and-more abcdefgh12345678 abcdefgh")
    assert re.fullmatch(r"REDACTED_OTHER_SECRET_\w{6} REDACTED_MY_TOKEN_\w{6} abcdefgh", hidden)


def test_half_a_character_within_a_key_is_hidden_with_it() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nabc \ud83d and more\n-----END PRIVATE KEY-----"
    vault = Vault({})
    assert "abc" not in vault.hide(key) and vault.reveal(vault.hide(key)) == key
