"""Other shapes of known flaws: modes, tokens, vectors, patterns, expressions of XML, lines of a log."""

import os
import stat
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from samples import repaired

SECRET, OTHER = "a long secret for the tests of tokens", "another long secret for the tests of tokens"


def read(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(text, space)
    return space


@pytest.mark.parametrize(
    "line",
    ["os.chmod(path, 0o644)", "Path(path).chmod(0o755)", "os.chmod(path, stat.S_IRUSR | stat.S_IWUSR | stat.S_IROTH)"],
)
def test_a_secret_is_read_by_its_owner_only(line: str, tmp_path: Path) -> None:
    text = (
        "import os\nimport stat\nfrom pathlib import Path\n\n\ndef save_credentials(path, password):\n"
        f"    Path(path).write_text(password)\n    {line}\n"
    )
    after, repair = repaired("python", text)
    if "stat." not in line:
        assert repair.fixed
    read(after)["save_credentials"](tmp_path / "a", "b")
    mode = stat.S_IMODE(os.stat(tmp_path / "a").st_mode)
    assert mode & 0o600 == 0o600 and (not mode & 0o077 or not repair.fixed)


@pytest.mark.parametrize(
    "line", ["os.chmod(path, 0o640)", "os.chmod(public_key_path, 0o644)", "os.chmod(cert_path, 0o644)"]
)
def test_rights_given_on_purpose_are_left(line: str) -> None:
    text = f"import os\ndef save_password(path, public_key_path, cert_path, password):\n    {line}\n"
    assert repaired("python", text)[0] == text


TOKENS = {
    "a parameter": (
        "def user(token, secret):\n    return jwt.decode(token, options={'verify_signature': False})['sub']\n"
    ),
    "an attribute": (
        "class Tokens:\n    def __init__(self, secret):\n        self.key = secret\n\n    def make(self, name):\n"
        "        return jwt.encode({'sub': name}, self.key, algorithm='HS256')\n\n    def user(self, token):\n"
        "        return jwt.decode(token, options={'verify_signature': False})['sub']\n\n\n"
        "def user(token, word):\n    return Tokens(word).user(token)\n"
    ),
    "a constant": (
        "APP_SECRET = os.environ['APP_SECRET']\n\n\n"
        "def user(token, word):\n    return jwt.decode(token, options={'verify_signature': False})['sub']\n"
    ),
}


@pytest.mark.parametrize("shape", TOKENS)
def test_a_token_is_checked_with_the_key_at_hand(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APP_SECRET", SECRET)
    after, repair = repaired("python", f"import os\n\nimport jwt\n\n\n{TOKENS[shape]}")
    assert repair.fixed
    user = read(after)["user"]
    assert user(jwt.encode({"sub": "ann"}, SECRET, algorithm="HS256"), SECRET) == "ann"
    for token in (
        jwt.encode({"sub": "ann"}, OTHER, algorithm="HS256"),
        jwt.encode({"sub": "ann"}, "", algorithm="none"),
    ):
        with pytest.raises(jwt.PyJWTError):
            user(token, SECRET)


@pytest.mark.parametrize(
    "text",
    [
        "def user(token, public_key):\n    return jwt.decode(token, options={'verify_signature': False})\n",
        "def user(token, key):\n    return jwt.decode(token, options={'verify_signature': False})[key]\n",
        "def user(token, key):\n"
        "    return jwt.decode(token, options={'verify_signature': False, 'verify_exp': False})\n",
        "def user(token, api_key, signing_key):\n    return jwt.decode(token, options={'verify_signature': False})\n",
    ],
)
def test_a_token_is_left_where_the_key_is_not_certain(text: str) -> None:
    assert repaired("python", f"import jwt\n{text}")[0] == f"import jwt\n{text}"


@pytest.mark.parametrize(("nonce", "length"), [('b"\\x00" * 12', 12), ('b"0123456789ab"', 12)])
def test_a_fresh_nonce_is_as_long_as_the_old_one(nonce: str, length: int) -> None:
    text = (
        "from cryptography.hazmat.primitives.ciphers.aead import AESGCM\n\n\n"
        f"def seal(key, data):\n    nonce = {nonce}\n    return nonce + AESGCM(key).encrypt(nonce, data, None)\n\n\n"
        f"def unlock(key, data):\n    return AESGCM(key).decrypt(data[:{length}], data[{length}:], None)\n"
    )
    after, repair = repaired("python", text)
    space, key = read(after), b"k" * 16
    assert repair.fixed and space["unlock"](key, space["seal"](key, b"a")) == b"a"
    assert space["seal"](key, b"a") != space["seal"](key, b"a")


PATTERNS = {
    "beside the split of a text": (
        "import re\nSLUG = re.compile(r'^([a-z]+-?)+$')\n\n\n"
        "def fits(text):\n    return SLUG.match(text) is not None and len(text.split('-')) < 9\n",
        ["a", "ab-c", "a-", "", "-a", "a--b"],
        "a" * 40 + "!",
    ),
    "a full match": (
        "import re\n\n\ndef fits(text):\n    return re.fullmatch(r'(\\w+\\s*,?\\s*)+', text) is not None\n",
        ["a", "a, b", "a ,b,", "a b", ",", "a;b", "", "a ,, b"],
        "a" * 40 + "!",
    ),
}


@pytest.mark.parametrize("shape", PATTERNS)
def test_a_pattern_fits_the_same_and_is_fast(shape: str) -> None:
    text, values, slow = PATTERNS[shape]
    after, repair = repaired("python", text)
    assert repair.fixed
    before, fits = read(text)["fits"], read(after)["fits"]
    assert [fits(value) for value in values] == [before(value) for value in values]
    start = time.process_time()
    assert not fits(slow)
    assert time.process_time() - start < 1


def test_an_expression_in_a_variable_refuses_quotes() -> None:
    text = (
        "import xml.etree.ElementTree as ET\n\n\nclass Users:\n    def __init__(self, text):\n"
        "        self.root = ET.fromstring(text)\n\n    def find(self, name):\n"
        "        path = f\"./u[@name='{name}']/mail\"\n        node = self.root.find(path)\n"
        "        return None if node is None else node.text\n"
    )
    after, repair = repaired("python", text)
    assert repair.fixed
    users = read(after)["Users"]("<r><u name='ann'><mail>a</mail></u><u name='\"b\" c'><mail>b</mail></u></r>")
    assert [users.find("ann"), users.find('"b" c'), users.find("eve")] == ["a", "b", None]
    with pytest.raises(ValueError, match="quote"):
        users.find("x']/../u[@name!='x")


def test_a_line_of_a_log_stays_one_line(tmp_path: Path) -> None:
    text = (
        "def write_audit(path, user, action):\n    with open(path, 'a') as file:\n"
        "        file.write(f'{user} {action}\\n')\n"
    )
    after, repair = repaired("python", text)
    assert repair.fixed
    for action in ("ran", "ran\nroot ran"):
        read(after)["write_audit"](tmp_path / "a", "ann", action)
    assert (tmp_path / "a").read_text(encoding="utf-8").splitlines() == ["ann ran", "ann ran root ran"]


def test_the_body_of_a_mail_keeps_its_lines() -> None:
    text = (
        'def message(sender, subject, body):\n    return f"From: {sender}\\r\\nSubject: {subject}\\r\\n\\r\\n{body}"\n'
    )
    after, repair = repaired("python", text)
    assert repair.fixed
    built = read(after)["message"]("a\r\nBcc: b", "c\nd", "one\ntwo")
    assert built == "From: a  Bcc: b\r\nSubject: c d\r\n\r\none\ntwo"


def test_a_size_by_default_is_large_enough() -> None:
    text = (
        "from cryptography.hazmat.primitives.asymmetric import rsa\n\n\n"
        "def new_key(bits: int = 1024):\n    return rsa.generate_private_key(public_exponent=65537, key_size=bits)\n"
    )
    after, repair = repaired("python", text)
    assert repair.fixed and "bits: int = 2048" in after
