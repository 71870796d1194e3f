"""The named parts of the platform that need the node itself; every other pod does without."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from pydantic import Field

from policies.manifests.part import Root
from policies.rule import Parameters

PARTS = (
    # Offers rdma/<name> at the kubelet's socket and finds the adapters on the host's network.
    "DaemonSet kube-system/rdma-shared-dp-ds",
    # Offers nvidia.com/gpu at the same socket.
    "DaemonSet kube-system/nvidia-device-plugin-daemonset",
    # Reads all GPUs, and at the kubelet's other socket which pod has which.
    "DaemonSet dcgm-exporter/dcgm-exporter",
)

AGENTS = (
    "to exempt an agent of the platform, name its object in the parameter infrastructure of this rule "
    "or write an exception into policies/exceptions.yaml"
)
"""How the remedies of these rules end."""


class Infrastructure(Parameters):
    """Which objects are infrastructure."""

    infrastructure: tuple[str, ...] = Field(
        default=PARTS,
        description="objects that the rule lets pass, as findings name them, `*` matches any; "
        "default: the device plugins",
    )

    def excepts(self, subject: Root) -> bool:
        """Return whether an object is infrastructure."""
        return _matches(str(subject), self.infrastructure)


@lru_cache(maxsize=1024)
def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
