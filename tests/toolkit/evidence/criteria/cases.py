"""For each criterion a log that meets it, and one that does not: the same with something changed.

Logs are the source documents' own where they print one (tests/toolkit/evidence/logs), else in the form of the tool.
"""

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.apis.nccl import Transport
from core.goodput import GoodputLines
from core.hardware.profiles import PROFILES
from core.metric import Metric
from tests.support.mutated import read_text
from tests.toolkit.evidence.dumps import dump
from tests.toolkit.evidence.tools.logs import BOND, DEVICE_PLUGIN, VECTOR_ADD
from tests.toolkit.evidence.tools.logs import IBSTAT as CA
from tests.toolkit.evidence.tools.logs import MLPERF as MLP
from toolkit.evidence.criteria import CRITERIA
from toolkit.evidence.goodput.log import read_stream as read_events
from toolkit.evidence.goodput.reading import of_reads
from toolkit.evidence.judge import evaluate, judge
from toolkit.evidence.metrics import read_stream
from toolkit.evidence.model import NodeFact, NodeFacts, Reading
from toolkit.evidence.verdict import Ended, Job, Request, Shape, Status, Verdict

BY_NAME = {one.name: one for one in CRITERIA}
LOGS = Path(__file__).parent.parent / "logs"
KERNEL, SYSTEM = "3.10.0-957.27.2.el7.x86_64", "Red Hat Enterprise Linux Server 7.6 (Maipo)"
"""As the Redpaper has them."""
HCAS = ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3")


def document(name: str) -> str:
    """Return a log of the source documents."""
    return (LOGS / name).read_text()


def nccl(hosts: int = 2, gpus: int = 8, channels: int = 1) -> str:
    """Return what NCCL 2.5 says of a job over GPUDirect, each channel over its HCA."""
    names = [f"nccl-test-mpi-worker-{index}" for index in range(hosts)]
    used = "[0]mlx5_3:1/IB [1]mlx5_2:1/IB [2]mlx5_1:1/IB [3]mlx5_0:1/IB ; OOB eth0:10.128.7.148<0>"
    lines = [f"{name}:30:30 [0] NCCL INFO NET/IB : Using {used}" for name in names]
    for index, name in enumerate(names):
        here, after = (index + 1) * gpus - 1, (index + 1) * gpus % (hosts * gpus)
        for channel in range(channels):
            ring, hca = f"Ring {channel:02d} : {here}[89000] -> {after}[89000]", f"NET/IB/{channel}/GDRDMA"
            lines.append(f"{name}:30:39 [0] NCCL INFO {ring} [send] via {hca}")
            lines.append(f"{names[(index + 1) % hosts]}:30:39 [0] NCCL INFO {ring} [receive] via {hca}")
    for rank in range(hosts * gpus):
        comm = f"comm 0x7f{rank:04x} rank {rank} nranks {hosts * gpus} cudaDev {rank % gpus} nvmlDev {rank % gpus}"
        lines.append(f"{names[rank // gpus]}:30:39 [0] NCCL INFO {comm} - Init COMPLETE")
    return "\n".join(lines) + "\n"


def beside(said: str, table: str) -> str:
    """Return a table with messages of NCCL where it prints them: behind the list of devices."""
    devices, mark, rest = table.partition("#\n")
    return f"{devices}{said}{mark}{rest}"


def rings(count: int, ranks: int = 16) -> str:
    """Return how the first rank lists the rings of a communicator."""
    members = " ".join(f"{rank:4}" for rank in range(ranks))
    head = "nccl-test-mpi-worker-0:30:39 [0] NCCL INFO Channel"
    return "".join(f"{head} {number:02d}/{count:02d} : {members}\n" for number in range(count))


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return a log with other text in some places, each of which is there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def slower(text: str, factor: float) -> str:
    """Return a table of nccl-tests of 16 ranks whose times are all longer, and whose bandwidths follow from them."""

    def row(found: re.Match[str]) -> str:
        size, halves = int(found[1]), []
        for time, error in ((found[3], found[4]), (found[5], found[6])):
            us = float(time) * factor
            algbw = size / us / 1000
            halves.append(f"{us:.2f} {algbw:.2f} {algbw * 1.875:.2f} {error}")
        return f"{found[2]} {halves[0]} {halves[1]}"

    half = r"([0-9.]+)\s+[0-9.]+\s+[0-9.]+\s+(\S+)"
    return re.sub(rf"(?m)^(?=\s*(\d+))(\s*\d+\s+\d+\s+float\s+sum)\s+{half}\s+{half}$", row, text)


