"""Jobs as they would be launched on machines of the documents, and those of nccl-tests as they were placed."""

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from core.hardware.profiles import PROFILES, Profile
from tests.support.machines import DGX1_V100_16GB
from toolkit.evidence.model import Reading
from toolkit.evidence.reader import read_stream
from toolkit.simulator.performance.job import Launched, Machine, Worker

STARTED = datetime(2020, 7, 6, 15, 52, tzinfo=UTC)
LISTENER = "mofed-test-job-listener"


def machines(profile: Profile = DGX1_V100_16GB, count: int = 2, **more: Any) -> tuple[Machine, ...]:
    """Return nodes dgx01, dgx02, ... with driver and lifted memory limit."""
    known: dict[str, Any] = {
        "memlock_unlimited": True,
        "has_driver": True,
        "driver": "440.64",
        "gpudirect": True,
        **more,
    }
    return tuple(Machine(f"dgx{number:02}.ocp4.scale.ibm.com", profile, **known) for number in range(1, count + 1))


def worker(name: str, machine: Machine, gpus: Sequence[int] = (), **more: Any) -> Worker:
    """Return a pod with devices of all ports."""
    known: dict[str, Any] = {"devices": tuple(hca.name for hca in machine.hcas), "ipc_lock": True, "uid": 1075480000}
    return Worker(name, machine, gpus=tuple(gpus), **{**known, **more})


def rdma_test(nodes: tuple[Machine, ...] = (), **more: Any) -> Launched:
    """Return the measuring pod of the RDMA test, on the first of two nodes."""
    there = nodes or machines(storage_shared=True)
    return Launched(
        me=worker("mofed-test-job-x7k2p", there[0], **more),
        image="mellanox/centos_7_4_mofed_4_2_1_2_0_0_60:latest",
        words=(),
        run="one",
        peers={LISTENER: worker(f"{LISTENER}-q9d4s", there[1])},
        machines=there,
        started=STARTED,
    )


def training(pods: int, gpus: int, nodes: int, profile: Profile = DGX1_V100_16GB, **variables: str) -> Launched:
    """Return a job with one rank a GPU, its pods on the nodes one after the other."""
    there = machines(profile, nodes)
    each = pods // nodes
    workers = [
        worker(f"job-worker-{pod}", there[pod // each], range(pod % each * gpus, (pod % each + 1) * gpus))
        for pod in range(pods)
    ]
    return Launched(
        me=worker("job-launcher-abcde", there[0], devices=()),
        image="nvcr.io/nvidia/tensorflow:20.03-tf2-py3",
        words=(),
        run="one",
        workers=tuple(workers),
        processes=tuple(one for one in workers for _ in range(gpus)),
        environment={"NCCL_IB_DISABLE": "0", "NCCL_NET_GDR_LEVEL": "1", **variables},
        machines=there,
        started=STARTED,
    )


def readings(lines: Sequence[str]) -> tuple[Reading, ...]:
    """Return what the evidence's own parsers find in lines."""
    return read_stream(io.BytesIO("\n".join(lines).encode()), "log")


OLD = "nvcr.io/nvidia/tensorflow:20.03-tf2-py3"
NEW = "registry/language/tensorflow:24.03-tf2"
EXPORTS = ("NCCL_DEBUG=INFO", "NCCL_IB_DISABLE=0", "NCCL_NET_GDR_LEVEL=1")


def launch(
    pods: int,
    gpus: int,
    *,
    profile: str | Profile = "dgx1-v100-16gb",
    image: str = OLD,
    exports: Sequence[str] = EXPORTS,
    options: Sequence[str] = (),
    test: str = "all_reduce",
    np: int | None = None,
    placed: bool = False,
    **machine: Any,
) -> Launched:
    """Return an MPIJob with a process in each pod, on as few machines as fit, but two where it has two pods.

    `machine` goes to all machines, but `down`, the ports without a link, and `worker`, fields of the pods.
    """
    kind = PROFILES[profile] if isinstance(profile, str) else profile
    many = max(min(pods, 2), pods * gpus // kind.gpus)
    fields: dict[str, Any] = {
        "memlock_unlimited": True,
        "has_driver": True,
        "ports_down": frozenset(machine.pop("down", ())),
    }
    fields |= {key: value for key, value in machine.items() if key != "worker"}
    interfaces = {hca.name: hca.interface for hca in kind.hcas}
    machines = tuple(Machine(f"dgx{number:02}", kind, interfaces=interfaces, **fields) for number in range(many))
    per = pods // many
    devices = {"devices": tuple(hca.name for hca in kind.hcas), **machine.get("worker", {})}
    workers = tuple(
        Worker(
            f"job-worker-{number}",
            machines[number // per],
            address=f"10.128.7.{number + 1}",
            **({"gpus": tuple(range(number % per * gpus, (number % per + 1) * gpus))} | devices),
        )
        for number in range(pods)
    )
    words = (
        *("mpirun", "-np", str(np or pods), "-bind-to", "none", "-map-by", "slot"),
        *(word for export in exports for word in ("-x", export)),
        *("-x", "PATH", "-mca", "pml", "ob1", "-mca", "btl", "^openib", *options),
        *(f"/workspace/other/nccl/{test}_perf", "-b", "8", "-e", "256M", "-f", "2", "-g", str(gpus)),
    )
    slots = dict.fromkeys((worker.name for worker in workers), 1)
    launcher = Worker("job-launcher", machines[0])
    job = Launched(launcher, image, words, "run", workers=workers, slots=slots, machines=machines)
    return replace(job, processes=workers, environment=dict(one.split("=", 1) for one in exports)) if placed else job
