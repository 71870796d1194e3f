"""What the settings ask of jobs."""

import pytest

from apis.nccl import Transport
from cli.places import ROOT
from cli.proving.asked import asked
from evidence.criteria.expected import RDMA_TEST
from evidence.verdict import Shape
from stacks import settings as stack_settings
from stacks.fabric_settings import Ethernet


def test_the_jobs_of_the_redpaper_are_measured_by_its_own_fabric_and_layouts() -> None:
    """Prevents a job that is judged by another layout's figures, or a listener that nobody looks at."""
    found = {one.job: one for one in asked(stack_settings.load("dev", ROOT))}
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
    """Prevents a job's own interface from being judged by 9000 bytes where the settings name fewer."""
    settings = stack_settings.load("robotic-drive-ethernet", ROOT)
    assert isinstance(settings.fabric, Ethernet)
    fabric = settings.fabric.model_copy(update={"pod_mtu": 8900})
    wanted = asked(settings.model_copy(update={"fabric": fabric}))
    assert {one.pod_mtu for one in wanted} == {8900}
    assert {one.pod_mtu for one in asked(stack_settings.load("dev", ROOT))} == {None}


@pytest.mark.parametrize("name", ["prod", *stack_settings.known(ROOT)])
def test_every_stack_asks_for_what_its_fabric_has(name: str) -> None:
    """Prevents jobs over Ethernet that fail for want of RDMA, and a stack whose jobs cannot be judged at all."""
    settings = stack_settings.load(name, ROOT)
    found = asked(settings)
    assert len({one.job for one in found}) == len(found)
    for one in found:
        assert one.fabric == settings.fabric.kind
        assert not (one.devices and not settings.uses_rdma)
        assert one.transport is not Transport.TCP or not one.devices
