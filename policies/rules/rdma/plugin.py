"""What the RDMA device plugin offers, and how it is configured."""

import re
from collections import Counter
from collections.abc import Iterator

from pydantic import Field

from core.apis.kinds import CONFIG_MAP
from core.wording import plural
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.rule import Parameters, Rule, Severity
from policies.views.device_plugins import KINDS, configuration, offers
from policies.views.devices import MOST_GPUS, NOT_KNOWN, copies, demands, is_gpu, largest_node, place, rdma
from policies.views.images import Image, parse


def _rdma_plugin_config(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    plugin = configuration(subject)
    if plugin is None:
        return
    if plugin.unknown is not None:
        subject.depends_on(plugin.path)
    for fault in plugin.faults:
        yield subject.violation(fault, *plugin.path)


RDMA_PLUGIN_CONFIG = Rule(
    name="rdma-plugin-config",
    what="The configuration of the shared RDMA device plugin is valid JSON with one resource per entry: a unique name "
    "of letters, digits and _, rdmaHcaMax, and either selectors that can match a device or devices.",
    why="A plugin that cannot read its configuration exits at startup (CrashLoopBackOff; failed to read config file), "
    "and no node offers rdma/*: pods stay Pending (Insufficient rdma/shared_ib0). A misspelt key is ignored silently. "
    "Selectors are compared with what the kernel says of the PCI device: none fits drivers irdma, or linkTypes "
    "ethernet.",
    remedy="Give each entry of configList resourceName, rdmaHcaMax and selectors (devices for images before v1.1.0), "
    "with the driver of the PCI device (mlx5_core, ice) and link type ether or infiniband",
    source="E-11, E-12, R-3.4.2-3, platform-facts 1.3 and 4.3 rule 16; "
    "github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/113",
    severity=Severity.MANDATORY,
    examine=_rdma_plugin_config,
    kinds=KINDS,
)


_PLUGIN = "/k8s-rdma-shared-dev-plugin"
_VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?![\d])")
_FIRST_WITH_SELECTORS = (1, 1)


def _rdma_selectors(subject: Obj, inventory: Inventory, __: Parameters) -> Iterator[Violation]:
    plugin = configuration(subject)
    if plugin is None:
        return
    if plugin.unknown is not None:
        subject.depends_on(plugin.path)
    resources = [entry.resource for entry in plugin.entries if entry.devices]
    if not resources:
        return
    message = f"chooses devices for {', '.join(resources[:10])} by the deprecated list devices"
    images = inventory.once(_images) if subject.kind == CONFIG_MAP.kind else ()
    if subject.kind == CONFIG_MAP.kind and not images:
        yield subject.unlinked(
            f"{message}, and the plugin's image, which may support nothing newer, is not among the objects",
            *plugin.path,
        )
    elif not images or not any(_is_old(image) for image in images):
        yield subject.violation(message, *plugin.path)


def _images(inventory: Inventory) -> tuple[Image, ...]:
    references = (container.text("image") for subject in inventory.objects for container in subject.containers)
    return tuple(image for reference in references if (image := parse(reference)).home.endswith(_PLUGIN))


def _is_old(image: Image) -> bool:
    version = _VERSION.match(image.tag)
    return version is not None and (int(version[1]), int(version[2])) < _FIRST_WITH_SELECTORS


RDMA_SELECTORS = Rule(
    name="rdma-selectors",
    what="The RDMA device plugin's configuration chooses devices by selectors, unless the plugin's image is older than "
    "v1.1.0, which supports only devices.",
    why="The list devices is deprecated, and newer images warn at startup. If the network interface is renamed (ib0 to "
    "ibp5s0), the entry has no device, but rdma/<name> is still offered and only the job fails (`Couldn't allocate "
    "MR`).",
    remedy='Write selectors, e.g. {"ifNames": ["ib0"]} or {"vendors": ["15b3"]}, instead of devices',
    source="E-12, platform-facts 1.3",
    severity=Severity.ADVISORY,
    examine=_rdma_selectors,
    kinds=KINDS,
    links=True,
)


