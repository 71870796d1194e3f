"""The objects of a fresh OpenShift cluster, as far as the platform meets them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from apis.kinds import (
    BUILD_CONFIG,
    CUSTOM_RESOURCE_DEFINITION,
    IMAGE_STREAM,
    MACHINE_CONFIG_POOL,
    NAMESPACE,
    NETWORK_CONFIG,
    STORAGE_CLASS,
    Kind,
)
from apis.names import MACHINE_CONFIG_POOL as POOL_LABEL
from apis.names import MACHINE_CONFIG_ROLE
from apis.names import NETWORK_CONFIG as THE_NETWORK
from simulator.actors import rbac
from simulator.actors.package import TEXT, Definition, structure
from simulator.actors.sim_kinds import NETWORK_ATTACHMENT_DEFINITION
from simulator.admission.manifests import WEBHOOK_CONFIGURATION
from simulator.names import FILES_CLASS, FILES_PROVISIONER, PLAYED_BY
from simulator.performance.job import POD_MTU

Manifest = dict[str, Any]

CATALOG_SOURCE = Kind("operators.coreos.com", "v1alpha1", "CatalogSource", "catalogsources")
OWN_KINDS = {kind.kind: kind for kind in (CATALOG_SOURCE, WEBHOOK_CONFIGURATION)}
"""Kinds that the platform does not use."""

NAMESPACES = (
    "openshift",
    "openshift-config",
    "openshift-infra",
    "openshift-machine-config-operator",
    "openshift-config-managed",
    "openshift-marketplace",
    "openshift-multus",
    "openshift-operator-lifecycle-manager",
    "openshift-operators",
)
MARKETPLACE = "openshift-marketplace"
CATALOGUES = {
    "certified-operators": "Certified Operators",
    "community-operators": "Community Operators",
    "redhat-operators": "Red Hat Operators",
}
POOLS = ("master", "worker")


def namespaces() -> list[Manifest]:
    """Return the namespaces of the cluster's own operators."""
    return [{"apiVersion": "v1", "kind": NAMESPACE.kind, "metadata": {"name": name}} for name in NAMESPACES]


def definitions(folders: tuple[Path, ...]) -> list[Manifest]:
    """Return the CustomResourceDefinitions that the files of `folders` hold, that of Multus, and those of builds."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a tenth of the time
    documents = (
        document
        for folder in folders
        for path in sorted(folder.iterdir())
        for document in yaml.load_all(path.read_text(), Loader=loader)
    )
    known = [found for found in documents if found and found["kind"] == CUSTOM_RESOURCE_DEFINITION.kind]
    network = Definition(NETWORK_ATTACHMENT_DEFINITION, structure({"config": TEXT}))
    # OpenShift serves these by an API server of its own; here they are kept, and nothing builds.
    kept = (Definition(kind, structure({})) for kind in (BUILD_CONFIG, IMAGE_STREAM))
    return [*known, *(definition.manifest() for definition in (network, *kept)), _pod_network_definition()]


def access() -> list[Manifest]:
    """Return the accounts and roles of the cluster's own identities."""
    return rbac.manifests()


def custom_resources(storage_classes: Iterable[str] = ()) -> list[Manifest]:
    """Return the machine config pools, the operator catalogues and the played classes of storage."""
    catalogues = (_catalogue(name, title) for name, title in CATALOGUES.items())
    return [*map(_pool, POOLS), *catalogues, *map(_files_class, (FILES_CLASS, *storage_classes))]


def _pod_network_definition() -> Manifest:
    """Return the definition of what OpenShift says of its pod network; its status is a part like any other."""
    definition: Manifest = Definition(NETWORK_CONFIG, structure({})).manifest()
    for version in definition["spec"]["versions"]:
        del version["subresources"]
    return definition


def pod_network() -> Manifest:
    """Return what OpenShift says of its pod network: an overlay on a network with packets of 1500 bytes."""
    return {
        "apiVersion": NETWORK_CONFIG.api_version,
        "kind": NETWORK_CONFIG.kind,
        "metadata": {"name": THE_NETWORK},
        "spec": {},
        "status": {"clusterNetworkMTU": POD_MTU},
    }


def _pool(role: str) -> Manifest:
    return {
        "apiVersion": MACHINE_CONFIG_POOL.api_version,
        "kind": MACHINE_CONFIG_POOL.kind,
        "metadata": {"name": role, "labels": {POOL_LABEL + role: ""}},
        "spec": {
            "machineConfigSelector": {"matchLabels": {MACHINE_CONFIG_ROLE: role}},
            "nodeSelector": {"matchLabels": {f"node-role.kubernetes.io/{role}": ""}},
        },
    }


def _catalogue(name: str, title: str) -> Manifest:
    return {
        "apiVersion": CATALOG_SOURCE.api_version,
        "kind": CATALOG_SOURCE.kind,
        "metadata": {"name": name, "namespace": MARKETPLACE},
        # Played: the catalogue's contents are those of the OLM actor, nothing is pulled from anywhere.
        "spec": {"sourceType": "grpc", "displayName": title, "publisher": "simulated"},
    }


def _files_class(name: str) -> Manifest:
    return {
        "apiVersion": STORAGE_CLASS.api_version,
        "kind": STORAGE_CLASS.kind,
        "metadata": {"name": name, "annotations": {PLAYED_BY: "simulator.actors: sim-files"}},
        "provisioner": FILES_PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
    }
