"""After an update that was cut off: what it created is taken into the state, or cleared, by what is on the cluster.

The engine writes down a pending operation before each create and never clears a pending create by itself. Its own
`refresh --import-pending-creates` (3.250) only renames the operation and forgets it at the end of the refresh: the
object is then created a second time (AlreadyExists). So the checkpoint is edited here: an object that is on the cluster
becomes a resource whose initialisation is not confirmed, which makes the next update wait for it again and change
nothing else.

A create whose answer the network lost leaves nothing in the checkpoint at all: for the engine it has failed. Such
objects are found among those that a preview would create.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cli import neighbours
from cli.neighbours import Neighbours
from policies.values import read

Live = Callable[[str, str, str, str], Mapping[str, Any] | None]
"""Given apiVersion, kind, namespace and name: the object on the cluster, or None."""

UNCONFIRMED = "the update that created it was killed before it had seen it ready"
_MAKER = "pulumi-kubernetes"
"""How the provider's field managers begin: an object that kubectl or an operator made has none of these."""
_SECRET = "4dabf18193072939515e22adb298388d"  # noqa: S105 - the engine's mark of special values


@dataclass(frozen=True)
class Recovery:
    """What became of the pending creates, by URN: taken into the state, cleared, or somebody else's."""

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
    others: Neighbours = neighbours.NONE,
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
        found = find_object(resource, live) if operation["type"] == "creating" and awaited else None
        if found is None:  # updates, deletes and reads are repeated by the next update
            cleared.append(urn)
        elif not ours(resource, found) or others.have(resource, found):
            foreign.append(urn)
            cleared.append(urn)
        else:
            _put(resources, place, _resource(resource, found))
            taken.append(urn)
    taken += _lost(resources, planned, live, others)
    if pending:
        deployment["pending_operations"] = []
    return Recovery(document, tuple(taken), tuple(cleared), tuple(foreign))


def _lost(
    resources: list[dict[str, Any]], planned: Iterable[Mapping[str, Any]], live: Live, others: Neighbours
) -> Iterator[str]:
    """Take what the provider has made of `planned`, and yield the URNs; a stranger's object is left to be refused."""
    there = {resource["urn"]: index for index, resource in enumerate(resources) if not resource.get("delete")}
    for resource in planned:
        place = there.get(resource["urn"])
        provider = there.get(str(resource.get("provider", "")).rpartition("::")[0])
        awaited = place is None or resources[place].get("pendingReplacement")
        # A parent or provider that is not there yet has no child that was made.
        if not awaited or provider is None or resource.get("parent") not in there:
            continue
        found = find_object(resource, live)
        if found is None or others.have(resource, found):
            continue
        if ours(resource, found) and made_by_provider(found):
            kept = resources[provider]  # the plan may not know its id
            reference = f"{kept['urn']}::{kept['id']}"
            _put(resources, place, _resource({**resource, "provider": reference}, found))
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


def ours(resource: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Whether the object carries the labels that we were about to give it: the create may have met a stranger."""
    wanted = read(resource, "inputs", "metadata", "labels")
    if not isinstance(wanted, Mapping) or _SECRET in wanted:
        return False
    carried = read(found, "metadata", "labels") or {}
    return bool(wanted) and all(carried.get(key) == value for key, value in wanted.items())


def made_by_provider(found: Mapping[str, Any]) -> bool:
    """Whether a Kubernetes provider of Pulumi made or changed the object, and not a person with the same manifest."""
    managers = read(found, "metadata", "managedFields")
    entries = managers if isinstance(managers, list) else ()
    return any(str(read(entry, "manager")).startswith(_MAKER) for entry in entries)


def _resource(resource: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    namespace, name = (read(found, "metadata", key) for key in ("namespace", "name"))
    return {
        **resource,
        "id": f"{namespace}/{name}" if namespace else name,
        # What was asked for; the update that confirms it writes down what is there, status and all.
        "outputs": resource.get("inputs", {}),
        "initErrors": [UNCONFIRMED],
    }
