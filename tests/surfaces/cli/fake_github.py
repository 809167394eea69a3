"""The part of GitHub's API that Moot uses, on loopback."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BOT = {"user": {"type": "Bot"}, "author_association": "NONE"}


class FakeGitHub(ThreadingHTTPServer):
    """The pull request 7 of o/r: it keeps reviews, and refuses lines from 100 on, as lines outside of a diff."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.reviews: list[dict[str, Any]] = []
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answers(BaseHTTPRequestHandler):
    server: FakeGitHub

    def do_GET(self) -> None:
        said = [c for review in self.server.reviews for c in review["comments"]]
        listed = said if self.path.startswith("/repos/o/r/pulls/7/comments") else self.server.reviews
        self._answer(self.server.status, listed)

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert self.path == "/repos/o/r/pulls/7/reviews" and self.headers["authorization"] == "Bearer t0ken"
        if any(comment["line"] >= 100 for comment in review["comments"]):
            return self._answer(422, {})
        for each in (review, *review["comments"]):
            each |= BOT
        self.server.reviews.append(review)
        return self._answer(self.server.status, {})

    def _answer(self, status: int, data: object) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
