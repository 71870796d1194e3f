"""What the settings ask of jobs."""

from pathlib import Path

import pytest

from core.apis.nccl import Transport
from stacks.loading import locks
from stacks.loading import settings as stack_settings
from stacks.settings.fabric import Ethernet
from tests.support.recorded import OURS
from tests.support.stack_settings import data
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.verify.expectations import requests
from toolkit.evidence.verdict import RDMA_TEST, Shape


def test_the_jobs_of_the_redpaper_are_measured_by_its_own_fabric_and_layouts() -> None:
    """Jobs of the Redpaper have its fabric and layouts, and the RDMA test both of its sides."""
    found = {one.job: one for one in requests(stack_settings.load("dev", ROOT), {})}
    rdma = found["adas/mofed-test-job"]
    assert (rdma.program, rdma.fabric, rdma.profile) == (RDMA_TEST, "infiniband", "dgx1-v100-16gb")
    assert rdma.devices == ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3")
    assert [job for job, one in found.items() if one.program == RDMA_TEST] == [
        "adas/mofed-test-job",
        "adas/mofed-test-job-listener",
    ]
    several = found["adas/nccl-test-16x01"]
    assert (several.shape, several.transport) == (Shape(pods=16, gpus=1), Transport.GPUDIRECT)
    alone = found["adas/nccl-test-01x08"]
    assert (alone.shape, alone.transport, alone.devices) == (Shape(pods=1, gpus=8), None, ())
    bound = found["adas/tf2-a2d2-08x01x01-gpu"]
    assert (bound.shape, bound.transport, bound.nodes) == (Shape(pods=8, gpus=1), None, ("dgx01.ocp4.scale.ibm.com",))


def test_jobs_over_ethernet_are_measured_by_the_packets_of_the_settings() -> None:
    """Jobs over Ethernet have the MTU of the settings, where these have one."""
    settings = stack_settings.load("robotic-drive-ethernet", ROOT)
    assert isinstance(settings.fabric, Ethernet)
    fabric = settings.fabric.model_copy(update={"pod_mtu": 8900})
    wanted = requests(settings.model_copy(update={"fabric": fabric}), {})
    assert {one.pod_mtu for one in wanted} == {8900}
    assert {one.pod_mtu for one in requests(stack_settings.load("dev", ROOT), {})} == {None}


def test_ports_of_roce_are_measured_by_the_settings() -> None:
    """Jobs over RoCE have the MTU that the settings give the ports; others have none."""
    assert {one.port_mtu for one in requests(stack_settings.load("nvaie-roce", ROOT), {})} == {9216}
    assert {one.port_mtu for one in requests(stack_settings.load("dev", ROOT), {})} == {None}


@pytest.mark.parametrize("name", ["prod", *OURS])
def test_every_stack_asks_for_what_its_fabric_has(name: str) -> None:
    """Every stack requests what its fabric has."""
    settings = stack_settings.load(name, ROOT)
    found = requests(settings, locks.read(settings, ROOT))
    assert len({one.job for one in found}) == len(found)
    for one in found:
        pool = next(
            pool for pool in settings.gpu_pools if (pool.machine.name, pool.fabric.kind) == (one.profile, one.fabric)
        )
        assert not (one.devices and not pool.uses_rdma)
        assert one.transport is not Transport.TCP or not one.devices


def test_a_machine_of_the_stacks_own_is_judged_by_its_file(tmp_path: Path) -> None:
    """Requests carry the machine that a stack brings along, whose name is not in core/hardware/machines."""
    (tmp_path / "our-dgx.yaml").write_text("base: dgx-h100\nmemory_gib: 1024\nsource: ours\n")
    content = data("h100-roce") | {"machines": ["our-dgx.yaml"]}
    content["nodes"][-1]["machine"] = "our-dgx"
    found = requests(stack_settings.parse(content, "test", root=tmp_path), {})
    assert {(one.profile, one.machine.memory_gib if one.machine else None) for one in found} == {("our-dgx", 1024)}
    assert {one.own_machine for one in requests(stack_settings.load("h100-roce", ROOT), {})} == {None}


def test_a_program_without_nccl_has_no_transport() -> None:
    """Of a program whose ranks do not use NCCL no transport is asked for, only what it prints."""
    found = {one.program: one for one in requests(stack_settings.load("h200-infiniband", ROOT), {})}
    assert (found["shared-data"].transport, found["shared-data"].prints) == (None, ("shared-data",))
    assert found["resnet50"].transport is Transport.GPUDIRECT
