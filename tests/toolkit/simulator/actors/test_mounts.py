"""What a pod's program reads of ConfigMaps and Secrets."""

import base64
from types import SimpleNamespace
from typing import Any

from toolkit.simulator.actors import mounts


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
    assert mounts.read(runtime, pod, "/etc/trainer/file.yaml") == b"a: 1"
    assert mounts.read(runtime, pod, "/certificates/tls.crt") == b"pem"
    assert mounts.read(runtime, pod, "/etc/exporter/list.csv") == b"a: 1"
    assert mounts.read(runtime, pod, "/etc/exporter/file.yaml") is None
    assert mounts.read(runtime, pod, "/etc/trainer/other.yaml") is None
    assert mounts.read(runtime, pod, "/etc/file.yaml") is None
