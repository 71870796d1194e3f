"""Devices are allocated by requests that quotas count, not by DRA claims, and without access to other pods' devices."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from core.apis.kinds import COMPUTE_DOMAIN, DEVICE_CLASS, NAMESPACE, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, Kind
from core.apis.names import DEVICE_CLASS_PREFIX, GPU_RESOURCE, RDMA_PREFIX
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Container, Request
from policies.manifests.values import Path
from policies.rule import ALL_KINDS, Rule, Severity
from policies.views import devices
from policies.views.tenants import TENANTS, Tenancy

_CLAIMS = "resourceClaims"
_CLASS, _OLD_CLASS = "deviceClassName", "resourceClassName"
_RESOURCE = "extendedResourceName"
_ADMIN_LABELS = ("resource.kubernetes.io/admin-access", "resource.k8s.io/admin-access")
_SPECS: dict[str, Path] = {RESOURCE_CLAIM.kind: ("spec",), RESOURCE_CLAIM_TEMPLATE.kind: ("spec", "spec")}
_CHANNEL: Path = ("spec", "channel", "resourceClaimTemplate", "name")
_CHANNEL_CLASSES = frozenset({"compute-domain-default-channel.nvidia.com", "imex.nvidia.com"})
"""Classes of NVIDIA's drivers whose devices connect the GPUs of a job between nodes."""
_CLAIM, _TEMPLATE = "resourceClaimName", "resourceClaimTemplateName"
_REFERENCES = {
    (_CLAIM,): RESOURCE_CLAIM,
    (_TEMPLATE,): RESOURCE_CLAIM_TEMPLATE,
    # So until Kubernetes 1.31.
    ("source", _CLAIM): RESOURCE_CLAIM,
    ("source", _TEMPLATE): RESOURCE_CLAIM_TEMPLATE,
}
_BOUND = "Add a ResourceQuota with <class>.deviceclass.resource.k8s.io/devices, and name the class in device_classes"

_NAMED = f"Write {GPU_RESOURCE}, or rdma/<name> for adapters, or leave out extendedResourceName"


class DeviceClaims(Tenancy):
    """Which claims are counted."""

    device_classes: tuple[str, ...] = Field(
        default=(),
        description="DeviceClasses that tenants may claim, since a ResourceQuota counts them; default: none, because "
        "GPUs and RDMA devices come through device plugins",
    )


def _examine(subject: Obj, inventory: Inventory, parameters: DeviceClaims) -> Iterator[Violation]:
    violations = list(_violations(subject, inventory, parameters))
    if violations and not parameters.excepts(subject):
        yield from violations


def _violations(subject: Obj, inventory: Inventory, parameters: DeviceClaims) -> Iterator[Violation]:
    if _is_kind(subject, NAMESPACE):
        for label in _ADMIN_LABELS:
            if subject.read("metadata", "labels", label) in ("true", True):
                message = f"has the label {label}, with which claims get devices that other pods have"
                yield subject.violation(message, "metadata", "labels", label)
    elif _is_kind(subject, DEVICE_CLASS):
        yield from _offer(subject, parameters)
    elif _is_kind(subject, RESOURCE_CLAIM) or _is_kind(subject, RESOURCE_CLAIM_TEMPLATE):
        for part in _requests(subject):
            if part.read("adminAccess") not in (None, False):
                yield part.violation("has adminAccess, and gets devices that other pods have", "adminAccess")
            yield from _class(part, _CLASS, parameters)
        spec = _SPECS[subject.kind]
        yield from _class(Part(subject, spec, subject.mapping(*spec)), _OLD_CLASS, parameters)
    offered = inventory.once(_offered)
    for pod in subject.pods:
        for entry in pod.parts(_CLAIMS) if _CLAIMS in pod.tree else ():
            yield from _claim(entry, subject, inventory, parameters)
        for container in pod.containers:
            for request in container.requests:
                if request.resource.startswith(DEVICE_CLASS_PREFIX) or request.resource in offered:
                    yield from _resource(container, request, offered, parameters)


def _offer(subject: Obj, parameters: DeviceClaims) -> Iterator[Violation]:
    if subject.name not in parameters.device_classes:
        yield subject.violation("makes devices claimable that no quota counts", "spec").with_remedy(_BOUND)
    name = subject.text("spec", _RESOURCE)
    if name and not (devices.is_gpu(name) or name.startswith(RDMA_PREFIX)):
        message = f"offers its devices as {name[:200]}, by which no quota of GPUs counts them"
        yield subject.violation(message, "spec", _RESOURCE).with_remedy(_NAMED)


