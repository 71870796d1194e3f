"""What keeps a pod in ContainerCreating."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from simulator.actors import volumes

DRIVER = "spectrumscale.csi.ibm.com"


@dataclass
class Store:
    """Objects that are there."""

    config_maps: dict[str, Any] = field(default_factory=dict)
    secrets: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    volumes: dict[str, Any] = field(default_factory=dict)
    drivers: set[tuple[str, str]] = field(default_factory=set)
    unknown: str | None = None

    def config_map(self, _namespace: str, name: str) -> Any:
        """Find a ConfigMap."""
        return self.config_maps.get(name)

    def secret(self, _namespace: str, name: str) -> Any:
        """Find a Secret."""
        return self.secrets.get(name)

    def claim(self, _namespace: str, name: str) -> Any:
        """Find a claim."""
        return self.claims.get(name)

    def volume(self, name: str) -> Any:
        """Find a volume."""
        return self.volumes.get(name)

    def driver_runs(self, driver: str, node: str) -> bool:
        """Find a driver."""
        return (driver, node) in self.drivers

    def refused(self, _source: Any, _node: str) -> str | None:
        """Say what the driver says."""
        return self.unknown


def pod(*mounted: dict[str, Any]) -> dict[str, Any]:
    """Return a pod on dgx01 with these volumes."""
    return {
        "metadata": {"name": "p", "namespace": "adas"},
        "spec": {"nodeName": "dgx01", "volumes": [{"name": f"v{n}", **one} for n, one in enumerate(mounted)]},
    }


CONFIG = {"configMap": {"name": "c", "items": [{"key": "k", "path": "k"}]}}
SECRET = {"secret": {"secretName": "s"}}
PROJECTED = {"projected": {"sources": [{"serviceAccountToken": {}}, {"configMap": {"name": "kube-root-ca.crt"}}]}}
CLAIM = {"persistentVolumeClaim": {"claimName": "data"}}


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        (CONFIG, 'configmap "c" not found'),
        (SECRET, 'secret "s" not found'),
        (PROJECTED, 'configmap "kube-root-ca.crt" not found'),
        (CLAIM, 'persistentvolumeclaim "data" not found'),
    ],
)
def test_a_missing_object_is_named(volume: dict[str, Any], why: str) -> None:
    """Prevents pods that start without what they mount, and a reason that does not name it."""
    assert volumes.missing(pod(volume), Store()) == [f'MountVolume.SetUp failed for volume "v0" : {why}']


def test_nothing_is_needed_of_other_kinds_and_optional_ones() -> None:
    """Prevents pods that wait for ever for what a kubelet does not wait for."""
    others: tuple[dict[str, Any], ...] = (
        {"emptyDir": {}},
        {"hostPath": {"path": "/dev"}},
        {"downwardAPI": {}},
        {"secret": None},
    )
    optional = {"configMap": {"name": "c", "optional": True}}
    assert volumes.missing(pod(*others, optional), Store()) == []


def test_the_named_keys_must_be_there() -> None:
    """Prevents a ConfigMap without the mounted key from counting as mounted."""
    there = volumes.missing(pod(CONFIG), Store(config_maps={"c": {"data": {"k": "v"}}}))
    absent = volumes.missing(pod(CONFIG), Store(config_maps={"c": {"data": {"other": "v"}}}))
    assert there == []
    assert "non-existent key: k" in absent[0]


def test_a_claim_needs_a_volume_and_the_driver_on_the_node() -> None:
    """Prevents storage without a bound volume or without the CSI driver's pod on that very node."""
    bound = {"spec": {"volumeName": "pv"}, "status": {"phase": "Bound"}}
    store = Store(claims={"data": {"spec": {}, "status": {"phase": "Pending"}}})
    assert "not bound" in volumes.missing(pod(CLAIM), store)[0]
    store.claims["data"] = bound
    store.volumes["pv"] = {"spec": {"csi": {"driver": DRIVER}}}
    store.drivers = {(DRIVER, "dgx02")}
    assert "not found in the list of registered CSI drivers" in volumes.missing(pod(CLAIM), store)[0]
    store.drivers = {(DRIVER, "dgx01")}
    assert volumes.missing(pod(CLAIM), store) == []
