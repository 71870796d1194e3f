"""The programs of the source documents: what starts each, and what it needs.

Command lines are the documents' without their faults: results are written to a volume (E-54), no program runs as root
or sees the node's folders (E-40), and no image has a tag that moves, so that some programs have none (E-39).
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from components.job_args import WORKSPACE, Folder, Variable
from components.layout import Layout
from components.model import Image, Model

TENSORFLOW = "nvcr.io/nvidia/tensorflow:20.03-tf2-py3"
DATA = "/data"
LARGEST_MIB = 256
"""Largest message of nccl-tests, MiB (R-4.4-6)."""


class Program(StrEnum):
    """Programs that the platform knows how to start."""

    NCCL_ALL_REDUCE = "nccl-all-reduce"
    NCCL_ALL_GATHER = "nccl-all-gather"
    NCCL_BROADCAST = "nccl-broadcast"
    NCCL_REDUCE = "nccl-reduce"
    NCCL_REDUCE_SCATTER = "nccl-reduce-scatter"
    NODE_CHECK = "node-check"
    RESNET50 = "resnet50"
    A2D2 = "a2d2"
    RESNET50_XLA = "resnet50-xla"
    RESNET50_NVIDIA = "resnet50-nvidia"
    RESNET101 = "resnet101"
    PYTORCH_SYNTHETIC = "pytorch-synthetic"
    MASK_RCNN = "mask-rcnn"
    SSD = "ssd"
    GNMT = "gnmt"
    TRANSFORMER = "transformer"
    CUDA_VECTOR_ADD = "cuda-vector-add"

    @property
    def trains(self) -> bool:
        """Whether it is training, which takes long and is not repeated lightly, and not verification."""
        return CATALOGUE[self].trains


class DataSet(Model):
    """What a program reads."""

    name: str
    size_gb: int = Field(gt=0, description="GB, as the documents give it")


class Entry(Model):
    """One program."""

    command: tuple[str, ...] = Field(
        description="{gpus} is the GPUs of a pod, {program} where the program is, {largest} its largest message; "
        "empty: what the image starts"
    )
    kinds: tuple[Literal["mpi", "job"], ...] = Field(description="workloads that can start it")
    per_gpu: bool = Field(description="one process for each GPU; otherwise one process of a pod drives all of them")
    trains: bool = True
    working_directory: Folder | None = Field(default=None, description="None: the image's own")
    mounts: dict[Folder, str] = Field(
        default={}, description="where it expects the tenant's data: folder -> folder of the volume; empty: needs none"
    )
    data: DataSet | None = None
    images: tuple[Image, ...] = Field(default=(), description="of stacks/images.py, the oldest first")
    gpus: int | None = Field(default=None, gt=0, description="GPUs that its parameters are for; None: any number")
    gpu_memory_gb: int | None = Field(default=None, gt=0, description="GB of the GPUs that it is documented with")
    environment: dict[Variable, str] = Field(default={}, description="variables that it reads")
    on_volume: str | None = Field(default=None, description="where the program is on the tenant's volume")
    in_image: str | None = Field(
        default=None, description="the program's name in images of `builds` that have it; None: no recipe has it"
    )
    require_cuda: str = Field(default="cuda>=9.0", description="NVIDIA_REQUIRE_CUDA on OpenShift 3.11 (B-5.3)")
    source: str = Field(description="inventory ids; E-.. is a fault of the document that is corrected here")

    def started(self, layout: Layout, *, in_image: bool = False, largest_mib: int | None = None) -> tuple[str, ...]:
        """Return the command line for a layout; `in_image`: the program is not on the volume but in the image."""
        program = self.in_image if in_image and self.in_image else self.on_volume
        words = [word.replace("{program}", program) for word in self.command] if program else self.command
        largest = f"{largest_mib or LARGEST_MIB}M"
        return tuple(word.replace("{gpus}", str(layout.gpus)).replace("{largest}", largest) for word in words)

    @property
    def measures_sizes(self) -> bool:
        """Whether it goes through sizes of messages up to a largest one."""
        return any("{largest}" in word for word in self.command)

    def processes(self, layout: Layout) -> int:
        """Return how many ranks a pod runs (R-4.3-2)."""
        return layout.gpus if self.per_gpu else 1


NCCL_TEST = ("{program}", "-b", "8", "-e", "{largest}", "-f", "2", "-g", "{gpus}")


def _nccl_test(test: str, source: str) -> Entry:
    return Entry(
        command=NCCL_TEST,
        kinds=("mpi", "job"),
        per_gpu=False,
        trains=False,
        mounts={WORKSPACE: ""},
        images=(TENSORFLOW,),
        on_volume=f"{WORKSPACE}/other/nccl/{test}_perf",
        in_image=f"{test}_perf",
        source=source,
    )


def _mlperf(data: DataSet, folder: str, mounts: dict[str, str], working_directory: str | None = None) -> Entry:
    """Return a benchmark of MLPerf v0.6, whose parameters are those of a machine with eight GPUs of 32 GB.

    The documents' pod prints its whole environment first; ours does not. Its claim is mounted beside the program.
    """
    return Entry(
        command=("./run_and_time.sh",),
        kinds=("job",),
        per_gpu=True,
        working_directory=working_directory,
        mounts=mounts,
        data=data,
        gpus=8,
        gpu_memory_gb=32,
        environment={"INSLURM": "0", "NEXP": "1", "DATADIR": f"{DATA}/{folder}", "LOGDIR": f"{DATA}/logs"},
        require_cuda="cuda>=5.0",
        source="S-3.1, S-3.4, S-4.4; E-39, E-40" if working_directory else "S-3.1, S-3.4",
    )


COCO = DataSet(name="COCO 2017", size_gb=21)
WMT = DataSet(name="WMT English-German", size_gb=56)
A2D2_SCRIPTS = f"{WORKSPACE}/scripts/tf2_comparison/hvd"
TF_CNN = "scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py"

CATALOGUE: Mapping[Program, Entry] = MappingProxyType(
    {
        Program.NCCL_ALL_REDUCE: _nccl_test("all_reduce", "R-4.4-6, R-4.4-7, R-4.4-11"),
        Program.NCCL_ALL_GATHER: _nccl_test("all_gather", "R-4.4-15"),
        Program.NCCL_BROADCAST: _nccl_test("broadcast", "R-4.4-15"),
        Program.NCCL_REDUCE: _nccl_test("reduce", "R-4.4-15"),
        Program.NCCL_REDUCE_SCATTER: _nccl_test("reduce_scatter", "R-4.4-15"),
        Program.NODE_CHECK: _nccl_test(
            "all_reduce", "R-4.4-1; the test is on the volume, and not built in every pod"
        ).model_copy(
            update={
                "command": ("/bin/bash", "-ec", f"nvidia-smi; nvidia-smi topo -m; {' '.join(NCCL_TEST)}"),
                "kinds": ("job",),
            }
        ),
        Program.RESNET50: Entry(
            command=(
                *("python", f"{WORKSPACE}/other/benchmarks/{TF_CNN}", "--model=resnet50", "--batch_size=64"),
                *("--use_fp16=true", "--variable_update=horovod"),
            ),
            kinds=("mpi",),
            per_gpu=True,
            mounts={WORKSPACE: ""},
            images=(TENSORFLOW,),
            source="R-4.5-2, R-4.5-6",
        ),
        Program.A2D2: Entry(
            command=(
                *("python", "main.py", "--model_dir=ckpt", "--batch_size=16"),
                *("--exec_mode=train", "--max_steps=16000"),
            ),
            kinds=("mpi",),
            per_gpu=True,
            working_directory=A2D2_SCRIPTS,
            mounts={WORKSPACE: ""},
            data=DataSet(name="A2D2", size_gb=92),
            images=(TENSORFLOW,),
            source="R-4.3-9, R-5.2-1, E-36",
        ),
        Program.RESNET50_XLA: Entry(
            # Where components/workload_images.py puts it; at /workspace, as in the document, a claim would hide it.
            command=(
                *("python3", f"/opt/benchmarks/{TF_CNN}", "--model", "resnet50", "--batch_size", "512"),
                *("--use_fp16", "--variable_update=horovod", "--xla=True"),
            ),
            kinds=("mpi",),
            per_gpu=True,
            gpu_memory_gb=40,
            source="N-4.1, N-8.2, N-8.4; E-47 (np with a blank in it); its printed rates are edited (E-50)",
        ),
        Program.RESNET50_NVIDIA: Entry(
            command=(
                *("python", "nvidia-examples/resnet50v1.5/main.py", "--mode=training_benchmark", "--batch_size=128"),
                *("--num_iter=90", "--iter_unit=epoch", "--results_dir=/efs"),
            ),
            kinds=("mpi",),
            per_gpu=True,
            mounts={"/efs": ""},
            images=("nvcr.io/nvidia/tensorflow:19.10-py3",),
            source="B-5.2; E-54 (results on a volume)",
        ),
        Program.RESNET101: Entry(
            command=("python", TF_CNN, "--model=resnet101", "--batch_size=64", "--variable_update=horovod"),
            kinds=("mpi",),
            per_gpu=True,
            source="B-6.1; E-53 (no GPU for the launcher), E-39 (the image's tag moves)",
        ),
        Program.PYTORCH_SYNTHETIC: Entry(
            command=("horovodrun", "-np", "{gpus}", "python", "pytorch_synthetic_benchmark.py"),
            kinds=("job",),
            per_gpu=True,
            trains=False,
            images=("horovod/horovod:0.18.1-tf1.14.0-torch1.2.0-mxnet1.5.0-py3.6",),
            source="B-4.2, B-4.3; E-52",
        ),
        # The script of Mask R-CNN finds its images at /coco, and its starting weights below.
        Program.MASK_RCNN: _mlperf(COCO, "coco2017", {DATA: "", "/coco": "coco2017"}, f"{WORKSPACE}/object_detection"),
        Program.SSD: _mlperf(COCO, "coco2017", {DATA: ""}),
        Program.GNMT: _mlperf(WMT, "wmt", {DATA: ""}),
        Program.TRANSFORMER: _mlperf(WMT, "wmt", {DATA: ""}),
        Program.CUDA_VECTOR_ADD: Entry(
            command=(),
            kinds=("job",),
            per_gpu=False,
            trains=False,
            images=(
                "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda10.2",
                "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubuntu22.04",
            ),
            gpus=1,
            require_cuda="cuda>=5.0",
            source="S-7.6; E-42 (the image's successor)",
        ),
    }
)
"""Every program."""
