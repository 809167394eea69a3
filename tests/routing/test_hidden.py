"""Commands that hide: in an option, a script, a variable, an encoding. Each way is closed for every command."""
# ruff: noqa: E501 - tables: one row a line

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.routing.command import command_route
from moot.routing.runners.printed import find_printed_text
from moot.routing.runners.sed import script_parts
from moot.routing.shell import parse

HIDERS = (
    "sed '1e {}' f", "sed -n -e 's/a/b/' -e '3e {}' f", "vim -c ':!{}' f", "vim -c ':r !{}' f", "nvim +'!{}' +q", "ex -sc '!{}' -cq",
    "less +'!{}' f", "ed f <<< '!{}'", "tar cf a.tar --checkpoint=1 --checkpoint-action='exec={}' .", "tar xf a.tar --to-command='{}'",
    "tar -I '{}' -xf a.tar", "tar --use-compress-program='{}' -xf a.tar", "zip -T -TT '{}' a.zip f", "rsync -e '{}' a h:b", "rsync -avze '{}' a h:b",
    "rsync --rsync-path='{}' a h:b", "ssh -o ProxyCommand='{}' h uptime", "ssh -oProxyCommand='{}' h uptime", "scp -o 'ProxyCommand {}' a h:b",
    "man -P '{}' ls", "man --pager='{}' ls", "man --html='{}' ls", "sort --compress-program='{}' f", "split --filter='{}' f", "rg --pre '{}' x",
    "git -c core.pager='{}' log", "git -c core.sshCommand='{}' fetch", "git -c diff.external='{}' diff", "git -c core.editor='{}' commit", "git clone -c core.sshCommand='{}' u",
    "git grep -O'{}' x", "git grep --open-files-in-pager='{}' x", "git fetch --upload-pack='{}' o", "git ls-remote --upload-pack '{}' o", "git ls-remote --upload-pa='{}' o", "tar xf a.tar --to-com='{}'", "sort --compress-prog '{}' f", "git difftool -x '{}'",
    "git submodule foreach '{}'", "git bisect run {}", "git rebase -x '{}' HEAD~2", "GIT_PAGER='{}' git log", "GIT_SSH_COMMAND='{}' git fetch", "GIT_EDITOR='{}' git commit",
    "PAGER='{}' git log", "MANPAGER='{}' man ls", "LESSOPEN='|{}' less f", "EDITOR='{}' git commit", "env PAGER='{}' git log", "sudo PAGER='{}' git log",
    "export GIT_PAGER='{}'; git log", "make SHELL='{}'", "make --eval='x:;{}' x", "make -f - <<< 'x:;{}'", "env -S '{}'", "env --split-string='{}'", "watch -n 5 '{}'",
    "script -qc '{}' /dev/null", "tmux new-session -d -s x '{}'", "tmux send-keys -t x '{}' Enter", "screen -dmS x {}", "screen -S x -X stuff '{}'", "flock lock -c '{}'",
    "npx -c '{}'", "npm exec -c '{}'", "nix-shell --run '{}'", "expect -c 'spawn {}'", "at now <<< '{}'", "echo '* * * * * {}' | crontab -", "runuser -u app -- {}",
    "/lib64/ld-linux-x86-64.so.2 {}", "taskset 1 {}", "setarch x86_64 {}", "strace -f {}", "parallel '{}' ::: a", "xargs -I% {} < f", "find . -execdir {} \\;", "find . -ok {} \\;",
    "lua -e 'os.execute(\"{}\")'", "deno eval 'Deno.Command(\"{}\")'", "bun -e 'Bun.$`{}`'", "osascript -e 'do shell script \"{}\"'", "perl -e 'system(\"{}\")'", "ruby -e '`{}`'",
    "php -r 'exec(\"{}\");'", "pwsh -Command '{}'", "powershell -NoProfile -Command '{}'", "julia -e 'run(`{}`)'", "Rscript -e 'system(\"{}\")'", "tclsh <<< 'exec {}'",
    "awk 'BEGIN{{system(\"{}\")}}'", "awk '{{print | \"{}\"}}' f", "awk '{{\"{}\" | getline}}' f", "printf '%s' '{}' | sh", "printf '%s ' {} | sh", "source /dev/stdin <<< '{}'",
    "bash /dev/stdin <<< '{}'", "echo '{}' > a.sh; sh a.sh", "cat > a.sh <<'E'\n{}\nE\nbash ./a.sh", "echo '{}' | tee a.sh && chmod +x a.sh && ./a.sh", "mapfile -C '{}' -c 1 x < f",
    "alias x='{}'; x", "fzf --bind 'enter:execute({})'", "cmd /c '{}'", "docker run -v \"$PWD\":/w alpine {}", "bash --rcfile <(echo '{}') -i", "emacs --batch --eval '(shell-command \"{}\")'",
)  # fmt: skip


@pytest.mark.parametrize("hider", HIDERS)
@pytest.mark.parametrize("command", ["rm -rf data", "git push --force"])
def test_nothing_hides_a_dangerous_command(hider: str, command: str) -> None:
    seen = command_route(hider.format(command))
    assert seen.stakes in ("medium", "high") and not seen.bypass and seen.triggers, seen


