"""Programs that workloads start: those of the files in `stacks/programs/`, and a stack's own, of the same model.

A file is called as its program, and adding one adds the program. Command lines of the source
documents are without their faults: results are written to a volume, no program runs as root or sees the node's
folders, and no image has a tag that moves, so that some programs have none.
"""

from collections.abc import Mapping
from itertools import permutations
from pathlib import Path, PurePosixPath
from typing import Literal, Self

from pydantic import Field, model_validator

from components.base.model import Image, Model, Quantity, merged_by
from components.jobs.job_args import Folder, Port, PortName, ResourceName, Variable
from components.jobs.job_volumes import SHARED_MEMORY, Mount
from components.jobs.layout import Layout
from components.jobs.resilience import ResilienceChoices
from core import data_files
from core.data_files import DataFiles
from core.goodput import GoodputLines
from core.metric import Metric
from core.wording import duplicates

FOLDER = Path(__file__).with_suffix("")
SCRIPTS = FOLDER.with_name("scripts")
"""Python files that programs bring along in their command."""


class DataSet(Model):
    """What a program reads."""

    name: str = Field(description="name in messages and tables")
    size_gb: int = Field(gt=0, description="GB")
    folder: Folder | None = Field(
        default=None, description="where the program finds it, in one of `mounts`, e.g. /data/train; None: not known"
    )


class Resources(Model):
    """What a pod has instead of its GPUs' share of the machine, and beyond it."""

    cpus: int | None = Field(default=None, gt=0, description="logical CPUs; None: those that go with its GPUs")
    memory_gib: int | None = Field(default=None, gt=0, description="GiB; None: what goes with its GPUs")
    further: dict[ResourceName, Quantity] = Field(
        default={}, description="further node resources, e.g. {ephemeral-storage: 200Gi}; none with `queues`"
    )


