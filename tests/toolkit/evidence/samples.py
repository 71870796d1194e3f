"""Runs to report of: the jobs of stack dev, with figures of a formula and verdicts of every kind."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Literal

from core.apis.nccl import Transport
from toolkit.evidence.model import NcclLog, Reading, Unknown, Unread
from toolkit.evidence.records import Run
from toolkit.evidence.report.page import page
from toolkit.evidence.tools.ibstatus import IbStatus, Port
from toolkit.evidence.tools.nccl_tests.model import Figures, NcclTests, Row
from toolkit.evidence.tools.perftest.model import Bandwidth, Perftest
from toolkit.evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from toolkit.evidence.verdict import Ended, Job, Proof, Request, Shape, Status, Verdict

WHEN = datetime(2026, 11, 21, 22, 49, 36, tzinfo=UTC)
HCAS = ("mlx5_3", "mlx5_2", "mlx5_1", "mlx5_0")
SPEEDS = {"01x08": (41.0, 129.0), "02x08": (55.0, 55.3), "16x01": (78.0, 5.7)}
"""Latency in us and bus bandwidth in GB/s of a layout: near the paper's, and nobody's measurement."""


def half(count: int, ranks: int, speed: tuple[float, float], slower: float = 1.0) -> Figures:
    """Return one size: its latency, and its bytes at the layout's bandwidth."""
    latency, busbw = speed
    factor = 2 * (ranks - 1) / ranks
    time_us = round((latency + count * factor / busbw / 1000) * slower, 2)
    algbw = count / time_us / 1000
    return Figures(time_us=time_us, algbw_gb_s=round(algbw, 2), busbw_gb_s=round(algbw * factor, 2), error=5e-07)


def nccl_tests(shape: Shape, slower: float = 1.0, file: str = "nccl.log") -> NcclTests:
    """Return the table of a layout; `slower` is a factor of all times."""
    speed = SPEEDS[str(shape)]
    rows = tuple(
        Row(
            line=30 + power,
            bytes=1 << power,
            count=(1 << power) // 4,
            type="float",
            redop="sum",
            out_of_place=half(1 << power, shape.total, speed, slower),
            in_place=half(1 << power, shape.total, speed, slower * (1.03 if power % 2 else 0.98)),
        )
        for power in range(3, 29)
    )
    return NcclTests(
        file=file,
        tool="nccl-tests",
        settings=None,
        complete=True,
        first_line=2,
        last_line=60,
        nccl=nccl(shape),
        test="all_reduce",
        test_from="inferred",
        bus_factor=2 * (shape.total - 1) / shape.total,
        ranks=shape.total,
        group_ranks=shape.total,
        hosts=tuple(f"nccl-test-mpi-worker-{pod}" for pod in range(shape.pods)),
        devices=(),
        rows=rows,
        missing_bytes=(),
        average_busbw_gb_s=12.3088,
        average_recomputed_gb_s=12.3088,
        average_agrees=True,
        out_of_bounds=0,
        simulated=True,
    )


def nccl(shape: Shape, lost: str | None = None) -> NcclLog:
    """Return what NCCL said; `lost` is an HCA that the second host does not see."""
    between = shape.pods > 1
    hosts = {f"worker-{pod}": tuple(hca for hca in HCAS if not (pod == 1 and hca == lost)) for pod in range(shape.pods)}
    line = Unread(line=12, text="worker-1:30:39 [0] NCCL INFO Ring 00 : 10[89000] -> 11[89000] [receive] via NET/IB/0")
    return NcclLog(
        version="2.5.6", cuda="10.2", nranks=shape.total, initialised=shape.total, devices=HCAS if between else (),
        devices_by_host=hosts if between else {}, link_layers={}, sockets=("eth0",),
        transports={"P2P/IPC": 48, "NET/IB": 16} if between else {"P2P/IPC": 64},
        between_nodes={"NET/IB": 16} if between else {}, gpudirect=16, gpudirect_between_nodes=16,
        used_devices={hca: 4 for hca in HCAS if hca != lost} if between else {}, channels=2, trees=True, collnet=None,
        gdr_unavailable=(), warnings=(), proofs={"GDRDMA": line} if between else {},
    )  # fmt: skip


def job(name: str, program: str, shape: Shape, *readings: Reading, ended: Ended = Ended.SUCCEEDED) -> Job:
    """Return a job on the lab's machines."""
    request = Request(
        job=f"adas/{name}",
        program=program,
        profile="dgx1-v100-16gb",
        fabric="infiniband",
        shape=shape,
        nodes=("dgx01", "dgx02")[: min(shape.pods, 2)],
        transport=Transport.GPUDIRECT if shape.pods > 1 else None,
        devices=tuple(sorted(HCAS)),
    )
    return Job(request=request, ended=ended, readings=readings, versions={"image": "tensorflow:20.03-tf2-py3"})


