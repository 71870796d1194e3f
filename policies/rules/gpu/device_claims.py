"""Devices are allocated by requests that quotas count, not by DRA claims, and without access to other pods' devices."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from core.apis.devices import CHANNEL_CLASS, DAEMON_CLASS, GPU_DRIVER, QUOTA
from core.apis.kinds import (
    COMPUTE_DOMAIN,
    DEVICE_CLASS,
    NAMESPACE,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_QUOTA,
    Kind,
)
from core.apis.names import DEVICE_CLASS_PREFIX, GPU_RESOURCE, RDMA_PREFIX
from policies.manifests.claims import CHANNEL
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
_CHANNEL_CLASSES = frozenset({CHANNEL_CLASS, "imex.nvidia.com"})
"""Classes whose devices connect the GPUs of a job between nodes: NVIDIA's, and one of clouds."""
_CLAIM, _TEMPLATE = "resourceClaimName", "resourceClaimTemplateName"
_REFERENCES = {
    (_CLAIM,): RESOURCE_CLAIM,
    (_TEMPLATE,): RESOURCE_CLAIM_TEMPLATE,
    # So until Kubernetes 1.31.
    ("source", _CLAIM): RESOURCE_CLAIM,
    ("source", _TEMPLATE): RESOURCE_CLAIM_TEMPLATE,
}
_BOUND = (
    f"Add a ResourceQuota with <class>{QUOTA} to the namespace, or name the class in device_classes where a quota "
    "that is not among the objects counts it"
)
_DEVICE = re.compile(r"\b(uuid|pciBusID|parentUUID)\b")
"""Attributes of one device."""
_MADE_BY_DRIVER = frozenset({CHANNEL_CLASS, DAEMON_CLASS})
"""Classes that only NVIDIA's driver claims: the claim has the UID of its ComputeDomain."""

_NAMED = f"Write {GPU_RESOURCE}, or rdma/<name> for adapters, or leave out extendedResourceName"


