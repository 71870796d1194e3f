"""Comments on GitHub and GitLab, over real HTTP to a host of the test's own that behaves as theirs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from typer.testing import CliRunner
from werkzeug.wrappers import Request, Response

from tests.support.http_server import as_json, serving
from toolkit.cli.app import app
from toolkit.cli.ci import comment_hosts, comment_thread
from toolkit.cli.ci.comment_thread import marker
from toolkit.cli.shared.errors import Problem

SIGN = "<!-- hpc diff stack=dev -->"
NO_RIGHT = {"message": "Resource not accessible by integration"}
BODY = f"{SIGN}\n## dev\n1 created\n"


class Host:
    """Stores the comments of one pull request; `forbidden` refuses to write."""

    def __init__(self) -> None:
        self.url = ""
        self.comments: list[dict[str, Any]] = []
        self.forbidden = False
        self.writes: list[str] = []

    def respond(self, request: Request) -> Response:
        """Answer a request."""
        if request.method == "GET":
            return self._read(request)
        if self.forbidden:
            return as_json(NO_RIGHT, 403)
        body = request.get_json()["body"]
        self.writes.append(f"{request.method} {request.path}")
        if request.method == "POST":
            self.comments.append(_comment(len(self.comments) + 1, "github-actions[bot]", body))
            return as_json(self.comments[-1], 201)
        (found,) = [each for each in self.comments if str(each["id"]) == request.path.rpartition("/")[2]]
        found["body"] = body
        return as_json(found)

    def _read(self, request: Request) -> Response:
        if request.path == "/user":
            return as_json({"username": "hpc-bot"}) if "PRIVATE-TOKEN" in request.headers else as_json(NO_RIGHT, 403)
        page, size = int(request.args["page"]), int(request.args["per_page"])
        return as_json(self.comments[(page - 1) * size : page * size])


def _comment(number: int, author: str, body: str) -> dict[str, Any]:
    who = {"login": author, "username": author}
    return {"id": number, "user": who, "author": who, "body": body, "html_url": f"https://host/c{number}"}


@pytest.fixture
def host() -> Iterator[Host]:
    """Give a host that runs."""
    running = Host()
    with serving(running.respond) as port:
        running.url = f"http://127.0.0.1:{port}"
        yield running


@pytest.fixture
def github(host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give a job of GitHub for a pull request, and the comment's file."""
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    for name, value in {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": host.url,
        "GITHUB_REPOSITORY": "lab/hpc",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_TOKEN": "planted-token",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITLAB_CI", raising=False)
    file = tmp_path / "comment.md"
    file.write_text(BODY)
    return file


def _run(file: Path, status: int = 0) -> str:
    done = CliRunner().invoke(app, ["ci", "comment", str(file)])
    text = " ".join(done.output.split()) + str(done.exception or "")
    assert (done.exit_code == 0) is (status == 0), text
    assert "planted-token" not in text
    return text


def test_a_second_run_edits(host: Host, github: Path) -> None:
    """A second run edits the comment of the first, and writes nothing where it is unchanged."""
    assert "comment created: https://host/c1" in _run(github)
    assert "comment unchanged" in _run(github)
    github.write_text(BODY + "2 deleted\n")
    assert "comment edited" in _run(github)
    assert [each["body"] for each in host.comments] == [BODY + "2 deleted\n"]
    assert host.writes == ["POST /repos/lab/hpc/issues/7/comments", "PATCH /repos/lab/hpc/issues/comments/1"]


def test_comments_of_others_stay(host: Host, github: Path) -> None:
    """Comments of other authors and of other stacks are left, also where they quote the marker."""
    others = [_comment(1, "mallory", BODY), _comment(2, "github-actions[bot]", BODY.replace("dev", "prod"))]
    host.comments = [*others, _comment(3, "github-actions[bot]", f"see {SIGN}")]
    _run(github)
    assert [each["body"] for each in host.comments[:2]] == [each["body"] for each in others]
    assert len(host.comments) == 4


def test_ours_is_found_on_a_later_page(host: Host, github: Path) -> None:
    """The comment is found on a later page of a long discussion."""
    host.comments = [_comment(number, "a", "b") for number in range(1, 251)]
    host.comments.append(_comment(251, "github-actions[bot]", SIGN + "\nold\n"))
    assert "edited" in _run(github)
    assert len(host.comments) == 251


