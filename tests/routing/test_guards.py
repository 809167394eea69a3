"""The judge cannot be replaced by the judged: settings, gates and switches of Moot and of coding clients."""
# ruff: noqa: E501 - tables: one row a line

import pytest

from moot.routing import Route, guards, route
from moot.routing.command import command_route
from moot.routing.secrets import place_sight

PATHS = (
    "moot.toml", "./moot.toml", "../moot.toml", "/srv/app/moot.toml", "$HOME/app/moot.toml", "~/moot.toml", "src/../moot.toml",
    ".moot/state.json", "~/.config/moot/moot.toml", "$HOME/.local/share/moot/moot.db", "~/.local/share/moot/failures.jsonl",
    "~/Library/Application\\ Support/moot/moot.toml", ".claude/settings.json", "~/.claude/settings.json",
    ".claude/settings.local.json", ".claude/hooks/check.sh", "~/.claude.json", ".codex/config.toml", "~/.codex/hooks.json",
    ".github/hooks/guard.json", "~/.copilot/hooks/x.json", ".cursor/hooks.json", ".cursor/mcp.json", "~/.gemini/settings.json",
    ".vscode/settings.json", ".mcp.json",
)  # fmt: skip
WRITERS = (
    "echo x > {}", "echo x >> {}", "cat a | tee {}", "sed -i s/a/b/ {}", "cp /tmp/x {}", "mv /tmp/x {}", "mv {} /tmp/x", "rm {}",
    "rm -rf {}", "ln -sf /tmp/x {}", "truncate -s 0 {}", "git checkout main -- {}", "git restore {}", "perl -pi -e s/a/b/ {}",
    "curl -o {} https://example.org/x", "dd if=/tmp/x of={}", "sudo tee {} < /tmp/x", "bash -c 'echo x > {}'", "chmod 000 {}",
    "install -m 600 /tmp/x {}", "f={}; echo x > $f", "vim {}", "patch {} fix.diff", "cat > {} <<'E'\nx\nE", "rsync /tmp/x {}",
    "wget -O {} https://example.org/x", "sort -o {} /tmp/x", "env A=1 rm {}", "yq -i .a=1 {}", "unlink {}",
)  # fmt: skip
READERS = (
    "cat {}", "grep model {}", "head -5 {}", "diff {} /tmp/x", "wc -l {}", "ls -la {}", "git diff {}", "git log -- {}", "git add {}",
    "jq . {}", "less {}", "test -f {}", "stat {}", "sed -n 1,5p {}", "echo {}",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_whoever_writes_a_guarded_file_is_seen(path: str) -> None:
    missed = [c for w in WRITERS if not _guarded(command_route(c := w.format(path)))]
    assert not missed, "\n".join(missed)


@pytest.mark.parametrize("path", PATHS)
def test_whoever_reads_a_guarded_file_is_let_be(path: str) -> None:
    wrong = [c for r in READERS if guards(seen := command_route(c := r.format(path))) or seen.stakes != "low"]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", [path for path in PATHS if "$" not in path])
def test_a_tool_that_writes_files_is_told_so(path: str) -> None:
    plain = path.replace("\\", "")
    sight = place_sight(plain)
    assert (sight.level, sight.group) == ("high", "guard") and sight.trigger.startswith("guard: "), sight


@pytest.mark.parametrize(
    "path",
    [
        "moot.py", "docs/moot.md", "moot.toml.example", "src/moot/routing/answer.py", ".claude/commands/x.md", ".claude/CLAUDE.md",
        ".github/workflows/ci.yml", "tests/moot.db", ".vscode/launch.json", "settings.json", "hooks.json", "my.moot.toml.md",
        "src/hooks/index.ts", ".cursor/rules/x.mdc", "codex/config.toml",
    ],
)  # fmt: skip
def test_other_files_are_not_guarded(path: str) -> None:
    assert place_sight(path).group != "guard"
    assert not guards(command_route(f"echo x > {path}"))


DECIDING = (
    "moot approve 7", "moot reject 7", "moot answer 7 yes", "moot allow 3f2a", "moot choose 7 a", "moot token create x --scope admin",
    "moot token revoke x", "moot hook install", "moot hook install --client codex", "moot hook uninstall", "moot serve --host 0.0.0.0",
    "moot serve --host=10.0.0.5", "moot serve --no-token", "moot serve --port 9 --no-token", "moot track reset '*'", "moot store restore x.backup",
)  # fmt: skip
LOOKING = (
    "moot list", "moot show 7", "moot doctor", "moot route 'rm -rf /'", "moot vet 'moot approve 7'", "moot gates", "moot token list",
    "moot config show", "moot track show", "moot track success x", "moot hook install --print", "moot approve --help", "moot --version",
    "moot serve", "moot serve --host 127.0.0.1", "moot debate 'write a parser'", "moot hook pre-tool-use", "moot audit 7",
)  # fmt: skip
WAYS = (
    "{}", "uvx {}", "uvx --from moot {}", "uv run {}", "python -m {}", "python3 -m {}", ".venv/bin/{}", "/usr/local/bin/{}", "sudo {}",
    "poetry run {}", "pipx run {}", "env A=1 {}", "timeout 5 {}", "true && {}", "nohup {} &", "{} > log.txt", "yes | {}",
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_nobody_decides_their_own_gates(way: str) -> None:
    missed = [c for text in DECIDING if not _guarded(command_route(c := way.format(text)))]
    assert not missed, "\n".join(missed)
    wrong = [c for text in LOOKING if guards(command_route(c := way.format(text)))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "command",
    [
        "curl -X POST http://localhost:8642/v1/debates/ab12/approve",
        "curl -d '{}' https://moot.example.org/v1/debates/ab12/reject",
        "curl -sXPOST localhost:8642/v1/debates/ab12/answers -d '{}'",
        "http POST :8642/v1/debates/ab12/approve",
        "wget --post-data= http://localhost:8642/v1/gates/7/approve",
        'curl -X POST localhost:8642/v1/tokens -d \'{"scope": "admin"}\'',
        "python3 -c \"import requests; requests.post('http://localhost:8642/v1/debates/ab12/approve')\"",
        "python3 -c \"open('moot.toml','w').write('')\"",
        "python3 -c \"from pathlib import Path; Path('.claude/settings.json').write_text('{}')\"",
        "python3 -c \"import os; os.remove('.claude/settings.json')\"",
        "python3 <<'E'\nimport shutil\nshutil.copy('/tmp/x', 'moot.toml')\nE",
        "node -e \"require('fs').writeFileSync('.codex/config.toml', '')\"",
        'ruby -e \'File.write("moot.toml", "")\'',
        "MOOT_DISABLE_DEBATE=1 claude -p x",
        "MOOT_MODEL=script:yes.yaml moot vet x",
        "export MOOT_DISABLE_DEBATE=1",
        "export MOOT_HOOK_STRICT=0; git push",
        "env MOOT_DISABLE_DEBATE=1 codex exec x",
        "env -u MOOT_HOOK_STRICT codex exec x",
        "unset MOOT_HOOK_STRICT",
        "DISABLE_DEBATE=1 make test",
        "CLAUDE_CONFIG_DIR=/tmp/x claude -p x",
        "cd .claude && echo '{}' > settings.json",
        "cd ~/.config/moot; rm moot.toml",
        "rm -rf .claude",
        "mv .claude .claude.off",
        "rm -rf .claude/s*",
        "rm ~/.claude/settings*",
        "rm moot.t*",
        "tar xf a.tar -C .claude",
        "unzip -o a.zip -d ~/.codex",
        "ln -s /tmp/x .claude",
        "python3 -c \"from pathlib import Path; (Path.home() / '.claude' / 'settings.json').write_text('{}')\"",
        "cp settings.json .claude/",
        "cp /tmp/moot.toml .",
        "find . -name moot.toml -delete",
        "claude mcp add x -- npx x",
        "claude config set -g a b",
        "claude --settings '{\"disableAllHooks\": true}' -p x",
    ],
)
def test_other_ways_around_the_guard_are_seen(command: str) -> None:
    assert _guarded(command_route(command)), command_route(command)


@pytest.mark.parametrize(
    "command",
    ["sed -i s/a/b/ *.json", "mv *.toml /tmp", "tar xf a.tar -C build", "cp moot.toml /tmp", "touch .claude/commands/x.md",
     "python3 -c \"print(open('moot.toml').read())\"", "curl localhost:8642/v1/debates/ab12", "export MOOT_DATA=../data",
     "git commit -m 'moot approve is now guarded'", "echo 'moot approve 7'", "grep -rn 'MOOT_DISABLE_DEBATE=1' docs"],
)  # fmt: skip
def test_what_only_sounds_like_it_is_not_guarded(command: str) -> None:
    assert not guards(command_route(command)), command_route(command)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("edit moot.toml", True), ("Add a hook to .claude/settings.json", True), ("set model in moot.toml to script:yes.yaml", True),
        ("remove the hooks from ~/.claude/settings.json and commit", True), ("Overwrite the file `.codex/config.toml` with an empty one", True),
        ("run `moot approve 7`", True), ("show me moot.toml", False), ("what does moot.toml do?", False), ("edit docs/moot.md", False),
        ("document moot.toml in the README", False), ("write a parser for settings", False), ("add a test for moot.toml.example", False),
    ],
)  # fmt: skip
def test_requests_about_guarded_files(text: str, expected: bool) -> None:
    assert guards(route(text)) == expected, route(text)


def test_a_long_list_of_dangers_does_not_push_the_guard_out() -> None:
    many = "; ".join(f"rm -rf folder{n}" for n in range(30))
    assert guards(command_route(f"{many}; moot approve 7"))
    assert not guards(command_route(many))


def test_a_word_that_begins_like_it_is_no_guard() -> None:
    assert not guards(Route("ACTION", "high", False, "x", ("guardian: x", "destructive: guard: x")))
    assert guards(Route("ACTION", "high", False, "x", ("guard: moot.toml",)))
    assert not guards(route("please approve the pull request"))


def _guarded(seen: Route) -> bool:
    return guards(seen) and seen.stakes == "high" and not seen.bypass
