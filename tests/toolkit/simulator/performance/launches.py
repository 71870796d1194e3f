"""Jobs of nccl-tests as they were placed, for the tests of what they print."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.hardware.profiles import PROFILES, Profile
from toolkit.simulator.performance.job import Launched, Machine, Worker

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