def training(rate: float, ranks: int = 16) -> TfCnnBenchmarks:
    """Return a run of tf_cnn_benchmarks."""
    return TfCnnBenchmarks(
        file="resnet.log", tool="tf-cnn-benchmarks", complete=True, first_line=2, last_line=99, model="resnet50",
        ranks=ranks, total_images_per_s=rate, sum_images_per_s=rate, total_deviation=0.0, simulated=True,
    )  # fmt: skip


def ports(down: str | None = None) -> IbStatus:
    """Return the ports of a node, one of them down if it is named."""
    rows = tuple(
        Port(
            device=hca, port=1, gid="fe80::1", base_lid="0xb", sm_lid="0x9", state="DOWN" if hca == down else "ACTIVE",
            phys_state="Polling" if hca == down else "LinkUp", rate_gbps=100, width="4X EDR", link_layer="InfiniBand",
            line=number,
        )
        for number, hca in enumerate(sorted(HCAS), 1)
    )  # fmt: skip
    return IbStatus(
        file="rdma.log",
        tool="ibstatus",
        complete=True,
        first_line=1,
        last_line=40,
        source="dgx02",
        rows=rows,
        failed=(),
    )


def link(role: Literal["client", "server"]) -> Perftest:
    """Return one side of the RDMA test, with the Redpaper's figures."""
    row = Bandwidth(
        line=50, bytes=65536, iterations=5000, peak_mb_s=11300.40, average_mb_s=11264.11, message_rate_mpps=0.180226,
        unit="MB/s", peak_printed=11300.40, average_printed=11264.11,
    )  # fmt: skip
    return Perftest(
        file=f"{role}.log", tool="perftest", complete=True, first_line=41, last_line=51, program="ib_write_bw",
        title="RDMA_Write BW Test", role=role, peer=None, bidirectional=False, device="mlx5_1", gpu=False, unit="MB/s",
        bandwidth=(row,),
    )  # fmt: skip


def verdict(name: str, job: str, status: Status, measured: str, limit: str, *lines: str, cause: str = "") -> Verdict:
    """Return a verdict with its lines."""
    proofs = tuple(Proof(file=f"{job}.log", line=10 + number, text=text) for number, text in enumerate(lines))
    return Verdict(
        criterion=name, job=job, status=status, measured=measured, limit=limit, source="R-4.4-8", proofs=proofs,
        causes=(cause,) if cause else (),
    )  # fmt: skip


def jobs(slower: float = 1.0, rate: float = 13_700, lost: str | None = None) -> tuple[Job, ...]:
    """Return the jobs of stack dev."""
    shapes = {name: Shape(pods=int(name[:2]), gpus=int(name[3:])) for name in SPEEDS}
    tables = {name: nccl_tests(shape, slower, f"nccl-test-{name}.log") for name, shape in shapes.items()}
    if lost:
        tables["02x08"] = tables["02x08"].model_copy(update={"nccl": nccl(shapes["02x08"], lost)})
    log = Unknown(file="a2d2.log", tool="nccl", complete=True, first_line=1, last_line=9, nccl=nccl(shapes["16x01"]))
    return (
        job("mofed-test", "rdma-test", Shape(pods=2, gpus=1), ports(lost)),
        *(job(f"nccl-test-{name}", "nccl-all-reduce", shapes[name], tables[name]) for name in SPEEDS),
        job("tf2-resnet50-02x08x02", "resnet50", shapes["02x08"], training(rate)),
        job("tf2-a2d2-16x01x02-gpu", "a2d2", shapes["16x01"], log).model_copy(update={"seconds": 752 * slower}),
    )


