"""What ranks talked over, where a pair of logs does not say it all."""

import re
from collections.abc import Callable

import pytest

from core.hardware.profiles import PROFILES
from tests.toolkit.evidence.criteria.cases import TABLE, TWO, changed, nccl, status
from toolkit.evidence.verdict import Ended, Shape, Status


def rings(count: int, device: Callable[[int], int], hosts: int = 2, gpus: int = 8) -> str:
    """Return a job with as many rings between two of its pods, each over a device of NCCL's list."""
    log = nccl(hosts, gpus)
    for ring in range(1, count):
        for here, sends in (("0", "send"), ("1", "receive")):
            via = f"{sends}] via NET/IB/{device(ring)}/GDRDMA"
            log += f"nccl-test-mpi-worker-{here}:30:39 [0] NCCL INFO Ring {ring:02} : 7[89000] -> 8[89000] [{via}\n"
    return log


@pytest.mark.parametrize(
    ("count", "device", "expected"),
    [
        (2, lambda _: 0, Status.PASS),
        (4, lambda _: 0, Status.WARN),
        (12, lambda _: 0, Status.FAIL),
        (12, lambda ring: ring % 3, Status.WARN),
        (12, lambda ring: ring % 4, Status.PASS),
    ],
)
def test_an_hca_that_is_named_and_idle_is_reported(count: int, device: Callable[[int], int], expected: Status) -> None:
    """Four named HCAs with all traffic over one of them do not pass."""
    assert status("hcas-used", rings(count, device), TWO) is expected


def test_pods_of_one_gpu_use_what_lies_beside_it() -> None:
    """Two pods of one GPU each need only the HCA beside it."""
    request = TWO.model_copy(update={"shape": Shape(pods=2, gpus=1), "nodes": ("dgx01", "dgx02")})
    assert status("hcas-used", rings(12, lambda _: 0), request) is Status.PASS


def test_a_gpu_alone_takes_one_of_those_that_are_equally_near() -> None:
    """Single GPUs on DGX A100, where pairs of HCAs lie beside pairs of GPUs, get no warning."""
    names = [hca.name for hca in PROFILES["dgx-a100"].hcas]
    listing = " ".join(f"[{index}]{name}:1/IB" for index, name in enumerate(names))
    log = rings(16, lambda ring: ring % 4 * 2, hosts=16, gpus=1)
    log = log.replace("[0]mlx5_3:1/IB [1]mlx5_2:1/IB [2]mlx5_1:1/IB [3]mlx5_0:1/IB", listing)
    request = TWO.model_copy(update={"profile": "dgx-a100", "shape": Shape(pods=16, gpus=1)})
    assert status("hcas-used", log, request) is Status.PASS
    assert status("hcas-used", log, request.model_copy(update={"shape": Shape(pods=2, gpus=8)})) is Status.WARN


def test_a_job_that_goes_on_lacks_nothing_yet() -> None:
    """A job that has just started, or a log that was cut, does not fail."""
    log = changed(nccl() + TABLE, ("rank 7 nranks 16 cudaDev 7 nvmlDev 7 - Init COMPLETE", ""))
    assert status("ranks-initialised", log, TWO) is Status.FAIL
    assert status("ranks-initialised", log, TWO, Ended.RUNNING) is Status.MISSING
    assert status("ranks-initialised", log.partition("# Out of bounds")[0], TWO) is Status.MISSING
    other = TWO.model_copy(update={"shape": Shape(pods=4, gpus=8)})
    assert status("ranks-initialised", log, other, Ended.RUNNING) is Status.FAIL


def test_nodes_that_are_partly_known_switch_nothing_off() -> None:
    """A fallback to TCP is found, also when the cluster knows only one of two nodes."""
    slow = changed(nccl(), ("NET/IB/0/GDRDMA", "NET/Socket/0"))
    one_known = TWO.model_copy(update={"nodes": ("dgx01",)})
    assert status("transport-between-nodes", slow, one_known) is Status.FAIL
    small = one_known.model_copy(update={"shape": Shape(pods=2, gpus=2)})
    assert status("transport-between-nodes", slow, small) is None


def test_what_is_between_pods_must_be_said() -> None:
    """Channels between pods without a requested transport are missing evidence."""
    request = TWO.model_copy(update={"transport": None})
    slow = changed(nccl(), ("NET/IB/0/GDRDMA", "NET/Socket/0"))
    assert status("transport-between-nodes", slow, request) is Status.MISSING
    one_node = request.model_copy(update={"nodes": ("dgx01",)})
    assert status("transport-between-nodes", slow, one_node) is None
    assert status("transport-between-nodes", slow, request.model_copy(update={"shape": None})) is None


