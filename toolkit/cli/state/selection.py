"""Which state a command means: the one of a backend's URL, or of a stack."""

from dataclasses import replace
from typing import Annotated

import typer

from toolkit.cli.shared import session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.backends import choice
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack

BackendUrl = Annotated[
    str | None,
    typer.Option("--backend", help="URL as the engine takes it: s3://BUCKET?endpoint=https://..., file:///FOLDER."),
]
SomeStack = Annotated[str | None, typer.Option("--stack", "-s", help="Stack: the backend is the one of its settings.")]


def meant(url: str | None, name: str | None, cluster: str | None) -> tuple[Backend, Stack | None]:
    """Return the backend of a URL or of a stack; raise Problem where neither names one that can be read here."""
    wanted = stacks.read(name, cluster) if name else None
    if wanted is not None and url is None:
        return known(wanted, wanted.backend), wanted
    if url is None:
        raise Problem("no state is named", "Give one of --backend URL and --stack NAME.")
    if wanted is not None:
        if wanted.simulated:
            raise Problem(
                f"stack {name} is on a simulated cluster, which has a backend of its own",
                f"Leave --backend out; `./hpc up {wanted.options} --backend ...` chooses one for a new cluster.",
            )
        url = choice.named(url, {choice.URL: wanted.backend_url or url}, wanted.name) or url
    found = choice.of_url(url)
    if found is None:
        raise Problem(
            f"{choice.without_login(url)} is a backend that only the engine can read",
            "Give s3://BUCKET?... or file:///FOLDER.",
        )
    return found, wanted


def known(wanted: Stack, there: Backend | None) -> Backend:
    """Return a stack's backend; raise Problem where we cannot read it."""
    if there is None:
        raise Problem(
            f"the backend of stack {wanted.name} is unknown, or only the engine can read it",
            f"Name it in {wanted.platform_file.name} (`state.backend`), or in {choice.URL}. Of Pulumi Cloud, and of "
            "buckets that are not S3, `backup` and `restore --from` do; the service stores the versions.",
        )
    return there


def engine(wanted: Stack, there: Backend) -> Engine:
    """Return the engine, led to a backend that the settings may not name yet."""
    running = session.engine(wanted)
    return running if wanted.simulated else replace(running, environment={**running.environment, choice.URL: there.url})


def tags(wanted: Stack, there: Backend | None) -> dict[str, str]:
    """Return what is noted about a stack, where we can read it."""
    return there.tags(wanted.name) if there else {}


def require_free(wanted: Stack, there: Backend | None) -> None:
    """Raise Problem when an update is under way; a lock of a dead process goes."""
    for lock in there.release(wanted.name) if there else ():
        print_text(f"removed the lock of process {lock.pid}, which is dead (since {lock.timestamp})")
