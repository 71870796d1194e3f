"""A TrainJob starts no more processes on a node than it has GPUs there."""

import re
from collections.abc import Iterator

from core.apis.kinds import TRAIN_JOB
from core.apis.quantity import whole
from core.wording import plural
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.manifests.train_jobs import TrainedPod
from policies.manifests.values import Path
from policies.rule import Parameters, Rule
from policies.views.command_lines import commands
from policies.views.environment import variables
from policies.views.mpi_jobs import gpus

_FIELD: Path = ("spec", "trainer", "numProcPerNode")
_OPTION = re.compile(r"--nproc[-_]per[-_]node(?:=(\S+))?\Z")
_OF_GPUS = re.compile(r"\bnccl\b|nvcr\.io/|[-_:/]cu(?:da)?-?\d", re.IGNORECASE)
_OF_NCCL = re.compile("NCCL_")
"""In an image or a command, and of a variable: made for NVIDIA's GPUs."""


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.runtime is None:
        return
    for pod in subject.pods:
        count = gpus(pod)
        if isinstance(pod, TrainedPod) and count is not None and pod.containers:
            yield from _pod(subject, pod.containers[0], count)


def _pod(subject: Obj, node: Container, count: int) -> Iterator[Violation]:
    started, place = _processes(subject, node)
    if started is None or started <= max(count, 1) or not (count or _for_gpus(node)):
        return
    if count:
        yield subject.violation(f"starts {started} processes on a node, and has {plural(count, 'GPU')} there", *place)
    else:
        message = f"starts {started} processes on a node, and neither it nor its runtime requests a GPU"
        yield subject.violation(f"{message}: Kubeflow Trainer would start one process per node", *place)


def _processes(subject: Obj, node: Container) -> tuple[int | None, Path]:
    """Return how many processes torchrun starts in a pod, and which field says so."""
    for command in commands(node):
        for index, word in enumerate(command.words):
            if match := _OPTION.match(word):
                following = command.words[index + 1] if index + 1 < len(command.words) else ""
                return whole(match[1] or following), ("spec", "trainer", *command.place(index))
    return whole(subject.read(*_FIELD)), _FIELD


def _for_gpus(node: Container) -> bool:
    words = [node.text("image"), *(word for command in commands(node) for word in command.words)]
    return any(map(_OF_GPUS.search, words)) or any(variables(node, _OF_NCCL.match))


TRAIN_JOB_PROCESSES = Rule(
    name="train-job-processes",
    what="A TrainJob starts at most as many processes on a node (--nproc-per-node, numProcPerNode) as it requests GPUs "
    "there, itself or by its runtime.",
    why="The runtimes that Kubeflow Trainer brings request no GPU: without resourcesPerNode the pods see none, Trainer "
    "sets PET_NPROC_PER_NODE to the CPUs, at least 1, and processes above the number of GPUs end with `CUDA error: "
    "invalid device ordinal` or train on the CPU.",
    remedy="Set nvidia.com/gpu in trainer.resourcesPerNode.limits to the processes of a node, and leave "
    "--nproc-per-node out",
    source="github.com/kubeflow/trainer v2.2.1, pkg/runtime/framework/plugins/torch; "
    "github.com/NVIDIA/aicr/issues/2280",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(TRAIN_JOB,),
    links=True,
)
