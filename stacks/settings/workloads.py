"""Settings of workloads: what runs, where and how far an update follows it."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from components.base.model import DnsLabel, DnsName, Image, MigSize, Model, Quantity, Seconds
from components.jobs.job_args import Folder, JobChoices
from components.jobs.layout import Layout, also_short
from components.jobs.outcome import Wait
from components.jobs.rdma_perftest import RdmaPair
from components.jobs.resilience import ResilienceChoices
from components.jobs.sliced_jobs import MOST_SLICES
from components.storage.data_set import DataSetName
from components.tenants.tenant import ContainerResources
from core.apis.nccl import Transport
from core.hardware import hostlist
from stacks.settings.topology import TopologyRequest

__all__ = [
    "IndexedWorkload",
    "JobWorkload",
    "MpiWorkload",
    "RdmaTestWorkload",
    "SpanningWorkload",
    "Stage",
    "StageDataWorkload",
    "Started",
    "TorchWorkload",
    "Unstarted",
    "Workload",
]


class WorkloadBase(Model):
    """What every workload has."""

    tenant: DnsLabel = Field(description="namespace of the tenant that it runs for")
    wait: Wait | None = Field(
        default=None,
        description="how far an update follows it; default: finished for verification, started for training",
    )
    run: int = Field(default=1, ge=1, description="raise it to run the workload again")
    timeout: Seconds | None = Field(
        default=None, description="how many seconds an update follows it; None: `timeouts.job`"
    )


class RdmaTestWorkload(WorkloadBase, RdmaPair):
    """The bandwidth test between two nodes."""

    kind: Literal["rdma-test"]
    name: DnsLabel = Field(default="mofed-test-job", description="name of the job")


class StageDataWorkload(WorkloadBase):
    """A data set that is staged before jobs read it: pods without GPUs read all of its files.

    Put it in a stage before the jobs that read the set. The name of its job ends with a part of the lock's digest: a
    changed lock is staged again, an unchanged one is not.
    """

    kind: Literal["stage-data"]
    data_set: DataSetName = Field(description="one of the tenant's `data_sets`")
    image: Image = Field(description="image with Python 3.6 or later, e.g. that of the jobs")
    slices: int = Field(default=4, gt=0, le=MOST_SLICES, description="pods, each with every `slices`-th file")
    content: bool = Field(
        default=False,
        description="whether each pod also prints the SHA-256 of what it read, for comparison with another staging; "
        "it takes twice the CPU time",
    )
    cpus: int = Field(default=1, gt=0, description="CPUs of each pod; a choice")
    memory: Quantity = Field(default="2Gi", description="memory of each pod, including the kernel's file cache")

    @property
    def name(self) -> str:
        """What its job's name begins with."""
        return f"stage-{self.data_set}"


class ProgramWorkload(WorkloadBase, JobChoices):
    """A program that is started."""

    name: DnsLabel = Field(description="name of the job")
    pool: DnsLabel | None = Field(
        default=None,
        description="pool on whose nodes it runs; None: that of its `node`, the only one, or the only one of which the "
        "tenant has a `gpu_quota`",
    )
    data_set: DataSetName | None = Field(
        default=None,
        description="one of the tenant's `data_sets`, at /data-sets/NAME in its pods: each proves that it sees the "
        "locked files before the program starts, and the program finds their list by HPC_DATA_LIST "
        "([data](../guide/data.md))",
    )
    split: DataSetName | None = Field(default=None, description="part of the data set; None: all of it")
    program: DnsLabel = Field(description="what runs: one of `programs`, or of [these](programs.md)")
    image: Image | None = Field(default=None, description="None: the program's, where it has one that fits")
    build: DnsLabel | None = Field(default=None, description="one of the tenant's `builds`, in place of an image")
    shm_gib: int = Field(default=8, gt=0, description="GiB; size limit of /dev/shm, part of the pod's memory")
    precision: Literal["tf32", "fp32"] | None = Field(
        default=None,
        description="for programs that compute in 32 bits: tf32 is the default of tensor cores that support it, fp32 "
        "turns it off; None leaves it to program and GPU",
    )
    largest_mib: int | None = Field(
        default=None,
        gt=0,
        le=65536,
        description="largest message of nccl-tests, MiB; None: the program's, 256. Today's machines reach "
        "their bandwidth, and public limits are given, at 8192 or 16384",
    )
    instance: MigSize | None = Field(
        default=None,
        description="one MIG instance of this size for each pod, in place of whole GPUs, e.g. 1g.5gb: for programs of "
        "one GPU, of kind job or indexed, on nodes with `mig`",
    )
    priority: DnsName | None = Field(default=None, description="priority class of its pods, of priority_classes")
    resilience: ResilienceChoices = Field(
        default=ResilienceChoices(),
        description="what it does about the loss of a rank, a pod or a node, in place of what its program has",
    )
    on_change: Literal["replace", "keep"] | None = Field(
        default=None,
        description="what a changed spec does: run again at once (default for verification), or wait for the next run",
    )

    @model_validator(mode="after")
    def _splits_what_it_has(self) -> Self:
        if self.split is not None and self.data_set is None:
            raise ValueError(f"split {self.split} of {self.name}: there is no data_set to be split; give it")
        return self


