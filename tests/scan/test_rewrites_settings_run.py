"""Python whose settings were switched is run: what was fine stays fine, what was open is closed."""

import io
import ssl
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from samples import repaired, rules


def mended(before: str, rule: str) -> str:
    assert rule in rules("python", before)
    after, repair = repaired("python", before)
    assert repair.fixed and rule not in rules("python", after), (repair, after)
    return after


def left(before: str, why: str) -> None:
    after, repair = repaired("python", before)
    assert after == before
    assert why in " ".join(repair.left.values()), repair


def recorded(monkeypatch: pytest.MonkeyPatch, name: str, *members: str, **values: Any) -> list[tuple[Any, ...]]:
    """A module of this name whose members write down how they are called."""
    said: list[tuple[Any, ...]] = []
    stub = ModuleType(name)
    for member in members:
        setattr(stub, member, _recorder(said, member))
    stub.__dict__.update(values)
    monkeypatch.setitem(sys.modules, name, stub)
    return said


def _recorder(said: list[tuple[Any, ...]], name: str) -> Any:
    def called(*given: Any, **named: Any) -> "_Client":
        said.append((name, given, named))
        return _Client(said)

    return called


class _Client:
    def __init__(self, said: list[tuple[Any, ...]]) -> None:
        self._said = said

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **named: self._said.append((name, given, named))


def archive(path: Path, *names: str) -> None:
    with tarfile.open(path, "w") as made:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 1
            made.addfile(member, io.BytesIO(b"x"))


def test_an_archive_is_unpacked_into_its_folder_only(tmp_path: Path) -> None:
    before = "import sys\nimport tarfile\ndef unpack(name):\n    tarfile.open(name).extractall('out')\n"
    before += "unpack(sys.argv[1])\n"
    after = mended(before, "python-archive")
    archive(tmp_path / "good.tar", "a.txt", "sub/b.txt")
    archive(tmp_path / "bad.tar", "../owned")
    # Python 3.14 refuses what leads out of the folder by itself.
    for text, survives in ((before, sys.version_info >= (3, 14)), (after, True)):
        (tmp_path / "script.py").write_text(text)
        command = [sys.executable, "-W", "ignore", "script.py"]
        subprocess.run([*command, "good.tar"], check=True, cwd=tmp_path)
        assert (tmp_path / "out" / "sub" / "b.txt").read_text() == "x"
        bad = subprocess.run([*command, "bad.tar"], capture_output=True, cwd=tmp_path)
        assert (bad.returncode != 0) == survives == (not (tmp_path / "owned").exists())
        (tmp_path / "owned").unlink(missing_ok=True)
    left("import tarfile\ndef unpack(name, **how):\n    tarfile.open(name).extractall(**how)\n", "given elsewhere")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("version", ["TLSv1", "TLSv1_1", "SSLv23"])
def test_a_context_speaks_from_tls_1_2_up(version: str) -> None:
    before = f"import ssl\ncontext = ssl.SSLContext(ssl.PROTOCOL_{version})\n"
    space: dict[str, Any] = {}
    exec(mended(before, "python-tls-version"), space)
    assert space["context"].minimum_version == ssl.TLSVersion.TLSv1_2
    assert space["context"].maximum_version == ssl.TLSVersion.MAXIMUM_SUPPORTED
    passed_on = f"import ssl\nserve(ssl.SSLContext(ssl.PROTOCOL_{version}))\n"
    if version == "SSLv23":
        return left(passed_on, "where the context has a name")
    exec(mended(passed_on, "python-tls-version"), {"serve": lambda made: space.update(made=made)})
    assert space["made"].protocol == ssl.PROTOCOL_TLSv1_2