@dataclass(frozen=True)
class Side:
    """What was requested of a job, and what it printed."""

    log: str
    request: Request
    nodes: tuple[NodeFact, ...] = ()
    ended: Ended = Ended.UNKNOWN
    readings: tuple[Reading, ...] = ()
    """Of files that are no text."""

    def job(self) -> Job:
        """Return the job."""
        readings = read_text(self.log) if self.log else ()
        if metrics := self.request.metrics:
            readings = (*readings, read_stream(io.BytesIO(self.log.encode()), "log", metrics))
        if goodput := self.request.goodput:
            reads = {"log": read_events(io.BytesIO(self.log.encode()), goodput)}
            readings = (*readings, of_reads(reads))
        readings = (*readings, *self.readings)
        facts = NodeFacts(file="(nodes)", tool="node-facts", complete=True, first_line=1, last_line=1, nodes=self.nodes)
        return Job(request=self.request, ended=self.ended, readings=(*readings, *([facts] if self.nodes else [])))


@dataclass(frozen=True)
class Case:
    """A criterion's pair."""

    good: Side
    bad: Side
    status: Status = Status.FAIL
    """Of the bad one."""
    lines: bool = True
    """Whether the bad verdict has lines of the log behind it."""


def status(name: str, log: str, request: Request, ended: Ended = Ended.UNKNOWN) -> Status | None:
    """Return how a log comes out by one criterion; None: it does not apply."""
    found = evaluate(BY_NAME[name], Side(log, request, ended=ended).job())
    return found.status if found else None


def judged(log: str, request: Request, ended: Ended = Ended.UNKNOWN) -> dict[str, Verdict]:
    """Return the verdicts on a log by their criteria."""
    return {one.criterion: one for one in judge([Side(log, request, ended=ended).job()])}


def pair(good: str, bad: str, request: Request, status: Status = Status.FAIL, *, lines: bool = True) -> Case:
    """Return the pair of two logs of one job."""
    return Case(Side(good, request), Side(bad, request), status, lines)


def changes(
    request: Request, good: str, *each: tuple[str, str], status: Status = Status.FAIL, lines: bool = True
) -> Case:
    """Return the pair of a log and the same with changes."""
    return pair(good, changed(good, *each), request, status, lines=lines)


def cluster_node(
    name: str,
    driver: str = "440.33.01",
    *,
    kernel: str = KERNEL,
    system: str = SYSTEM,
    ready: bool = True,
    roles: tuple[str, ...] = ("worker",),
) -> NodeFact:
    """Return a DGX-1 as the API server describes it."""
    rdma = {f"shared_ib{index}": 100 for index in range(4)}
    return NodeFact(
        name=name, roles=roles, ready=ready, schedulable=True, gpus=8, rdma=rdma, gpu_model=None, driver=driver,
        kernel=kernel, os_image=system, kubelet="",
    )  # fmt: skip


