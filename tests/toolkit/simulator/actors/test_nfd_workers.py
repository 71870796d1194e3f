"""The real worker of Node Feature Discovery over the files of simulated nodes."""

import json
from collections.abc import Iterator

import pytest

from components.nodes.node_feature_discovery import NodeFeatureWorker
from core.apis import kinds
from core.hardware.profiles import PROFILES
from tests.support.node_features import KERNEL, Worker, worker
from toolkit.simulator.actors import features, nfd_v1alpha1
from toolkit.simulator.actors.nfd_workers import GPU_FEATURES

pytestmark = pytest.mark.engine  # no engine, but a program that is built with Go

A100, H100, V100 = PROFILES["dgx-a100"], PROFILES["dgx-h100"], PROFILES["dgx1-v100-16gb"]
ETHERNET = PROFILES["sys-4029gp-tvrt"]
VENDOR = "feature.node.kubernetes.io/pci-{}.present"


@pytest.fixture(scope="module")
def nfd() -> Iterator[Worker]:
    """Yield a worker."""
    with worker() as one:
        yield one


def configuration(*classes: str, fields: tuple[str, ...] = ("vendor",)) -> str:
    """Return a worker's configuration."""
    return json.dumps({"sources": {"pci": {"deviceClassWhitelist": classes, "deviceLabelFields": fields}}})


def devices(labels: dict[str, str]) -> set[str]:
    """Return the PCI devices that labels name."""
    first, last = VENDOR.split("{}")
    return {label.removeprefix(first).removesuffix(last) for label in labels if label.startswith(first)}


def test_features_of_2020(nfd: Worker) -> None:
    """The configuration of 4.4 has adapters in Ethernet mode labelled, and no ports in InfiniBand mode."""
    (of_workers,) = [body for kind, body in nfd_v1alpha1.operands("openshift-nfd", "a:1") if kind == kinds.CONFIG_MAP]
    fixed = of_workers["data"]["nfd-worker-conf"]
    assert devices(nfd.labels(V100, fixed)) == {"10de"}
    assert devices(nfd.labels(ETHERNET, fixed)) == {"10de", "15b3"}


def test_a_class_that_is_not_listed_is_not_labelled(nfd: Worker) -> None:
    """The operator's own sample, without class 0207, labels no ports in InfiniBand mode; our configuration does."""
    sample = configuration("0200", "03", "12")
    assert devices(nfd.labels(A100, sample)) == {"10de"}
    ours = configuration(*NodeFeatureWorker().pci_classes)
    assert devices(nfd.labels(A100, ours)) == {"10de", "15b3"}
    assert devices(nfd.labels(None, ours)) == set()


def test_every_adapter_of_a_machine_counts(nfd: Worker) -> None:
    """Ports for storage and in-band have the class of what their interfaces are called after."""
    both = configuration("02", "03", fields=("class", "vendor"))
    assert devices(nfd.labels(H100, both)) == {"0207_15b3", "0200_15b3", "0302_10de"}
    assert devices(nfd.labels(A100, both)) == {"0207_15b3", "0302_10de"}
    assert devices(nfd.labels(A100, configuration("0207", fields=("vendor", "device")))) == {"15b3_101b"}


def test_what_the_system_says(nfd: Worker) -> None:
    """Kernel, system and NUMA are of the node, not of the machine that simulates it; the processor is left out."""
    labels = nfd.labels(A100, "")
    assert labels["feature.node.kubernetes.io/kernel-version.full"] == KERNEL
    assert labels["feature.node.kubernetes.io/system-os_release.VERSION_ID"] == "4.20"
    assert labels["feature.node.kubernetes.io/memory-numa"] == "true"
    assert not any("/cpu-" in label for label in labels)
    assert devices(labels) == {"0302_10de"}


def test_labels_of_gpu_feature_discovery(nfd: Worker) -> None:
    """What GPU feature discovery leaves in a file becomes labels in its own name space."""
    file = "".join(f"{name}={value}\n" for name, value in features.gpu_labels(A100, "none", None).items())
    assert nfd.labels(A100, "", {GPU_FEATURES: file})["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-40GB"


@pytest.mark.parametrize("text", ["{", "[]", "sources: [1]", "sources: {pci: {deviceClassWhitelist: 3}}"])
def test_an_unreadable_configuration_ends_the_worker(nfd: Worker, text: str) -> None:
    """A configuration that cannot be read ends the worker, in its own words."""
    with pytest.raises(ValueError, match="failed to parse config file"):
        nfd.labels(A100, text)