SPELLED = st.sampled_from(["rm -rf data", "git push --force", "shred x", "dd if=/dev/zero of=/dev/sda"])


@settings(max_examples=60)
@given(
    SPELLED,
    st.sampled_from(["\\x{:02x}", "\\{:03o}", "\\0{:03o}", "\\u{:04x}"]),
    st.sampled_from(["printf '{}'", "echo -e '{}'", "printf %b '{}'"]),
)
def test_letters_spelled_as_numbers_do_not_reach_a_shell(command: str, spelling: str, printer: str) -> None:
    text = printer.format("".join(spelling.format(ord(letter)) for letter in command))
    for shell in ("{} | sh", "{} | bash -s", 'bash -c "$({})"', 'eval "$({})"', 'sh <<< "$({})"', ". <({})"):
        assert command_route(shell.format(text)).stakes != "low", shell
    assert command_route(text).bypass


SPLITTERS = ("rm${IFS}-rf${IFS}data", "rm$IFS-rf$IFS'data'", "IFS=,; x=rm,-rf,data; $x", "IFS=_;c=rm_-rf_data;$c", "{rm,-rf,data}", "a=r; b=m; $a$b -rf data", "r${x}m -rf data", "X='rm -rf data'; $X", "set -- rm -rf data; \"$@\"", "echo ${x@P}", "f() { rm -rf data; }; f", "$'\\x72m' -rf data")  # fmt: skip


@pytest.mark.parametrize("command", SPLITTERS)
def test_no_trick_with_words_hides_a_program(command: str) -> None:
    assert command_route(command).stakes != "low"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("s/a/b/", []), ("s/a/b/e", [("run", "b")]), ("s/x/ls &/ge", [("run", "ls x")]), ("1e ls", [("run", "ls")]), ("e", [("run", "")]), ("/a/,/b/e ls", [("run", "ls")]),
        ("s/e/w/; p", []), ("s|a|e|g", []), ("y/abe/xyw/", []), ("/e/d;/w/p", []), ("\\,e,d", []), ("s/\\/e/w/", []), (":e;be", []), ("a e text", []), ("r e.txt", []),
        ("w out.txt", [("write", "out.txt")]), ("s/a/b/w /etc/passwd", [("write", "/etc/passwd")]), ("$!{s/a/b/e;p}", [("run", "b")]), ("1,3!e ls", [("run", "ls")]), ("p\ne ls\np", [("run", "ls")]),
        ("s/a/b/gp;1d;$e ls", [("run", "ls")]), ("0~3e ls", [("run", "ls")]),
    ],
)  # fmt: skip
def test_sed_scripts_are_read_as_sed_reads_them(script: str, expected: list[tuple[str, str]]) -> None:
    assert script_parts(script) == expected


@settings(max_examples=200)
@given(st.text(alphabet="se/wy;{}!$1,\\ab\n|:", max_size=40))
def test_any_sed_script_is_read_to_its_end(script: str) -> None:
    assert all(kind in ("run", "write") for kind, _ in script_parts(script))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo a b", "a b"), ("echo -n a", "a"), ("printf '%s' 'rm x'", "rm x"), ("printf '%s %s\\n' a b c", "a b\nc \n"), ("printf 'a\\nb'", "a\nb"), ("printf '%d%%' 5", "5%"),
        ("echo '\\x72m'", None), ("printf '\\162m'", None), ("date", None), ("cat f", None),
    ],
)  # fmt: skip
def test_what_is_printed_is_known_where_it_stands_there(command: str, expected: str | None) -> None:
    assert find_printed_text(parse(command)[0]) == expected


STATE = (
    "terraform.tfstate",
    "infra/prod.tfstate",
    ".git/HEAD",
    ".git/index",
    ".git/refs/heads/main",
    "prod.db",
    "data/app.sqlite3",
    "/var/lib/postgresql/16/base",
    "dump.rdb",
)


@pytest.mark.parametrize("path", STATE)
def test_state_files_are_not_written_over_lightly(path: str) -> None:
    for writer in (
        "> {}",
        ":> {}",
        "echo x > {}",
        "cat a | tee {}",
        "cp a {}",
        "python3 -c \"open('{}','w')\"",
        "mv a {}",
    ):
        assert command_route(writer.format(path)).stakes != "low", writer


@pytest.mark.parametrize(
    ("statement", "stakes"),
    [
        ("EXPLAIN DELETE FROM t", "low"), ("explain (costs off, verbose) delete from t", "low"), ("EXPLAIN QUERY PLAN DELETE FROM t", "low"), ("EXPLAIN FORMAT=JSON UPDATE t SET a = 1", "low"),
        ("EXPLAIN (ANALYZE FALSE) DELETE FROM t", "low"), ("EXPLAIN ANALYZE DELETE FROM t", "high"), ("EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t", "high"), ("explain analyse update t set a = 1", "high"),
        ("EXPLAIN DELETE FROM t; DELETE FROM t", "high"), ("EXPLAIN (ANALYZE true) TRUNCATE t", "high"),
    ],
)  # fmt: skip
def test_a_plan_is_not_the_deed(statement: str, stakes: str) -> None:
    assert command_route(f'psql -c "{statement}"').stakes == stakes
