"""Interfaces of several pods, and what a job over a network must show."""

import pytest

from core.apis.nccl import Transport
from stacks.programs import PROGRAMS
from tests.support.mutated import read_text
from tests.toolkit.evidence.criteria.cases import ANY, BY_NAME, RDMA
from toolkit.evidence.judge import evaluate
from toolkit.evidence.tools import expected_tools
from toolkit.evidence.verdict import RDMA_TEST, Ended, Job, Status

UP = "flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 9000\n        inet 10.0.0.1  netmask 255.255.254.0\n"


def test_a_pod_without_a_port_is_not_made_whole_by_another() -> None:
    """Interfaces are judged pod by pod."""
    request = RDMA.model_copy(update={"fabric": "roce", "devices": ("mlx5_0", "mlx5_1")})
    whole, lacking = (read_text("\n".join(f"{name}: {UP}" for name in names)) for names in (
        ("eth0", "net1", "net2"), ("eth0", "net1"),
    ))  # fmt: skip

    def status(*some: object) -> Status | None:
        found = evaluate(BY_NAME["pod-interfaces"], Job.model_validate({"request": request, "ended": Ended.UNKNOWN,
                                                                      "readings": some}))  # fmt: skip
        return found.status if found else None

    assert status(*whole, *whole) is Status.PASS
    assert status(*whole, *lacking) is Status.FAIL


@pytest.mark.parametrize("program", [*PROGRAMS, RDMA_TEST, None])
def test_a_transport_is_shown_by_nccl_alone(program: str | None) -> None:
    """A training without messages of NCCL has no evidence of its transport."""
    request = ANY.model_copy(update={"program": program, "transport": Transport.GPUDIRECT})
    assert ("nccl" in expected_tools(request)) is (program != RDMA_TEST)
