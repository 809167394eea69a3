"""Takes values out of the text of a Go command: as a list of arguments, or as parameters of a constant script."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from moot.scan.bindings import Binding, changes, origins
from moot.scan.calls import read_call
from moot.scan.change import Change, Choices, Rewrite, RewriteRefused, require_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites import drop_unused_fmt
from moot.scan.go.rewrites.answers import cut_line, find_line
from moot.scan.go.rewrites.module import drop_import, is_left_unused
from moot.scan.go.rewrites.types import is_text
from moot.scan.marks import Mark, marks
from moot.scan.rewrites.query import count_uses, require_same_values
from moot.scan.rules.operands import PROGRAMS as PROGRAMS_WITH_OPTIONS
from moot.scan.shell import WORD, Word, check_one_word, words
from moot.scan.strings import Built, StringHole, Text, build
from moot.scan.syntax import Source
from moot.scan.syntax import words as word_set

SHELL = re.compile(r'["`](?:/(?:usr/)?bin/)?(?:ba|da|z|k)?sh["`]')
LISTED = "the program gets a list of arguments and no shell reads it"
OPTION = "the value may be an option of the program"
READ_AGAIN = "the program reads the value as code once more"
BOUND = "the values are parameters of the script, which is constant"
ENDS_OPTIONS = word_set(
    "ping ping6 grep egrep fgrep cat head tail wc sort uniq cut ls cp mv rm mkdir rmdir touch ln chmod chown du df "
    "stat md5sum sha1sum sha256sum diff cmp gzip gunzip bzip2 xz file host whois basename dirname readlink realpath "
    "id traceroute tar curl wget rsync scp sftp"
)
"""Programs for which `--` ends the options."""
GIT_ENDS = word_set("clone fetch pull push ls-remote")
AGAIN = re.compile(
    r"(?:^|\s)(?:eval|exec|ssh|(?:\S*/)?(?:ba|da|z|k)?sh|su|xargs|perl|python\d?|ruby|node|php|psql|mysql|sqlite3|watch|"
    r"parallel)\s"
)
"""Programs that read their arguments as code once more."""
FILTERS = re.compile(r"(?:^|\s)(?:awk|gawk|sed|jq)\s")
"""The same, for an argument that is text around the value."""
NEEDS_MORE = ("`", "$(", "<<", "${")


def list_arguments(source: Source, node: Node) -> Change:
    args, built = _read_script(source, node)
    found = words(source, marks(source, built))
    if any(len(word) > 1 for word in found) and (AGAIN.match(f"{found[0][0]} ") or FILTERS.match(f"{found[0][0]} ")):
        raise RewriteRefused(READ_AGAIN)
    return _replace(source, args, built, ", ".join(_write_word(source, word) for word in found))


def _read_script(source: Source, node: Node) -> tuple[Sequence[Node], Built]:
    call = read_call(source, node)
    args = call.args[1:] if call.name.endswith("CommandContext") else call.args
    shell = len(args) == 3 and SHELL.fullmatch(source.text(args[0]))
    if not shell or source.text(args[1]) not in ('"-c"', "`-c`"):
        raise RewriteRefused("only a shell with -c and one command is rewritten")
    built = build(source, args[2])
    require_same_values(source, built, args[2])
    return args, built


def _replace(source: Source, args: Sequence[Node], built: Built, new: str) -> Change:
    edits = [Edit(args[0].start_byte, args[2].end_byte, new)]
    if built.home is not None and count_uses(source, built.home) == 2:
        edits.append(_cut_home(source, built.home))
    return Change((*edits, *drop_unused_fmt(source, edits)), LISTED)


def _cut_home(source: Source, home: Binding) -> Edit:
    line = find_line(home.node)
    if line.named_child_count > 2:
        raise RewriteRefused("the command is kept in a variable")
    return cut_line(source, line)


def _write_word(source: Source, word: Word) -> str:
    return " + ".join(f'"{part}"' if isinstance(part, str) else _write_value(source, part) for part in word)


def _write_value(source: Source, hole: StringHole) -> str:
    shown = source.text(hole.node)
    if hole.start < 0 or (hole.spec in ("%s", "%v", "%q") and is_text(source, hole.node)):
        return shown
    return f"fmt.Sprint({shown})" if hole.spec in ("%s", "%v", "%d") else f'fmt.Sprintf("{hole.spec}", {shown})'


def choose_arguments(source: Source, node: Node) -> Iterator[Change]:
    """For values that may be options, words that are listed already, and scripts that need a shell."""
    if (joined := _join_listed(source, node)) is not None:
        yield joined
    args, built = _read_script(source, node)
    found = marks(source, built)
    try:
        listed = words(source, found)
    except RewriteRefused:
        yield _bind_values(source, args, built, found)
        return
    first = next((at for at, word in enumerate(listed) if isinstance(word[0], StringHole)), len(listed))
    before, later = [_plain(word) for word in listed[:first]], [_plain(word) for word in listed[first:]]
    if not _ends_options(before) or any(word.startswith("-") for word in later):
        raise RewriteRefused(OPTION)
    shown = [_write_word(source, word) for word in listed]
    yield _replace(source, args, built, ", ".join([*shown[:first], '"--"', *shown[first:]]))


def _plain(word: Word) -> str:
    return word[0] if isinstance(word[0], str) else ""


def _ends_options(before: Sequence[str]) -> bool:
    """Whether the next word is an operand, and `--` may stand before it."""
    known = PROGRAMS_WITH_OPTIONS.get(before[0]) if before else None
    if not before or (before[-1].startswith("-") and (known is None or before[-1] in known.valued)):
        return False  # perhaps the next word is the value of this option
    return before[0] in ENDS_OPTIONS or (before[0] == "git" and before[1:2] != [] and before[1] in GIT_ENDS)


def _join_listed(source: Source, node: Node) -> Change | None:
    """`strings.Join(args, " ")` of words that this function lists: the list itself is what the program gets."""
    call = read_call(source, node)
    args = call.args[1:] if call.name.endswith("CommandContext") else call.args
    made = origins(source, args[2]) if len(args) == 3 and args[2].type == "identifier" else []
    home = made[0] if len(made) == 1 and made[0].kind == "set" and count_uses(source, made[0]) == 2 else None
    text = home.value if home is not None else args[-1] if args else None
    if len(args) != 3 or not SHELL.fullmatch(source.text(args[0])) or text is None or text.type != "call_expression":
        return None
    joined = read_call(source, text)
    if joined.name != "strings.Join" or len(joined.args) != 2 or source.text(joined.args[1]) != '" "':
        return None
    name = joined.args[0]
    bound = origins(source, name) if name.type == "identifier" else []
    scope = source.scope(node)
    if not bound or len(bound) != len(changes(source, scope, source.text(name))):
        return None
    listed = [word for each in bound for word in _list_words(source, each.value, source.text(name))]
    for at, word in enumerate(listed):
        _check_listed(source, word, program=at == 0)
    shown = source.text(name)
    edits = [Edit(args[0].start_byte, args[2].end_byte, f"{source.text(listed[0])}, {shown}[1:]...")]
    edits += [_cut_home(source, home)] if home is not None else []
    unused = drop_import(source, "strings") if is_left_unused(source, "strings", edits) else ()
    return Change((*edits, *unused), LISTED)


def _list_words(source: Source, value: Node | None, name: str) -> list[Node]:
    made = require_node(value, "the words are listed elsewhere")
    if made.type == "composite_literal" and source.text(made).startswith("[]string{"):
        body = require_node(made.child_by_field_name("body"), "the words are listed elsewhere")
        return [child.named_children[0] for child in body.named_children if child.type == "literal_element"]
    call = read_call(source, made) if made.type == "call_expression" else None
    plain = call is not None and call.name == "append" and not any(a.type == "variadic_argument" for a in call.args)
    if call is None or not plain or source.text(call.args[0]) != name:
        raise RewriteRefused("the words are listed elsewhere")
    return list(call.args[1:])


def _check_listed(source: Source, word: Node, *, program: bool) -> None:
    built = build(source, word, 4)
    texts = [source.slice(p.start, p.end) for p in built.pieces if isinstance(p, Text)]
    if any(text and not WORD.fullmatch(text) for text in texts) or (program and (built.holes or not texts)):
        raise RewriteRefused("a word of the command needs a shell")
    if len(built.pieces) == 1 and built.holes:
        check_one_word(source, built.holes[0])


def _bind_values(source: Source, args: Sequence[Node], built: Built, found: Sequence[Mark]) -> Change:
    """`sh -c 'cd "$1" && wc -l < "$2"' sh dir name`"""
    script, holes = _write_script(source, found)
    values = list(dict.fromkeys(_write_value(source, hole) for hole in holes))
    given = "".join(f", {value}" for value in ('"sh"', *values))
    literal = f"`{script}`" if '"' in script or "\n" in script else f'"{script}"'
    if built.home is None or count_uses(source, built.home) > 2:
        edits = [Edit(args[2].start_byte, args[2].end_byte, literal + given)]
    else:
        place = require_node(built.home.value, "the command is made elsewhere")
        edits = [Edit(place.start_byte, place.end_byte, literal), Edit(args[2].end_byte, args[2].end_byte, given)]
    return Change((*edits, *drop_unused_fmt(source, edits)), BOUND)


def _write_script(source: Source, found: Sequence[Mark]) -> tuple[str, list[StringHole]]:
    """The script with a parameter in the place of each value, and the values in their order."""
    script, quote, opened, at = "", "", -1, 0
    holes: list[StringHole] = []
    numbers: dict[str, int] = {}
    while at < len(found):
        mark = found[at]
        if mark.hole is None:
            quote, opened = _read_quote(mark.text, quote, opened, at)
            script += mark.text
            at += 1
            continue
        alone = quote != "" and opened == at - 1 and found[at + 1 : at + 2] and found[at + 1].text == quote
        _check_hole(source, mark.hole, script, quote, alone=bool(alone))
        script = _end_options(script, found[at:], quote, alone=bool(alone))
        value = _write_value(source, mark.hole)
        holes += [] if value in numbers else [mark.hole]
        number = numbers.setdefault(value, len(numbers) + 1)
        if alone:
            script, quote, at = f'{script[:-1]}"${number}"', "", at + 2
        else:
            script += {"": f'"${number}"', '"': f"${{{number}}}", "'": f"'\"${number}\"'"}[quote]
            at += 1
    _check_script(script, quote, numbers)
    return script, holes


def _end_options(script: str, rest: Sequence[Mark], quote: str, *, alone: bool) -> str:
    """The script with `--` before a value that is a word of its own, where that ends the options of the program."""
    before = script[:-1] if alone else script
    segment = re.split(r"[|;&\n()]", before)[-1]
    if (quote and not alone) or not segment.endswith(" ") or re.search(r"[<>]\s*$|\s--\s", segment):
        return script
    later = re.split(r"[|;&\n()]", "".join(mark.text or "x" for mark in rest))[0]
    if _ends_options(segment.split()) and not re.search(r"\s-\S", later):
        return f"{before}-- {script[len(before) :]}"
    if segment.split()[:1] and segment.split()[0] in PROGRAMS_WITH_OPTIONS:
        raise RewriteRefused(OPTION)
    return script


def _read_quote(char: str, quote: str, opened: int, at: int) -> tuple[str, int]:
    if char in ("'", '"') and quote in ("", char):
        return ("", opened) if quote else (char, at)
    return quote, opened


def _check_hole(source: Source, hole: StringHole, before: str, quote: str, *, alone: bool) -> None:
    inside_quote = before.rpartition(quote)[0] if quote else before
    part = re.split(r"[|;&\n()]", inside_quote)[-1].lstrip()
    if re.fullmatch(r"(?:\w+=\S*\s+)*|.*(?:\b(?:then|do|else|if|while)|!)\s*", part):
        raise RewriteRefused("the program itself is not constant")
    if AGAIN.search(f"{part} ") or (FILTERS.search(f"{part} ") and not alone and quote):
        raise RewriteRefused(READ_AGAIN)
    if not quote and hole.spec != "%q":
        check_one_word(source, hole)


def _check_script(script: str, quote: str, numbers: dict[str, int]) -> None:
    bare = re.sub(r"'[^']*'", "", script)
    for number in numbers.values():
        bare = bare.replace(f'"${number}"', "", bare.count(f'"${number}"')).replace(f"${{{number}}}", "")
    if quote or "\ufffd" in script:
        raise RewriteRefused("a quote in the command is not closed")
    if "\\" in bare or re.search(r"\$[\d@*#]", bare) or any(sign in bare for sign in NEEDS_MORE) or "`" in script:
        raise RewriteRefused("the command does more than one can tell from here")


REWRITES: dict[str, Rewrite] = {"go-exec": list_arguments}
CHOICES: dict[str, Choices] = {"go-exec": choose_arguments}
