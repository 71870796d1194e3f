"""Interfaces of several pods, and what a job over a network must show."""

import pytest

from apis.nccl import Transport
from evidence.criteria import CRITERIA
from evidence.criteria.expected import PROGRAMS, RDMA_TEST, expected
from evidence.verdict import Ended, Job, Status
from tests.evidence.criteria.cases import ANY, RDMA
from tests.support.mutated import read_text

BY_NAME = {one.name: one for one in CRITERIA}
UP = "flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 9000\n        inet 10.0.0.1  netmask 255.255.254.0\n"


def test_a_pod_without_a_port_is_not_made_whole_by_another() -> None:
    """Prevents one pod's interfaces from hiding that another was given none."""
    asked = RDMA.model_copy(update={"fabric": "roce", "devices": ("mlx5_0", "mlx5_1")})
    whole, lacking = (read_text("\n".join(f"{name}: {UP}" for name in names)) for names in (
        ("eth0", "net1", "net2"), ("eth0", "net1"),
    ))  # fmt: skip

    def status(*some: object) -> Status | None:
        found = BY_NAME["pod-interfaces"].verdict(Job.model_validate({"asked": asked, "ended": Ended.UNKNOWN,
                                                                      "readings": some}))  # fmt: skip
        return found.status if found else None

    assert status(*whole, *whole) is Status.PASS
    assert status(*whole, *lacking) is Status.FAIL


@pytest.mark.parametrize("program", [*PROGRAMS, None])
def test_a_transport_is_shown_by_nccl_alone(program: str | None) -> None:
    """Prevents a training over TCP from passing for one over RDMA, because its log has no line of NCCL."""
    asked = ANY.model_copy(update={"program": program, "transport": Transport.GPUDIRECT})
    assert ("nccl" in expected(asked)) is (program != RDMA_TEST)
