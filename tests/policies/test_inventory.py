"""The objects that rules about links look up."""

from typing import Any

from core.apis.kinds import CONFIG_MAP, RESOURCE_FLAVOR
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj


def _object(version: str, kind: str, **metadata: Any) -> Obj:
    return Obj({"apiVersion": version, "kind": kind, "metadata": metadata})


def test_the_name_alone_decides_for_kinds_without_namespaces() -> None:
    """A preview without the kind's definition shows the object in a namespace, and links to it hold all the same."""
    flavor = _object("kueue.x-k8s.io/v1beta2", "ResourceFlavor", name="dgx", namespace="default")
    config = _object("v1", "ConfigMap", name="dgx", namespace="default")
    inventory = Inventory([flavor, config])
    assert inventory.get(RESOURCE_FLAVOR, "dgx") is flavor
    assert inventory.get(RESOURCE_FLAVOR, "other") is None
    assert inventory.get(CONFIG_MAP, "dgx") is None
    assert inventory.get(CONFIG_MAP, "dgx", "default") is config
