"""The RDMA device plugin's configuration chooses devices by selectors, where the plugin's image knows them."""

import re
from collections.abc import Iterator

from core.apis.kinds import CONFIG_MAP
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.device_plugins import KINDS, configuration
from policies.views.images import Image, parse

_PLUGIN = "/k8s-rdma-shared-dev-plugin"
_VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?![\d])")
_FIRST_WITH_SELECTORS = (1, 1)


def _examine(subject: Obj, inventory: Inventory, __: Parameters) -> Iterator[Violation]:
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
    parameters=Parameters,
    examine=_examine,
    kinds=KINDS,
    links=True,
)
