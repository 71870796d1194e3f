"""Known causes of failures: the line that shows each, why it happens, which setting repairs it, and what rules it out.

The causes are data, in `causes/`; a cause names the facts of a job's logs that rule it out in `contradicted_by`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from core import data_files
from core.model import Model
from toolkit.evidence.criterion import nccl_logs, readings_of
from toolkit.evidence.tools.lsmod import PEER_MEMORY, LsMod
from toolkit.evidence.tools.nvidia_smi.model import NvidiaSmi
from toolkit.evidence.tools.perftest.model import Perftest
from toolkit.evidence.tools.process import Ulimit
from toolkit.evidence.tools.torch_distributed.model import TorchDistributed
from toolkit.evidence.verdict import Job

FOLDER = Path(__file__).parent / "causes"
_FILES = ("registration", "transport", "nodes", "gpus", "launch", "pytorch", "memory", "data", "others")
"""In the order of the table: a line shows the first cause that fits."""
_FRAGMENT = re.compile(r"<<(\w+)>>")

TRANSPORT = frozenset({"transport-between-nodes", "gpudirect", "bus-bandwidth", "average-bus-bandwidth"})
LATENCY = frozenset({"small-message-latency"})
LINK = frozenset({"ib-write-bandwidth"})
HCAS = frozenset({"hcas-used", "ports-active", "ports-present", "fabric-consistent", "rdma-device-files"})
STARTED = frozenset({"ranks-initialised", "ranks-are-gpus"})
_GROUPS = {
    "TRANSPORT": TRANSPORT,
    "LATENCY": LATENCY,
    "LINK": LINK,
    "HCAS": HCAS,
    "DATA": frozenset({"data-set", "data-staged", "data-slices"}),
    "STARTED": STARTED,
    "DIRECT": frozenset({"gpudirect", "bus-bandwidth", "average-bus-bandwidth"}),
    "REGISTERED": TRANSPORT | LINK | STARTED | {"preflight-gpudirect"},
    "TOGETHER": frozenset({"processes-together"}),
}
"""Criteria that causes explain together, by the name that `explains` of the files has."""


class Cause(Model):
    """A known cause of failures."""

    name: str = Field(description="in kebab case")
    shows: str = Field(
        default="",
        description="regular expression, case ignored, of a line that shows it: one that no parser knew, or in which a "
        "tool warns. Empty where only figures show it (`measured_causes`). Where one call "
        "has several causes, its error is part of the expression",
    )
    why: str = Field(description="what happened")
    remedy: str = Field(description="what to do, with the setting that it concerns")
    explains: frozenset[str] = Field(
        default=frozenset(),
        description="criteria whose failure it explains, besides that the job or its logs did not come to their end",
    )
    ends: bool = Field(default=True, description="whether a program that prints it cannot go on")
    last_resort: bool = Field(
        default=False,
        description="whether it is shown only where nothing else explains a failure: a symptom, without its reason",
    )
    contradicted_by: frozenset[str] = Field(
        default=frozenset(),
        description="facts (`facts`) with which it cannot be the cause: then a later one that the line shows is",
    )
    source: str = Field(
        default="",
        description="source of the line and its reason: a page without `https://`, or ids of docs/coverage/sources.md; "
        "empty for a cause of this project's own, which its figures define",
    )

    @field_validator("explains")
    @classmethod
    def _criteria(cls, names: frozenset[str]) -> frozenset[str]:
        return frozenset(criterion for name in names for criterion in _GROUPS.get(name, {name}))

    def __str__(self) -> str:
        """Return cause and remedy as one text."""
        return f"{self.why}: {self.remedy}"


class _File(Model):
    causes: dict[str, dict[str, Any]] = Field(description="fields of causes, by name; `shows` has the alternatives")
    fragments: dict[str, str] = Field(default={}, description="parts of expressions, which `<<name>>` stands for")

    def expression(self, alternatives: Sequence[str]) -> str:
        """Return one expression of its alternatives, with the fragments that they name."""
        text = "|".join(alternatives)
        while (filled := _FRAGMENT.sub(lambda fragment: self.fragments[fragment[1]], text)) != text:
            text = filled
        return text


def _read(path: Path) -> Iterator[Cause]:
    file = data_files.validate(_File, data_files.read(path), path)
    for name, fields in file.causes.items():
        shows = file.expression(fields.get("shows", ()))
        yield data_files.validate(Cause, {**fields, "name": name, "shows": shows}, path)


CAUSES: tuple[Cause, ...] = tuple(cause for name in _FILES for cause in _read(FOLDER / f"{name}.yaml"))


_LOOPBACK = "Using the loopback address as fallback"
_MESH = "connectFullMesh failed"
"""What Gloo prints where a host's name does not resolve, and where processes do not reach each other."""
_REFUSED = "Connection refused"
_ENDED = "failed (exitcode"
"""What torchrun prints of a process before it starts all again, or gives up."""


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


def _started_once(job: Job) -> bool:
    """Return whether no connection was refused after torchrun had started all processes again."""
    restarts: dict[str, int] = {}
    for reading in readings_of(job, TorchDistributed):
        ends = [line.line for line in reading.failures if _ENDED in line.text]
        restarts.setdefault(reading.file, min(ends, default=reading.last_line))
    return not any(
        _REFUSED in warning.text and warning.line > restarts.get(file, warning.line)
        for file, log in nccl_logs(job)
        for warning in log.warnings
    )


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
    Fact("started-once", "no connection was refused after torchrun had started all processes again", _started_once),
    Fact("loopback-taken", "Gloo took the loopback address for a host's, and did not connect", _loopback),
)
"""All facts."""
_BY_NAME = {fact.name: fact for fact in FACTS}


def contradicted(names: Iterable[str], job: Job) -> bool:
    """Return whether any of these facts holds for a job."""
    return any(_BY_NAME[name].holds(job) for name in names)
