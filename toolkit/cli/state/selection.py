"""Which state a command means, a backend's or a stack's, and how what is known of it is printed."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from toolkit.cli.shared import session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.backends import older_states
from toolkit.cli.shared.backends.backend import BACKEND_URL, Backend, named_url, of_url, without_login
from toolkit.cli.shared.backends.bucket_parts import BAD, GOOD, UNKNOWN, Finding
from toolkit.cli.shared.console import print_text, print_warning, show_rows, styled
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack

BackendUrl = Annotated[
    str | None,
    typer.Option("--backend", help="URL as the engine takes it: s3://BUCKET?endpoint=https://..., file:///FOLDER."),
]
SomeStack = Annotated[str | None, typer.Option("--stack", "-s", help="Stack: the backend is the one of its settings.")]
_COLOURS = {GOOD: "green", BAD: "red", UNKNOWN: "yellow"}


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
        url = named_url(url, {BACKEND_URL: stack.backend_url or url}, stack.name) or url
    backend = of_url(url)
    if backend is None:
        raise Problem(
            f"{without_login(url)} is a backend that only the engine can read",
            "Give s3://BUCKET?... or file:///FOLDER.",
        )
    return backend, stack


def readable(stack: Stack, backend: Backend | None) -> Backend:
    """Return a stack's backend; raise Problem where we cannot read it."""
    if backend is None:
        raise Problem(
            f"the backend of stack {stack.name} is unknown, or only the engine can read it",
            f"Name it in {stack.platform_file.name} (`state.backend`), or in {BACKEND_URL}. Of Pulumi Cloud, and of "
            "buckets that are not S3, `backup` and `restore --from` do; the service stores the versions.",
        )
    return backend


def engine(stack: Stack, backend: Backend) -> Engine:
    """Return the engine, led to a backend that the settings may not name yet."""
    running = session.engine(stack)
    return (
        running if stack.simulated else replace(running, environment={**running.environment, BACKEND_URL: backend.url})
    )


def tags(stack: Stack, backend: Backend | None) -> dict[str, str]:
    """Return what is noted about a stack, where we can read it."""
    return backend.tags(stack.name) if backend else {}


def require_free(stack: Stack, backend: Backend | None) -> None:
    """Raise Problem when an update is under way; a lock of a dead process goes."""
    for lock in backend.release(stack.name) if backend else ():
        print_text(f"removed the lock of process {lock.pid}, which is dead (since {lock.timestamp})")


def print_findings(rows: Iterable[Finding]) -> None:
    """Print findings, and what to do where they are not good."""
    all_rows = list(rows)
    show_rows(
        "State",
        ("check", "result", "details"),
        ((row.name, styled(row.status, _COLOURS[row.status]), row.text) for row in all_rows),
    )
    for row in all_rows:
        if row.status != GOOD and row.remedy:
            print_text(f"{row.name}: {row.remedy}")


def print_created(finding: Finding, changed: bool = False) -> None:
    """Print what was created, or was there; a warning where the service does not know it."""
    if finding.status == UNKNOWN:
        print_warning(f"{finding.name}: {finding.text}\n{finding.remedy}")
        return
    done = "set" if changed else "was so already" if finding.status == GOOD else "NOT GOOD"
    print_text(f"{finding.name}: {finding.text} ({done})")
    if finding.status == BAD:
        print_text(f"  {finding.remedy}")


def stack_row(backend: Backend, name: str) -> tuple[str, ...]:
    """Return the row of a stack: name, resources, size, when it was written, who has its lock."""
    try:
        count = str(len(backend.resources(name)))
        locks = ", ".join(lock.holder for lock in backend.locks(name))
    except Problem as problem:
        count, locks = "unreadable", str(problem).partition("\n")[0]
    written = backend.written(name)
    size = len(backend.read(name) or b"")
    return name, count, f"{size / 1e6:.1f} MB", _time(written) if written else "removed", locks


def older_rows(backend: Backend, shown: tuple[older_states.Kept, ...]) -> Iterable[tuple[str, ...]]:
    """Yield the rows of older states: id, kind, when they were written, resources."""
    for state, deployment in zip(shown, older_states.read_all(backend, shown), strict=True):
        count = (
            "removed"
            if state.removed
            else str(len(older_states.resources(deployment)))
            if deployment is not None
            else "none"
        )
        yield state.id, state.kind, _time(state.modified), count


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
