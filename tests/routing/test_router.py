"""The router as a whole: it never fails, never hangs, and what it cannot read it does not let pass."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moot.routing import route
from moot.routing.answer import ORDER
from moot.routing.command import command_route
from moot.routing.rules import index, lines_of

PIECES = st.sampled_from(
    [
        "rm",
        "-rf",
        "$(",
        "`",
        ")",
        "(",
        "{",
        "}",
        "'",
        '"',
        "|",
        "&&",
        ";",
        "\n",
        "<<EOF",
        "EOF",
        "$x",
        "${",
        "$((",
        "[[",
        "]]",
        "if",
        "then",
        "fi",
        "for",
        "do",
        "done",
        "case",
        "esac",
        "in",
        "git",
        "push",
        "--force",
        "sudo",
        "xargs",
        "find",
        "-exec",
        "docker",
        "run",
        "bash",
        "-c",
        "eval",
        "echo",
        "python",
        "psql",
        "\\",
        "#",
        "*",
        "!",
        "=",
        "a=b",
        "a=(",
        "\x00",
        "é",
        "delete",
        "the",
        "all",
        "```",
    ]
)


@settings(max_examples=300)
@given(st.text(max_size=300))
@example("")
@example("\0\0")
@example("a=(")
def test_any_text_has_a_route(text: str) -> None:
    seen = route(text)
    assert seen.kind in ("ANSWER", "ACTION") and seen.stakes in ("low", "medium", "high") and seen.reason


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=25).map(" ".join))
def test_any_heap_of_shell_has_a_route(text: str) -> None:
    seen = command_route(text)
    assert seen.kind == "ACTION"
    assert not (seen.bypass and seen.stakes != "low")


@settings(max_examples=100)
@given(st.sampled_from(["ls", "git status", "echo hi", "cat x"]), st.sampled_from([";", "&&", "||", "|", "\n", "&"]))
def test_nothing_harmless_covers_up_for_something_dangerous(harmless: str, joint: str) -> None:
    assert route(f"{harmless} {joint} rm -rf /data").stakes == "high"
    assert not route(f"rm -rf /data {joint} {harmless}").bypass


WRAPPED = (
    "sudo {}", "env A=1 {}", "nohup {}", "timeout -k 5 10 {}", "nice -n 5 {}", "time {}", "command {}", "bash -c '{}'",
    "sh -c \"{}\"", "eval '{}'", "ssh host '{}'", "watch '{}'", "docker exec -it c {}", "kubectl exec p -- {}", "$({})",
    "echo $({})", "({})", "{{ {}; }}", "if true; then {}; fi", "for i in 1; do {}; done", "f() {{ {}; }}; f",
    "sudo -u bob env X=1 nice {}", "echo '{}' | sh", "bash <<'E'\n{}\nE", "X=1 {}", "! {}", "xargs {}", "true && {}",
    "python -c \"import os; os.system('{}')\"", "find . -exec {} \\;", "npx -y {}", "uv run {}", "su -c '{}'",
    "docker compose exec web {}", "sudo sh -c '{}'", "doas {}", "exec {}", "stdbuf -o0 {}", "trap '{}' EXIT",
)  # fmt: skip


@pytest.mark.parametrize("wrapper", WRAPPED)
def test_no_wrapper_hides_a_command(wrapper: str) -> None:
    seen = command_route(wrapper.format("rm -rf data"))
    assert (seen.stakes, seen.bypass) == ("high", False), seen
    assert any(trigger.startswith("destructive") for trigger in seen.triggers), seen


@pytest.mark.parametrize("piece", ["a ", "$(", "'", "`", "--", ".", "a/", "key ", "the delete ", "{ ", "a|", "\n", "é"])
def test_a_megabyte_is_answered_and_not_let_pass_as_a_command(piece: str) -> None:
    big = piece * (1_000_000 // len(piece))
    assert route(big).kind in ("ANSWER", "ACTION")
    assert not command_route("ls " + big).bypass


@pytest.mark.parametrize(
    "piece", ["a/", "a=b ", "x:;", "*.", "s/a/b/e;", "open('a','w')", "../", "print|", "add to a/b "]
)
@pytest.mark.parametrize(
    "program", ["cat {}", 'python3 -c "{}"', "sed '{}' f", "awk '{}' f", "vim -c '{}'", "> {}", "tar -I '{}' x"]
)
def test_a_long_word_is_judged_in_a_moment(program: str, piece: str) -> None:
    """Patterns that look back and forth over a long word would take minutes; the hook would be given up on."""
    assert command_route(program.format(piece * (60_000 // len(piece)))).kind == "ACTION"


def test_detours_do_not_hide_a_place() -> None:
    for path in ("/tmp/../dev/sda", "/dev/./sda", "/" + "a/../" * 900 + "dev/sda", "//dev//sda"):
        assert command_route(f"cat x > {path}").stakes == "high", path
    assert command_route("cat " + "a/../" * 900 + ".env").stakes == "high"
    assert command_route("echo x > " + "a/../" * 900 + "moot.toml").stakes == "high"


def test_a_command_never_waives_its_own_debate() -> None:
    for text in ("rm -rf / # just do it", "echo 'just do it, I am sure'; rm x", "$ rm x # skip confirmation"):
        assert not route(text).bypass


@pytest.mark.parametrize(("text", "recognised"), [
    ("hello", False), ("launch_missiles", False), ("can you frobnicate it?", False), ("lösche alles?", False),
    ("should I delete the old logs?", True), ("ls", True), ("delete the old logs", True),
])  # fmt: skip
def test_conversation_passes_but_is_told_apart_from_a_question(text: str, recognised: bool) -> None:
    seen = route(text)
    assert seen.recognised is recognised
    assert recognised or (seen.kind, seen.bypass, seen.reason) == ("ANSWER", True, "it names no known action")


def test_tables_are_sound() -> None:
    for name in index():
        lines = lines_of(name)
        assert all(line.level in ORDER for line in lines), name
        assert all(line.why for line in lines if line.level in ("medium", "high")), name
        assert all(line.group for line in lines if line.level in ("medium", "high")), name
        assert sum(1 for line in lines if not line.needs) <= 1, f"{name}: only one line can fit every call"


LOOKED_THROUGH = (
    "sudo {}", "env A=1 {}", "nohup {}", "timeout -k 5 10 {}", "nice -n 5 {}", "time {}", "command {}", "bash -c '{}'",
    "eval '{}'", "ssh -p 22 host '{}'", "watch -n 2 '{}'", "kubectl exec p -- {}", "echo $({})", "({})", "xargs {}",
    "if true; then {}; fi", "f() {{ {}; }}; f", "sudo -u bob env X=1 nice {}", "bash <<'E'\n{}\nE",
    "find . -exec {} \\;", "stdbuf -o0 {}", "{} > /dev/null 2>&1", "while read x; do {}; done < list", "ionice -c 3 {}",
    "flock -w 1 lock {}",
)  # fmt: skip


@pytest.mark.parametrize("wrapper", LOOKED_THROUGH)
def test_no_wrapper_makes_a_look_dangerous(wrapper: str) -> None:
    seen = command_route(wrapper.format("ls -la"))
    assert (seen.stakes, seen.bypass) == ("low", True), seen
