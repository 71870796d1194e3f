"""`./hpc state init`: create what a stack's state needs: its bucket or folder, and the stack in it."""

from collections.abc import Iterator
from typing import Annotated

import typer

from core.wording import some
from toolkit.cli.shared import environment, session
from toolkit.cli.shared.backends import bucket_setup
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.backends.bucket import BucketStore
from toolkit.cli.shared.backends.bucket_parts import BAD, DAYS, GOOD, LEAST_DAYS, NEWEST, PARTS, BucketOptions, Finding
from toolkit.cli.shared.backends.store import FolderStore
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import OtherName
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.cli.state import selection
from toolkit.cli.state.rotate import PASSPHRASE
from toolkit.cli.state.selection import BackendUrl, SomeStack, print_created

_PRIVATE = 0o700
_LOOKED_AT, _NAMED = 100, 3  # objects

DaysOption = Annotated[
    int | None,
    typer.Option(min=LEAST_DAYS, help=f"Days for which old versions are retained; {DAYS} where nothing is set."),
]
NewestOption = Annotated[
    int | None,
    typer.Option(min=1, max=100, help=f"Old versions retained whatever their age; {NEWEST} where nothing is set."),
]
KeyOption = Annotated[
    str | None, typer.Option(help="KMS key for the bucket; default: the service's own key, where none is set.")
]
SharedOption = Annotated[bool, typer.Option("--yes", "-y", help="Use a bucket that also has other objects.")]


def command(
    *,
    backend_url: BackendUrl = None,
    stack_name: SomeStack = None,
    name: OtherName = None,
    days: DaysOption = None,
    newest: NewestOption = None,
    kms_key: KeyOption = None,
    yes: SharedOption = False,
) -> None:
    """Create a backend, and with --stack the stack in it.

    On an existing backend it adds what is missing; it may be run again at any time.
    """
    backend, stack = selection.meant(backend_url, stack_name, name)
    lacking = False
    for finding, changed in create_backend(backend, BucketOptions(days, newest, kms_key), shared=yes):
        print_created(finding, changed=changed)
        lacking |= finding.status == BAD
    if stack is not None:
        print_created(*create_stack(stack, selection.engine(stack, backend), backend))
        if not stack.simulated and not (stack.settings.state and stack.settings.state.backend):
            print_text(
                f"Write it into {stack.platform_file.name}, so that all users have the same:\n"
                f"  hpc:platform:\n    state:\n      backend: {backend.url}"
            )
    if lacking:
        raise typer.Exit(1)


def create_backend(backend: Backend, options: BucketOptions, *, shared: bool = False) -> Iterator[tuple[Finding, bool]]:
    """Create a backend, and yield of each thing its status now and whether it was changed.

    Raises Problem, with nothing changed, for a bucket that has other objects, unless it is to be `shared`.
    """
    store = backend.store
    if isinstance(store, FolderStore):
        fresh = not store.folder.is_dir()
        try:
            store.folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
        except OSError as error:
            raise Problem(f"{store.folder} cannot be created: {error.strerror}", "Name another folder.") from None
        yield Finding("folder", GOOD, f"{store.folder}, on this machine only"), fresh
    if not isinstance(store, BucketStore):
        return
    fresh = not bucket_setup.exists(store)
    if fresh:
        bucket_setup.make(store)
    elif not shared:
        _require_own(store)
    yield Finding("bucket", GOOD, f"{store.location.bucket} on {store.location.where}"), fresh
    for part in PARTS:
        yield bucket_setup.repair(store, part, options)


def _require_own(store: BucketStore) -> None:
    """Raise Problem where a bucket has other objects than states: settings would apply to those, too."""
    with store.asking():
        objects = store.client.list_objects_v2(Bucket=store.location.bucket, MaxKeys=_LOOKED_AT).get("Contents", ())
        others = [item["Key"] for item in objects if ".pulumi" not in item["Key"].split("/")]
        if others:
            raise Problem(
                f"bucket {store.location.bucket} has other objects than states: {some(others, _NAMED)}",
                "Use a bucket for states alone. To use this one, --yes: versions, encryption and the policies "
                "against the public and against requests without TLS are then set for all that is in it.",
            )


def create_stack(stack: Stack, running: Engine, backend: Backend) -> tuple[Finding, bool]:
    """Create a stack with the secrets provider that its settings name; return its status, and whether it is new."""
    provider = (stack.settings.state.secrets_provider if stack.settings.state else None) or PASSPHRASE
    finding = Finding("stack", GOOD, f"{stack.name}, secrets by {provider}")
    if backend.has(stack.name):
        return finding, False
    if stack.simulated:
        session.prepare(stack, running)
        return Finding("stack", GOOD, f"{stack.name}, secrets by {PASSPHRASE}"), True
    if stack.example:
        raise Problem(
            f"stack {stack.name} is an example, and its settings have no place for a key",
            f"Copy {stack.file.relative_to(ROOT)} to Pulumi.NAME.yaml, and use stack NAME.",
        )
    named = running.environment.get(environment.PASSPHRASE_FILE)
    if provider in (PASSPHRASE, "default") and not (environment.has_passphrase(running.environment) or named):
        raise Problem(
            f"the secrets of stack {stack.name} are to be encrypted with a passphrase, and none is given",
            f"Set {environment.PASSPHRASE_FILE} to a file with one (or {environment.PASSPHRASE}), or name a key in its "
            "settings: `state.secrets_provider`.",
        )
    # The engine writes the key into Pulumi.<stack>.yaml, and leaves its comments.
    named_key = ("--secrets-provider", provider, "--no-select")
    running.call("stack", "init", stack.name, *named_key, folder=stack.file.parent)
    return finding, True
