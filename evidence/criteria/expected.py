"""Which tools each program prints the output of: where it is absent, evidence is missing."""

from collections.abc import Mapping

from apis.logs import LISTENER, NO_HOSTS
from evidence.tools.ibhosts import IbHosts
from evidence.verdict import Asked, Job

_NCCL_TEST = frozenset({"nccl-tests", "nccl"})
RDMA_TEST = "rdma-test"
"""What the bandwidth test is called among the programs."""
_RDMA_TEST = frozenset({"whoami", "rdma-devices", "net-devices", "ibstatus", "ulimit", "perftest"})

PROGRAMS: Mapping[str, frozenset[str]] = {
    "nccl-all-reduce": _NCCL_TEST,
    "nccl-all-gather": _NCCL_TEST,
    "nccl-broadcast": _NCCL_TEST,
    "nccl-reduce": _NCCL_TEST,
    "nccl-reduce-scatter": _NCCL_TEST,
    "node-check": frozenset({"nvidia-smi", "nvidia-smi-topo", "nccl-tests"}),
    "resnet50": frozenset({"tf-cnn-benchmarks", "nccl"}),
    "resnet50-xla": frozenset({"tf-cnn-benchmarks", "nccl"}),
    "resnet101": frozenset({"tf-cnn-benchmarks", "nccl"}),
    "resnet50-nvidia": frozenset({"deeplearningexamples", "nccl"}),
    "a2d2": frozenset({"nccl"}),
    "pytorch-synthetic": frozenset({"horovod-synthetic"}),
    "mask-rcnn": frozenset({"mllog"}),
    "ssd": frozenset({"mllog"}),
    "gnmt": frozenset({"mllog"}),
    "transformer": frozenset({"mllog"}),
    "cuda-vector-add": frozenset({"cuda-vector-add"}),
    RDMA_TEST: _RDMA_TEST,
}
"""Program of docs/programs.md, and the RDMA test -> tools, and nccl for messages of NCCL (R-4.1 to R-4.5, S-3, S-7)."""

EXCUSES: Mapping[str, str] = {"ibhosts": NO_HOSTS}
"""Tool -> with what words a job of ours says that it cannot be had: where umad devices are root's, as on RHCOS."""


def expected(asked: Asked) -> frozenset[str]:
    """Return the tools whose output a job was to hold.

    A program that is not known prints nobody knows what. A transport between nodes is shown by NCCL alone, whatever
    the program is.
    """
    known = PROGRAMS.get(asked.program or "", frozenset())
    if asked.program == RDMA_TEST and asked.job.endswith(LISTENER):
        return frozenset({"perftest"})
    if asked.program == RDMA_TEST and asked.fabric == "infiniband":
        known |= {"ibhosts"}
    if asked.program != RDMA_TEST and asked.transport is not None:
        known |= {"nccl"}
    return known


def excused(job: Job) -> frozenset[str]:
    """Return the tools of which the job itself says that it cannot have them, and of which it shows no row."""
    told = {one.text for each in job.readings for one in each.unread}
    told |= {one.excuse for one in job.readings if isinstance(one, IbHosts) and one.excuse is not None}
    shown = {one.tool for one in job.readings if getattr(one, "rows", None)}
    return frozenset(
        tool for tool, words in EXCUSES.items() if tool not in shown and any(words in text for text in told)
    )
