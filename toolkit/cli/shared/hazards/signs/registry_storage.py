"""An image registry that stores nothing, where drivers or images are built in the cluster."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.apis import kinds
from policies.manifests.values import mapping, read
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards import nodes, versions
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.live import Live
from toolkit.cli.shared.hazards.signs.driver_toolkit import compiling
from toolkit.review.sentences import enumerated

Object = Mapping[str, Any]
_CONFIG = "cluster"
_SINCE = (4, 15)
"""From this release on an account has no secret for the registry while there is none, and the toolkit's pod waits."""
_STORES = ("emptyDir", "s3", "gcs", "swift", "pvc", "azure", "ibmcos", "oss")
_REMEDY = (
    "Give it storage and set managementState: Managed in configs.imageregistry.operator.openshift.io/cluster; emptyDir "
    "does for a trial."
)
_SOURCE = "NVIDIA, GPU Operator on OpenShift, prerequisites of the Driver Toolkit; Red Hat, configuring the registry"


def hazards(_: Settings, live: Live) -> Iterator[Hazard]:
    """Yield the registry's configuration, where it has no storage and something needs it."""
    users = [*_toolkit(live)]
    # A site may have hundreds of BuildConfigs, which only count where the registry stores nothing.
    config = next((obj for obj in live.list(kinds.IMAGE_REGISTRY_CONFIG) if metadata.name(obj) == _CONFIG), None)
    if config is None:
        if users:
            live.needed(kinds.IMAGE_REGISTRY_CONFIG)
        return
    lack = _lack(config)
    if lack:
        users += _builds(live)
    if lack and users:
        place = f"Config.{kinds.IMAGE_REGISTRY_CONFIG.group} {_CONFIG}"
        yield Hazard("registry-storage", place, f"{lack}, and {' and '.join(users)}", _REMEDY, _SOURCE)


def _lack(config: Object) -> str:
    """Return why the registry stores nothing; empty where it does, or others run it."""
    state = read(config, "spec", "managementState")
    if state == "Removed":
        return "managementState is Removed"
    if state == "Unmanaged" or any(read(config, "spec", "storage", kind) is not None for kind in _STORES):
        return ""
    without = nodes.condition(config, "Available", "False")
    return f"it has no storage{f' ({nodes.why(without)})' if without else ''}"


def _toolkit(live: Live) -> Iterator[str]:
    running = versions.of_cluster(live)
    if running and running[:2] >= _SINCE and compiling(live):
        yield "the Driver Toolkit, which compiles drivers, waits for a secret of the registry"


def _builds(live: Live) -> Iterator[str]:
    pushing = [
        metadata.path(obj)
        for obj in live.list(kinds.BUILD_CONFIG)
        if mapping(obj, "spec", "output", "to").get("kind") == "ImageStreamTag"
    ]
    if pushing:
        yield f"BuildConfigs push into it: {enumerated(sorted(pushing), 4)}"
