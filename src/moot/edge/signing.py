"""The user's signing key for archives, and trusted keys of others."""

import base64
import binascii
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from moot.core.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KIND = "moot-ed25519"
OTHERS = 0o077


@dataclass(frozen=True)
class Key:
    public: bytes
    _private: "Ed25519PrivateKey"

    def sign(self, data: bytes) -> bytes:
        return self._private.sign(data)


def key_file() -> Path:
    return Path(platformdirs.user_data_dir("moot", appauthor=False)) / "signing.key"


def own_key() -> Key:
    """Created on first use, readable only by the user."""
    _require_library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    path = key_file()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(path, Ed25519PrivateKey.generate().private_bytes_raw())
    if os.name == "posix" and path.stat().st_mode & OTHERS:
        raise UsageError(f"{path} can be read by others; run chmod 600 on it, or delete it for a new key")
    try:
        private = Ed25519PrivateKey.from_private_bytes(path.read_bytes())
    except ValueError:
        raise UsageError(f"{path} contains no key; delete it for a new one") from None
    return Key(private.public_key().public_bytes_raw(), private)


def _write(path: Path, data: bytes) -> None:
    """Atomic; of two concurrent writers the first wins."""
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink()


def verify(public: bytes, data: bytes, signature: bytes) -> bool:
    _require_library()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def format_public_key(public: bytes) -> str:
    """One line, to give to others."""
    return f"{KIND} {base64.b64encode(public).decode()}"


def fingerprint(public: bytes) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(public).digest()).decode().rstrip("=")


def read_keys(path: Path) -> list[bytes]:
    """One public key per line; `#` begins a comment."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {str(path)!r}: {error}") from None
    keys = []
    for line in (line.split("#")[0].strip() for line in lines):
        kind, _, text = line.partition(" ")
        if line:
            try:
                keys.append(base64.b64decode(text.strip(), validate=True))
            except binascii.Error:
                keys.append(b"")
            if kind != KIND or len(keys[-1]) != 32:
                raise UsageError(f"{str(path)!r} has a line that is not a public key as printed by `moot key show`")
    if not keys:
        raise UsageError(f"{str(path)!r} contains no public key")
    return keys


def _require_library() -> None:
    try:
        import cryptography  # noqa: F401
    except ModuleNotFoundError:
        raise UsageError("signed archives need the package cryptography; pip install 'moot[signing]'") from None
