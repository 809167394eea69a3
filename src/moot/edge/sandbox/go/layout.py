"""Where a Go module begins among the files of a run, and which modules of the project it sees."""

from dataclasses import replace
from pathlib import Path, PurePosixPath

from moot.edge.sandbox.go.modules import find_modules
from moot.edge.sandbox.layout import WORK, Layout
from moot.edge.sandbox.python.project import ProjectEnvironment
from moot.edge.sandbox.suite import Suite


def with_modules(suite: Suite, layout: Layout, project: ProjectEnvironment) -> Suite:
    """Add the modules that the project has fetched: its `vendor` folder, else those in its `go.sum`."""
    folder = module_folder(layout)
    if folder is None or any("/vendor/" in f"/{path}" for path in layout.files):
        return suite
    if project.go_vendor:
        place = str(PurePosixPath(WORK, folder, "vendor"))
        return replace(suite, env={**suite.env, "GOFLAGS": "-mod=vendor"}, beside={place: Path(project.go_vendor)})
    shown = find_modules(project.go_modules, layout.files)
    if not shown:
        return suite
    env = {**suite.env, "GOMODCACHE": project.go_modules, "GOFLAGS": "-mod=mod", "GONOSUMDB": "*", "GOSUMDB": "off"}
    return replace(suite, env=env, mounts={**suite.mounts, **shown})


def go_flags(layout: Layout) -> dict[str, str]:
    vendored = any("/vendor/" in f"/{path}" for path in layout.files)
    return {} if vendored else {"GOFLAGS": "-mod=mod"}


def module_folder(layout: Layout) -> str | None:
    """The folder of the outermost given `go.mod`."""
    modules = [PurePosixPath(path).parent for path in layout.files if PurePosixPath(path).name == "go.mod"]
    return str(min(modules, key=lambda folder: (len(folder.parts), str(folder)))) if modules else None
