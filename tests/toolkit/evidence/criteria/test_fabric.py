"""What the network between nodes shows, where a pair of logs does not say it all."""

import re

import pytest

from core.apis.names import NO_HOSTS
from tests.support.mutated import read_text
from tests.toolkit.evidence.criteria.cases import ANY, BY_NAME, DGX, RDMA, RDMA_LOG, changed, status
from toolkit.evidence.judge import evaluate
from toolkit.evidence.verdict import Ended, Job, Status
from toolkit.simulator.performance.ports import NOT_OPENED

WRITE = RDMA_LOG[RDMA_LOG.index("+ ib_write_bw") :]
STATES = RDMA_LOG[RDMA_LOG.index("Infiniband device 'mlx5_0'") : RDMA_LOG.index("+ ibhosts")]
BOTH = {"nodes": ("dgx01.example",), "peers": ("dgx02.example",)}


def test_one_slow_link_of_several_is_seen() -> None:
    """A link that was trained down fails, also beside two sound ones."""
    other = WRITE.replace("mlx5_1", "mlx5_2")
    slow = changed(other, ("11264.11", "3000.00"), ("0.180226", "0.048000"))
    assert status("ib-write-bandwidth", WRITE + other, RDMA) is Status.PASS
    assert status("ib-write-bandwidth", WRITE + slow + WRITE.replace("mlx5_1", "mlx5_3"), RDMA) is Status.FAIL


def port(device: str, number: int = 1, manager: str = "0x9", *, up: bool = True, rate: str = "100") -> str:
    """Return a port as ibstatus shows it."""
    first = STATES.partition("Infiniband device 'mlx5_1'")[0]
    text = changed(
        first, ("'mlx5_0' port 1", f"'{device}' port {number}"), ("0x9\n", f"{manager}\n"), ("100 Gb", f"{rate} Gb")
    )
    return text if up else changed(text, ("4: ACTIVE", "1: DOWN"), ("5: LinkUp", "2: Polling"))


FOUR = "".join(port(f"mlx5_{number}") for number in range(4))


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (FOUR + port("mlx5_0", 2, up=False, rate="10"), Status.PASS),
        (FOUR.replace("100 Gb", "200 Gb"), Status.PASS),
        (FOUR.replace("100 Gb", "56 Gb", 1), Status.FAIL),
        (FOUR + port("mlx5_4", up=False), Status.PASS),
        (FOUR.replace("4: ACTIVE", "1: DOWN", 1) + port("mlx5_0", 2), Status.PASS),
    ],
)
def test_a_cable_of_each_hca_is_enough(log: str, expected: Status) -> None:
    """An adapter's free second port passes, and so does a faster one."""
    assert status("ports-active", log, RDMA) is expected


def test_storage_has_a_manager_of_its_own() -> None:
    """InfiniBand for storage may have a subnet manager of its own."""
    assert status("one-subnet-manager", FOUR + port("mlx5_4", manager="0x1"), RDMA) is Status.PASS
    assert status("one-subnet-manager", FOUR + port("mlx5_3", 2, manager="0x1"), RDMA) is Status.FAIL


@pytest.mark.parametrize("change", [{}, BOTH])
def test_hcas_are_counted_host_by_host(change: dict[str, tuple[str, ...]]) -> None:
    """Storage's adapters do not count for those of a node that is off the fabric."""
    request = RDMA.model_copy(update=change)
    assert status("fabric-complete", RDMA_LOG, request) is Status.PASS
    without = re.sub(r'Ca .* "dgx02 .*\n', "", RDMA_LOG)
    if change:
        assert status("fabric-complete", without, request) is Status.FAIL
    half = re.sub(r'Ca .* "(?:dgx02 HCA-[34]|fscc.*)"\n', "", RDMA_LOG)
    assert status("fabric-complete", half, request) is Status.FAIL
    assert status("fabric-complete", half, request, Ended.RUNNING) is Status.MISSING


def test_a_list_of_ports_that_was_cut_lacks_no_hca() -> None:
    """A log that ends in the middle of ibstatus does not fail a machine."""
    cut = STATES[: STATES.index("Infiniband device 'mlx5_3'") + 80]
    assert status("ports-present", cut, RDMA) is Status.MISSING
    assert status("ports-active", "$ ibstatus\n", DGX) in (Status.MISSING, None)


def test_a_list_that_only_root_may_have_is_not_missed() -> None:
    """On RHCOS, where ibhosts fails and the RDMA test prints why, its list is not missing evidence."""
    lines = "\n".join(("+ ibhosts -C mlx5_0", *(line.format(hca="mlx5_0") for line in NOT_OPENED)))
    for name in ("fabric-consistent", "fabric-complete"):
        assert status(name, f"{lines}\n", RDMA) is Status.MISSING
        assert status(name, f"{lines}\nmlx5_0: {NO_HOSTS}\n", RDMA) is None


def test_lists_of_hosts_may_hold_anything() -> None:
    """A list of hosts with messages of NCCL in between is judged without an error."""
    (first, *_) = (one for one in read_text(RDMA_LOG) if one.tool == "ibhosts")
    log = read_text("a:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:10.0.0.1<0>\n")[0].nccl
    assert log is not None
    job = Job(
        request=ANY.model_copy(update={"fabric": "infiniband"}),
        ended=Ended.UNKNOWN,
        readings=(first.model_copy(update={"nccl": log}), first),
    )
    found = evaluate(BY_NAME["fabric-consistent"], job)
    assert found is not None
    assert found.status is Status.PASS