class DeviceClaims(Tenancy):
    """Which claims are counted."""

    device_classes: tuple[str, ...] = Field(
        default=(),
        description="DeviceClasses that every tenant may claim, although no ResourceQuota among the objects counts "
        "them; default: none. A class that a quota of the namespace counts may be claimed there",
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
        yield from _offer(subject, inventory, parameters)
    elif _is_kind(subject, RESOURCE_CLAIM) or _is_kind(subject, RESOURCE_CLAIM_TEMPLATE):
        counted = _counted(subject, inventory, parameters)
        for part in _requests(subject):
            yield from _request(part)
            yield from _class(part, _CLASS, counted)
        spec = _SPECS[subject.kind]
        yield from _configurations(subject, spec)
        yield from _class(Part(subject, spec, subject.mapping(*spec)), _OLD_CLASS, counted)
    offered = inventory.once(_offered)
    for pod in subject.pods:
        for entry in pod.parts(_CLAIMS) if _CLAIMS in pod.tree else ():
            yield from _claim(entry, subject, inventory, parameters)
        for container in pod.containers:
            for request in container.requests:
                if not request.claimed and (
                    request.resource.startswith(DEVICE_CLASS_PREFIX) or request.resource in offered
                ):
                    yield from _resource(container, request, offered, _counted(subject, inventory, parameters))


def _counted(subject: Obj, inventory: Inventory, parameters: DeviceClaims) -> frozenset[str]:
    """Return the classes that may be claimed in the namespace of an object: a quota there counts them."""
    subject.read("metadata", "namespace")
    return inventory.once(_quotas).get(subject.namespace, frozenset()) | {*parameters.device_classes}


def _quotas(inventory: Inventory) -> Mapping[str, frozenset[str]]:
    """Return by namespace the classes that a quota without scopes counts."""
    by_namespace: dict[str, set[str]] = defaultdict(set)
    for quota in inventory.of(RESOURCE_QUOTA):
        if not any(quota.read("spec", field) for field in ("scopes", "scopeSelector")):
            keys = [key for key in quota.mapping("spec", "hard") if isinstance(key, str)]
            by_namespace[quota.namespace] |= {key.removesuffix(QUOTA) for key in keys if key.endswith(QUOTA)}
    return {namespace: frozenset(classes) for namespace, classes in by_namespace.items()}


def _request(part: Part) -> Iterator[Violation]:
    """Yield what a request may not have, of whatever class."""
    if part.read("adminAccess") not in (None, False):
        yield part.violation("has adminAccess, and gets devices that other pods have", "adminAccess")
    if part.read("allocationMode") == "All":
        message = "takes all devices of a node, which a quota counts as 32 and Kueue refuses"
        yield part.violation(message, "allocationMode").with_remedy("Write allocationMode: ExactCount and a count")
    for index, selector in enumerate(part.parts("selectors")):
        if found := _DEVICE.search(selector.text("cel", "expression")):
            message = f"selects one device by {found[1]}, so it waits for that while others are free"
            yield part.violation(message, "selectors", index).with_remedy(
                "Select by productName, or leave the selector out"
            )


def _configurations(subject: Obj, spec: Path) -> Iterator[Violation]:
    for entry in subject.parts(*spec, "devices", "config"):
        if entry.text("opaque", "driver") == GPU_DRIVER:
            message = "configures sharing of GPUs, which training cannot use, and a mistake shows only when pods start"
            yield entry.violation(message, "opaque").with_remedy("Leave it out")


def _offer(subject: Obj, inventory: Inventory, parameters: DeviceClaims) -> Iterator[Violation]:
    counted = {*parameters.device_classes}.union(*inventory.once(_quotas).values())
    if subject.name not in counted and subject.name not in _CHANNEL_CLASSES | _MADE_BY_DRIVER:
        yield subject.violation("makes devices claimable that no quota counts", "spec").with_remedy(_BOUND)
    name = subject.text("spec", _RESOURCE)
    if name and not (devices.is_gpu(name) or name.startswith(RDMA_PREFIX)):
        message = f"offers its devices as {name[:200]}, by which no quota of GPUs counts them"
        yield subject.violation(message, "spec", _RESOURCE).with_remedy(_NAMED)


def _resource(
    container: Container, request: Request, offered: Mapping[str, str], counted: frozenset[str]
) -> Iterator[Violation]:
    name = offered.get(request.resource) or devices.device_class(request.resource)
    if name not in counted:
        message = f"claims devices of class {name[:200]} by {request.resource[:200]}, which no quota counts"
        yield container.violation(message, *devices.place(request)).with_remedy(_BOUND)


def _offered(inventory: Inventory) -> Mapping[str, str]:
    """Return the DeviceClass of each resource that a class names beside GPU_RESOURCE, which quotas count."""
    offered = {device_class.text("spec", _RESOURCE): device_class.name for device_class in inventory.of(DEVICE_CLASS)}
    return {resource: name for resource, name in offered.items() if resource and resource != GPU_RESOURCE}


def _class(part: Part, field: str, counted: frozenset[str]) -> Iterator[Violation]:
    name = part.text(field)
    if name in _MADE_BY_DRIVER:
        message = f"claims devices of class {name}, which only the driver's own claims can use: each has the UID of its"
        remedy = "Make a ComputeDomain, and name its channel.resourceClaimTemplate in the pods"
        yield part.violation(f"{message} ComputeDomain", field).with_remedy(remedy)
    elif name and name not in counted and name not in _CHANNEL_CLASSES:
        yield part.violation(f"claims devices of class {name[:200]}, which no quota counts", field).with_remedy(_BOUND)


def _claim(entry: Part, subject: Obj, inventory: Inventory, parameters: DeviceClaims) -> Iterator[Violation]:
    for place, kind in _REFERENCES.items():
        name = entry.text(*place)
        if name and (kind.kind, subject.namespace, name) in inventory.once(_channels):
            continue
        message = f"claims devices by {kind.kind} {name[:200]}, which"
        if name and not _counted(subject, inventory, parameters):
            yield entry.violation(f"{message} no quota counts", *place).with_remedy(_BOUND)
        elif name and inventory.get(kind, name, subject.namespace) is None:
            yield entry.unlinked(f"{message} is not among the objects", *place)


def _channels(inventory: Inventory) -> frozenset[tuple[str, str, str]]:
    """Return the claims and templates of IMEX channels, and of nothing else, by kind, namespace and name.

    NVIDIA's driver makes those of ComputeDomains; it refuses one that exists already, which is judged as any other.
    """
    claims = [claim for kind in (RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE) for claim in inventory.of(kind)]
    domains = inventory.of(COMPUTE_DOMAIN)
    generated = {(RESOURCE_CLAIM_TEMPLATE.kind, domain.namespace, domain.text(*CHANNEL)) for domain in domains}
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
    "from classes that a quota of their namespace counts, or that the parameter device_classes names, or the IMEX "
    "channel of a ComputeDomain of their namespace; by number, not by one device or all of a node; no claim or "
    "namespace of a tenant has adminAccess.",
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