def test_a_fork_has_the_summary(host: Host, github: Path, tmp_path: Path) -> None:
    """Where the token may only read, the comment is written to the job's summary."""
    host.forbidden = True
    assert "written to the job's summary" in _run(github)
    assert (tmp_path / "summary").read_text() == BODY + "\n"


def test_no_pull_request_has_the_summary(github: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run without a pull request writes to the job's summary, and fails where there is none."""
    (tmp_path / "event.json").write_text("{}")
    monkeypatch.delenv("GITHUB_TOKEN")
    assert "summary" in _run(github)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert "no pull request" in _run(github, 1)


def test_gitlab(host: Host, github: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On GitLab, the note of the first run is edited, and system notes are left."""
    monkeypatch.delenv("GITHUB_ACTIONS")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    for name, value in {
        "GITLAB_CI": "true",
        "CI_API_V4_URL": host.url,
        "CI_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "9",
        "HPC_GITLAB_TOKEN": "planted-token",
    }.items():
        monkeypatch.setenv(name, value)
    host.comments = [
        {**_comment(1, "hpc-bot", SIGN), "system": True},
        _comment(2, "mallory", SIGN),
        _comment(3, "hpc-bot", SIGN + "\r\nold"),
    ]
    assert "edited: note 3" in _run(github)
    assert host.writes == ["PUT /projects/5/merge_requests/9/notes/3"]


def test_a_host_that_is_away(github: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that does not answer is a message without the token."""
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:1")
    assert "does not answer" in _run(github, 1)


def test_a_shortened_review_links_to_the_whole_one(host: Host, github: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment beside whose file the whole review is links to the job's artefacts, on the server of the host."""
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example.com")
    monkeypatch.setenv("GITHUB_RUN_ID", "42")
    (github.parent / "comment.whole.md").write_text(BODY * 2)
    _run(github)
    (found,) = host.comments
    link = "[this job](https://github.example.com/lab/hpc/actions/runs/42#artifacts)"
    assert found["body"] == f"{BODY}\nThe whole review is `comment.whole.md`, an artefact of {link}.\n"


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        (
            {"GITLAB_CI": "true", "CI_JOB_URL": "https://git/j/7", "CI_PROJECT_DIR": "."},
            "https://git/j/7/artifacts/file/o/d.whole.md",
        ),
        ({"GITLAB_CI": "true", "CI_JOB_URL": "https://git/j/7"}, "https://git/j/7/artifacts/browse"),
        ({"GITLAB_CI": "true"}, ""),
        ({}, ""),
    ],
)
def test_the_artefacts_of_a_job(
    environment: dict[str, str], address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On GitLab the link leads to the file, where it is in the project; elsewhere the sentence has no link."""
    monkeypatch.chdir(tmp_path)
    file = Path("o", "d.md")
    assert comment_thread.whole_sentence(file, environment) == ""
    file.parent.mkdir()
    comment_thread.whole_file(file).write_text("all of it")
    job = f"[this job]({address})" if address else "the job that wrote this"
    assert f"`d.whole.md`, an artefact of {job}." in comment_thread.whole_sentence(file, environment)


@pytest.mark.parametrize(("first", "found"), [(SIGN, SIGN), ("# dev", ""), ("<!-- open", ""), ("", "")])
def test_the_marker_is_the_first_line(first: str, found: str) -> None:
    """The marker is a hidden comment in the first line, and nothing else."""
    assert marker(f"{first}\ntext") == found


def test_files_that_are_no_comment(github: Path) -> None:
    """A file without a marker, or that cannot be read, is refused."""
    github.write_text("hello\n")
    assert "hidden line" in _run(github, 1)
    github.unlink()
    assert "cannot be read" in _run(github, 1)


def test_an_answer_that_repeats_the_token_is_shown_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that quotes the host's answer has no part of the token, also where the answer repeats the request."""
    answer = requests.Response()
    answer.status_code, answer._content = 500, json.dumps({"message": "x" * 190 + " Bearer planted-token!"}).encode()
    monkeypatch.setattr(requests.Session, "request", lambda *_, **__: answer)
    with pytest.raises(Problem, match=r"answered with 500: x+ Bearer") as refused:
        comment_hosts._Http("http://host", {"Authorization": "Bearer planted-token"}).ask("GET", "/user")
    assert "planted" not in str(refused.value)
    assert "pla" not in str(refused.value)
