"""What node feature discovery and GPU feature discovery find."""

import json

import pytest

from components.nodes.node_feature_discovery import NodeFeatureWorker
from core.apis import kinds
from core.hardware.profiles import PROFILES
from toolkit.simulator.actors import features, mig, nfd_v1alpha1

A100, H100, V100 = PROFILES["dgx-a100"], PROFILES["dgx-h100"], PROFILES["dgx1-v100-16gb"]
ETHERNET = PROFILES["sys-4029gp-tvrt"]
VENDOR = "feature.node.kubernetes.io/pci-{}.present"


def configuration(*classes: str, fields: tuple[str, ...] = ("vendor",)) -> str:
    """Return a worker's configuration."""
    return json.dumps({"sources": {"pci": {"deviceClassWhitelist": classes, "deviceLabelFields": fields}}})


def test_features_of_2020() -> None:
    """The operator of 4.4 has adapters in Ethernet mode labelled, and no ports in InfiniBand mode, in a fixed form."""
    (of_workers,) = [body for kind, body in nfd_v1alpha1.operands("openshift-nfd", "a:1") if kind == kinds.CONFIG_MAP]
    fixed = of_workers["data"]["nfd-worker-conf"]
    assert features.pci_labels(V100, fixed) == {VENDOR.format("10de"): "true"}
    assert features.pci_labels(ETHERNET, fixed) == {VENDOR.format("10de"): "true", VENDOR.format("15b3"): "true"}
    assert features.kernel_labels({"status": {"nodeInfo": {"kernelVersion": "3.10"}}}) == {
        "feature.node.kubernetes.io/kernel-version.full": "3.10"
    }


def test_every_adapter_of_a_machine_counts() -> None:
    """Ports for storage and in-band have the class of what their interfaces are called after."""
    assert features.pci_devices(H100) == {("0207", "15b3"), ("0200", "15b3"), ("0302", "10de")}
    assert features.pci_devices(A100) == {("0207", "15b3"), ("0302", "10de")}


def test_a_class_that_is_not_listed_is_not_found() -> None:
    """The operator's own sample, without class 0207, finds no ports in InfiniBand mode."""
    sample = configuration("0200", "03", "12")
    assert features.pci_labels(A100, sample) == {VENDOR.format("10de"): "true"}
    assert VENDOR.format("15b3") in features.pci_labels(ETHERNET, sample)
    ours = configuration(*NodeFeatureWorker().pci_classes)
    assert features.pci_labels(A100, ours) == {VENDOR.format("10de"): "true", VENDOR.format("15b3"): "true"}
    assert features.pci_labels(None, ours) == {}


def test_defaults_and_other_fields() -> None:
    """Without fields in the configuration a label has class and vendor."""
    assert features.pci_labels(A100, "") == {VENDOR.format("0302_10de"): "true"}
    assert features.pci_labels(A100, configuration("03", fields=("class",))) == {VENDOR.format("0302"): "true"}
    assert features.pci_labels(A100, configuration("03", fields=("vendor", "device"))) == {}


@pytest.mark.parametrize("text", ["{", "[]", "sources: [1]", "sources: {pci: {deviceClassWhitelist: 3}}"])
def test_an_unreadable_configuration(text: str) -> None:
    """A configuration that cannot be read is an error, and an empty one means the defaults."""
    if text == "[]":
        assert VENDOR.format("0302_10de") in features.pci_labels(A100, text)
        return
    with pytest.raises(ValueError, match="failed to parse config"):
        features.pci_labels(A100, text)


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
