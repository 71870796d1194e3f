"""ClusterServiceVersions: what a catalogue's bundles have of an operator, as pure functions."""

import re

from core.apis import kinds
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.package import Bundle, Package
from toolkit.simulator.manifests import manifest, simulated_by

BY = "catalogue"
INSTALL_MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
_NUMBER = re.compile(r"\.v?(\d+\.\d+\.\d+.*)$")


def number(version: str) -> str:
    """Return the semantic version in the name of a ClusterServiceVersion; raise ValueError for a name without one."""
    match = _NUMBER.search(version)
    if match is None:
        raise ValueError(f"{version} has no version such as 1.2.3 at its end")
    return match[1]


def cluster_service_version(package: Package, name: str, replaces: str = "") -> Object:
    """Return the ClusterServiceVersion `name` of a package, as its bundle has it; `replaces` is the one before."""
    bundle = package.bundle(name)
    labels = {"name": bundle.account}
    container = {"name": bundle.account, "image": bundle.image}
    deployment = {
        "replicas": bundle.replicas,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"serviceAccountName": bundle.account, "containers": [container], **bundle.placement},
        },
    }
    permissions = {"serviceAccountName": bundle.account, "rules": [rule.manifest() for rule in bundle.rules]}
    owned = [
        {"name": definition.name, "version": definition.kind.version, "kind": definition.kind.kind}
        for definition in bundle.definitions
    ]
    spec = {
        "displayName": package.title,
        "version": number(name),
        "installModes": install_modes(bundle),
        "customresourcedefinitions": {"owned": owned},
        "install": {
            "strategy": "deployment",
            "spec": {
                "deployments": [{"name": bundle.account, "spec": deployment}],
                "clusterPermissions": [permissions],
            },
        },
        **({"replaces": replaces} if replaces else {}),
    }
    return manifest(kinds.CLUSTER_SERVICE_VERSION, name, annotations=simulated_by(BY), spec=spec)


def install_modes(bundle: Bundle) -> list[Object]:
    """Return which namespaces an operator can watch, as its version and its catalogue say it."""
    return [{"type": mode, "supported": mode in bundle.modes} for mode in INSTALL_MODES]
