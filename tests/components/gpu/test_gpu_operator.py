"""The GPU Operator's ClusterPolicy."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.gpu.gpu_operator import GpuOperator, GpuOperatorArgs, spec
from core.hardware.gpus import Gpu
from core.hardware.profiles import PROFILES
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, faults, only
from tests.support.machines import A100_SXM4_40GB, V100_SXM2_32GB

PEERMEM = {"mechanism": "nvidia-peermem"}
DMA_BUF = {"mechanism": "dma-buf"}


def arguments(gpu: Gpu, version: str | None, **changes: Any) -> GpuOperatorArgs:
    """Return the arguments for a GPU and a version of the driver, None for a driver of the nodes' own."""
    driver = {"version": version} if version else None
    kind = {"gpu": gpu, "gpudirect": changes.pop("gpudirect", None)}
    return GpuOperatorArgs.model_validate({"gpus": [kind], "driver": driver} | changes)


VARIANTS = (
    arguments(V100_SXM2_32GB, "580.95.05", gpudirect=PEERMEM),
    arguments(V100_SXM2_32GB, "580.95.05", gpudirect=PEERMEM | {"host_ofed": True}, gdrcopy=True, monitoring=False),
    arguments(A100_SXM4_40GB, "595.91.07", gpudirect=DMA_BUF, mig="mixed", tolerations=()),
    arguments(A100_SXM4_40GB, None),
    arguments(A100_SXM4_40GB, "595.91.07", gds=True),
    arguments(A100_SXM4_40GB, None, driver_objects=True),
)
NAMES = ("v100", "v100-host-ofed", "a100", "host-driver", "gds", "driver-objects")


@pytest.mark.parametrize("args", VARIANTS, ids=NAMES)
def test_policy_has_the_shape_of_its_definition_and_passes_our_rules(args: GpuOperatorArgs) -> None:
    """The policy matches its definition, and the policies have no finding."""
    found = declared(lambda: GpuOperator("gpu", args))
    assert faults(found) == []
    expect_conformity(only(found, "ClusterPolicy"))


@pytest.mark.parametrize("args", VARIANTS, ids=NAMES)
def test_containers_cannot_choose_gpus(args: GpuOperatorArgs) -> None:
    """The toolkit refuses GPUs that an unprivileged container names by its environment or by mounts; CDI gives them."""
    policy = spec(args)
    assert {each["name"]: each["value"] for each in policy["toolkit"]["env"]} == {
        "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED": "false",
        "ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS": "false",
    }
    assert policy["cdi"] == {"enabled": True}


def test_volta_gets_its_last_branch_and_the_proprietary_module() -> None:
    """V100s get a driver up to branch 580 with the proprietary module."""
    driver = spec(arguments(V100_SXM2_32GB, "580.95.05", gpudirect=PEERMEM))["driver"]
    assert driver["kernelModuleType"] == "proprietary"
    assert driver["rdma"] == {"enabled": True, "useHostMofed": False}
    with pytest.raises(ValidationError, match=r"version 595\.91\.07 does not support .*; give one of branch 580"):
        arguments(V100_SXM2_32GB, "595.91.07")


def test_dma_buf_takes_the_open_module_and_no_peermem() -> None:
    """DMA-BUF uses the open kernel module, without nvidia-peermem."""
    driver = spec(arguments(A100_SXM4_40GB, "595.91.07", gpudirect=DMA_BUF))["driver"]
    assert driver["kernelModuleType"] == "open"
    assert driver["rdma"] == {"enabled": False, "useHostMofed": False}
    assert spec(arguments(A100_SXM4_40GB, "595.91.07"))["driver"]["kernelModuleType"] == "auto"
    with pytest.raises(
        ValidationError, match=r"version 470\.57\.02 has no open kernel module, .*; give one of branch 515"
    ):
        arguments(A100_SXM4_40GB, "470.57.02", gpudirect=DMA_BUF)


def test_gpudirect_storage_takes_the_open_module() -> None:
    """GPUDirect Storage uses the open kernel module, also where adapters do not reach the GPUs."""
    policy = spec(arguments(A100_SXM4_40GB, "595.91.07", gds=True))
    assert policy["gds"]["enabled"]
    # The operator has no image of its own for it.
    assert {"repository", "image", "version"} <= policy["gds"].keys()
    assert policy["driver"]["kernelModuleType"] == "open"
    assert "gds" not in spec(arguments(A100_SXM4_40GB, "595.91.07"))
    with pytest.raises(ValidationError, match=r"which GPUDirect Storage needs; give one of branch 515"):
        arguments(A100_SXM4_40GB, "470.57.02", gds=True)


def test_the_driver_is_a_whole_image() -> None:
    """The driver has repository, image and version."""
    driver = spec(arguments(A100_SXM4_40GB, "580.95.05"))["driver"]
    assert (driver["repository"], driver["image"], driver["version"]) == ("nvcr.io/nvidia", "driver", "580.95.05")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gpudirect": DMA_BUF}, "has no dma-buf; give mechanism nvidia-peermem"),
        ({"mig": "single"}, "cannot be divided; give none"),
        (
            {"gds": True},
            "gds true: Tesla V100 SXM2 32GB is too old for .* open kernel module.*; set it to false",
        ),
        ({"driver": {"version": "latest"}}, "driver.version"),
        ({"driver": {"version": "580"}}, "driver.version"),
    ],
)
def test_what_a_v100_cannot_do_is_refused(changes: dict[str, Any], message: str) -> None:
    """DMA-BUF, MIG and malformed versions are refused on a V100."""
    with pytest.raises(ValidationError, match=message):
        arguments(V100_SXM2_32GB, "580.95.05", **changes)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: str(profile.name))
def test_every_machine_can_have_gpudirect(profile: Any) -> None:
    """Every hardware profile supports GPUDirect by its own mechanism."""
    args = arguments(profile.gpu, "580.95.05", gpudirect={"mechanism": profile.architecture.peer_memory})
    assert spec(args)["driver"]["enabled"]


def test_nodes_kept_for_gpus_bear_the_operator() -> None:
    """The DaemonSets tolerate the GPU taint, and are updated node by node."""
    everywhere = spec(VARIANTS[0])["daemonsets"]
    assert everywhere["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert everywhere["rollingUpdate"] == {"maxUnavailable": "1"}


def test_policy_is_awaited() -> None:
    """The provider waits until the policy is ready."""
    policy = only(declared(lambda: GpuOperator("gpu", VARIANTS[0])), "ClusterPolicy")
    assert policy["metadata"]["annotations"] == {
        "pulumi.com/waitFor": '["jsonpath={.status.state}=ready", '
        '"jsonpath={.status.conditions[?(@.type==\\"Ready\\")].reason}=Reconciled"]',
        "pulumi.com/timeoutSeconds": "3600",
    }
