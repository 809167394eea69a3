"""Modules that Go has fetched: a project's tests see those it names, and no other."""

import asyncio
import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from sandbox_runs import statuses

from moot.core.types import Code, SourceFile, SuiteRun, Tests
from moot.edge.sandbox import find_sandbox
from moot.edge.sandbox.go.modules import find_modules
from moot.edge.sandbox.go.toolchain import find_go
from moot.edge.sandbox.python.project import ProjectEnvironment, find_project

NAME, VERSION = "example.com/Greet", "v1.0.0"
MODULE = f"module {NAME}\n\ngo 1.21\n"
APP = f'package shop\n\nimport "{NAME}"\n\nfunc Ask() int {{ return Greet.Answer() }}\n'
TEST = """package shop

import (
	"os"
	"testing"
)

func TestAsk(t *testing.T) {
	if Ask() != 42 {
		t.Fatal("wrong")
	}
	if _, err := os.Stat(%r); err == nil {
		t.Fatal("another module can be seen")
	}
}
"""


def fetch(tmp_path: Path) -> dict[str, str]:
    """A project whose one module was fetched from a proxy on disk; gives the environment Go was run with."""
    served = tmp_path / "proxy" / "example.com" / "!greet" / "@v"
    served.mkdir(parents=True)
    (served / f"{VERSION}.info").write_text(f'{{"Version": "{VERSION}"}}')
    (served / f"{VERSION}.mod").write_text(MODULE)
    with zipfile.ZipFile(served / f"{VERSION}.zip", "w") as archive:
        archive.writestr(f"{NAME}@{VERSION}/go.mod", MODULE)
        archive.writestr(f"{NAME}@{VERSION}/greet.go", "package Greet\n\nfunc Answer() int { return 42 }\n")
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "go.mod").write_text(f"module shop\n\ngo 1.21\n\nrequire {NAME} {VERSION}\n")
    (shop / "app.go").write_text(APP)
    go(tmp_path, "mod", "tidy")
    (tmp_path / "go" / "pkg" / "mod" / "private@v1.0.0").mkdir()
    return {"GOPATH": str(tmp_path / "go")}


def go(tmp_path: Path, *words: str) -> None:
    toolchain = find_go()
    assert toolchain is not None
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "GOPATH": str(tmp_path / "go"), "GOTOOLCHAIN": "local"}
    env |= {"GOPROXY": f"file://{tmp_path}/proxy", "GOSUMDB": "off", "GOFLAGS": "-modcacherw"}
    subprocess.run([str(toolchain.program), *words], cwd=tmp_path / "shop", env=env, check=True, capture_output=True)


def run(tmp_path: Path, project: ProjectEnvironment) -> SuiteRun:
    shop = tmp_path / "shop"
    files = [(name, (shop / name).read_text()) for name in ("go.mod", "go.sum")]
    test = TEST.replace("%r", f'"{tmp_path}/go/pkg/mod/private@v1.0.0"')
    tests = Tests(files=(("app_test.go", test), *files), language="go")
    code = Code(files=(SourceFile(path="app.go", language="go", text=APP),))
    return asyncio.run(find_sandbox(project=project).run(code, tests))


def test_a_module_of_the_cache_is_seen_and_no_other(tmp_path: Path) -> None:
    env = fetch(tmp_path)
    without = run(tmp_path, ProjectEnvironment())
    assert not without.passed and "module lookup disabled" in without.outcomes[0].detail
    ran = run(tmp_path, find_project([str(tmp_path / "shop" / "app.go")], None, env))
    assert statuses(ran) == ["passed"], ran


def test_a_vendor_folder_of_the_project_is_seen(tmp_path: Path) -> None:
    fetch(tmp_path)
    go(tmp_path, "mod", "vendor")
    found = find_project([str(tmp_path / "shop" / "app.go")], None, {"GOPATH": "/nowhere"})
    assert found.go_vendor == str(tmp_path / "shop" / "vendor") and not found.go_modules
    ran = run(tmp_path, found)
    assert statuses(ran) == ["passed"], ran


@pytest.mark.parametrize("name", ["../../../etc", "/etc", "a/../../b", "example.com/a b", "-x"])
def test_a_sum_cannot_name_what_is_no_module(tmp_path: Path, name: str) -> None:
    (tmp_path / "cache" / "download").mkdir(parents=True)
    assert find_modules(str(tmp_path), {"go.sum": f"{name} v1.0.0 h1:x=\n{name} v1/../../x h1:x=\n"}) == {}
