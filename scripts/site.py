"""Build the documentation site: `python scripts/site.py FOLDER`. Fails on a page outside the menu or a dead link.

The pages of docs/ link to files at the root (README, SECURITY, benchmarks/results): these are laid out beside them.
Diagrams are drawn by Mermaid, which npm brings into the site, so that it asks no other host for anything.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
AT_THE_ROOT = {
    "README.md": "start.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "AGENTS.md": "agents.md",
}
MERMAID = "mermaid@12.3.0"
MENU = ROOT / "docs" / "site.toml"
REAL_SIZE = json.dumps({
    "flowchart": {"useMaxWidth": False},
    "er": {"useMaxWidth": False},
    "sequence": {"useMaxWidth": False, "wrap": True, "width": 104, "actorMargin": 20},
})  # fmt: skip
"""Instead of shrinking with the window: on a narrow one a diagram is scrolled, and its words can be read."""
LINK = re.compile(r"(\]\(|src=\"|srcset=\")([^)\s#\"]+)")


def lay_out(folder: Path) -> None:
    """docs/ as it is, and beside it what its pages link to at the root."""
    docs = folder / "docs"
    shutil.copytree(ROOT / "docs", docs)
    for name, new in AT_THE_ROOT.items():
        shutil.copy(ROOT / name, docs / new)
    for page in docs.rglob("*.md"):
        came_from = next((ROOT / old for old, new in AT_THE_ROOT.items() if page == docs / new), None)
        home = came_from or ROOT / "docs" / page.relative_to(docs)
        text = LINK.sub(partial(relink, home, page, docs), page.read_text("utf-8"))
        text = text.replace("```mermaid\n", f"```mermaid\n%%{{init: {REAL_SIZE}}}%%\n")
        page.write_text(text, encoding="utf-8")
    shutil.copy(MENU, folder / "zensical.toml")
    fetch_mermaid(docs / "mermaid.min.js", folder)


def fetch_mermaid(script: Path, folder: Path) -> None:
    wanted = ("npm", "install", "--prefix", str(folder), "--no-save", "--no-audit", "--no-fund", "--ignore-scripts")
    done = subprocess.run([*wanted, "--loglevel", "error", MERMAID], capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"npm could not bring {MERMAID}: {done.stderr}")
    shutil.copy(folder / "node_modules" / "mermaid" / "dist" / "mermaid.min.js", script)


def relink(home: Path, page: Path, docs: Path, found: re.Match[str]) -> str:
    if "://" in found[2] or found[2].startswith("mailto:"):
        return found[0]
    target = (home.parent / found[2]).resolve()
    if not target.exists():
        return found[0]  # the check of links names it
    if target.is_relative_to(ROOT / "docs"):
        new = docs / target.relative_to(ROOT / "docs")
    elif target.relative_to(ROOT).as_posix() in AT_THE_ROOT:
        new = docs / AT_THE_ROOT[target.relative_to(ROOT).as_posix()]
    else:
        new = docs / "files" / target.relative_to(ROOT)
        place_file(target, new)
    return found[1] + str(Path(*([".."] * len(page.parent.relative_to(docs).parts)), new.relative_to(docs)))


def place_file(target: Path, new: Path) -> None:
    if target.is_dir():
        shutil.copytree(target, new, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.jsonl"))
        listed = "".join(f"- {file.relative_to(new)}\n" for file in sorted(new.rglob("*")) if file.is_file())
        (new / "index.md").write_text(f"# {target.relative_to(ROOT)}\n\n{listed}", encoding="utf-8")
    else:
        new.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(target, new)


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {value for name, value in attrs if name == "id" and value}
        if given.get("rel") != "canonical":
            self.targets += [value for name, value in attrs if name in ("href", "src") and value]


def read_links(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text("utf-8"))
    return links


def find_dead_links(site: Path) -> list[str]:
    pages = {page.resolve(): read_links(page) for page in site.rglob("*.html") if page.name != "404.html"}
    dead = []
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or target.startswith("javascript"):
                continue
            there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            there = there / "index.html" if there.is_dir() else there
            known = pages.get(there)
            if not there.exists() or (parts.fragment and known and unquote(parts.fragment) not in known.ids):
                dead.append(f"{page.relative_to(site.resolve())}: {target}")
    return dead


def find_broken_diagrams(site: Path) -> list[str]:
    """Pages on which Mermaid left a diagram as text."""
    browser = shutil.which("chromium")
    if browser is None:
        sys.stderr.write("diagrams are not checked: there is no chromium\n")
        return []
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
    broken = []
    for page in sorted(site.rglob("*.html")):
        if 'class="mermaid"' in page.read_text("utf-8"):
            with tempfile.TemporaryDirectory() as profile:
                more = (f"--user-data-dir={profile}", "--virtual-time-budget=20000", "--dump-dom", page.as_uri())
                shown = subprocess.run([browser, *flags, *more], capture_output=True, text=True, timeout=120).stdout
            if not shown or '<pre class="mermaid"' in shown:
                broken.append(page.name)
    return broken


def find_forgotten() -> list[str]:
    parts = tomllib.loads(MENU.read_text("utf-8"))["project"]["nav"]
    listed = {page for part in parts for pages in part.values() for entry in pages for page in entry.values()}
    there = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    return sorted(there - listed) + sorted(listed - there - set(AT_THE_ROOT.values()))


def main(folder: Path) -> int:
    if forgotten := find_forgotten():
        sys.stderr.write(f"not in the menu of docs/site.toml, or not there: {', '.join(forgotten)}\n")
        return 1
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        lay_out(work)
        built = subprocess.run(
            [str(Path(sys.executable).parent / "zensical"), "build"], cwd=work, capture_output=True, text=True
        )
        if built.returncode:
            sys.stderr.write(built.stdout + built.stderr)
            return 1
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(work / "site", folder)
    dead, broken = find_dead_links(folder), find_broken_diagrams(folder.resolve())
    sys.stderr.write("".join(f"dead link in {line}\n" for line in dead))
    sys.stderr.write("".join(f"a diagram cannot be drawn in {page}\n" for page in broken))
    sys.stdout.write(f"{sum(1 for _ in folder.rglob('*.html'))} pages in {folder}\n")
    return 1 if dead or broken else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
