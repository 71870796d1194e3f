"""`./hpc suite`: the newest round of a stack's suite against those before it."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import requests
import typer
from requests.auth import AuthBase

from core.wording import plural
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text, print_warning, show_rows
from toolkit.cli.shared.errors import Judging, Problem
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, OtherName, StackOption, print_json
from toolkit.cli.shared.stack import Stack
from toolkit.cli.suite import suite_rounds
from toolkit.cli.verify.options import AllOption
from toolkit.cli.verify.verdict_tables import json_data, show
from toolkit.evidence.judge import NOT_ENOUGH, exit_status
from toolkit.evidence.records import ROUNDS, RecordsError, Run, append, read
from toolkit.evidence.report import history

KIND = Judging

Files = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", help="File of rounds, or folder with their logs, instead of the cluster; repeatable."),
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Further ones, without -f.")]
AlertmanagerOption = Annotated[
    str | None,
    typer.Option(help="Send the newest round's results to the Alertmanager at this URL (docs/guide/suite.md)."),
]
TOKEN = "HPC_ALERTMANAGER_TOKEN"  # noqa: S105 - the name of a variable
_SECONDS = 20.0


def command(
    more: MoreFiles = None,
    file: Files = None,
    *,
    stack_name: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    alertmanager: AlertmanagerOption = None,
    everything: AllOption = False,
    plain: JsonOption = False,
) -> None:
    """Compare the newest round of a suite with earlier ones.

    Exit status 0: pass; 1: fail, or slower than before; 2: not enough evidence; 3: nothing judged.

    Without files, rounds that have ended on the cluster are read and stored, and compared by their medians.
    """
    names = [*(file or ()), *(more or ())]
    stack = stacks.read(stack_name, name)
    status = judge_rounds(stack, names, everything=everything, plain=plain, alertmanager=alertmanager)
    raise typer.Exit(status)


class _Bearer(AuthBase):
    """The token of the environment, if any; as `auth`, so that no entry of a .netrc takes its place."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if token := os.environ.get(TOKEN):
            request.headers["Authorization"] = f"Bearer {token}"
        return request


def send_alerts(url: str, alerts: Sequence[Mapping[str, Any]]) -> str:
    """Send alerts, and return what was sent; raise Problem where no Alertmanager takes them."""
    try:
        answer = requests.post(f"{url.rstrip('/')}/api/v2/alerts", json=alerts, auth=_Bearer(), timeout=_SECONDS)
    except requests.RequestException as error:
        raise Problem(
            f"--alertmanager {url} does not answer: {type(error).__name__}", "See whether it can be reached from here."
        ) from None
    if not answer.ok:
        raise Problem(
            f"--alertmanager {url} answers {answer.status_code}",
            f"Give its address without a path, and in {TOKEN} a token where it wants one (`oc whoami -t`).",
        )
    firing = sum(alert["endsAt"] > alert["startsAt"] for alert in alerts)
    return f"{plural(firing, 'alert')} sent to {url}, and {len(alerts) - firing} ended"


def judge_rounds(
    stack: Stack, files: Sequence[str], *, everything: bool, plain: bool, alertmanager: str | None = None
) -> int:
    """Judge the newest round against those before it, and return the exit status.

    What it finds is sent to `alertmanager`, a URL, as alerts.
    Without files the rounds of the cluster that have ended are added to those that are stored. A file is one of stored
    rounds; a folder has logs of rounds.
    """
    rounds = [run for name in files for run in _of_file(stack, Path(name))] if files else _of_cluster(stack, plain)
    rounds.sort(key=lambda run: run.time)
    if not rounds:
        print_text("no round of the suite has ended yet")
        return NOT_ENOUGH
    newest, courses = rounds[-1], history.courses(rounds)
    figures = history.judged(courses)
    verdicts = (*newest.verdicts, *figures)
    sent = None
    if alertmanager:
        of_figures = zip(courses, figures, strict=True)
        sent = send_alerts(alertmanager, [*history.alerts(stack.name, of_figures, newest.verdicts, datetime.now(UTC))])
    if plain:
        print_json(json_data(newest.jobs, verdicts))
        return exit_status(verdicts)
    show_rows(history.title(rounds), history.HEADS, history.rows(courses))
    for time, text in history.changes(rounds).items():
        print_text(f"{time:%Y-%m-%d %H:%M} UTC: {text}")
    show(newest.jobs, verdicts, everything=everything)
    if sent:
        print_text(sent)
    return exit_status(verdicts)


def _of_cluster(stack: Stack, silent: bool) -> list[Run]:
    file = stack.results / ROUNDS
    try:
        runs = [kept.run for kept in read(file)] if file.is_file() else []
        for run in suite_rounds.ended(stack, {run.time for run in runs}, silent=silent):
            number = append(file, run)
            runs.append(run)
            if not silent:
                print_text(f"round {number} of {file}; `./hpc report {stack.options} -o DIR` draws it")
    except RecordsError as error:
        raise Problem(str(error)) from None
    except OSError as error:
        raise Problem(f"{file} cannot be written: {error.strerror or error}", "Make room, or give access.") from None
    return runs


def _of_file(stack: Stack, path: Path) -> list[Run]:
    if path.is_dir():
        return suite_rounds.of_logs(stack, path)
    try:
        records = read(path)
        for line in records.skipped:
            print_warning(line)
        return [kept.run for kept in records]
    except RecordsError as error:
        raise Problem(str(error)) from None
