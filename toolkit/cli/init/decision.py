"""What the user must decide in a file that `./hpc init` writes; what of an example is another matter at every site."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolkit.review import paths

MARK = "DECIDE"
"""Begins the comment at every place where the user decides."""
REVIEW = "REVIEW"
"""The same where the example's value may do."""
Keys = tuple[str | int, ...]
"""Keys and indices below the key of the settings; the comment is above what is there."""
_OF_A_SITE: tuple[tuple[Keys, str], ...] = (
    (
        ("fabric",),
        "the network between the GPU nodes (kind: infiniband, roce or ethernet), and how its ports become resources",
    ),
    (("fabric", "plugin", "driver", "version"), "the adapters' driver; `driver: null` where the nodes have it"),
    (("fabric", "ports", "mtu"), "bytes; must match the ports of the switches"),
    (("fabric", "networks", "subnets"), "one subnet for each port, in the order of the rails, as on the network"),
    (("fabric", "bond"), "the ports of the bond, and its mode, as on the switches"),
    (("ports",), "names and places of the machine's compute ports"),
    (("reserve",), "CPUs and memory that GPU nodes reserve for the system"),
    (("gpu", "driver", "version"), "the GPU driver; `driver: null` where the nodes have it"),
    (("tuning",), "changes to the GPU nodes' operating system; they restart once for them"),
    (("pull_secret",), "registries that require an account; the accounts are secrets of the stack"),
    (("storage",), "ids, hosts and certificate of your Spectrum Scale clusters; leave it out if you have none"),
    (("queues",), "Kueue; without it, jobs start as the scheduler places them"),
    (("tenants",), "who works on the cluster: namespaces, ids that own the data, GPUs, and where the data is"),
    (("mpi_operator",), "version of the MPI operator"),
    (("trainer",), "Kubeflow Trainer, and its image; with `trainer: none` jobs of kind torch need no operator"),
    (("programs",), "programs of your teams: commands, images, folders, and the figures that they print"),
    (("builds",), "images that the cluster builds, and their base images"),
    (("stages",), "the first jobs, which verify the platform, with their images"),
)
_OF_A_CLUSTER: tuple[tuple[Keys, str], ...] = (
    (("release",), "the release of OpenShift; docs/reference/releases.md lists the known ones"),
    (
        ("cluster",),
        "for a real cluster: its kubeconfig and context, and `simulated: false`; add `state`, where the Pulumi state "
        "is stored (docs/guide/state.md)",
    ),
    (
        ("platform",),
        "the stack of the platform that these tenants use; its file, Pulumi.NAME.yaml, has `layer: platform`",
    ),
    (("nodes",), "names, roles and machines of your nodes; a range such as [01-04] stands for several"),
    (("node_feature_discovery", "channel"), "channels of operators, as `oc get packagemanifests` lists them"),
)


@dataclass(frozen=True)
class Decision:
    """One decision: where, what, and lines of the file to choose from."""

    path: Keys
    text: str
    options: tuple[str, ...] = ()
    mark: str = MARK

    @property
    def place(self) -> str:
        """The path as messages of the settings write it: `tenants[0].data`."""
        return paths.show(self.path)


def of_a_site(settings: Mapping[str, Any]) -> Iterator[Decision]:
    """Yield what cannot be read from a cluster, as far as the settings have it."""
    yield from _present_places(settings, _OF_A_SITE, REVIEW)


def of_a_cluster(settings: Mapping[str, Any]) -> Iterator[Decision]:
    """Yield what is the cluster's own, as far as the settings have it."""
    yield from _present_places(settings, _OF_A_CLUSTER, MARK)


def _present_places(settings: Mapping[str, Any], places: tuple[tuple[Keys, str], ...], mark: str) -> Iterator[Decision]:
    for path, text in places:
        part: Any = settings
        for key in path:
            part = part.get(key) if isinstance(part, Mapping) else None
        if part is not None:
            yield Decision(path, text, mark=mark)
