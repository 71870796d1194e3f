"""NVIDIADrivers: the driver of some nodes' GPUs."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.gpu.gpu_operator import GpuOperatorArgs
from components.gpu.gpu_operator import spec as policy
from components.gpu.nvidia_driver import NvidiaDriver, NvidiaDriverArgs, spec
from core.hardware.gpus import Gpu
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, faults, only
from tests.support.machines import A100_SXM4_40GB, V100_SXM2_32GB

PEERMEM, DMA_BUF = {"mechanism": "nvidia-peermem"}, {"mechanism": "dma-buf"}
SELECTOR = {"hpc.pulumi/pool": "former"}


def of_pool(gpu: Gpu, version: str, **changes: Any) -> NvidiaDriverArgs:
    """Return the arguments for a kind of GPU and a version of the driver."""
    gpus = {"gpu": gpu, "gpudirect": changes.pop("gpudirect", None)}
    base = {"driver_name": "former", "node_selector": SELECTOR, "driver": {"version": version}, "gpus": gpus}
    return NvidiaDriverArgs.model_validate(base | changes)


VARIANTS = {
    "v100": of_pool(V100_SXM2_32GB, "580.173.02", gpudirect=PEERMEM),
    "a100": of_pool(A100_SXM4_40GB, "595.91.07", gpudirect=DMA_BUF, gdrcopy=True, tolerations=()),
    "gds": of_pool(A100_SXM4_40GB, "595.91.07", gds=True, driver={"version": "595.91.07", "auto_upgrade": True}),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_it_has_the_shape_of_its_definition_and_passes_our_rules(name: str) -> None:
    """The object matches its definition, and the policies have no finding."""
    found = declared(lambda: NvidiaDriver("driver", VARIANTS[name]))
    assert faults(found) == []
    expect_conformity(only(found, "NVIDIADriver"))


def test_the_kernel_module_and_rdma_are_those_of_its_gpus() -> None:
    """Module and peer memory follow from the object's own GPUs, and it selects its nodes alone."""
    former, later = spec(VARIANTS["v100"]), spec(VARIANTS["a100"])
    assert (former["kernelModuleType"], former["rdma"]["enabled"]) == ("proprietary", True)
    assert (later["kernelModuleType"], later["rdma"]["enabled"]) == ("open", False)
    assert (former["nodeSelector"], former["default"]) == (SELECTOR, False)


def test_a_driver_that_its_gpus_do_not_support_is_refused() -> None:
    """V100s end with branch 580, whatever other pools have."""
    with pytest.raises(ValidationError, match=r"driver\.version 595\.91\.07 does not support .*; give one of branch"):
        of_pool(V100_SXM2_32GB, "595.91.07")


def test_a_policy_that_leaves_drivers_to_objects_has_none() -> None:
    """The ClusterPolicy names no driver of its own beside NVIDIADrivers."""
    args = {"gpus": [{"gpu": A100_SXM4_40GB}], "driver_objects": True}
    assert policy(GpuOperatorArgs.model_validate(args | {"driver": None}))["driver"] == {
        "enabled": True,
        "useNvidiaDriverCRD": True,
    }
    with pytest.raises(ValidationError, match=r"driver\.version 595\.91\.07: with driver_objects .*; leave it out"):
        GpuOperatorArgs.model_validate(args | {"driver": {"version": "595.91.07"}})
