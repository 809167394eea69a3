"""`moot ci init|summary|comment`: jobs for GitHub and GitLab."""

import os
from pathlib import Path
from typing import Annotated

import typer

from moot import __version__
from moot.core.errors import UsageError
from moot.edge.files.outputs import check_output, make_parents, write_output
from moot.edge.files.sources import read_text
from moot.edge.github import find_pull_request
from moot.surfaces.cli.code.pull_requests import comment_on, report_remarks
from moot.surfaces.cli.options import ForceFlag
from moot.surfaces.cli.screen import err, out, plain, write_text
from moot.text.controls import clean
from moot.text.report_markdown import render_markdown
from moot.text.sarif import read_remarks

SarifArgument = Annotated[str, typer.Argument(help="A SARIF file that Moot wrote; - is standard input.")]
GITHUB = ".github/workflows/moot.yml"
GITLAB = ".gitlab-ci.moot.yml"
FILES = {
    "github": (
        GITHUB,
        """\
# Scans what a pull request changes: alerts, at most five comments, a summary of the job.
name: moot
on: pull_request
permissions:
  contents: read
  pull-requests: write
  security-events: write
jobs:
  moot:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0
      - uses: actions/setup-python@v6
        with:
          python-version: "3.13"
      - run: pip install moot=={version}
      - name: Scan
        run: |
          rm -rf moot.sarif # one that the change itself brings would be taken for the scan's
          moot scan . --diff "${{ github.event.pull_request.base.sha }}" --min-severity medium --sarif moot.sarif
      - name: Summary
        if: always()
        run: moot ci summary moot.sarif >> "$GITHUB_STEP_SUMMARY"
      - name: Alerts
        if: always()
        uses: github/codeql-action/upload-sarif@v4
        with:
          sarif_file: moot.sarif
      - name: Comments
        if: always()
        env:
          GITHUB_TOKEN: ${{ github.token }}
        run: moot ci comment moot.sarif --most 5
""",
    ),
    "gitlab": (
        GITLAB,
        """\
# Scans what a merge request changes. Add to .gitlab-ci.yml:  include: .gitlab-ci.moot.yml
moot:
  image: python:3.13
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  variables:
    GIT_DEPTH: "0"
  script:
    - pip install moot=={version}
    - rm -rf moot.sarif # one that the change itself brings would be taken for the scan's
    - moot scan . --diff "$CI_MERGE_REQUEST_DIFF_BASE_SHA" --min-severity medium --sarif moot.sarif --force
  after_script:
    - moot ci summary moot.sarif
  artifacts:
    when: always
    paths: [moot.sarif]
""",
    ),
}
"""System -> the path and content of its job."""
NEXT = {"github": "commit it", "gitlab": "add `include: .gitlab-ci.moot.yml` to .gitlab-ci.yml, and commit both"}


def register(app: typer.Typer) -> None:
    app.command("init")(init_command)
    app.command("summary")(summary_command)
    app.command("comment")(comment_command)


def init_command(
    system: Annotated[str, typer.Argument(help="github or gitlab.")] = "github",
    force: ForceFlag = False,
) -> None:
    """Write the job that scans what a pull request changes. An existing file is kept unless you say --force."""
    if system not in FILES:
        raise UsageError(f"unknown system {system!r}; known are {', '.join(FILES)}")
    path, text = FILES[system]
    make_parents(path)
    if Path(path).exists() or not force:
        check_output(path, force=force, flag="an existing file")
    write_output(path, text.replace("{version}", __version__).encode(), force=force)
    out().print(plain(f"written: {path}; {NEXT[system]}"))


def summary_command(file: SarifArgument) -> None:
    """Print the findings of a SARIF file as markdown, for the summary of a job."""
    write_text(f"{clean(render_markdown(report_remarks(read_remarks(read_text(file), repr(file)))))}\n")


def comment_command(
    file: SarifArgument,
    most: Annotated[int, typer.Option("--most", min=1, max=50, help="Limit of comments, most serious first.")] = 5,
) -> None:
    """Comment on a pull request of GitHub: few findings, each once, however often the job runs.

    Needs the variables of GitHub Actions and GITHUB_TOKEN. Exit code 2: nothing could be posted.
    """
    remarks = read_remarks(read_text(file), repr(file))
    if not remarks:
        return err().print(plain("nothing posted: no findings"))
    err().print(plain(comment_on(find_pull_request(os.environ), remarks, most)))
