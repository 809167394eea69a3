"""Which rights a file keeps when others may write to it."""

import re

from tree_sitter import Node

from moot.core.secret_patterns import PRIVATE_CONTENT, SPOKEN
from moot.scan.change import RewriteRefused
from moot.scan.rewrites.reasons import REASONS
from moot.scan.syntax import Source

SHARED = re.compile(r"(?i)sock|fifo|pipe|public|shared|www|static|lock|device|tmp|temp_?dir")
"""Others are meant to use these, so only their owner knows who."""
HOLDER = re.compile(r"(?i)\b\w*(?:config|settings|options)\w*\.|\bauthors?\b|\b(?:user|account|owner)_?(?:id|name)\w*")
"""Words that say where an option is kept, not what a file holds."""
PRIVATE = re.compile(PRIVATE_CONTENT)
SAID = re.compile(rf"(?i)\b(?:{SPOKEN})\b")
OTHERS = 0o077


def keep_to_owner(source: Source, node: Node, mode: int, comment: str = "") -> int:
    """The owner's part of the mode, if names say that the content is private. Else nobody here knows who must get at
    it."""
    scope = source.scope(node)
    around = HOLDER.sub("", " ".join((source.text(node), scope.name, *sorted(scope.parameters))))
    if SHARED.search(source.text(node)) or not (PRIVATE.search(around) or SAID.search(comment)):
        raise RewriteRefused(REASONS["file-mode"])
    return mode & ~OTHERS
