"""A job of Kubeflow's Training Operator has the form that the operator takes."""

from collections.abc import Iterator, Mapping

from core.apis.kinds import TRAINING_OPERATOR_JOBS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pod_specs import CONTAINERS
from policies.manifests.pods import Pod
from policies.manifests.values import Path
from policies.rule import Parameters, Rule

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
_PROCESSES: Path = ("spec", "nprocPerNode")
_MASTER, _WORKER = "master", "worker"


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for pod in subject.pods:
        yield from _missing_container(pod, _CONTAINER[subject.kind])
    roles = {role.lower(): role for role in subject.mapping(*_ROLES)}
    elastic = subject.mapping(*_ELASTIC)
    if elastic and roles and _WORKER not in roles and not subject.hidden(*_ROLES):
        message = "is elastic, and has no Worker, of which an elasticPolicy says how many there are"
        yield subject.violation(message, *_ELASTIC).with_remedy("Add a Worker, or delete elasticPolicy")
    if elastic.get("nProcPerNode") is not None and subject.read(*_PROCESSES) is not None:
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
    parameters=Parameters,
    examine=_examine,
    kinds=TRAINING_OPERATOR_JOBS,
)
