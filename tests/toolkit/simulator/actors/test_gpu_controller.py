"""The real GPU operator: which pods are it, and the files that it reads."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from toolkit.engine.tools.versions import GPU_OPERATOR
from toolkit.simulator.actors import gpu_controller
from toolkit.simulator.actors.gpu_cluster_operator import GpuClusterOperator
from toolkit.simulator.actors.gpu_controller import GpuController
from toolkit.simulator.actors.gpu_operator import GpuOperator
from toolkit.simulator.actors.packages import packages

IMAGE = "nvcr.io/nvidia/gpu-operator"


@pytest.mark.parametrize(
    ("image", "actor"),
    [
        (f"{IMAGE}:v{GPU_OPERATOR}", GpuController),
        (f"{IMAGE}:v25.3.0", GpuController),
        ("mirror.example.com:5000/nvidia/gpu-operator:v25.3.4", GpuController),
        (f"{IMAGE}:v25.10.1", GpuOperator),
        (f"{IMAGE}:v26.3.3", GpuOperator),
        (f"{IMAGE}:v26.7.0", GpuClusterOperator),
        (f"{IMAGE}:v27.1.0", GpuClusterOperator),
        (f"{IMAGE}@sha256:{'0' * 64}", GpuOperator),
    ],
)
def test_the_real_one_runs_where_there_is_one(image: str, actor: type) -> None:
    """Its release is served as a Go module, and no later one."""
    pod = {"metadata": {"namespace": "gpus", "name": "p"}, "spec": {"containers": [{"image": image}]}}
    runtime: Any = SimpleNamespace(account=lambda _: None)
    logs: Any = None
    assert type(gpu_controller.operator(runtime, logs, pod)) is actor


def test_each_channel_has_its_operator() -> None:
    """The catalogue's channel of the real one has its image, and definitions out of its module."""
    channels = packages()["gpu-operator-certified"].channels
    real = channels["v25.3"]
    assert real.image == f"{IMAGE}:v{GPU_OPERATOR}"
    assert real.versions == (f"gpu-operator-certified.v{GPU_OPERATOR}",)
    assert [definition.name for definition in real.definitions] == [
        definition.name for definition in channels["v26.3"].definitions
    ]
    claims = {definition.name for definition in channels["v26.7"].definitions}
    claims -= {definition.name for definition in channels["v26.3"].definitions}
    assert claims == {
        "gpuclusters.nvidia.com",
        "computedomains.resource.nvidia.com",
        "computedomaincliques.resource.nvidia.com",
    }


def published(folder: Path) -> Path:
    """Return a folder with files as the operator's module has them."""
    for file in ("assets/state-driver/0500_daemonset.yaml", "manifests/state-driver/0500_daemonset.yaml"):
        (folder / file).parent.mkdir(parents=True)
        (folder / file).write_text(file)
    env = [
        {"name": "OPERATOR_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        {"name": "DRIVER_MANAGER_IMAGE", "value": "nvcr.io/nvidia/cloud-native/k8s-driver-manager:v0.8"},
    ]
    pod = {"spec": {"containers": [{"name": "gpu-operator", "env": env}]}}
    version = {"spec": {"install": {"spec": {"deployments": [{"spec": {"template": pod}}]}}}}
    (folder / gpu_controller.VERSION_FILE).write_text(yaml.safe_dump(version))
    return folder


@pytest.mark.parametrize(
    ("release", "system"),
    [("4.18", 'ID="rhcos"\nVERSION_ID="4.18"\nOPENSHIFT_VERSION="4.18"\n'), (None, 'ID="rhel"\n')],
)
def test_its_folder_has_what_its_container_would(tmp_path: Path, release: str | None, system: str) -> None:
    """States are beside the templates of drivers, and the system is that of the release's nodes."""
    files, folder = published(tmp_path / "files"), tmp_path / "run"
    for _ in range(2):  # its container may start again
        gpu_controller.lay_out(folder, files, release)
    below = folder / "opt/gpu-operator"
    assert (below / "state-driver/0500_daemonset.yaml").read_text().startswith("assets/")
    assert (below / "manifests/state-driver/0500_daemonset.yaml").read_text().startswith("manifests/")
    assert (folder / "host-etc/os-release").read_text() == system


def test_its_variables_are_those_of_its_version(tmp_path: Path) -> None:
    """It knows the images of its operands from its ClusterServiceVersion, and its namespace from its pod."""
    assert gpu_controller.variables(published(tmp_path), "gpus") == {
        "DRIVER_MANAGER_IMAGE": "nvcr.io/nvidia/cloud-native/k8s-driver-manager:v0.8",
        "OPERATOR_NAMESPACE": "gpus",
    }