def test_a_checked_certificate_must_be_the_one_of_the_host() -> None:
    before = "import ssl\ndef make():\n    c = ssl.create_default_context()\n    c.check_hostname = False\n"
    before += "    c.verify_mode = ssl.CERT_NONE\n    return c\n"
    space: dict[str, Any] = {}
    exec(mended(before, "python-tls-verify"), space)
    assert space["make"]().check_hostname and space["make"]().verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("call", "kept"),
    [
        ("urllib3.PoolManager(num_pools=2, cert_reqs='CERT_NONE')", {"num_pools": 2, "cert_reqs": "CERT_REQUIRED"}),
        ("urllib3.PoolManager(cert_reqs=ssl.CERT_NONE)", {"cert_reqs": "CERT_REQUIRED"}),
    ],
)
def test_a_pool_checks_certificates(call: str, kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    said = recorded(monkeypatch, "urllib3", "PoolManager")
    exec(mended(f"import ssl\nimport urllib3\n{call}\n", "python-tls-verify"), {})
    assert said == [("PoolManager", (), kept)]


def test_a_connector_checks_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    said = recorded(monkeypatch, "aiohttp", "TCPConnector")
    exec(mended("import aiohttp\naiohttp.TCPConnector(limit=3, ssl=False)\n", "python-tls-verify"), {})
    assert said == [("TCPConnector", (), {"limit": 3})]


def test_an_unknown_host_is_refused_and_a_known_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    before = "import paramiko\nc = paramiko.SSHClient()\nc.load_host_keys('known')\n"
    before += "c.set_missing_host_key_policy(paramiko.AutoAddPolicy())\nc.connect('host')\n"
    said = recorded(monkeypatch, "paramiko", "SSHClient", AutoAddPolicy=lambda: "add", RejectPolicy=lambda: "reject")
    exec(mended(before, "python-ssh-host-key"), {})
    loads: list[Any] = [("load_host_keys", ("known",), {})]
    policy: list[Any] = [("set_missing_host_key_policy", ("reject",), {}), ("connect", ("host",), {})]
    assert said == [("SSHClient", (), {}), *loads, *policy]
    left("from paramiko import AutoAddPolicy\nc.set_missing_host_key_policy(AutoAddPolicy())\n", "not written here")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("algorithms=['HS256'], options={'verify_signature': False, 'verify_aud': False}",
         {"algorithms": ["HS256"], "options": {"verify_signature": True, "verify_aud": False}}),
        ("verify=False, leeway=3", {"leeway": 3, "algorithms": ["HS256", "HS384", "HS512"]}),
        ("algorithms=['none', 'HS256']", {"algorithms": ["HS256"]}),
    ],
)  # fmt: skip
def test_a_token_is_checked_with_the_key_at_hand(
    given: str, kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = recorded(monkeypatch, "jwt", "decode")
    exec(mended(f"import jwt\njwt.decode(t, key, {given})\n", "python-jwt"), {"t": "t", "key": "k"})
    assert said == [("decode", ("t", "k"), kept)]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("t, options={'verify_signature': False}", "the key"),
        ("t, public_key, options={'verify_signature': False}", "which algorithms"),
        ("t, key, algorithms=['none']", "which algorithms"),
    ],
)
def test_a_token_nobody_can_check_is_left(given: str, why: str) -> None:
    left(f"import jwt\njwt.decode({given})\n", why)


def test_keys_are_long_and_templates_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flask", ModuleType("flask"))
    said = recorded(monkeypatch, "jinja2", "Environment", select_autoescape=lambda: "pages")
    exec(mended("import flask\nimport jinja2\njinja2.Environment(loader=None)\n", "python-autoescape"), {})
    assert said == [("Environment", (), {"loader": None, "autoescape": "pages"})]
    keys = recorded(monkeypatch, "Crypto.PublicKey.RSA", "generate")
    monkeypatch.setitem(sys.modules, "Crypto", ModuleType("Crypto"))
    public = SimpleNamespace(RSA=sys.modules["Crypto.PublicKey.RSA"])
    monkeypatch.setitem(sys.modules, "Crypto.PublicKey", public)
    exec(mended("from Crypto.PublicKey import RSA\nRSA.generate(1024)\n", "python-key-size"), {})
    assert keys == [("generate", (2048,), {})]
    left("from Crypto.PublicKey import RSA\nBITS = 1024\nRSA.generate(BITS)\n", "not written here")


@pytest.mark.parametrize("name", ["SESSION_COOKIE_SECURE", "REMEMBER_COOKIE_HTTPONLY"])
def test_cookies_of_the_app_get_their_flags(name: str) -> None:
    app = SimpleNamespace(config={})
    rule = "python-cookie" if "SECURE" in name else "python-cookie-script"
    exec(mended(f"app.config['{name}'] = False\n", rule), {"app": app})
    assert app.config == {name: True}
