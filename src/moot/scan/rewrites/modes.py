"""Which rights a file or folder keeps when everybody may write to it."""

import re

from tree_sitter import Node

from moot.scan.change import RewriteRefused
from moot.scan.syntax import Source

SHARED = re.compile(r"(?i)sock|fifo|pipe|public|shared|www|static|lock|device|tmp|temp_?dir")
"""Others are meant to use these, so only their owner knows who."""
PRIVATE = re.compile(
    r"(?i)secret|priv|key|token|passw|pwd|cred|sensitive|confidential|user|account|owner|personal|session|backup|"
    r"config|cert|vault|wallet|auth"
)
OTHERS, EXECUTED = 0o077, 0o100


def pick_mode(source: Source, node: Node, mode: int, *, folder: bool = False) -> int:
    """Only the owner's rights if names say that the content is private; else others may read and not write."""
    around = source.text(source.scope(node).node)
    if SHARED.search(source.text(node)):
        raise RewriteRefused("the name says that others use the file as well")
    if PRIVATE.search(around):
        return mode & ~OTHERS
    if folder:
        return 0o750
    return 0o755 if mode & EXECUTED else 0o644 if mode & 0o022 else 0o600
