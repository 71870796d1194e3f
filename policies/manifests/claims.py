"""What pods claim by ResourceClaimTemplates, as requests: of the resource that each DeviceClass is.

So rules that count GPUs count claimed ones as well. `All` counts as a quota counts it, and of alternatives the largest
of each class (Kubernetes 1.34.2, pkg/quota/v1/evaluator/core/resource_claims.go).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from core.apis.devices import CHANNEL_CLASS
from core.apis.kinds import COMPUTE_DOMAIN, RESOURCE_CLAIM_TEMPLATE
from core.apis.names import DEVICE_CLASS_PREFIX
from core.apis.quantity import whole
from policies.manifests.part import Root
from policies.manifests.pods import Request
from policies.manifests.values import Path, Tree, entries, read, text

ALL = 32
"""Devices as which a quota counts `allocationMode: All`."""
CHANNEL: Path = ("spec", "channel", "resourceClaimTemplate", "name")
"""Where a ComputeDomain names the template that its controller makes."""
Templates = Mapping[str, tuple[Request, ...]]
"""Name of a template -> what a claim from it asks for."""


def templates(objects: Sequence[Root]) -> Mapping[str, Templates]:
    """Return by namespace what the templates among the objects ask for, and those that ComputeDomains make."""
    by_namespace: dict[str, dict[str, tuple[Request, ...]]] = defaultdict(dict)
    for subject in objects:
        kind = (subject.group, subject.kind)
        if kind == (COMPUTE_DOMAIN.group, COMPUTE_DOMAIN.kind):
            channel = _request(CHANNEL_CLASS, 1)
            by_namespace[subject.namespace][text(read(subject.tree, *CHANNEL))] = (channel,)
        elif kind == (RESOURCE_CLAIM_TEMPLATE.group, RESOURCE_CLAIM_TEMPLATE.kind):
            requests = entries(subject.tree, "spec", "spec", "devices", "requests")
            counts: dict[str, int] = defaultdict(int)
            for request in requests:
                for name, count in _classes(request).items():
                    counts[name] += count
            by_namespace[subject.namespace][subject.name] = tuple(_request(*item) for item in sorted(counts.items()))
    return by_namespace


def _classes(request: Tree) -> dict[str, int]:
    """Return the devices that one request takes, by class: of alternatives the most of each."""
    most: dict[str, int] = {}
    for alternative in _alternatives(request):
        name = text(read(alternative, "deviceClassName"))
        count = ALL if read(alternative, "allocationMode") == "All" else whole(read(alternative, "count"))
        if name:
            most[name] = max(most.get(name, 0), 1 if count is None else count)
    return most


def _alternatives(request: Tree) -> Iterator[Tree]:
    yield request  # until Kubernetes 1.33
    yield read(request, "exactly")
    yield from entries(request, "firstAvailable")


def _request(device_class: str, count: int) -> Request:
    return Request(f"{DEVICE_CLASS_PREFIX}{device_class}", count, None, claimed=True)
