"""Rules for training jobs of the Trainer."""

import re
from collections.abc import Iterator, Mapping

from core.apis.kinds import TRAIN_JOB, TRAINING_OPERATOR_JOBS
from core.apis.quantity import whole
from core.apis.trainer import RESERVED
from core.wording import plural
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pod_specs import CONTAINERS
from policies.manifests.pods import Container, Pod
from policies.manifests.train_jobs import TrainedPod, runtime_named
from policies.manifests.values import Path
from policies.rule import Parameters, Rule, Severity
from policies.views.command_lines import commands
from policies.views.environment import variables
from policies.views.mpi_jobs import count_gpus

_FIELD: Path = ("spec", "trainer", "numProcPerNode")
_OPTION = re.compile(r"--nproc[-_]per[-_]node(?:=(\S+))?\Z")
_OF_GPUS = re.compile(r"\bnccl\b|nvcr\.io/|[-_:/]cu(?:da)?-?\d", re.IGNORECASE)
_OF_NCCL = re.compile("NCCL_")
"""In an image or a command, and of a variable: made for NVIDIA's GPUs."""


def _train_job_processes(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.runtime is None:
        return
    for pod in subject.pods:
        count = count_gpus(pod)
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
    examine=_train_job_processes,
    kinds=(TRAIN_JOB,),
    links=True,
)


_ENV = ("spec", "trainer", "env")


def _train_job_variables(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    policies = subject.runtime.mapping("spec", "mlPolicy").keys() if subject.runtime is not None else RESERVED.keys()
    reserved = frozenset[str]().union(*(RESERVED.get(policy, ()) for policy in policies))
    for index, entry in enumerate(subject.entries(*_ENV)):
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name not in reserved:
            continue
        place = (*_ENV, index, "name")
        if subject.runtime is None:
            condition = f"and {runtime_named(subject.tree)}, which may reserve it, is not among the objects"
            yield subject.unlinked(f"sets {name}, {condition}", *place)
        else:
            yield subject.violation(f"sets {name}, which Kubeflow Trainer reserves", *place)


TRAIN_JOB_VARIABLES = Rule(
    name="train-job-variables",
    what="A TrainJob sets no variable that Kubeflow Trainer sets for its kind of runtime: PET_* of torchrun, DMLC_* of "
    "XGBoost, and those of Open MPI's hostfile.",
    why="The webhook refuses the TrainJob: `spec.trainer.env: Invalid value: must not have reserved envs, invalid envs "
    "configured: [PET_NNODES]`.",
    remedy="Delete the variable: numNodes, numProcPerNode and resourcesPerNode of `trainer` decide its value",
    source="github.com/kubeflow/trainer v2.2.1, pkg/runtime/framework/plugins; github.com/NVIDIA/aicr/issues/2280",
    severity=Severity.MANDATORY,
    examine=_train_job_variables,
    kinds=(TRAIN_JOB,),
    links=True,
)


_CONTAINER: Mapping[str, str] = {
    "PyTorchJob": "pytorch",
    "TFJob": "tensorflow",
    "XGBoostJob": "xgboost",
    "PaddleJob": "paddle",
    "JAXJob": "jax",
}
"""The container of each kind's pods that has the port, and by whose end the operator judges the job."""
_ROLES: Path = ("spec", "pytorchReplicaSpecs")
_ELASTIC: Path = ("spec", "elasticPolicy")
_MASTER, _WORKER = "master", "worker"


def _training_job_form(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for pod in subject.pods:
        yield from _missing_container(pod, _CONTAINER[subject.kind])
    roles = {role.lower(): role for role in subject.mapping(*_ROLES)}
    elastic = subject.mapping(*_ELASTIC)
    if elastic and roles and _WORKER not in roles and not subject.hidden(*_ROLES):
        message = "is elastic, and has no Worker, of which an elasticPolicy says how many there are"
        yield subject.violation(message, *_ELASTIC).with_remedy("Add a Worker, or delete elasticPolicy")
    if elastic.get("nProcPerNode") is not None and subject.read("spec", "nprocPerNode") is not None:
        message = "says twice how many processes a pod has, and the operator refuses both together"
        yield subject.violation(message, *_ELASTIC, "nProcPerNode").with_remedy("Keep spec.nprocPerNode alone")
    if master := roles.get(_MASTER):
        replicas = subject.read(*_ROLES, master, "replicas")
        if isinstance(replicas, int) and replicas != 1:
            yield subject.violation(f"has {replicas} masters", *_ROLES, master, "replicas").with_remedy("Write 1")


def _missing_container(pod: Pod, name: str) -> Iterator[Violation]:
    names = [container.name for container in pod.containers if container.group == CONTAINERS]
    if names and name not in names and not pod.hidden(CONTAINERS):
        yield pod.violation(f"has no container called {name}: {', '.join(names)[:200]}", CONTAINERS)


TRAINING_JOB_FORM = Rule(
    name="training-job-form",
    what="The pods of a PyTorchJob have a container called pytorch, those of a TFJob tensorflow, of an XGBoostJob "
    "xgboost, of a PaddleJob paddle, and of a JAXJob jax. A PyTorchJob has one Master; one with an elasticPolicy has a "
    "Worker, and says once how many processes a pod has.",
    why="The Training Operator takes port and exit code of a pod from the container of this name. It refuses a job "
    "without one (must have at least one container with name pytorch); releases before 1.9 say so in their log alone, "
    "and the job has neither pods nor a state. An elasticPolicy without Worker ended the operator itself.",
    remedy="Give the container that trains the name that the operator looks for",
    source="github.com/kubeflow/trainer/issues/2278; kubeflow/training-operator v1.9 pkg/webhooks",
    severity=Severity.MANDATORY,
    examine=_training_job_form,
    kinds=TRAINING_OPERATOR_JOBS,
)
