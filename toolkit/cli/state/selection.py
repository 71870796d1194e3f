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
    stack = stacks.read(name, cluster) if name else None
    if stack is not None and url is None:
        return readable(stack, stack.backend), stack
    if url is None:
        raise Problem("no state is named", "Give one of --backend URL and --stack NAME.")
    if stack is not None:
        if stack.simulated:
            raise Problem(
                f"stack {name} is on a simulated cluster, which has a backend of its own",
                f"Leave --backend out; `./hpc up {stack.options} --backend ...` chooses one for a new cluster.",
            )
        url = choice.named(url, {choice.URL: stack.backend_url or url}, stack.name) or url
    backend = choice.of_url(url)
    if backend is None:
        raise Problem(
            f"{choice.without_login(url)} is a backend that only the engine can read",
            "Give s3://BUCKET?... or file:///FOLDER.",
        )
    return backend, stack


def readable(stack: Stack, backend: Backend | None) -> Backend:
    """Return a stack's backend; raise Problem where we cannot read it."""
    if backend is None:
        raise Problem(
            f"the backend of stack {stack.name} is unknown, or only the engine can read it",
            f"Name it in {stack.platform_file.name} (`state.backend`), or in {choice.URL}. Of Pulumi Cloud, and of "
            "buckets that are not S3, `backup` and `restore --from` do; the service stores the versions.",
        )
    return backend


def engine(stack: Stack, backend: Backend) -> Engine:
    """Return the engine, led to a backend that the settings may not name yet."""
    running = session.engine(stack)
    return (
        running if stack.simulated else replace(running, environment={**running.environment, choice.URL: backend.url})
    )


def tags(stack: Stack, backend: Backend | None) -> dict[str, str]:
    """Return what is noted about a stack, where we can read it."""
    return backend.tags(stack.name) if backend else {}


def require_free(stack: Stack, backend: Backend | None) -> None:
    """Raise Problem when an update is under way; a lock of a dead process goes."""
    for lock in backend.release(stack.name) if backend else ():
        print_text(f"removed the lock of process {lock.pid}, which is dead (since {lock.timestamp})")