def _resource(
    container: Container, request: Request, offered: Mapping[str, str], parameters: DeviceClaims
) -> Iterator[Violation]:
    name = offered.get(request.resource) or devices.device_class(request.resource)
    if name not in parameters.device_classes:
        message = f"claims devices of class {name[:200]} by {request.resource[:200]}, which no quota counts"
        yield container.violation(message, *devices.place(request)).with_remedy(_BOUND)


def _offered(inventory: Inventory) -> Mapping[str, str]:
    """Return the DeviceClass of each resource that a class names beside GPU_RESOURCE, which quotas count."""
    offered = {device_class.text("spec", _RESOURCE): device_class.name for device_class in inventory.of(DEVICE_CLASS)}
    return {resource: name for resource, name in offered.items() if resource and resource != GPU_RESOURCE}


def _class(part: Part, field: str, parameters: DeviceClaims) -> Iterator[Violation]:
    name = part.text(field)
    if name and name not in parameters.device_classes and name not in _CHANNEL_CLASSES:
        yield part.violation(f"claims devices of class {name[:200]}, which no quota counts", field).with_remedy(_BOUND)


def _claim(entry: Part, subject: Obj, inventory: Inventory, parameters: DeviceClaims) -> Iterator[Violation]:
    for place, kind in _REFERENCES.items():
        name = entry.text(*place)
        if name and (kind.kind, subject.namespace, name) in inventory.once(_channels):
            continue
        message = f"claims devices by {kind.kind} {name[:200]}, which"
        if name and not parameters.device_classes:
            yield entry.violation(f"{message} no quota counts", *place).with_remedy(_BOUND)
        elif name and inventory.get(kind, name, subject.namespace) is None:
            yield entry.unlinked(f"{message} is not among the objects", *place)


def _channels(inventory: Inventory) -> frozenset[tuple[str, str, str]]:
    """Return the claims and templates of IMEX channels, and of nothing else, by kind, namespace and name.

    NVIDIA's driver makes those of ComputeDomains; it refuses one that exists already, which is judged as any other.
    """
    claims = [claim for kind in (RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE) for claim in inventory.of(kind)]
    domains = inventory.of(COMPUTE_DOMAIN)
    generated = {(RESOURCE_CLAIM_TEMPLATE.kind, domain.namespace, domain.text(*_CHANNEL)) for domain in domains}
    foreign = {(claim.kind, claim.namespace, claim.name) for claim in claims if not _of_channels(claim)}
    return frozenset(generated - foreign | {(claim.kind, claim.namespace, claim.name) for claim in claims} - foreign)


def _of_channels(claim: Obj) -> bool:
    classes = [name for part in _requests(claim) if (name := part.text(_CLASS))]
    return bool(classes) and _CHANNEL_CLASSES.issuperset(classes)


def _requests(subject: Obj) -> Iterator[Part]:
    """Yield the requests of a claim, in the present and in the first form of the API."""
    for request in subject.parts(*_SPECS[subject.kind], "devices", "requests"):
        yield request
        if "exactly" in request.tree:
            yield Part(subject, (*request.path, "exactly"), request.mapping("exactly"))
        yield from request.parts("firstAvailable")


def _is_kind(subject: Obj, kind: Kind) -> Any:
    return (subject.group, subject.kind) == (kind.group, kind.kind)


DEVICE_CLAIMS = Rule(
    name="device-claims",
    what="Pods claim devices by dynamic resource allocation (resourceClaims, or the resource of a DeviceClass) only "
    "from the classes in the parameter device_classes, or the IMEX channel of a ComputeDomain of their namespace; no "
    "claim or namespace of a tenant has adminAccess.",
    why="A quota with requests.nvidia.com/gpu does not count claims, and Kueue counts them only if configured to, so a "
    "ResourceClaimTemplate can take every GPU. With adminAccess it also gets GPUs that other tenants' jobs use.",
    remedy=f"Request nvidia.com/gpu or rdma/<name> under limits; {TENANTS}",
    source="P-13, today c.3; kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation",
    severity=Severity.MANDATORY,
    parameters=DeviceClaims,
    examine=_examine,
    kinds=ALL_KINDS,
    links=True,
)
