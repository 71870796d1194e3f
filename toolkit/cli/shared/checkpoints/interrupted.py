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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.pulumi_values import SIGNATURE
from policies.manifests.values import read
from toolkit.cli.shared.checkpoints import other_stacks
from toolkit.cli.shared.checkpoints.other_stacks import OtherStacks
from toolkit.engine.prediction.state import FIELD_MANAGER, INITIAL_API_VERSION, INPUTS

Live = Callable[[str, str, str, str], Mapping[str, Any] | None]
"""Given apiVersion, kind, namespace and name: the object on the cluster, or None."""

UNCONFIRMED = "the update that created it was killed before it had seen it ready"
_MAKER = "pulumi-kubernetes"
"""How the provider's field managers begin: an object that kubectl or an operator made has none of these."""


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
    others: OtherStacks = other_stacks.NONE,
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


def find_object(resource: Mapping[str, Any], live: Live) -> Mapping[str, Any] | None:
    """Return the object of a resource, by the name in its inputs; None where it is none, or is not there."""
    package, _, rest = str(resource["type"]).partition(":")
    version, _, kind = rest.partition(":")
    name = read(resource, "inputs", "metadata", "name")
    # A patch adds to an object that is there without it, and is simply applied again.
    if package != "kubernetes" or not kind or not isinstance(name, str) or kind.endswith("Patch"):
        return None
    return live(version.removeprefix("core/"), kind, str(read(resource, "inputs", "metadata", "namespace") or ""), name)


def ours(resource: Mapping[str, Any], live_object: Mapping[str, Any]) -> bool:
    """Whether the object carries the labels that we were about to give it: the create may have met another's object."""
    declared = read(resource, "inputs", "metadata", "labels")
    if not isinstance(declared, Mapping) or SIGNATURE in declared:
        return False
    carried = read(live_object, "metadata", "labels") or {}
    return bool(declared) and all(carried.get(key) == value for key, value in declared.items())


def _begun(resource: Mapping[str, Any], live_object: Mapping[str, Any]) -> bool:
    """Whether the object is of a pending create: it has our labels, or needs none and a provider has made it.

    Objects of one's own have the labels of their manifest, often none. Had the object been there before, the create
    would have failed at once, and would not be pending.
    """
    unlabelled = not read(resource, "inputs", "metadata", "labels")
    return ours(resource, live_object) or (unlabelled and made_by_provider(live_object))


def made_by_provider(live_object: Mapping[str, Any]) -> bool:
    """Whether a Kubernetes provider of Pulumi made or changed the object, and not a user with the same manifest."""
    return any(name.startswith(_MAKER) for name in _managers(live_object))


def _managers(live_object: Mapping[str, Any]) -> list[str]:
    entries = read(live_object, "metadata", "managedFields")
    return [str(read(entry, "manager")) for entry in (entries if isinstance(entries, list) else ())]


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
    own = (name for name in _managers(live_object) if name.startswith(f"{_MAKER}-"))
    return next(own, f"{_MAKER}-{hashlib.sha256(urn.encode()).hexdigest()[:8]}")
