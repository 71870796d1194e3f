"""Rules that span settings: each problem names the setting, the value and the remedy.

The machines and the fabric are here; every other subject has a module of its own.
"""

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from pydantic import ValidationError

from stacks import (
    bond_problems,
    driver_problems,
    image_problems,
    memory_problems,
    name_problems,
    node_problems,
    order_problems,
    queue_problems,
    release_problems,
    storage_problems,
    tenant_problems,
    workload_problems,
)
from stacks.fabric_settings import Ethernet, InfiniBand, Roce
from stacks.gpu_settings import DevicePluginSettings
from stacks.repeated import repeated

if TYPE_CHECKING:
    from stacks.platform import Settings


class InconsistentError(ValueError):
    """Settings that do not go together; `found` has one message for each problem."""

    def __init__(self, found: list[str]) -> None:
        super().__init__("; ".join(found))
        self.found = found


def problems(settings: "Settings") -> Iterator[str]:
    """Yield what is wrong between the settings; machines that differ or contradict themselves hide the rest."""
    profiles = sorted({node.profile for node in settings.gpu_nodes if node.profile})
    if not profiles:
        yield "nodes: none has a profile, so there is no GPU; give the GPU nodes theirs, e.g. profile: dgx1-v100-16gb"
        return
    if len(profiles) > 1:
        yield f"nodes: profile {' and '.join(profiles)}: give all GPU nodes one and the same profile"
        return
    yield from repeated("nodes", (node.name for node in settings.nodes))
    yield from release_problems.problems(settings)
    yield from name_problems.problems(settings)
    yield from tenant_problems.problems(settings)
    yield from storage_problems.problems(settings)
    yield from image_problems.problems(settings)
    try:
        settings.profile  # noqa: B018 - raises for ports that the machine has not
    except ValidationError as error:
        yield from (f"ports: {each['msg'].removeprefix('Value error, ')}" for each in error.errors())
        return
    machines = [*_ports(settings), *node_problems.problems(settings)]
    yield from machines
    yield from _enablement(settings)
    yield from driver_problems.problems(settings)
    yield from bond_problems.problems(settings)
    if not machines:
        found = list(workload_problems.problems(settings))
        yield from found or chain(
            order_problems.problems(settings), queue_problems.problems(settings), memory_problems.problems(settings)
        )


def _ports(settings: "Settings") -> Iterator[str]:
    profile, fabric = settings.profile, settings.fabric
    rails = bool(settings.tuning and settings.tuning.rail_names)
    if rails and not (profile.hcas and all(hca.pci for hca in profile.hcas)):
        yield f"tuning.rail_names: no PCI addresses of the ports of {profile.name} are known; turn it off"
    if isinstance(fabric, Ethernet):
        if fabric.bond and not fabric.bond.ports and not profile.hcas:
            yield f"fabric.bond.ports: no document names the ports of {profile.name}; name them here or in `ports`"
        return
    if isinstance(fabric, InfiniBand) and profile.link_layer == "Ethernet":
        yield (
            f"fabric: infiniband, and the ports of {profile.name} ({profile.ports.adapter}, {profile.ports.rate_gbps} "
            "Gb/s) are Ethernet's; choose roce or ethernet"
        )
    elif not profile.hcas:
        yield (
            f"fabric: {settings.fabric.kind}, and no document names the {profile.ports.count} ports of {profile.name}; "
            "name them in `ports`, or choose ethernet"
        )
    elif isinstance(fabric, Roce) and profile.link_layer == "InfiniBand" and not (rails or settings.ports):
        yield (
            f"fabric: roce, and {profile.hcas[0].netdev} of {profile.name} is the name of a port in InfiniBand mode; "
            "turn tuning.rail_names on, or name the ports in `ports`"
        )


def _enablement(settings: "Settings") -> Iterator[str]:
    gpu, fabric = settings.gpu, settings.fabric
    plugin = None if isinstance(fabric, Ethernet) else fabric.plugin
    bond = fabric.bond if isinstance(fabric, Ethernet) else None
    if settings.node_feature_discovery is None and (plugin or bond or not isinstance(gpu, DevicePluginSettings)):
        yield (
            "node_feature_discovery is missing, and GPU and RDMA plugins run, and bonds are made, where it has "
            "labelled nodes; give it"
        )
    if isinstance(fabric, Roce) and len(fabric.networks.subnets) != len(settings.interfaces):
        yield (
            f"fabric.networks.subnets: {len(fabric.networks.subnets)} are given for {len(settings.interfaces)} "
            "ports; give one each"
        )
