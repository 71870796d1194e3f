"""Settle creates that were interrupted: what is on the cluster comes into the state, the rest is cleared.

The engine records a pending operation before each create and never clears a pending create by itself. Its own
`refresh --import-pending-creates` (3.276) renames the operation and drops it at the end of the refresh: the object is
then created again (AlreadyExists). `pulumi import` records no more of a custom resource than its name: the next update
finds its spec added, and replaces a job. So an object that is on the cluster becomes a resource with all that the
program has declared of it, in the form in which a provider records it, and an initialisation that is not confirmed:
the next update awaits it again and changes nothing else.

A create whose answer the network lost leaves nothing in the checkpoint: for the engine it has failed. Such objects are
found among those that a preview would create.
"""

import copy
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policies.manifests.values import read
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.checkpoints import access, objects
from toolkit.cli.shared.checkpoints.objects import (
    MAKER,
    Live,
    OtherStacks,
    find_object,
    made_by_provider,
    managers,
    ours,
)
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.engine.prediction.inputs import FIELD_MANAGER, INITIAL_API_VERSION, INPUTS
from toolkit.review.sentences import short_title

UNCONFIRMED = "the update that created it was killed before it had seen it ready"
_CREATES = ("create", "create-replacement")
_PLANNED = ("urn", "type", "custom", "parent", "provider", "inputs", "protect", "retainOnDelete")
"""What the state has of a resource, and a preview reports; the next update records the rest."""


@dataclass(frozen=True)
class Recovery:
    """What became of the pending creates, by URN: taken into the state, cleared, or another owner's."""

    deployment: dict[str, Any]
    taken: tuple[str, ...]
    cleared: tuple[str, ...]
    foreign: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Whether the checkpoint must be written back."""
        return bool(self.taken or self.cleared)


def recover(
    exported: Mapping[str, Any],
    live: Live,
    planned: Iterable[Mapping[str, Any]] = (),
    others: OtherStacks = objects.NONE,
) -> Recovery:
    """Settle the pending operations of an exported checkpoint; `exported` itself is not changed.

    `planned` are resources that the next update would create: of those, what the provider has made already is taken.
    Nothing is taken that `others` have.
    """
    document = copy.deepcopy(dict(exported))
    deployment = document.get("deployment") or {}
    pending = deployment.get("pending_operations") or []
    resources = deployment.setdefault("resources", [])
    places = {resource["urn"]: index for index, resource in enumerate(resources) if not resource.get("delete")}
    taken: list[str] = []
    cleared: list[str] = []
    foreign: list[str] = []
    for operation in pending:
        resource = operation["resource"]
        urn = resource["urn"]
        place = places.get(urn)
        awaited = place is None or resources[place].get("pendingReplacement")
        live_object = find_object(resource, live) if operation["type"] == "creating" and awaited else None
        if live_object is None:  # updates, deletes and reads are repeated by the next update
            cleared.append(urn)
        elif not _begun(resource, live_object) or others.have(resource, live_object):
            foreign.append(urn)
            cleared.append(urn)
        else:
            _put(resources, place, _resource(resource, live_object))
            taken.append(urn)
    taken += _lost(resources, planned, live, others)
    if pending:
        deployment["pending_operations"] = []
    return Recovery(document, tuple(taken), tuple(cleared), tuple(foreign))


def _lost(
    resources: list[dict[str, Any]], planned: Iterable[Mapping[str, Any]], live: Live, others: OtherStacks
) -> Iterator[str]:
    """Take what the provider has made of `planned`, and yield the URNs; another's object is left to be refused."""
    indices = {resource["urn"]: index for index, resource in enumerate(resources) if not resource.get("delete")}
    for resource in planned:
        place = indices.get(resource["urn"])
        provider = indices.get(str(resource.get("provider", "")).rpartition("::")[0])
        awaited = place is None or resources[place].get("pendingReplacement")
        # A parent or provider that is not there yet has no child that was made.
        if not awaited or provider is None or resource.get("parent") not in indices:
            continue
        live_object = find_object(resource, live)
        if live_object is None or others.have(resource, live_object):
            continue
        if ours(resource, live_object) and made_by_provider(live_object):
            kept = resources[provider]  # the plan may not know its id
            reference = f"{kept['urn']}::{kept['id']}"
            _put(resources, place, _resource({**resource, "provider": reference}, live_object))
            yield resource["urn"]


