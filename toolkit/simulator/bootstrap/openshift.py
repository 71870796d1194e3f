"""The objects of a fresh OpenShift cluster, as far as the platform meets them."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from core.apis import kinds
from core.apis.names import (
    CLUSTER_VERSION,
    INFRASTRUCTURE,
    MACHINE_CONFIG_POOL,
    MACHINE_CONFIG_ROLE,
    NETWORK_CONFIG,
    NODE_ROLE,
    PROXY,
)
from core.yaml import text as yaml_text
from toolkit.simulator.actors.api import OLM_CONFIG
from toolkit.simulator.actors.package import TEXT, Definition, structure
from toolkit.simulator.manifests import Manifest, manifest, simulated_by
from toolkit.simulator.names import FILES_CLASS, FILES_PROVISIONER, system_version
from toolkit.simulator.performance.job import POD_MTU
from toolkit.simulator.processes.ports import LOOPBACK

OWN_KINDS = {
    kind.kind: kind
    for kind in (
        *(kinds.CATALOG_SOURCE, kinds.CLUSTER_VERSION, kinds.INFRASTRUCTURE, OLM_CONFIG, kinds.PROXY),
        kinds.MUTATING_WEBHOOK_CONFIGURATION,
    )
}
"""Kinds that the platform does not use."""

NAMESPACES = (
    "openshift",
    "openshift-config",
    "openshift-infra",
    "openshift-machine-config-operator",
    "openshift-config-managed",
    "openshift-marketplace",
    "openshift-monitoring",
    "openshift-multus",
    "openshift-operator-lifecycle-manager",
    "openshift-operators",
    "openshift-service-ca",
)
MARKETPLACE = "openshift-marketplace"
TITLES = {
    "certified-operators": "Certified Operators",
    "community-operators": "Community Operators",
    "redhat-operators": "Red Hat Operators",
}
POOLS = ("master", "worker")
_REPORTED = (
    *(kinds.NETWORK_CONFIG, kinds.CLUSTER_VERSION, kinds.INFRASTRUCTURE, kinds.PROXY),
    kinds.PACKAGE_MANIFEST,
)
"""Kinds of what OpenShift only reports."""


def namespaces() -> list[Manifest]:
    """Return the namespaces of the cluster's own operators."""
    return [manifest(kinds.NAMESPACE, name) for name in NAMESPACES]


def definitions(folders: tuple[Path, ...], *, hosted: bool = False) -> list[Manifest]:
    """Return the CustomResourceDefinitions in the files of `folders`, and those of other parts of OpenShift.

    Where the control plane is hosted, those of MachineConfigs and their pools are left out.
    """
    files = (path for folder in folders for path in sorted(folder.iterdir()))
    documents = (document for path in files for document in yaml_text.read_all(path.read_text()))
    published = [document for document in documents if document["kind"] == kinds.CUSTOM_RESOURCE_DEFINITION.kind]
    if hosted:
        published = [
            definition for definition in published if definition["spec"]["group"] != kinds.MACHINE_CONFIG.group
        ]
    network = Definition(kinds.NETWORK_ATTACHMENT_DEFINITION, structure({"config": TEXT}))
    # OpenShift serves these, and PackageManifests, by API servers of its own; here actors work on them.
    kept = (Definition(kind, structure({})) for kind in (kinds.BUILD_CONFIG, kinds.BUILD, kinds.IMAGE_STREAM))
    reported = map(_reported_definition, _REPORTED)
    return [*published, *(definition.manifest() for definition in (network, *kept)), *reported]


def custom_resources(
    catalogues: Mapping[str, int], storage_classes: Iterable[str] = (), *, hosted: bool = False
) -> list[Manifest]:
    """Return the machine config pools, the operator catalogues and the simulated classes of storage.

    `catalogues` are the ports of the catalogues, on loopback.
    """
    sources = (_catalogue(name, TITLES[name], port) for name, port in catalogues.items())
    olm = manifest(OLM_CONFIG, "cluster", spec={})
    pools = () if hosted else map(_pool, POOLS)
    return [*pools, olm, *sources, *map(_files_class, (FILES_CLASS, *storage_classes))]


def _reported_definition(kind: kinds.Kind) -> Manifest:
    """Return the definition of what OpenShift only reports; its status is a part like any other."""
    definition: Manifest = Definition(kind, structure({})).manifest()
    for version in definition["spec"]["versions"]:
        del version["subresources"]
    return definition


def pod_network() -> Manifest:
    """Return what OpenShift says of its pod network: an overlay on a network with packets of 1500 bytes."""
    return manifest(kinds.NETWORK_CONFIG, NETWORK_CONFIG, spec={}, status={"clusterNetworkMTU": POD_MTU})


def infrastructure(*, hosted: bool) -> Manifest:
    """Return what OpenShift says of its control plane."""
    status = {"controlPlaneTopology": "External" if hosted else "HighlyAvailable"}
    marks = simulated_by("Infrastructure")
    return manifest(kinds.INFRASTRUCTURE, INFRASTRUCTURE, annotations=marks, spec={}, status=status)


def proxy() -> Manifest:
    """Return what OpenShift says of the proxy of the cluster: there is none."""
    return manifest(kinds.PROXY, PROXY, annotations=simulated_by("Proxy"), spec={}, status={})


def driver_toolkit(release: str) -> Manifest:
    """Return the images in which drivers are compiled: one, for the one version of the nodes' system.

    Its tags are those versions, by which the GPU Operator finds them (openshift/driver-toolkit, README.md).
    """
    image = {"kind": "DockerImage", "name": f"quay.io/openshift-release-dev/ocp-v4.0-art-dev:{release}-driver-toolkit"}
    tags = [{"name": name, "from": image} for name in (system_version(release), "latest")]
    marks = simulated_by("ImageStream")
    return manifest(kinds.IMAGE_STREAM, "driver-toolkit", "openshift", annotations=marks, spec={"tags": tags})


def cluster_version(release: str) -> Manifest:
    """Return what OpenShift says of its version; there are no fixes here, so it is the first of its release."""
    version = f"{release}.0"
    status = {"desired": {"version": version}, "history": [{"state": "Completed", "version": version}]}
    marks = simulated_by("ClusterVersion")
    return manifest(kinds.CLUSTER_VERSION, CLUSTER_VERSION, annotations=marks, spec={}, status=status)


def _pool(role: str) -> Manifest:
    spec = {
        "machineConfigSelector": {"matchLabels": {MACHINE_CONFIG_ROLE: role}},
        "nodeSelector": {"matchLabels": {NODE_ROLE + role: ""}},
    }
    return manifest(kinds.MACHINE_CONFIG_POOL, role, labels={MACHINE_CONFIG_POOL + role: ""}, spec=spec)


def _catalogue(name: str, title: str, port: int) -> Manifest:
    # Simulated: on a real cluster it has an image, and its pod serves the catalogue.
    address = f"{LOOPBACK}:{port}"
    spec = {"sourceType": "grpc", "address": address, "displayName": title, "publisher": "simulated"}
    return manifest(kinds.CATALOG_SOURCE, name, MARKETPLACE, spec=spec)


def _files_class(name: str) -> Manifest:
    return manifest(
        kinds.STORAGE_CLASS,
        name,
        annotations=simulated_by("sim-files"),
        provisioner=FILES_PROVISIONER,
        reclaimPolicy="Delete",
        volumeBindingMode="Immediate",
    )
