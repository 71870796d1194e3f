"""The configuration of the shared RDMA device plugin is one that the plugin takes."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.device_plugins import KINDS, configuration


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
    parameters=Parameters,
    examine=_examine,
    kinds=KINDS,
)