class SpanningWorkload(ProgramWorkload):
    """A program over GPUs of one or more pods."""

    name: DnsLabel = Field(description="prefix of the job's name; its layout follows")
    suffix: str = Field(default="", pattern=r"^(-[a-z0-9]+)?$", description="suffix of the job's name")
    layout: Layout | None = Field(
        default=None,
        description="pods and GPUs of each, as {pods: 2, gpus: 8} or 2x8; or give gpus",
        json_schema_extra=also_short,
    )
    gpus: int | None = Field(
        default=None,
        gt=0,
        description="GPUs in total; the layout is then the first of those that fit on the free GPUs",
    )
    gpus_per_pod: int | None = Field(default=None, gt=0, description="with gpus: only layouts with pods of this size")
    transport: Transport | None = Field(
        default=None, description="None: the best that the fabric has and the tenant may use"
    )
    topology: TopologyRequest | None = Field(
        default=None, description="how close to each other its pods run; None: as `queues.topology.jobs` has it"
    )
    compute_domain: bool | None = Field(
        default=None,
        description="whether its GPUs on several nodes share memory over NVLink, in a ComputeDomain of its own; None: "
        "where `gpu.compute_domains` serves its nodes",
    )

    @model_validator(mode="after")
    def _laid_out_once(self) -> Self:
        if (self.layout is None) == (self.gpus is None):
            state = "both are" if self.layout else "neither is"
            raise ValueError(f"layout and gpus of {self.name}: {state} given; give one of them")
        if self.gpus_per_pod is not None and self.gpus is None:
            raise ValueError(f"gpus_per_pod {self.gpus_per_pod} of {self.name}: layout has it already; leave it out")
        return self


class MpiWorkload(SpanningWorkload):
    """A program that mpirun starts."""

    kind: Literal["mpi"]
    launcher: ContainerResources | None = Field(
        default=None,
        description="resources of the v2beta1 launcher, e.g. for hundreds of workers; None: enough for a few dozen",
    )
    debug: bool = Field(default=False, description="log how Open MPI starts and connects processes")


class TorchWorkload(SpanningWorkload):
    """A program that torchrun starts, in every pod of an Indexed Job."""

    kind: Literal["torch"]


class JobWorkload(ProgramWorkload):
    """A program on GPUs of one pod, without MPI between pods."""

    kind: Literal["job"]
    node: DnsName | None = Field(
        default=None,
        description="the only node that its pod may run on; a range such as gpu[01-04].lab.example.com "
        "means a job on each, named after this one and the node's short name",
        json_schema_extra={"anyOf": [{"pattern": hostlist.PATTERN, "type": "string"}, {"type": "null"}]},
    )
    gpus: int = Field(default=1, gt=0, le=16, description="GPUs of its pod")

    _hosts = field_validator("node", mode="before")(hostlist.required)


class IndexedWorkload(ProgramWorkload):
    """Inference over a data set: pods that each process a slice of it, and a reducer after them."""

    kind: Literal["indexed"]
    data_set: DataSetName = Field(description="one of the tenant's `data_sets`, which is divided among the pods")
    slices: int = Field(gt=0, le=MOST_SLICES, description="pods, each with every `slices`-th file")
    gpus: int = Field(default=1, gt=0, le=16, description="GPUs of each pod")
    results: Folder = Field(
        description="folder that the program mounts and all pods share: results, and the proofs of the slices"
    )
    reducer: tuple[str, ...] = Field(
        default=(),
        description="command line that collects the results, after the slices were proved disjoint and complete; "
        "none: only the proof",
    )


Started = MpiWorkload | TorchWorkload | JobWorkload | IndexedWorkload
"""A workload that starts a program."""
Unstarted = RdmaTestWorkload | StageDataWorkload
"""A workload without a program of its own; it takes no GPU."""
Workload = Annotated[
    RdmaTestWorkload | StageDataWorkload | MpiWorkload | TorchWorkload | JobWorkload | IndexedWorkload,
    Field(discriminator="kind"),
]


def _expanded(workloads: Any) -> Any:
    return (
        [node_workload for workload in workloads for node_workload in _expansion(workload)]
        if isinstance(workloads, list | tuple)
        else workloads
    )


def _expansion(workload: Any) -> Iterator[Any]:
    node = workload.get("node") if isinstance(workload, Mapping) and workload.get("kind") == "job" else None
    names = hostlist.expanded_or_same(node) if isinstance(node, str) else ()
    if not names or names == (node,):
        yield workload
        return
    for name in names:
        yield {**workload, "name": f"{workload.get('name')}-{name.partition('.')[0]}", "node": name}


def entries(workloads: Any) -> list[int]:
    """Return for every workload the index of its entry in the settings, where a node with a range is one entry."""
    return [index for index, workload in enumerate(workloads) for _ in _expansion(workload)]


class Stage(Model):
    """Workloads that may run at the same time if they fit; the next stage waits for all of them."""

    name: DnsLabel = Field(description="its title in the table of placements")
    fit_nodes: bool = Field(
        default=False,
        description="keep jobs off nodes that `./hpc nodes --cordon` has marked as unfit; not for the stage "
        "that tests the nodes",
    )
    workloads: Annotated[tuple[Workload, ...], BeforeValidator(_expanded)] = Field(
        min_length=1, description="in the order in which they are placed"
    )

    @model_validator(mode="before")
    @classmethod
    def _of_fit_nodes(cls, stage: Any) -> Any:
        """Give jobs what the stage demands of nodes; the RDMA test names its own, and staging has no GPUs."""
        if not isinstance(stage, Mapping) or stage.get("fit_nodes") is not True:
            return stage
        workloads = stage.get("workloads")
        if not isinstance(workloads, list | tuple):
            return stage
        started = (
            isinstance(workload, Mapping) and workload.get("kind") not in ("rdma-test", "stage-data")
            for workload in workloads
        )
        jobs = [
            {"fit_nodes": True, **workload} if is_job else workload
            for workload, is_job in zip(workloads, started, strict=True)
        ]
        return {**stage, "workloads": jobs}
