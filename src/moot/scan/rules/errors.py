"""Ignored errors of Go calls."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from tree_sitter import Node

from moot.scan.calls import SourceCall, read_call
from moot.scan.rule import Rule, RuleMatch
from moot.scan.rules.error_reasons import (
    drops_no_error,
    fails_anyway,
    hands_on,
    is_constant,
    is_documented,
    is_explained,
    tells_by_value,
    tells_by_zero,
)
from moot.scan.syntax import Landmarks, Source, inside, nth, words

DISCARDED = Rule(
    "go-discarded-error", "logic_error", "low", 252,
    "Ignored error: the error of this call is discarded",
    "When the call fails the program goes on with an empty value as if it had worked.",
    "Check the error and return, log or handle it.", 0.7,
)  # fmt: skip

ERROR_ONLY = words(
    "os.Remove os.RemoveAll os.Rename os.Mkdir os.MkdirAll os.Chmod os.Chown os.Chdir os.Setenv os.WriteFile "
    "os.Truncate io/ioutil.WriteFile encoding/json.Unmarshal encoding/xml.Unmarshal net/http.ListenAndServe "
    "net/http.ListenAndServeTLS encoding/binary.Read encoding/binary.Write os.Symlink os.Link os.Chtimes os.Lchown "
    "syscall.Setuid syscall.Setgid syscall.Setgroups syscall.Setreuid syscall.Setregid syscall.Setresuid "
    "syscall.Setresgid syscall.Chroot syscall.Setrlimit syscall.Mount syscall.Chmod syscall.Chown syscall.Mlock "
    "golang.org/x/sys/unix.Setuid golang.org/x/sys/unix.Setgid golang.org/x/sys/unix.Chroot "
    "golang.org/x/sys/unix.Mlock"
)
VALUE_AND_ERROR = words(
    "strconv.Atoi strconv.ParseInt strconv.ParseUint strconv.ParseFloat strconv.ParseBool strconv.Unquote os.Open "
    "os.Create os.OpenFile os.ReadFile os.ReadDir os.Stat os.Lstat os.Getwd os.Hostname os.MkdirTemp os.CreateTemp "
    "os.Executable os.UserHomeDir io.ReadAll io.Copy io/ioutil.ReadAll io/ioutil.ReadFile io/ioutil.ReadDir "
    "io/ioutil.TempFile encoding/json.Marshal encoding/json.MarshalIndent encoding/xml.Marshal net/http.Get "
    "net/http.Post net/http.NewRequest net/http.PostForm net/url.Parse net/url.ParseQuery net/url.QueryUnescape "
    "time.Parse time.ParseDuration time.LoadLocation database/sql.Open encoding/hex.DecodeString regexp.Compile "
    "net.Dial net.Listen net.ParseCIDR html/template.ParseFiles text/template.ParseFiles crypto/rand.Read "
    "crypto/rand.Int os/exec.LookPath path/filepath.Abs path/filepath.Glob path/filepath.Rel os/user.Current "
    "crypto/x509.ParseCertificate crypto/tls.LoadX509KeyPair io.ReadFull io.ReadAtLeast"
)
"""Standard library functions, by number of results."""
ERROR_METHODS = words(
    "Exec ExecContext Query QueryContext Begin BeginTx Prepare LastInsertId RowsAffected Output CombinedOutput "
    "DecodeString ReadAll MarshalJSON ParseForm Rollback Commit Scan Decode Encode Ping Unmarshal Marshal "
    "ReadString ReadBytes"
)
FILLING = words(
    "io.ReadFull io.ReadAtLeast crypto/ecdsa.VerifyASN1 crypto/ecdsa.Verify crypto/ed25519.Verify crypto/hmac.Equal "
    "crypto/subtle.ConstantTimeCompare crypto/rsa.VerifyPKCS1v15 crypto/rsa.VerifyPSS "
    "golang.org/x/crypto/bcrypt.CompareHashAndPassword"
)
"""What is not filled stays zero, and what is not verified is accepted."""
SERVING = words("ListenAndServe ListenAndServeTLS")
"""Methods of servers, whose only result is an error."""
EFFECT = re.compile(
    r"(?i)(?:parse|open|read|load|fetch|decode|unmarshal|query|dial|send|write|save|delete|remove|update|insert|execute|encode|run|start|serve|set|put|post|publish|"
    r"register|store|"
    r"validate|verify|walk|migrate|create|connect|listen|authenticate|authorize|login|transfer|pay)"
)
HARMLESS = re.compile(
    r"^fmt\.(?:Print|Fprint|Sscan|Scan)|\.(?:Close|Flush|Sync|WriteString|WriteByte|WriteRune|Rollback|Shutdown|"
    r"Kill|Stop|Lock|Unlock|RLock|RUnlock|Wait)$"
)
SUMS = re.compile(r"&?(?:h|hash|hasher|mac|buf\w*|b|sum)$")
"""Writers that never fail."""
DATABASES = re.compile(rb'"(?:database/sql|github\.com/jmoiron/sqlx|github\.com/jackc/pgx[\w/]*)"')
NOT_ERRORS = re.compile(
    r"^(?:unicode/utf16\.|os\.LookupEnv|strings\.Cut|runtime\.Caller|context\.With|math\.|utf8\.|unicode/utf8\.|bytes\.Cut|"
    r"mime\.|net/http\.NewServeMux|encoding/pem\.Decode|runtime\.|"
    r"append|copy|len|cap|make|new|min|max|recover|string|int|float64|time\.Now|reflect\.|bits\.|math/bits\.|"
    r"slices\.|maps\.|path\.Split|path/filepath\.Split)|"
    r"\.(?:Load|LoadOrStore|LoadAndDelete|Get|Lookup|Cut|Deadline|Value|BasicAuth|Next|Peek|Contains|Has|Ok|"
    r"Info|Len|Swap|Add|Loaded|FromContext|Size|Zone)$"
)


PLAIN_TYPES = words("string bool int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 byte rune")


@dataclass(frozen=True, eq=False)
class Discard:
    """A statement that drops an error. `names` are its targets, the last one `_`; empty for a bare call."""

    node: Node
    call: SourceCall
    names: tuple[str, ...]
    certain: bool
    """Whether the dropped value is certainly an error, not another second result."""


def find_discarded(source: Source) -> Iterator[RuleMatch]:
    yield from (RuleMatch(DISCARDED, discard.node) for discard in discards(source))
    yield from find_overwritten(source)


def discards(source: Source) -> Iterator[Discard]:
    for node in source.nodes("short_var_declaration", "assignment_statement"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and right.named_child_count == 1:
            yield from _find_assigned(source, node, left, right)
    for node in source.nodes("expression_statement"):
        inner = nth(node, 0)
        if inner is not None and inner.type == "call_expression":
            call = read_call(source, inner)
            if _gives_error(source, call) and not HARMLESS.search(call.name) and not _is_sum(source, call):
                yield Discard(node, call, (), True)


def _gives_error(source: Source, call: SourceCall) -> bool:
    """Its only result is an error: `tx.Commit()` too, but not the chained one of gorm."""
    changes = call.method in ("Commit", "Exec", "ExecContext") and _has_database(source)
    filled = call.name in FILLING
    return changes or filled or call.method in SERVING or results(source, call) == ("error",)


def _has_database(source: Source) -> bool:
    if "database" not in source.memo:
        source.memo["database"] = DATABASES.search(source.data) is not None and b"gorm" not in source.data
    return bool(source.memo["database"])


def find_overwritten(source: Source) -> Iterator[RuleMatch]:
    """`a, err := f()` and then `b, err := g()`: nobody looked at the first error."""
    for node in source.nodes("short_var_declaration", "assignment_statement"):
        after = node.next_named_sibling
        if after is None or after.type not in ("short_var_declaration", "assignment_statement"):
            continue
        if _list_targets(source, node)[-1:] == ["err"] == _list_targets(source, after)[-1:] and _is_call(node):
            right = after.child_by_field_name("right")
            if right is not None and _is_call(after) and not re.search(r"\berr\b", source.text(right)):
                yield RuleMatch(DISCARDED, node)


def _list_targets(source: Source, node: Node) -> list[str]:
    left = node.child_by_field_name("left")
    return [source.text(target) for target in left.named_children] if left is not None else []


def _is_call(node: Node) -> bool:
    right = node.child_by_field_name("right")
    first = nth(right, 0) if right is not None and right.named_child_count == 1 else None
    return first is not None and first.type == "call_expression"


def _is_certain(source: Source, call: SourceCall) -> bool:
    """`json.Marshal` of a map of strings: only channels, functions, cycles and odd numbers cannot be written."""
    if call.name not in ("encoding/json.Marshal", "encoding/json.MarshalIndent") or not call.args:
        return False
    kind = _find_type(source, call.args[0])
    return kind is not None and b"MarshalJSON" not in source.data and _is_plain_type(source, kind, 0)


def _find_type(source: Source, value: Node) -> Node | None:
    """The written type of a literal, a parameter or a variable of the function."""
    if value.type == "unary_expression" and value.named_child_count == 1:
        value = value.named_children[0]
    if value.type != "identifier":
        return value.child_by_field_name("type") if value.type == "composite_literal" else None
    name = source.text(value)
    for node in inside(source.scope(value).node):
        if node.type in ("parameter_declaration", "var_spec"):
            names = [source.text(named) for named in node.children_by_field_name("name")]
            if name in names:
                return node.child_by_field_name("type")
        elif node.type == "short_var_declaration" and node.start_byte < value.start_byte:
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            made = nth(right, 0) if right is not None and right.named_child_count == 1 else None
            if left is not None and source.text(left) == name and made is not None and made.type != "identifier":
                return _find_type(source, made)
    return None


def _is_plain_type(source: Source, kind: Node, depth: int) -> bool:
    if depth > 6:
        return False
    held = [kind.child_by_field_name(name) for name in ("key", "value", "element")]
    match kind.type:
        case "type_identifier":
            name = source.text(kind)
            return name in PLAIN_TYPES or any(
                _is_plain_type(source, made, depth + 1) for made in _list_named_types(source, name)
            )
        case "map_type" | "slice_type" | "array_type":
            return all(_is_plain_type(source, part, depth + 1) for part in held if part is not None)
        case "struct_type":
            fields = [part.child_by_field_name("type") for part in inside(kind) if part.type == "field_declaration"]
            return all(part is not None and _is_plain_type(source, part, depth + 1) for part in fields)
    return False


def _list_named_types(source: Source, name: str) -> Iterator[Node]:
    for node in source.nodes("type_spec"):
        named, made = node.child_by_field_name("name"), node.child_by_field_name("type")
        if named is not None and made is not None and source.text(named) == name:
            yield made


def _is_sum(source: Source, call: SourceCall) -> bool:
    return call.name == "encoding/binary.Write" and bool(call.args) and bool(SUMS.match(source.text(call.args[0])))


def _find_assigned(source: Source, node: Node, left: Node, right: Node) -> Iterator[Discard]:
    inner = nth(right, 0)
    targets = left.named_children
    if inner is None or inner.type != "call_expression" or len(targets) > 6 or source.text(targets[-1]) != "_":
        return
    call = read_call(source, inner)
    if HARMLESS.search(call.name) or NOT_ERRORS.search(call.name):
        return
    names = tuple(source.text(target) for target in targets)
    if is_explained(source, node) or is_documented(source, call) or _is_certain(source, call):
        return
    if fails_anyway(source, node) or tells_by_zero(source, node, call, names[0]):
        return
    known = results(source, call)
    if known is None and drops_no_error(source, call):
        return
    if (known == ("error",) and hands_on(source, call)) or (known is not None and tells_by_value(source, call)):
        return
    if known is not None:
        if known[-1:] == ("error",) and len(known) == len(names):
            yield Discard(node, call, names, True)
        return
    named = set(names) != {"_"} and len(names) > 1 and EFFECT.match(call.method) and "." in call.name
    asked = call.method in ("Do", "Get", "Post", "Head") and re.match(r"res|rsp|r$", names[0]) is not None
    expected = call.method in ERROR_METHODS or named or asked
    callee = inner.child_by_field_name("function")
    if expected and callee is not None and callee.type in ("identifier", "selector_expression"):
        yield Discard(node, call, names, call.method in ERROR_METHODS and "." in call.name)


def results(source: Source, call: SourceCall) -> tuple[str, ...] | None:
    """The result types of a call, if the file or the standard library tells."""
    if call.name == "os.Setenv" and call.args and is_constant(source, call.args[0]):
        return None  # only an odd name is refused
    if call.name in ERROR_ONLY:
        return ("error",)
    if call.name in VALUE_AND_ERROR:
        return ("?", "error")
    if call.name.count(".") > 1:
        return None  # `r.mu.Lock()` is not a method of `r`
    if "." not in call.name:
        return _local_results(source).get(call.name)
    made = _find_made_type(source, call)
    return (
        None
        if made and made not in _list_owners(source, call.method)
        else _local_results(source).get("." + call.method)
    )


def _find_made_type(source: Source, call: SourceCall) -> str:
    """`Tx` for `t.init()` where `t := &Tx{}` or a parameter `t *Tx` stands above; "" if nothing tells."""
    if "made" not in source.memo:
        source.memo["made"] = _list_made_types(source)
    made = cast(dict[tuple[int, str], Landmarks[str]], source.memo["made"])
    scope = source.scope(call.node).node.start_byte
    known = made.get((scope, call.name.rpartition(".")[0]))
    return known.at(call.node.start_byte) if known is not None else ""


MADE = re.compile(rb"(?<!\w)(\w+) :?= &?(\w+)\{|[(,]\s*(\w+) \*?([\w.]+)")


def _list_made_types(source: Source) -> dict[tuple[int, str], Landmarks[str]]:
    """(function, variable) and the types that it is given from there on."""
    made: dict[tuple[int, str], Landmarks[str]] = {}
    for found in MADE.finditer(source.data):
        name, kind = (found[1] or found[3]).decode(), (found[2] or found[4]).decode()
        scope = source.scopes.at(found.start()).node.start_byte
        made.setdefault((scope, name), Landmarks([-1], [""])).add(found.end(), kind)
    return made


def _list_owners(source: Source, method: str) -> set[str]:
    """The types whose method of this name stands in the file."""
    if "owners" not in source.memo:
        owners: dict[str, set[str]] = {}
        for node in source.nodes("method_declaration"):
            name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
            if name is not None and receiver is not None:
                owners.setdefault(source.text(name), set()).update(re.findall(r"\w+", source.text(receiver)))
        source.memo["owners"] = owners
    return cast(dict[str, set[str]], source.memo["owners"]).get(method, set())


def _local_results(source: Source) -> dict[str, tuple[str, ...]]:
    """Functions of this file by name; methods by `.name` if all of that name agree."""
    if "results" not in source.memo:
        table: dict[str, tuple[str, ...]] = {}
        clash: set[str] = set()
        for node in source.nodes("function_declaration", "method_declaration"):
            name = node.child_by_field_name("name")
            if name is None:
                continue
            key = ("." if node.type == "method_declaration" else "") + source.text(name)
            types = result_types(source, node)
            clash.update({key} if table.get(key, types) != types else ())
            table[key] = types
        source.memo["results"] = {key: types for key, types in table.items() if key not in clash}
    return cast(dict[str, tuple[str, ...]], source.memo["results"])


def result_types(source: Source, function: Node) -> tuple[str, ...]:
    result = function.child_by_field_name("result")
    if result is None:
        return ()
    if result.type != "parameter_list":
        return (source.text(result),)
    types: list[str] = []
    for parameter in result.named_children:
        kind = parameter.child_by_field_name("type")
        names = parameter.children_by_field_name("name")
        types.extend([source.text(kind) if kind is not None else "?"] * max(1, len(names)))
    return tuple(types)
