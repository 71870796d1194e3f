"""The parts of the platform: each kind of object, and what it says of itself."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.operators import OPERATORS
from policies.manifests.values import read
from stacks.releases import Release
from toolkit.cli.shared import metadata
from toolkit.cli.shared.preflight.operator_channels import Examined

Object = Mapping[str, Any]
List = Callable[[Kind], Sequence[Object]]
State = tuple[str, bool]

PENDING = "Pending"
_UNRESOLVED = "ResolutionFailed"
_CERTIFICATE_NAME = "cert-manager.io/certificate-name"
"""Annotation of a request: the certificate that it is for."""


@dataclass(frozen=True)
class Part:
    """One part of the platform; `good` is False while it is not what it should be."""

    kind: str
    name: str
    state: str
    good: bool


def parts(ours: List, everything: List, release: Release, pool: str) -> Iterable[Part]:
    """Return the parts; `ours` lists a kind's objects with our label, `everything` all of them.

    Of kinds that are another one in each release only that of `release` is requested: a cluster that serves both
    versions has every object under both.
    """
    for kind, state in _STATES:
        for item in ours(kind):
            yield Part(kind.kind, metadata.path(item), *state(item))
    for chosen in (release.node_feature_discovery, release.special_resource):
        if chosen is not None:
            yield from (Part(chosen.kind, metadata.path(item), *_present(item)) for item in ours(chosen))
    yield from _missing_certificates(ours, everything)
    for item in everything(kinds.MACHINE_CONFIG_POOL):
        if item["metadata"]["name"] == pool:
            updated = condition(item, "Updated")
            yield Part("MachineConfigPool", pool, "Updated" if updated else "Updating", updated)


def _missing_certificates(ours: List, everything: List) -> Iterable[Part]:
    """Yield the certificates in the stack's namespaces that cert-manager has not issued.

    Why is said by the request for one, such as that there is no issuer of this name; before there is a request, by the
    certificate.
    """
    namespaces = {item["metadata"]["name"] for item in ours(kinds.NAMESPACE)}
    certificates = [item for item in everything(kinds.CERTIFICATE) if item["metadata"]["namespace"] in namespaces]
    missing = [item for item in certificates if not condition(item, "Ready")]
    requests = everything(kinds.CERTIFICATE_REQUEST) if missing else ()
    for item in missing:
        meta = item["metadata"]
        own = (
            request
            for request in requests
            if request["metadata"]["namespace"] == meta["namespace"]
            and (request["metadata"].get("annotations") or {}).get(_CERTIFICATE_NAME) == meta["name"]
        )
        messages = (message for source in (*own, item) if (message := _message(source, "Ready")))
        yield Part(kinds.CERTIFICATE.kind, metadata.path(item), next(messages, PENDING), good=False)


def with_channels(platform_parts: Iterable[Part], operators: Iterable[Examined]) -> Iterable[Part]:
    """Yield the parts; a Subscription whose installed version is not the declared one has both in its state."""
    compared = {operator.subscription: operator for operator in operators if operator.difference or operator.unread}
    for part in platform_parts:
        other = compared.get(part.name) if part.kind == kinds.SUBSCRIPTION.kind and part.good else None
        if other is None:
            yield part
        elif other.unread:
            text = f"{part.state}; not compared with channel {other.operator.channel}: {other.unread}"
            yield replace(part, state=text)
        else:
            yield replace(part, state=other.difference, good=not other.late)


def _subscription(item: Object) -> State:
    installed = read(item, "status", "installedCSV")
    if not installed and condition(item, _UNRESOLVED):
        return f"{_UNRESOLVED}: {_message(item, _UNRESOLVED)}", False
    return (str(installed), True) if installed else (str(read(item, "status", "state") or PENDING), False)


def _replicas(*keys: str) -> Callable[[Object], State]:
    ready, desired = keys

    def state(item: Object) -> State:
        have, want = (int(read(item, *key.split(".")) or 0) for key in (ready, desired))
        return f"{have}/{want} ready", have >= want > 0

    return state


def volume(item: Object) -> State:
    """Return the phase of a volume or claim."""
    phase = str(read(item, "status", "phase") or PENDING)
    return phase, phase == "Bound"


def _present(_: Object) -> State:
    return "present", True


def _reported(*good: str) -> Callable[[Object], State]:
    """Return the state of what says it in one word, as the operators of NVIDIA do."""

    def state(item: Object) -> State:
        word = str(read(item, "status", "state") or PENDING)
        if word in good:
            return word, True
        why = _message(item, "Error") or _message(item, "Ready")
        return f"{word}: {why}" if why else word, False

    return state


def _conditions(*good: str) -> Callable[[Object], State]:
    """Return the state of what says it in conditions: the good one where it meets that, else the last that it meets."""

    def state(item: Object) -> State:
        for kind in good:
            if condition(item, kind):
                return kind, True
        met = [entry for entry in read(item, "status", "conditions") or () if entry.get("status") == "True"]
        return (str(met[-1]["type"]), False) if met else (PENDING, False)

    return state


_STATES: tuple[tuple[Kind, Callable[[Object], State]], ...] = (
    (kinds.MACHINE_CONFIG, _present),
    (kinds.KUBELET_CONFIG, _conditions("Success")),
    (kinds.NODE_NETWORK_CONFIGURATION_POLICY, _conditions("Available")),
    (kinds.SUBSCRIPTION, _subscription),
    (kinds.CLUSTER_POLICY, _reported("ready")),
    (kinds.GPU_CLUSTER, _reported("ready")),
    (kinds.NVIDIA_DRIVER, _reported("ready")),
    (kinds.NIC_CLUSTER_POLICY, _reported("ready")),
    (kinds.NIC_NODE_POLICY, _reported("ready")),
    (kinds.CSI_SCALE_OPERATOR, _present),
    (kinds.SCALE_REMOTE_CLUSTER, _conditions("Ready")),
    (kinds.SCALE_FILE_SYSTEM, _conditions("Success")),
    (kinds.DAEMON_SET, _replicas("status.numberReady", "status.desiredNumberScheduled")),
    (kinds.DEPLOYMENT, _replicas("status.availableReplicas", "spec.replicas")),
    (kinds.SECURITY_CONTEXT_CONSTRAINTS, _present),
    (kinds.STORAGE_CLASS, _present),
    (kinds.PERSISTENT_VOLUME, volume),
    *(
        (instance.kind, _conditions(instance.condition))
        for operator in OPERATORS.values()
        if (instance := operator.instance)
    ),
)


def _message(item: Object, kind: str) -> str:
    conditions = read(item, "status", "conditions") or ()
    return next((str(entry.get("message") or "") for entry in conditions if entry["type"] == kind), "")


def condition(item: Object, kind: str) -> bool:
    """Whether an object meets a condition."""
    conditions = read(item, "status", "conditions") or ()
    return any(entry["type"] == kind and entry["status"] == "True" for entry in conditions)
