"""Facts of a job's logs that rule out causes: a cause names them in `contradicted_by`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from toolkit.evidence.criterion import nccl_logs, readings_of
from toolkit.evidence.tools.lsmod import PEER_MEMORY, LsMod
from toolkit.evidence.tools.nvidia_smi.model import NvidiaSmi
from toolkit.evidence.tools.perftest.model import Perftest
from toolkit.evidence.tools.ulimit import Ulimit
from toolkit.evidence.verdict import Job

_LOOPBACK = "Using the loopback address as fallback"
_MESH = "connectFullMesh failed"
"""What Gloo prints where a host's name does not resolve, and where processes do not reach each other."""


@dataclass(frozen=True)
class Fact:
    """What a job's logs show beside its failure."""

    name: str
    """In kebab case."""
    meaning: str
    """For a reader of docs/reference/criteria.md."""
    holds: Callable[[Job], bool]


def _peer_memory(job: Job) -> bool:
    listings = readings_of(job, LsMod)
    return bool(listings) and all(any(listing.module(name) for name in PEER_MEMORY) for listing in listings)


def _unlimited(job: Job) -> bool:
    limits = [limit.unlimited for limit in readings_of(job, Ulimit) if limit.unlimited is not None]
    return bool(limits) and all(limits)


def _gpus(job: Job) -> bool:
    tables = readings_of(job, NvidiaSmi)
    return bool(tables) and all(table.rows for table in tables)


def _only_host_memory(job: Job) -> bool:
    logs = [log for _, log in nccl_logs(job) if any(name.startswith("NET/IB") for name in log.transports)]
    return bool(logs) and not any(log.gpudirect or log.gpudirect_one_end for log in logs)


def _only_infiniband(job: Job) -> bool:
    layers = {layer for _, log in nccl_logs(job) for layer in log.link_layers.values()}
    return bool(layers) and "RoCE" not in layers


def _loopback(job: Job) -> bool:
    texts = [line.text for reading in job.readings for line in reading.unread]
    return any(_LOOPBACK in text for text in texts) and any(_MESH in text for text in texts)


FACTS: tuple[Fact, ...] = (
    Fact("peer-memory-loaded", "every lsmod lists the kernel module for GPUDirect", _peer_memory),
    Fact("memlock-unlimited", "every limit of locked memory that was printed is unlimited", _unlimited),
    Fact("gpu-buffers", "perftest ran on GPU memory", lambda job: any(run.gpu for run in readings_of(job, Perftest))),
    Fact(
        "host-buffers",
        "perftest ran on host memory",
        lambda job: any(not run.gpu for run in readings_of(job, Perftest)),
    ),
    Fact("gpus-listed", "every nvidia-smi lists GPUs", _gpus),
    Fact("host-memory-only", "NCCL connects channels over InfiniBand or RoCE, none with GPUDirect", _only_host_memory),
    Fact("only-infiniband", "NCCL lists adapters, none on RoCE", _only_infiniband),
    Fact("loopback-taken", "Gloo took the loopback address for a host's, and did not connect", _loopback),
)
"""All facts."""
_BY_NAME = {fact.name: fact for fact in FACTS}


def contradicted(names: Iterable[str], job: Job) -> bool:
    """Return whether any of these facts holds for a job."""
    return any(_BY_NAME[name].holds(job) for name in names)