def of_run(number: int, jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Return jobs with logs of their own: pods have other names each time."""
    return tuple(
        each.model_copy(
            update={"readings": tuple(one.model_copy(update={"file": f"{number}/{one.file}"}) for one in each.readings)}
        )
        for each in jobs
    )


def good(minute: int = 0, slower: float = 1.0, rate: float = 13_700) -> Run:
    """Return a simulated run in which all is well."""
    name = "adas/nccl-test-02x08"
    verdicts = (
        verdict(
            "ib-write-bandwidth",
            "adas/mofed-test",
            Status.PASS,
            "11,642 MB/s",
            ">= 11,000 MB/s",
            " 65536      5000             11693.75           11642.73		   0.186284",
        ),
        verdict(
            "transport-between-nodes",
            name,
            Status.PASS,
            "16 channels of NET/IB",
            "every channel NET/IB",
            "worker-1:30:39 [0] NCCL INFO Ring 00 : 10[89000] -> 11[89000] [receive] via NET/IB/0/GDRDMA",
        ),
        verdict(
            "bus-bandwidth",
            name,
            Status.PASS,
            "54.96 GB/s",
            ">= 49.69 GB/s (0.9 x 55.21, the Redpaper's)",
            "   268435456      67108864   float     sum   9115.8   29.45   55.21  5e-07   9115.3   29.45   55.22",
        ),
        verdict("small-message-latency", name, Status.PASS, "56.2 us at 8192 B", "< 100 us up to 16384 B"),
        verdict(
            "single-gpu-pods",
            "adas/nccl-test-16x01",
            Status.WARN,
            "5.68 GB/s",
            ">= 27.60 GB/s",
            cause="pods with one GPU have no NVLink between them: take pods with several GPUs",
        ),
        verdict(
            "images-per-second", "adas/tf2-resnet50-02x08x02", Status.PASS, "13,700 images/s", ">= 12,370 images/s"
        ),
    )
    return Run(
        time=WHEN + timedelta(minutes=minute), stack="dev", simulated=True,
        jobs=of_run(minute, jobs(slower, rate)), verdicts=verdicts,
        versions={"OpenShift": "4.4", "GPU driver": "440.33.01", "MPI operator": "v0.2.3"},
    )  # fmt: skip


def undrawn(run: Run) -> Run:
    """Return a run without its figures: their plots take half a second."""
    return run.model_copy(update={"jobs": ()})


@cache
def page_of_bad() -> str:
    """Return the page of the bad run, with all plots."""
    return page(bad())


def linked(run: Run) -> Run:
    """Return a run with both sides of the RDMA test in its first job."""
    first, *others = run.jobs
    both = first.model_copy(update={"readings": (*first.readings, link("client"), link("server"))})
    return run.model_copy(update={"jobs": (both, *others)})


def crowded() -> Run:
    """Return a run with several jobs of one layout, and with layouts whose curves end in the same place."""
    one, two = Shape(pods=1, gpus=8), Shape(pods=2, gpus=8)
    same = [job(f"node-{n}", "nccl-all-reduce", one, nccl_tests(one, 1 + n / 50, f"{n}.log")) for n in range(3)]
    near = [
        each.model_copy(update={"request": each.request.model_copy(update={"transport": transport})})
        for transport, slower in zip(Transport, (1, 1.01, 1.3, 1.02), strict=False)
        for each in (job(f"nccl-{transport}", "nccl-all-reduce", two, nccl_tests(two, slower, f"{transport}.log")),)
    ]
    return good().model_copy(update={"jobs": (*same, *near)})


def bad() -> Run:
    """Return a measured run in which an HCA is down: verdicts of every kind, and text that would be markup."""
    name = "adas/nccl-test-02x08"
    hostile = (
        "<script>alert(1)</script> & </pre><img src=http://127.0.0.1:9/x onerror=alert(2)> | `code` \x00 @everyone"
    )
    verdicts = (
        verdict("hcas-used", name, Status.FAIL, "3 of 4 HCAs: mlx5_2 absent on worker-1", "all of mlx5_0 to mlx5_3",
                "worker-1:30:30 [0] NCCL INFO NET/IB : Using [0]mlx5_3:1/IB [1]mlx5_1:1/IB [2]mlx5_0:1/IB", hostile,
                cause="a port is down: look at its cable and at ibstatus of the node"),
        verdict("bus-bandwidth", name, Status.MISSING, "", ">= 49.69 GB/s (0.9 x 55.21, the Redpaper's)"),
        *good().verdicts[:2],
        verdict("single-gpu-pods", "adas/nccl-test-16x01", Status.WARN, "5.68 GB/s", ">= 27.60 GB/s"),
    )  # fmt: skip
    unread = (Unread(line=44, text="\x1b garbage"),)
    cut = nccl_tests(Shape(pods=2, gpus=8)).model_copy(
        update={"complete": False, "incomplete": "no footer", "unread": unread, "unread_total": 7}
    )
    return Run(
        time=WHEN,
        stack="prod",
        simulated=False,
        versions=good().versions,
        jobs=(*jobs(lost="mlx5_2"), job("cut", "nccl-all-reduce", Shape(pods=2, gpus=8), cut, ended=Ended.FAILED)),
        verdicts=verdicts,
    )


def kinds(run: Run) -> Sequence[Status]:
    """Return the statuses of a run's verdicts."""
    return [one.status for one in run.verdicts]
