"""A pull request on GitHub, as a job of its own workflow sees it: its number, its comments, a review to post."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from moot.core.errors import UsageError

SECONDS = 30.0
PAGES = 30
"""Pages of 100 comments that are read; GitHub's own limit for a pull request lies below."""
INSIDERS = ("OWNER", "MEMBER", "COLLABORATOR")
MARKUP = re.compile(r"[`<\s]")
"""In the name of a file, what could leave its place in a comment."""
REFUSED_LINE = 422
"""What GitHub answers when a line is not part of the diff."""


class GitHubError(UsageError):
    """GitHub refused, or could not be reached."""


@dataclass(frozen=True)
class LineComment:
    path: str
    line: int
    body: str


@dataclass(frozen=True)
class PullRequest:
    api: str
    repository: str
    number: int
    commit: str
    token: str

    def list_comments(self) -> list[str]:
        """The bodies of all comments on its lines and all reviews, of those who may write to the repository: others
        could say that a finding was commented on before."""
        return [*self._pages("comments"), *self._pages("reviews")]

    def post_review(self, body: str, comments: Sequence[LineComment]) -> int:
        """One review with its comments; gives how many stand at their line. Lines outside of the diff cannot have any:
        then everything goes into the body of the review."""
        lines = [{"path": each.path, "line": each.line, "side": "RIGHT", "body": each.body} for each in comments]
        review = {"commit_id": self.commit, "event": "COMMENT", "body": body, "comments": lines}
        answer = self._ask("POST", "reviews", json=review)
        if answer.status_code == REFUSED_LINE and lines:
            text = "\n\n".join(f"`{MARKUP.sub('_', each.path)}:{each.line}` {each.body}" for each in comments)
            answer = self._ask("POST", "reviews", json={**review, "body": f"{body}\n\n{text}", "comments": []})
            lines = []
        _check(answer)
        return len(lines)

    def _pages(self, what: str) -> list[str]:
        found: list[str] = []
        for page in range(1, PAGES + 1):
            answer = self._ask("GET", what, params={"per_page": 100, "page": page})
            _check(answer)
            try:
                listed = [(str(each["body"] or ""), _is_insider(each)) for each in answer.json()]
            except (ValueError, TypeError, KeyError, AttributeError):
                raise GitHubError(f"GitHub gave no list of {what}; nothing was posted") from None
            found += [body for body, inside in listed if inside]
            if len(listed) < 100:
                break
        return found

    def _ask(self, method: str, what: str, **named: object) -> httpx2.Response:
        headers = {"authorization": f"Bearer {self.token}", "accept": "application/vnd.github+json"}
        url = f"{self.api}/repos/{self.repository}/pulls/{self.number}/{what}"
        try:
            return httpx2.request(method, url, headers=headers, timeout=SECONDS, **named)  # type: ignore[arg-type]
        except httpx2.HTTPError as error:
            raise GitHubError(f"GitHub could not be reached: {error}") from None


def _is_insider(comment: Mapping[str, Any]) -> bool:
    """A job's own comments are those of a bot: apps are installed by the repository's owners."""
    return (comment.get("user") or {}).get("type") == "Bot" or comment.get("author_association") in INSIDERS


def _check(answer: httpx2.Response) -> None:
    if answer.status_code < 300:
        return
    remedy = "; give the job `permissions: pull-requests: write`" if answer.status_code in (401, 403, 404) else ""
    raise GitHubError(f"GitHub refused with status {answer.status_code}{remedy}")


def find_pull_request(environ: Mapping[str, str]) -> PullRequest:
    """The one that this job runs for, by the variables of GitHub Actions."""
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or ""
    repository, event = environ.get("GITHUB_REPOSITORY", ""), environ.get("GITHUB_EVENT_PATH", "")
    if not repository or not event:
        raise UsageError("this is not a job of GitHub Actions: GITHUB_REPOSITORY and GITHUB_EVENT_PATH are not set")
    if not token:
        raise UsageError("GITHUB_TOKEN is not set: pass it to the step, as `env: GITHUB_TOKEN: ${{ github.token }}`")
    try:
        pull = json.loads(Path(event).read_text(encoding="utf-8"))["pull_request"]
        number, commit = int(pull["number"]), str(pull["head"]["sha"])
    except OSError as error:
        raise UsageError(f"cannot read the event of this job: {error.strerror}") from None
    except (ValueError, TypeError, KeyError):
        raise UsageError("this job does not run for a pull request; use `on: pull_request`") from None
    api = environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    return PullRequest(api, repository, number, commit, token)
