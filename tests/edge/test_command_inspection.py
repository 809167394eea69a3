"""What a command line would run and delete, looked up on the disk: tables over real files, hostile ones too."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.edge.command_inspection import Looked, look_at_command
from moot.edge.command_inspection.deletions import DeletionBudget, count
from moot.edge.command_inspection.files import LONGEST
from moot.edge.command_inspection.makefiles import Makefile

WIPE = "rm -rf /srv/data\n"
FILES = {
    ".git/config": "",
    "ok.sh": '#!/bin/bash\nset -euo pipefail\ncd "$(dirname "$0")"\nmkdir -p out\necho "rm -rf /" >/dev/null\n',
    "wipe.sh": f"#!/bin/bash\necho one\n{WIPE}",
    "wipe": f"#!/usr/bin/env bash\n{WIPE}",
    "wipe_py": "#!/usr/bin/env python3\nimport shutil\nshutil.rmtree('/srv/data')\n",
    "outer.sh": "bash middle.sh\n",
    "middle.sh": "source ./wipe.sh\n",
    "self.sh": "bash self.sh\n./self.sh\n",
    "args.sh": 'rm -rf "$1"\n',
    "rest.sh": 'exec "$@"\n',
    "push.sh": "git push --force origin main\n",
    "encoded.sh": "echo cm0gLXJmIC8= | base64 -d | bash\n",
    "tidy.sh": 'tmp=$(mktemp)\ntrap \'rm -f "$tmp"\' EXIT\necho a | tr a b > "$tmp"\nrm -f "$tmp"\n',
    "untidy.sh": 'tmp=$(mktemp)\nrm -f "$tmp" /srv/data\n',
    "library.sh": "wipe() {\n  rm -rf /srv/data\n}\nfunction all { wipe; }\n",
    "main.sh": "wipe() {\n  rm -rf /srv/data\n}\nmain() { wipe; }\nmain\n",
    "trapped.sh": "wipe() {\n  rm -rf /srv/data\n}\ntrap 'wipe' EXIT\n",
    "chosen.sh": 'wipe() {\n  rm -rf /srv/data\n}\n"$1"\n',
    "hidden.sh": '"$TOOL" --all\n',
    "broken.sh": "if then fi (\n",
    "ok.py": '"""`rm -rf /` and shutil.rmtree stand only in this text."""\nimport os, subprocess\n'
    "subprocess.run(['git', 'status'], env={**os.environ})\n",
    "wipe.py": "import shutil\n\nshutil.rmtree('/srv/data')\n",
    "starts.py": "from subprocess import run as go\n\ngo(['rm', '-rf', '/srv/data'])\n",
    "odd.py": "import re\nre.match('\\d', '1')\nprint(1if 1else 2)\n",
    "calls.py": "import os\nos.system('bash wipe.sh')\n",
    "unknown.py": "import subprocess, sys\nsubprocess.run(sys.argv[1:])\n",
    "no_python.py": "def f(:\n",
    "package/__init__.py": "",
    "package/__main__.py": "import os\nos.remove('x')\n",
    "ok.js": "// rm -rf /\nconst text = `a ${1}`\n/a/.exec(text)\nconsole.log(process.env.HOME)\n",
    "wipe.js": "const fs = require('fs')\nfs.rmSync('/srv/data', {recursive: true})\n",
    "push.js": "const { execSync } = require('child_process')\nexecSync('git push --force')\n",
    "wipe.rb": "require 'fileutils'\nFileUtils.rm_rf('/srv/data')\n",
    "wipe.pl": "use File::Path;\nremove_tree('/srv/data');\n",
    "drop.sql": "DROP TABLE users;\n",
    "pick.sql": "SELECT 1;\n",
    "Makefile": (
        "DIR = /srv/data\n-include missing.mk\nall: check\ncheck: ok.sh\n\t@bash ok.sh\n"
        "clean:\n\trm -rf $(DIR)\nwants: clean\nship: clean\n\techo done\nfirst second:\n\techo $@\n"
        "%.out: %.in\n\trm $*.in\n"
        "below:\n\t$(MAKE) -C sub thing\nloose:\n\trm -rf $(NOWHERE)/*\nboth: ; rm -rf $(DIR)\nlong:\n\techo a; \\\n"
        "\trm -rf /srv/data\nasks:\n\techo $(shell rm -rf /srv/data)\nround: round\n\techo a\ninclude rules.mk\n"
    ),
    "rules.mk": "included:\n\trm -rf $(DIR)\n",
    "sub/Makefile": "thing:\n\tbash ../wipe.sh\n",
    "other.mk": "start:\n\trm -rf /srv/data\n",
    "package.json": (
        '{"scripts": {\n"pretest": "rm -rf /srv/data",\n"test": "jest",\n"build": "tsc -p .",\n'
        '"loop": "npm run loop",\n"deep": "npm run test",\n"file": "node wipe.js",\n"postinstall": "node wipe.js"}}'
    ),
    "apps/web/package.json": '{"name": "web", "scripts": {"build": "rm -rf /srv/data"}}',
    "build/a.o": "12345",
    "build/b.o": "12345",
    "build/deep/c.txt": "1234567890",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "home" / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return tmp_path / "home" / "project"


def look(line: str, folder: Path, **env: str) -> Looked:
    home = folder.parent if folder.parent.name == "home" else folder
    return look_at_command(line, folder, {"HOME": str(home), **env}, home)


def told(looked: Looked) -> str:
    return "\n".join(looked.notes)


LINES = """
low    bash ok.sh
low    ./ok.sh
low    sh -x ./ok.sh
low    source ok.sh
low    . ./ok.sh && pytest -q
high   bash wipe.sh
high   sh -x ./wipe.sh
high   bash -eu -o pipefail wipe.sh arg
high   ./wipe
high   ./wipe_py
high   source wipe.sh
high   . wipe.sh
high   cd sub && bash ../wipe.sh
high   (cd sub; ls) && bash wipe.sh
high   sudo bash wipe.sh
high   env A=b bash wipe.sh
high   timeout 5 nice -n 3 ./wipe
high   ls | grep x && bash wipe.sh
high   echo $(bash wipe.sh)
high   bash -c 'cd sub; bash ../wipe.sh'
high   eval "bash wipe.sh"
high   find . -name x -exec bash wipe.sh ;
high   bash outer.sh
high   bash push.sh
high   bash encoded.sh
high   bash args.sh /srv/data
high   bash rest.sh rm -rf /srv/data
low    bash rest.sh ls
low    bash self.sh
low    bash tidy.sh
high   bash untidy.sh
low    source library.sh
low    source library.sh && pytest
high   source library.sh && wipe
high   . ./library.sh; all
high   bash main.sh
high   bash trapped.sh
high   bash chosen.sh wipe
medium bash hidden.sh
medium bash broken.sh
low    python ok.py
low    python odd.py
high   python wipe.py
high   python3 -u wipe.py --all
high   python starts.py
high   python calls.py
medium python unknown.py
medium python no_python.py
high   python -m package
low    python -m pytest
low    node ok.js
high   node wipe.js
high   node wipe
high   node -r ./wipe.js ok.js
high   node push.js
high   ruby wipe.rb
high   perl wipe.pl
high   psql -f drop.sql
high   psql app < drop.sql
low    make
low    make check
high   make clean
high   make ship
high   make wants
low    make first
high   make x.out
high   make -C sub thing
high   make --directory=sub
high   make below
high   make included
high   make -f other.mk
high   make both
high   make long
high   make asks
low    make round
high   make check clean
low    make DIR=x check
low    make -n clean
high   npm test
high   npm t
low    npm run build
low    npm run loop
high   npm run deep
high   npm run file
high   npm install
high   yarn test
low    yarn build
high   pnpm run test
high   pnpm --filter web build
high   npm --prefix apps/web run build
low    npm run missing
low    yarn eslint
medium bash missing.sh
medium ./missing
medium python missing.py
medium make -f missing.mk
medium make -f $(pick).mk
medium make $(pick)
medium npm run $(pick)
medium env -C $(pick) bash ok.sh
high   env -C sub bash ../wipe.sh
medium source $SOMEWHERE/x.sh
high   bash $SCRIPT
high   cat wipe.sh | bash
high   bash < wipe.sh
low    bash -n wipe.sh
low    bash --version
""".strip().splitlines()


@pytest.mark.parametrize("row", LINES, ids=lambda row: row.split(None, 1)[1])
def test_a_line_counts_as_what_it_runs(row: str, project: Path) -> None:
    stakes, line = row.split(None, 1)
    looked = look(line, project)
    assert looked.route.stakes == stakes, looked


def test_a_note_names_the_script_and_the_line_that_counts(project: Path) -> None:
    looked = look("bash wipe.sh", project)
    assert looked.notes[0] == (
        "`bash wipe.sh` runs wipe.sh; line 3: `rm -rf /srv/data` deletes folders with everything in them"
    )
    assert "line 3" in looked.route.reason and looked.scripts[0].text == FILES["wipe.sh"]
    assert look("bash ok.sh", project).notes == ("`bash ok.sh` runs ok.sh (5 lines): nothing in it raises the stakes",)
    assert "line 7: `rm -rf /srv/data`" in told(look("make clean", project))
    assert "line 2: `rm -rf /srv/data`" in told(look("npm test", project))
    assert "line 3: the code deletes files" in told(look("python wipe.py", project))


def test_what_only_reads_is_not_looked_into(project: Path) -> None:
    assert look("cat wipe.sh && git status", project) == Looked(look("cat wipe.sh", project).route)
    package = "moot.edge.command_inspection"
    bypassed = f"import sys; from {package} import look_at_command as look; from pathlib import Path;"
    bypassed += f"look('git status', Path('.'), {{}}); print(*(n for n in sys.modules if n.startswith('{package}')))"
    found = subprocess.run([sys.executable, "-c", bypassed], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [package]


def test_a_program_of_this_folder_is_not_known_by_its_name(project: Path) -> None:
    (project / "ls").write_text(f"#!/bin/sh\n{WIPE}")
    (project / "git").write_bytes(b"\x7fELF\0\0")
    assert look("./ls -l", project).route.stakes == "high" and not look("./ls -l", project).route.bypass
    for line in ("cd . && ./ls", "timeout 5 ./ls", "A=b ./ls", "sudo ./ls", "sub/../ls", "cat x | ./ls"):
        assert look(line, project).route.stakes == "high", line
    (project / "bash").write_text(f"#!/bin/sh\n{WIPE}")
    assert look("./bash ok.sh", project).route.stakes == "high"
    assert "judged by its name alone" in told(look("./git status", project))
    assert look("ls ./ls", project).route.bypass


UNREADABLE = {
    "is not text": lambda path: path.write_bytes(b"echo a\0b"),
    "is not a regular file": lambda path: os.mkfifo(path),
    "does not exist": lambda path: None,
    "symbolic links": lambda path: path.symlink_to(path),
    "cannot be read": lambda path: path.symlink_to("/proc/self/mem/x"),
}


@pytest.mark.parametrize("why", UNREADABLE)
@pytest.mark.parametrize("line", ["bash x.sh", "./x.sh", "source x.sh", "make -f x.sh", "python x.sh"])
def test_what_cannot_be_read_is_said_and_counts_as_medium(why: str, line: str, project: Path) -> None:
    UNREADABLE[why](project / "x.sh")  # type: ignore[no-untyped-call]
    looked = look(line, project)
    assert looked.route.stakes == "medium" and f"`{line}`: the script x.sh " in told(looked) and why in told(looked)


def test_devices_and_locked_files_are_not_read(project: Path) -> None:
    (project / "x.sh").symlink_to("/dev/zero")
    assert "is not a regular file" in told(look("bash x.sh", project))
    (project / "locked.sh").write_text("ls")
    (project / "locked.sh").chmod(0)
    if os.geteuid() != 0:
        assert "Permission denied" in told(look("bash locked.sh", project))


def test_a_script_that_is_too_large_is_read_as_far_as_the_bound(project: Path) -> None:
    with (project / "large.sh").open("wb") as file:
        file.write(b"echo a\n")
        file.truncate(10**9)
    assert "is not text" in told(look("bash large.sh", project))
    (project / "long.sh").write_text("# padding\n" * (LONGEST // 10 + 10) + WIPE)
    looked = look("bash long.sh", project)
    assert looked.route.stakes == "medium" and "too large; only its beginning was read" in told(looked)
    (project / "long.sh").write_text(WIPE + "# padding\n" * (LONGEST // 10 + 10))
    assert look("bash long.sh", project).route.stakes == "high"


def test_scripts_that_call_scripts_are_followed_to_a_bound(project: Path) -> None:
    for number in range(20):
        (project / f"s{number}.sh").write_text(f"bash s{number + 1}.sh\n")
    looked = look("bash s0.sh", project)
    assert looked.route.stakes == "medium" and "too many scripts" in told(looked)
    (project / "many.sh").write_text("".join(f"bash m{number}.sh\n" for number in range(200)))
    for number in range(200):
        (project / f"m{number}.sh").write_text("ls\n")
    looked = look("bash many.sh", project)
    assert looked.route.stakes == "medium" and len(looked.scripts) <= 25


def test_bytes_that_are_no_utf8_do_no_harm(project: Path) -> None:
    (project / "latin.sh").write_bytes(b"# caf\xe9\nrm -rf /srv/data\n")
    assert look("bash latin.sh", project).route.stakes == "high"
    assert look("bash \udce9.sh", project).route.stakes == "medium"


def test_hostile_text_ends_in_time(project: Path) -> None:
    hostile = {
        "brackets": "(" * 5000,
        "dollars": "$(" * 5000,
        "quotes": "'" * 50_001,
        "braces": "rm " + "{a,b}" * 40,
        "loops": "for i in 1; do\n" * 3000,
        "backticks": "`" * 9999,
        "make": "a: b\nb: a\n\trm x\n" * 3000,
        "variables": "A = $(B)$(B)\nB = $(A)$(A)\nall:\n\techo $(A)\n",
        "doubled": "".join(f"A{n} = $(A{n + 1})$(A{n + 1})\n" for n in range(40)) + "all:\n\techo $(A0)\n",
        "unset": "".join(f"rm -rf $A{n}\n" for n in range(3000)),
        "lines": "\n" * 199_000,
        "path": "/*" * 90_000,
        "calls": "child_process" + "exec('" * 40_000,
        "sum": "x = " + "1+" * 90_000 + "1",
        "dots": "a" + ".a" * 90_000,
        "self": "include self\n" * 1000,
    }
    for name, text in hostile.items():
        for line in (f"bash {name}", f"make -f {name}", f"python {name}", f"node {name}"):
            (project / name).write_text(text)
            began = time.process_time()
            look(line, project)
            assert time.process_time() - began < 5, (name, line)


ODD = """
bash sh -c ./ok.sh wipe.sh python -m node / make -C sub -f Makefile npm run test rm -rf build * ~ $X ${X:-y} $1 $(ls) `
' ; && | ( ) { } < > >> <<EOF cd .. . source sudo env A=b xargs find -exec {} + -delete git clean -fdx rsync --delete
eval trap if then fi for i in do done function f() # \\ \0 [ ] ! & $? $@ \ud800 \ue000 -- - = {a,b} truncate " & || ; ;;
"""
ATOMS = ["\n", *ODD.split()]


@given(
    st.lists(st.sampled_from(ATOMS), max_size=14), st.sampled_from(["", "bash x", "make -f x", "python x", ". x a b"])
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_line_and_no_script_is_too_odd_to_be_looked_at(tmp_path: Path, words: list[str], runs: str) -> None:
    text = " ".join(words)
    (tmp_path / "x").write_text(text, errors="replace")
    looked = look(runs or text.replace("~", "~/gone").replace(" / ", " /gone "), tmp_path)
    assert not re.search("[\0\ue000-\ue00f]", told(looked) + looked.route.reason)


def test_a_file_that_the_line_writes_is_read_from_the_line(project: Path) -> None:
    written = "cat > new.sh <<'END'\nrm -rf /srv/data\nEND\nbash new.sh"
    assert look(written, project).route.stakes == "high"
    assert look("echo 'rm -rf /srv/data' > ok.sh && bash ok.sh", project).route.stakes == "high"
    for line in ("cp wipe.sh ok.sh && bash ok.sh", "sed -i s/a/b/ ok.sh; ./ok.sh", "ls >> ok.sh; bash ok.sh"):
        looked = look(line, project)
        assert looked.route.stakes == "medium" and "written by this very command" in told(looked), line


def test_makefiles_say_which_goals_they_lack(project: Path) -> None:
    assert "there is no target 'nothing'" in told(look("make nothing", project))
    (project / "odd.mk").write_text("SHELL := python3\nall:\n\tprint(1)\n")
    looked = look("make -f odd.mk", project)
    assert looked.route.stakes == "medium" and "run by python3" in told(looked)


@pytest.mark.parametrize(
    ("text", "goal", "recipe"),
    [
        ("A = x\nA += y\nall:\n\techo $(A) $${HOME} $@\n", "", "echo x y ${HOME} all"),
        ("A ?= b\nall: ; echo ${A}\n", "all", "echo b"),
        (".PHONY: all\nall:\n\t@-echo $(word 1,$(A))\n", "", "echo $?"),
        (".DEFAULT_GOAL := b\na:\n\techo a\nb:\n\techo $<\n", "", "echo "),
        ("ifeq ($(X),1)\na:\n\techo 1\nendif\n", "", "echo 1"),
        ("define X\nrm -rf /\nendef\na: # comment\n\techo $(if $(filter a,$(b)),$(c:%=d)) z\n", "", "echo $? z"),
    ],
)
def test_recipes_are_what_make_would_run(text: str, goal: str, recipe: str) -> None:
    made = Makefile({})
    made.take_in(text, lambda name: None, {})
    found, _ = made.recipes([goal] if goal else [])
    assert [line for _, _, line in found] == [recipe]


DELETED = """
rm -rf build => deletes {p}/build (3 files, 20 B)
rm -rf ./sub/../build => deletes {p}/build (3 files, 20 B)
rm build/*.o => deletes {p}/build/*.o, 2 entries (2 files, 10 B)
rm build/{a,b}.o => deletes {p}/build/b.o (1 file, 5 B)
rm -rf $OUT => deletes {p}/build (3 files, 20 B)
rm -rf ${OUT}/deep => deletes {p}/build/deep (1 file, 10 B)
rm -rf ${NOT_SET:-build} => deletes {p}/build (3 files, 20 B)
D=build; rm -rf $D/deep => deletes {p}/build/deep (1 file, 10 B)
cd build && rm -rf deep => deletes {p}/build/deep (1 file, 10 B)
(cd build; ls); rm -rf deep => nothing is there to delete at {p}/deep
cd gone && rm -rf * => nothing is there to delete at {p}/gone/*
cd gone; rm -rf build => `cd gone`: the folder does not exist, so what follows runs in {p}
rm -rf link => deletes the link {p}/link, not {p}/build, to which it points
rm -rf link/* => deletes everything in {p}/build, 3 entries (3 files, 20 B)
rm -rf ../outside => deletes {h}/outside (1 file, 3 B); it lies outside the project
rm -rf ~/outside => deletes {h}/outside (1 file, 3 B); it lies outside the project
sudo rm -rf build => deletes {p}/build (3 files, 20 B)
bash -c 'rm -rf build' => deletes {p}/build (3 files, 20 B)
find build -name '*.o' -delete => deletes what it finds in {p}/build (at most 3 files, 20 B)
find build -delete => deletes {p}/build (3 files, 20 B)
find build -type f -exec rm {} + => deletes what it finds in {p}/build (at most 3 files, 20 B)
find build -type f | xargs rm => deletes what it finds in {p}/build (at most 3 files, 20 B)
rsync -a --delete /srv/x/ build/ => deletes in {p}/build what the source does not have (there: 3 files, 20 B)
truncate -s 0 build/a.o => cuts off {p}/build/a.o (1 file, 5 B)
unlink build/a.o => deletes {p}/build/a.o (1 file, 5 B)
rmdir build/deep => deletes {p}/build/deep (1 file, 10 B)
shred -u build/a.o => deletes {p}/build/a.o (1 file, 5 B)
Remove-Item -Recurse build => deletes {p}/build (3 files, 20 B)
git clean -fdx build => deletes what git does not track in {p}/build (at most 3 files, 20 B)
rm -rf $NOT_SET/* => `$NOT_SET` is not set: in `rm -rf $NOT_SET/*`, `$NOT_SET/*` means `/*`
rm -rf "$NOT_SET" => `$NOT_SET` is not set: in `rm -rf $NOT_SET`, `$NOT_SET` names nothing
rm -rf $(pick) => `rm -rf …`: what `…` stands for is only known when it runs
rm -rf $(x)/* => `rm -rf …/*` deletes `/*` if what stands before it is empty; it is only known when it runs
cd $(pick) && rm -rf x => `rm -rf x`: in which folder it deletes `x` is only known when it runs
read D; rm -rf $D/x => `rm -rf …/x` deletes `/x` if what stands before it is empty; it is only known when it runs
make loose => `$NOWHERE` is not set: in `rm -rf $NOWHERE/*`, `$NOWHERE/*` means `/*`
bash args.sh build => deletes {p}/build (3 files, 20 B)
bash args.sh => `$1` is not set: in `rm -rf $1`, `$1` names nothing
""".strip().splitlines()


@pytest.mark.parametrize("row", DELETED, ids=lambda row: row.partition(" => ")[0])
def test_deleting_commands_show_their_target_and_how_much_it_is(row: str, project: Path) -> None:
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text("abc")
    (project / "link").symlink_to("build")
    line, _, note = row.partition(" => ")
    looked = look(line, project, OUT="build")
    assert note.format(p=project, h=project.parent) in looked.notes, looked.notes


PRECIOUS = """
rm -rf ~                   | the home folder
rm -rf $HOME/              | the home folder
rmdir ~                    | the home folder
rm -rf ..                  | the home folder
rm -rf ../..               | a folder that holds the home folder
rm -rf /                   | the whole file system
rm -rf //                  | the whole file system
rm -rf root/               | the whole file system
rm -rf .                   | the project itself
rm -rf *                   | the project itself
rm -rf ./*                 | the project itself
rm -rf ../project          | the project itself
rm -rf ../project/*        | the project itself
cd sub && rm -rf ..        | the project itself
find . -delete             | the project itself
rm -rf .git                | a repository with all its history
rmdir sub/../.git          | a repository with all its history
rm -rf ~/*                 | the home folder
find ~ -delete             | the home folder
rm -rf $NOT_SET/           | the whole file system
bash args.sh ..            | the home folder
""".strip().splitlines()


@pytest.mark.parametrize("row", PRECIOUS, ids=lambda row: row.partition("|")[0].strip())
def test_what_must_not_be_lost_is_high_whatever_the_text_says(row: str, project: Path) -> None:
    (project / "root").symlink_to("/")
    line, _, why = (part.strip() for part in row.partition(" | "))
    looked = look(line, project)
    assert looked.route.stakes == "high" and looked.route.reason.endswith(why), looked


def test_a_folder_that_holds_the_project_must_not_be_lost_either(project: Path, tmp_path: Path) -> None:
    looked = look_at_command("rmdir ..", project, {"HOME": str(tmp_path / "elsewhere")})
    assert looked.route.stakes == "high" and looked.route.reason.endswith("a folder that holds the project")


def test_the_route_of_a_harmless_deletion_is_not_raised(project: Path) -> None:
    assert look("rmdir build/deep", project).route.stakes == "low"
    assert look("rmdir ../project", project).route.stakes == "high"


def test_counting_ends_at_a_number_and_at_a_time(tmp_path: Path) -> None:
    tmp_path = tmp_path / "counted"
    for folder in range(4):
        (tmp_path / str(folder)).mkdir(parents=True)
        for number in range(50):
            (tmp_path / str(folder) / str(number)).write_text("1234567890")
    assert str(count([str(tmp_path)], DeletionBudget())) == "200 files, 2.0 kB"
    few = count([str(tmp_path)], DeletionBudget(entries=100))
    assert not few.whole and few.files < 100 and str(few) == f"more than {few.files} files, at least {few.size} B"
    assert str(count([str(tmp_path)], DeletionBudget(seconds=-1))) == "not counted: there was no time left"


def test_one_large_target_does_not_hide_the_others(project: Path) -> None:
    looked = look("rm -rf / build", project)
    assert f"deletes {project}/build (3 files, 20 B)" in looked.notes and re.search(
        r"deletes / \(more than", told(looked)
    )


def test_nothing_is_ever_executed(project: Path) -> None:
    touched = project / "touched"
    (project / "touch.sh").write_text(f"touch {touched}\n$(touch {touched})\n")
    (project / "touch.mk").write_text(f"X := $(shell touch {touched})\nall:\n\ttouch {touched}\n")
    for line in ("bash touch.sh", "make -f touch.mk", f"eval 'touch {touched}'", "./touch.sh", "python touch.sh"):
        look(line, project)
    assert not touched.exists()
