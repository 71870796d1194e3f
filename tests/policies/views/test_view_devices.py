"""Which resources are GPUs, and configurations of the RDMA device plugin that fixtures are too small for."""

import json

import pytest

from policies.manifests.objects import Obj
from policies.views.device_plugins import Configuration, Entry, configuration
from policies.views.devices import device_class, is_gpu


@pytest.mark.parametrize(
    "resource",
    [
        *("gpu", "gpu.shared", "mig-1g.10gb", "GA102GL_A10", "GH100_H100_SXM5_80GB", "GRID_T4-16Q", "NVIDIA_L40S-48Q"),
        *("pgpu", "vgpu", "a100", "20b0", "gpumem"),
    ],
)
def test_gpus_by_any_name(resource: str) -> None:
    """What NVIDIA's plugins offer is a GPU by whatever name: shared, sliced, renamed, or of a model."""
    assert is_gpu(f"nvidia.com/{resource}")


@pytest.mark.parametrize(
    "resource",
    [
        *("nvidia.com/hostdev", "nvidia.com/sriov_ib", "nvidia.com/mlnxnics", "nvidia.com/rail_0", "nvidia.com/ib0"),
        *("nvidia.com/rdma_shared", "nvidia.com/bf3", "nvidia.com/roce-1", "rdma/shared_ib0", "cpu", "openshift.io/a"),
        "deviceclass.resource.kubernetes.io/compute-domain-default-channel.nvidia.com",
    ],
)
def test_other_devices(resource: str) -> None:
    """Adapters and IMEX channels are no GPUs."""
    assert not is_gpu(resource)


def test_classes_are_resources() -> None:
    """A DeviceClass is a resource by itself, and a GPU unless its name is that of an adapter."""
    resource = "deviceclass.resource.kubernetes.io/gpu.nvidia.com"
    assert (is_gpu(resource), device_class(resource), device_class("nvidia.com/gpu")) == (True, "gpu.nvidia.com", "")


def _read(text: str) -> Configuration:
    tree = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "rdma-devices"},
        "data": {"config.json": text},
    }
    found = configuration(Obj(tree))
    assert found is not None
    return found


def test_deep_documents() -> None:
    """A deeply nested configuration does not raise."""
    assert _read("[" * 200_000).faults == ("is nested too deeply",)


def test_long_documents() -> None:
    """A configuration larger than a ConfigMap is not parsed."""
    assert "is longer than" in _read(" " * 2_000_000).faults[0]


def test_many_faults() -> None:
    """The faults of one configuration are limited in number."""
    faults = _read(json.dumps({"configList": [1] * 100_000})).faults
    assert len(faults) == 51
    assert faults[-1] == "has 99950 more faults"


def test_what_can_be_read_is_offered() -> None:
    """A broken entry does not hide the resources of the others."""
    found = _read(json.dumps({"configList": [{"resourceName": "a", "rdmaHcaMax": "x"}, {"resourceName": "b"}, 1]}))
    assert found.entries == (Entry("rdma/a", None, False), Entry("rdma/b", None, False))
    assert found.faults