DGX = Request(job="job", profile="dgx1-v100-16gb", fabric="infiniband")
TWO = DGX.model_copy(update={"shape": Shape(pods=2, gpus=8), "transport": Transport.GPUDIRECT})
SIXTEEN = TWO.model_copy(update={"shape": Shape(pods=16, gpus=1)})
PAIR = Request(job="job", profile="dgx-h100", fabric="infiniband", shape=Shape(pods=1, gpus=2))
WITH_HCAS = changed(
    document("preflight/healthy.txt"),
    (
        "preflight gpu 0",
        "".join(f"preflight hca {hca.name} port=1 state=ACTIVE gbps=400\n" for hca in PROFILES["dgx-h100"].hcas)
        + "preflight gpu 0",
    ),
)
PAIR_WITH_DEVICES = PAIR.model_copy(update={"devices": ("mlx5_0", "mlx5_1")})
WITH_DEVICES = changed(
    document("preflight/healthy.txt"),
    ("uverbs=0", "uverbs=2"),
    (
        "preflight link 0 1",
        "".join(f"preflight gpudirect mlx5_{hca} {gpu} how=dmabuf why=none\n" for hca in (0, 1) for gpu in (0, 1))
        + "preflight link 0 1",
    ),
)
RDMA = DGX.model_copy(update={"program": "rdma-test", "devices": HCAS})
ANY = Request(job="job")
ETHERNET = Request(job="job", fabric="ethernet")
ROCE = Request(job="job", program="rdma-test", fabric="roce", port_mtu=9216)
FOUR = Request(job="job", shape=Shape(pods=4, gpus=1))
EIGHT = Request(job="job", shape=Shape(pods=8, gpus=1))
MLPERF = Request(job="job", profile="sys-4029gp-tvrt", program="mask-rcnn", shape=Shape(pods=1, gpus=8))
A100 = Request(job="job", profile="dgx-a100")
OWN = ANY.model_copy(update={"metrics": (Metric(name="rate", pattern=r"rate (\d+)", at_least=100),)})
TRAINING = ANY.model_copy(update={"goodput": GoodputLines(step=r"step (\d+)", at_least=0.5)})
STEPS = "".join(f"2026-01-01T00:00:{second:02d}Z step {second}\n" for second in range(1, 6))
NODES = DGX.model_copy(
    update={
        "devices": HCAS,
        "nodes": ("dgx01", "dgx02"),
        "roles": {"dgx01": ("worker",), "dgx02": ("worker",)},
    }
)


def nodes_pair(other: NodeFact, request: Request = NODES) -> Case:
    """Return the pair of two nodes that are the same, and the first with another beside it."""
    first = cluster_node("dgx01")
    same, differing = (Side("", request, (first, second)) for second in (cluster_node("dgx02"), other))
    return Case(same, differing, lines=False)


ONE_TABLE = document("nccl-tests/redp5610-4.4-01x08.log")
TABLE = document("nccl-tests/redp5610-4.4-02x08.log")
SINGLE_TABLE = document("nccl-tests/redp5610-4.4-16x01.log")
RDMA_LOG = document("rdma-job/r-4.1-job.log")
EDITED = document("tf-cnn-benchmarks/n-8.3.log")
LAST = ("9115.8   29.45   55.21", "18231.6   14.72   27.61")
RATES = changed(EDITED, ("1520.1 +/-", "2100.1 +/-"), ("1517.6", "2100.6"), ("1517.9", "2100.9"))
"""NVIDIA AI Enterprise's before the last lines of three ranks were edited."""
ADAPTER = document("esxcli-pci/n-4.1.log").partition("0000:3b:02.3\n")[2]
ESXI = document("esxcli-pci/n-4.1.log") + "0000:3b:00.1\n" + changed(
    ADAPTER, ("0000:3b:02.3", "0000:3b:00.1"), ("NVIDIA Corporation", "Mellanox Technologies"),
    ("Vendor ID: 0x10de", "Vendor ID: 0x15b3"),
)  # fmt: skip
COLLNET = "nccl-test-mpi-worker-0:30:39 [0] NCCL INFO "
H200 = Request(
    job="job", profile="dgx-h200", fabric="infiniband", shape=Shape(pods=1, gpus=8), program="nccl-all-reduce"
)
LARGE_TABLE = """\
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
 17179869184    4294967296     float     sum      -1    63300  271.40  474.96      0    63300  271.40  474.96      0
"""
"""In the form of nccl-tests 2.13; 475 GB/s as in NVIDIA/nccl-tests issue 272, the time follows."""
MTU = "eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 9000\n        inet 10.129.7.178  netmask 255.255.254.0\n"
PORT_MTUS = """\
/sys/class/net/eth0/mtu:1400
/sys/class/net/lo/mtu:65536
/sys/class/net/net1/mtu:9216
"""

