"""`./hpc suite`: the rounds of a stack's suite, read, stored, and the newest compared with those before."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from toolkit.cli.shared import results
from toolkit.cli.shared.console import print_text, print_warning, show_rows
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import print_json
from toolkit.cli.shared.stack import Stack
from toolkit.cli.suite import suite_rounds
from toolkit.cli.suite.alertmanager import send
from toolkit.cli.verify.verdict_tables import json_data, show
from toolkit.evidence.judge import NOT_ENOUGH, exit_status
from toolkit.evidence.records import RecordsError, Run, append, read
from toolkit.evidence.report import history


def of_stack(
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
        sent = send(alertmanager, [*history.alerts(stack.name, of_figures, newest.verdicts, datetime.now(UTC))])
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
    file = results.rounds(stack)
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