def _put(resources: list[dict[str, Any]], place: int | None, resource: dict[str, Any]) -> None:
    """Add a resource, or set it where its predecessor was, deleted to be replaced: what depends on it stands behind."""
    if place is None:
        resources.append(resource)
    else:
        resources[place] = resource


def _begun(resource: Mapping[str, Any], live_object: Mapping[str, Any]) -> bool:
    """Whether the object is of a pending create: it has our labels, or needs none and a provider has made it.

    Objects of one's own have the labels of their manifest, often none. Had the object been there before, the create
    would have failed at once, and would not be pending.
    """
    unlabelled = not read(resource, "inputs", "metadata", "labels")
    return ours(resource, live_object) or (unlabelled and made_by_provider(live_object))


def _resource(resource: Mapping[str, Any], live_object: Mapping[str, Any]) -> dict[str, Any]:
    """Return the resource of an object that was found, as if its create had ended before it was ready.

    Outputs have what was declared, not the live object: of a Secret that is encrypted here already. The update that
    confirms it records the rest.
    """
    namespace, name = (read(live_object, "metadata", key) for key in ("namespace", "name"))
    inputs = resource.get("inputs", {})
    version = str(resource["type"]).partition(":")[2].rpartition(":")[0].removeprefix("core/")
    recorded = {INPUTS: inputs, INITIAL_API_VERSION: version, FIELD_MANAGER: _manager(resource["urn"], live_object)}
    return {
        **resource,
        "id": f"{namespace}/{name}" if namespace else name,
        "outputs": {"apiVersion": version, "kind": str(resource["type"]).rpartition(":")[2], **inputs, **recorded},
        "initErrors": [UNCONFIRMED],
    }


def _manager(urn: str, live_object: Mapping[str, Any]) -> str:
    """Return the field manager of an object's next updates: the one that made it, or one that is the URN's alone.

    The official provider creates under a name that all its objects share, and takes these fields over later.
    """
    own = (name for name in managers(live_object) if name.startswith(f"{MAKER}-"))
    return next(own, f"{MAKER}-{hashlib.sha256(urn.encode()).hexdigest()[:8]}")


def settle(stack: Stack, engine: Engine, cluster: Cluster) -> None:
    """Settle what a killed update left behind, where the state can be read."""
    if (backend := stack.backend) is not None:
        repair(stack.name, backend, engine, cluster.find, backup_of(stack))


def backup_of(stack: Stack) -> Path:
    """Return the file that a state goes to before what was interrupted is settled in it."""
    return access.backup_place(stack, "before-repair")


def repair(stack: str, backend: Backend, engine: Engine, live: Live, backup: Path, *, thorough: bool = False) -> bool:
    """Remove the lock of a dead process, and settle creates that no one saw end; return whether there was any of it.

    `thorough`: ask the engine what it would create, too, and adopt what exists already: where the network lost the
    answer to a create, only this finds it. Raises Problem when a living process holds the lock, or one of another host,
    which may live.
    """
    released = backend.release(stack)
    for lock in released:
        print_text(f"removed the lock of process {lock.pid}, which is dead (since {lock.timestamp})")
    planned = _planned(engine) if thorough else []
    if not planned and not backend.checkpoint(stack).get("pending_operations"):
        return bool(released)
    before = access.read(engine, backend)
    recovery = recover(before.document, live, planned, objects.others_of(stack, backend))
    if not recovery.changed:
        return bool(released)
    _print_recovery(recovery)
    access.write(engine, backend, before, recovery.deployment, backup)
    print_text(f"the state before is in {backup}")
    return True


def _print_recovery(recovery: Recovery) -> None:
    for urn in recovery.taken:
        print_text(f"interrupted: {short_title(urn)} is on the cluster, and now in the state")
    for urn in recovery.cleared:
        what = "belongs to another owner" if urn in recovery.foreign else "is repeated where needed"
        print_text(f"interrupted: {short_title(urn)} {what}")


def _planned(engine: Engine) -> list[dict[str, Any]]:
    """Return the resources that the next update would create, as far as a preview shows; secrets in them are masked."""
    status, events, last = engine.run_preview("what the next update would create", "preview")
    steps = [event["resourcePreEvent"]["metadata"] for event in events if "resourcePreEvent" in event]
    planned = [step["new"] for step in steps if step["op"] in _CREATES and step.get("new")]
    if status != 0 and not steps:
        raise Problem(f"what the next update would create could not be determined:\n{last}")
    return [{key: new[key] for key in _PLANNED if key in new} for new in planned if new.get("custom")]
