"""`./hpc ci comment`: put a review onto the pull request that a job runs for."""

import os
from pathlib import Path
from typing import Annotated

import typer

from toolkit.cli.ci import comment_thread
from toolkit.cli.ci.comment_hosts import ForbiddenError, thread
from toolkit.cli.ci.comment_thread import marker, publish
from toolkit.cli.shared.console import print_notice, print_text
from toolkit.cli.shared.errors import Problem

FileArgument = Annotated[Path, typer.Argument(help="File that `./hpc diff -o FILE` wrote.")]
_SUMMARY = "GITHUB_STEP_SUMMARY"


def command(file: FileArgument) -> None:
    """Put a review onto a CI job's pull request.

    There is one comment of each kind: an earlier one of this command is edited. A comment that was shortened links to
    the job's artefacts, for the whole review.

    Works in a job of GitHub Actions (GITHUB_TOKEN) or GitLab CI (HPC_GITLAB_TOKEN). Where there is no pull request, or
    the token may not write, as for those of forks, GitHub shows it as the job's summary.
    """
    try:
        body = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(
            f"{file} cannot be read: {error}", "Name what `./hpc diff --stack STACK -o FILE` wrote."
        ) from None
    if not marker(body):
        raise Problem(
            f"{file} does not begin with the hidden line by which a comment is found again",
            "Name what `./hpc diff --stack STACK -o FILE` wrote.",
        )
    body += comment_thread.whole_sentence(file, os.environ)
    try:
        pull_request = thread(os.environ)
        if pull_request is not None:
            if len(body) > pull_request.limit:
                raise Problem(
                    f"{file} has {len(body)} characters, and a comment at most {pull_request.limit}", "Shorten it."
                )
            done, where = publish(pull_request, body)
            print_text(f"comment {done}" + (f": {where}" if where else ""))
            return
    except ForbiddenError as problem:
        if _SUMMARY not in os.environ:
            raise
        print_notice(f"no comment: {problem}")
    _summarise(body)


def _summarise(body: str) -> None:
    if _SUMMARY not in os.environ:
        raise Problem(
            "there is no pull request to comment on",
            "This command is for jobs of GitHub Actions and GitLab CI that run for one.",
        )
    with Path(os.environ[_SUMMARY]).open("a") as summary:
        summary.write(body + "\n")
    print_text("written to the job's summary")
