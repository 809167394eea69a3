"""The state of lowering one JavaScript or TypeScript file: text, depth, gaps."""

import re
from collections.abc import Callable

from tree_sitter import Node

from moot.scan.engine.bounds import TreeReader, span
from moot.scan.engine.ir import Block, Expr, Import, Name, Span, Stmt
from moot.scan.javascript.literals import unescape_text
from moot.scan.syntax import words

SKIPPED = frozenset(
    {"comment", "html_comment", "hash_bang_line", "type_arguments", "type_annotation", "accessibility_modifier"}
)
GIVEN = words(
    "process console __dirname __filename document window Buffer JSON Math Object Array String Number Boolean Date "
    "Promise Symbol Map Set WeakMap WeakSet RegExp Error TypeError RangeError SyntaxError globalThis global module "
    "exports require navigator location history localStorage sessionStorage fetch setTimeout setInterval setImmediate "
    "clearTimeout clearInterval URL URLSearchParams TextEncoder TextDecoder Intl Reflect Proxy BigInt "
    "performance alert "
    "prompt confirm $ jQuery _ angular Vue React import.meta encodeURIComponent decodeURIComponent encodeURI decodeURI "
    "escape unescape parseInt parseFloat isNaN isFinite eval Function atob btoa structuredClone queueMicrotask Blob "
    "FormData Headers Request Response AbortController WebSocket XMLHttpRequest DOMParser Infinity NaN crypto "
    "DOMPurify "
    "arguments"
)
LIST_NAMES = re.compile(rb"(?<![\w$])([\w$]{1,80})\s{0,20}[=:]\s*(?:\[|new Array\b|Array\b)")
SET_ON_REQUEST = re.compile(rb"\breq\.(\w+)\s*(?:[+|?&]{1,2})?=(?![=>])")


class JavaScriptReader(TreeReader):
    """`exprs_by_kind` and `blocks_by_kind` are the front end's tables. They are passed in because functions contain
    statements and statements contain functions."""

    def __init__(
        self,
        path: str,
        data: bytes,
        exprs_by_kind: "dict[str, Callable[[JavaScriptReader, Node], Expr]]",
        block: "Callable[[JavaScriptReader, Node | None], Block]",
    ) -> None:
        super().__init__(path, data, exprs_by_kind, SKIPPED)
        self.modules: dict[str, Import] = {}
        self.before: list[Stmt] = []
        """Statements to run before the current one."""
        self.set_on_request = frozenset(found.decode() for found in SET_ON_REQUEST.findall(data))
        self.lists = frozenset(found.decode("utf-8", "replace") for found in LIST_NAMES.findall(data))
        self.exports: dict[Span, Node] = {}
        """The `export` node around a declaration, by the declaration's span."""
        self._targets: set[Span] = set()
        self._block = block

    def word(self, node: Node | None) -> str:
        """An identifier, with Unicode escapes decoded."""
        text = self.text(node)
        return unescape_text(text) if "\\" in text else text

    def within_bounds(self, node: Node, statements: list[Node]) -> list[Node]:
        """Cuts the statements to what the file's limit still allows."""
        kept = statements[: self.most_statements - self.statements]
        self.statements += len(kept)
        if len(kept) < len(statements):
            self.gap(node, f"more than {self.most_statements} statements: the rest was not analysed")
        return kept

    def target(self, node: Node | None) -> Expr:
        """An assignment target. Recorded on the way down, because finding a node's parent is a search from the root."""
        if node is not None:
            self._targets.add(span(node))
        return self.expr(node)

    def is_target(self, node: Node) -> bool:
        return span(node) in self._targets

    def block(self, node: Node | None) -> Block:
        return self._block(self, node)

    def declare_global(self, at: Span, name: str) -> None:
        """A built-in name."""
        self.modules.setdefault(name, Import(at, name, name, name))

    def name_origin(self, at: Span, origin: str) -> Expr:
        """A generated name for a module or function without a local name (`require("x").y()`)."""
        local = f"require {origin}"
        self.modules.setdefault(local, Import(at, local, origin, origin))
        return Name(at, local)


CALLBACK = "callback "


def list_named_nodes(node: Node | None) -> list[Node]:
    return [child for child in node.named_children if child.type not in SKIPPED] if node is not None else []


def first(node: Node | None) -> Node | None:
    if node is None:
        return None
    return next((child for child in node.named_children if child.type not in SKIPPED), None)


def operator(node: Node) -> str:
    found = node.child_by_field_name("operator")
    return found.type if found is not None else ""
