"""What keeps a pod in ContainerCreating."""

import base64
from types import SimpleNamespace
from typing import Any

import pytest

from toolkit.simulator.actors import volumes
from toolkit.simulator.actors.volumes import read_mounted

DRIVER = "spectrumscale.csi.ibm.com"


def there(*nodes: str, **objects: dict[str, Any]) -> Any:
    """Return a cluster with these objects, by cache and name, and with the CSI driver on these nodes."""
    caches = {
        cache: SimpleNamespace(get=lambda name, _namespace="", cache=cache: objects.get(cache, {}).get(name))
        for cache in ("config_maps", "secrets", "claims", "volumes")
    }
    driver = {"metadata": {"name": "driver"}}
    return SimpleNamespace(drivers=lambda name, node: [driver] if name == DRIVER and node in nodes else [], **caches)


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
    """A pod waits for what it mounts, and the reason names it."""
    assert volumes.missing(pod(volume), there()) == [f'MountVolume.SetUp failed for volume "v0" : {why}']


def test_nothing_is_needed_of_other_kinds_and_optional_ones() -> None:
    """A pod does not wait for what is optional or made by the kubelet."""
    others: tuple[dict[str, Any], ...] = (
        {"emptyDir": {}},
        {"hostPath": {"path": "/dev"}},
        {"downwardAPI": {}},
        {"secret": None},
    )
    optional = {"configMap": {"name": "c", "optional": True}}
    assert volumes.missing(pod(*others, optional), there()) == []


def test_the_named_keys_must_be_there() -> None:
    """A ConfigMap without the mounted key is not mounted."""
    assert volumes.missing(pod(CONFIG), there(config_maps={"c": {"data": {"k": "v"}}})) == []
    absent = volumes.missing(pod(CONFIG), there(config_maps={"c": {"data": {"other": "v"}}}))
    assert "non-existent key: k" in absent[0]


def test_a_claim_needs_a_volume_and_the_driver_on_the_node() -> None:
    """Storage needs a bound volume and the CSI driver's pod on the pod's node."""
    bound = {"data": {"spec": {"volumeName": "pv"}, "status": {"phase": "Bound"}}}
    pending = {"data": {"spec": {}, "status": {"phase": "Pending"}}}
    volume = {"pv": {"spec": {"csi": {"driver": DRIVER}}}}
    assert "not bound" in volumes.missing(pod(CLAIM), there(claims=pending))[0]
    elsewhere = volumes.missing(pod(CLAIM), there("dgx02", claims=bound, volumes=volume))
    assert "not found in the list of registered CSI drivers" in elsewhere[0]
    assert volumes.missing(pod(CLAIM), there("dgx01", claims=bound, volumes=volume)) == []


def test_a_program_reads_the_files_that_its_pod_mounts() -> None:
    """Keys of a ConfigMap or Secret are files of their names, or of a mount's own; others are not there."""
    pod = {
        "metadata": {"namespace": "kubeflow-system"},
        "spec": {
            "containers": [
                {
                    "volumeMounts": [
                        {"name": "settings", "mountPath": "/etc/trainer"},
                        {"name": "pair", "mountPath": "/certificates"},
                        {"name": "settings", "mountPath": "/etc/exporter/list.csv", "subPath": "file.yaml"},
                    ]
                }
            ],
            "volumes": [
                {"name": "settings", "configMap": {"name": "settings"}},
                {"name": "pair", "secret": {"secretName": "pair"}},
            ],
        },
    }
    runtime: Any = SimpleNamespace(
        config_maps=SimpleNamespace(get=lambda *_: {"data": {"file.yaml": "a: 1"}}),
        kubelet=SimpleNamespace(find=lambda *_: {"data": {"tls.crt": base64.b64encode(b"pem").decode()}}),
    )
    assert read_mounted(runtime, pod, "/etc/trainer/file.yaml") == b"a: 1"
    assert read_mounted(runtime, pod, "/certificates/tls.crt") == b"pem"
    assert read_mounted(runtime, pod, "/etc/exporter/list.csv") == b"a: 1"
    assert read_mounted(runtime, pod, "/etc/exporter/file.yaml") is None
    assert read_mounted(runtime, pod, "/etc/trainer/other.yaml") is None
    assert read_mounted(runtime, pod, "/etc/file.yaml") is None
