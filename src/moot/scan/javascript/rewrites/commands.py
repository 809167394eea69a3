"""Commands of JavaScript that a shell reads: to a program with a list of arguments, else with quoted values."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, read_call
from moot.scan.change import Change, Choices, Rewrite, RewriteRefused, replace_node
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.command_lists import (
    DID,
    PLAIN,
    UNFOLLOWED,
    find_home,
    read_words,
    run_by_helper,
    run_file,
    run_guarded_file,
    same_for_both,
    write_argument,
)
from moot.scan.javascript.rewrites.functions import (
    list_bindings,
)
from moot.scan.javascript.rewrites.module import function
from moot.scan.marks import list_marks
from moot.scan.shell import check_one_word
from moot.scan.strings import build, constant_text, unwrap
from moot.scan.syntax import Source

SPAWNS = {f"child_process.{name}" for name in ("spawn", "spawnSync", "execFile", "execFileSync")}
SHELL = re.compile(r"(?:/bin/|/usr/bin/)?(?:ba|da|z)?sh")
POSIX = re.compile(
    r"/dev/null|(?:^|[|;&(]\s*)(?:cat|cp|mv|rm|ls|grep|egrep|sed|awk|head|tail|wc|sort|uniq|cut|tr|xargs|du|df|ps|ln|touch|"
    r"chmod|chown|gzip|gunzip|zcat|tar|zip|unzip|sha\d+sum|md5sum|stat|tee|kill|which|file|diff|mkdir|test|sudo|openssl|"
    r"sh|bash|dig|nslookup|traceroute|sendmail|systemctl|journalctl|iptables|pg_dump|mysqldump)\s"
)
"""A command of POSIX systems, whose shell knows single quotes."""
QUOTER = """const shellQuote = ({value}) => `'${{String(value).replace(/'/g, "'\\\\''")}}'`;
"""
BLANK = (" ", "\t")


def list_arguments(source: Source, node: Node) -> Iterator[Change]:
    """The command as a list of arguments; where only a shell can run it, with quoted values."""
    yield from _try_each(source, node, run_file, run_guarded_file, run_by_helper, quote_values)


def _try_each(source: Source, node: Node, *ways: Rewrite) -> Iterator[Change]:
    """The changes of all ways that are not refused; then the first refusal is raised."""
    refusal: RewriteRefused | None = None
    for way in ways:
        try:
            yield way(source, node)
        except RewriteRefused as why:
            refusal = refusal or why
    if refusal is not None:
        raise refusal


def quote_values(source: Source, node: Node) -> Change:
    """Each value is one word, whatever characters it has."""
    call = read_call(source, node)
    if not call.args:
        raise RewriteRefused("the command is not here")
    if call.name in SPAWNS and not _reads_shell(source, call):
        raise RewriteRefused("the arguments are given in another way")
    if call.name in PLAIN and not all(same_for_both(source, unwrap(other)) for other in call.args[1:]):
        raise RewriteRefused("the call has options of its own")
    arg = _find_script(source, call)
    texts = _list_texts(source, arg)
    literal = "".join(build(source, text, UNFOLLOWED).literal(source) for text in texts)
    if not POSIX.search(literal):
        raise RewriteRefused("nothing says that the shell is one that knows single quotes")
    edits: list[Edit] = []
    quote = ""
    for text in texts:
        made, quote = _quote_text(source, text, quote)
        edits += made
    if quote or not edits:
        raise RewriteRefused("a quote in the command is not closed")
    value = "value: unknown" if source.language == "typescript" else "value"
    added = function(source, "shellQuote", QUOTER.format(value=value))
    return Change((*edits, *added), "each value is quoted for the shell, which takes it as one word")


def _list_texts(source: Source, arg: Node) -> list[Node]:
    """The expressions that a command is made of, in their order."""
    inner = unwrap(arg)
    if inner.type != "identifier":
        return [inner]
    bound = list_bindings(source, inner)
    if not bound or any(b.kind not in ("set", "add") or b.value is None for b in bound):
        raise RewriteRefused("the command is given by others")
    return [unwrap(b.value) for b in bound if b.value is not None]


def _quote_text(source: Source, text: Node, quote: str) -> tuple[list[Edit], str]:
    edits: list[Edit] = []
    found = list(list_marks(source, build(source, text, UNFOLLOWED)))
    for at, mark in enumerate(found):
        if mark.hole is None:
            if mark.text in ("'", '"') and quote in ("", mark.text):
                quote = "" if quote else mark.text
            elif mark.text == "\\" or (mark.text == "\ufffd"):
                raise RewriteRefused(f"{mark.text!r} needs a shell")
            continue
        if _is_fixed(source, mark.hole.node):
            continue
        whole = f"shellQuote({source.text(mark.hole.node)})"
        before, after = found[at - 1] if at else None, found[at + 1] if at + 1 < len(found) else None
        edits.append(replace_node(mark.hole.node, whole))
        if not quote:
            if (before is None or before.text in BLANK) and (after is None or after.text in BLANK):
                check_one_word(source, mark.hole)
        elif before is not None and after is not None and before.text == after.text == quote:
            edits += [Edit(before.start, before.end, ""), Edit(after.start, after.end, "")]
        else:
            raise RewriteRefused("the value is only a part of a quoted text")
    return edits, quote


def _is_fixed(source: Source, value: Node) -> bool:
    """A choice between constant texts."""
    value = unwrap(value)
    if value.type == "ternary_expression":
        return all(constant_text(source, branch) is not None for branch in value.named_children[1:])
    found = origins(source, value) if value.type == "identifier" else []
    texts = [b.value for b in found if b.kind in ("set", "add") and b.value is not None]
    return len(texts) == len(found) > 0 and all(constant_text(source, t) is not None or _is_choice(t) for t in texts)


def _is_choice(value: Node) -> bool:
    return unwrap(value).type == "ternary_expression" and all(
        n.type == "string" for n in unwrap(value).named_children[1:]
    )


def leave_shell(source: Source, node: Node) -> Iterator[Change]:
    """`spawn("sh", ["-c", command])` and `spawn(command, { shell: true })`"""
    yield from _try_each(source, node, _run_script, quote_values)


def _reads_shell(source: Source, call: SourceCall) -> bool:
    return _find_script(source, call) != call.args[0] or any(_find_flag(source, arg) for arg in call.args[1:])


def _find_script(source: Source, call: SourceCall) -> Node:
    """What the shell reads: the command, or what follows `-c`."""
    program = constant_text(source, call.args[0])
    given = unwrap(call.args[1]) if len(call.args) > 1 else None
    if program is None or not SHELL.fullmatch(program) or given is None or given.type != "array":
        return call.args[0]
    parts = [part for part in given.named_children if part.type != "comment"]
    if len(parts) != 2 or constant_text(source, parts[0]) != "-c":
        raise RewriteRefused("the arguments are given in another way")
    return parts[1]


def _find_flag(source: Source, arg: Node) -> Node | None:
    """The pair `shell: true`."""
    options = unwrap(arg)
    for pair in options.named_children if options.type == "object" else ():
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None and source.text(key) == "shell" and source.text(value) == "true":
            return value
    return None


def _run_script(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.name not in SPAWNS or not call.args:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    script = _find_script(source, call)
    if find_home(source, script) is not None:
        raise RewriteRefused("the command is kept in a variable")
    program, *rest = (write_argument(source, word) for word in read_words(source, unwrap(script)))
    listed = f"[{', '.join(rest)}]"
    flags = [flag for arg in call.args[1:] if (flag := _find_flag(source, arg)) is not None]
    if script != call.args[0]:
        if flags:
            raise RewriteRefused("the shell is named, or the program is one itself")
        return Change((replace_node(call.args[0], program), replace_node(call.args[1], listed)), f"the program {DID}")
    if len(flags) != 1 or (len(call.args) > 1 and unwrap(call.args[1]).type == "array"):
        raise RewriteRefused("the program is one that a shell has to find")
    edits = (replace_node(script, f"{program}, {listed}"), replace_node(flags[0], "false"))
    return Change(edits, f"the program {DID}")


CHOICES: dict[str, Choices] = {"javascript-exec": list_arguments, "javascript-program": leave_shell}