def test_nvlink_between_nodes_is_no_other_network() -> None:
    """Over NVLink between nodes the network is not tested, and nothing is wrong; what else goes between them is."""
    rack = nccl().replace("[send] via NET/IB/0/GDRDMA", "via P2P/MNNVL").replace("[receive] via NET/IB/0/GDRDMA", "")
    names = ("transport-between-nodes", "gpudirect", "no-other-network")
    assert [status(name, rack, TWO) for name in names] == [Status.MISSING, Status.MISSING, Status.PASS]
    assert status("transport-between-nodes", rack, TWO.model_copy(update={"transport": None})) is Status.PASS
    assert [status(name, rack + nccl(), TWO) for name in names] == [Status.PASS] * 3
    slow = changed(nccl(), ("NET/IB/0/GDRDMA", "NET/Socket/0"))
    assert status("transport-between-nodes", rack + slow, TWO) is Status.FAIL


def test_a_domain_without_nvlink_between_its_nodes_fails() -> None:
    """In one rack every channel between nodes is NVLink's; over several racks some are, the rest is the fabric's."""
    rack = nccl().replace("[send] via NET/IB/0/GDRDMA", "via P2P/MNNVL").replace("[receive] via NET/IB/0/GDRDMA", "")
    whole = TWO.model_copy(update={"nvlink_nodes": "all", "transport": None})
    some = TWO.model_copy(update={"nvlink_nodes": "some"})
    logs = (rack, rack + nccl(), nccl())
    assert [status("nvlink-between-nodes", log, whole) for log in logs] == [Status.PASS, Status.FAIL, Status.FAIL]
    assert [status("nvlink-between-nodes", log, some) for log in logs] == [Status.PASS, Status.PASS, Status.FAIL]


def _pod(via: str = "NET/IB/0/GDRDMA", other: str = "9[1]") -> str:
    """Return what the first of two pods of eight GPUs prints: a ring within it, and its way to the other pod."""
    ring = [f"Channel 00/0 : {rank}[{rank}] -> {rank + 1}[{rank + 1}] via P2P/CUMEM/read" for rank in range(7)]
    ways = [f"Channel 00/0 : 7[7] -> {other} [send] via {via}", f"Channel 00/0 : {other} -> 0[0] [receive] via {via}"]
    return "".join(f"pod-0:40:41 [0] NCCL INFO {line}\n" for line in (*ring, *ways))


H100 = TWO.model_copy(update={"profile": "dgx-h100", "devices": ()})


@pytest.mark.parametrize(
    ("log", "between", "within", "direct"),
    [
        (_pod(), Status.PASS, Status.PASS, Status.PASS),
        (_pod("NET/IB/0"), Status.PASS, Status.PASS, Status.FAIL),
        (_pod("NET/Socket/0"), Status.FAIL, Status.PASS, Status.FAIL),
        (_pod(other="3[3]"), Status.MISSING, Status.FAIL, Status.MISSING),
    ],
)
def test_the_log_of_one_pod_shows_its_own_channels(log: str, between: Status, within: Status, direct: Status) -> None:
    """The layout gives each rank's pod: what goes to a rank of another pod is between nodes, and nothing else is."""
    criteria = ("transport-between-nodes", "transport-within-a-node", "gpudirect")
    assert tuple(status(name, log, H100) for name in criteria) == (between, within, direct)


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        ("[0]mlx5_3:1/IB [1]mlx5_2:1/IB [2]mlx5_1:1/IB [3]mlx5_0:1/IB ", Status.PASS),
        ("[0]mlx5_3:1/IB [1]mlx5_2:1/IB [2]mlx5_6:1/IB [3]mlx5_7:1/IB ", Status.WARN),
        ("[0]mlx5_12:1/IB [1]mlx5_13:1/IB [2]mlx5_14:1/IB [3]mlx5_15:1/IB ", Status.PASS),
        ("[0]mlx5_12:1/IB ", Status.FAIL),
    ],
)
def test_hosts_of_one_job_are_compared(devices: str, expected: Status) -> None:
    """A host with fewer HCAs fails a job, one with some others is a warning; pods' virtual functions have any names."""
    first = "worker-1:30:30 [0] NCCL INFO NET/IB : Using "
    used = "[0]mlx5_3:1/IB [1]mlx5_2:1/IB [2]mlx5_1:1/IB [3]mlx5_0:1/IB "
    assert status("equal-hosts", changed(nccl(), (f"{first}{used}", f"{first}{devices}")), TWO) is expected


def test_a_host_without_any_hca_is_compared() -> None:
    """A host on which NCCL finds no HCA fails the job, whichever others it has."""
    log = re.sub(r"(worker-1:30:30 \[0\] NCCL INFO NET/IB : )Using .*", r"\1No device found.", nccl())
    assert status("equal-hosts", log, TWO) is Status.FAIL