class Program(Model):
    """One program: what starts it, what it needs, and what its log contains."""

    command: tuple[str, ...] = Field(
        description="a list, without mpirun or torchrun; {gpus} is the GPUs of a pod, {program} its path, {largest} "
        "its `largest_mib`, {script} the text of its `script`; empty: the image's entrypoint"
    )
    script: str | None = Field(
        default=None,
        pattern=r"^\w+\.py$",
        description="file in stacks/scripts whose text replaces {script} in `command`, so that no image needs it; "
        "None: none",
    )
    checkpoint: Folder | None = Field(
        default=None,
        description="folder for checkpoints, in one of `mounts`: a volume that stays when pods end; {checkpoint} in "
        "`command` or `environment` is the job's own folder there, the same in each run of the job; None: it has none",
    )
    resilience: ResilienceChoices = Field(
        default=ResilienceChoices(),
        description="what its jobs do about the loss of a rank, a pod or a node; workloads may choose otherwise, field "
        "by field",
    )
    ports: dict[PortName, Port] = Field(
        default={}, description="ports on which the program listens in each pod, by name, e.g. {metrics: 9100}"
    )
    resources: Resources = Field(
        default=Resources(), description="what a pod has beyond the share of the machine that goes with its GPUs"
    )
    largest_mib: int | None = Field(
        default=None, gt=0, description="largest message that it sends, MiB; workloads may name another; None: none"
    )
    kinds: tuple[Literal["mpi", "torch", "job", "indexed"], ...] = Field(
        min_length=1, description="kinds of workloads that can start it"
    )
    processes_per: Literal["gpu", "pod"] = Field(
        default="gpu", description="one process per GPU, or one per pod, which drives all of its GPUs"
    )
    trains: bool = Field(
        default=True, description="whether it runs long and is not repeated lightly, unlike verification"
    )
    working_directory: Folder | None = Field(default=None, description="None: the image's own")
    mounts: dict[Folder, Mount] = Field(
        default={},
        description="where it expects volumes of the tenant: folder -> volume, e.g. {volume: sets, folder: train, "
        "read_only: true}; a plain text is a folder of the volume `data`, empty for all of it",
    )
    data: DataSet | None = Field(default=None, description="what the volume must have room for; None: not known")
    images: tuple[Image, ...] = Field(
        default=(),
        description="the first that fits is used; those of stacks/resolved/images.py are checked, the oldest first",
    )
    gpus: int | None = Field(default=None, gt=0, description="GPUs that its parameters are for; None: any number")
    gpu_memory_gb: int | None = Field(default=None, gt=0, description="GB of the GPUs that its parameters are for")
    environment: dict[Variable, str] = Field(default={}, description="variables that it reads")
    on_volume: str | None = Field(default=None, description="path of the program on the tenant's volume")
    in_image: str | None = Field(
        default=None, description="the program's name in images of `builds` that have it; None: no recipe has it"
    )
    require_cuda: str = Field(default="cuda>=9.0", description="NVIDIA_REQUIRE_CUDA on OpenShift 3.11")
    rdma: bool = Field(
        default=False,
        description="whether a job of one pod gets an RDMA device of every port, and IPC_LOCK, as jobs over several "
        "nodes do; where fabric and tenant have RDMA",
    )
    uses_nccl: bool = Field(
        default=True, description="whether its ranks exchange data over NCCL, whose transport is then judged"
    )
    prints: tuple[str, ...] = Field(
        default=(),
        description="tools whose output its log must hold, by their names in [evidence](../guide/evidence.md), and "
        "`nccl` for messages of NCCL; without them verification reports missing evidence",
    )
    metrics: tuple[Metric, ...] = Field(
        default=(),
        description="figures that it prints, and their limits",
        json_schema_extra=merged_by("name"),
    )
    goodput: GoodputLines | None = Field(
        default=None,
        description="lines that show how far a training is, and the goodput that is required of it "
        "([goodput](../guide/evidence.md#goodput)); None: it is not measured",
    )
    source: str | None = Field(
        default=None,
        description="ids of docs/coverage/sources.md; E-.. is a fault of the document that is corrected here",
    )

    @model_validator(mode="after")
    def _can_be_started(self) -> Self:
        named = any("{program}" in word for word in self.command)
        if named and not (self.on_volume or self.in_image):
            raise ValueError("command has {program}, and nothing says where it is; set on_volume, or in_image")
        for kind, launcher in (("mpi", "mpirun"), ("torch", "torchrun"), ("indexed", "the proof of its slice")):
            if kind in self.kinds and not self.command:
                raise ValueError(
                    f"command is empty, and {launcher} starts no image's own; write it, or leave {kind} out of kinds"
                )
        if "torch" in self.kinds and self.command[:1] == ("torchrun",):
            raise ValueError("command starts torchrun, as kind torch does itself; leave the word out")
        sends = any("{largest}" in word for word in self.command)
        if sends != (self.largest_mib is not None):
            has = "has {largest}" if sends else "has no {largest}"
            raise ValueError(f"largest_mib {self.largest_mib}, and command {has}; give both, or neither")
        if any("{script}" in word for word in self.command) != (self.script is not None):
            has = "has no {script}" if self.script else "has {script}"
            raise ValueError(f"script {self.script}, and command {has}; give both, or neither")
        if self.script and not (SCRIPTS / self.script).is_file():
            scripts = ", ".join(sorted(path.name for path in SCRIPTS.glob("*.py")))
            raise ValueError(f"script {self.script} is none of stacks/scripts: {scripts}; correct its name")
        if repeated := duplicates(metric.name for metric in self.metrics):
            raise ValueError(f"metrics: {', '.join(repeated)} is given twice; give each a name of its own")
        for inner, outer in permutations((*self.mounts, SHARED_MEMORY), 2):
            if PurePosixPath(inner).is_relative_to(outer):
                raise ValueError(f"mounts: {inner} is inside {outer}, which hides it; mount one of them elsewhere")
        return self

    @model_validator(mode="after")
    def _has_goodput(self) -> Self:
        if self.goodput is not None and not self.trains:
            raise ValueError("goodput, and trains is false: a verification has no goodput; leave goodput out")
        return self

    @model_validator(mode="after")
    def _finds_its_data(self) -> Self:
        folder = self.data.folder if self.data else None
        if folder is not None and not any(PurePosixPath(folder).is_relative_to(mount) for mount in self.mounts):
            mounts = ", ".join(self.mounts) or "none"
            raise ValueError(f"data.folder {folder} is in none of mounts: {mounts}; mount a volume there")
        return self

    @model_validator(mode="after")
    def _can_be_resumed(self) -> Self:
        if self.resilience.limit and not self.trains:
            raise ValueError(
                f"resilience.limit {self.resilience.limit}, and trains is false: a verification that is repeated hides "
                "what it found; leave it out"
            )
        used = any("{checkpoint}" in text for text in (*self.command, *self.environment.values()))
        if used != (self.checkpoint is not None):
            has = "has {checkpoint}" if used else "has no {checkpoint}"
            raise ValueError(f"checkpoint {self.checkpoint}, and command or environment {has}; give both, or neither")
        if self.checkpoint is None:
            return self
        place = self.checkpoint_mount
        if place is None:
            mounts = ", ".join(self.mounts) or "none"
            raise ValueError(f"checkpoint {self.checkpoint} is in none of mounts: {mounts}; mount a volume there")
        if self.mounts[place].read_only:
            raise ValueError(f"checkpoint {self.checkpoint}: mounts.{place} is read_only; use another, or unset that")
        return self

    @property
    def checkpoint_mount(self) -> str | None:
        """The mount in which checkpoints are; None: there is none."""
        inside = (
            mount for mount in self.mounts if self.checkpoint and PurePosixPath(self.checkpoint).is_relative_to(mount)
        )
        return next(inside, None)

    def checkpoints(self, job: str) -> str:
        """Return a job's own folder for checkpoints; empty where the program has none."""
        return str(PurePosixPath(self.checkpoint) / job) if self.checkpoint else ""

    def variables(self, job: str) -> dict[str, str]:
        """Return the environment of a job of that name."""
        return {key: text.replace("{checkpoint}", self.checkpoints(job)) for key, text in self.environment.items()}

    def started(
        self, layout: Layout, *, in_image: bool = False, largest_mib: int | None = None, job: str = ""
    ) -> tuple[str, ...]:
        """Return the command line of a job for a layout; `in_image`: the program is in the image, not on the volume."""
        program = self.in_image if in_image and self.in_image else self.on_volume
        words = [word.replace("{program}", program) for word in self.command] if program else self.command
        fields: dict[str, object] = {
            "{gpus}": layout.gpus,
            "{largest}": largest_mib or self.largest_mib,
            "{checkpoint}": self.checkpoints(job),
        }
        if self.script:
            # A text of its own is a word of its own: what is in braces there is Python's.
            text = (SCRIPTS / self.script).read_text(encoding="utf-8")
            return tuple(text if word == "{script}" else _filled(word, fields) for word in words)
        return tuple(_filled(word, fields) for word in words)

    def processes(self, layout: Layout) -> int:
        """Return how many ranks a pod runs."""
        return layout.gpus if self.processes_per == "gpu" else 1


def _filled(word: str, fields: Mapping[str, object]) -> str:
    for field, value in fields.items():
        word = word.replace(field, str(value))
    return word


def read_program(path: Path) -> Program:
    """Return the program of a file; raise DataFileError, which lists all that is wrong."""
    return data_files.validate(Program, data_files.read(path), path)


PROGRAMS: Mapping[str, Program] = DataFiles(FOLDER, read_program)
"""The programs of the files by name; DataFileError where the file of one is wrong."""