SECOND_CA = changed(CA, ("mlx5_0", "mlx5_1"))
SECOND_PORT = (("MII Status: down", "MII Status: up"), ("Aggregator ID: 2", "Aggregator ID: 1"))

_WRITTEN: Mapping[str, Case] = {
    "job-ended": Case(Side("", ANY, ended=Ended.SUCCEEDED), Side("", ANY, ended=Ended.FAILED), lines=False),
    "complete-logs": changes(ANY, VECTOR_ADD, ("Test PASSED\nDone\n", ""), status=Status.MISSING),
    "no-failure-lines": pair(TABLE, f"{TABLE}mpirun noticed that process rank 1 exited on signal 9 (Killed).\n", TWO),
    "metrics-printed": pair("rate 120\n", "no rate\n", OWN, Status.MISSING, lines=False),
    "goodput": pair(STEPS, STEPS.replace("00:00:05Z step 5", "00:00:55Z step 5"), TRAINING),
    "ranks-in-step": Case(
        Side("", ANY, readings=(dump(0, 40), dump(1, 40))),
        Side("", ANY, readings=(dump(0, 40), dump(1, 39))),
    ),
    "metric-limits": pair("rate 120\n", "rate 90\n", OWN),
    "loss-finite": changes(ANY, EDITED, ("7.742", "nan")),
    "transport-within-a-node": pair(document("h100/nvlink.txt"), document("h100/socket.txt"), PAIR),
    "queried-gpu-faults": changes(
        PAIR,
        document("h100/nvidia-smi-q.txt"),
        ("Remapping Failure Occurred                     : No", "Remapping Failure Occurred                     : Yes"),
    ),
    "preflight-tests": changes(
        PAIR,
        document("preflight/healthy.txt"),
        ("preflight link 0 1 peer", "preflight failed link 0-1 why=CUDA_error\npreflight link 0 1 peer"),
    ),
    "preflight-gpus": pair(document("preflight/healthy.txt"), document("preflight/gpu-missing-memlock.txt"), PAIR),
    "preflight-gpu-faults": pair(document("preflight/healthy.txt"), document("preflight/busy-gpu.txt"), PAIR),
    "preflight-links": changes(PAIR, document("preflight/healthy.txt"), ("nvlinks=18x26.562", "nvlinks=17x26.562")),
    "preflight-speed": pair(document("preflight/healthy.txt"), document("preflight/busy-gpu.txt"), PAIR),
    "preflight-limits": pair(document("preflight/healthy.txt"), document("preflight/small-shm.txt"), PAIR),
    "preflight-hcas": changes(PAIR, WITH_HCAS, ("hca mlx5_4 port=1 state=ACTIVE", "hca mlx5_4 port=1 state=DOWN")),
    "preflight-devices": changes(PAIR_WITH_DEVICES, WITH_DEVICES, ("uverbs=2", "uverbs=8")),
    "preflight-gpudirect": changes(
        PAIR_WITH_DEVICES, WITH_DEVICES, ("mlx5_1 1 how=dmabuf why=none", "mlx5_1 1 how=none why=peermem:_Bad_address")
    ),
    "test-requested": pair(
        TABLE,
        f"# Collective test starting: all_gather_perf\n{TABLE}",
        TWO.model_copy(update={"program": "nccl-all-reduce"}),
    ),
    "gpu-model": changes(TWO, TABLE, ("Tesla V100-SXM2-16GB", "A100-SXM4-40GB")),
    "link-layers": changes(TWO, nccl(), ("[3]mlx5_0:1/IB", "[3]mlx5_0:1/RoCE")),
    "repeats-agree": pair(TABLE + TABLE + TABLE, TABLE + TABLE + slower(TABLE, 2), TWO, Status.WARN),
    "nodes-used": Case(
        Side(nccl(), TWO.model_copy(update={"nodes": ("dgx01", "dgx02")})),
        Side(nccl(), TWO.model_copy(update={"nodes": ("dgx01",)})),
        lines=False,
    ),
    "host-names": changes(
        TWO, TABLE, ("Rank 15 Pid     30 on nccl-test-mpi-worker-1", "Rank 15 Pid     30 on nccl-test-mpi-worker-0")
    ),
    "bus-ids": changes(TWO, TABLE, ("device  7 [0x8a]", "device  7 [0x89]")),
    "transport-between-nodes": changes(TWO, nccl(), ("NET/IB/0/GDRDMA", "NET/Socket/0")),
    "nvlink-between-nodes": pair(
        nccl().replace("[send] via NET/IB/0/GDRDMA", "via P2P/MNNVL").replace("[receive] via NET/IB/0/GDRDMA", ""),
        nccl(),
        TWO.model_copy(update={"nvlink_nodes": "all", "transport": None}),
    ),
    "channels-of-every-run": pair(beside(nccl(), TABLE) * 2, beside(nccl(), TABLE) + TABLE, TWO, Status.MISSING),
    "channels-of-every-ring": pair(
        beside(rings(2) + nccl(channels=2), TABLE),
        beside(rings(2) + re.sub(r".*Ring 01 : 15\[.*\n", "", nccl(channels=2)), TABLE),
        TWO,
        Status.MISSING,
    ),
    "no-other-network": pair(nccl(), f"{nccl()}{COLLNET}Using network Socket\n", TWO),
    "gpudirect": changes(TWO, nccl(), ("[send] via NET/IB/0/GDRDMA", "[send] via NET/IB/0")),
    "hcas-used": changes(TWO, nccl(), ("[2]mlx5_1:1/IB [3]mlx5_0:1/IB", "[2]mlx5_1:1/IB")),
    "equal-hosts": changes(
        TWO,
        nccl(),
        (
            "worker-1:30:30 [0] NCCL INFO NET/IB : Using [0]mlx5_3:1/IB [1]",
            "worker-1:30:30 [0] NCCL INFO NET/IB : Using [1]",
        ),
    ),
    "same-hca": changes(
        TWO, nccl(channels=2), ("[receive] via NET/IB/1", "[receive] via NET/IB/0"), status=Status.WARN
    ),
    "ranks-initialised": changes(TWO, nccl() + TABLE, ("rank 7 nranks 16 cudaDev 7 nvmlDev 7 - Init COMPLETE", "")),
    "sharp": pair(
        f"{nccl()}{COLLNET}Coll 00 : 0 [send] via COLLNET/SHARP/0/GDRDMA\n",
        f"{nccl()}{COLLNET}Cannot initialize CollNet, using point-to-point network instead\n",
        TWO.model_copy(update={"sharp": True}),
    ),
    "results-correct": changes(TWO, TABLE, ("55.21  5e-07", "55.21  3e-01")),
    "figures-agree": changes(TWO, TABLE, ("Avg bus bandwidth    : 12.3088", "Avg bus bandwidth    : 52.3088")),
    "test-ran": pair(TABLE, f"{TABLE}nccl-test-mpi-worker-1: Test NCCL failure common.cu:777 'internal error'\n", TWO),
    "ranks-are-gpus": pair(TABLE, ONE_TABLE, TWO),
    "small-message-latency": changes(TWO, TABLE, ("    52.72    0.00", "   152.72    0.00")),
    "bus-bandwidth": changes(TWO, TABLE, LAST),
    "public-bus-bandwidth": changes(
        H200, LARGE_TABLE, ("63300  271.40  474.96", "72000  238.61  417.57"), status=Status.WARN
    ),
    "average-bus-bandwidth": pair(TABLE, slower(TABLE, 2), TWO),
    "single-gpu-pods": pair(TABLE, SINGLE_TABLE, SIXTEEN, Status.WARN),
    "images-per-second-sum": pair(RATES, EDITED, FOUR),
    "rates-of-all-ranks": Case(Side(RATES, FOUR), Side(RATES, EIGHT)),
    "mlperf-band": changes(MLPERF, MLP, ("1559071000.0", "1559061000.0")),
    "quality-target": changes(MLPERF, MLP, ('"BBOX": 0.3811', '"BBOX": 0.3611')),
    "vector-add": changes(ANY, VECTOR_ADD, ("Test PASSED", "Result verification failed at element 7!")),
    "device-plugin-registered": changes(
        ANY, DEVICE_PLUGIN, ("2018/07/12 12:29:38 Registered device plugin with Kubelet\n", "")
    ),
    "ib-write-bandwidth": changes(RDMA, RDMA_LOG, ("11264.11", "9264.11"), ("0.180226", "0.148226")),
    "ports-active": changes(RDMA, RDMA_LOG, ("LinkUp", "Polling"), ("4: ACTIVE", "1: DOWN")),
    "ports-present": changes(RDMA, RDMA_LOG, ("device 'mlx5_3'", "device 'mlx5_4'")),
    "one-subnet-manager": changes(
        RDMA, RDMA_LOG, ("base lid:      0xe\nsm lid:        0x9", "base lid:      0xe\nsm lid:        0xa")
    ),
    "subnet-manager-enabled": changes(ANY, document("ib-smnode/r-3.1-3.log"), ("enabled", "disabled")),
    "one-firmware": pair(f"{CA}{SECOND_CA}", CA + changed(SECOND_CA, ("20.31.1014", "20.28.1002")), ANY),
    "fabric-consistent": pair(RDMA_LOG, re.sub(r'Ca .* "dgx02 HCA-3"\n', "", RDMA_LOG, count=1), RDMA),
    "fabric-complete": pair(RDMA_LOG, re.sub(r'Ca .* "(?:dgx02|fscc).*\n', "", RDMA_LOG), RDMA),
    "rdma-device-files": pair(RDMA_LOG, re.sub(r"crw.*uverbs3\n", "", RDMA_LOG), RDMA),
    "unprivileged-user": changes(RDMA, RDMA_LOG, ("1075480000\n", "# whoami\nroot\n")),
    "pod-interfaces": changes(
        RDMA,
        RDMA_LOG,
        (" lo -> ../../devices/virtual/net/lo", " ib0 -> ../../devices/virtual/net/ib0"),
        status=Status.WARN,
    ),
    "port-mtu": changes(ROCE, PORT_MTUS, ("net1/mtu:9216", "net1/mtu:1500")),
    "pod-mtu": changes(ETHERNET, MTU, ("mtu 9000", "mtu 1450"), status=Status.WARN),
    "nodes-offer": nodes_pair(cluster_node("dgx02", ready=False)),
    "nodes-in-roles": nodes_pair(cluster_node("dgx02", roles=("infra",))),
    "nodes-tainted": nodes_pair(
        cluster_node("dgx02").model_copy(update={"taints": ("repair:NoExecute",)}),
        NODES.model_copy(update={"taints": ()}),
    ),
    "one-driver": nodes_pair(cluster_node("dgx02", "535.1")),
    "one-kernel": nodes_pair(cluster_node("dgx02", kernel="3.10.0-1127.el7.x86_64")),
    "nodes-in-systems": nodes_pair(
        cluster_node("dgx02", system="Red Hat Enterprise Linux Server 7.8 (Maipo)"),
        NODES.model_copy(update={"systems": {"dgx01": "RHEL 7.6", "dgx02": "RHEL 7.6"}}),
    ),
    "one-system": nodes_pair(cluster_node("dgx02", system="Red Hat Enterprise Linux Server 7.8 (Maipo)")),
    "scale-members": changes(NODES, document("mmlscluster/r-3.3-2.log"), ("dgx02", "dgx03"), ("[ ... plus", "")),
    "scale-settings": changes(NODES, document("mmlsconfig/r-3.3-7.log"), ("pagepool 128G", "pagepool 256G")),
    "gpus-present": changes(DGX, document("nvidia-smi/r-4.4-2.log"), ("16160MiB", "32480MiB")),
    "gpu-ecc": changes(
        DGX,
        document("nvidia-smi/r-4.4-2.log"),
        ("00000000:8A:00.0 Off |             0", "00000000:8A:00.0 Off |            12"),
    ),
    "topology": changes(
        DGX,
        document("nvidia-smi-topo/r-4.4-3.log"),
        (
            "GPU0    X       NV1     NV1     NV2     NV2     SYS     SYS     SYS     PIX",
            "GPU0    X       NV1     NV1     NV2     NV2     SYS     SYS     SYS     SYS",
        ),
    ),
    "numa-nodes": changes(A100, document("lscpu/d-2.5.log"), ("16-31,144-159", "16-31")),
    "memlock-unlimited": pair("$ ulimit -l\nunlimited\n", "$ ulimit -l\n64\n", DGX),
    "peer-memory": changes(DGX, document("lsmod/r-3.2.3-3.log"), ("nv_peer_mem 13163 0\n", "")),
    "nouveau-absent": pair(
        "Module                  Size  Used by\nnvidia              19893032  3261\n",
        "Module                  Size  Used by\nnouveau              1662976  1\n",
        DGX,
    ),
    "selinux-infiniband": changes(DGX, document("semodule/r-3.2.4-1.log"), ("infiniband 1.0", "inficlock 1.0")),
    "host-driver-absent": pair(
        "# rpm -qa\nglibc-2.17-292.el7.x86_64\nkernel-3.10.0-957.27.2.el7.x86_64\n",
        "# rpm -qa\nglibc-2.17-292.el7.x86_64\nnvidia-driver-418.87.01-1.el7.x86_64\n",
        DGX.model_copy(update={"operator_driver": True}),
    ),
    "bond-up": pair(changed(BOND, *SECOND_PORT), BOND, ETHERNET),
    "ats-firmware": pair(
        "# mlxconfig -d mlx5_0 query\n         ATS_ENABLED        True(1)\n",
        "# mlxconfig -d mlx5_0 query\n         ATS_ENABLED        False(0)\n",
        ANY,
    ),
    "ports-in-ethernet-mode": pair(
        "# mlxconfig -d mlx5_0 query\nConfigurations:   Next Boot\n         LINK_TYPE_P1        ETH(2)\n",
        "# mlxconfig -d mlx5_0 query\nConfigurations:   Next Boot\n         LINK_TYPE_P1        IB(1)\n",
        ETHERNET,
    ),
    "ats-device": changes(ANY, document("lspci/n-3.9.log"), ("Enable+", "Enable-")),
    "ats-host": changes(ANY, document("esxcli-kernel/n-2.2.log"), ("TRUE        TRUE", "TRUE        FALSE")),
    "same-numa-node": pair(ESXI, "NUMA Node: 1".join(ESXI.rsplit("NUMA Node: 0", 1)), ANY),
}


def _pairs_of_files() -> Iterator[tuple[str, Case]]:
    """Yield the pairs of files `<criterion>.pass.log` and `<criterion>.fail.log`, of jobs of a DGX-1."""
    for good in sorted(LOGS.glob("*/*.pass.log")):
        name = good.name.removesuffix(".pass.log")
        yield name, pair(good.read_text(), good.with_name(f"{name}.fail.log").read_text(), DGX)


CASES: Mapping[str, Case] = {**_WRITTEN, **dict(_pairs_of_files())}
"""By the name of the criterion: those that are changes of a log, and pairs of files below LOGS."""
