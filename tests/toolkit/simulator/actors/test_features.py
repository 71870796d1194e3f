"""What GPU feature discovery finds."""

import pytest

from core.hardware.profiles import PROFILES
from toolkit.simulator.actors import features, mig

A100, V100 = PROFILES["dgx-a100"], PROFILES["dgx1-v100-16gb"]


@pytest.mark.parametrize(
    ("profile", "product"),
    [
        ("dgx-a100", "NVIDIA-A100-SXM4-40GB"),
        ("dgx1-v100-16gb", "Tesla-V100-SXM2-16GB"),
        ("dgx1-v100-32gb", "Tesla-V100-SXM2-32GB"),
        ("dgx2h", "Tesla-V100-SXM3-32GB-H"),
    ],
)
def test_product(profile: str, product: str) -> None:
    """gpu.product is the label that the driver gives."""
    found = features.gpu_labels(PROFILES[profile], "none", None)
    assert found["nvidia.com/gpu.product"] == product
    assert found["nvidia.com/gpu.count"] == str(PROFILES[profile].gpus)


def test_labels_of_divided_gpus() -> None:
    """Divided GPUs have the labels of their slices."""
    single = features.gpu_labels(A100, "single", A100.gpu.mig["all-1g.5gb"])
    assert single["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"
    assert single["nvidia.com/gpu.count"] == "56"
    mixed = features.gpu_labels(A100, "mixed", A100.gpu.mig["all-balanced"])
    assert mixed["nvidia.com/mig-1g.5gb.count"] == "16"
    assert mixed["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-40GB"
    assert features.gpu_labels(V100, "none", None)["nvidia.com/mig.capable"] == "false"
    assert features.gpu_labels(None, "none", None) == {}


def test_the_clique_of_gpus_in_a_rack() -> None:
    """Nodes whose GPUs have NVLink to those of others are labelled with their clique, and no others."""
    clique = "11111111-2222-3333-4444-555555555555.32766"
    assert features.gpu_labels(A100, "none", None, clique)["nvidia.com/gpu.clique"] == clique
    assert "nvidia.com/gpu.clique" not in features.gpu_labels(A100, "none", None)


@pytest.mark.parametrize(
    ("strategy", "name", "offered"),
    [
        ("none", mig.DISABLED, {"nvidia.com/gpu": 8}),
        ("single", mig.DISABLED, {"nvidia.com/gpu": 8}),
        ("none", "all-1g.5gb", {}),
        ("single", "all-1g.5gb", {"nvidia.com/gpu": 56}),
        ("single", "all-balanced", {}),
        (
            "mixed",
            "all-balanced",
            {"nvidia.com/mig-1g.5gb": 16, "nvidia.com/mig-2g.10gb": 8, "nvidia.com/mig-3g.20gb": 8},
        ),
    ],
)
def test_resources_of_divided_gpus(strategy: str, name: str, offered: dict[str, int]) -> None:
    """Slices of several sizes have names of their own, and divided GPUs are not offered whole."""
    assert mig.resources(A100, strategy, mig.layouts(A100)[name]) == offered


def test_only_some_gpus_can_be_divided() -> None:
    """A V100 cannot be divided."""
    assert mig.layouts(V100) == {}
    assert mig.layouts(None) == {}
    node = {"metadata": {"name": "n", "annotations": {"hpc.sim/mig-config": "all-1g.5gb"}}}
    assert mig.layout(A100, node) == {"1g.5gb": 7}
    assert mig.layout(V100, node) is None
