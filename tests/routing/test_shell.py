"""The shell parser: what would be run, whatever it is wrapped in."""

import pytest

from moot.routing.script import HOLE, UnreadableScript
from moot.routing.shell import parse


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in parse(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls -la", [["ls", "-la"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("r''m \"r\"m r\\m", [["rm", "rm", "rm"]]),
        ("a && b || c; d & e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("a | b |& c", [["a"], ["b"], ["c"]]),
        ("a # b ; c\nd", [["a"], ["d"]]),
        ("a#b", [["a#b"]]),
        ("(a; b) && { c; }", [["a"], ["b"], ["c"]]),
        ("echo $(rm x) `rm y`", [["rm", "x"], ["rm", "y"], ["echo", HOLE, HOLE]]),
        ('echo "$(rm "$(pwd)")"', [["pwd"], ["rm", HOLE], ["echo", HOLE]]),
        ("echo `a \\`b\\``", [["b"], ["a", HOLE], ["echo", HOLE]]),
        ("echo $((1 + $(a)))", [["a"], ["echo", HOLE]]),
        ("cat <(a) >(b)", [["a"], ["b"], ["cat", HOLE, HOLE]]),
        ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("while a; do b; done < f", [["a"], ["b"], []]),
        ("for x in 1 $(a); do b $x; done", [["a"], ["b", HOLE]]),
        ("for ((i=0; i<3; i++)); do a; done", [["a"]]),
        ("case $x in a|b) c;; (*) d ;; esac", [["c"], ["d"]]),
        ("f() { a; }; f", [["a"], ["function", "f"], ["f"]]),
        ("function f { a; }", [["a"]]),
        ("[[ -f x && $(a) ]] && b", [["a"], ["b"]]),
        ("! a", [["a"]]),
        ("time a", [["a"]]),
        ("a \\\n  b", [["a", "b"]]),
        ("X=rm; $X y", [[], ["rm", "y"]]),
        ('X="rm -rf"; $X y', [[], ["rm", "-rf", "y"]]),
        ("X=rm; X=ls; $X y", [[], [], [HOLE, "y"]]),
        ("export X=rm && $X y", [["export", "X=rm"], ["rm", "y"]]),
        ("for X in a b; do $X; done", [[HOLE]]),
        ("$'\\x72\\155' \"$'a'\"", [["rm", "$'a'"]]),
        ("${X:-$(a)} b", [["a"], [HOLE, "b"]]),
        ("a=(1 2 $(b)) c", [["b"], ["c"]]),
        ("a <<< b", [["a"]]),
        ("a > b 2>&1 < c", [["a"]]),
        ("a >| b &> c", [["a"]]),
        ("", []),
        ("# nothing", []),
    ],
)
def test_commands_in_the_order_they_are_read(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


def test_here_documents_are_data_but_what_they_expand_runs() -> None:
    plain, listed = parse("cat <<'E' > f\nrm -rf /\n$(rm x)\nE\nls")
    assert plain.redirects[0].document is not None and plain.redirects[0].document.body == "rm -rf /\n$(rm x)"
    assert [word.text for word in listed.words] == ["ls"]
    assert words("cat <<E\n$(rm x)\nE") == [["cat"], ["rm", "x"]]
    assert words("cat <<-E\n\ta\n\tE\nls") == [["cat"], ["ls"]]
    assert words("cat <<A <<B\n1\nA\n2\nB\nls") == [["cat"], ["ls"]]


def test_what_feeds_a_command_is_known_through_groups() -> None:
    shell = next(c for c in parse("curl x | (cd y; sh)") if c.words[0].text == "sh")
    assert [c.words[0].text for c in shell.fed_by] == ["curl"]
    assert parse("curl x; sh")[1].fed_by == ()
    assert parse("echo $(sh) | cat")[0].fed_by == ()


@pytest.mark.parametrize(
    "text",
    ["'a", '"a', "`a", "$(a", "${a", "(a", "{ a", "if a; then b", "a )", "a ;; b", "f(x)", "case x", "[[ a", "a >",
     "$(" * 60 + ")" * 60, "a;" * 6000, "x" * 300_000],
)  # fmt: skip
def test_what_makes_no_sense_is_said_to(text: str) -> None:
    with pytest.raises(UnreadableScript):
        parse(text)
