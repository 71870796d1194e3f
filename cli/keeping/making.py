"""Making what a stack's state needs: its bucket or folder, and the stack in it."""

from collections.abc import Iterator

from cli import passphrases, session
from cli.backends import setup
from cli.backends.backend import Backend
from cli.backends.bucket import BucketStore
from cli.backends.setup import GOOD, Finding, Wanted
from cli.backends.store import FolderStore
from cli.engine import Engine
from cli.errors import Problem
from cli.keeping.rotation import PASSPHRASE
from cli.places import ROOT
from cli.stack import Stack

_PRIVATE = 0o700
_LOOKED_AT, _NAMED = 100, 3  # objects


def backend(there: Backend, wanted: Wanted, *, shared: bool = False) -> Iterator[tuple[Finding, bool]]:
    """Make a backend, and yield of each thing how it stands now and whether it was changed.

    Raises Problem, with nothing changed, for a bucket that holds other things, unless it is to be `shared`.
    """
    store = there.store
    if isinstance(store, FolderStore):
        fresh = not store.folder.is_dir()
        try:
            store.folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
        except OSError as error:
            raise Problem(f"{store.folder} cannot be made: {error.strerror}", "Name another folder.") from None
        yield Finding("folder", GOOD, f"{store.folder}, on this machine only"), fresh
    if not isinstance(store, BucketStore):
        return
    fresh = not setup.exists(store)
    if fresh:
        setup.make(store)
    elif not shared:
        _require_own(store)
    yield Finding("bucket", GOOD, f"{store.location.bucket} on {store.location.where}"), fresh
    for part in setup.PARTS:
        yield setup.mend(store, part, wanted)


def _require_own(store: BucketStore) -> None:
    """Raise Problem where a bucket holds what no state is: what is set would be set for that, too."""
    with store.asking():
        begun = store.client.list_objects_v2(Bucket=store.location.bucket, MaxKeys=_LOOKED_AT).get("Contents", ())
        others = [item["Key"] for item in begun if ".pulumi" not in item["Key"].split("/")]
        if others:
            named = f"{', '.join(others[:_NAMED])}{' and others' if len(others) > _NAMED else ''}"
            raise Problem(
                f"bucket {store.location.bucket} holds other things than states: {named}",
                "Take a bucket for states alone. If it is to be this one, --yes: versions, encryption and the policies "
                "against the public and against requests without TLS are then set for all that is in it.",
            )


def stack(wanted: Stack, running: Engine, there: Backend) -> tuple[Finding, bool]:
    """Make a stack with the secrets provider that its settings name; return how it stands, and whether it is new."""
    provider = (wanted.settings.state.secrets_provider if wanted.settings.state else None) or PASSPHRASE
    said = Finding("stack", GOOD, f"{wanted.name}, secrets by {provider}")
    if there.has(wanted.name):
        return said, False
    if wanted.simulated:
        session.prepare(wanted, running)
        return Finding("stack", GOOD, f"{wanted.name}, secrets by {PASSPHRASE}"), True
    if wanted.example:
        raise Problem(
            f"stack {wanted.name} is an example, and its settings have no place for a key",
            f"Copy {wanted.file.relative_to(ROOT)} to Pulumi.NAME.yaml, and make stack NAME.",
        )
    named = running.environment.get(passphrases.FILE)
    if provider in (PASSPHRASE, "default") and not (passphrases.given(running.environment) or named):
        raise Problem(
            f"the secrets of stack {wanted.name} are to be encrypted with a passphrase, and none is given",
            f"Set {passphrases.FILE} to a file that holds one (or {passphrases.PASSPHRASE}), or name a key in its "
            "settings: `state.secrets_provider`.",
        )
    # The engine writes the key into Pulumi.<stack>.yaml, and leaves its comments.
    named_key = ("--secrets-provider", provider, "--no-select")
    running.call("stack", "init", wanted.name, *named_key, folder=wanted.file.parent)
    return said, True
