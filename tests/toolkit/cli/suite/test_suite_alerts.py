"""What a round of a suite shows, sent as alerts."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from werkzeug.wrappers import Request, Response

from core.apis import suite
from stacks.layers.monitoring_files import files
from stacks.loading.settings import parse, whole
from tests.support import debian
from tests.support.http_server import as_json, serving
from tests.support.recorded import ROOT
from tests.support.stack_settings import data
from tests.support.suite_rounds import FIRST, SECOND, THIRD, Rounds, runs
from toolkit.cli.shared import session
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.cli.suite import command

FOURTH = "2611280200"
API = "/api/v2/alerts"


@dataclass
class Recorder:
    """What an HTTP server in the place of an Alertmanager was sent: path, headers and alerts of each request."""

    status: int = 200
    url: str = ""
    kept: list[tuple[str, dict[str, str], list[dict[str, Any]]]] = field(default_factory=list)

    def answer(self, request: Request) -> Response:
        """Store a request, and answer with the status."""
        self.kept.append((request.path, dict(request.headers.items()), request.get_json()))
        return as_json({}, self.status)


@contextmanager
def recording(status: int = 200) -> Iterator[Recorder]:
    """Serve a recorder."""
    found = Recorder(status)
    with serving(found.answer) as port:
        found.url = f"http://127.0.0.1:{port}"
        yield found


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """Give a recorder."""
    with recording() as found:
        yield found


def amtool(*words: str | Path) -> str:
    """Return what Alertmanager's own client prints."""
    done = subprocess.run(
        [debian.program("amtool"), *words],
        env=debian.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def sent(
    stack: Stack, recorder: Recorder, some: dict[str, float | None], monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    """Return the alerts that are sent when these runs have ended."""
    monkeypatch.setattr(session, "cluster", lambda _: Rounds(some))
    command.judge_rounds(stack, [], everything=False, plain=True, alertmanager=recorder.url)
    return recorder.kept[-1][2]


def figures(alerts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the alerts about figures."""
    return [alert for alert in alerts if alert["labels"]["criterion"] == "as-fast-as-before"]


def lasts(alert: dict[str, Any]) -> int:
    """Return the days for which an alert fires; 0: it has ended."""
    return (datetime.fromisoformat(alert["endsAt"]) - datetime.fromisoformat(alert["startsAt"])).days


def test_a_worse_round_is_sent_and_a_good_one_ends_its_alerts(
    suite_stack: Stack, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The alerts of a figure have the same labels in both rounds, and the first describes how much worse it is."""
    monkeypatch.setenv(command.TOKEN, "a-token")
    worse, good = (
        figures(sent(suite_stack, recorder, some, monkeypatch))
        for some in (runs(FIRST) | runs(SECOND) | runs(THIRD, by=1.2), runs(FOURTH))
    )
    assert {(path, headers["Authorization"]) for path, headers, _ in recorder.kept} == {(API, "Bearer a-token")}
    assert [each["labels"] for each in worse] == [each["labels"] for each in good]
    assert ({lasts(each) for each in worse}, {lasts(each) for each in good}) == ({8}, {0})
    labels = worse[0]["labels"]
    assert (labels["alertname"], labels["stack"], labels["namespace"]) == (suite.ALERT, "h200-infiniband", "training")
    assert "20.0% worse" in worse[0]["annotations"]["description"]
    assert len({each["labels"]["figure"] for each in worse}) == len(worse)


def test_alerts_are_as_alertmanagers_own_client_sends_them(
    suite_stack: Stack, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Address, fields and times are those of amtool, which adds the same alert."""
    ours = figures(sent(suite_stack, recorder, runs(FIRST) | runs(SECOND, by=1.2), monkeypatch))[0]
    amtool(
        f"--alertmanager.url={recorder.url}",
        *("alert", "add", f"--start={ours['startsAt']}", f"--end={ours['endsAt']}"),
        *(f"--annotation={key}={json.dumps(value, ensure_ascii=False)}" for key, value in ours["annotations"].items()),
        *(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in ours["labels"].items()),
    )
    path, headers, (theirs,) = recorder.kept[-1]
    assert (path, headers["Content-Type"]) == (API, recorder.kept[0][1]["Content-Type"])
    assert (theirs["labels"], theirs["annotations"]) == (ours["labels"], ours["annotations"])
    for time in ("startsAt", "endsAt"):
        assert abs(datetime.fromisoformat(theirs[time]) - datetime.fromisoformat(ours[time])).total_seconds() < 1
    assert {*theirs} - {*ours} <= {"generatorURL"}


def test_receivers_of_the_stack_get_them(tmp_path: Path) -> None:
    """The alertmanager.yaml of a stack with a suite has a route for its alerts."""
    content = data("h200-infiniband") | {"suite": whole("h200-infiniband", ROOT).data["suite"]}
    mail = {"kind": "email", "to": "a@example.com", "sender": "b@example.com", "server": "mail.example.com:587"}
    content["gpu"]["monitoring"] = {"notify": {"receivers": [mail]}}
    file = tmp_path / "alertmanager.yaml"
    file.write_text(files(parse(content, "test"))["alertmanager.yaml"])
    labels = ("severity=warning", "namespace=training")
    assert amtool("config", "routes", "test", f"--config.file={file}", f"alertname={suite.ALERT}", *labels) == "hpc\n"


def test_what_cannot_be_sent_is_one_message() -> None:
    """An address that does not answer, and one that refuses, are named with the remedy."""
    with pytest.raises(Problem, match=r"--alertmanager http://127\.0\.0\.1:9 does not answer"):
        command.send_alerts("http://127.0.0.1:9", [])
    with recording(403) as refusing, pytest.raises(Problem, match=rf"answers 403\n.*{command.TOKEN}"):
        command.send_alerts(refusing.url, [])