class RdmaHcaMax(Parameters):
    """How many pods share a device."""

    pods_per_node: int | None = Field(
        default=None,
        gt=0,
        description="pods with GPUs that one node can hold; default: as the stack's machines, or one "
        "per GPU of the largest Node among the objects, since a GPU is the smallest unit; without either, less than "
        f"{MOST_GPUS} is undetermined",
    )


def _rdma_hca_max(subject: Obj, inventory: Inventory, parameters: RdmaHcaMax) -> Iterator[Violation]:
    plugin = configuration(subject)
    if plugin is None:
        return
    if plugin.unknown is not None:
        subject.depends_on(plugin.path)
    pods = parameters.pods_per_node or inventory.once(largest_node)
    for entry in plugin.entries:
        others = inventory.once(_without_gpus)[entry.resource]
        most, least = entry.hca_max, max(1, others) if pods is None else pods + others
        if most is None or most < 0:
            continue
        addition = f" and {others} without GPUs" if others else ""
        offered = f"{entry.resource} has rdmaHcaMax {most}"
        if most < least:
            demand = (
                f"a node can hold {pods} pods with GPUs{addition} that ask"
                if pods
                else f"{plural(least, 'pod')} may ask"
            )
            yield subject.violation(f"{offered}, and {demand} for it", *plugin.path)
        elif pods is None and most < MOST_GPUS + others:
            yield subject.unverified(
                f"{offered}{f' for pods with GPUs{addition}' if addition else ''}, {NOT_KNOWN}", *plugin.path
            )


def _without_gpus(inventory: Inventory) -> Counter[str]:
    """Count the pods that ask for each RDMA resource and for no GPU: all of them may land on one node."""
    counts: Counter[str] = Counter()
    for subject in inventory.objects:
        for pod, requested in demands(subject):
            if not any(is_gpu(resource) for resource in requested):
                counts.update(dict.fromkeys(requested, copies(subject, pod)))
    return counts


RDMA_HCA_MAX = Rule(
    name="rdma-hca-max",
    what="rdmaHcaMax of each RDMA resource is at least the number of pods on one node that may share the device.",
    why="rdmaHcaMax is how many times a node offers the device. One more pod stays Pending beside idle GPUs (0/2 nodes "
    "are available: Insufficient rdma/shared_ib0). On InfiniBand a large number costs nothing (the Redpaper has 100); "
    "a RoCE port has 128 GIDs, so the network operator stops at 63 there.",
    remedy="Raise rdmaHcaMax to the number of pods on one node that share the device, at most 63 on RoCE",
    source="R-3.4.2-3, platform-facts 1.2 and 4.3 rule 16",
    severity=Severity.MANDATORY,
    parameters=RdmaHcaMax,
    examine=_rdma_hca_max,
    kinds=KINDS,
    links=True,
)


def _rdma_offered(subject: Obj, inventory: Inventory, __: Parameters) -> Iterator[Violation]:
    for container in subject.containers:
        if container.requests:
            yield from _container(container, inventory)


def _container(container: Container, inventory: Inventory) -> Iterator[Violation]:
    for request in rdma(container):
        offered = inventory.once(offers)
        if request.resource in offered.resources:
            continue
        if not offered.configured:
            yield container.unlinked(
                f"asks for {request.resource}, and no configuration of the RDMA device plugin is among the objects",
                *place(request),
            )
        elif not offered.complete:
            yield container.unverified(
                f"the configuration of the RDMA device plugin, from which {request.resource} should come, is unknown "
                "until the update",
                *place(request),
            )
        else:
            names = ", ".join(sorted(offered.resources)[:10]) or "nothing"
            yield container.violation(
                f"asks for {request.resource}, and the RDMA device plugin offers {names}", *place(request)
            )


RDMA_OFFERED = Rule(
    name="rdma-offered",
    what="Every rdma/<name> that a container asks for comes from an entry of the RDMA device plugin's configuration.",
    why="A resource that no node has keeps the pod Pending forever (0/2 nodes are available: Insufficient "
    "rdma/shared_ib4). The job is admitted, and nothing reports that the name is wrong.",
    remedy="Ask for a resource that the plugin's configList names (resourcePrefix/resourceName), or add an entry to it",
    source="R-3.4.2-3, R-3.4.2-6, platform-facts 4.3 rule 16",
    severity=Severity.MANDATORY,
    examine=_rdma_offered,
    links=True,
)
