"""On how many nodes a job has to be, the interfaces of its pods, and what a job over a network must show."""

import pytest

from core.apis.nccl import Transport
from stacks.programs import PROGRAMS
from tests.support.mutated import read_text
from tests.toolkit.evidence.criteria.cases import ANY, BY_NAME, RDMA, SINGLE_TABLE, TABLE, TWO, changed, status
from toolkit.evidence.judge import evaluate
from toolkit.evidence.tools import expected_tools
from toolkit.evidence.verdict import RDMA_TEST, Ended, Job, Request, Shape, Status


@pytest.mark.parametrize(
    ("shape", "nodes", "expected"),
    [
        (Shape(pods=3, gpus=1), ("dgx04",), None),
        (Shape(pods=1, gpus=8), ("dgx01",), None),
        (Shape(pods=16, gpus=1), ("dgx01",), Status.FAIL),
        (Shape(pods=16, gpus=1), ("dgx01", "dgx02"), Status.PASS),
        (Shape(pods=4, gpus=8), ("dgx01", "dgx02", "dgx03"), Status.FAIL),
        (Shape(pods=2, gpus=8), (), None),
    ],
)
def test_a_job_is_on_as_many_nodes_as_have_its_gpus(
    shape: Shape, nodes: tuple[str, ...], expected: Status | None
) -> None:
    """Single GPUs may share a node, and a job on too few nodes fails."""
    request = Request(job="it", profile="dgx1-v100-16gb", shape=shape, nodes=nodes)
    assert status("nodes-used", "", request) is expected


def _hosts(log: str, shape: Shape) -> Status | None:
    return status("host-names", log, TWO.model_copy(update={"shape": shape}))


def test_a_list_of_hosts_that_was_cut_is_no_failure() -> None:
    """A log that ends in its list of ranks does not fail for the hosts that were to come."""
    whole = Shape(pods=2, gpus=8)
    assert _hosts(TABLE.partition("#   Rank 12")[0], whole) is Status.MISSING
    assert _hosts(TABLE, Shape(pods=4, gpus=4)) is Status.FAIL
    assert _hosts(changed(TABLE.partition("#   Rank 12")[0], ("worker-1", "worker-0")), whole) is Status.FAIL


def test_single_gpus_have_a_name_each() -> None:
    """Two ranks of one pod do not pass for two pods."""
    single = Shape(pods=16, gpus=1)
    assert _hosts(SINGLE_TABLE, single) is Status.PASS
    assert _hosts(changed(SINGLE_TABLE, ("worker-15 ", "worker-14 ")), single) is Status.FAIL


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
