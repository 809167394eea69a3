"""Go imports: local names, new imports, and removal with the last use."""

from collections.abc import Sequence

from tree_sitter import Node

from moot.scan.calls import imports
from moot.scan.change import RewriteRefused, require_node
from moot.scan.edits import Edit
from moot.scan.syntax import Source, inside


def package(source: Source, path: str) -> tuple[str, tuple[Edit, ...]]:
    """The local name of a package, with the edit that imports it if needed."""
    for alias, real in imports(source).items():
        if real == path:
            return alias, ()
    name = path.rpartition("/")[2]
    if name in imports(source) or name in names(source):
        raise RewriteRefused(f"{name!r} means something else here")
    return name, (add_import(source, path),)


def swap_import(source: Source, old: str, new: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Import edits for `edits` that replace uses of package `old` by `new`."""
    alias = next((alias for alias, real in imports(source).items() if real == old), "")
    name, more = package(source, new)
    if name != new.rpartition("/")[2]:
        raise RewriteRefused(f"{new} has another name here")
    if not is_left_unused(source, alias, edits):
        return more
    if not more:
        return drop_import(source, old)
    spec = _spec(source, old)
    return (Edit(spec.start_byte, spec.end_byte, f'"{new}"'),)


def is_left_unused(source: Source, alias: str, edits: Sequence[Edit]) -> bool:
    """Go rejects unused imports."""
    uses = [n for n in source.nodes("selector_expression", "qualified_type") if source.text(n).startswith(f"{alias}.")]
    gone = [n for n in uses if any(e.start <= n.start_byte and n.end_byte <= e.end for e in edits)]
    return bool(gone) and len(gone) == len(uses) and not any(f"{alias}." in edit.new for edit in edits)


def drop_import(source: Source, path: str) -> tuple[Edit, ...]:
    spec = _spec(source, path)
    whole = spec.parent if spec.parent is not None and spec.parent.type == "import_declaration" else spec
    start = source.data.rfind(b"\n", 0, whole.start_byte) + 1
    end = source.data.find(b"\n", whole.end_byte) + 1
    if source.slice(start, end).strip() != source.text(whole):
        raise RewriteRefused(f"the import of {path} would be left unused")
    return (Edit(start, end),)


def add_import(source: Source, path: str) -> Edit:
    for block in source.nodes("import_spec_list"):
        specs = [child for child in block.named_children if child.type == "import_spec"]
        for spec in specs:
            if source.text(spec).strip('"') > path:
                return Edit(spec.start_byte, spec.start_byte, f'"{path}"\n\t')
        if specs:
            return Edit(specs[-1].end_byte, specs[-1].end_byte, f'\n\t"{path}"')
    for declaration in source.nodes("import_declaration"):
        return Edit(declaration.end_byte, declaration.end_byte, f'\nimport "{path}"')
    clause = require_node(next(source.nodes("package_clause"), None), "the file has no package clause")
    return Edit(clause.end_byte, clause.end_byte, f'\n\nimport "{path}"')


def names(source: Source) -> frozenset[str]:
    """Every name used in the file; a fresh name must differ."""
    kinds = ("identifier", "package_identifier")
    return frozenset(source.text(n) for n in inside(source.root, 200_000) if n.type in kinds)


def _spec(source: Source, path: str) -> Node:
    for spec in source.nodes("import_spec"):
        if source.text(spec) == f'"{path}"':
            return spec
    raise RewriteRefused(f"the import of {path} has a name of its own")
