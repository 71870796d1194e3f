"""ConfigMaps and Secrets whose texts a controller applies as manifests, because another object names them.

Source: cluster-api.sigs.k8s.io/tasks/cluster-resource-set; hypershift.pages.dev; projectsveltos.github.io.
"""

from collections.abc import Iterator, Mapping

from core.apis.kinds import Kind
from policies.inventory import Inventory
from policies.objects import Obj
from policies.values import Path, Tree, read

_HIVE, _SVELTOS = "extensions.hive.openshift.io", "config.projectsveltos.io"
_REFERENCES: Mapping[tuple[str, str], tuple[Path, ...]] = {
    ("addons.cluster.x-k8s.io", "ClusterResourceSet"): (("spec", "resources"),),
    ("hypershift.openshift.io", "NodePool"): (("spec", "config"), ("spec", "tuningConfig")),
    (_HIVE, "AgentClusterInstall"): (("spec", "manifestsConfigMapRefs"), ("spec", "manifestsConfigMapRef")),
    (_HIVE, "ImageClusterInstall"): (("spec", "extraManifestsRefs"),),
    ("hive.openshift.io", "ClusterDeployment"): (
        ("spec", "provisioning", "manifestsConfigMapRef"),
        ("spec", "provisioning", "manifestsSecretRef"),
    ),
    ("siteconfig.open-cluster-management.io", "ClusterInstance"): (("spec", "extraManifestsRefs"),),
    (_SVELTOS, "ClusterProfile"): (("spec", "policyRefs"),),
    (_SVELTOS, "Profile"): (("spec", "policyRefs"),),
}
"""Kinds that apply texts, and where they name them: in a list, or in one reference."""


def is_applied(holder: Obj, inventory: Inventory) -> bool:
    """Return whether one of the objects applies the texts of a ConfigMap or Secret."""
    return holder.name in inventory.once(_names)


def _names(inventory: Inventory) -> frozenset[str]:
    return frozenset(_applied_names(inventory))


def _applied_names(inventory: Inventory) -> Iterator[str]:
    for (group, kind), paths in _REFERENCES.items():
        for applier in inventory.of(Kind(group, "", kind, "")):
            for path in paths:
                yield from _referenced(read(applier.tree, *path))


def _referenced(reference: Tree) -> Iterator[str]:
    for entry in reference if isinstance(reference, list) else [reference]:
        name = read(entry, "name")
        if isinstance(name, str):
            yield name
