"""`./hpc state restore`: bring an older state back, adjusted to the cluster's present objects."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from toolkit.cli.shared import identity, session, settings_copy
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.backends import older_states
from toolkit.cli.shared.backends.backend import CLUSTER_UID, Backend
from toolkit.cli.shared.checkpoints import access, objects
from toolkit.cli.shared.checkpoints.access import Checkpoint
from toolkit.cli.shared.checkpoints.interrupted import recover
from toolkit.cli.shared.checkpoints.objects import Live
from toolkit.cli.shared.checkpoints.restored import Difference, Restored, difference, fit, without
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import confirmed, print_text, print_warning
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import OtherName, StackOption
from toolkit.cli.shared.paths import PROJECT
from toolkit.cli.shared.stack import Stack
from toolkit.cli.state import selection
from toolkit.review.sentences import short_title

SourceOption = Annotated[Path | None, typer.Option("--from", help="File of `./hpc state backup`.")]
VersionOption = Annotated[str | None, typer.Option(help="Id that `./hpc state list --stack` shows.")]
AloneOption = Annotated[
    bool, typer.Option("--without-cluster", help="Restore the state unchanged, without reading the cluster.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
_SHOWN = 12
_VERSION = 3
"""Of exports of the engine."""
_CIPHER = '"ciphertext"'


def command(
    *,
    stack_name: StackOption,
    name: OtherName = None,
    source: SourceOption = None,
    version: VersionOption = None,
    without_cluster: AloneOption = False,
    yes: YesOption = False,
) -> None:
    """Restore an older state, adjusted to the cluster's present objects.

    The present state is backed up first.
    """
    stack = stacks.read(stack_name, name)
    if (source is None) == (version is None):
        raise Problem("no state is named", "Give one of --from FILE and --version ID.")
    with session.exclusive(stack):
        running = session.engine(stack)
        backend = stack.backend
        selection.require_free(stack, backend)
        deployment, cluster = (
            from_file(source) if source else from_version(selection.readable(stack, backend), stack.name, version or "")
        )
        tags = selection.tags(stack, backend)
        live = None if without_cluster else session.cluster(stack)
        here = _uid(live) if live else tags.get(CLUSTER_UID, "")
        require_own(stack, deployment, cluster, here)
        if live:
            identity.require(stack, live, backend, running)
        session.prepare(stack, running)
        restore = plan(stack, running, backend, deployment, live.find if live else None)
        if not restore.change.any and not restore.present.damaged:
            print_text(f"the state of stack {stack_name} is that already; nothing to restore")
            return
        for line in restore.lines():
            print_text(line)
        if not confirmed(f"Restore the state of stack {stack_name}?", yes=yes):
            raise typer.Exit(1)
        backup = access.backup_place(stack, "damaged" if restore.present.damaged else "before-restore")
        access.write(running, backend, restore.present, restore.document, backup)
        print_text(f"the state before is in {backup}")
    if live is None:
        print_warning(
            "the cluster was not queried, and may have objects that this state lacks\n"
            f"`./hpc state repair {stack.options}` finds them; run it before the next update."
        )
    print_text(
        f"restored; nothing on the cluster was changed. `./hpc drift {stack.options}` shows how the cluster differs "
        f"from it, `./hpc up {stack.options}` applies the settings."
    )


def _uid(live: Cluster) -> str:
    try:
        return identity.read(live).uid
    except Problem as problem:
        raise Problem(
            str(problem), "If the cluster is not reachable now: --without-cluster restores the state unchanged."
        ) from None


@dataclass(frozen=True)
class Plan:
    """A restore that has been thought through."""

    present: Checkpoint
    """The state as the engine exports it now; of a damaged one, the newest that is stored and can be read."""
    document: dict[str, Any]
    """What is to be imported."""
    restored: Restored
    change: Difference

    def lines(self) -> list[str]:
        """Return what the restore changes, for users."""
        groups = (
            ("returns to the state", self.change.gained),
            ("leaves the state", self.change.lost),
            ("was changed since, and is applied again by the next update; secrets always are", self.change.changed),
            ("stays, because it is on the cluster", self.restored.taken),
            ("stays as it is, because it was another object then, or not finished", self.restored.renewed),
            ("is left out, because it is not on the cluster any more, or another's by now", self.restored.gone),
        )
        lines = [line for title, urns in groups for line in _group(title, urns)]
        others = len(self.change.reported)
        return [*lines, f"{others} more: only what the cluster reported of them is as it was"] if others else lines


def from_file(file: Path) -> tuple[dict[str, Any], str]:
    """Return the deployment of a backup, and the UID of its cluster, if that is noted."""
    if not file.exists():
        raise Problem(f"there is no file {file}", "An id of `./hpc state list --stack STACK` goes behind --version.")
    backup = access.read_backup(file)
    return backup.deployment, backup.cluster


def from_version(backend: Backend, stack: str, version: str) -> tuple[dict[str, Any], str]:
    """Return the deployment of a version that is stored, and the UID of the cluster that the stack had then."""
    older = older_states.find(backend, stack, version)
    deployment = older_states.read(backend, older)
    if deployment is None:
        raise Problem(f"version {version} of the state of stack {stack} cannot be read", "Take another.")
    return deployment, backend.tags(stack, at=older.modified).get(CLUSTER_UID, "")


def require_own(stack: Stack, deployment: Mapping[str, Any], cluster: str, here: str) -> None:
    """Raise Problem when a state is another stack's or another cluster's, or its key is not the one of today.

    `cluster` and `here` are the UIDs of the state's cluster and of the present one; empty where no one knows.
    """
    others = {
        part
        for resource in older_states.resources(deployment)
        if (part := _owner(resource["urn"])) != (stack.name, PROJECT)
    }
    if others:
        name, project = sorted(others)[0]
        raise Problem(
            f"this is the state of stack {name} of project {project}, not of stack {stack.name} of {PROJECT}",
            f"`./hpc state list {stack.options}` lists the states of this stack.",
        )
    if cluster and here and cluster != here:
        raise Problem(
            f"this state is about the cluster {cluster}, and stack {stack.name} is now on {here}",
            "None of its objects is on the new cluster. Bring the stack up there; nothing needs to be restored.",
        )
    settings = settings_copy.read(stack.copy if stack.copied else stack.file)
    then, now = _key_of(deployment), next(filter(None, map(settings.get, settings_copy.KEY_MARKS)), None)
    if then and now and then != now and _CIPHER in json.dumps(deployment):
        raise Problem(
            f"the secrets in this state are encrypted with an earlier key than those of {stack.file.name}",
            f"Take {stack.file.name} of that time (git), with the passphrase of that time, restore, and then rotate "
            f"the key again: `./hpc state rotate {stack.options}`.",
        )


def plan(
    stack: Stack, running: Engine, backend: Backend | None, deployment: Mapping[str, Any], live: Live | None
) -> Plan:
    """Return what a restore of a deployment would do; without `live` it comes back as it was, fitting or not."""
    damaged = backend.read(stack.name) if backend and _unreadable(stack.name, backend) else None
    if backend and damaged is not None:
        present = Checkpoint({"version": _VERSION, "deployment": _newest(stack.name, backend)}, damaged, damaged=True)
    else:
        present = access.read(running, backend)
    now = present.document.get("deployment") or {}
    others = objects.others_of(stack.name, backend)
    if live is None:
        restored = without(deployment, others)
    else:
        settled = recover({"deployment": dict(deployment)}, live, others=others).deployment["deployment"]
        restored = fit(settled, now, live, others)
    document = {**present.document, "deployment": restored.deployment}
    return Plan(present, document, restored, difference(now, restored.deployment))


def _unreadable(stack: str, backend: Backend) -> bool:
    try:
        backend.checkpoint(stack)
    except Problem:
        return True
    return False


def _newest(stack: str, backend: Backend) -> dict[str, Any]:
    """Return what is known of today where the state is damaged; nothing where there is no other."""
    readable = (older_states.read(backend, state) for state in older_states.kept(backend, stack) if not state.removed)
    return next((deployment for deployment in readable if deployment is not None), {})


def _group(title: str, urns: tuple[str, ...]) -> list[str]:
    if not urns:
        return []
    more = [f"  ... and {len(urns) - _SHOWN} more"] if len(urns) > _SHOWN else []
    return [f"{title} ({len(urns)}):", *(f"  {short_title(urn)}" for urn in urns[:_SHOWN]), *more]


def _owner(urn: str) -> tuple[str, str]:
    head, _, rest = urn.removeprefix("urn:pulumi:").partition("::")
    return head, rest.partition("::")[0]


def _key_of(deployment: Mapping[str, Any]) -> str:
    state = (deployment.get("secrets_providers") or {}).get("state") or {}
    return str(state.get("salt") or state.get("encryptedkey") or "")
