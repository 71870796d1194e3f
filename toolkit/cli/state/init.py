"""`./hpc state init`: create what a stack's state needs: its bucket or folder, and the stack in it."""

from collections.abc import Iterator
from typing import Annotated

import typer

from core.wording import some
from toolkit.cli.shared import passphrases, session
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
from toolkit.cli.state import presentation, selection
from toolkit.cli.state.rotation import PASSPHRASE
from toolkit.cli.state.selection import BackendUrl, SomeStack

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
    backend: BackendUrl = None,
    stack: SomeStack = None,
    name: OtherName = None,
    days: DaysOption = None,
    newest: NewestOption = None,
    kms_key: KeyOption = None,
    yes: SharedOption = False,
) -> None:
    """Create a backend, and with --stack the stack in it.

    On an existing backend it adds what is missing; it may be run again at any time.
    """
    there, wanted = selection.meant(backend, stack, name)
    lacking = False
    for found, changed in create_backend(there, BucketOptions(days, newest, kms_key), shared=yes):
        presentation.print_created(found, changed=changed)
        lacking |= found.status == BAD
    if wanted is not None:
        presentation.print_created(*create_stack(wanted, selection.engine(wanted, there), there))
        if not wanted.simulated and not (wanted.settings.state and wanted.settings.state.backend):
            print_text(
                f"Write it into {wanted.platform_file.name}, so that all users have the same:\n"
                f"  hpc:platform:\n    state:\n      backend: {there.url}"
            )
    if lacking:
        raise typer.Exit(1)


def create_backend(there: Backend, wanted: BucketOptions, *, shared: bool = False) -> Iterator[tuple[Finding, bool]]:
    """Create a backend, and yield of each thing its status now and whether it was changed.

    Raises Problem, with nothing changed, for a bucket that has other objects, unless it is to be `shared`.
    """
    store = there.store
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
        yield bucket_setup.repair(store, part, wanted)


def _require_own(store: BucketStore) -> None:
    """Raise Problem where a bucket has other objects than states: settings would apply to those, too."""
    with store.asking():
        found = store.client.list_objects_v2(Bucket=store.location.bucket, MaxKeys=_LOOKED_AT).get("Contents", ())
        others = [item["Key"] for item in found if ".pulumi" not in item["Key"].split("/")]
        if others:
            raise Problem(
                f"bucket {store.location.bucket} has other objects than states: {some(others, _NAMED)}",
                "Use a bucket for states alone. To use this one, --yes: versions, encryption and the policies "
                "against the public and against requests without TLS are then set for all that is in it.",
            )


def create_stack(wanted: Stack, running: Engine, there: Backend) -> tuple[Finding, bool]:
    """Create a stack with the secrets provider that its settings name; return its status, and whether it is new."""
    provider = (wanted.settings.state.secrets_provider if wanted.settings.state else None) or PASSPHRASE
    found = Finding("stack", GOOD, f"{wanted.name}, secrets by {provider}")
    if there.has(wanted.name):
        return found, False
    if wanted.simulated:
        session.prepare(wanted, running)
        return Finding("stack", GOOD, f"{wanted.name}, secrets by {PASSPHRASE}"), True
    if wanted.example:
        raise Problem(
            f"stack {wanted.name} is an example, and its settings have no place for a key",
            f"Copy {wanted.file.relative_to(ROOT)} to Pulumi.NAME.yaml, and use stack NAME.",
        )
    named = running.environment.get(passphrases.FILE)
    if provider in (PASSPHRASE, "default") and not (passphrases.is_given(running.environment) or named):
        raise Problem(
            f"the secrets of stack {wanted.name} are to be encrypted with a passphrase, and none is given",
            f"Set {passphrases.FILE} to a file with one (or {passphrases.PASSPHRASE}), or name a key in its "
            "settings: `state.secrets_provider`.",
        )
    # The engine writes the key into Pulumi.<stack>.yaml, and leaves its comments.
    named_key = ("--secrets-provider", provider, "--no-select")
    running.call("stack", "init", wanted.name, *named_key, folder=wanted.file.parent)
    return found, True
